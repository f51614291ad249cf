"""Shapes and MLIR types, both ways."""

from __future__ import annotations

from typing import Any

from hlotool.ir import DTYPES, UNBOUNDED, Shape
from hlotool.stablehlo.context import make_context
from hlotool.stablehlo.strings import attribute_of, type_of

#: MLIR's mark for a dimension whose size is not known: ShapedType::kDynamic
DYNAMIC = -(2**63)

#: spelling of an MLIR element type -> HLO element type; the first one where several share a spelling (i1: pred)
ELEMENT_TYPES: dict[str, str] = {d.mlir: d.name for d in reversed(DTYPES.values())}


_FUTURE = "!stablehlo.future<"


class NoType(Exception):
    """A shape that StableHLO has no type for, or the other way round; the message says why."""


class Types:
    """The types of one context, remembered; to be used where that context and a location are current."""

    def __init__(self) -> None:
        from jax.extend.mlir import ir

        self._ir = ir
        self._leaves: dict[Shape, tuple[Any, ...]] = {}
        self._elements: dict[str, Any] = {}
        self._shapes: dict[Any, Shape] = {}

    def leaves(self, shape: Shape) -> tuple[Any, ...]:
        """The types of the leaves of a shape, in order. Raises NoType."""
        found = self._leaves.get(shape)
        if found is None:
            found = self._leaves[shape] = tuple(self._of(leaf) for _, leaf in shape.leaves())
        return found

    def whole(self, shape: Shape) -> Any:
        """The type of a value that holds all of a shape: a tuple is MLIR's tuple type. Raises NoType."""
        if not shape.is_tuple:
            return self.leaves(shape)[0]
        return self._ir.TupleType.get_tuple([self.whole(e) for e in shape.elements])

    def element(self, name: str) -> Any:
        """The MLIR type of an HLO element type."""
        found = self._elements.get(name)
        if found is None:
            found = self._elements[name] = self._ir.Type.parse(DTYPES[name].mlir)
        return found

    def _of(self, shape: Shape) -> Any:
        if shape.is_token:
            return self._ir.Type.parse("!stablehlo.token")
        if shape.is_buffer and shape.elements[0].is_static:
            (array,) = shape.elements
            return self._ir.Type.parse(
                f"memref<{''.join(f'{d}x' for d in array.dims)}{self.element(array.element_type)}>")
        if not shape.is_array:
            raise NoType(f"a value of shape {shape} has no StableHLO type")
        if ELEMENT_TYPES[shape.dtype.mlir] != shape.element_type:
            # A one-bit integer is no truth value: i1 is taken.
            raise NoType(f"{shape.element_type} has no StableHLO type")
        dims = [DYNAMIC if d == UNBOUNDED or shape.is_dynamic_dim(i) else d for i, d in enumerate(shape.dims)]
        return self._ir.RankedTensorType.get(dims, self.element(shape.element_type), self._encoding(shape))

    def _encoding(self, shape: Shape) -> Any:
        """#stablehlo.bounds where a dimension has a bound, else nothing."""
        bounded = [shape.is_bounded_dim(i) for i in range(shape.rank)]
        if not any(bounded):
            return None
        bounds = ", ".join(str(d) if is_bounded else "?" for d, is_bounded in zip(shape.dims, bounded, strict=True))
        return self._ir.Attribute.parse(f"#stablehlo.bounds<{bounds}>")

    def shape(self, type_: Any) -> Shape:
        """The shape of an MLIR type, without a layout. Raises NoType."""
        found = self._shapes.get(type_)
        if found is None:
            found = self._shapes[type_] = self._read(type_)
        return found

    def parsed(self, text: str) -> Shape:
        """The shape of the text of an MLIR type. Raises NoType."""
        return self.shape(type_of(self._ir, text))

    def _read(self, type_: Any) -> Shape:
        ir = self._ir
        if isinstance(type_, ir.RankedTensorType):
            return self._read_tensor(type_)
        if isinstance(type_, ir.MemRefType):
            return Shape("buffer", elements=(self._read_static(type_),))
        if isinstance(type_, ir.TupleType):
            return Shape.tuple(*(self.shape(type_.get_type(i)) for i in range(type_.num_types)))
        spelling = str(type_)
        if spelling == "!stablehlo.token":
            return Shape.token()
        if spelling.startswith(_FUTURE):
            # A value in flight begins with the operands, which the type leaves out.
            found = [self.shape(ir.Type.parse(t)) for t in _parts(spelling[len(_FUTURE):-1])]
            return Shape.tuple(Shape.tuple(), found[0] if len(found) == 1 else Shape.tuple(*found))
        raise NoType(f"the type {type_} has no HLO shape")

    def _read_static(self, type_: Any) -> Shape:
        return Shape.array(self._element_type(type_), tuple(type_.shape))

    def _element_type(self, type_: Any) -> str:
        spelling = str(type_.element_type)
        if spelling not in ELEMENT_TYPES:
            raise NoType(f"HLO has no element type for the {spelling} of {type_}")
        return ELEMENT_TYPES[spelling]

    def _read_tensor(self, type_: Any) -> Shape:
        bounds = _bounds(type_)
        dims = tuple(type_.shape)
        if len(bounds) != len(dims):
            raise NoType(f"the type {type_} has {len(dims)} dimensions and {len(bounds)} bounds")
        sizes = tuple(d if d >= 0 else UNBOUNDED if b is None else b for d, b in zip(dims, bounds, strict=True))
        return Shape.array(self._element_type(type_), sizes, None,
                           tuple(d < 0 and b is not None for d, b in zip(dims, bounds, strict=True)))


def _parts(text: str) -> list[str]:
    """The types of a list that is split by commas, those inside of brackets left alone."""
    found, depth = [""], 0
    for character in text:
        depth += (character in "<[(") - (character in ">])")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [part.strip() for part in found if part.strip()]


def _bounds(type_: Any) -> list[int | None]:
    """The bound of each dimension that the type's encoding gives."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo

    encoding = type_.encoding
    if encoding is not None and isinstance(encoding, ir.OpaqueAttr):
        # The context does not know the dialect.
        encoding = attribute_of(ir, str(encoding), make_context())
    if encoding is not None and stablehlo.TypeExtensions.isinstance(encoding):
        return [b if b >= 0 else None for b in stablehlo.TypeExtensions(encoding).bounds]
    return [None] * len(type_.shape)
