"""Calls of functions that JAX finds by their names."""

from __future__ import annotations

from hlotool.ir import HloInstruction, Shape
from hlotool.jax.lax.codes import NotWritable
from hlotool.jax.lax.function_code import FunctionCode, Value, writes
from hlotool.jax.lax.python_literals import element_type
from hlotool.ops import TARGETS


@writes("custom-call")
def _custom_call(code: FunctionCode, i: HloInstruction) -> Value:
    target = i.attributes["custom_call_target"]
    if target in TARGETS and len(i.operands) == 1 and i.operands[0].shape.dims == i.shape.dims:
        return code.values[i.operands[0]]
    if i.attributes.get("api_version") != "API_VERSION_TYPED_FFI":
        raise NotWritable(f"JAX calls typed functions only, and not {target}")
    config = i.attributes.get("backend_config")
    if config is not None and config.text.strip("{} ") and config.text != '""':
        raise NotWritable(f"the configuration of {target} has no form in JAX's Python")
    effect = ", has_side_effect=True" if i.attributes.get("custom_call_has_side_effect") else ""
    return f"jax.ffi.ffi_call({target!r}, {_result(i.shape)}{effect})({', '.join(code.operands(i))})"


def _result(shape: Shape) -> str:
    if shape.is_tuple:
        return f"[{', '.join(map(_result, shape.elements))}]"
    return f"jax.ShapeDtypeStruct({shape.dims}, {element_type(shape.element_type)})"
