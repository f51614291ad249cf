"""Programs with sizes that are set when they run: the reference computes what PJRT does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xla_library import VERSION

import hlotool
from hlotool.builder import XlaBuilder

X = np.arange(10, dtype=np.float32) + 1


def total(b: XlaBuilder, value: Any) -> Any:
    """What is there, added up."""
    return b.Reduce(value, False if value.element_type == "pred" else 0, b.Add, list(range(value.rank)))


def table(b: XlaBuilder, x: Any, n: Any, axis: int = 1) -> Any:
    """A table of 2 x 5 or 5 x 2 with a dynamic dimension of 5."""
    return b.SetDimensionSize(b.Reshape(x, [2, 5] if axis else [5, 2]), b.Min(n, 5), axis)


def pooled(b: XlaBuilder, x: Any, n: Any) -> Any:
    source = b.SetDimensionSize(np.float32([1, 2, 3, 4, 5]), 3, 0)
    return b.SelectAndScatter(b.SetDimensionSize(x, 6, 0), b.Ge, [2], [2], "VALID", source, 0.0, b.Add)


def scattered(b: XlaBuilder, x: Any, n: Any) -> Any:
    numbers = {"update_window_dims": [], "inserted_window_dims": [0], "scatter_dims_to_operand_dims": [0],
               "index_vector_dim": 1}
    indices = b.SetDimensionSize(np.int32([[0], [2], [4]]), 2, 0)
    return b.Scatter(x, indices, np.float32([1, 2, 3]), b.Add, numbers)


#: programs of x, n, and v: x with the size n
PROGRAMS: dict[str, Callable[[XlaBuilder, Any, Any, Any], Any]] = {
    "add a scalar": lambda b, x, n, v: total(b, b.Add(v, 1.0)),
    "add a static array": lambda b, x, n, v: total(b, b.Add(v, X)),
    "a static array first": lambda b, x, n, v: total(b, b.Sub(X, v)),
    "compare with a scalar": lambda b, x, n, v: total(b, b.ConvertElementType(b.Gt(v, 2.0), "s32")),
    "compare with a static array": lambda b, x, n, v: total(b, b.ConvertElementType(b.Eq(v, X), "s32")),
    "dot with a static vector": lambda b, x, n, v: b.Dot(v, X),
    "dot of a static vector": lambda b, x, n, v: b.Dot(X, v),
    "dot with dynamic rows": lambda b, x, n, v: total(b, b.Dot(table(b, x, n, 0), np.ones((2, 3), np.float32))),
    "dot over the dynamic dimension": lambda b, x, n, v: b.Dot(table(b, x, n), np.ones((5, 3), np.float32)),
    "outer product": lambda b, x, n, v: total(b, b.DotGeneral(v, X, {})),
    "map": lambda b, x, n, v: total(b, b.Map([v], lambda a: a * 2.0)),
    "map with a static array": lambda b, x, n, v: total(b, b.Map([v, b.Constant(X)], b.Mul)),
    "select of a scalar": lambda b, x, n, v: total(b, b.Select(b.Gt(v, 2.0), v, 0.0)),
    "select by a static predicate": lambda b, x, n, v: total(b, b.Select(X > 3, v, X)),
    "clamp": lambda b, x, n, v: total(b, b.Clamp(2.0, v, 4.0)),
    "clamp by a static array": lambda b, x, n, v: total(b, b.Clamp(X - 2, v, X - 1)),
    "the size": lambda b, x, n, v: b.GetDimensionSize(v + 1.0, 0),
    "the mean": lambda b, x, n, v: b.Div(b.Sum(v), b.ConvertElementType(b.GetDimensionSize(v, 0), "f32")),
    "unary": lambda b, x, n, v: total(b, b.Neg(v)),
    "convert": lambda b, x, n, v: total(b, b.ConvertElementType(v, "s32")),
    "broadcast": lambda b, x, n, v: total(b, b.Broadcast(v, [3])),
    "broadcast in a sum": lambda b, x, n, v: total(b, b.Add(table(b, x, n), np.float32([1, 2]), [0])),
    "concatenate": lambda b, x, n, v: total(b, b.ConcatInDim([v, b.Constant(X), v], 0)),
    "concatenate along another": lambda b, x, n, v: total(
        b, b.ConcatInDim([table(b, x, n), b.Constant(X.reshape(2, 5))], 0)),
    "pad": lambda b, x, n, v: total(b, b.Pad(v, 7.0, [(1, 2, 0)])),
    "reverse": lambda b, x, n, v: total(b, b.Mul(b.Rev(v, [0]), X)),
    "reshape": lambda b, x, n, v: total(b, b.Reshape(v, [10, 1])),
    "transpose": lambda b, x, n, v: total(b, b.Transpose(table(b, x, n), [1, 0])),
    "reduce to the greatest": lambda b, x, n, v: b.ReduceMax(v),
    "where the greatest is": lambda b, x, n, v: b.ArgMax(v),
    "reduce-window": lambda b, x, n, v: total(b, b.ReduceWindow(v, 0.0, b.Add, [2], [1], "SAME")),
    "reduce-window with strides": lambda b, x, n, v: total(b, b.ReduceWindow(v, 0.0, b.Add, [3], [2], "VALID")),
    "cumulative sum": lambda b, x, n, v: total(b, b.CumulativeSum(v)),
    "select-and-scatter": lambda b, x, n, v: total(b, pooled(b, x, n)),
    "scatter": lambda b, x, n, v: scattered(b, x, n),
    "gather": lambda b, x, n, v: total(b, b.TorchIndexSelect(x, b.SetDimensionSize(np.int32([0, 2, 4]), 2, 0))),
    "sort": lambda b, x, n, v: total(b, b.Mul(b.Sort([b.SetDimensionSize(b.Rev(x, [0]), n, 0)]), X)),
    "convolution": lambda b, x, n, v: total(b, b.Conv(b.SetDimensionSize(b.Reshape(x, [5, 1, 2]), b.Min(n, 5), 0),
                                                      np.ones((1, 1, 2), np.float32), [1], "VALID")),
    "update": lambda b, x, n, v: total(b, b.DynamicUpdateSlice(v, np.float32([9, 9]), [1])),
    "tuple": lambda b, x, n, v: total(b, b.GetTupleElement(b.Tuple(v, x), 0)),
    "call": lambda b, x, n, v: total(b, b.Call(lambda a: a + 1.0, v)),
    "while": lambda b, x, n, v: total(b, b.GetTupleElement(
        b.While(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), [b.Constant(0), v]), 1)),
    "conditional": lambda b, x, n, v: total(b, b.Conditional(b.Gt(n, 3), v, lambda a: a * 2.0, v, lambda a: a + 1.0)),
    "two of one size": lambda b, x, n, v: total(b, b.Add(v, b.SetDimensionSize(x * 2.0, n, 0))),
    "the bound again": lambda b, x, n, v: total(b, b.RemoveDynamicDimension(v, 0)),
    "another size": lambda b, x, n, v: total(b, b.SetDimensionSize(v, b.Min(b.Add(n, 2), 10), 0)),
    "dynamic-reshape": lambda b, x, n, v: b.Reduce(b.DynamicReshape(
        b.SetDimensionSize(x, 6, 0), [b.Constant(3), b.Constant(2)], [5, 2], [True, False]), 0.0, b.Add, [0]),
    "softmax": lambda b, x, n, v: total(b, b.Softmax(v)),
    "the array itself": lambda b, x, n, v: b.Mul(v, 2.0),
    "a table itself": lambda b, x, n, v: table(b, x, n),
    "a table and more": lambda b, x, n, v: b.Tuple(b.Constant(1), b.Tuple(table(b, x, n), v), x),
    "two dynamic dimensions": lambda b, x, n, v: b.Rev(b.SetDimensionSize(table(b, x, n), 1, 0), [1]),
    "gather of whole rows": lambda b, x, n, v: b.Gather(table(b, x, n), np.int32([[1], [0], [1]]), {
        "offset_dims": [1], "collapsed_slice_dims": [0], "start_index_map": [0], "index_vector_dim": 1}, [1, 5]),
    "sort of two": lambda b, x, n, v: b.Sort([b.Neg(v), b.SetDimensionSize(b.Iota("s32[10]", 0), n, 0)],
                                             lambda p, q, i, j: b.Lt(p, q), 0, True),
    "products by batch": lambda b, x, n, v: b.DotGeneral(
        table(b, x, n, 0), b.SetDimensionSize(b.Reshape(x, [5, 2]), b.Min(n, 5), 0), (([1], [1]), ([0], [0]))),
    "features of a convolution": lambda b, x, n, v: b.Conv(
        b.SetDimensionSize(b.Reshape(x, [1, 5, 2]), b.Min(n, 5), 1), np.ones((1, 5, 2), np.float32), [1], "VALID"),
}


#: padded windows over a size of 5, 1, 3 and 10; XLA of 2025 leaves out the places in the padding
PADDED = {"reduce-window": (29, 1, 11, 109), "cumulative sum": (35, 1, 10, 220)}


@pytest.mark.parametrize("name", PADDED)
def test_padding_stands_where_the_elements_end(name: str) -> None:
    b = XlaBuilder("dynamic")
    x, n = b.Parameter(0, "f32[10]"), b.Parameter(1, "s32[]")
    module = b.build(PROGRAMS[name](b, x, n, b.SetDimensionSize(x, n, 0)))
    found = [float(hlotool.execute(module, [X, np.int32(size)], "reference")[0]) for size in (5, 1, 3, 10)]
    assert found == list(PADDED[name])


@pytest.mark.parametrize("name", [
    pytest.param(n, marks=pytest.mark.skipif(n in PADDED and VERSION < (0, 12), reason="left out by this XLA"))
    for n in PROGRAMS])
def test_dynamic_sizes_evaluate_as_on_pjrt(name: str) -> None:
    b = XlaBuilder("dynamic")
    x, n = b.Parameter(0, "f32[10]"), b.Parameter(1, "s32[]")
    module = b.build(PROGRAMS[name](b, x, n, b.SetDimensionSize(x, n, 0)))
    for size in (5, 1, 3, 10):
        expected, found = (hlotool.execute(module, [X, np.int32(size)], e) for e in ("pjrt:cpu", "reference"))
        assert [f.shape for f in found] == [e.shape for e in expected], f"size {size}"
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, 1e-6, err_msg=f"size {size}")


@pytest.mark.parametrize(("size", "said"), [(5, "which the size 5 uncovers"), (-1, "it may not be negative")])
def test_what_no_size_can_say_is_refused(size: int, said: str) -> None:
    b = XlaBuilder("dynamic")
    x, n = b.Parameter(0, "f32[10]"), b.Parameter(1, "s32[]")
    module = b.build(b.SetDimensionSize(b.Add(b.SetDimensionSize(x, 3, 0), 1.0), n, 0))
    assert hlotool.execute(module, [X, np.int32(2)], "reference")[0].tolist() == [2, 3]
    with pytest.raises(hlotool.HloError, match=said):
        hlotool.execute(module, [X, np.int32(size)], "reference")


def test_a_convolution_has_as_many_places_as_the_size_allows() -> None:
    """XLA's CPU has no dynamic spatial dimensions; what is expected is the convolution of the cut array."""
    b = XlaBuilder("dynamic")
    x, n = b.Parameter(0, "f32[10]"), b.Parameter(1, "s32[]")
    image = b.SetDimensionSize(b.Reshape(x, [1, 1, 10]), n, 2)
    module = b.build(b.Conv(image, np.ones((1, 1, 3), np.float32), [2], "VALID"))
    for size in (2, 3, 7, 10):
        expected = [X[i:i + 3].sum() for i in range(0, size - 2, 2)]
        assert hlotool.execute(module, [X, np.int32(size)], "reference")[0].reshape(-1).tolist() == expected


def test_the_documents_example() -> None:
    """The sum and the product of what a size of five, then of six, lets count."""
    b = XlaBuilder("sizes", semantics="2022")
    v = b.Constant(X)
    five, six = (b.SetDimensionSize(v, size, 0) for size in (5, 6))
    module = b.build([total(b, five), b.Reduce(five, 1.0, b.Mul, [0]), total(b, six)])
    for executor in ("reference", "pjrt:cpu"):
        assert [float(a) for a in hlotool.execute(module, [], executor)] == [15, 120, 21]
