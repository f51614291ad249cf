"""Evaluates both sides of rewrite rules on the reference, and counts what differs, element by element."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution import Program, evaluate_program
from hlotool.fuzzing.type_values import matrices, operand_values
from hlotool.ir.arrays import Array, np
from hlotool.numerics import is_nan, ulp_distance
from hlotool.passes.read import parse
from hlotool.passes.rewrite_rules import RewriteRule, module_text, names_in


@dataclass(frozen=True)
class RuleOutcome:
    """The differences between the two sides of a rule on the values of one element type."""

    #: combinations of operands that were tried, and the part of all combinations that they are
    tried: int
    cover: str
    #: elements that differ; of them those where NaN is lost, NaN is made, an infinity differs, 0 has another sign
    different: int
    nan_lost: int
    nan_made: int
    infinite: int
    zero_signs: int
    #: the largest distance of finite elements in ULPs, of integers the difference
    ulps: float
    #: True for values of type pred
    is_truth: bool = False
    #: operands and both values at the worst element; empty where both sides are the same
    example: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the record without zeros."""
        return {k: v for k, v in asdict(self).items() if v or k == "tried"}


def evaluated(rule: RewriteRule, element_type: str) -> tuple[RuleOutcome, RuleOutcome | None] | None:
    """Return the outcome for one element type, and that under the rule's condition; None: a side has no value there."""
    names = names_in(rule.before, rule.after)
    if rule.of == "matrix":
        sets, cover = matrices(element_type, len(names)), "matrices of all signs and exponents, and of ordinary numbers"
    else:
        arguments, cover = operand_values(element_type, len(names))
        sets = [arguments]
    found = [_results(rule, element_type, arguments) for arguments in sets]
    columns = [np.concatenate([np.asarray(r).reshape(-1) for r in parts])
               for parts in zip(*(f for f in found if f is not None), strict=True)]
    if not columns:
        return None
    before, after, *condition = columns
    given = {} if rule.of == "matrix" else dict(zip(names, sets[0], strict=True))
    whole = _outcome(before, after, given, cover)
    if not condition:
        return whole, None
    at = np.flatnonzero(condition[0])
    return whole, _outcome(before[at], after[at], {n: a[at] for n, a in given.items()}, cover)


def _results(rule: RewriteRule, element_type: str, arguments: list[Array]) -> list[Array] | None:
    """Return both sides and the condition, if that has a meaning for the type; None: a side has no value."""
    for each in dict.fromkeys((rule, replace(rule, when=""))):
        try:
            module = parse(module_text(each, element_type, arguments[0].shape))
            return evaluate_program(Program(module), [arguments])[0]
        except HloError:
            continue
    return None


def _outcome(before: Array, after: Array, given: dict[str, Array], cover: str) -> RuleOutcome:
    before, after = before.reshape(-1), after.reshape(-1)
    if not before.size:
        return RuleOutcome(0, cover, 0, 0, 0, 0, 0, 0.0)
    lost, made = is_nan(before) & ~is_nan(after), ~is_nan(before) & is_nan(after)
    with np.errstate(invalid="ignore"):
        wide = [a.astype(np.float64) for a in (before, after)]
    numbers = ~is_nan(before) & ~is_nan(after)
    infinite = numbers & ((np.isinf(wide[0]) != np.isinf(wide[1])) | (np.isinf(wide[0]) & (wide[0] != wide[1])))
    zeros = numbers & (wide[0] == 0) & (wide[1] == 0) & (np.signbit(wide[0]) != np.signbit(wide[1]))
    finite = numbers & np.isfinite(wide[0]) & np.isfinite(wide[1])
    ulps = np.where(finite, ulp_distance(before, after), 0.0)
    bad = lost | made | infinite | zeros | (ulps > 0)
    worst = int(np.argmax(np.where(lost | made | infinite, np.inf, ulps + zeros)))
    example = ""
    if bad.any() and given:
        operands = ", ".join(f"{n}={_text(a.reshape(-1)[worst])}" for n, a in given.items())
        example = f"{operands}: {_text(before[worst])} becomes {_text(after[worst])}"
    count = [int(np.count_nonzero(a)) for a in (bad, lost, made, infinite, zeros)]
    return RuleOutcome(before.size, cover, count[0], count[1], count[2], count[3], count[4], float(ulps.max()),
                   before.dtype == np.bool_, example)


def _text(value: Any) -> str:
    return f"{float(value):.6g}" if value.dtype.kind not in "iub" else str(value)
