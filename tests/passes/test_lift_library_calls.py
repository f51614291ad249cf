"""Library calls against the operations that they stand for, both on the reference evaluator."""

import json
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import HloError
from hlotool.ir import HloModule
from hlotool.passes import PASSES
from hlotool.passes.lift import lift_library_calls_recovering

GEMM = {"alpha_real": 1, "alpha_imag": 0, "beta": 0, "epilogue": "DEFAULT", "dot_dimension_numbers": {
    "lhs_contracting_dimensions": ["1"], "rhs_contracting_dimensions": ["0"],
    "lhs_batch_dimensions": [], "rhs_batch_dimensions": []},
    "precision_config": {"operand_precision": ["DEFAULT", "HIGHEST"], "algorithm": "ALG_UNSET"}}
X, Y = np.random.default_rng(1).normal(size=(2, 3)), np.random.default_rng(2).normal(size=(3, 4))


def call(target: str, result: str, operands: str, rest: str = "", config: Any = None, head: str = "") -> HloModule:
    """A module that calls a library on its parameters, written as `f32[2] f32[3,4]{0,1}`."""
    shapes = operands.split()
    names = ", ".join(f"p{n}" for n in range(len(shapes)))
    lines = "".join(f"  p{n} = {s} parameter({n})\n" for n, s in enumerate(shapes))
    text = config if isinstance(config, str) else json.dumps(config)
    written = "" if config is None else f", backend_config={text}"
    call = f"custom-call({names}), custom_call_target=\"{target}\"{rest}{written}"
    return hlotool.parse(f"HloModule m\n{head}\nENTRY e {{\n{lines}  ROOT r = {result} {call}\n}}")


def lifted(module: HloModule) -> HloModule:
    """The module without its library call; it verifies."""
    found = lift_library_calls_recovering(module)
    assert [f.reason for f in found] == [""]
    assert not [d for d in hlotool.verify(module) if d.severity == "error"]
    assert "custom-call" not in {i.opcode for i in module.instructions()}
    return module


def results(module: HloModule, *arguments: Any) -> list[np.ndarray]:
    """The results, one after the other, on the reference evaluator."""
    return hlotool.execute(lifted(module), [np.asarray(a) for a in arguments], executor="reference")


def close(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(np.asarray(found, np.float64), np.asarray(expected, np.float64), tolerance, tolerance)


def gelu(x: np.ndarray) -> np.ndarray:
    return x * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def test_plain_product_is_one_dot() -> None:
    module = lifted(call("__cublas$gemm", "f32[2,4]", "f32[2,3] f32[3,4]", config={"gemm_backend_config": GEMM}))
    root = module.entry.root
    assert root.name == "r"
    assert root.opcode == "dot"
    assert root.attributes["operand_precision"] == ("default", "highest")
    close(hlotool.execute(module, [X.astype("f4"), Y.astype("f4")], executor="reference")[0], X @ Y)


@pytest.mark.parametrize(("epilogue", "expected"), {
    "DEFAULT": lambda d, b: d, "RELU": lambda d, b: np.maximum(d, 0), "BIAS": lambda d, b: d + b,
    "GELU": lambda d, b: gelu(d), "BIAS_RELU": lambda d, b: np.maximum(d + b, 0),
    "BIAS_GELU": lambda d, b: gelu(d + b), "SILU": lambda d, b: d / (1 + np.exp(-d)),
}.items())
def test_epilogues_with_alpha_beta_and_workspace(epilogue: str, expected: Any) -> None:
    config = GEMM | {"alpha_real": 0.5, "beta": 2, "epilogue": epilogue}
    c, bias = np.random.default_rng(3).normal(size=(2, 4)), np.random.default_rng(4).normal(size=4)
    has_bias = "BIAS" in epilogue
    module = call("__cublas$lt$matmul", "(f32[2,4], s8[16])",
                  "f32[2,3] f32[3,4] f32[2,4]" + " f32[4]" * has_bias, config={"gemm_backend_config": config})
    given = [a.astype("f4") for a in (X, Y, c, *[bias][:has_bias])]
    found, workspace = results(module, *given)
    close(found, expected(0.5 * (X @ Y) + 2 * c, bias))
    assert workspace.shape == (16,)


def test_auxiliary_result_is_what_the_activation_was_given() -> None:
    config = GEMM | {"epilogue": "BIAS_GELU_AUX"}
    module = call("__cublas$lt$matmul", "(f16[2,4], f16[2,4], s8[0])", "f16[2,3] f16[3,4] f16[4]",
                  config={"gemm_backend_config": config})
    bias = np.arange(4)
    x, y = X.astype("f2"), Y.astype("f2")
    found, before, _ = results(module, x, y, bias.astype("f2"))
    close(before, x.astype("f8") @ y.astype("f8") + bias, 2e-3)
    close(found, gelu(x.astype("f8") @ y.astype("f8") + bias), 2e-3)


def test_batches_and_transposed_operands() -> None:
    numbers = {"lhs_contracting_dimensions": ["1"], "rhs_contracting_dimensions": ["2"],
               "lhs_batch_dimensions": ["0"], "rhs_batch_dimensions": ["0"]}
    module = call("__cublas$gemm", "(f32[5,2,4]{1,2,0}, s8[8])", "f32[5,3,2] f32[5,4,3]",
                  config={"gemm_backend_config": GEMM | {"dot_dimension_numbers": numbers, "alpha_real": 3}})
    a, b = (np.random.default_rng(n).normal(size=s).astype("f4") for n, s in enumerate(((5, 3, 2), (5, 4, 3))))
    close(results(module, a, b)[0], 3 * np.einsum("bkm,bnk->bmn", a, b))


def test_scales_of_eight_bit_floats() -> None:
    import ml_dtypes

    f8 = ml_dtypes.float8_e4m3fn
    config = {"gemm_backend_config": GEMM | {"beta": 1, "epilogue": "BIAS"}}
    module = call("__cublas$lt$matmul$f8", "(f8e4m3fn[2,4], s8[1])",
                  "f8e4m3fn[2,3] f8e4m3fn[3,4] bf16[2,4] f32[] f32[1] bf16[4] f32[]", config=config)
    a, b = X.astype(f8), Y.astype(f8)
    c, bias = np.full((2, 4), 3, ml_dtypes.bfloat16), np.arange(4).astype(ml_dtypes.bfloat16)
    found, _ = results(module, a, b, c, np.float32(0.5), np.float32([3]), bias, np.float32(200))
    exact = 200 * (1.5 * (a.astype("f8") @ b.astype("f8")) + 3 + np.arange(4))
    assert (np.abs(exact) > 448).any()
    np.testing.assert_array_equal(found, np.clip(exact, -448, 448).astype("f4").astype(f8))


@pytest.mark.parametrize(("config", "operands", "reason"), [
    ({}, "f32[2,3] f32[3,4]", "no dimension numbers"),
    (GEMM | {"beta": 1}, "f32[2,3] f32[3,4]", "beta multiplies is missing"),
    (GEMM | {"epilogue": "SWIGLU"}, "f32[2,3] f32[3,4]", "SWIGLU is not known"),
    (GEMM, "f32[2,3] f32[3,5]", "the product is f32[2,5]"),
    (GEMM, "f32[2,3] f32[3,4] f32[4]", "1 operand is more"),
    ("{oops", "f32[2,3] f32[3,4]", "cannot be read"),
])
def test_what_is_not_said_stays_a_call_with_the_reason(config: Any, operands: str, reason: str) -> None:
    if isinstance(config, str):
        config = json.dumps(config)
    module = call("__cublas$gemm", "f32[2,4]", operands, config=config)
    before = str(module)
    PASSES["lift-library-calls"](module)
    assert str(module) == before
    (note,) = module.notes
    assert (note.code, note.severity, note.line) == ("L201", "info", 5 + operands.count(" "))
    assert reason in note.message


# Convolutions.

def reference_convolution(x: np.ndarray, w: np.ndarray, window: str, labels: str, groups: int) -> np.ndarray:
    shapes = [f"f32[{','.join(map(str, a.shape))}]" for a in (x, w)]
    text = (f"HloModule m\nENTRY e {{\n  x = {shapes[0]} parameter(0)\n  w = {shapes[1]} parameter(1)\n"
            f"  ROOT c = convolution(x, w), {window}dim_labels={labels}, feature_group_count={groups}\n}}")
    return hlotool.execute(hlotool.parse(text), [x, w], executor="reference")[0]


#: window, labels, input, filter, groups
CONVOLUTIONS = {
    "padded": ("window={size=3x2 pad=1_1x0_1}, ", "b01f_01io->b01f", (2, 4, 5, 3), (3, 2, 3, 4), 1),
    "strided": ("window={size=2x3 stride=2x3 pad=0_1x1_0}, ", "bf01_oi01->bf01", (2, 3, 5, 7), (4, 3, 2, 3), 1),
    "dilated": ("window={size=2x2 pad=1_0x0_2 rhs_dilate=2x3}, ", "b01f_01io->bf01", (1, 5, 6, 2), (2, 2, 2, 3), 1),
    "strided and dilated": ("window={size=2 stride=2 pad=1_2 rhs_dilate=2}, ", "b0f_0io->b0f", (2, 6, 2), (2, 2, 3), 1),
    "holes in the input": ("window={size=3 pad=1_1 lhs_dilate=2}, ", "b0f_0io->b0f", (2, 4, 2), (3, 2, 3), 1),
    "reversed": ("window={size=3x2 rhs_reversal=1x1}, ", "b01f_01io->b01f", (1, 4, 5, 2), (3, 2, 2, 2), 1),
    "groups": ("window={size=2x2 stride=2x1}, ", "b01f_01io->b01f", (2, 5, 4, 4), (2, 2, 2, 6), 2),
    "groups, other order": ("window={size=2 pad=1_0}, ", "bf0_oi0->bf0", (2, 6, 5), (9, 2, 2), 3),
    "no window": ("", "bf_io->bf", (3, 4), (4, 5), 1),
}


def arrays(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    # Small whole numbers: sums are exact, so equality is too.
    return [np.random.default_rng(n).integers(-4, 5, s).astype("f4") for n, s in enumerate(shapes)]


def shape_of(array: np.ndarray) -> str:
    return f"f32[{','.join(map(str, array.shape))}]"


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_and_their_gradients(name: str) -> None:
    window, labels, input_shape, filter_shape, groups = CONVOLUTIONS[name]
    x, w = arrays(input_shape, filter_shape)
    y = reference_convolution(x, w, window, labels, groups)
    gradient = np.random.default_rng(9).integers(-4, 5, y.shape).astype("f4")
    rest = f", {window}dim_labels={labels}, feature_group_count={groups}"
    sx, sw, sy = map(shape_of, (x, w, y))
    (found, _) = results(call("__cudnn$convForward", f"({sy}, u8[0])", f"{sx} {sw}", rest), x, w)
    np.testing.assert_array_equal(found, y)

    # The gradient of a bilinear function: its value where one operand is a unit vector.
    def along(shape: tuple[int, ...], of: Any) -> np.ndarray:
        units = np.eye(int(np.prod(shape)), dtype="f4").reshape(-1, *shape)
        return np.array([np.vdot(of(unit), gradient) for unit in units]).reshape(shape)

    (found, _) = results(call("__cudnn$convBackwardInput", f"({sx}, u8[0])", f"{sy} {sw}", rest), gradient, w)
    np.testing.assert_array_equal(found, along(x.shape, lambda u: reference_convolution(u, w, window, labels, groups)))
    (found, _) = results(call("__cudnn$convBackwardFilter", f"({sw}, u8[0])", f"{sx} {sy}", rest), x, gradient)
    np.testing.assert_array_equal(found, along(w.shape, lambda u: reference_convolution(x, u, window, labels, groups)))


@pytest.mark.parametrize(("mode", "expected"), {
    "kNone": lambda v: v, "2": lambda v: np.maximum(v, 0), "kRelu6": lambda v: np.clip(v, 0, 6), "kTanh": np.tanh,
    "kElu": lambda v: np.where(v > 0, v, np.expm1(np.minimum(v, 0))), "kSigmoid": lambda v: 1 / (1 + np.exp(-v)),
    "kLeakyRelu": lambda v: np.where(v > 0, v, 0.25 * v),
}.items())
def test_bias_side_input_and_activation(mode: str, expected: Any) -> None:
    config = {"cudnn_conv_backend_config": {"activation_mode": mode, "conv_result_scale": 0.5, "side_input_scale": 2,
                                            "leakyrelu_alpha": 0.25}}
    x, w, bias, side = arrays((1, 4, 4, 2), (3, 3, 2, 3), (3,), (1, 2, 2, 3))
    module = call("__cudnn$convBiasActivationForward", "(f32[1,2,2,3], u8[4])",
                  "f32[1,4,4,2] f32[3,3,2,3] f32[3] f32[1,2,2,3]",
                  ", window={size=3x3}, dim_labels=b01f_01io->b01f", config)
    y = reference_convolution(x, w, "window={size=3x3}, ", "b01f_01io->b01f", 1)
    close(results(module, x, w, bias, side)[0], expected(0.5 * y + 2 * side + bias))


def test_bytes_are_added_wide_and_held_in_range() -> None:
    x, w = (a.astype("i1") * 20 for a in arrays((1, 4, 2), (3, 2, 3)))
    y = reference_convolution(x.astype("f4"), w.astype("f4"), "window={size=3}, ", "b0f_0io->b0f", 1)
    assert (np.abs(y) > 127).any()
    module = call("__cudnn$convForward", "(s8[1,2,3], u8[0])", "s8[1,4,2] s8[3,2,3]",
                  ", window={size=3}, dim_labels=b0f_0io->b0f", "{\"conv_result_scale\":1}")
    np.testing.assert_array_equal(results(module, x, w)[0], np.clip(y, -128, 127))


@pytest.mark.parametrize("offset", [0, 1])
def test_onednn_convolution_of_either_generation(offset: int) -> None:
    x, w = arrays((1, 5, 6, 2), (3, 2, 2, 4))
    window = "window={size=3x2 stride=2x1 pad=1_1x0_1}, "
    y = reference_convolution(x, w, window, "b01f_01io->b01f", 1)

    def plus(*numbers: int) -> list[str]:
        return [str(n + offset) for n in numbers]

    data = {"batch_dim": "0", "feature_dim": "3", "spatial_dims": plus(1, 2)}
    config = {"onednn_conv_config": {
        "dims": "4", "feature_groups": "1", "input": {"data": data}, "output": {"data": data},
        "kernel": {"filter": {"input_feature_dim": "2", "output_feature_dim": "3", "spatial_dims": plus(0, 1)}},
        "window": {"strides": plus(2, 1), "pad_left": plus(1, 0), "pad_right": plus(1, 1),
                   "window_dilations": plus(1, 1)}, "fusions": {"ops": ["BIAS", "RELU"]}}}
    bias = np.arange(4, dtype="f4")
    module = call("__onednn$convolution", shape_of(y), f"{shape_of(x)} {shape_of(w)} f32[4]", config=config)
    np.testing.assert_array_equal(results(module, x, w, bias)[0], np.maximum(y + bias, 0))


# The rest.

def test_onednn_matmul_with_fused_operations() -> None:
    config = {"onednn_matmul_config": {"transpose_b": True, "fusions": {
        "ops": ["BIAS", "GELU_TANH", "BINARY_ADD", "LINEAR"], "alpha_typecast": int(np.float32(0.5).view("i4"))}}}
    a, b = (np.random.default_rng(n).normal(size=s).astype("f4") for n, s in enumerate(((5, 2, 3), (5, 4, 3))))
    bias, more = np.arange(4, dtype="f4"), np.ones((5, 2, 4), "f4")
    module = call("__onednn$matmul", "f32[5,2,4]", "f32[5,2,3] f32[5,4,3] f32[4] f32[5,2,4]", config=config)
    close(results(module, a, b, bias, more)[0], 0.5 * (gelu(np.einsum("bmk,bnk->bmn", a, b) + bias) + 1))


def test_softmax_and_layer_norm() -> None:
    x = np.random.default_rng(0).normal(size=(3, 5)).astype("f4")
    powers = np.exp(x - x.max(0))
    close(results(call("__onednn$softmax", "f32[3,5]", "f32[3,5]", config={"onednn_softmax_config": {
        "softmax_axis": 0}}), x)[0], powers / powers.sum(0))
    scale, shift = np.arange(5, dtype="f4"), np.ones(5, "f4")
    config = {"onednn_layer_norm_config": {"rescale": "SCALE_AND_SHIFT",
                                           "epsilon_typecast": int(np.float32(1e-3).view("i4"))}}
    normal = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-3)
    close(results(call("__onednn$layernorm", "f32[3,5]", "f32[3,5] f32[5] f32[5]", config=config),
                  x, scale, shift)[0], normal * scale + shift)


@pytest.mark.parametrize("direction", ["GT", "LT"])
def test_topk_goes_by_its_comparator(direction: str) -> None:
    head = ("\nfirst {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  i = s32[] parameter(2)\n"
            f"  j = s32[] parameter(3)\n  ROOT c = pred[] compare(a, b), direction={direction}\n}}\n")
    module = call("TopK", "(f32[2,2], s32[2,2])", "f32[2,4]", ", called_computations={first}", head=head)
    values, places = results(module, np.float32([[1, 4, 2, 3], [-1, -4, -2, -3]]))
    assert values.tolist() == ([[4, 3], [-1, -2]] if direction == "GT" else [[1, 2], [-4, -3]])
    assert places.tolist() == ([[1, 3], [0, 2]] if direction == "GT" else [[0, 2], [1, 3]])


def test_radix_sort_of_pairs() -> None:
    module = call("xla.gpu.ext.cub_sort_unassigned_scratch_size", "(u16[5], f32[5], u8[1])", "u16[5] f32[5]",
                  config='{"descending":true}')
    keys, values, _ = results(module, np.array([3, 1, 3, 9, 0], "u2"), np.float32([0, 1, 2, 3, 4]))
    assert (keys.tolist(), values.tolist()) == ([9, 3, 3, 1, 0], [3, 0, 2, 1, 4])


@pytest.mark.parametrize("letter", ["L", "U"])
def test_cholesky_and_triangular_solve(letter: str) -> None:
    root = np.tril(np.random.default_rng(0).normal(size=(2, 3, 3))) + 3 * np.eye(3)
    matrix = (root @ root.swapaxes(-1, -2)).astype("f4")
    bad = matrix.copy()
    bad[1, 0, 0] = -1
    module = hlotool.parse(f"""ENTRY e {{
  p = f32[2,3,3]{{1,2,0}} parameter(0)
  c = (f32[2,3,3]{{1,2,0}}, s32[2]{{0}}) custom-call(p), custom_call_target="lapack_spotrf_ffi",
    api_version=API_VERSION_TYPED_FFI, backend_config={{uplo = {ord(letter)} : ui8}}
  f = f32[2,3,3]{{1,2,0}} get-tuple-element(c), index=0
  i = s32[2]{{0}} get-tuple-element(c), index=1
  zero = s32[2]{{0}} constant({{0, 0}})
  n = pred[2]{{0}} compare(i, zero), direction=NE
  ROOT t = (f32[2,3,3]{{1,2,0}}, pred[2]{{0}}) tuple(f, n)
}}""")
    factor, failed = hlotool.execute(lifted(module), [matrix], executor="reference")
    half = np.tril if letter == "L" else np.triu
    close(half(factor), half(root if letter == "L" else root.swapaxes(-1, -2)), 1e-4)
    np.testing.assert_array_equal(factor - half(factor), matrix - half(matrix))
    assert failed.tolist() == [0, 0]
    assert hlotool.execute(module, [bad], executor="reference")[1].tolist() == [0, 1]
    b = np.random.default_rng(1).normal(size=(2, 4, 3)).astype("f4")
    solve = call("lapack_strsm_ffi", "f32[2,4,3]{1,2,0}", "f32[2,3,3]{1,2,0} f32[2,4,3]{1,2,0}",
                 ", api_version=API_VERSION_TYPED_FFI",
                 f"{{diag = 78 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = {ord(letter)} : ui8}}")
    found = results(solve, matrix, b)[0]
    close(found @ half(matrix).swapaxes(-1, -2), b, 1e-3)


def test_blocks_with_scales() -> None:
    a, b = arrays((2, 8), (3, 8))
    scales = [np.float32([[2, 1], [4, 0.5]]), np.float32([[1, 2], [2, 1], [1, 1]])]
    module = call("__op$block_scaled_dot", "f32[2,3]", "f32[2,8] f32[3,8] f32[2,2] f32[3,2]")
    spread = [x * np.repeat(s, 4, axis=1) for x, s in zip((a, b), scales, strict=True)]
    np.testing.assert_array_equal(results(module, a, b, *scales)[0], spread[0] @ spread[1].T)
    module = call("__op$dequantize", "f32[2,8]", "s8[2,8] f32[2,2]")
    np.testing.assert_array_equal(results(module, a.astype("i1"), scales[0])[0], spread[0])


def test_a_call_is_lifted_on_the_way_to_stablehlo() -> None:
    from hlotool.stablehlo import LiftOptions, LossReport

    module = call("__cublas$gemm", "(f32[2,4], s8[16])", "f32[2,3] f32[3,4]", config={"gemm_backend_config": GEMM})
    losses = LossReport()
    assert "stablehlo.dot_general" in str(hlotool.to_stablehlo(module, losses=losses))
    assert [(loss.code, loss.name) for loss in losses] == [("X314", "r")]
    assert "__cublas$gemm" in str(module)
    kept = str(hlotool.to_stablehlo(module, options=LiftOptions(library=False)))
    assert "dot_general" not in kept
    assert "__cublas$gemm" in kept
    unclear = call("__cublas$gemm", "f32[2,4]", "f32[2,3] f32[3,4]")
    with pytest.raises(HloError) as caught:
        hlotool.to_stablehlo(unclear, options=LiftOptions(strict=True))
    assert [(d.code, d.line) for d in caught.value.diagnostics] == [("X317", 6)]


@pytest.mark.parametrize("order", ["{0,1}", "{1,0}"])
def test_a_triangular_solve_sees_the_layouts_of_its_operands(order: str) -> None:
    a, b = np.tril(np.random.default_rng(0).normal(size=(3, 3))) + 3 * np.eye(3), np.arange(9.0).reshape(3, 3)
    module = call("lapack_dtrsm_ffi", f"f64[3,3]{order}", f"f64[3,3]{order} f64[3,3]{order}",
                  f", api_version=API_VERSION_TYPED_FFI, "
                  f"operand_layout_constraints={{f64[3,3]{order}, f64[3,3]{order}}}",
                  "{diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}")
    (found,) = hlotool.execute(lifted(module), [a, b], executor="reference")
    wanted = np.linalg.solve(a, b) if order == "{0,1}" else np.linalg.solve(np.tril(a.T), b.T).T
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_a_factorisation_whose_failure_is_looked_at_becomes_loops() -> None:
    module = call("lapack_spotrf_ffi", "(f32[3,3]{0,1}, s32[])", "f32[3,3]{0,1}",
                  ", api_version=API_VERSION_TYPED_FFI", "{uplo = 76 : ui8}")
    (found,) = lift_library_calls_recovering(module)
    assert found.reason == ""
    opcodes = {i.opcode for i in module.instructions()}
    assert "while" in opcodes and not opcodes & {"cholesky", "custom-call"}


@pytest.mark.parametrize("rescale, operands", [("SCALE", "f32[3,5] f32[5]"), ("SHIFT", "f32[3,5] f32[5]"),
                                               ("UNDEFINED", "f32[3,5]")])
def test_a_layer_norm_takes_what_it_rescales_by(rescale: str, operands: str) -> None:
    x = np.random.default_rng(0).normal(size=(3, 5)).astype("f4")
    row = np.arange(5, dtype="f4")
    config = {"onednn_layer_norm_config": {"rescale": rescale, "epsilon_typecast": int(np.float32(1e-3).view("i4"))}}
    normal = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-3)
    wanted = {"SCALE": normal * row, "SHIFT": normal + row, "UNDEFINED": normal}[rescale]
    given = [x] if rescale == "UNDEFINED" else [x, row]
    close(results(call("__onednn$layernorm", "f32[3,5]", operands, config=config), *given)[0], wanted)


@pytest.mark.parametrize("direction", ["GT", "GE", "LT", "LE", "EQ", "NE"])
@pytest.mark.parametrize("sides", ["a, b", "b, a", "a, a"])
def test_what_a_comparator_puts_first_is_told_by_its_direction_and_sides(direction: str, sides: str) -> None:
    """Elements in either order; a comparator that orders nothing leaves the call as it is."""
    module = call("TopK", "(f32[3], s32[3])", "f32[8]", ", called_computations={order}", head=(
        "order { a = f32[] parameter(0)  b = f32[] parameter(1)\n"
        f"  ROOT c = pred[] compare({sides}), direction={direction} }}"))
    lifted = hlotool.from_stablehlo(hlotool.to_stablehlo(module))
    given = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32)
    if sides == "a, a" or direction in ("EQ", "NE"):
        with pytest.raises(HloError, match="TopK"):
            hlotool.execute(lifted, [given], "reference")
        return
    is_largest = direction.startswith("G") == (sides == "a, b")
    expected = [9, 6, 5] if is_largest else [1, 1, 2]
    assert hlotool.execute(lifted, [given], "reference")[0].tolist() == expected


APPROXIMATE = """HloModule m
more { a = f32[] parameter(0)  b = f32[] parameter(1)  i = s32[] parameter(2)  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=GT }
ENTRY main {
  x = f32[2,4] parameter(0)
  n = s32[2,4] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  none = s32[] constant(-1)
  ROOT t = (f32[2,2], s32[2,2]) custom-call(x, n, low, none), custom_call_target="ApproxTopK",
    api_version=API_VERSION_TYPED_FFI, called_computations={more}, backend_config={aggregate_to_topk = true,
    is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64,
    reduction_input_size_override = -1 : i64, top_k = 2 : i64}
}"""


def test_an_approximate_topk_is_an_exact_one() -> None:
    x = np.float32([[3, 1, 4, 1], [5, 9, 2, 6]])
    for executor in ("reference", "pjrt:cpu"):
        values, places = hlotool.execute(hlotool.parse(APPROXIMATE), [x], executor=executor)
        assert np.asarray(values).tolist() == [[4, 3], [9, 6]]
        assert np.asarray(places).tolist() == [[2, 0], [1, 3]]


def test_an_approximate_topk_that_leaves_more_stays() -> None:
    module = hlotool.parse(APPROXIMATE.replace("aggregate_to_topk = true", "aggregate_to_topk = false"))
    (call,) = lift_library_calls_recovering(module)
    assert "platform's" in call.reason
