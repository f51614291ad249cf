"""Comparison of results in ULPs: one module on several executors, or two modules on the same arguments.

Two results agree where every pair of elements lies within the budget. Integers and pred agree when they are equal,
NaN equals NaN, and -0 equals 0. The default budget of a module, for one type:

    4 ULPs for the roundings that a fusing compiler is free to move,
    + twice the root of the sum of squares (independent errors add like the steps of a random walk), over every
      instruction that computes floats, of what its operation declares (`Op.ulps`, at least 1), and for sums
      (contractions, reductions) of n elements the square root of n, for their order,
    but no more than an eighth of the type's digits: a relative error of 12.5 % is never accepted.

Where sums cancel, a distance in ULPs of the small rest says nothing; so under the default budget a pair also agrees
when it differs by no more than the budget in ULPs of the largest finite element of its result.
`ulps` sets a budget by hand, without this allowance; 0 asks for the same bits (but for NaN and zero).
Under a budget other than 0 two complex numbers also agree when both have a half that is not finite: which half that is,
and whether infinite or NaN, depends on the formula.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.diagnostics import Diagnostic, Note
from hlotool.execution.codes import DIFFERENCE
from hlotool.execution.executor import TIME_LIMIT
from hlotool.execution.program import Program
from hlotool.execution.ulps import ulp_distance
from hlotool.ir import HloInstruction, HloModule, dtype_of_numpy
from hlotool.ops import OPS

Array: TypeAlias = Any

#: budget before any operation adds to it
BASE_ULPS = 4.0


@dataclass(frozen=True)
class ResultDifference:
    """How one result of one device differs between two executions."""

    result: int
    device: int
    #: which set of arguments: random, positive, special, or given
    inputs: str
    #: the element with the largest error, both values, and their distance
    index: tuple[int, ...]
    left: Any
    right: Any
    ulps: float
    #: what is held against the budget: the distance, or less where ULPs of the largest element are allowed
    error: float
    #: elements outside the budget, and in all
    outside: int
    size: int
    #: shares of the elements that are equal, within 1, 4, 16, 256 ULPs, and farther away
    spread: dict[str, float] = field(default_factory=dict)
    #: why the two cannot be compared element by element
    problem: str = ""

    @property
    def is_equal(self) -> bool:
        return not self.problem and not self.outside

    def __str__(self) -> str:
        where = f"result {self.result}" + (f" of device {self.device}" if self.device else "")
        if self.problem:
            return f"{where}, {self.inputs} arguments: {self.problem}"
        place = f"[{', '.join(map(str, self.index))}]"
        return (f"{where}, {self.inputs} arguments: element {place} is {self.left} and {self.right}, "
                f"{self.ulps:g} ULPs apart; {self.outside} of {self.size} elements are outside the budget")


def budget_of(module: HloModule) -> float:
    """The default budget in ULPs, before the cap; the rule is in this file's docstring."""
    return BASE_ULPS + 2.0 * math.hypot(*map(_roundings, module.instructions()))


def _roundings(instruction: HloInstruction) -> float:
    record = OPS.get(instruction.opcode)
    if record is None or not _is_real_or_complex(instruction):
        return 0.0
    combines = record.ulps_of(instruction.shape) > 0 or bool(instruction.called_computations())
    if not combines:
        return 1.0 if "elementwise" in record.flags else 0.0
    before = max((o.shape.size for o in instruction.operands if o.shape.is_array), default=1)
    added = max(1.0, before / max(1, instruction.shape.size))
    own: float = max(1.0, record.ulps_of(instruction.shape))
    return own + math.sqrt(added) - 1.0


def _is_real_or_complex(instruction: HloInstruction) -> bool:
    shape = instruction.shape
    return shape.is_array and (shape.dtype.is_floating or shape.dtype.is_complex)


def explain_difference(program: Program, worst: ResultDifference, names: tuple[str, str],
                       arguments: Sequence[Sequence[Array]] | None, budget: float, *, strict: bool = False,
                       time_limit: float = TIME_LIMIT) -> Diagnostic:
    """A difference as a diagnostic.

    With the arguments that showed it, and executors for `names`, it stands at the first instruction that differs.
    """
    from hlotool.execution.blame import first_difference

    source = program.module.source
    filename = source.filename if source else "<module>"
    if arguments is not None and not worst.problem:
        blamed = first_difference(program, arguments, names, budget, strict=strict, time_limit=time_limit)
        if blamed is not None:
            instruction, found = blamed
            place = program.module.position(instruction)
            return Diagnostic(
                DIFFERENCE, f"{names[0]} and {names[1]} differ first at {instruction.name}: {found}",
                line=place.line, column=place.column, end_line=place.line,
                end_column=place.column + len(instruction.name), filename=filename, notes=(Note(str(worst)),))
    return Diagnostic(DIFFERENCE, f"{names[0]} and {names[1]} differ: {worst}", filename=filename)


def differences(left: Sequence[Sequence[Array]], right: Sequence[Sequence[Array]], inputs: str, budget: float, *,
                strict: bool = False) -> list[ResultDifference]:
    """Compare the results of every device, leaf by leaf."""
    if len(left) != len(right):
        return [_unlike(0, 0, inputs, f"{len(left)} devices against {len(right)}")]
    found = []
    for device, (row, other) in enumerate(zip(left, right, strict=True)):
        if len(row) != len(other):
            found.append(_unlike(0, device, inputs, f"{len(row)} results against {len(other)}"))
            continue
        found.extend(difference(x, y, budget, strict=strict, result=n, device=device, inputs=inputs)
                     for n, (x, y) in enumerate(zip(row, other, strict=True)))
    return found


def difference(left: Array, right: Array, budget: float, *, strict: bool = False, result: int = 0, device: int = 0,
               inputs: str = "given") -> ResultDifference:
    """Compare two arrays element by element."""
    import numpy as np

    if left.dtype != right.dtype or left.shape != right.shape:
        return _unlike(result, device, inputs, f"{left.dtype}{list(left.shape)} against "
                                               f"{right.dtype}{list(right.shape)}")
    if not left.size:
        return ResultDifference(result, device, inputs, (), None, None, 0.0, 0.0, 0, 0)
    distance = ulp_distance(left, right)
    error, allowed = distance, budget if _rounds(left.dtype) else 0.0
    if not strict and _rounds(left.dtype):
        error, allowed = np.minimum(distance, _scaled(left, right)), capped(budget, left.dtype)
    if left.dtype.kind == "c" and np.any(allowed):
        error = np.where(np.isfinite(left) | np.isfinite(right), error, 0.0)
    outside = error > allowed
    worst = np.unravel_index(np.argmax(error), left.shape)
    steps = [distance == 0, distance <= 1, distance <= 4, distance <= 16, distance <= 256, distance > 256]
    spread = {name: float(np.mean(s)) for name, s in zip(("equal", "1", "4", "16", "256", "more"), steps, strict=True)}
    return ResultDifference(
        result, device, inputs, tuple(int(i) for i in worst), left[worst], right[worst], float(distance[worst]),
        float(error[worst]), int(outside.sum()), left.size, spread)


def _unlike(result: int, device: int, inputs: str, problem: str) -> ResultDifference:
    return ResultDifference(result, device, inputs, (), None, None, math.inf, math.inf, 0, 0, problem=problem)


def _rounds(dtype: Any) -> bool:
    kind = dtype_of_numpy(dtype)
    return kind.is_floating or kind.is_complex


def _mantissa_bits(dtype: Any) -> int:
    kind = dtype_of_numpy(dtype)
    return {"c64": 23, "c128": 52}.get(kind.name, kind.mantissa_bits)


def capped(budget: float, dtype: Any) -> float:
    """The budget, but no more than an eighth of the digits of a floating type, and no less than one step."""
    return min(budget, max(1.0, 2.0 ** (_mantissa_bits(dtype) - 3))) if _rounds(dtype) else budget


def _scaled(left: Array, right: Array) -> Array:
    """The differences in ULPs of the largest finite element; infinities and NaN have none, complex ones no matter."""
    import numpy as np

    wide = np.complex128 if left.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        x, y = left.astype(wide), right.astype(wide)
        sizes = np.abs(x)
        largest = np.max(np.where(np.isfinite(sizes), sizes, 0.0))
        unit = largest * 2.0 ** -_mantissa_bits(left.dtype)
        scaled: Array = np.where(x == y, 0.0, np.abs(x - y) / unit)
        return np.where(np.isnan(scaled), np.inf, scaled)
