"""The Python type of each attribute's value, for type checkers: `python -m hlotool.ir.attribute_types` writes the stub.

    instruction.attributes["dimensions"]        tuple[int, ...]
    instruction.attributes.get("channel_id")    int | None

`typed_attributes.pyi` has an overload for the names of each type, made from the table of attributes' kinds.
"""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from pathlib import Path

from hlotool.ir.attributes import KINDS, Kind
from hlotool.ir.integrity import SEVERAL_KINDS

STUB = Path(__file__).with_name("typed_attributes.pyi")
#: the type of an attribute's value by its kind
TYPES: dict[Kind, str] = {
    Kind.INT: "int", Kind.BOOL: "bool", Kind.FLOAT: "float", Kind.STRING: "str", Kind.WORD: "str",
    Kind.INTS: "tuple[int, ...]", Kind.BOOLS: "tuple[bool, ...]", Kind.WORDS: "tuple[str, ...]",
    Kind.COMPUTATION: "HloComputation", Kind.COMPUTATIONS: "tuple[HloComputation, ...]",
    Kind.INSTRUCTIONS: "tuple[HloInstruction, ...]", Kind.SHAPE: "Shape", Kind.SHAPES: "tuple[Shape, ...]",
    Kind.LITERAL: "Literal", Kind.SLICE: "tuple[SliceDimension, ...]", Kind.WINDOW: "Window",
    Kind.DIM_LABELS: "ConvolutionDimensions", Kind.PADDING: "Padding", Kind.SHARDING: "Sharding",
    Kind.REPLICA_GROUPS: "ReplicaGroups", Kind.PAIRS: "tuple[tuple[int, ...], ...]", Kind.METADATA: "Metadata",
    Kind.FRONTEND_ATTRIBUTES: "FrontendAttributes", Kind.BACKEND_CONFIG: "BackendConfig",
    Kind.STATISTICS: "Statistics", Kind.ALIASING: "tuple[Aliasing, ...]", Kind.DONORS: "tuple[BufferDonor, ...]",
    Kind.ENTRY_LAYOUT: "EntryLayout", Kind.DOMAIN: "Domain", Kind.RESULT_ACCURACY: "ResultAccuracy",
    Kind.SPARSITY: "Sparsity", Kind.RAW: "Raw"}
_HEADER = '''"""The values of attributes by name. Made by `python -m hlotool.ir.attribute_types`: do not edit."""

from typing import Any, TypeAlias, TypeVar, overload
from typing import Literal as Names

from hlotool.ir.attributes import (
    Aliasing,
    BackendConfig,
    BufferDonor,
    ConvolutionDimensions,
    Domain,
    EntryLayout,
    FrontendAttributes,
    Metadata,
    Padding,
    Raw,
    ResultAccuracy,
    SliceDimension,
    Sparsity,
    Statistics,
    Window,
)
from hlotool.ir.literals import Literal
from hlotool.ir.module import HloComputation, HloInstruction
from hlotool.ir.shapes import Shape
from hlotool.ir.sharding import ReplicaGroups, Sharding

_Default = TypeVar("_Default")
'''
_CLASS = '''
class TypedAttributes(dict[str, Any]):
    __slots__ = ()
'''
_ITEM = '''    @overload
    def __getitem__(self, name: {names}, /) -> {type}: ...
'''
#: a checker is told that the overloads of a mapping's own method are narrowed on purpose
_NARROWER = "  # type: ignore[override]"
_GETS = '''    @overload{ignore}
    def get(self, name: {names}, default: None = None, /) -> {optional}: ...
    @overload
    def get(self, name: {names}, default: _Default, /) -> {type} | _Default: ...
'''


def stub() -> str:
    """The text of the stub."""
    names: dict[str, list[str]] = defaultdict(list)
    for name, kind in KINDS.items():
        if name not in SEVERAL_KINDS:
            names[TYPES[kind]].append(name)
    aliases = {type_: f"_{re.sub(r'[^a-zA-Z]+', '_', type_).strip('_')}" for type_ in names}
    text = _HEADER + "".join(f"{aliases[t]}: TypeAlias = {_names(n)}\n" for t, n in names.items()) + _CLASS
    written = {**aliases, "Any": "str"}
    for type_, alias in written.items():
        text += _ITEM.format(names=alias, type=type_)
    for n, (type_, alias) in enumerate(written.items()):
        optional = "Any" if type_ == "Any" else f"{type_} | None"
        text += _GETS.format(names=alias, type=type_, optional=optional, ignore="" if n else _NARROWER)
    return text


def _names(names: list[str]) -> str:
    listed = textwrap.fill(", ".join(f'"{n}"' for n in names), 112, break_on_hyphens=False)
    return f"Names[\n{textwrap.indent(listed, ' ' * 4)}]"


if __name__ == "__main__":
    STUB.write_text(stub(), "utf-8")
