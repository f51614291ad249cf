"""Shapes and MLIR types, both ways."""

from __future__ import annotations

from typing import Any

from hlotool import mlir
from hlotool.ir import DTYPES, UNBOUNDED, Shape
from hlotool.mlir import value_text

#: MLIR's mark for a dimension whose size is not known, in its bindings: ShapedType::kDynamic
DYNAMIC = -(2**63)

#: spelling of an MLIR element type -> HLO element type; the first one where several share a spelling (i1: pred)
ELEMENT_TYPES: dict[str, str] = {d.mlir: d.name for d in reversed(DTYPES.values())}

TOKEN = mlir.DialectType("stablehlo", "token")


class NoType(Exception):
    """A shape that StableHLO has no type for, or the other way round; the message says why."""


def element_type(name: str) -> mlir.AnyType:
    """Return the MLIR type of an HLO element type."""
    spelling = DTYPES[name].mlir
    if spelling.startswith("complex<"):
        return mlir.ComplexType(mlir.FloatType(spelling[len("complex<"):-1]))
    sign, _, width = spelling.rpartition("i")
    return mlir.IntegerType(int(width), sign) if width.isdecimal() and sign in ("", "u", "s") else \
        mlir.FloatType(spelling)


#: MLIR element type -> HLO element type
_NAMES = {element_type(name): name for name in ELEMENT_TYPES.values()}


class Types:
    """The types of a program, remembered."""

    def __init__(self) -> None:
        self._leaves: dict[Shape, tuple[mlir.AnyType, ...]] = {}
        self._shapes: dict[mlir.AnyType, Shape] = {}

    def leaves(self, shape: Shape) -> tuple[mlir.AnyType, ...]:
        """Return the types of the leaves of a shape, in order. Raises NoType."""
        found = self._leaves.get(shape)
        if found is None:
            found = self._leaves[shape] = tuple(_type_of(leaf) for _, leaf in shape.leaves())
        return found

    def whole(self, shape: Shape) -> mlir.AnyType:
        """Return the type of a value that holds all of a shape: a tuple is MLIR's tuple type. Raises NoType."""
        if not shape.is_tuple:
            return self.leaves(shape)[0]
        return mlir.TupleType(tuple([self.whole(e) for e in shape.elements]))

    def shape(self, type_: mlir.AnyType) -> Shape:
        """Return the shape of an MLIR type, without a layout. Raises NoType."""
        found = self._shapes.get(type_)
        if found is None:
            found = self._shapes[type_] = self._read(type_)
        return found

    def _read(self, type_: mlir.AnyType) -> Shape:
        match type_:
            case mlir.TensorType(shape=tuple()):
                return _tensor_shape(type_)
            case mlir.MemRefType(shape=tuple(sizes)) if None not in sizes:
                known = tuple([size for size in sizes if size is not None])
                return Shape("buffer", elements=(Shape.array(_element_name(type_), known),))
            case mlir.TupleType(members=members):
                return Shape.tuple(*map(self.shape, members))
            case mlir.DialectType(dialect="stablehlo", mnemonic="token"):
                return Shape.token()
            case mlir.DialectType(dialect="stablehlo", mnemonic="future", parameters=parameters):
                # A value in flight begins with the operands, which the type leaves out.
                found = [self.shape(t) for t in _listed_types(parameters)]
                return Shape.tuple(Shape.tuple(), Shape.one_or_tuple(found))
        raise NoType(f"the type {value_text(type_)} has no HLO shape")


def _type_of(shape: Shape) -> mlir.AnyType:
    if shape.is_token:
        return TOKEN
    if shape.is_buffer and shape.elements[0].is_static:
        (array,) = shape.elements
        return mlir.MemRefType(array.dims, element_type(array.element_type))
    if not shape.is_array:
        raise NoType(f"a value of shape {shape} has no StableHLO type")
    if ELEMENT_TYPES[shape.dtype.mlir] != shape.element_type:
        # A one-bit integer is no truth value: i1 is taken.
        raise NoType(f"{shape.element_type} has no StableHLO type")
    sizes = tuple([None if d == UNBOUNDED or shape.is_dynamic_dim(i) else d for i, d in enumerate(shape.dims)])
    return mlir.TensorType(sizes, element_type(shape.element_type), _encoding(shape))


def _encoding(shape: Shape) -> mlir.DialectAttribute | None:
    """Return #stablehlo.bounds where a dimension has a bound, else nothing."""
    bounded = [shape.is_bounded_dim(i) for i in range(shape.rank)]
    if not any(bounded):
        return None
    return mlir.DialectAttribute("stablehlo", "bounds", tuple(
        [("", d if is_bounded else "?") for d, is_bounded in zip(shape.dims, bounded, strict=True)]))


def _element_name(type_: Any) -> str:
    name = _NAMES.get(type_.element)
    if name is None:
        raise NoType(f"HLO has no element type for the {value_text(type_.element)} of {value_text(type_)}")
    return name


def _tensor_shape(type_: mlir.TensorType) -> Shape:
    dims = type_.shape or ()
    bounds = _bounds(type_)
    if bounds is None:
        return Shape.array(_element_name(type_), tuple([UNBOUNDED if d is None else d for d in dims]))
    if len(bounds) != len(dims):
        raise NoType(f"the type {value_text(type_)} has {len(dims)} dimensions and {len(bounds)} bounds")
    sizes = tuple([d if d is not None else UNBOUNDED if b is None else b for d, b in zip(dims, bounds, strict=True)])
    return Shape.array(_element_name(type_), sizes, None,
                       tuple([d is None and b is not None for d, b in zip(dims, bounds, strict=True)]))


def _listed_types(parameters: tuple[tuple[str, Any], ...]) -> list[mlir.AnyType]:
    """Return the types that parameters are, or that stand in their text."""
    types: list[mlir.AnyType] = []
    for _, value in parameters:
        if isinstance(value, mlir.Bracketed):
            types += mlir.read_type(f"tuple<{value.text}>").members  # type: ignore[union-attr]
        else:
            types += value if isinstance(value, tuple) else (value,)
    return types


def _bounds(type_: mlir.TensorType) -> list[int | None] | None:
    """Return the bound of each dimension that the type's encoding gives; None where there is none."""
    match type_.encoding:
        case mlir.DialectAttribute(dialect="stablehlo", mnemonic="bounds", parameters=parameters):
            return [b if isinstance(b, int) else None for _, b in parameters]
        case mlir.DialectAttribute(dialect="stablehlo"):
            raise NoType(f"the encoding of {value_text(type_)} is no #stablehlo.bounds<...>")
    return None
