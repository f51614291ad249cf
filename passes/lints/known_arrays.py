"""Small integer arrays that a program computes from constants and iotas alone, computed here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from hlotool.ir import HloInstruction
from hlotool.ir.arrays import np
from hlotool.ops import OPS, flow_of, is_a, value_of
from hlotool.passes.lints.module_view import View

#: elements of the largest array that is computed
_MOST = 4096
_DEEPEST = 24


def known_array(view: View, instruction: HloInstruction) -> Any:
    """Return the elements of an integer array, as NumPy holds them; None where they are not known, or too many."""
    known, knowable = view.memory.setdefault("arrays", {}), view.memory.setdefault("knowable", {})
    assert isinstance(known, dict) and isinstance(knowable, dict)
    # NumPy takes longer to import than most modules to lint, and most arrays are not known.
    return _computed(view, instruction, known) if _is_knowable(view, instruction, knowable, 0) else None


def _is_knowable(view: View, i: HloInstruction, known: dict[HloInstruction, bool], depth: int) -> bool:
    """Return True if an array comes from constants and iotas by operations that are followed."""
    if i not in known:
        known[i] = False
        if i.shape.is_array and i.shape.is_static and i.shape.size <= _MOST and depth < _DEEPEST and (
                i.shape.dtype.is_integral or i.shape.element_type == "pred") and i.shape.dtype.bits in (8, 16, 32, 64):
            sources = _sources(view, i)
            known[i] = sources is not None and all(_is_knowable(view, o, known, depth + 1) for o in sources)
    return known[i]


def _sources(view: View, i: HloInstruction) -> Sequence[HloInstruction] | None:
    """Return the instructions from which an array is computed; None where they are not known."""
    if i.opcode == "constant":
        literal = i.attributes.get("literal")
        return None if literal is None or literal.has_elided else ()
    if i.opcode == "parameter":
        outer = view.outer(i)
        return None if outer is None else (outer,)
    flow = flow_of(i)
    is_followed = is_a(i, "elementwise") or flow.moves or i.opcode == "iota"
    if not is_followed or i.called_computations() or flow.effect or (i.opcode == "bitcast" and not _is_reshape(i)):
        return None
    return i.operands


def _computed(view: View, i: HloInstruction, known: dict[HloInstruction, Any]) -> Any:
    """The elements of an array that is knowable; None where computing gives another type or shape than is written."""
    if i not in known:
        known[i] = _evaluated(view, i, known)
    return known[i]


def _evaluated(view: View, i: HloInstruction, known: dict[HloInstruction, Any]) -> Any:
    if i.opcode == "constant":
        return np.asarray(i.attributes["literal"].array).reshape(i.shape.dims)
    arrays = [_computed(view, o, known) for o in _sources(view, i) or ()]
    if any(a is None for a in arrays):
        return None
    if i.opcode == "parameter":
        return arrays[0]
    if i.opcode in ("bitcast", "copy"):
        return arrays[0].reshape(i.shape.dims)
    evaluate = OPS[i.opcode].evaluate
    with np.errstate(all="ignore"):
        value = np.asarray(evaluate(*arrays, **_keywords(evaluate, i)))
    return value if value.shape == i.shape.dims and value.dtype == i.shape.dtype.numpy else None


def _is_reshape(i: HloInstruction) -> bool:
    """Return True if a bitcast keeps type and row-major order, as far as its shapes say."""
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
