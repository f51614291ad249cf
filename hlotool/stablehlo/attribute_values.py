"""The contents of MLIR attributes as plain values: the one place that knows the bindings' classes of attributes.

    #stablehlo.channel_handle<handle = 1, type = 2>     {"handle": 1, "channel_type": 2}
    [#stablehlo<precision HIGH>, ...]                   ("HIGH", ...)
    array<i64: 1, 2>                                    (1, 2)
    {k = 3 : i64, largest = true}                       {"k": 3, "largest": True}
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Iterator
from typing import Any

from hlotool.ir.arrays import np
from hlotool.stablehlo.context import make_context
from hlotool.stablehlo.strings import attribute_of, string_of

#: elements up to which an array that repeats one number is written out
_MOST_REPEATED = 1 << 16


class AttributeValues:
    """Reads the attributes of one context, each once: those of a program repeat themselves."""

    def __init__(self) -> None:
        from jax.extend.mlir import ir

        self._ir = ir
        self._arrays = tuple(kind for name, kind in vars(ir).items()
                             if name.startswith("Dense") and name.endswith("ArrayAttr"))
        self._structs = _struct_classes()
        self._known: dict[Any, Any] = {}
        self._integers: dict[Any, tuple[int, ...]] = {}

    def read(self, attribute: Any) -> Any:
        """Numbers, strings, words of enums; tuples of arrays, nested as those are, and dictionaries of structs.

        A type is its spelling; None stays None, and what has no such value is the attribute's text. Nobody changes
        what is read: the next one gets the same.
        """
        if not isinstance(attribute, self._ir.Attribute):
            return self._value(attribute)  # Python's 1 and True would be one key
        if attribute not in self._known:
            self._known[attribute] = self._value(attribute)
        return self._known[attribute]

    def integers(self, attribute: Any) -> tuple[int, ...]:
        """The integers of an array, tensor or integer attribute, in row-major order."""
        found = self._integers.get(attribute)
        if found is None:
            found = self._integers[attribute] = tuple(_integers(attribute))
        return found

    def _value(self, attribute: Any) -> Any:
        ir = self._ir
        match attribute:
            case None | bool() | int() | float() | str():
                return attribute
            case list() | tuple() | ir.ArrayAttr():
                return tuple(self.read(item) for item in attribute)
            case ir.StringAttr():
                return string_of(attribute)
            case ir.BoolAttr() | ir.IntegerAttr() | ir.FloatAttr() | ir.FlatSymbolRefAttr():
                return attribute.value
            case ir.DictAttr():
                return {entry.name: self.read(entry.attr) for entry in attribute}
            case ir.DenseIntElementsAttr():
                return self._table(attribute)
            case ir.Type():
                return str(attribute)
        return tuple(attribute) if isinstance(attribute, self._arrays) else self._struct(attribute)

    def _struct(self, attribute: Any) -> Any:
        """The fields of a struct attribute by name; the word of an enum."""
        for kind, names in self._structs:
            if kind.isinstance(attribute):
                fields = kind(attribute)
                if names == ("value",):
                    return fields.value
                return {name: self.read(getattr(fields, name)) for name in names}
        return self._of_unknown_dialect(attribute) if isinstance(attribute, self._ir.OpaqueAttr) else str(attribute)

    def _of_unknown_dialect(self, attribute: Any) -> Any:
        """An attribute of a context that does not know its dialect, as one that does reads it."""
        try:
            found = attribute_of(self._ir, str(attribute), make_context())
        except self._ir.MLIRError:
            return str(attribute)
        return str(found) if isinstance(found, self._ir.OpaqueAttr) else self.read(found)

    def _table(self, attribute: Any) -> Any:
        """The integers of a dense attribute, a tuple for each dimension."""
        dims = tuple(attribute.type.shape)
        if not attribute.is_splat:
            return _nested(np.array(list(attribute)).reshape(dims).tolist())
        if math.prod(dims) > _MOST_REPEATED:
            return str(attribute)
        return _nested(np.full(dims, attribute[0]).tolist())


def _integers(attribute: Any) -> Iterator[int]:
    """The integers of an attribute, nested arrays flattened."""
    value = getattr(attribute, "value", None)
    if isinstance(value, (bool, int)):
        yield int(value)
        return
    for item in attribute:
        if isinstance(item, int):
            yield int(item)
        else:
            yield from _integers(item)


def _nested(rows: Any) -> Any:
    return tuple(map(_nested, rows)) if isinstance(rows, list) else rows


@functools.cache
def _struct_classes() -> tuple[tuple[Any, tuple[str, ...]], ...]:
    """The struct and enum attributes of the dialects, each with the names of its fields."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import chlo, sdy, stablehlo

    found = {kind: tuple(name for name, member in vars(kind).items() if isinstance(member, property))
             for dialect in (stablehlo, chlo, sdy) for _, kind in inspect.getmembers(dialect, inspect.isclass)
             if issubclass(kind, ir.Attribute)}
    return tuple((kind, names) for kind, names in found.items() if names and kind.__module__ != ir.__name__)
