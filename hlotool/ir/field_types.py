"""Checks the fields of interned values against the types that their classes declare, once for each value."""

from __future__ import annotations

import functools
import operator
import sys
import types
import typing
from collections.abc import Callable
from typing import Any


def well_typed(cls: type, key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values of a class's fields, whole numbers of other libraries as Python's.

    Raises TypeError for a value that is none of its field's type.
    """
    for number, (name, kind, is_of, default) in enumerate(_fields(cls)):
        value = key[number]
        if value is default or type(value) is kind or is_of(value):
            continue
        value = _whole(value)
        if not is_of(value):
            raise TypeError(f"{cls.__name__}.{name} is {value!r}, which is no {_written(kind)}")
        key = (*key[:number], value, *key[number + 1:])
    return key


@functools.cache
def _fields(cls: Any) -> list[tuple[str, Any, Callable[[Any], bool], Any]]:
    """Return each field's name, type, what tells its values, and default, in order."""
    # The module's names only: a class may have a method that is called as a type is.
    names = {**vars(sys.modules[cls.__module__])}
    hints = typing.get_type_hints(cls, globalns=names, localns=names)
    return [(name, hints[name], _test_of(hints[name]), field.default)
            for name, field in cls.__dataclass_fields__.items()]


@functools.cache
def _test_of(wanted: Any) -> Callable[[Any], bool]:
    """Return a function from a value to whether it is of a type."""
    if wanted is Any:
        return lambda value: True
    if wanted is float:
        return lambda value: type(value) in (float, int)
    members = typing.get_args(wanted)
    if isinstance(wanted, type) and not members:
        return lambda value: type(value) is wanted
    tests = tuple(_test_of(member) for member in members if member is not ...)
    if typing.get_origin(wanted) in (types.UnionType, typing.Union):
        if len(plain := _classes(wanted)) == len(members):
            return lambda value: type(value) in plain
        return lambda value: any(test(value) for test in tests)
    if typing.get_origin(wanted) is not tuple:
        return lambda value: False
    if members[-1:] != (...,):
        return lambda value: type(value) is tuple and len(value) == len(tests) and all(
            test(item) for test, item in zip(tests, value, strict=True))

    def is_list(value: Any) -> bool:
        if type(value) is not tuple:
            return False
        return plain.issuperset(map(type, value)) or all(map(tests[0], value))

    plain = _classes(members[0])
    return is_list


def _classes(wanted: Any) -> frozenset[Any]:
    """Return the classes that a type, or each member of a union, is by itself."""
    members = typing.get_args(wanted)
    if not members:
        return frozenset((wanted,)) - {float}  # for which whole numbers pass, too
    is_union = typing.get_origin(wanted) in (types.UnionType, typing.Union)
    return frozenset().union(*map(_classes, members)) if is_union else frozenset()


def _whole(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(map(_whole, value))
    try:
        return value if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return value


def _written(kind: Any) -> str:
    return kind.__name__ if type(kind) is type else str(kind).replace("hlotool.ir.", "")
