"""Results that the text leaves out: XLA's shape inference and ours agree, or ours is stricter for a reason."""

from __future__ import annotations

import re

import pytest
from xla_inference_cases import FAMILIES, STRICTER, modules

import hlotool


def _theirs(text: str) -> str:
    """The result that XLA's parser infers; "" where it refuses the module."""
    from xla_library import xla_hlo

    try:
        printed = xla_hlo.hlo_module_from_text(text).to_string()
    except Exception:
        return ""
    result = next(line for line in printed.splitlines() if "ROOT %r = " in line).split("ROOT %r = ")[1]
    shape = result[:result.index(") ") + 1] if result.startswith("(") else result.split(" ")[0]
    return re.sub(r"(?<=\])\{[^}]*\}|/\*[^*]*\*/|\s", "", shape)


def _ours(text: str) -> tuple[str, str]:
    """The result that we infer, or "" and why it is refused."""
    try:
        module = hlotool.parse(text)
    except hlotool.HloError as error:
        return "", error.diagnostics[0].message
    errors = [d for d in hlotool.verify(module) if d.severity == "error"]
    if errors:
        return "", errors[0].message
    assert module.entry is not None
    return module.entry.root.shape.text(False).replace(" ", ""), ""


@pytest.mark.parametrize("family", FAMILIES)
def test_results_are_those_that_xla_infers(family: str) -> None:
    wrong, accepted = [], 0
    for what, text in modules(family):
        theirs, (ours, why) = _theirs(text), _ours(text)
        accepted += bool(ours)
        is_stricter = theirs and not ours and any(reason in why for reason in STRICTER)
        if ours != theirs and not is_stricter:
            wrong.append((what, theirs or "refused", ours or why))
    assert not wrong and accepted
