"""Constants as dense elements attributes, and back."""

from __future__ import annotations

import functools
from typing import Any

from hlotool import mlir
from hlotool.ir import Literal, Shape
from hlotool.ir.arrays import np
from hlotool.mlir import dense_numbers, stored_bytes, with_signs
from hlotool.stablehlo.types import element_type
from hlotool.text import literal_of_bits

#: arrays up to this many bytes are remembered
_SMALL = 64


class Constants:
    """The attributes of one module's constants, small ones remembered."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[int, ...], bytes], mlir.DenseAttribute] = {}

    def attribute(self, array: Any, shape: Shape) -> mlir.DenseAttribute:
        """Return a dense attribute of the array's values, with one of them where they are all equal."""
        if array.size > 1 and not any(array.strides):  # one value seen from many places, however many
            return _attribute(np.ascontiguousarray(array[(0,) * array.ndim], shape.dtype.numpy), shape)
        array = np.ascontiguousarray(array, shape.dtype.numpy).reshape(shape.dims)
        if array.nbytes > _SMALL:
            return _attribute(array, shape)
        key = (shape.element_type, shape.dims, array.tobytes())
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _attribute(array, shape)
        return found


def zeros(shape: Shape) -> mlir.DenseAttribute:
    """Return the attribute of zeros in a shape, however large."""
    return _attribute(np.zeros(1, shape.dtype.numpy), shape)


def _attribute(array: Any, shape: Shape) -> mlir.DenseAttribute:
    raw = array.reshape(-1).view(np.uint8).reshape(array.size, array.itemsize)
    # Compared as bytes: NaN equals itself, the two zeros differ.
    if array.size > 1 and bool((raw == raw[0]).all()):
        raw = raw[:1]
    element = element_type(shape.element_type)
    return mlir.DenseAttribute(mlir.TensorType(shape.dims, element), with_signs(raw.tobytes(), element))


#: elements up to which a literal is made of their texts
_FEW = 64


def literal_of(attribute: mlir.DenseAttribute, shape: Shape, most_repeated: int | None = None) -> Literal:
    """Return the elements in a shape, whose array is a view of the attribute's bytes.

    Of an element that is repeated more often than `most_repeated` the literal is a scalar.
    """
    width = stored_bytes(attribute.type.element)  # type: ignore[union-attr]
    count, data = shape.size, attribute.data
    if most_repeated is not None and count > most_repeated and data == data[:width] * (len(data) // width):
        attribute = mlir.DenseAttribute(attribute.type, data[:width])
        shape, count = Shape.array(shape.element_type), 1
    if count <= _FEW:
        numbers = tuple(dense_numbers(attribute))
        parts = 2 * count if shape.dtype.is_complex else count
        found = literal_of_bits(shape, numbers if len(numbers) == parts else numbers * count)
        if found is not None:
            return found
    return Literal(shape, reader=functools.partial(_array_of, attribute))


def _array_of(attribute: mlir.DenseAttribute, shape: Shape, _: str) -> Any:
    """Return the elements as an array; one that all are equal to as a view of it."""
    dtype = shape.dtype
    if dtype.is_integral and dtype.bits < 8:  # of which the upper bits of a byte say nothing
        flat = np.frombuffer(attribute.data, np.uint8).astype(dtype.numpy)
    else:
        flat = np.frombuffer(attribute.data, dtype.numpy)
    return np.broadcast_to(flat.reshape(()), shape.dims) if flat.size == 1 else flat.reshape(shape.dims)
