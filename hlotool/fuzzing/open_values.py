"""Programs whose values the documents leave open, so that no difference is a finding.

    reductions    by what is no sum, product, extreme or logical operation, or from what is not its identity: how
                  often the initial value is taken, and in which order, is the executor's choice
    sorts         of NaN by a comparison that has no place for it
    subnormals    as arguments: processors may flush them
"""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.fuzzing.test_program import Rows
from hlotool.ir import HloComputation, HloInstruction, HloModule, dtype_of_numpy
from hlotool.ir.arrays import Array
from hlotool.ops import OPS, limits, opcodes, source_of, with_flag

#: operations that fold in any order
_FOLDING = with_flag("associative", "commutative")
_REDUCING = opcodes(lambda flow: flow.folds)


def is_open(module: HloModule, rows: Sequence[Sequence[Array]]) -> bool:
    """Return True if the documents leave open what a program gives on those arguments."""
    return (any(_is_open_fold(i) for i in module.find_all(*_REDUCING)) or _has_subnormal(rows)
            or (_has_nan(rows) and bool(module.find_all("sort", "topk"))))


def _is_open_fold(instruction: HloInstruction) -> bool:
    folder = instruction.attributes.get("to_apply") or instruction.attributes.get("scatter")
    if not isinstance(folder, HloComputation):
        return False
    root = folder.root
    if folder.root.opcode == "tuple" or len(folder.parameters()) != 2:
        return False  # several arrays at once: what is the least of pairs, say
    if root.opcode not in _FOLDING or any(o.opcode not in ("parameter", "convert") for o in root.operands):
        return True
    if len(set(root.operands)) != 2:
        return True
    return instruction.opcode != "scan" and instruction.opcode in (
        "reduce", "reduce-window", "select-and-scatter") and not _is_identity(instruction.operands[-1], root.opcode)


def _is_identity(start: HloInstruction, opcode: str) -> bool:
    """Return True if an initial value is a constant that the operation leaves everything as it is with."""
    import numpy as np

    start = source_of(start, lambda flow: flow.keeps_numbers)
    identity = OPS[opcode].identity
    if start.opcode != "constant" or identity is None or start.literal.has_elided or not start.shape.is_array:
        return False
    with np.errstate(all="ignore"):
        wanted = np.asarray(identity(start.shape.dtype)).astype(start.shape.dtype.numpy)
        given = np.asarray(start.literal.array)
        return bool(np.all(given == wanted))


def _has_nan(rows: Sequence[Sequence[Array]]) -> bool:
    import numpy as np

    return any(bool(np.isnan(a.astype(np.complex128)).any()) for row in rows for a in row
               if dtype_of_numpy(a.dtype).family in ("float", "complex"))


def _has_subnormal(rows: Sequence[Sequence[Array]]) -> bool:
    import numpy as np

    return any(bool(np.any(_is_subnormal(a) & (a != 0))) for row in rows for a in row if _is_wide(a))


def normal_rows(rows: Rows) -> Rows:
    """Subnormal numbers of wide types as zeros of their sign."""
    import numpy as np

    with np.errstate(all="ignore"):
        return [[np.where(_is_subnormal(a), a * np.zeros((), a.dtype), a).astype(a.dtype) if _is_wide(a) else a
                 for a in row] for row in rows]


def _is_wide(array: Array) -> bool:
    kind = dtype_of_numpy(array.dtype)
    return kind.is_floating and kind.bits >= 16


def _is_subnormal(array: Array) -> Array:
    import numpy as np

    with np.errstate(all="ignore"):
        return np.abs(array.astype(np.float64)) < limits(dtype_of_numpy(array.dtype))[2]
