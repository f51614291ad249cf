"""Small integer arrays that a program computes from constants and iotas alone, computed here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from hlotool.ir import HloInstruction
from hlotool.ops import OPS, value_of
from hlotool.passes.lints.module_view import View

#: elements of the largest array that is computed
_MOST = 4096
_DEEPEST = 24
_FOLLOWED = frozenset({
    "iota", "broadcast", "reshape", "bitcast", "copy", "transpose", "concatenate", "slice", "reverse", "convert", "add",
    "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "clamp", "select", "compare", "and", "or",
    "not", "negate"})


def known_array(view: View, instruction: HloInstruction) -> Any:
    """The elements of an integer array, as NumPy holds them; None where they are not known, or too many."""
    known = view.memory.setdefault("arrays", {})
    assert isinstance(known, dict)
    return _known(view, instruction, known, 0)


def _known(view: View, i: HloInstruction, known: dict[HloInstruction, Any], depth: int) -> Any:
    if i not in known:
        known[i] = None
        if i.shape.is_array and i.shape.is_static and i.shape.size <= _MOST and depth < _DEEPEST and (
                i.shape.dtype.is_integral or i.shape.element_type == "pred") and i.shape.dtype.bits in (8, 16, 32, 64):
            known[i] = _computed(view, i, known, depth)
    return known[i]


def _computed(view: View, i: HloInstruction, known: dict[HloInstruction, Any], depth: int) -> Any:
    import numpy as np

    if i.opcode == "constant":
        literal = i.attributes.get("literal")
        return None if literal is None or literal.has_elided else np.asarray(literal.array).reshape(i.shape.dims)
    if i.opcode == "parameter":
        outer = view.outer(i)
        return _known(view, outer, known, depth + 1) if outer is not None else None
    record = OPS.get(i.opcode)
    if i.opcode not in _FOLLOWED or record is None:
        return None
    arrays = [_known(view, o, known, depth + 1) for o in i.operands]
    if any(a is None for a in arrays) or (i.opcode == "bitcast" and not _is_reshape(i)):
        return None
    if i.opcode in ("bitcast", "copy"):
        return arrays[0].reshape(i.shape.dims)
    with np.errstate(all="ignore"):
        value = np.asarray(record.evaluate(*arrays, **_keywords(record.evaluate, i)))
    return value if value.shape == i.shape.dims and value.dtype == i.shape.dtype.numpy else None


def _is_reshape(i: HloInstruction) -> bool:
    """Whether a bitcast keeps type and row-major order, as far as its shapes say."""
    old = i.operands[0].shape
    return old.element_type == i.shape.element_type and all(
        s.layout is None or tuple(s.layout.minor_to_major) == tuple(reversed(range(s.rank))) for s in (old, i.shape))


def _keywords(evaluate: Callable[..., Any], i: HloInstruction) -> dict[str, Any]:
    parameters = inspect.signature(evaluate).parameters.values()
    found: dict[str, Any] = {}
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and p.name == "shape":
            found["shape"] = i.shape
        elif p.kind is p.KEYWORD_ONLY and p.name == "operand_shapes":
            found["operand_shapes"] = tuple(o.shape for o in i.operands)
        elif p.kind is p.KEYWORD_ONLY and p.name in i.attributes:
            found[p.name] = value_of(i, p.name)
    return found
