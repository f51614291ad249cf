"""The stub of attributes by name, for type checkers: `python -m hlotool.ir.attribute_stub` writes it.

`typed_attributes.pyi` has an overload for the names of each type, made from the types of attributes' kinds.
"""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import Any, cast, get_args

from hlotool.ir.attribute_types import SEVERAL_KINDS, TYPES
from hlotool.ir.attributes import KINDS

STUB = Path(__file__).with_name("typed_attributes.pyi")
_HEADER = '''"""The values of attributes by name. Made by `python -m hlotool.ir.attribute_stub`: do not edit."""

from typing import Any, TypeAlias, TypeVar, overload
from typing import Literal as Names

{imports}
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
    """Return the text of the stub."""
    names: dict[str, list[str]] = defaultdict(list)
    for name, kind in KINDS.items():
        if name not in SEVERAL_KINDS:
            names[_written(TYPES[kind])].append(name)
    aliases = {type_: f"_{re.sub(r'[^a-zA-Z]+', '_', type_).strip('_')}" for type_ in names}
    text = _HEADER.format(imports=_imports())
    text += "".join(f"{aliases[t]}: TypeAlias = {_names(n)}\n" for t, n in names.items()) + _CLASS
    written = {**aliases, "Any": "str"}
    for type_, alias in written.items():
        text += _ITEM.format(names=alias, type=type_)
    for n, (type_, alias) in enumerate(written.items()):
        optional = "Any" if type_ == "Any" else f"{type_} | None"
        text += _GETS.format(names=alias, type=type_, optional=optional, ignore="" if n else _NARROWER)
    return text


def _written(type_: Any) -> str:
    """Return a type as annotations have it."""
    members = get_args(type_)
    return f"tuple[{_written(members[0])}, ...]" if members else str(type_.__name__)


def _class(type_: Any) -> type:
    """Return the class of what is in a tuple, or in tuples of tuples; others are classes themselves."""
    members = get_args(type_)
    return _class(members[0]) if members else cast(type, type_)


def _imports() -> str:
    """Return the imports of the classes that are named."""
    files: dict[str, set[str]] = defaultdict(set)
    for class_ in map(_class, TYPES.values()):
        if class_.__module__ != "builtins":
            files[class_.__module__].add(class_.__name__)
    text = ""
    for file, classes in sorted(files.items()):
        line = f"from {file} import {', '.join(sorted(classes))}\n"
        listed = "".join(f"    {name},\n" for name in sorted(classes))
        text += line if len(line) <= 121 else f"from {file} import (\n{listed})\n"
    return text


def _names(names: list[str]) -> str:
    listed = textwrap.fill(", ".join(f'"{n}"' for n in names), 112, break_on_hyphens=False)
    return f"Names[\n{textwrap.indent(listed, ' ' * 4)}]"


if __name__ == "__main__":
    STUB.write_text(stub(), "utf-8")
