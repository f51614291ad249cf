"""The shadow: a program at higher precision than it asks for, to tell what its own precision costs.

Every float is held as f64, every f64 as the machine's extended type (80 bits on x86-64; where it has no more than
f64, nor has the shadow), complex numbers likewise. Narrow intermediates are not rounded: f32 -> bf16 -> f32 leaves the
value alone. Rounded as the program asks are numbers that the program *names* in a type, as no compiler may do better:
constants, iota, integers converted to floats, and reduce-precision. What reads the bits of floats sees them in the
program's own type.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from hlotool.execution.devices import fed
from hlotool.execution.evaluate import Observer, evaluate_program
from hlotool.execution.program import Program
from hlotool.execution.sizes import leaves
from hlotool.ir import DTYPES, DType, HloInstruction, Shape, dtype_of_numpy
from hlotool.ops import OPS

Array: TypeAlias = Any

#: what computes in the program's own types: what names numbers in a type, draws random ones, or reads bits
_OWN = frozenset({"constant", "iota", "rng", "rng-bit-generator", "rng-get-and-update-state", "bitcast-convert",
                  "stochastic-convert", "custom-call", "infeed", "recv", "recv-done", "topk"})


def shadow_program(program: Program, arguments: Sequence[Sequence[Array]], observer: Observer | None = None,
                   infeed: Sequence[Sequence[Array]] = ()) -> list[list[Array]]:
    """The results of every device at higher precision: floats as `wider` holds them, the rest in its own type.

    `infeed` is what the host hands to each device.
    """
    given = [[widened(a, s) for a, s in zip(row, program.parameters, strict=True)] for row in arguments]
    return evaluate_program(program, given, observer, fed(infeed), rebind=shadow_rebinding)


def widened(value: Any, shape: Shape) -> Any:
    """A value of that shape with its floats and complex numbers as the shadow holds them."""
    if shape.is_tuple:
        found = [widened(v, s) for v, s in zip(value, shape.elements, strict=True)]
        return tuple(found) if type(value) is tuple else value
    if shape.is_buffer:
        return widened(value, shape.elements[0])
    if not shape.is_array:
        return value
    import numpy as np

    wide = wider(shape.dtype.numpy)
    return np.asarray(value) if wide is None else np.asarray(value).astype(wide, copy=False)


@functools.cache
def wider(dtype: Any) -> Any:
    """The type that holds the shadow of values of a NumPy type; None where they are their own shadow."""
    import numpy as np

    kind = dtype_of_numpy(dtype)
    if kind.is_complex:
        return np.dtype(np.complex128 if kind.bits == 64 else np.clongdouble)
    if kind.is_floating:
        return np.dtype(np.float64 if kind.bits < 64 else np.longdouble)
    return None


def own(value: Any, shape: Shape) -> Any:
    """A value of the shadow rounded to the types of a shape."""
    if shape.is_tuple:
        return tuple(own(v, s) for v, s in zip(value, shape.elements, strict=True))
    if shape.is_buffer:
        return own(value, shape.elements[0])
    if not shape.is_array:
        return value
    import numpy as np

    with np.errstate(all="ignore"):
        return np.asarray(value).astype(shape.dtype.numpy, copy=False)


class WideShape:
    """A shape whose elements have the shadow's type: what functions that ask for `shape` get."""

    def __init__(self, shape: Shape, dtype: DType) -> None:
        self._shape, self.dtype = shape, dtype
        self.element_type = shape.element_type if shape.dtype.bits == 64 else dtype.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shape, name)


@functools.cache
def wide_kind(kind: DType) -> DType:
    """The element type of the shadow; beyond f64 one that no text can name."""
    if kind.is_complex:
        return DTYPES["c128"] if kind.bits == 64 else replace(kind, numpy_name="clongdouble")
    return DTYPES["f64"] if kind.bits < 64 else replace(kind, numpy_name="longdouble")


def shadow_rebinding(instruction: HloInstruction, function: Callable[..., Any],
                     keywords: dict[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The function that computes an instruction's shadow from the shadows of its operands."""
    opcode = instruction.opcode
    if opcode in _OWN or opcode not in OPS:
        return _in_own_types(instruction, function), keywords
    if opcode == "convert":
        return _converting(instruction, function), keywords
    if opcode == "reduce-precision":
        return _reducing(instruction, function), keywords
    shape = keywords.get("shape")
    if shape is not None and shape.is_array and _rounds(shape):
        keywords = keywords | {"shape": WideShape(shape, wide_kind(shape.dtype))}
    if any(_rounds(s) for o in (*instruction.operands, instruction) for s in leaves(o.shape)):
        return _attempted(instruction, function), keywords
    return function, keywords


def _rounds(shape: Shape) -> bool:
    return shape.is_array and (shape.dtype.is_floating or shape.dtype.is_complex)


def _in_own_types(instruction: HloInstruction, function: Callable[..., Any]) -> Callable[..., Any]:
    shapes = [o.shape for o in instruction.operands]

    def call(*values: Any, **keywords: Any) -> Any:
        if isinstance(keywords.get("shape"), WideShape):
            keywords = keywords | {"shape": instruction.shape}
        return widened(function(*map(own, values, shapes), **keywords), instruction.shape)

    return call


def _converting(instruction: HloInstruction, function: Callable[..., Any]) -> Callable[..., Any]:
    source, target = instruction.operands[0].shape, instruction.shape
    if not _rounds(source) or target.dtype.is_integral or target.dtype.family == "pred":
        if _rounds(source):
            return function  # truncates what the shadow holds
        return _in_own_types(instruction, function)
    kind = wide_kind(target.dtype).numpy

    def call(value: Array, **_: Any) -> Array:
        part = value.real if source.dtype.is_complex and not target.dtype.is_complex else value
        return part.astype(kind)

    return call


def _reducing(instruction: HloInstruction, function: Callable[..., Any]) -> Callable[..., Any]:
    """reduce-precision is asked for by name, so that the shadow rounds too; from what it holds."""
    def call(value: Array, **keywords: Any) -> Array:
        held = value if value.dtype.char == "d" else own(value, instruction.shape)
        return widened(function(held, **keywords), instruction.shape)

    return call


def _attempted(instruction: HloInstruction, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function on wide values; one that cannot take them (it looks at bits, say) gets the program's own types."""
    narrow = _in_own_types(instruction, function)
    is_wide = True

    def call(*values: Any, **keywords: Any) -> Any:
        nonlocal is_wide
        if is_wide:
            try:
                return widened(function(*values, **keywords), instruction.shape)
            except (TypeError, ValueError, KeyError, AttributeError, StopIteration):
                is_wide = False
        return narrow(*values, **keywords)

    return call
