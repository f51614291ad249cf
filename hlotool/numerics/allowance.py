"""How far a result may be off: by the error model, by what operations declare, or by a guess from a program's text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from hlotool.ir import HloInstruction, HloModule
from hlotool.numerics.higher_precision import is_real
from hlotool.numerics.ulps import LEAST_ULPS
from hlotool.ops import OPS

#: multiple of the samples' spread that a difference may be: samples are few, and other orders of a sum many
SPREAD_FACTOR = 4.0
#: ULPs of a guess for the roundings that a fusing compiler is free to move, and at most
_BASE, _MOST = 4.0, 4096.0


@dataclass(frozen=True)
class Allowance:
    """How far an element may be off."""

    #: ULPs of each element that need no explanation; None: as many as the type needs
    free_ulps: float | None = None
    #: multiple of the samples' spread that an element may be off by
    factor: float = SPREAD_FACTOR
    #: ULPs that each operation of a sample is moved by at least
    least_ulps: float = LEAST_ULPS


#: the error model's
MODEL = Allowance()


def declared_allowance(instructions: Iterable[HloInstruction]) -> Allowance:
    """Return the allowance by what operations declare (`Op.ulps_of`; several add like independent errors).

    The samples move each operation by all that it declares, so that their spread counts once; only for sums, which may
    be taken in more orders than are drawn, it counts as in the error model.
    """
    known = [i for i in instructions if i.opcode in OPS]
    declared = math.hypot(*(float(OPS[i.opcode].ulps_of(i.shape)) for i in known))
    return Allowance(declared, SPREAD_FACTOR if any(map(_sums, known)) else 1.0, 0.0)


def assumed_ulps(module: HloModule) -> float:
    """Return the ULPs that two executions of a module may be apart, where nothing can be evaluated to find out.

        4 ULPs for the roundings that a fusing compiler is free to move,
        + twice the root of the sum of squares (independent errors add like the steps of a random walk), over every
          instruction that computes floats, of what its operation declares (`Op.ulps`, at least 1), and for sums
          (contractions, reductions) of n elements the square root of n, for their order,
        but no more than 4,096.
    """
    return min(_MOST, _BASE + 2.0 * math.hypot(*map(_roundings, module.instructions())))


def terms(instruction: HloInstruction) -> float:
    """Return about how many numbers an instruction combines to one; at least 1.

    These are the elements of its largest operand for each of its own.
    """
    before = max((o.shape.size for o in instruction.operands if o.shape.is_array), default=1)
    return max(1.0, before / max(1, instruction.shape.size)) if instruction.shape.is_array else 1.0


def _roundings(instruction: HloInstruction) -> float:
    record, shape = OPS.get(instruction.opcode), instruction.shape
    if record is None or not is_real(shape):
        return 0.0
    declared = float(record.ulps_of(shape))
    if declared <= 0 and not instruction.called_computations():
        return 1.0 if "elementwise" in record.flags else 0.0
    return max(1.0, declared) + math.sqrt(terms(instruction)) - 1.0


def _sums(instruction: HloInstruction) -> bool:
    return "elementwise" not in OPS[instruction.opcode].flags and terms(instruction) > 1
