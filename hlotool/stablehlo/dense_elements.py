"""Constants as dense elements attributes, and back."""

from __future__ import annotations

import re
from typing import Any

from hlotool.ir import Shape
from hlotool.ir.arrays import np
from hlotool.stablehlo.types import Types

#: arrays up to this many bytes are remembered
_SMALL = 64


class Constants:
    """The attributes of one module's constants, small ones remembered."""

    def __init__(self, types: Types) -> None:
        from jax.extend.mlir import ir

        self._get = ir.DenseElementsAttr.get
        self._types = types
        self._known: dict[tuple[str, tuple[int, ...], bytes], Any] = {}

    def attribute(self, array: Any, shape: Shape) -> Any:
        """A dense elements attribute of the array's values, as a splat where they are all equal."""
        if array.size > 1 and not any(array.strides):  # one value seen from many places, however many
            return self._make(np.ascontiguousarray(array[(0,) * array.ndim], shape.dtype.numpy), shape)
        array = np.ascontiguousarray(array, shape.dtype.numpy).reshape(shape.dims)
        if array.nbytes > _SMALL:
            return self._make(array, shape)
        key = (shape.element_type, shape.dims, array.tobytes())
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._make(array, shape)
        return found

    def zeros(self, shape: Shape) -> Any:
        """The attribute of zeros in a shape, however large."""
        return self._make(np.zeros(1, shape.dtype.numpy), shape)

    def _make(self, array: Any, shape: Shape) -> Any:
        element = self._types.element(shape.element_type)
        raw = array.reshape(-1).view(np.uint8).reshape(array.size, array.itemsize)
        # Compared as bytes: NaN equals itself, the two zeros differ.
        if array.size > 1 and bool((raw == raw[0]).all()):
            array = array.reshape(-1)[:1]
        # The buffer protocol does not know ml_dtypes' types.
        plain = array if array.dtype.isbuiltin == 1 else array.view(f"u{array.itemsize}")
        return self._get(plain, type=element, shape=list(shape.dims))


_TOKEN = re.compile(r"\(([^,()]+),([^,()]+)\)|[^\s\[\],()]+")


def read_dense(text: str, shape: Shape) -> Any:
    """The values of a dense elements attribute from its text ("dense<[1, 2]> : tensor<2xi4>").

    For the element types that MLIR's Python bindings give no buffer of. One number is a view in that shape.
    """
    dtype = shape.dtype.numpy
    body = text[text.index("<") + 1:text.rindex(">", 0, text.rindex(" : "))].strip()
    if body.startswith('"0x'):
        flat = np.frombuffer(bytes.fromhex(body[3:-1]), dtype)
    else:
        flat = _values([m.groups() if m[1] else (m[0],) for m in _TOKEN.finditer(body)], shape)
    if flat.size == 1:
        return np.broadcast_to(flat.reshape(()), shape.dims)
    return flat.reshape(shape.dims).copy()


def _values(tokens: list[tuple[str, ...]], shape: Shape) -> Any:
    dtype = shape.dtype
    if dtype.family == "pred":
        return np.array([t == "true" for (t,) in tokens], np.bool_)
    if dtype.is_integral:
        return np.array([int(t) for (t,) in tokens], np.int64 if dtype.is_signed else np.uint64).astype(dtype.numpy)
    part = np.dtype(dtype.numpy.type(0).real.dtype) if dtype.is_complex else dtype.numpy
    flat = np.array([_float(t, part) for token in tokens for t in token], part)
    return flat.view(dtype.numpy) if dtype.is_complex else flat


def _float(token: str, dtype: Any) -> Any:
    """A number, or (infinities, NaN) the bits that MLIR writes in hexadecimal."""
    if token.startswith("0x"):
        return np.array([int(token, 16)], f"u{dtype.itemsize}").view(dtype)[0]
    return np.array(float(token)).astype(dtype)[()]
