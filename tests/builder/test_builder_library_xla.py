"""Functions of XLA's C++ library that callers of the library use: generators of bits, QR's form, sizes, packing."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.linalg

import hlotool
from hlotool.builder import XlaBuilder
from hlotool.diagnostics import HloError

EXECUTORS = ("reference", "pjrt:cpu")


def ran(call: Any, *arguments: Any) -> list[list[Any]]:
    """The results of a call on parameters, by executor."""
    b = XlaBuilder("library")
    module = b.build(call(b, *(b.Parameter(i, np.asarray(a)) for i, a in enumerate(arguments))))
    assert hlotool.verify(module) == []
    return [list(hlotool.execute(module, list(arguments), e)) for e in EXECUTORS]


_KEY, _STATE = 0x0123456789ABCDEF, 2**64 - 3


@pytest.mark.parametrize("shape", ["u32[]", "u32[3,5]", "u32[4,3]", "u32[3,4]", "u32[7]", "u64[3,2]", "f32[6]"])
def test_bits_are_those_of_xlas_operation(shape: str) -> None:
    """XLA expands rng-bit-generator by these very generators; its state is the key, then the generator's state."""
    kind = "u64" if shape.startswith("u64") else "u32"
    bits = kind + shape[shape.index("["):]
    for name, algorithm, size in (("ThreeFryBitGenerator", "THREE_FRY", 1), ("PhiloxBitGenerator", "PHILOX", 2)):
        b = XlaBuilder("bits")
        state = b.Parameter(0, f"u64[{1 + size}]")
        start = b.Slice(state, [1], [1 + size])
        ours = b.apply_named(name, [b.Reshape(b.Slice(state, [0], [1]), ()), start, shape])
        theirs = b.RngBitGenerator(algorithm, state, bits)
        module = b.build([ours, theirs])
        given = np.array([_KEY, _STATE, 5][:1 + size], np.uint64)
        found, after, wanted_state, wanted = hlotool.execute(module, [given], "pjrt:cpu")
        np.testing.assert_array_equal(found, wanted, err_msg=name)
        np.testing.assert_array_equal(after, wanted_state[1:], err_msg=name)


def test_a_counter_carries_and_a_key_is_scrambled() -> None:
    for (found,) in ran(lambda b, c: b.PhiloxIncreaseCounter(c, 7), np.array([2**64 - 3, 4], np.uint64)):
        assert found.tolist() == [4, 5]
    for counter, key in ran(lambda b, k: b.ScramblePhiloxKey(k), np.uint64(_KEY)):
        words = _philox([_KEY & 0xFFFFFFFF, 0, _KEY >> 32, 0], [0x3EC8F720, 0x02461E29])
        assert counter.tolist() == [0, words[2] | words[3] << 32]
        assert int(key) == words[0] | words[1] << 32


def _philox(counter: list[int], key: list[int]) -> list[int]:
    """Ten rounds of Philox4x32, in Python's integers. Source: Salmon et al., 2011."""
    for _ in range(10):
        first, second = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [second >> 32 ^ counter[1] ^ key[0], second & 0xFFFFFFFF, first >> 32 ^ counter[3] ^ key[1],
                   first & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


@pytest.mark.parametrize("generator, state", [("ThreeFryBitGenerator", [3]), ("PhiloxBitGenerator", [3, 0])])
def test_distributions_of_a_generators_bits(generator: str, state: list[int]) -> None:
    start = np.array(state, np.uint64)

    def both(b: XlaBuilder, s: Any) -> Any:
        def called(*given: Any) -> Any:
            return b.apply_named(generator, given)

        return [b.UniformFloatingPointDistribution(_KEY, s, generator, -2.0, 3.0, "f32[40,50]"),
                b.UniformIntDistribution(_KEY, s, generator, -5, 7, "s32[40,50]"),
                b.NormalFloatingPointDistribution(_KEY, s, generator, "f64[41,50]"),
                b.UniformFloatingPointDistribution(_KEY, s, called, 0.0, 1.0, "f32[3]")]

    rows = ran(both, start)
    for one, two in zip(*rows, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6, atol=3e-7)
    uniform, _, whole, _, normal, *_ = rows[0]
    assert uniform.min() >= -2 and uniform.max() < 3 and abs(uniform.mean() - 0.5) < 0.1
    assert sorted(set(whole.ravel().tolist())) == list(range(-5, 7))
    assert abs(normal.mean()) < 0.1 and abs(normal.std() - 1) < 0.1
    assert len(np.unique(normal)) == normal.size


_R = np.random.default_rng(4)


@pytest.mark.parametrize("rows, columns", [(4, 3), (3, 3), (3, 5)])
@pytest.mark.parametrize("kind", [np.float64, np.complex64])
def test_qr_in_lapacks_form(rows: int, columns: int, kind: Any) -> None:
    a = (_R.normal(size=(rows, columns)) + (1j * _R.normal(size=(rows, columns)) if kind is np.complex64 else 0))
    a = a.astype(kind)
    form, tau = scipy.linalg.qr(a, mode="raw")[0]
    least = min(rows, columns)

    def calls(b: XlaBuilder, x: Any) -> Any:
        return [b.Qr(x), b.QrExplicit(x), b.QrExplicit(x, False)]

    for found, taus, q, r, thin_q, thin_r in ran(calls, a):
        np.testing.assert_allclose(found, form, atol=1e-5)
        np.testing.assert_allclose(taus, tau, atol=1e-5)
        assert q.shape == (rows, rows) and thin_q.shape == (rows, least) and thin_r.shape == (least, columns)
        np.testing.assert_allclose(q @ r, a, atol=1e-5)
        np.testing.assert_allclose(thin_q @ thin_r, a, atol=1e-5)
        np.testing.assert_allclose(q.conj().T @ q, np.eye(rows), atol=1e-5)


@pytest.mark.parametrize("target, results, config", [
    ("LuDecomposition", "f64[3,3], s32[3], s32[3]", ""), ("Eigh", "f64[3,3], f64[3]", "1,1,100,1e-6")])
def test_calls_that_xlas_compilers_expand(target: str, results: str, config: str) -> None:
    a = _R.normal(size=(3, 3))
    a = a + a.T
    module = hlotool.parse(f"""ENTRY e {{ a = f64[3,3] parameter(0)
  ROOT r = ({results}) custom-call(a), custom_call_target="{target}", backend_config="{config}" }}""")
    first, second, *rest = hlotool.execute(module, [a], "reference")
    if target == "Eigh":
        np.testing.assert_allclose(first * second @ first.T, a, atol=1e-12)
        return
    np.testing.assert_allclose((np.tril(first, -1) + np.eye(3)) @ np.triu(first), a[rest[0]], atol=1e-12)
    assert "stablehlo.composite \"xla.LuDecomposition\"" in str(hlotool.to_stablehlo(module))


def test_a_determinant() -> None:
    for sign, size, log, negative in ran(lambda b, x, y: [b.SLogDet(x), b.LogDet(y), b.LogDet(x)],
                                         np.diag([2.0, -3]), np.diag([2.0, 3])):
        assert sign == -1 and np.isnan(negative)
        np.testing.assert_allclose([size, log], math.log(6))


def test_polynomials() -> None:
    x, coefficients = np.linspace(-2, 2, 9), [1.5, -2, 0.25]
    wanted = [np.polyval(coefficients, x), np.polynomial.chebyshev.chebval(x / 2, [0.125, -2, 1.5])]
    for found in ran(lambda b, p: [b.EvaluatePolynomial(p, coefficients),
                                   b.EvaluateChebyshevPolynomial(p, coefficients)], x):
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_values_that_depend_on_the_callers_flags() -> None:
    z = np.array([[1 + 2j, 3j]])
    for found in ran(lambda b, p: [b.MaybeConjugate(p, True), b.MaybeConjugate(p, False),
                                   b.MaybeTransposeInMinorDims(p, True), b.MaybeTransposeInMinorDims(p, False)], z):
        for one, wanted in zip(found, (z.conj(), z, z.T, z), strict=True):
            np.testing.assert_array_equal(one, wanted)
    for mask, *starts in ran(lambda b, p: [b.GetDiagonalMask(p, 1), *b.PrependMajorDims([3], p)], np.zeros((2, 3))):
        np.testing.assert_array_equal(mask, np.eye(2, 3, 1) > 0)
        assert [int(s) for s in starts] == [0, 3]


def test_folds_with_a_zero_that_changes_nothing() -> None:
    words, floats = np.array([1, 4, 2], np.int32), np.array([1.5, 0, 2])

    def fold(b: XlaBuilder, x: Any, y: Any) -> Any:
        return [b.Reduce(v, 0, b.CreateScalarIdentityWithZeroComputation(v.element_type), [0]) for v in (x, y)]

    assert [[float(v) for v in row] for row in ran(fold, words, floats)] == [[7, 3.5]] * 2


@pytest.mark.parametrize("size, window, output, dilation, stride, padding, wanted", [
    (9, 3, 9, 1, 1, "SAME", (9, 1, 1)), (9, 3, 5, 1, 2, "SAME", (9, 1, 1)), (9, 3, 7, 1, 1, "VALID", (7, 2, 2)),
    (10, 3, 4, 1, 2, "VALID", (7, 2, 3)), (10, 2, 8, 2, 1, "VALID", (8, 2, 2)), (8, 3, 4, 1, 2, "SAME", (7, 2, 1))])
def test_sizes_of_a_convolutions_gradient(size: int, window: int, output: int, dilation: int, stride: int, padding: str,
                                          wanted: tuple[int, int, int]) -> None:
    b = XlaBuilder()
    found = b.ConvGradExtractAndVerifyDimension(size, window, output, dilation, stride, padding)
    assert tuple(found) == wanted
    # The gradient's convolution with the reversed window gives as many elements as the input has.
    assert found.output_size + found.pad_before + found.pad_after - (window - 1) * dilation == size
    with pytest.raises(HloError, match="output_size is"):
        b.ConvGradExtractAndVerifyDimension(size, window, output + 1, dilation, stride, padding)


def test_padding_of_spatial_dimensions() -> None:
    b = XlaBuilder()
    assert b.MakeSpatialPadding([9, 8], [3, 3], [1, 2], "SAME") == [(1, 1), (0, 1)]
    assert b.MakeSpatialPadding([9], [3], [1], "VALID") == [(0, 0)]
    with pytest.raises(HloError, match="strides"):
        b.MakeSpatialPadding([9], [3], [1, 2], "SAME")


@pytest.mark.parametrize("kind", ["uint8", "uint16"])
def test_packed_values_and_what_they_stand_for(kind: str) -> None:
    values = np.array([0, 1, 7, 200, 255, 3], kind)
    b = XlaBuilder()
    packed = b.PackToUint32(values)
    rows = np.pad(values, (0, -len(values) % (4 // values.itemsize))).astype(values.dtype.newbyteorder(">"))
    assert packed.tolist() == np.frombuffer(rows.tobytes(), ">u4").tolist()
    short = {"uint8": "u8", "uint16": "u16"}[kind]
    bf16 = ml_dtypes.bfloat16
    scale = bf16(bf16(6.0) / bf16(np.iinfo(kind).max))
    for plain, turned in ran(lambda b, x: [b.DequantizePacked(x, -2.0, 4.0, short),
                                           b.DequantizePacked(b.Reshape(x, [1, x.dims[0]]), -2.0, 4.0, short, True)],
                             packed):
        wanted = rows.astype(np.float32).astype(bf16) * scale + bf16(-2)
        np.testing.assert_allclose(plain.astype(np.float32), wanted.astype(np.float32), atol=0.04)
        np.testing.assert_array_equal(turned[:, 0], plain)


def test_sizes_of_what_nearly_the_greatest_are_found_among() -> None:
    from jaxlib import _jax

    b = XlaBuilder()
    for case in ((100, 1, 5, 0.9, True, -1), (100, 1, 5, 0.9, False, -1), (10000, 2, 5, 0.9, False, -1),
                 (10000, 1, 5, 0.9, False, -1), (100000, 2, 10, 0.95, False, -1), (100000, 1, 10, 0.5, False, -1),
                 (100000, 2, 10, 0.5, False, 1000000), (100000, 2, 10, 1.0, False, -1), (100000, 2, 1, 0.9, False, -1),
                 (1000, 2, 3, 0.8, False, -1), (129, 2, 2, 0.9, False, -1), (4097, 1, 64, 0.99, False, 9999)):
        assert b.ApproxTopKReductionOutputSize(*case) == _jax.approx_top_k_reduction_output_size(*case), case
    x = _R.permutation(300).astype(np.float32)

    def call(b: XlaBuilder, v: Any) -> Any:
        return b.ApproxTopK([b.Reshape(v, [1, 300])], [-np.inf], 2, 1, lambda p, q: p > q, 0.9, False)

    for (found,) in ran(call, x):
        assert found.tolist() == [sorted(x.tolist(), reverse=True)[:found.shape[1]]] and found.shape == (1, 256)


A, B = np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(8, dtype=np.float32).reshape(2, 4)
PAIRS, AT = A.reshape(3, 2, 2), np.array([[0, 1], [2, 3], [1, 1]], np.int32)


@pytest.mark.parametrize(("wanted", "call"), [
    (np.einsum("ab,cb->ca", A, B), lambda b, x: b.Einsum(x(A), x(B), "ab,cb->ca")),
    (np.einsum("ab,cb", A, B), lambda b, x: b.Einsum(x(A), x(B), "ab,cb", ["HIGHEST", "HIGHEST"])),
    (np.einsum("ab->b", A), lambda b, x: b.Einsum(x(A), "ab->b")),
    (np.einsum("ab->b", A), lambda b, x: b.Einsum(x(A), "ab->b", "HIGHEST")),
    (np.einsum("ab,cb->ca", A, B), lambda b, x: b.Einsum("ab,cb->ca", x(A), x(B))),
    (np.matmul(PAIRS.transpose(0, 2, 1), PAIRS), lambda b, x: b.BatchDot(x(PAIRS), True, x(PAIRS), False)),
    (np.matmul(PAIRS, PAIRS.transpose(0, 2, 1)), lambda b, x: b.BatchDot(x(PAIRS), False, x(PAIRS), True, "HIGHEST")),
    (np.take_along_axis(A, AT, 1), lambda b, x: b.TorchGather(x(A), x(AT), 1, False)),
    (np.argmax(A % 5, 1), lambda b, x: b.ArgMax(x(A % 5), "s32", 1)),
    (np.argmin(A % 5, 0), lambda b, x: b.ArgMin(input=x(A % 5), output_type="s64", axis=0)),
    (np.argmin(A % 5, 0), lambda b, x: b.ArgMin(x(A % 5), np.uint8, 0)),
    (np.array([2, 4, -2, -0.0]), lambda b, x: b.RoundToEven(x(np.array([2.5, 3.5, -1.5, -0.5], np.float32)))),
    (np.array([[1, 1, 1]]), lambda b, x: b.TridiagonalSolver("SolverAlgorithm::kThomas", *(
        x(np.array([row], np.float32)) for row in ([0, 1, 1], [2, 3, 4], [1, 1, 0], [3, 5, 5])))),
], ids=lambda v: "")
def test_arguments_in_the_order_of_the_cpp_library(wanted: Any, call: Any) -> None:
    b = XlaBuilder()
    module = b.build(call(b, b.Constant))
    for executor in ("reference", "pjrt:cpu"):
        (found,) = hlotool.execute(module, [], executor)
        assert found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-6), (executor, found)


@pytest.mark.parametrize("shape", ["f32[<=4]", "f32[2,?]"])
def test_the_numbers_of_iota_have_static_sizes(shape: str) -> None:
    """XLA: XlaBuilder::Iota."""
    with pytest.raises(hlotool.HloError, match=r"the shape is .* the numbers of Iota have static sizes"):
        XlaBuilder().Iota(shape, 0)
