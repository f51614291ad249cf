"""What a program's precision may cost where nothing can be evaluated to find out: a guess from its operations.

    4 ULPs for the roundings that a fusing compiler is free to move,
    + twice the root of the sum of squares (independent errors add like the steps of a random walk), over every
      instruction that computes floats, of what its operation declares (`Op.ulps`, at least 1), and for sums
      (contractions, reductions) of n elements the square root of n, for their order,
    but no more than 4,096.
"""

from __future__ import annotations

import math

from hlotool.ir import HloInstruction, HloModule
from hlotool.ops import OPS

_BASE, _MOST = 4.0, 4096.0


def assumed_ulps(module: HloModule) -> float:
    """ULPs that two executions of a module may be apart; the rule is in this file's docstring."""
    return min(_MOST, _BASE + 2.0 * math.hypot(*map(_roundings, module.instructions())))


def _roundings(instruction: HloInstruction) -> float:
    record, shape = OPS.get(instruction.opcode), instruction.shape
    if record is None or not (shape.is_array and (shape.dtype.is_floating or shape.dtype.is_complex)):
        return 0.0
    declared = float(record.ulps_of(shape))
    if declared <= 0 and not instruction.called_computations():
        return 1.0 if "elementwise" in record.flags else 0.0
    return max(1.0, declared) + math.sqrt(terms(instruction)) - 1.0


def terms(instruction: HloInstruction) -> float:
    """How many numbers an instruction combines to one, about: the elements of its largest operand to each of its own.

    At least 1.
    """
    before = max((o.shape.size for o in instruction.operands if o.shape.is_array), default=1)
    return max(1.0, before / max(1, instruction.shape.size)) if instruction.shape.is_array else 1.0
