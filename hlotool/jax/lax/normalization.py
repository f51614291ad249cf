"""Batch normalisation, which JAX spells out."""

from __future__ import annotations

from hlotool.ir import DTYPES, HloInstruction
from hlotool.jax.lax import python_literals
from hlotool.jax.lax.function_code import FunctionCode, writes


def _arguments(code: FunctionCode, i: HloInstruction) -> str:
    epsilon = python_literals.number(i.attributes["epsilon"], DTYPES["f64"])
    return f"{', '.join(code.operands(i))}, {epsilon}, {i.attributes['feature_index']}"


@writes("batch-norm-training")
def _training(code: FunctionCode, i: HloInstruction) -> str:
    return f"{code.helper('_batch_norm_training')}({_arguments(code, i)})"


@writes("batch-norm-inference")
def _inference(code: FunctionCode, i: HloInstruction) -> str:
    return f"{code.helper('_batch_norm_inference')}({_arguments(code, i)})"


@writes("batch-norm-grad")
def _gradient(code: FunctionCode, i: HloInstruction) -> str:
    return f"{code.helper('_batch_norm_grad')}({_arguments(code, i)})"
