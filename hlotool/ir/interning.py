"""Interning: equal immutable values are one object, so that equality is identity and hashing is free."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from hlotool.ir.field_types import well_typed

T = TypeVar("T", bound=type)


class Interned(type):
    """Metaclass of frozen dataclasses (of lazy_dataclasses.py) whose equal instances are the same object.

    The fields must be hashable. Construction runs once for each distinct set of fields, and raises TypeError for one
    that is not of its type.
    """

    def __init__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Pickled as the call that makes it, so that what comes back is the one instance again.
        cls.__reduce__ = _call  # type: ignore[assignment,method-assign]
        cls._instances: WeakValueDictionary[Any, Any] = WeakValueDictionary()
        cls._defaults: tuple[Any, ...] | None = None

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        defaults = cls._defaults
        if defaults is None:  # the fields are known once dataclass has seen the class
            fields: Any = cls.__dataclass_fields__  # type: ignore[attr-defined]
            defaults = cls._defaults = tuple([field.default for field in fields.values()])
        key = args + defaults[len(args):]
        if kwargs or len(key) != len(defaults) or MISSING in key[len(args):]:
            made = super().__call__(*args, **kwargs)  # which says what is wrong with the arguments, if anything is
            key = tuple([getattr(made, name) for name in cls.__dataclass_fields__])  # type: ignore[attr-defined]
        # 1, 1.0 and True are equal to Python but not to HLO, so the types belong to the key.
        whole_key = key, tuple(map(type, key))
        # As the dictionary's own `get` does, in half the time.
        reference = cls._instances.data.get(whole_key)  # type: ignore[attr-defined]
        known = None if reference is None else reference()
        if known is not None:
            return known
        # Numbers inside of tuples are equal whatever their types; they are looked at before there is one of them.
        right = well_typed(cls, key)
        return cls(*right) if right is not key else cls._instances.setdefault(whole_key, super().__call__(*key))


def _call(value: Any) -> tuple[Any, ...]:
    return type(value), tuple(getattr(value, name) for name in type(value).__dataclass_fields__)
