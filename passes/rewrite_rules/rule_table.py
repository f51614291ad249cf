"""Reads the record of what each rule keeps (outcomes.json), and writes the page of the manual about it."""

from __future__ import annotations

import functools
import importlib.resources
import json
from collections.abc import Iterator, Mapping
from typing import Any

from hlotool.ir import DTYPES
from hlotool.passes.rewrite_rules.rewrite_rule import FLOATS, RewriteRule, rules, types_of

#: rows and columns of the matrices on which what only moves elements is tried
MATRIX = 16
_NOTE = "<!-- written by `python tests/write_rewrite_rules.py`; do not edit -->\n"
_HEAD = f"""# What simplifiers may rewrite

{_NOTE}
Rules that compilers' algebraic simplifiers apply, always, under a flag, or by mistake, and what each keeps. The record
is `passes/rewrite_rules/outcomes.json`, the rules are in `passes/rewrite_rules/rules.toml`. Both sides run on the
reference, which rounds once for each operation, in the element type.

Each entry says how much is known:

- `=` is proved: the same bits for all values, payloads of NaN apart. All combinations were tried, or a solver (bitwuzla
  or z3) decided it.
- `= here` is proved for {MATRIX} by {MATRIX} elements, whatever they are: both sides only move elements.
- *none found*: a search found no difference, which proves nothing.
- `NaN` is lost or made; `inf`: an infinity becomes something else, or appears; `-0`: the sign of a zero; `truth`: true
  becomes false, or false true.
- `3 ULP`: the largest distance of finite values, of integers their difference; all combinations were tried.
- `>= 3 ULP`: the largest distance that a search found. Others may be further apart.

All combinations are tried of types of 8 bits with up to two operands, and of types of 16 bits with one; of `f32` with
one operand where the search finds nothing and no solver knows the functions. A search tries the ends of a type,
ordinary values, values near to 1, operands that are nearly equal, opposite or reciprocal, and goes on from the worst
that it finds. What is not kept has a witness in the record. A column of several types shows the worst of them; one
without an entry has no value on the reference.
"""
#: kinds of differences in the record, the gravest first, and their words; of the last the distance says it
_KINDS = {"nan_lost": "NaN", "nan_made": "NaN", "infinite": "inf", "zero_signs": "-0", "ulps": ""}
_COLUMNS = {"f8": tuple(t for t in FLOATS if t.startswith("f8")), "bf16": ("bf16",), "f16": ("f16",), "f32": ("f32",),
            "s8, u8": ("s8", "u8")}


@functools.cache
def known_outcomes() -> Mapping[str, Mapping[str, Any]]:
    """Return the record: rule (as text) -> element type -> outcome; "when TYPE" holds that under the condition."""
    text = importlib.resources.files("hlotool.passes.rewrite_rules").joinpath("outcomes.json").read_text("utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)
    return found


def _kept(outcome: Mapping[str, Any]) -> bool:
    """Return True if no difference is known."""
    return not any(kind in outcome for kind in _KINDS)


def _is_searched(outcome: Mapping[str, Any]) -> bool:
    return str(outcome["cover"]) == "search"


def _outcome_words(*outcomes: Mapping[str, Any]) -> str:
    """Return what is not kept, in a few words, or what is known of that nothing is."""
    if all(map(_kept, outcomes)):
        if any(map(_is_searched, outcomes)):
            return "*none found*"
        return "= here" if any(o["cover"] == "movement" for o in outcomes) else "="
    if any(o.get("is_truth") for o in outcomes):
        return "truth"
    words = dict.fromkeys(word for kind, word in _KINDS.items() if word and any(kind in o for o in outcomes))
    worst = max(outcomes, key=lambda o: o.get("distance", 0))
    if ulps := worst.get("distance", 0):
        words[f"{'>= ' if any(map(_is_searched, outcomes)) else ''}{ulps:.3g} ULP"] = None
    return ", ".join(words)


def _example(outcome: Mapping[str, Any]) -> str:
    """Return the witness of the gravest difference: `x=12: inf becomes 12`."""
    kind = next((k for k in _KINDS if k in outcome), None)
    if kind is None:
        return ""
    witness = dict(outcome[kind])
    before, after = (_short(witness.pop(side)) for side in ("before", "after"))
    given = ", ".join(f"{n}={_short(v)}" for n, v in witness.items())
    return f"{given}: {before} becomes {after}" if given else ""


def _short(number: str) -> str:
    return number if number.lstrip("-").isdigit() else f"{float(number):.9g}"


def rule_sentence(rule: RewriteRule, element_type: str) -> str:
    """Return a rule as reports quote it: `log(exponential(x)) -> x: does not keep: inf, -0, 47 ULP (f32)`.

    Nothing is said of what a search did not find.
    """
    known = known_outcomes().get(str(rule), {})
    kind = DTYPES.get(element_type)
    wanted = (element_type, *(("u8" if kind.family == "unsigned" else "s8",) if kind is not None and kind.is_integral
                              else ()), "f32", *types_of(rule))
    shown = next((t for t in wanted if t in known), "")
    if not shown or (_kept(known[shown]) and (_is_searched(known[shown]) or known[shown]["cover"] == "movement")):
        return str(rule)
    words = _outcome_words(known[shown])
    if words == "=":
        return f"{rule}: keeps all values of {shown}"
    example = _example(known[shown])
    return f"{rule}: does not keep: {words} ({shown})" + (f"; {example}" if example else "")


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
    examples = ((t, _example(known[t])) for t in ("f32", *types_of(rule)) if t in known)
    example = next((f"{text} ({t})" for t, text in examples if text), "")
    yield f"| `{rule.before}` | `{rule.after}` | {' | '.join(cells)} | {example} |"
    if rule.when:
        cells = [_cell(known, types, "when ") for types in _COLUMNS.values()]
        yield f"| where `{rule.when}` |  | {' | '.join(cells)} |  |"


def _cell(known: Mapping[str, Any], types: tuple[str, ...], prefix: str) -> str:
    found = [known[prefix + t] for t in types if prefix + t in known]
    return _outcome_words(*found) if found else ""
