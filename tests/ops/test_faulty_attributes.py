"""A constraint that speaks of an attribute names it, so that it can be underlined."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

import hlotool
from hlotool.diagnostics import HloError
from hlotool.ir import HloInstruction
from hlotool.ops import OPS, ConstraintError

_SAMPLES = pathlib.Path(__file__).parents[2] / "samples" / "ops"


def _refused() -> Iterator[tuple[HloInstruction, ConstraintError]]:
    """The instructions of the bad samples that their operation's rule refuses."""
    for path in sorted(_SAMPLES.glob("*.hlo")):
        for text in re.split(r"(?m)^// -----.*$", path.read_text()):
            try:
                module = hlotool.parse(text) if "// error:" in text else None
            except HloError:
                module = None
            for instruction in module.instructions() if module is not None else ():
                try:
                    OPS[instruction.opcode].infer_instruction(instruction)
                except ConstraintError as error:
                    yield instruction, error
                except (KeyError, AttributeError):
                    continue  # no such operation, or an operand without a shape: another code says so


def test_an_attribute_that_a_message_quotes_is_named() -> None:
    found, unnamed = 0, []
    for instruction, error in _refused():
        words = {w for w in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b|\b[a-z]+(?==)", error.message)
                 if w in instruction.attributes}
        found += bool(words)
        if words and error.attribute not in instruction.attributes:
            unnamed.append(f"{error} names {error.attribute!r}")
    assert not unnamed, "\n".join(unnamed)
    assert found > 50


def test_an_attribute_that_is_named_is_one_of_the_operation() -> None:
    for instruction, error in _refused():
        assert not error.attribute or OPS[instruction.opcode].attribute(error.attribute) is not None, str(error)
