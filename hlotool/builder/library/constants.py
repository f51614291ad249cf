"""Constants of an element type: zeros and ones, limits, NaN."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import NO_SHAPE
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import element_type_of, shape_of
from hlotool.ir import DTYPES
from hlotool.ir.arrays import np
from hlotool.ops import int_limits

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


def _scalar(b: Methods, element_type: Any, value: Any) -> XlaOp:
    name = element_type_of(element_type)
    return b.constant_of(np.asarray(value).astype(DTYPES[name].numpy)) if name != "pred" else b.constant_of(bool(value))


@function()
def zero(b: Methods, element_type: Any) -> XlaOp:
    """The scalar 0."""
    return _scalar(b, element_type, 0)


@function()
def one(b: Methods, element_type: Any) -> XlaOp:
    """The scalar 1."""
    return _scalar(b, element_type, 1)


@function()
def zeros(b: Methods, shape: Any) -> XlaOp:
    """Zeros in a shape."""
    return b.Full(shape, zero(b, shape_of(shape).element_type))


@function()
def constant_r0_with_type(b: Methods, element_type: Any, value: Any) -> XlaOp:
    """A number as a scalar of an element type."""
    return _scalar(b, element_type_of(element_type), value)


@function()
def scalar_like(b: Methods, prototype: Any, value: Any) -> XlaOp:
    """A number as a scalar of an operand's element type."""
    return _scalar(b, b.operand(prototype).element_type, value)


def _float(element_type: Any) -> str:
    name = element_type_of(element_type)
    demand(DTYPES[name].is_floating, NO_SHAPE, f"{name} has no such value: it is no float")
    return name


@function()
def epsilon(b: Methods, element_type: Any) -> XlaOp:
    """The distance from 1 to the next float."""
    name = _float(element_type)
    return _scalar(b, name, 2.0 ** -DTYPES[name].mantissa_bits)


def limits_of(name: str) -> tuple[Any, Any]:
    """The least and the greatest finite element."""
    dtype = DTYPES[name]
    if dtype.family == "pred":
        return False, True
    if dtype.is_integral:
        return int_limits(dtype)
    import ml_dtypes

    info: Any = ml_dtypes.finfo(dtype.numpy)
    return info.min, info.max


@function()
def min_finite_value(b: Methods, element_type: Any) -> XlaOp:
    """The least finite element."""
    return _scalar(b, element_type, limits_of(element_type_of(element_type))[0])


@function()
def min_positive_normal_value(b: Methods, element_type: Any) -> XlaOp:
    """The least float above zero that has all its digits."""
    import ml_dtypes

    name = _float(element_type)
    info: Any = ml_dtypes.finfo(DTYPES[name].numpy)
    return _scalar(b, name, info.smallest_normal)


@function()
def max_finite_value(b: Methods, element_type: Any) -> XlaOp:
    """The greatest finite element."""
    return _scalar(b, element_type, limits_of(element_type_of(element_type))[1])


@function()
def min_value(b: Methods, element_type: Any) -> XlaOp:
    """Return the least value of an element type: minus infinity, or the least integer."""
    name = element_type_of(element_type)
    return _scalar(b, name, -math.inf) if DTYPES[name].is_floating else min_finite_value(b, name)


@function()
def max_value(b: Methods, element_type: Any) -> XlaOp:
    """Return the greatest value of an element type: infinity, or the greatest integer."""
    name = element_type_of(element_type)
    return _scalar(b, name, math.inf) if DTYPES[name].is_floating else max_finite_value(b, name)


@function()
def nan_value(b: Methods, element_type: Any) -> XlaOp:
    """Not a number."""
    return _scalar(b, _float(element_type), math.nan)
