"""The library beside the builder: each function on PJRT, against NumPy, known vectors or its own definition."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.builder import FUNCTIONS, XlaBuilder, library

_R = np.random.default_rng(5)
X = _R.normal(size=(3, 4)).astype(np.float32)
CUBE = _R.normal(size=(2, 3, 4)).astype(np.float32)
N = np.array([[3, 1, 2, 1], [5, 5, 0, 4], [2, 7, 7, 1]], np.int32)
SQUARE = _R.normal(size=(3, 3)).astype(np.float32)
IMAGE = _R.normal(size=(2, 6, 6, 3)).astype(np.float32)
SPECIAL = np.array([1.5, -0.0, math.inf, -math.inf, math.nan, 0.0], np.float32)
I = np.array([2, 0, 2], np.int32)  # noqa: E741

#: name -> call, arguments, what NumPy gives
Case = tuple[Callable[..., Any], list[Any], Any]


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _pooled(fold: Callable[..., Any]) -> Any:
    return fold(IMAGE.reshape(2, 3, 2, 3, 2, 3), (2, 4))


CONSTANTS: dict[str, Case] = {
    "Zero": (lambda b: b.Zero("s32"), [], 0), "One": (lambda b: b.One("f16"), [], 1),
    "Zeros": (lambda b: b.Zeros("f32[2]"), [], np.zeros(2)), "Full": (lambda b: b.Full("s8[2]", 7), [], [7, 7]),
    "ScalarLike": (lambda b, x: b.ScalarLike(x, 2), [X], 2), "Epsilon": (lambda b: b.Epsilon("f32"), [], 2.0**-23),
    "MinFiniteValue": (lambda b: b.MinFiniteValue("f32"), [], np.finfo(np.float32).min),
    "MaxFiniteValue": (lambda b: b.MaxFiniteValue("s16"), [], 32767),
    "MinValue": (lambda b: b.MinValue("f32"), [], -math.inf), "MaxValue": (lambda b: b.MaxValue("u8"), [], 255),
    "NanValue": (lambda b: b.NanValue("f32"), [], math.nan), "ZerosLike": (lambda b, x: b.ZerosLike(x), [X], X * 0),
    "OnesLike": (lambda b, x: b.OnesLike(x), [N], N * 0 + 1),
    "FullLike": (lambda b, x: b.FullLike(x, 3), [N], N * 0 + 3)}
REDUCERS: dict[str, Case] = {
    "Sum": (lambda b, x: b.Sum(x, [1]), [X], X.sum(1)), "Product": (lambda b, x: b.Product(x, -1), [X], X.prod(1)),
    "ReduceMax": (lambda b, x: b.ReduceMax(x), [X], X.max()),
    "ReduceMin": (lambda b, x: b.ReduceMin(x, 0), [N], N.min(0)),
    "Mean": (lambda b, x: b.Mean(x, [0]), [X], X.mean(0)), "Any": (lambda b, x: b.Any(x > 4, [1]), [N], (N > 4).any(1)),
    "All": (lambda b, x: b.All(x > 0, [1]), [N], (N > 0).all(1)),
    "ArgMax": (lambda b, x: b.ArgMax(x, 1), [N], N.argmax(1)),
    "ArgMin": (lambda b, x: b.ArgMin(x, -1), [N], N.argmin(1)),
    "ArgMax of NaN": (lambda b, x: b.ArgMax(x, 0), [SPECIAL], 4),
    "CumulativeSum": (lambda b, x: b.CumulativeSum(x, 1), [X], X.cumsum(1)),
    "CumulativeSum reversed": (lambda b, x: b.CumulativeSum(x, 0, True), [X], X[::-1].cumsum(0)[::-1]),
    "CumulativeProduct": (lambda b, x: b.CumulativeProduct(x, 1), [X], X.cumprod(1)),
    "CumulativeMax": (lambda b, x: b.CumulativeMax(x, 1), [X], np.maximum.accumulate(X, 1)),
    **{f"CreateScalar{n}Computation": (
        lambda b, x, n=n: b.Reduce(x, 1, getattr(b, f"CreateScalar{n}Computation")("s32"), [1]), [N], wanted)
       for n, wanted in {"Add": N.sum(1) + 1, "Mul": N.prod(1), "And": np.bitwise_and.reduce(N, 1) & 1,
                         "Or": np.bitwise_or.reduce(N, 1) | 1, "Xor": np.bitwise_xor.reduce(N, 1) ^ 1,
                         "Max": np.maximum(N.max(1), 1), "Min": np.minimum(N.min(1), 1)}.items()},
    **{f"CreateScalar{n}Computation of floats": (
        lambda b, x, n=n: b.Sort(x, getattr(b, f"CreateScalar{n}Computation")(["f32"]), 1), [X], wanted)
       for n, wanted in {"Lt": np.sort(X), "Gt": -np.sort(-X), "Le": np.sort(X), "Ge": -np.sort(-X)}.items()},
    **{f"CreateScalar{n}Computation of pairs": (
        lambda b, x, n=n: b.Call(getattr(b, f"CreateScalar{n}Computation")(["s32"]), b.Constant(1), b.Constant(1)),
        [N], wanted) for n, wanted in {"Eq": True, "Ne": False}.items()}}
SLICING: dict[str, Case] = {
    "SliceInMinorDims": (lambda b, x: b.SliceInMinorDims(x, [1, 0], [3, 2]), [CUBE], CUBE[:, 1:3, :2]),
    "UpdateSlice": (lambda b, x: b.UpdateSlice(x, np.zeros((1, 2), np.float32), [1, 1]), [X],
                    np.where((np.arange(3)[:, None] == 1) & (np.arange(4) > 0) & (np.arange(4) < 3), 0, X)),
    "UpdateSliceInMinorDims": (lambda b, x: b.UpdateSliceInMinorDims(x, np.zeros((2, 3, 1), np.float32), [3]), [CUBE],
                               np.where(np.arange(4) == 3, 0, CUBE)),
    "DynamicSliceInMinorDims": (lambda b, x, i: b.DynamicSliceInMinorDims(x, [i[0]], [2]), [CUBE, I], CUBE[..., 2:]),
    "DynamicUpdateSliceInMinorDims": (
        lambda b, x, i: b.DynamicUpdateSliceInMinorDims(x, np.zeros((2, 3, 2), np.float32), [i[0]]), [CUBE, I],
        np.where(np.arange(4) > 1, 0, CUBE)),
    "IndexSelect": (lambda b, x, i: b.IndexSelect(x, i, 1), [CUBE, I], CUBE[:, I]),
    "IndexSelect of a scalar": (lambda b, x, i: b.IndexSelect(x, i[0], -1), [X, I], X[:, 2]),
    "TakeAlong": (lambda b, x, i: b.TakeAlong(x, i, 1), [X, N % 4], np.take_along_axis(X, N % 4, 1)),
    "BroadcastTo": (lambda b, x: b.BroadcastTo(x, [2, 3, 4]), [X[:, :1]], np.broadcast_to(X[:, :1], (2, 3, 4))),
    "SortAscending": (lambda b, x: b.SortAscending(x), [X], np.sort(X)),
    "SortDescending": (lambda b, x: b.SortDescending(x, 0), [X], -np.sort(-X, 0)),
    "SortByKey": (lambda b, n, x: b.SortByKey(n, x)[1], [N, X], np.take_along_axis(X, N.argsort(1, kind="stable"), 1)),
    "ArgSort": (lambda b, n: b.ArgSort(n), [N], N.argsort(1, kind="stable")),
    "Median": (lambda b, x: b.Median(x), [X], np.median(X, 1)),
    "Median of three": (lambda b, x: b.Median(x, 0), [X], np.median(X, 0))}
MATRICES: dict[str, Case] = {
    "IdentityMatrix": (lambda b: b.IdentityMatrix("f32", 2, 3), [], np.eye(2, 3)),
    "TriangleMask": (lambda b, x: b.TriangleMask(x, 1), [X], np.tri(3, 4, 1, bool)),
    "LowerTriangle": (lambda b, x: b.LowerTriangle(x), [CUBE], np.tril(CUBE)),
    "UpperTriangle": (lambda b, x: b.UpperTriangle(x, 1), [CUBE], np.triu(CUBE, 1)),
    "GetMatrixDiagonal": (lambda b, x: b.GetMatrixDiagonal(x), [CUBE], np.diagonal(CUBE, 0, 1, 2)),
    "SetMatrixDiagonal": (lambda b, x: b.SetMatrixDiagonal(x, [9.0, 8.0, 7.0]), [X[:, :3]],
                          X[:, :3] * (1 - np.eye(3)) + np.diag([9, 8, 7])),
    "TransposeInMinorDims": (lambda b, x: b.TransposeInMinorDims(x), [CUBE], CUBE.swapaxes(1, 2)),
    "BatchDot": (lambda b, x: b.BatchDot(x, x, False, True), [CUBE], CUBE @ CUBE.swapaxes(1, 2)),
    "Einsum": (lambda b, x, y: b.Einsum("bij,kj->kbi", x, y), [CUBE, X], np.einsum("bij,kj->kbi", CUBE, X)),
    "Einsum of one": (lambda b, x: b.Einsum("bij->jb", x), [CUBE], np.einsum("bij->jb", CUBE)),
    "Einsum with sums": (lambda b, x, y: b.Einsum("ij,kj->j", x, y), [X, X], np.einsum("ij,kj->j", X, X)),
    "Softmax": (lambda b, x: b.Softmax(x), [X], _softmax(X)),
    "LogSoftmax": (lambda b, x: b.LogSoftmax(x), [X], np.log(_softmax(X))),
    "Relu": (lambda b, x: b.Relu(x), [X], np.maximum(X, 0)),
    "Gelu": (lambda b, x: b.Gelu(x), [X], X * np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)))(X)),
    "Silu": (lambda b, x: b.Silu(x), [X], X / (1 + np.exp(-X))),
    "LayerNorm": (lambda b, x: b.LayerNorm(x, [2.0] * 4, [1.0] * 4), [X],
                  2 * (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5) + 1),
    "OneHot": (lambda b, i: b.OneHot(i, 3), [I], np.eye(3)[I])}
POOLING: dict[str, Case] = {
    "MaxPool": (lambda b, x: b.MaxPool(x, [2, 2]), [IMAGE], _pooled(np.max)),
    "AvgPool": (lambda b, x: b.AvgPool(x, [2, 2]), [IMAGE], _pooled(np.mean)),
    "AvgPool without padding": (lambda b, x: b.AvgPool(x, [3, 3], [1, 1], "SAME", False)[:, 0, 0], [IMAGE],
                                IMAGE[:, :2, :2].mean((1, 2))),
    "AvgPoolGrad": (lambda b, g, x: b.AvgPoolGrad(g, x, [2, 2]), [_pooled(np.mean), IMAGE],
                    np.repeat(np.repeat(_pooled(np.mean) / 4, 2, 1), 2, 2)),
    "MaxPoolGrad": (lambda b, g, x: b.MaxPoolGrad(g, x, [2, 2]), [_pooled(np.max), IMAGE],
                    np.where(np.repeat(np.repeat(_pooled(np.max), 2, 1), 2, 2) == IMAGE, IMAGE, 0)),
    "Quantize": (lambda b, x: b.Quantize(x, 0.01), [X * 3], np.clip(np.rint(X * 3 / np.float32(0.01)), -128, 127)),
    "Dequantize": (lambda b, n: b.Dequantize(n, [0.5, 1.0, 2.0, 4.0], 1.0, axis=1), [N],
                   (N - 1) * [0.5, 1.0, 2.0, 4.0]),
    "FakeQuantize": (lambda b, x: b.FakeQuantize(x, 0.25), [X], np.rint(X * 4) / 4)}
_T = np.linspace(-3.7, 5.2, 40).astype(np.float32)
_U = np.linspace(-0.99, 0.99, 31).astype(np.float32)
SPECIALS: dict[str, Case] = {
    "RoundToEven": (lambda b, x: b.RoundToEven(x * 2.5), [X], np.round(X * np.float32(2.5))),
    "Square": (lambda b, x: b.Square(x), [X], X * X), "Reciprocal": (lambda b, x: b.Reciprocal(x), [X], 1 / X),
    "IsNan": (lambda b, x: b.IsNan(x), [SPECIAL], np.isnan(SPECIAL)),
    "IsInf": (lambda b, x: b.IsInf(x), [SPECIAL], np.isinf(SPECIAL)),
    "IsPosInf": (lambda b, x: b.IsPosInf(x), [SPECIAL], math.inf == SPECIAL),
    "IsNegInf": (lambda b, x: b.IsNegInf(x), [SPECIAL], -math.inf == SPECIAL),
    "IsNegZero": (lambda b, x: b.IsNegZero(x), [SPECIAL], (SPECIAL == 0) & np.signbit(SPECIAL)),
    "Conj": (lambda b, x: b.Conj(x), [X + 1j * X], X - 1j * X),
    "NextAfter": (lambda b, x, y: b.NextAfter(x, y), [SPECIAL[:4], SPECIAL[::-1][:4].copy()],
                  np.nextafter(SPECIAL[:4], SPECIAL[::-1][:4])),
    "ErfInv": (lambda b, x: b.Erf(b.ErfInv(x)), [_U], _U),
    "ErfInv of f64": (lambda b, x: b.Erf(b.ErfInv(x)), [_U.astype(np.float64)], _U.astype(np.float64)),
    "ErfInv of one": (lambda b, x: b.ErfInv(x), [np.float32(1)], math.inf),
    "Erfc": (lambda b, x: b.Erfc(x), [_T], [math.erfc(float(v)) for v in _T]),
    "Lgamma": (lambda b, x: b.Lgamma(x), [_T], [math.lgamma(float(v)) for v in _T]),
    # The slope of lgamma, from its definition.
    "Digamma": (lambda b, x: b.Digamma(x), [np.array([1.0, 2.0, 0.5, -0.5], np.float32)],
                [-0.5772157, 0.4227843, -1.9635100, 0.0364899])}


def _counted(b: Any, x: Any) -> Any:
    total, product = b.ForEachIndex(5, lambda i, s, p: (s + i, p * 2.0), [0, x])
    return b.ConvertElementType(total, "f32") + b.Sum(product)


LOOPS: dict[str, Case] = {
    "ForEachIndex": (_counted, [X], 10 + 32 * X.sum()),
    "MapRows": (lambda b, x: b.MapRows(x, lambda row: b.Sum(row * row)), [X], (X * X).sum(1)),
    "MapRows of columns": (lambda b, x: b.MapRows(x, lambda v: v[::-1], 1), [X], X[::-1].T),
    "ThreeFry2x32": (lambda b: b.ThreeFry2x32([0, 0], [0, 0])[0], [], 0x6B200159),
    "Philox4x32": (lambda b: b.Philox4x32([0, 0], [0, 0, 0, 0])[3], [], 0x9B00DBD8)}
MATRICES |= {
    "Triangle": (lambda b, x: b.Triangle(x, False), [X], np.triu(X)),
    "Symmetrize": (lambda b, x: b.Symmetrize(x), [SQUARE], np.tril(SQUARE) + np.tril(SQUARE, -1).T),
    "Symmetrize upper": (lambda b, x: b.Symmetrize(x, False), [SQUARE], np.triu(SQUARE) + np.triu(SQUARE, 1).T),
    **{f"GetMatrixDiagonal {k}": (lambda b, x, k=k: b.GetMatrixDiagonal(x, k), [CUBE], np.diagonal(CUBE, k, -2, -1))
       for k in (-2, -1, 1, 3, 4)},
    "SetMatrixDiagonal 1": (lambda b, x: b.SetMatrixDiagonal(x, [7.0, 8.0, 9.0], 1), [X], np.where(
        np.eye(3, 4, 1) > 0, np.float32([0, 7, 8, 9]), X)),
    "SetMatrixDiagonal -1": (lambda b, x: b.SetMatrixDiagonal(x, [7.0, 8.0], -1), [X], np.where(
        np.eye(3, 4, -1) > 0, np.float32([[0], [7], [8]]), X)),
    **{f"Einsum {e}": (lambda b, *p, e=e: b.Einsum(e, *p), given, np.einsum(e, *given)) for e, given in (
        ("ii", [SQUARE]), ("ii->i", [SQUARE]), ("ij,jk", [SQUARE, SQUARE]), ("ba", [X]), ("...ij->...ji", [CUBE]),
        ("...ij,kj->...ik", [CUBE, X]), ("ii,ij->j", [SQUARE, SQUARE]), ("bij,bij", [CUBE, CUBE]),
        ("...ij,...kj", [CUBE, CUBE]), ("ij->", [X]))}}
GROUPS = {"constants": CONSTANTS, "reducers": REDUCERS, "slicing": SLICING, "matrices": MATRICES, "pooling": POOLING,
          "specials": SPECIALS, "loops": LOOPS}
#: tested below
ALONE = {"QR", "Eigh", "Svd", "LogDet", "Solve", "Inverse", "RandomBits", "RandomUniform", "RandomNormal",
         "RandomIntegers", "RandomBernoulli"}
#: tested in test_builder_library_math.py
ALONE |= {"Igamma", "Igammac", "IgammaGradA", "RandomGammaGrad", "Zeta", "Polygamma", "RegularizedIncompleteBeta",
          "Atan", "BesselI0e", "BesselI1e", "LuDecomposition", "TridiagonalSolver", "TridiagonalMatMul", "ApproxTopK",
          "TopKWithPartitions",
          "TorchScatterDense", "SetDimensionSizeWithRebound", "SetAllDimensionSizes", "DisassembleTuple",
          "MinPositiveNormalValue", "BoxMullerTransform", "WhileLoopHelper", "DynamicConditional",
          "CreateScalarComparisonComputation", "ConstantR0WithType"}
#: tested in test_builder_library_xla.py
ALONE |= {"ThreeFryBitGenerator", "PhiloxBitGenerator", "PhiloxIncreaseCounter", "ScramblePhiloxKey", "ConcatScalars",
          "UniformFloatingPointDistribution", "UniformIntDistribution", "NormalFloatingPointDistribution", "Qr",
          "QrExplicit", "ProductOfElementaryHouseholderReflectors", "SLogDet", "EvaluatePolynomial",
          "EvaluateChebyshevPolynomial", "MaybeConjugate", "MaybeTransposeInMinorDims", "GetDiagonalMask",
          "PrependMajorDims", "ConvGradExtractAndVerifyDimension", "MakeSpatialPadding", "PackToUint32",
          "DequantizePacked", "ApproxTopKReductionOutputSize", "AggregateToTopKBuilder",
          "CreateScalarIdentityWithZeroComputation"}


def on_pjrt(*roots: Callable[[XlaBuilder, list[Any]], Any], arguments: list[Any]) -> list[Any]:
    """The leaves of what the functions build on parameters of the arguments, in one module."""
    b = XlaBuilder()
    parameters = [b.Parameter(i, np.asarray(a)) for i, a in enumerate(arguments)]
    module = b.build([r(b, parameters) for r in roots])
    assert hlotool.verify(module) == []
    return list(hlotool.execute(module, arguments, "pjrt:cpu"))


@pytest.mark.parametrize("group", GROUPS)
def test_functions_give_what_numpy_gives(group: str) -> None:
    cases = GROUPS[group]
    arguments: list[Any] = []
    roots = []
    for call, given, _ in cases.values():
        places = range(len(arguments), len(arguments) + len(given))
        arguments += given
        roots.append(lambda b, p, call=call, places=places: call(b, *(p[i] for i in places)))
    found = on_pjrt(*roots, arguments=arguments)
    for (name, (_, _, expected)), got in zip(cases.items(), found, strict=True):
        wanted = np.asarray(expected)
        assert got.shape == wanted.shape, name
        tolerance = 3e-5 if got.dtype.kind in "fc" else 0
        np.testing.assert_allclose(got, wanted, tolerance, tolerance, err_msg=name)


def test_every_function_of_the_library_is_tested() -> None:
    own = {f.name for f in FUNCTIONS.values()
           if re.search(r"builder/(library|linalg)", str(inspect.getsourcefile(f.call)))}
    tested = {n.split(" ")[0] for cases in GROUPS.values() for n in cases}
    assert sorted(own - tested - ALONE) == []
    assert library.__doc__


def test_decompositions() -> None:
    a, wide = CUBE, CUBE.swapaxes(1, 2).copy()
    square = _R.normal(size=(2, 4, 4)).astype(np.float32)
    q, r, q_thin, r_thin, q_wide, r_wide, vectors, values, u, s, v, sign, log, solved, inverse = on_pjrt(
        lambda b, p: b.QR(p[1]), lambda b, p: b.QR(p[1], False), lambda b, p: b.QR(p[0]),
        lambda b, p: b.Eigh(p[2] + b.TransposeInMinorDims(p[2])), lambda b, p: b.Svd(p[0]),
        lambda b, p: b.SLogDet(p[2]), lambda b, p: b.Solve(p[2], p[1]), lambda b, p: b.Inverse(p[2]),
        arguments=[a, wide, square])

    def near(found: Any, wanted: Any) -> None:
        np.testing.assert_allclose(found, np.broadcast_to(wanted, found.shape), 1e-4, 2e-4)

    for left, right, whole in ((q, r, wide), (q_thin, r_thin, wide), (q_wide, r_wide, a)):
        near(left @ right, whole)
        near(left.swapaxes(1, 2) @ left, np.eye(left.shape[-1]))
        near(np.tril(right, -1), 0)
    symmetric = square + square.swapaxes(1, 2)
    near(symmetric @ vectors, vectors * values[:, None])
    near(values, np.linalg.eigvalsh(symmetric))
    near((u * s[:, None]) @ v.swapaxes(1, 2), a)
    near(s, np.linalg.svd(a)[1])
    near(sign * np.exp(log), np.linalg.det(square))
    near(square @ solved, wide)
    near(square @ inverse, np.eye(4))


def test_singular_vectors_of_small_columns_are_orthogonal() -> None:
    """Columns are turned by their angle, whatever their lengths are."""
    columns = _R.normal(size=(5, 3)).astype(np.float32) * np.float32([1e-6, 1e-5, 3e-6])
    u, s, v = on_pjrt(lambda b, p: b.Svd(p[0]), arguments=[columns])
    np.testing.assert_allclose(s / np.linalg.svd(columns.astype(np.float64))[1], 1, 1e-5)
    np.testing.assert_allclose(u.T @ u, np.eye(u.shape[1]), 0, 1e-5)
    np.testing.assert_allclose((u[:, :3] * s) @ v.T, columns, 0, 1e-11)


def test_eigenvalues_read_one_triangle_and_complex_matrices() -> None:
    """The lower triangle, unless told otherwise; Hermitian matrices, equal eigenvalues and none at all."""
    given = _R.normal(size=(2, 4, 4)) + 1j * _R.normal(size=(2, 4, 4))
    equal = np.diag([2.0, 2, 5]).astype(np.complex128)
    real = given.real[0].copy()
    vectors, values, _, twice, none, nothing, lower, upper = on_pjrt(
        lambda b, p: b.Eigh(p[0]), lambda b, p: b.SelfAdjointEig(p[1]), lambda b, p: b.Eigh(p[2]),
        lambda b, p: b.GetTupleElement(b.Eigh(p[3]), 1), lambda b, p: b.GetTupleElement(b.Eigh(p[3], False), 1),
        arguments=[given, equal, np.zeros((0, 0), np.float32), real])
    whole = np.tril(given, -1) + np.tril(given, -1).conj().swapaxes(1, 2) + np.eye(4) * given.real
    np.testing.assert_allclose(whole @ vectors, vectors * values[:, None], 1e-10, 1e-10)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(given), 1e-10, 1e-10)
    assert twice.tolist() == [2, 2, 5] and none.shape == (0, 0) and nothing.shape == (0,)
    np.testing.assert_allclose(lower, np.linalg.eigvalsh(real), 1e-9)
    np.testing.assert_allclose(upper, np.linalg.eigvalsh(real, UPLO="U"), 1e-9)


def test_random_numbers_of_keys() -> None:
    key = np.array([1, 2], np.uint32)
    bits, wide, again, uniform, normal, integers, chosen = on_pjrt(
        lambda b, p: b.RandomBits(p[0], "u32[4001]"), lambda b, p: b.RandomBits(p[0], "u64[7]"),
        lambda b, p: b.RandomBits((1 << 32) + 2, "u32[4001]"),
        lambda b, p: b.RandomUniform(p[0], -1.0, 3.0, "f32[4000]"),
        lambda b, p: b.RandomNormal(p[0], 2.0, 0.5, "f32[4000]"),
        lambda b, p: b.RandomIntegers(p[0], -3, 4, "s32[4000]"),
        lambda b, p: b.RandomBernoulli(p[0], 0.25, "f32[4000]"),
        arguments=[key])
    np.testing.assert_array_equal(bits, again)
    assert len(np.unique(bits)) > 3990 and len(np.unique(wide)) == 7
    assert uniform.min() >= -1 and uniform.max() < 3 and abs(uniform.mean() - 1) < 0.1
    assert abs(normal.mean() - 2) < 0.05 and abs(normal.std() - 0.5) < 0.05
    assert set(integers.tolist()) == set(range(-3, 4))
    assert abs(chosen.mean() - 0.25) < 0.05


@pytest.mark.parametrize("call", [
    lambda b, x: b.Einsum("ij,jk->ik", x, x), lambda b, x: b.Einsum("ii", x), lambda b, x: b.Einsum("ij->k", x),
    lambda b, x: b.Einsum("i", x), lambda b, x: b.Eigh(x), lambda b, x: b.RandomBits(x, "u32[2]"),
    lambda b, x: b.GetMatrixDiagonal(b.Constant(1.0)), lambda b, x: b.RandomIntegers(1, 4, 4, "s32[2]"),
    lambda b, x: b.QR(b.Constant([[1]])), lambda b, x: b.RandomBits(1, "f32[2]")])
def test_what_does_not_fit_is_refused_at_the_call(call: Callable[..., Any]) -> None:
    b = XlaBuilder()
    with pytest.raises(hlotool.HloError) as caught:
        call(b, b.Parameter(0, X))
    assert caught.value.diagnostics[0].filename == __file__


def test_functions_of_the_library_mean_the_same_in_every_document() -> None:
    b = XlaBuilder("old", semantics="2017")
    found = b.build(b.Median(b.Parameter(0, X), 0))
    np.testing.assert_allclose(hlotool.execute(found, [X], "reference")[0], np.median(X, 0))
    assert [d.code for d in b.check() if d.code != "B202"] == []


@pytest.mark.parametrize("function", ["TriangleMask", "Triangle"])
def test_what_takes_matrices_refuses_vectors(function: str) -> None:
    b = XlaBuilder("m")
    vector = b.Parameter(0, hlotool.ir.Shape.array("f32", (3,)), "x")
    with pytest.raises(hlotool.HloError, match="takes matrices"):
        getattr(b, function)(vector, *([True] if function == "Triangle" else []))
