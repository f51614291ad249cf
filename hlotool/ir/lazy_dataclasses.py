"""Dataclasses whose methods are compiled when one is first called; those of most classes that are imported never are.

`dataclasses.dataclass` compiles up to six methods of a class as it is made. That was a quarter of what a short command
takes, and two thirds of the classes are for what is wrong or unusual in a program.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any


def _dataclass(cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, repr: bool = True,
               slots: bool = False, weakref_slot: bool = False) -> Any:
    """Make a class as `dataclasses.dataclass` does; fields, comparison, copies, pickles and signature are the same."""
    def wrap(cls: type) -> type:
        own = vars(cls)
        has_hash = own.get("__hash__") is not None or ("__hash__" in own and "__eq__" not in own)
        bare = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, weakref_slot=weakref_slot)
        made: type = bare(cls)
        for name, is_wanted in (("__init__", True), ("__repr__", repr), ("__eq__", eq)):
            if is_wanted and name not in own:
                setattr(made, name, _deferred(made, name, frozen))
        if eq and not has_hash:
            made.__hash__ = _deferred(made, "__hash__", frozen) if frozen else None  # type: ignore[assignment]
        if frozen:
            _freeze(made, has_state=slots and "__getstate__" not in own)
        made.__signature__ = _Signature()  # type: ignore[attr-defined]
        return made

    return wrap if cls is None else wrap(cls)


def _deferred(cls: type, name: str, frozen: bool) -> Callable[..., Any]:
    """Return a method that puts the compiled one in its place, and calls it."""
    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        found = getattr(twin(), name)
        setattr(cls, name, found)
        return found(self, *args, **kwargs)

    twin = method.twin = functools.partial(_twin, cls, name, frozen)  # type: ignore[attr-defined]
    return method


def _twin(cls: type, name: str, frozen: bool) -> type:
    """Return a dataclass of the same fields with one method: none of them minds which class it is in."""
    named = [(f.name, f.type, dataclasses.field(default=f.default, default_factory=f.default_factory, init=f.init,
                                                repr=f.repr, hash=f.hash, compare=f.compare, kw_only=f.kw_only))
             for f in dataclasses.fields(cls)]
    # With a docstring, as otherwise dataclass writes one from the signature.
    inside = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": name}
    if hasattr(cls, "__post_init__"):
        inside["__post_init__"] = cls.__post_init__
    return dataclasses.make_dataclass(
        cls.__name__, named, namespace=inside, init=name == "__init__", repr=name == "__repr__", eq=name == "__eq__",
        unsafe_hash=name == "__hash__", frozen=frozen and name == "__init__")


def _freeze(cls: type, has_state: bool) -> None:
    """Let nobody set or delete the fields; with `has_state`, pickles set those of a class with slots all the same."""
    def refuse(verb: str, self: Any, name: str) -> None:
        if type(self) is cls or name in cls.__dataclass_fields__:  # type: ignore[attr-defined]
            raise dataclasses.FrozenInstanceError(f"cannot {verb} field {name!r}")

    def __setattr__(self: Any, name: str, value: Any) -> None:
        refuse("assign to", self, name)
        object.__setattr__(self, name, value)

    def __delattr__(self: Any, name: str) -> None:
        refuse("delete", self, name)
        object.__delattr__(self, name)

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__  # type: ignore[method-assign,assignment]
    if has_state:
        cls.__getstate__ = _state  # type: ignore[method-assign,assignment]
        cls.__setstate__ = _set_state  # type: ignore[attr-defined]


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


class _Signature:
    """The signature of a class's constructor, for `help` and `inspect.signature`, made when it is asked for."""

    def __get__(self, instance: object, owner: type) -> Any:
        import inspect

        written: Any = owner.__init__  # type: ignore[misc]
        own = inspect.signature(written.twin().__init__ if hasattr(written, "twin") else written)
        return own.replace(parameters=list(own.parameters.values())[1:])


if TYPE_CHECKING:
    from dataclasses import dataclass as lazy_dataclass
else:
    lazy_dataclass = _dataclass

__all__ = ["lazy_dataclass"]
