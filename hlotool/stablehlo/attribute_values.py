"""The contents of MLIR attributes as plain values.

    #stablehlo.channel_handle<handle = 1, type = 2>     {"handle": 1, "type": 2}
    [#stablehlo<precision HIGH>, ...]                   ("HIGH", ...)
    array<i64: 1, 2>                                    (1, 2)
    {k = 3 : i64, largest = true}                       {"k": 3, "largest": True}
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from typing import Any

from hlotool import mlir
from hlotool.mlir import dense_numbers, fields_of_attribute, value_text, words_of

#: elements up to which an array that repeats one number is written out
_MOST_REPEATED = 1 << 16
_NO_LISTS = dict.fromkeys(("lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
                           "rhs_contracting_dimensions", "lhs_ragged_dimensions", "rhs_group_dimensions"), ())
#: values of fields that a text leaves out, of attributes that no row of a version takes apart
_LEFT_OUT: dict[tuple[str, str], dict[str, Any]] = {
    ("stablehlo", "result_accuracy"): {"atol": 0.0, "rtol": 0.0, "ulps": 0, "mode": "DEFAULT"},
    ("stablehlo", "output_operand_alias"): {
        "output_tuple_indices": (), "operand_index": 0, "operand_tuple_indices": ()},
    ("stablehlo", "axis_ref"): {"sub_axis_info": None},
    ("stablehlo", "mesh"): {"device_ids": ()},
    ("chlo", "ragged_dot"): _NO_LISTS,
}


class AttributeValues:
    """Reads attributes, each once: those of a program repeat themselves."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}
        self._integers: dict[Any, tuple[int, ...]] = {}

    def read(self, attribute: Any) -> Any:
        """Return numbers, strings, words of enums; tuples of arrays, nested as those are, and dictionaries of structs.

        A type is its spelling; None stays None, and what has no such value is the attribute's text. Nobody changes
        what is read: the next one gets the same.
        """
        if not isinstance(attribute, mlir.ATTRIBUTES):
            return self._value(attribute)  # Python's 1 and True would be one key
        if attribute not in self._known:
            self._known[attribute] = self._value(attribute)
        return self._known[attribute]

    def integers(self, attribute: Any) -> tuple[int, ...]:
        """Return the integers of an array, tensor or integer attribute, in row-major order."""
        found = self._integers.get(attribute)
        if found is None:
            found = self._integers[attribute] = tuple(_integers(attribute))
        return found

    def _value(self, attribute: Any) -> Any:
        match attribute:
            case None | bool() | int() | float() | str():
                return attribute
            case tuple():
                return tuple(map(self.read, attribute))
            case mlir.ArrayAttribute(members=members):
                return tuple(map(self.read, members))
            case mlir.IntegerAttribute(value=value, type=mlir.IntegerType(width=1)):
                return bool(value)
            case mlir.IntegerAttribute(value=value):
                return value
            case mlir.FloatAttribute(bits=bits, type=type_):
                return mlir.float_value(bits, type_.name)
            case mlir.StringAttribute(text=text) | mlir.SymbolAttribute(names=(text,)):
                return text
            case mlir.DictionaryAttribute(entries=entries):
                return {name: self.read(value) for name, value in entries}
            case mlir.DenseArrayAttribute(element=element):
                return _numbers_of(element, attribute.values)
            case mlir.DenseAttribute() if _has_integers(attribute):
                return _table(attribute)
            case mlir.DialectAttribute():
                return self._of_dialect(attribute)
        return value_text(attribute)

    def _of_dialect(self, attribute: mlir.DialectAttribute) -> Any:
        """Return the fields of a struct attribute by name; the word of an enum."""
        key = attribute.dialect, attribute.mnemonic
        read = _SHARDY.get(key)
        if read is not None:
            return read(value_text(attribute))
        match attribute.parameters:
            case (("", mlir.Bracketed()),) if key[0] in _ENUMS and (whole := _taken_apart(attribute)) != attribute:
                return self.read(whole)
            case (("", str(word) | mlir.Bracketed(text=word)),) if key[0] in _ENUMS and word in words_of(key[1]):
                return word
            case parameters if all(name for name, _ in parameters) and (parameters or key in _LEFT_OUT
                                                                        or _fields_left_out(*key)):
                left_out = _LEFT_OUT[key] if key in _LEFT_OUT else _fields_left_out(*key)
                return left_out | {name: self._field(value) for name, value in parameters}
        return value_text(attribute)

    def _field(self, value: Any) -> Any:
        """Return the value of a field: a number that was not taken apart is a text."""
        if not isinstance(value, mlir.Bracketed):
            return self.read(value)
        part = _PART.fullmatch(value.text)
        return _float_of(value.text) if part is None else {"pre_size": int(part[1]), "size": int(part[2])}


#: a part of an axis, as it is written in others
_PART = re.compile(r"\((\d+)\)(\d+)")
#: dialects whose attributes of one word are enums
_ENUMS = ("stablehlo", "chlo")


def _taken_apart(attribute: mlir.DialectAttribute) -> mlir.AnyAttribute:
    """Return an attribute that was kept as a text as the reader of texts has it, where it reads it."""
    try:
        return mlir.read_attribute(value_text(attribute))
    except ValueError:
        return attribute


def _fields_left_out(dialect: str, mnemonic: str) -> dict[str, Any]:
    fields = fields_of_attribute(mnemonic) if dialect == "stablehlo" else {}
    return {name: () if is_list else 0 for name, is_list in fields.items()}


def _float_of(text: str) -> Any:
    try:
        if text.startswith("0x"):
            return struct.unpack("<d", int(text, 16).to_bytes(8, "little"))[0]
        return float(text)
    except (ValueError, OverflowError):
        return text


def _numbers_of(element: Any, numbers: tuple[int, ...]) -> tuple[Any, ...]:
    if isinstance(element, mlir.FloatType):
        return tuple([mlir.float_value(bits, element.name) for bits in numbers])
    return tuple(map(bool, numbers)) if element == mlir.IntegerType(1) else numbers


def _has_integers(attribute: mlir.DenseAttribute) -> bool:
    return isinstance(getattr(attribute.type, "element", None), (mlir.IntegerType, mlir.IndexType))


def _table(attribute: mlir.DenseAttribute) -> Any:
    """Return the integers of a dense attribute, a tuple for each dimension."""
    dims = getattr(attribute.type, "shape", ())
    count = math.prod(dims)
    element = attribute.type.element  # type: ignore[union-attr]
    numbers = _numbers_of(element, tuple(dense_numbers(attribute)))
    if len(numbers) != count:
        if count > _MOST_REPEATED:
            return value_text(attribute)
        numbers *= count
    return _nested(numbers, dims)


def _nested(numbers: tuple[Any, ...], dims: tuple[int, ...]) -> Any:
    if not dims:
        return numbers[0]
    size = math.prod(dims[1:])
    if len(dims) == 1:
        return numbers
    return tuple([_nested(numbers[n * size:(n + 1) * size], dims[1:]) for n in range(dims[0])])


def _integers(attribute: Any) -> Iterator[int]:
    """Yield the integers of an attribute, nested arrays flattened. Raises ValueError where there are others."""
    match attribute:
        case mlir.IntegerAttribute(value=value):
            yield value
        case mlir.DenseArrayAttribute(element=mlir.IntegerType()):
            yield from attribute.values
        case mlir.ArrayAttribute(members=members):
            for member in members:
                yield from _integers(member)
        case mlir.DenseAttribute() if _has_integers(attribute):
            numbers = tuple(dense_numbers(attribute))
            count = math.prod(getattr(attribute.type, "shape", ()))
            if count > _MOST_REPEATED >= len(numbers):
                raise ValueError(f"{count} numbers are more than an attribute lists")
            yield from numbers if len(numbers) == count else numbers * count
        case _:
            raise ValueError(f"{value_text(attribute)} holds no integers")


# Shardy's attributes, which are kept as texts.

_STRING = r'"((?:[^"\\]|\\.)*)"'
_AXIS = re.compile(rf"{_STRING}(?::\((\d+)\)(\d+))?")
_MESH_AXIS = re.compile(rf"{_STRING}\s*=\s*(\d+)")
_DEVICES = re.compile(r"device_ids\s*=\s*\[([\d,\s]*)\]")
_DIMENSION = re.compile(r"\{([^{}]*)\}(?:p(\d+))?")
_SHARDING = re.compile(rf'#sdy\.sharding<@(?:{_STRING}|([\w.$-]+))\s*,\s*\[(.*?)\](.*)>', re.S)
_AXES = re.compile(r"(\w+)\s*=\s*\{([^{}]*)\}")


def _axes(text: str) -> tuple[dict[str, Any], ...]:
    return tuple([{"name": m[1], "sub_axis_info": {"pre_size": int(m[2]), "size": int(m[3])} if m[2] else None}
                  for m in _AXIS.finditer(text)])


def _mesh(text: str) -> dict[str, Any]:
    """Return the axes and the devices of a mesh: <["x"=2, "y"=4], device_ids=[...]>."""
    devices = _DEVICES.search(text)
    return {"axes": tuple([{"name": m[1], "size": int(m[2])} for m in _MESH_AXIS.finditer(text)]),
            "device_ids": tuple(map(int, devices[1].split(","))) if devices and devices[1].strip() else ()}


def _sharding(text: str) -> Any:
    """Return the parts of a sharding of a mesh with a name: <@mesh, [{"x"}, {?}], replicated={"y"}>; else its text."""
    found = _SHARDING.fullmatch(text)
    if found is None:
        return text
    beside = {word: _axes(axes) for word, axes in _AXES.findall(found[4])}
    return {"mesh_or_ref": found[1] if found[2] is None else found[2], "dimension_shardings": tuple(
        [{"axes": _axes(m[1]), "is_closed": "?" not in m[1], "priority": int(m[2]) if m[2] else None}
         for m in _DIMENSION.finditer(found[3])]),
        "replicated_axes": beside.pop("replicated", ()), "unreduced_axes": beside}


#: attributes of Shardy to what reads their texts
_SHARDY = {("sdy", "mesh"): _mesh, ("sdy", "sharding"): _sharding}
