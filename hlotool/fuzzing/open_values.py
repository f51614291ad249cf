"""Programs whose values the documents leave open, so that no difference is a finding.

    reductions    by what is no sum, product, extreme or logical operation, or from what is not its identity: how
                  often the initial value is taken, and in which order, is the executor's choice
    sorts         of NaN by a comparison that has no place for it
    subnormals    as arguments: processors may flush them
    variances     of batch-norm-training where E[x^2] - E[x]^2, which an implementation may compute, keeps few digits
    reduce-precision    of element types without infinities, or with one zero: no document says how it overflows
    signs of zero of what a reduction gives: whether 0 is added to -0 is the executor's choice
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution import Moment, Program, evaluate_program
from hlotool.fuzzing.test_program import Rows
from hlotool.ir import DType, HloComputation, HloInstruction, HloModule, dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.numerics import is_nan
from hlotool.ops import OPS, flushed, opcodes, source_of, with_flag

#: operations that fold in any order
_FOLDING = with_flag("associative", "commutative")
_REDUCING = opcodes(lambda flow: flow.folds)
#: the operation that computes a mean and a variance
_MOMENTS = "batch-norm-training"
#: the share of a variance that the other formula may lose before it is another number
_KEPT_OF_VARIANCE = 2.0**-8


def is_open(module: HloModule, rows: Sequence[Sequence[Array]]) -> bool:
    """Return True if the documents leave open what a program gives on those arguments."""
    return (any(_is_open_fold(i) for i in module.find_all(*_REDUCING)) or _has_subnormal(rows)
            or (_has_nan(rows) and bool(module.find_all("sort", "topk")))
            or any(_lacks_infinity(i.shape.dtype) for i in module.find_all("reduce-precision") if i.shape.is_array)
            or (bool(module.find_all(_MOMENTS)) and _cancels(module, rows)))


def differs_in_signs_of_zero(module: HloModule, given: Array, reference: Array) -> bool:
    """Return True if a reduction's result differs in nothing but signs of zero."""
    return bool(module.find_all(*_REDUCING)) and given.shape == reference.shape and bool(
        np.all((given == reference) | (is_nan(given) & is_nan(reference))))


def _lacks_infinity(kind: DType) -> bool:
    """Return True for the floating-point types whose names end in "fn" and "fnuz"."""
    return kind.is_floating and not bool(np.isinf(np.asarray(np.inf).astype(kind.numpy).astype(np.float64)))


def _cancels(module: HloModule, rows: Sequence[Sequence[Array]]) -> bool:
    """Return True if a variance is so small beside the mean of squares that their difference keeps few digits."""
    found = []

    def watch(moment: Moment) -> Any:
        if moment.instruction.opcode == _MOMENTS:
            feature = moment.instruction.attributes["feature_index"]
            wide = np.moveaxis(np.asarray(moment.operands[0]).astype(np.float64), feature, -1).reshape(
                -1, moment.operands[0].shape[feature])
            digits = 2.0 ** -moment.instruction.operands[0].shape.dtype.mantissa_bits
            lost = digits * len(wide) * np.mean(wide**2, axis=0)
            found.append(not bool(np.all(lost <= _KEPT_OF_VARIANCE * np.var(wide, axis=0))))
        return moment.value

    with contextlib.suppress(HloError), np.errstate(all="ignore"):
        evaluate_program(Program(module), rows, watch)
    return any(found)


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
    start = source_of(start, lambda flow: flow.keeps_numbers)
    identity = OPS[opcode].identity
    if start.opcode != "constant" or identity is None or start.literal.has_elided or not start.shape.is_array:
        return False
    with np.errstate(all="ignore"):
        wanted = np.asarray(identity(start.shape.dtype)).astype(start.shape.dtype.numpy)
        given = np.asarray(start.literal.array)
        return bool(np.all(given == wanted))


def _has_nan(rows: Sequence[Sequence[Array]]) -> bool:
    return any(bool(np.isnan(a.astype(np.complex128)).any()) for row in rows for a in row
               if dtype_of_numpy(a.dtype).family in ("float", "complex"))


def _has_subnormal(rows: Sequence[Sequence[Array]]) -> bool:
    return any(bool(((flushed(a, dtype_of_numpy(a.dtype)) == 0) & (a != 0)).any()) for row in rows for a in row)


def normal_rows(rows: Rows) -> Rows:
    """Subnormal numbers of wide types as zeros of their sign."""
    return [[flushed(a, dtype_of_numpy(a.dtype)) for a in row] for row in rows]
