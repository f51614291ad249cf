"""Why an instruction made NaN or an infinity, in plain words.

    log of -1.0: the logarithm of a negative number
    0.0 / 0.0
    3e+38 + 3e+38 exceeds 3.4028235e+38, the largest f32
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.blame.number_text import extremes, number
from hlotool.ir import DType, HloInstruction, dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.ops import OPS

Index = tuple[int, ...]


@dataclass(frozen=True)
class Reason:
    """Why one element is not finite."""

    text: str
    #: the element of the result, its value, and the values that made it (elementwise operations only)
    index: Index
    value: Any
    operands: tuple[Any, ...] = ()


def reason(instruction: HloInstruction, operands: Sequence[Any], value: Array, made: Array) -> Reason:
    """Why the first element that `made` marks is not finite. `value` is the result, or one array of it."""
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(made)), np.shape(made)))
    element = np.asarray(value)[index]
    arrays = [o for o in operands if hasattr(o, "shape")]
    if instruction.opcode in ("constant", "parameter"):
        return Reason(f"{'the constant' if instruction.opcode == 'constant' else 'the argument'} holds "
                      f"{number(element)}", index, element)
    if arrays and len(arrays) == len(operands) and all(a.shape in ((), np.shape(made)) for a in arrays):
        given = tuple(a[index] if a.shape else a[()] for a in arrays)
        return Reason(_of_elements(instruction.opcode, given, element), index, element, given)
    return Reason(_of_arrays(instruction, arrays, index, element), index, element)


def _of_elements(opcode: str, given: Sequence[Any], element: Any) -> str:
    """An elementwise operation: what it was given, and what is wrong with that."""
    shown = [number(g) for g in given]
    symbol = OPS[opcode].curve.symbol
    if symbol and len(given) == 2:
        text = f"{shown[0]} {symbol} {shown[1]}"
    elif opcode == "convert":
        text = f"{shown[0]} as {dtype_of_numpy(element.dtype).name}"
    else:
        text = f"{opcode} of {' and '.join(shown)}"
    why = _why(opcode, given, element)
    return f"{text} is {number(element)}" + (f": {why}" if why else "")


def _why(opcode: str, given: Sequence[Any], element: Any) -> str:
    dtype, curve = dtype_of_numpy(element.dtype), OPS[opcode].curve
    if dtype.is_complex:
        return ""
    sizes = [abs(float(g)) for g in given if dtype_of_numpy(g.dtype).family not in ("pred", "complex")]
    if any(map(math.isinf, sizes)):
        return "" if curve.symbol else curve.outside
    if not np.isnan(element):
        second = sizes[-1] if sizes else 1.0
        is_pole = bool(curve.pole) and (opcode in ("atanh", "log-plus-one") or (second == 0 or sizes[0] == 0))
        return curve.pole if is_pole else f"that exceeds {_largest(dtype)}"
    if opcode in ("divide", "remainder") and sizes[-1] == 0:
        return "zero divided by zero" if sizes[0] == 0 and opcode == "divide" else "division by zero"
    has_infinity = np.isinf(np.float32(np.inf).astype(element.dtype)) if dtype.bits < 16 else True
    if not has_infinity:
        return f"that exceeds {_largest(dtype)}, and the type has no infinity"
    return curve.outside


def _largest(dtype: DType) -> str:
    import ml_dtypes

    return f"{number(ml_dtypes.finfo(dtype.numpy).max)}, the largest {dtype.name}"


def _of_arrays(instruction: HloInstruction, arrays: Sequence[Array], index: Index, element: Any) -> str:
    """Any other operation: what its operands hold."""
    if instruction.opcode == "reduce" and arrays:
        line = _reduced(arrays[0], instruction.attributes.get("dimensions", ()), index)
        what = f"folding {extremes(line)} gives {number(element)}"
        arrays = [line]
    else:
        held = "; ".join(extremes(a) for a in arrays)
        what = f"{instruction.opcode} of {held} gives {number(element)}" if held else f"the result is {number(element)}"
    dtype = dtype_of_numpy(element.dtype)
    floats = [a for a in arrays if dtype_of_numpy(a.dtype).is_floating or a.dtype.kind == "c"]
    if dtype.is_complex or not floats:
        return what
    are_finite = all(bool(np.isfinite(a).all()) for a in floats)
    if are_finite and not np.isnan(element):
        return f"{what}: finite terms exceed {_largest(dtype)}"
    if are_finite:
        return f"{what}: sums of finite terms overflow in both directions, or the operation has no value there"
    if np.isnan(element):
        return f"{what}: infinities of both signs, or an infinity times zero"
    return what


def _reduced(array: Array, dimensions: Sequence[int], index: Index) -> Array:
    """The elements that a reduction folds into the element at `index`."""
    rest = iter(index)
    key = tuple(slice(None) if d in dimensions else next(rest, 0) for d in range(array.ndim))
    return array[key]
