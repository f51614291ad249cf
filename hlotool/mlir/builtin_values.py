"""Types, attributes and locations of MLIR as values: frozen and interned, so that equality is identity.

The builtin ones have a class each. Those of every other dialect are `DialectType` and `DialectAttribute`: dialect,
mnemonic, and parameters as pairs of a name ("" where the text has none) and a value, which is a number, a word, a type,
an attribute, a tuple of these, or a `Bracketed`. `#stablehlo.gather<offset_dims = [1]>` has the parameter
`("offset_dims", (1,))`, `#stablehlo<precision HIGH>` the parameter `("", "HIGH")`. A `Bracketed` is the text between
angle brackets where it was not taken apart; `TextType` and `TextAttribute` are whole texts of that kind
(`affine_map<...>`, `memref<...>`). Strings are Python's, with bytes that are no UTF-8 as surrogates.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from hlotool.ir import Interned, lazy_dataclass


@lazy_dataclass(frozen=True, eq=False)
class Bracketed(metaclass=Interned):
    """Text between the angle brackets of a dialect's type or attribute that nobody has taken apart."""

    text: str


@lazy_dataclass(frozen=True, eq=False)
class IntegerType(metaclass=Interned):
    """`i32`, `si8`, `ui4`; signedness is "", "s" or "u"."""

    width: int
    signedness: str = ""


@lazy_dataclass(frozen=True, eq=False)
class IndexType(metaclass=Interned):
    """`index`."""


@lazy_dataclass(frozen=True, eq=False)
class NoneType(metaclass=Interned):
    """`none`."""


@lazy_dataclass(frozen=True, eq=False)
class FloatType(metaclass=Interned):
    """A float by its spelling in MLIR: `f32`, `bf16`, `f8E4M3FN`."""

    name: str


@lazy_dataclass(frozen=True, eq=False)
class ComplexType(metaclass=Interned):
    """`complex<f32>`."""

    element: AnyType


@lazy_dataclass(frozen=True, eq=False)
class TensorType(metaclass=Interned):
    """`tensor<2x?xf32, encoding>`: a dimension that is open is None, and so is the shape of `tensor<*xf32>`."""

    shape: tuple[int | None, ...] | None
    element: AnyType
    encoding: AnyAttribute | None = None


@lazy_dataclass(frozen=True, eq=False)
class VectorType(metaclass=Interned):
    """`vector<2x[4]xf32>`; `scalable` has a truth for each dimension, or is empty where none is."""

    shape: tuple[int, ...]
    element: AnyType
    scalable: tuple[bool, ...] = ()


@lazy_dataclass(frozen=True, eq=False)
class MemRefType(metaclass=Interned):
    """`memref<2x?xf32, layout, memory space>`; the shape of `memref<*xf32>` is None."""

    shape: tuple[int | None, ...] | None
    element: AnyType
    layout: AnyAttribute | None = None
    memory_space: AnyAttribute | None = None


@lazy_dataclass(frozen=True, eq=False)
class TupleType(metaclass=Interned):
    """`tuple<f32, i32>`."""

    members: tuple[AnyType, ...]


@lazy_dataclass(frozen=True, eq=False)
class FunctionType(metaclass=Interned):
    """`(f32) -> i32`."""

    inputs: tuple[AnyType, ...]
    results: tuple[AnyType, ...]


@lazy_dataclass(frozen=True, eq=False)
class DialectType(metaclass=Interned):
    """`!stablehlo.token`, `!vhlo.tensor_v1<...>`; see the file's docstring for parameters."""

    dialect: str
    mnemonic: str
    parameters: tuple[tuple[str, Any], ...] = ()


@lazy_dataclass(frozen=True, eq=False)
class TextType(metaclass=Interned):
    """A builtin type as its text."""

    text: str


AnyType: TypeAlias = (IntegerType | IndexType | NoneType | FloatType | ComplexType | TensorType | VectorType
                      | MemRefType | TupleType | FunctionType | DialectType | TextType)


@lazy_dataclass(frozen=True, eq=False)
class UnitAttribute(metaclass=Interned):
    """`unit`."""


@lazy_dataclass(frozen=True, eq=False)
class IntegerAttribute(metaclass=Interned):
    """`5 : i32`; `true` is 1 of type i1.

    The value is in the type's range: signed where the type has no sign, but for i1.
    """

    value: int
    type: AnyType


@lazy_dataclass(frozen=True, eq=False)
class FloatAttribute(metaclass=Interned):
    """`1.5 : f32`, as the bits of the type."""

    bits: int
    type: FloatType


@lazy_dataclass(frozen=True, eq=False)
class StringAttribute(metaclass=Interned):
    """`"text"`, or `"text" : type`."""

    text: str
    type: AnyType | None = None


@lazy_dataclass(frozen=True, eq=False)
class SymbolAttribute(metaclass=Interned):
    """`@root::@nested`: the names without their signs."""

    names: tuple[str, ...]


@lazy_dataclass(frozen=True, eq=False)
class TypeAttribute(metaclass=Interned):
    """A type as an attribute."""

    type: AnyType


@lazy_dataclass(frozen=True, eq=False)
class ArrayAttribute(metaclass=Interned):
    """`[1 : i64, "two"]`."""

    members: tuple[AnyAttribute, ...]


@lazy_dataclass(frozen=True, eq=False)
class DictionaryAttribute(metaclass=Interned):
    """`{name = value}`, sorted by name."""

    entries: tuple[tuple[str, AnyAttribute], ...]


@lazy_dataclass(frozen=True, eq=False)
class DenseArrayAttribute(metaclass=Interned):
    """`array<i64: 1, 2>`: integers, or the bits of floats."""

    element: AnyType
    values: tuple[int, ...]


@lazy_dataclass(frozen=True, eq=False)
class DenseAttribute(metaclass=Interned):
    """`dense<[1.0, 2.0]> : tensor<2xf32>`: the elements' bytes, or those of one element where all are equal.

    An element takes its width rounded up to whole bytes, in the order of little-endian machines; a complex one is two
    of them. So i1 and i4 take a byte each, and `index` takes eight.
    """

    type: AnyType
    data: bytes


@lazy_dataclass(frozen=True, eq=False)
class DenseStringsAttribute(metaclass=Interned):
    """`dense<["a", "b"]> : tensor<2x!type>`; one string where all are equal."""

    type: AnyType
    texts: tuple[str, ...]


@lazy_dataclass(frozen=True, eq=False)
class DenseResourceAttribute(metaclass=Interned):
    """`dense_resource<key> : tensor<2xf32>`: elements kept beside the program, with their alignment where known."""

    type: AnyType
    key: str
    data: bytes | None = None
    alignment: int = 1


@lazy_dataclass(frozen=True, eq=False)
class SparseAttribute(metaclass=Interned):
    """`sparse<indices, values> : tensor<4xf32>`."""

    type: AnyType
    indices: DenseAttribute
    values: DenseAttribute | DenseStringsAttribute


@lazy_dataclass(frozen=True, eq=False)
class DialectAttribute(metaclass=Interned):
    """`#stablehlo.dot<...>`, `#stablehlo<precision HIGH>`; see the file's docstring for parameters."""

    dialect: str
    mnemonic: str
    parameters: tuple[tuple[str, Any], ...] = ()


@lazy_dataclass(frozen=True, eq=False)
class TextAttribute(metaclass=Interned):
    """A builtin attribute as its text."""

    text: str


@lazy_dataclass(frozen=True, eq=False)
class UnknownLocation(metaclass=Interned):
    """`loc(unknown)`."""


UNKNOWN = UnknownLocation()


#: the file that MLIR's parser names for a text without one
NO_FILE = "-"


@lazy_dataclass(frozen=True, eq=False)
class FileLocation(metaclass=Interned):
    """`loc("file":1:2)`, or `loc("file":1:2 to 3:4)` where the end is given."""

    file: str
    line: int
    column: int
    end_line: int | None = None
    end_column: int | None = None


class NameLocation:
    """`loc("name")`, `loc("name"(place))`. Nobody changes one.

    Equal ones are not one object: most are of one operation alone, and to look for an equal one takes five times as
    long as to make it.
    """

    __match_args__ = ("name", "place")
    __slots__ = ("_hash", "name", "place")

    def __init__(self, name: str, place: AnyAttribute = UNKNOWN) -> None:
        self.name = name
        self.place = place
        self._hash = hash((name, place))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        one: object = self
        while isinstance(one, NameLocation) and isinstance(other, NameLocation):  # nested deeper than calls may be
            if one._hash != other._hash or one.name != other.name:
                return False
            one, other = one.place, other.place
            if one is other:
                return True
        return one is other

    def __repr__(self) -> str:
        return f"NameLocation({self.name!r}, {self.place!r})"


@lazy_dataclass(frozen=True, eq=False)
class CallLocation(metaclass=Interned):
    """`loc(callsite(callee at caller))`."""

    callee: AnyAttribute
    caller: AnyAttribute


@lazy_dataclass(frozen=True, eq=False)
class FusedLocation(metaclass=Interned):
    """`loc(fused<metadata>[a, b])`."""

    places: tuple[AnyAttribute, ...]
    metadata: AnyAttribute | None = None


Location: TypeAlias = UnknownLocation | FileLocation | NameLocation | CallLocation | FusedLocation
AnyAttribute: TypeAlias = (UnitAttribute | IntegerAttribute | FloatAttribute | StringAttribute | SymbolAttribute
                           | TypeAttribute | ArrayAttribute | DictionaryAttribute | DenseArrayAttribute
                           | DenseAttribute | DenseStringsAttribute | DenseResourceAttribute | SparseAttribute
                           | DialectAttribute | TextAttribute | UnknownLocation | FileLocation | NameLocation
                           | CallLocation | FusedLocation)
#: the classes of types, attributes and locations, for isinstance
TYPES = AnyType.__args__
LOCATIONS = Location.__args__
ATTRIBUTES = AnyAttribute.__args__

UNIT = UnitAttribute()


def inner_places(location: AnyAttribute) -> tuple[AnyAttribute, ...]:
    """Return the locations that a location holds."""
    match location:
        case NameLocation():
            return (location.place,)
        case CallLocation():
            return location.callee, location.caller
        case FusedLocation():
            return location.places
    return ()
