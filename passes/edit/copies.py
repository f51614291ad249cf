"""Copies of modules, computations and instructions; shapes, attribute values and literals are shared, for they never
change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule, called_by, callees_first, post_order


def clone_module(module: HloModule, changing: Callable[[HloComputation], bool] | None = None,
                 copies: dict[Any, Any] | None = None) -> HloModule:
    """Return a module of new computations and instructions under the same names.

    With `changing` the other computations are shared, unless they lead to one that is to be changed. `copies` is
    filled with the copy of each computation and instruction that has one.
    """
    copies = {} if copies is None else copies
    for computation in callees_first(module):
        if changing is None or changing(computation) or any(c in copies for c in called_by(computation)):
            copies[computation] = clone_computation(computation, computation.name, copies)
    return replace(module, computations=[copies.get(c, c) for c in module.computations], tables=dict(module.tables),
                   entry=copies.get(module.entry, module.entry), notes=list(module.notes))


def clone_computation(computation: HloComputation, name: str, copies: dict[Any, Any] | None = None) -> HloComputation:
    """Return a computation of new instructions, which calls the `copies` of what is called, else the same computations.

    `copies` is filled with the copy of each instruction.
    """
    copies = {} if copies is None else copies
    for old in post_order(computation):
        copies[old] = copied(old, copies)
    return HloComputation(name, [copies[i] for i in computation.instructions], copies.get(computation.root),
                          computation.attributes, computation.offset)


def copied(old: HloInstruction, copies: Mapping[Any, Any], name: str = "") -> HloInstruction:
    """Return a copy of an instruction that takes, waits for and calls the `copies` of what the old one does."""
    attributes = mapped_attributes(old.attributes, lambda item: copies.get(item, item)) if old.attributes \
        else old.attributes
    return HloInstruction(name or old.name, old.opcode, old.shape, tuple([copies.get(o, o) for o in old.operands]),
                          attributes, old.metadata, old.offset)


def mapped_attributes(attributes: Attributes, change: Callable[[Any], Any]) -> Attributes:
    """Return the attributes with every computation and instruction among their values replaced by `change` of it."""
    found = {name: _mapped(value, change) for name, value in attributes.items()
             if type(value) is HloComputation or (type(value) is tuple and value and type(value[0]) in _ITEMS)}
    return attributes | found if found else attributes


_ITEMS = (HloComputation, HloInstruction)


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    return tuple(map(change, value)) if isinstance(value, tuple) else change(value)
