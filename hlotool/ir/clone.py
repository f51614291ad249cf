"""Copies of modules and computations; shapes, attribute values and literals are shared, for they never change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hlotool.ir.attributes import Attributes
from hlotool.ir.module import HloComputation, HloInstruction, HloModule
from hlotool.ir.walk import called_by, callees_first, post_order


def clone_module(module: HloModule, changing: Callable[[HloComputation], bool] | None = None) -> HloModule:
    """A module of new computations and instructions under the same names.

    With `changing` the other computations are shared, unless they lead to one that is to be changed.
    """
    copies: dict[HloComputation, HloComputation] = {}
    for computation in callees_first(module):
        if changing is None or changing(computation) or any(c in copies for c in called_by(computation)):
            copies[computation] = clone_computation(computation, computation.name, copies)
    return replace(module, computations=[copies.get(c, c) for c in module.computations], tables=dict(module.tables),
                   entry=copies.get(module.entry, module.entry), notes=list(module.notes))


def clone_computation(computation: HloComputation, name: str,
                      copies: dict[HloComputation, HloComputation] | None = None) -> HloComputation:
    """A computation of new instructions; it calls the `copies` of what is called, else the same computations."""
    known: dict[Any, Any] = dict(copies) if copies else {}
    for old in post_order(computation):
        known[old] = HloInstruction(old.name, old.opcode, old.shape, tuple([known.get(o, o) for o in old.operands]),
                                    mapped_attributes(old.attributes, lambda item: known.get(item, item))
                                    if old.attributes else old.attributes, old.metadata, old.offset)
    return HloComputation(name, [known[i] for i in computation.instructions], known.get(computation.root),
                          computation.attributes, computation.offset)


def mapped_attributes(attributes: Attributes, change: Callable[[Any], Any]) -> Attributes:
    """The attributes with every computation and instruction among their values replaced by `change` of it."""
    found = {name: _mapped(value, change) for name, value in attributes.items()
             if type(value) is HloComputation or (type(value) is tuple and value and type(value[0]) in _ITEMS)}
    return attributes | found if found else attributes


_ITEMS = (HloComputation, HloInstruction)


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    return tuple(map(change, value)) if isinstance(value, tuple) else change(value)
