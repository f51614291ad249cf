"""Writes the matrix products of GPU and CPU libraries as dots.

    ENTRY main {                                  ENTRY main {
      a = f32[2,3] parameter(0)                     a = f32[2,3] parameter(0)
      b = f32[3,4] parameter(1)                     b = f32[3,4] parameter(1)
      ROOT g = (f32[2,4], s8[9]) custom-call(a,     dot = f32[2,4] dot(a, b), lhs_contracting_dims={1}, ...
        b), custom_call_target=                     zero = f32[] constant(0)
        "__cublas$lt$matmul", backend_config=       zeros = f32[2,4] broadcast(zero), dimensions={}
        {"gemm_backend_config":                     maximum = f32[2,4] maximum(dot, zeros)
        {"epilogue":"RELU", ...}}                   ... ROOT g = (f32[2,4], s8[9]) tuple(maximum, workspace)
    }                                             }

Source of what calls mean: XLA, gemm_rewriter.cc (cuBLAS), onednn_contraction_rewriter.cc (oneDNN).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from hlotool.ir import HloInstruction, HloModule, Shape
from hlotool.passes.lift.library_calls import (
    Call,
    dot_attributes,
    elu,
    gelu_erf,
    gelu_tanh,
    on_target,
    relu,
    relu6,
    sigmoid,
    silu,
    tanh,
    wide_type,
)
from hlotool.passes.lift.lift_library_calls import lift_targets

_EPILOGUES: dict[str, Callable[[Call, HloInstruction], HloInstruction] | None] = {
    "DEFAULT": None, "RELU": relu, "GELU": gelu_tanh, "SILU": silu}


def lift_library_matmul(module: HloModule) -> HloModule:
    """The same module, changed in place, without calls of matrix products that say what they compute."""
    return lift_targets(module, __name__)


@on_target("__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8")
def cublas(call: Call) -> tuple[HloInstruction, ...]:
    """alpha * a_scale * b_scale * (a . b) + beta * c, then a bias, an activation and d_scale.

    Operands: a, b, c where beta is not 0, both scales of an f8 product, the bias vector, d_scale of an f8 result.
    """
    config = call.config("gemm_backend_config")
    rest = list(call.operands[2:])
    lhs, rhs = call.operands[:2]
    out = call.results[0]
    alpha, beta = _number(config, "alpha_real", 1) + 1j * _number(config, "alpha_imag", 0), _number(config, "beta", 0)
    name = str(config.get("epilogue", "DEFAULT"))
    activation, has_bias, has_aux = _epilogue(call, name)
    matrix = _take(call, rest, "the matrix that beta multiplies") if beta else None
    scales = [_take(call, rest, "a scale") for _ in range(2)] if call.target.endswith("$f8") else []
    bias = _take(call, rest, "the bias") if has_bias else None
    d_scale = rest.pop() if out.element_type.startswith("f8") and rest else None
    call.expect(not rest, f"{len(rest)} operands are more than its configuration explains")
    call.expect(not config.get("damax_output"), "it gives the largest absolute value as well")
    plain = alpha == 1 and not (matrix or scales or bias or d_scale or activation or has_aux)
    wide = wide_type(lhs.shape)
    value = _dot(call, lhs, rhs, config, out, out.element_type if plain else wide)
    if plain:
        return _finished(call, value)
    for scale in scales:
        call.expect(scale.shape.size == 1, f"a scale is {scale.shape.text(False)}, which is no single number")
    value = _by_scales(call, value, scales)
    value = call.scaled(value, alpha if out.dtype.is_complex else alpha.real)
    if matrix is not None:
        call.expect(matrix.shape.dims == out.dims, f"c is {matrix.shape.text(False)}, the result {out.text(False)}")
        value = call.add("add", [value, call.scaled(call.cast(matrix, wide), beta)])
    if bias is not None:
        value = call.add("add", [value, _bias(call, bias, value.shape)])
    raw = value
    if activation is not None:
        value = activation(call, value)
    value = _by_scales(call, value, [d_scale] if d_scale is not None else [])
    found = [call.saturated(value, out)]
    if has_aux:
        call.expect(len(call.results) > 1 and call.results[1].dims == out.dims, "it has no auxiliary result")
        found.append(call.saturated(raw, call.results[1]))
    return _finished(call, *found)


def _finished(call: Call, *values: HloInstruction) -> tuple[HloInstruction, ...]:
    return call.with_workspaces(*values)


def _number(config: dict[str, Any], key: str, default: float) -> float:
    # A field that JSON leaves out was never set; a factor that was never set is 1.
    return float(config.get(key, default))


def _take(call: Call, operands: list[HloInstruction], what: str) -> HloInstruction:
    call.expect(bool(operands), f"{what} is missing among its {len(call.operands)} operands")
    return operands.pop(0)


def _epilogue(call: Call, name: str) -> tuple[Callable[[Call, HloInstruction], HloInstruction] | None, bool, bool]:
    """The activation, whether there is a bias, and whether what the activation is given is a result too."""
    words = name.split("_")
    has_aux, has_bias = words[-1] == "AUX", words[0] == "BIAS"
    rest = [w for w in words if w not in ("AUX", "BIAS")] or ["DEFAULT"]
    call.expect(len(rest) == 1 and rest[0] in _EPILOGUES, f"its epilogue {name} is not known")
    call.expect(not (has_aux and rest[0] != "GELU"), f"what {name} gives beside its result is not known")
    return _EPILOGUES[rest[0]], has_bias, has_aux


def _dot(call: Call, lhs: HloInstruction, rhs: HloInstruction, config: dict[str, Any], out: Shape,
         element_type: str) -> HloInstruction:
    numbered = config.get("dot_dimension_numbers")
    call.expect(isinstance(numbered, dict), "its configuration has no dimension numbers")
    assert isinstance(numbered, dict)
    attributes: dict[str, Any] = dict(dot_attributes(numbered))
    precision = config.get("precision_config") or {}
    if words := [str(w).lower() for w in precision.get("operand_precision", ())]:
        attributes["operand_precision"] = tuple(words)
    algorithm = str(precision.get("algorithm", "ALG_UNSET")).lower()
    if algorithm not in ("alg_unset", "0"):
        attributes["algorithm"] = algorithm.removeprefix("alg_")
    inferred = call.add("dot", [lhs, rhs], **attributes)
    call.expect(inferred.shape.dims == out.dims,
                f"the product is {inferred.shape.text(False)}, the result {out.text(False)}")
    inferred.shape = inferred.shape.with_element_type(element_type)
    return inferred


def _by_scales(call: Call, value: HloInstruction, scales: Sequence[HloInstruction]) -> HloInstruction:
    for scale in scales:
        one = scale if scale.shape.is_scalar else call.add("reshape", [scale], scale.shape.with_dims(()))
        wide = call.cast(one, value.shape.element_type)
        value = call.add("multiply", [value, call.spread(wide, value.shape, ())])
    return value


def _bias(call: Call, bias: HloInstruction, shape: Shape) -> HloInstruction:
    """A bias along the last dimensions, or of any shape that broadcasts as NumPy's do."""
    wide = call.cast(bias, shape.element_type)
    dims = bias.shape.dims
    first = shape.rank - len(dims)
    call.expect(first >= 0 and all(d in (1, s) for d, s in zip(dims, shape.dims[first:], strict=True)),
                f"the bias is {bias.shape.text(False)}, the product {shape.text(False)}")
    kept = tuple(i for i, d in enumerate(dims) if d != 1 or shape.dims[first + i] == 1)
    if len(kept) < len(dims):
        wide = call.add("reshape", [wide], wide.shape.with_dims(tuple(dims[i] for i in kept)))
    return call.spread(wide, shape, tuple(first + i for i in kept))


_POST_OPS: dict[str, Callable[[Call, HloInstruction], HloInstruction]] = {
    "RELU": relu, "RELU6": relu6, "TANH": tanh, "ELU": elu, "SIGMOID": sigmoid, "GELU_ERF": gelu_erf,
    "GELU_TANH": gelu_tanh, "SWISH": silu}


def post_operations(call: Call, value: HloInstruction, fusions: dict[str, Any],
                    operands: Sequence[HloInstruction], out: Shape) -> HloInstruction:
    """Return oneDNN's operations on a product or convolution before it is written: biases, sums, activations."""
    rest = list(operands)
    for word in map(str, fusions.get("ops", ())):
        if word in _POST_OPS:
            value = _POST_OPS[word](call, value)
        elif word in ("BIAS", "BINARY_ADD", "SUM"):
            value = call.add("add", [value, _bias(call, _take(call, rest, f"the operand of {word}"), value.shape)])
        elif word == "LINEAR":
            call.expect("alpha_typecast" in fusions, "the factor of LINEAR is missing")
            value = call.scaled(value, float_of(int(fusions["alpha_typecast"])))
        else:
            call.expect(False, f"what {word} does is not known")
    call.expect(not rest, f"{len(rest)} operands are more than its configuration explains")
    return call.cast(value, out.element_type)


def float_of(bits: int) -> float:
    """The float of the bits that a configuration holds as an integer."""
    return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0])


@on_target("__onednn$matmul", "__onednn$matmul_reorder")
def onednn_matmul(call: Call) -> tuple[HloInstruction, ...]:
    """The product of the last two dimensions, either transposed before, then the fused operations."""
    config = call.config("onednn_matmul_config")
    optimized = config.get("optimization_config") or {}
    call.expect(not (config.get("weights_prepacked") or optimized.get("weights_prepacked")), "its weights are packed")
    lhs, rhs = call.operands[:2]
    rank, out = lhs.shape.rank, call.results[0]
    call.expect(rank == rhs.shape.rank >= 2 or rank >= rhs.shape.rank == 2,
                f"its operands are {lhs.shape.text(False)} and {rhs.shape.text(False)}")
    batch = tuple(range(rank - 2)) if rhs.shape.rank == rank else ()
    attributes: dict[str, Any] = {"lhs_contracting_dims": (rank - (2 if config.get("transpose_a") else 1),),
                                  "rhs_contracting_dims": (rhs.shape.rank - (1 if config.get("transpose_b") else 2),)}
    if batch:
        attributes |= {"lhs_batch_dims": batch, "rhs_batch_dims": batch}
    value = call.add("dot", [lhs, rhs], **attributes)
    value.shape = value.shape.with_element_type(wide_type(lhs.shape))
    call.expect(value.shape.dims == out.dims, f"the product is {value.shape.text(False)}, the result {out.text(False)}")
    return _finished(call, post_operations(call, value, config.get("fusions") or {}, call.operands[2:], out))
