"""The library's numerical functions against SciPy, mpmath and NumPy, on the reference and on PJRT."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.linalg
import scipy.special

import hlotool
from hlotool.builder import FUNCTIONS, XlaBuilder, XlaOp
from hlotool.diagnostics import HloError

EXECUTORS = ("reference", "pjrt:cpu")
_R = np.random.default_rng(1)
_A = np.concatenate([_R.uniform(0.01, 5, 20), _R.uniform(5, 60, 20), [1, 2, 3, 1]])
_X = np.concatenate([_R.uniform(0.01, 8, 20), _R.uniform(5, 60, 20), [0, 2, 50, np.inf]])
_P = np.concatenate([_R.uniform(0, 1, 40), [0, 1, 0.5]])
_ALPHA = np.concatenate([_R.uniform(0.05, 5, 20), _R.uniform(1, 9, 20), [1, 2, 3]])
_BETA = np.concatenate([_R.uniform(0.05, 5, 20), _R.uniform(1, 9, 20), [1, 2, -3]])
_WAVES = np.concatenate([_R.normal(size=20) * 5, _R.normal(size=20) * 100, [0, 20, -20, 20.01]])


def ran(call: Callable[..., Any], *arguments: Any) -> list[list[Any]]:
    """The results of a call on parameters, by executor."""
    b = XlaBuilder("library")
    module = b.build(call(b, *(b.Parameter(i, np.asarray(a)) for i, a in enumerate(arguments))))
    assert hlotool.verify(module) == []
    return [list(hlotool.execute(module, list(arguments), e)) for e in EXECUTORS]


def _slope(a: float, x: float) -> Any:
    return mpmath.diff(lambda t: mpmath.gammainc(t, 0, x, regularized=True), a)


def _sample_slope(a: float, x: float) -> float:
    return float(-_slope(a, x) / (mpmath.mpf(x) ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)))


SPECIAL: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "Igamma": (scipy.special.gammainc, [_A, _X]), "Igammac": (scipy.special.gammaincc, [_A, _X]),
    "IgammaGradA": (np.vectorize(lambda a, x: float(_slope(a, x))), [_A[:6], _X[:6]]),
    "RandomGammaGrad": (np.vectorize(_sample_slope), [_A[:6], _X[:6]]),
    "Zeta": (scipy.special.zeta, [[1.1, 2, 3.5, 19, 1, 0.5, 2], [2.0, 0.1, 30, 4, 2, 2, -1]]),
    "Polygamma": (np.vectorize(lambda n, x: float(mpmath.polygamma(int(n), x))),
                  [[0, 1, 2, 3, 4, 5, 1], [0.5, 1, 2.5, 3, 7, 0.2, 20]]),
    "RegularizedIncompleteBeta": (scipy.special.betainc, [_ALPHA, _BETA, _P]),
    "Atan": (np.arctan, [_WAVES]),
    "BesselI0e": (scipy.special.i0e, [_WAVES]), "BesselI1e": (scipy.special.i1e, [_WAVES])}


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name: str, kind: str) -> None:
    oracle, given = SPECIAL[name]
    arguments = [np.asarray(v, {"f32": np.float32, "f64": np.float64}[kind]) for v in given]
    expected = oracle(*(a.astype(np.float64) for a in arguments))
    for (found,) in ran(lambda b, *p: b.apply_named(name, p), *arguments):
        np.testing.assert_allclose(found, expected, 1e-9 if kind == "f64" else 1e-6, 1e-40)


def test_what_gamma_functions_do_not_take() -> None:
    b = XlaBuilder()
    for call in (lambda: b.Igamma(b.Constant([1]), b.Constant([2])), lambda: b.BesselI0e(b.Constant([1j])),
                 lambda: b.Zeta(b.Constant([1.0]), b.Constant(np.ones(1)))):
        with pytest.raises(hlotool.HloError, match="B001"):
            call()
    for (found,) in ran(lambda b, a, x: b.Igamma(a, x), np.float32([0, -1, 2, 3]), np.float32([1, 1, -1, np.nan])):
        assert np.isnan(found).all()


@pytest.mark.parametrize("dims", [(4, 4), (2, 3, 3), (3, 5), (5, 3)])
def test_lu_decomposition(dims: tuple[int, ...]) -> None:
    a = _R.normal(size=dims)
    for lu, pivots, permutation in ran(lambda b, x: b.LuDecomposition(x), a):
        count = min(dims[-2:])
        low = np.tril(lu, -1)[..., :, :count] + np.eye(dims[-2], count)
        np.testing.assert_allclose(low @ np.triu(lu)[..., :count, :],
                                   np.take_along_axis(a, permutation[..., None], -2), 1e-12, 1e-12)
        if len(dims) == 2:
            np.testing.assert_allclose(lu, scipy.linalg.lu_factor(a)[0], 1e-12, 1e-12)
            assert pivots.tolist() == scipy.linalg.lu_factor(a)[1].tolist()


def test_tridiagonal_solver() -> None:
    lower, upper, rhs = (_R.normal(size=s) for s in ((2, 1, 5), (2, 1, 5), (2, 3, 5)))
    main = 4 + _R.normal(size=(2, 1, 5))
    whole = [np.diag(m[0]) + np.diag(low[0, 1:], -1) + np.diag(up[0, :-1], 1)
             for low, m, up in zip(lower, main, upper, strict=True)]
    for (found,) in ran(lambda b, *p: b.TridiagonalSolver(*p), lower, main, upper, rhs):
        for matrix, x, wanted in zip(whole, found, rhs, strict=True):
            np.testing.assert_allclose(x @ matrix.T, wanted, 1e-10, 1e-10)


def test_products_with_three_diagonals() -> None:
    lower, main, upper, rhs = (_R.normal(size=s) for s in ((2, 1, 5), (2, 1, 5), (2, 1, 5), (2, 5, 3)))
    whole = np.stack([np.diag(m[0]) + np.diag(low[0, 1:], -1) + np.diag(up[0, :-1], 1)
                      for low, m, up in zip(lower, main, upper, strict=True)])
    for (found,) in ran(lambda b, *p: b.TridiagonalMatMul(*p), upper, main, lower, rhs):
        np.testing.assert_allclose(found, whole @ rhs, 1e-12, 1e-12)
    b = XlaBuilder()
    with pytest.raises(hlotool.HloError, match=r"TridiagonalMatMul takes diagonals \[\.\.\., 1, m\]"):
        b.TridiagonalMatMul(*(b.Parameter(n, d) for n, d in enumerate(["f32[5]", "f32[5]", "f32[5]", "f32[5,3]"])))


@pytest.mark.parametrize(("operand", "indices", "axis"), [
    ((0, 5), (0,), 0), ((4, 0), (2,), 0), ((4, 5), (0,), 1), ((0, 5), (0,), 1)])
def test_selections_of_nothing(operand: tuple[int, ...], indices: tuple[int, ...], axis: int) -> None:
    x, i = np.zeros(operand, np.float32), np.zeros(indices, np.int32)
    for (found,) in ran(lambda b, *p: b.TorchIndexSelect(*p, axis), x, i):
        assert found.shape == np.take(x, i, axis).shape


@pytest.mark.parametrize("kind", ["s8", "u8", "s16", "s64"])
def test_places_of_the_greatest_have_the_type_asked_for(kind: str) -> None:
    x = _R.permutation(24).astype(np.float32).reshape(2, 12)
    for values, places in ran(lambda b, v: b.TopK(v, 3, index_type=kind), x):
        assert places.tolist() == np.argsort(-x, -1)[:, :3].tolist() and values.shape == (2, 3)
        assert places.dtype.itemsize * 8 == int(kind[1:])
    b = XlaBuilder()
    with pytest.raises(hlotool.HloError, match="s8 does not hold the numbers of 129 elements"):
        b.TopK(b.Parameter(0, "f32[129]"), 3, index_type="s8")


def test_selections() -> None:
    x = _R.permutation(24).astype(np.float32).reshape(2, 12)
    order = np.argsort(-x, -1)[:, :3]
    for values, places in ran(lambda b, v: b.TopKWithPartitions(v, 3, 3), x):
        assert places.tolist() == order.tolist() and values.tolist() == np.take_along_axis(x, order, -1).tolist()
    places = np.broadcast_to(np.arange(12, dtype=np.int32), x.shape).copy()
    for values, found in ran(lambda b, v, i: b.ApproxTopK([v, i], [-np.inf, -1], 3, 1, lambda p, q, *_: b.Gt(p, q)),
                             x, places):
        assert found.tolist() == order.tolist() and values.tolist() == np.take_along_axis(x, order, -1).tolist()


def test_torch_scatter_dense_and_batched_selection() -> None:
    target, index, new = np.zeros((3, 4), np.float32), np.int32([[0, 2, 1, 1], [2, 2, 0, 1]]), np.float32(
        [[1, 2, 3, 4], [5, 6, 7, 8]])
    expected = target.copy()
    np.add.at(expected, (index, np.arange(4)[None]), new)
    for (found,) in ran(lambda b, *p: b.TorchScatterDense(*p, 0, b.Add), target, index, new):
        assert found.tolist() == expected.tolist()
    cube, rows = _R.normal(size=(2, 3, 4)), np.int32([[0, 2], [1, 1]])
    wanted = np.stack([cube[i][rows[i]] for i in range(2)])
    for (found,) in ran(lambda b, x, i: b.TorchIndexSelect(x, i, 1, 1), cube, rows):
        np.testing.assert_array_equal(found, wanted)


def test_sizes_constants_and_tuples() -> None:
    b = XlaBuilder()
    x = b.Parameter(0, "f32[10,4]")
    # A size that is known is no dynamic one.
    assert str(b.SetDimensionSizeWithRebound(x, 3, 0).shape) == "f32[3,4]"
    assert str(b.SetDimensionSizeWithRebound(x, 30, 0).shape) == "f32[10,4]"
    assert str(b.SetAllDimensionSizes(x, [b.Parameter(1, "s32[]"), 2]).shape) == "f32[<=10,2]"
    assert str(b.SetAllDimensionSizes(x, b.Parameter(2, "s64[2]")).shape) == "f32[<=10,<=4]"
    assert [str(e.shape) for e in b.DisassembleTuple(b.Tuple(x, 1))] == ["f32[10,4]", "s32[]"]
    for smallest, half in ran(lambda b: b.Tuple(b.MinPositiveNormalValue("f32"), b.MinPositiveNormalValue("f16"))):
        assert smallest == np.finfo(np.float32).smallest_normal and half == np.finfo(np.float16).smallest_normal
    u, v = _R.uniform(0.01, 1, 7), _R.uniform(0, 1, 7)
    for first, second in ran(lambda b, p, q: b.BoxMullerTransform(p, q), u, v):
        np.testing.assert_allclose(first**2 + second**2, -2 * np.log(u), 1e-12)


def test_loops_comparators_and_branches_of_other_sizes() -> None:
    def sums(b: XlaBuilder, x: XlaOp) -> Any:
        return b.Tuple(b.WhileLoopHelper(lambda i, v: b.Lt(i, 4), lambda i, v: (i + 1, v * 2.0), [b.Constant(0), x]))

    for count, found in ran(sums, np.ones(3, np.float32)):
        assert count == 4 and found.tolist() == [16] * 3

    def ordered(b: XlaBuilder, keys: XlaOp, next_keys: XlaOp, values: XlaOp) -> Any:
        by = b.CreateScalarComparisonComputation("by_both", ["s32", "f32", "s32"], [b.Lt, b.Gt, None])
        return b.Sort([keys, next_keys, values], by, 0, True)

    keys, next_keys = np.array([2, 1, 2, 1], np.int32), np.array([0, 5, 7, 9], np.float32)
    for _, _, order in ran(ordered, keys, next_keys, np.arange(4, dtype=np.int32)):
        assert order.tolist() == [3, 1, 2, 0]

    def grown(b: XlaBuilder, chosen: XlaOp, x: XlaOp, y: XlaOp) -> Any:
        either = b.DynamicConditional(chosen, x, lambda v: v * 2.0, y, lambda v: v + 1.0)
        return b.Tuple(b.Reduce(either, 0.0, b.Add, [0]), b.GetDimensionSize(either, 0))

    x, y = np.arange(3, dtype=np.float32), np.arange(5, dtype=np.float32)
    for chosen, total, size in ((True, 6, 3), (False, 15, 5)):
        for found, count in ran(grown, np.array(chosen), x, y):
            assert (found, count) == (total, size)
    b = XlaBuilder()
    with pytest.raises(HloError, match="sizes only"):
        b.DynamicConditional(b.Parameter(0, "pred[]"), b.Parameter(1, "f32[2]"), b.Neg, b.Parameter(2, "s32[3]"), b.Neg)
    assert str(b.ConstantR0WithType("bf16", 2).shape) == "bf16[]"


#: public functions of xla/hlo/builder/lib that have another name here
OTHER_NAMES = {
    "RoundToEven": "RoundNearestEven", "NormalizeEinsumString": "Einsum", "ParseEinsumString": "Einsum",
    "DynamicStridedSlice": "DynamicSlice"}
LIBRARY = [
    "CreateScalarAddComputation", "CreateScalarMultiplyComputation", "CreateScalarGeComputation",
    "CreateScalarMaxComputation", "CreateScalarMinComputation", "CreateScalarLogicalAndComputation",
    "CreateScalarOrComputation", "Any", "ArgMax", "ArgMin", "CreateScalarLtComputation",
    "CreateScalarGtComputation", "CreateScalarComparisonComputation", "ConstantR0WithType", "ScalarLike",
    "FullLike", "Zero", "Zeros", "ZerosLike", "One", "Epsilon", "MinValue", "MinFiniteValue",
    "MinPositiveNormalValue", "MaxValue", "MaxFiniteValue", "NanValue", "DynamicConditional",
    "SetDimensionSizeWithRebound", "SetAllDimensionSizes", "SLogDet", "LogDet", "WhileLoopHelper",
    "ForEachIndex", "LuDecomposition", "IsPosInf", "IsNegInf", "IsInf", "IsNan", "IsNegZero", "NextAfter",
    "Square", "Reciprocal", "Erfc", "ErfInv", "Lgamma", "Digamma", "Igamma", "IgammaGradA", "RandomGammaGrad",
    "Igammac", "Polygamma", "Zeta", "RoundToEven", "Acos", "Asin", "Atan", "Acosh", "Asinh", "Atanh", "Cosh",
    "Sinh", "MaybeConjugate", "BesselI0e", "BesselI1e", "RegularizedIncompleteBeta", "IdentityMatrix",
    "GetMatrixDiagonal", "GetMatrixDiagonalViaGather", "SetMatrixDiagonal", "TriangleMask", "Triangle",
    "UpperTriangle", "LowerTriangle", "Symmetrize", "BatchDot", "ParseEinsumString", "NormalizeEinsumString",
    "Einsum", "TransposeInMinorDims", "MaybeTransposeInMinorDims", "MaxPool", "AvgPool", "AvgPoolGrad",
    "ThreeFryBitGenerator", "PhiloxBitGenerator", "BoxMullerTransform", "UniformFloatingPointDistribution",
    "UniformIntDistribution", "NormalFloatingPointDistribution", "Qr", "QrExplicit", "SelfAdjointEig",
    "DynamicStridedSlice", "SliceInMinorDims", "UpdateSlice", "UpdateSliceInMinorDims",
    "DynamicSliceInMinorDims", "DynamicUpdateSliceInMinorDims", "TorchGather", "TorchScatterDense",
    "TorchIndexSelect", "TopK", "TopKWithPartitions", "ApproxTopK", "ApproxTopKFallback", "SVD",
    "TridiagonalSolver", "TridiagonalMatMul", "ThomasSolver", "DisassembleTuple", "BroadcastTo",
    "CreateScalarIdentityWithZeroComputation",
    "AggregateToTopKBuilder", "ApproxTopKReductionOutputSize", "ConvGradExtractAndVerifyDimension",
    "MakeSpatialPadding", "ScramblePhiloxKey", "PhiloxIncreaseCounter", "ConcatScalars", "PackToUint32",
    "DequantizePacked", "ProductOfElementaryHouseholderReflectors", "EvaluatePolynomial",
    "EvaluateChebyshevPolynomial", "GetDiagonalMask", "PrependMajorDims"]


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_has_what_xlas_has(name: str) -> None:
    XlaBuilder().apply_named("Constant", [1.0])  # declares the functions of records, too
    assert OTHER_NAMES.get(name, name) in FUNCTIONS


@pytest.mark.parametrize("dims", [([1, 3], [1, 3], [1, 3], [2, 4]), ([1, 3], [2, 3], [1, 3], [2, 3]),
                                  ([2, 3], [2, 3], [2, 3], [2, 3]), ([1, 3], [1, 3], [1, 3], [3]),
                                  ([1, 3], [1, 3], [1, 4], [2, 3]), ([1, 0], [1, 0], [1, 0], [2, 0])])
def test_systems_of_other_sizes_are_refused(dims: tuple[list[int], ...]) -> None:
    b = XlaBuilder()
    with pytest.raises(hlotool.HloError, match=r"takes diagonals \[\.\.\., 1, n\]"):
        b.TridiagonalSolver(*(b.Parameter(n, f"f32{d}".replace(" ", "")) for n, d in enumerate(dims)))
