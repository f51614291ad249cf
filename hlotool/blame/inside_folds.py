"""The guilty instruction in the computation of a fold that is proven guilty: of a reducer, a comparator, an update.

A fold calls its computation for many elements, in no order that the specification fixes, so that no value inside has a
partner in another run. The computations are judged as programs by themselves instead, if with that of the first
module's fold the second one's is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hlotool.blame.operand_values import OperandValues
from hlotool.blame.value_partners import are_near_numbers
from hlotool.diagnostics import HloError
from hlotool.execution import Program, evaluate_program, flat, require_one_signature
from hlotool.ir import HloComputation, HloInstruction, HloModule, called_by, callees_before_callers
from hlotool.ir.arrays import Array
from hlotool.passes.edit import section
from hlotool.verdict import ArgumentSearch

#: kinds of arguments on which two computations are compared (hlotool.verdict), and sets of each
_KINDS, _SETS = ("random", "positive", "negative", "bits"), 2


def guilty_inside(left: OperandValues, right: OperandValues,
                  judge: Callable[[Program, Program, list[list[Array]]], HloInstruction | None]
                  ) -> tuple[HloComputation, HloInstruction] | None:
    """Return the computation of a fold, and the instruction in it that `judge` names; None: none is proven guilty.

    `judge` gets the two computations as programs, and arguments on which they differ.
    """
    here, there = right.instruction, left.instruction
    pairs = list(zip(here.called_computations(), there.called_computations(), strict=False))
    if here.opcode != there.opcode or len(here.called_computations()) != len(there.called_computations()):
        return None
    differing = [(c, other, rows) for c, other in pairs if (rows := _differing(left, right, other, c)) is not None]
    if len(differing) != 1 or not _is_mended(left, right):
        return None
    computation, other, rows = differing[0]
    found = judge(_program(left, other), _program(right, computation), rows)
    return (computation, found) if found in computation.instructions else None


def _program(side: OperandValues, computation: HloComputation) -> Program:
    """Return a computation as a program, with its own instructions."""
    every = [*callees_before_callers(called_by(computation)), computation]
    return Program(HloModule(computation.name, every, computation))


def _differing(left: OperandValues, right: OperandValues, other: HloComputation, computation: HloComputation
               ) -> list[list[Array]] | None:
    """Return arguments on which two computations differ; None: they do not, or cannot be compared."""
    one, two = _program(left, other), _program(right, computation)
    try:
        require_one_signature(one, two)
        return next((rows for rows in _sets(one, two) if not _are_near(
            evaluate_program(one, rows), evaluate_program(two, rows))), None)
    except HloError:
        return None


def _sets(one: Program, two: Program) -> Iterator[list[list[Array]]]:
    search = ArgumentSearch([one, two], seed=len(_KINDS))
    for number in range(_SETS):
        for kind in _KINDS:
            rows = search.make(kind, number).values
            yield rows
            yield [_with_ties(row) for row in rows]


def _with_ties(row: list[Array]) -> list[Array]:
    """Return arguments whose floats of one type and shape are equal, so that the other ones decide."""
    first: dict[tuple[object, object], Array] = {}
    return [a if a.dtype.kind in "iub" else first.setdefault((a.dtype, a.shape), a) for a in row]


def _is_mended(left: OperandValues, right: OperandValues) -> bool:
    """Return True if the second module's fold gives the first one's value with the first one's computations."""
    called = {n: v for n, v in left.instruction.attributes.items() if n in _calling(left.instruction)}
    mended = section(right.module, right.home, [right.instruction], set(right.values))
    entry = mended.module.entry
    entry.root.attributes = entry.root.attributes | called
    mended.module.computations = [*callees_before_callers(called_by(entry)), entry]
    first = section(left.module, left.home, [left.instruction], set(left.values))
    try:
        return _are_near(*(evaluate_program(Program(part.module), [
            [leaf for fed in part.fed for leaf in flat(fed.shape, side.values[fed][device])]
            for device in range(side.devices)]) for part, side in ((first, left), (mended, right))))
    except HloError:
        return False


def _calling(instruction: HloInstruction) -> list[str]:
    """Return the names of the attributes that hold computations."""
    return [n for n, v in instruction.attributes.items() if isinstance(v, HloComputation)]


def _are_near(one: list[list[Array]], other: list[list[Array]]) -> bool:
    return all(are_near_numbers(a, b) for x, y in zip(one, other, strict=True) for a, b in zip(x, y, strict=True))
