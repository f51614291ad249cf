"""Reads the record of what each rule keeps (outcomes.json), and writes the page of the manual about it."""

from __future__ import annotations

import functools
import importlib.resources
import json
from collections.abc import Iterator, Mapping
from typing import Any

from hlotool.ir import DTYPES
from hlotool.passes.rewrite_rules.rewrite_rule import FLOATS, RewriteRule, rules, types_of

_NOTE = "<!-- written by `python tests/write_rewrite_rules.py`; do not edit -->\n"
_HEAD = f"""# What simplifiers may rewrite

{_NOTE}
Rules that compilers' algebraic simplifiers apply, always, under a flag, or by mistake, and what each keeps: both sides
run on the reference, on all values of the 8-bit types (all pairs of two operands), all of `bf16` and `f16` (each with
boundary values of a second operand), and boundary values of `f32`. The record is `passes/rewrite_rules/outcomes.json`,
the rules are in `passes/rewrite_rules/rules.toml`.

`=` both sides are the same bit by bit (payloads of NaN apart). Otherwise what differs: `NaN` is lost or made; `inf`:
what is infinite; `-0`: the sign of zero; `truth`: what is true; and the largest distance of finite values in ULPs, for
integers the difference. The reference rounds once for each operation, in the element type. A column of several types
shows the worst of them; one without an entry has no value on the reference.
"""
_COLUMNS = {"f8": tuple(t for t in FLOATS if t.startswith("f8")), "bf16": ("bf16",), "f16": ("f16",), "f32": ("f32",),
            "s8, u8": ("s8", "u8")}


@functools.cache
def known_outcomes() -> Mapping[str, Mapping[str, Any]]:
    """Return the record: rule (as text) -> element type -> outcome; "when TYPE" holds that under the condition."""
    text = importlib.resources.files("hlotool.passes.rewrite_rules").joinpath("outcomes.json").read_text("utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)
    return found


def _outcome_words(*outcomes: Mapping[str, Any]) -> str:
    """Return what is not kept, in a few words; `=` if everything is."""
    def total(name: str) -> float:
        return max((o.get(name, 0) for o in outcomes), default=0)

    if not total("different"):
        return "="
    words = [word for word, is_there in (("NaN", total("nan_lost") or total("nan_made")), ("inf", total("infinite")),
                                         ("-0", total("zero_signs"))) if is_there]
    if total("is_truth"):
        return "truth"
    if ulps := total("ulps"):
        words.append(f"{ulps:.3g} ULP")
    return ", ".join(words)


def rule_sentence(rule: RewriteRule, element_type: str) -> str:
    """Return a rule as reports quote it: `log(exponential(x)) -> x: does not keep: inf, -0, 47 ULP (f32)`."""
    known = known_outcomes().get(str(rule), {})
    kind = DTYPES.get(element_type)
    wanted = (element_type, *(("u8" if kind.family == "unsigned" else "s8",) if kind is not None and kind.is_integral
                              else ()), "f32", *types_of(rule))
    shown = next((t for t in wanted if t in known), "")
    if not shown:
        return str(rule)
    words = _outcome_words(known[shown])
    example = known[shown].get("example", "")
    what = f"keeps all values of {shown}" if words == "=" else f"does not keep: {words} ({shown})"
    return f"{rule}: {what}" + (f"; {example}" if example and words != "=" else "")


def rules_page() -> str:
    """Return the page of the manual."""
    known = known_outcomes()
    parts = [_HEAD]
    for title, kinds in (("Arithmetic", ("float", "any")), ("Integers only", ("integer",)),
                         ("Arrays", ("matrix",))):
        parts.append(f"\n## {title}\n\n| before | after | {' | '.join(_COLUMNS)} | example |\n|"
                     + "---|" * (len(_COLUMNS) + 3))
        for rule in rules():
            if rule.of in kinds:
                parts += _rows(rule, known[str(rule)])
    return "\n".join(parts) + "\n"


def _rows(rule: RewriteRule, known: Mapping[str, Any]) -> Iterator[str]:
    cells = [_cell(known, types, "") for types in _COLUMNS.values()]
    shown = (t for t in ("f32", *types_of(rule)) if known.get(t, {}).get("example"))
    example = next((f"{known[t]['example']} ({t})" for t in shown), "")
    yield f"| `{rule.before}` | `{rule.after}` | {' | '.join(cells)} | {example} |"
    if rule.when:
        cells = [_cell(known, types, "when ") for types in _COLUMNS.values()]
        yield f"| where `{rule.when}` |  | {' | '.join(cells)} |  |"


def _cell(known: Mapping[str, Any], types: tuple[str, ...], prefix: str) -> str:
    found = [known[prefix + t] for t in types if prefix + t in known]
    return _outcome_words(*found) if found else ""
