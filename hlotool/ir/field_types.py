"""Whether the fields of interned values are of the types that their classes announce, asked once for each value."""

from __future__ import annotations

import functools
import itertools
import operator
import sys
import types
import typing
from typing import Any


def well_typed(cls: type, key: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values of a class's fields, whole numbers of other libraries as Python's.

    Raises TypeError for a value that is none of its field's type.
    """
    wanted = _fields(cls)
    for number, (name, kind, default) in enumerate(wanted):
        value = key[number]
        if value is default or _is_of(value, kind):
            continue
        value = _whole(value)
        if not _is_of(value, kind):
            raise TypeError(f"{cls.__name__}.{name} is {value!r}, which is no {_written(kind)}")
        key = (*key[:number], value, *key[number + 1:])
    return key


@functools.cache
def _fields(cls: Any) -> list[tuple[str, Any, Any]]:
    """Each field's name, type and default, in order."""
    # The module's names only: a class may have a method that is called as a type is.
    names = {**vars(sys.modules[cls.__module__])}
    hints = typing.get_type_hints(cls, globalns=names, localns=names)
    return [(name, hints[name], field.default) for name, field in cls.__dataclass_fields__.items()]


def _is_of(value: Any, wanted: Any) -> bool:
    if wanted is Any:
        return True
    if isinstance(wanted, type) and not typing.get_args(wanted):
        return type(value) is wanted or (wanted is float and type(value) is int)
    members = typing.get_args(wanted)
    if typing.get_origin(wanted) in (types.UnionType, typing.Union):
        return any(_is_of(value, member) for member in members)
    if typing.get_origin(wanted) is not tuple:
        return False
    if type(value) is not tuple:
        return False
    if members[-1:] == (...,):
        kinds = set(map(type, value))
        return kinds <= {members[0]} or (kinds <= {tuple} and all(_is_of(v, members[0]) for v in value))
    return len(value) == len(members) and all(itertools.starmap(_is_of, zip(value, members, strict=True)))


def _whole(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(map(_whole, value))
    try:
        return value if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return value


def _written(kind: Any) -> str:
    return kind.__name__ if type(kind) is type else str(kind).replace("hlotool.ir.", "")
