"""Makes one short name for what a module computes, the same on every machine and at any time."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape, callees_first
from hlotool.text import PrintOptions, print_module

_PLAIN = PrintOptions(canonical=True, metadata=False)


def fingerprint(module: HloModule, *, layouts: bool = True) -> str:
    """Return a SHA-256 in hexadecimal digits of the module without its names and metadata.

    Modules of one fingerprint are the same program; the same program in another order of independent instructions has
    another one: `diff` tells. Without `layouts`, layouts count for nothing.
    """
    bare = dataclasses.replace(module, name="m", tables={})  # the tables hold what metadata refers to
    text = print_module(bare, _PLAIN if layouts else dataclasses.replace(_PLAIN, layouts=False))
    return hashlib.sha256(text.replace("HloModule m", "HloModule", 1).encode("utf-8", "surrogateescape")).hexdigest()


def size_blind_fingerprint(module: HloModule) -> str:
    """Return a SHA-256 in hexadecimal digits that is equal for programs that differ in names and sizes only.

    What counts, in the order of the text: opcodes, element types and numbers of dimensions of results, operands, called
    computations, parameter numbers, tuple indices, which dimensions attributes name, and attributes that are words.
    Of other attributes only their presence counts, of constants only their type. Layouts and the header do not.
    """
    numbers: dict[HloComputation, int] = {}
    digest = hashlib.sha256()
    for computation in callees_first(module):
        numbers[computation] = len(numbers)
        places = {instruction: n for n, instruction in enumerate(computation.instructions)}
        root = places.get(computation.root, -1)
        lines = [_without_sizes(i, places, numbers) for i in computation.instructions]
        digest.update(repr((lines, root, computation is module.entry)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


#: attributes of numbers that are no sizes
_STRUCTURAL = frozenset({"parameter_number", "index", "feature_index", "index_vector_dim"})
#: attributes that differ between compilations of one program
_NOT_OF_THE_PROGRAM = frozenset({
    "backend_config", "channel_id", "control-predecessors", "debug_attributes", "frontend_attributes", "origin",
    "replica_groups", "sharding", "statistics"})


def _without_sizes(instruction: HloInstruction, places: dict[HloInstruction, int],
                   numbers: dict[HloComputation, int]) -> tuple[Any, ...]:
    attributes = [(name, _plain_value(name, value, numbers)) for name, value in sorted(instruction.attributes.items())
                  if name not in _NOT_OF_THE_PROGRAM]
    return (instruction.opcode, _kind(instruction.shape), [places.get(o, -1) for o in instruction.operands], attributes)


def _plain_value(name: str, value: Any, numbers: dict[HloComputation, int]) -> Any:
    if isinstance(value, HloComputation):
        return numbers.get(value, -1)
    if isinstance(value, tuple) and value and isinstance(value[0], HloComputation):
        return tuple(numbers.get(v, -1) for v in value)
    if isinstance(value, (str, bool)) or name in _STRUCTURAL or "dim" in name:
        return repr(value)
    return None


def _kind(shape: Shape) -> Any:
    """Return the element type and number of dimensions, of each member of a tuple."""
    if shape.elements:
        return shape.element_type, [_kind(e) for e in shape.elements]
    return shape.element_type, len(shape.dims)
