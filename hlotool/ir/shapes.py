"""Shapes and layouts: immutable and interned, so `is` and `==` mean the same."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from hlotool.ir.dtypes import DTYPES, DType
from hlotool.ir.interning import Interned
from hlotool.ir.lazy_dataclasses import lazy_dataclass

#: size of a dimension without a bound (`?` in text)
UNBOUNDED = -1
#: extent of a tile dimension that combines with the next more minor one (`*` in text)
COMBINE = -(2**63)


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class SplitConfig(metaclass=Interned):
    """A dimension that is split over several memories: `SC(dimension:indices)`."""

    dimension: int
    indices: tuple[int, ...]


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Layout(metaclass=Interned):
    """The order of an array in memory, as the text form has it. Source: xla_data.proto, LayoutProto."""

    minor_to_major: tuple[int, ...] = ()
    #: `D(D,C)`: dense, compressed, singleton, loose-compressed, each with `+` and `~`; as written
    dim_level_types: tuple[str, ...] = ()
    #: `T(8,128)(2,1)`; COMBINE stands for `*`
    tiles: tuple[tuple[int, ...], ...] = ()
    #: `L(1024)`, in elements
    tail_padding_alignment: int = 1
    #: `#(u32)` and `*(u64)`, left from sparse layouts
    index_type: str | None = None
    pointer_type: str | None = None
    #: `E(4)`, in bits; 0: the element type's own
    element_size: int = 0
    #: `S(1)`
    memory_space: int = 0
    split_configs: tuple[SplitConfig, ...] = ()
    #: `P(f32[8]{0})`
    physical_shape: Shape | None = None
    #: `M(16)`, in bytes
    dynamic_shape_metadata_prefix: int = 0

    def __str__(self) -> str:
        # The text form lives here because shapes print themselves in every message.
        suffix = "".join(self._suffixes())
        order = ",".join(map(str, self.minor_to_major))
        return f"{{{order}:{suffix}}}" if suffix else f"{{{order}}}"

    def _suffixes(self) -> Iterator[str]:
        if self.dim_level_types:
            yield f"D({','.join(self.dim_level_types)})"
        if self.tiles:
            yield "T" + "".join(
                f"({','.join('*' if d == COMBINE else str(d) for d in tile)})" for tile in self.tiles
            )
        if self.tail_padding_alignment != 1:
            yield f"L({self.tail_padding_alignment})"
        if self.index_type:
            yield f"#({self.index_type})"
        if self.pointer_type:
            yield f"*({self.pointer_type})"
        if self.element_size:
            yield f"E({self.element_size})"
        if self.memory_space:
            yield f"S({self.memory_space})"
        if self.split_configs:
            yield "SC" + "".join(f"({s.dimension}:{','.join(map(str, s.indices))})" for s in self.split_configs)
        if self.physical_shape is not None:
            yield f"P({self.physical_shape})"
        if self.dynamic_shape_metadata_prefix:
            yield f"M({self.dynamic_shape_metadata_prefix})"

    @staticmethod
    def descending(rank: int) -> Layout:
        """Return the default layout of that rank: the last dimension is the most minor one."""
        return Layout(tuple(range(rank - 1, -1, -1)))


# Outside the class: inside it, `tuple` is its method.
_Ints: TypeAlias = tuple[int, ...]
_Bools: TypeAlias = tuple[bool, ...]
_Shapes: TypeAlias = "tuple[Shape, ...]"
#: a place in a tree of shapes, and the shape there
Leaf: TypeAlias = "tuple[tuple[int, ...], Shape]"


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Shape(metaclass=Interned):
    """The shape of a value: an array, a tuple of shapes, a token, an opaque value or a buffer.

    `element_type` is an element type's name ("f32") or "tuple", "token", "opaque", "buffer". For arrays `dims`
    holds sizes or upper bounds (UNBOUNDED for `?`) and `dynamic` says which are no sizes (empty: none is).
    `elements` holds a tuple's members, or the one array of a buffer. `layout` is None where the text gives none.
    Source: xla_data.proto, ShapeProto.
    """

    element_type: str
    dims: tuple[int, ...] = ()
    layout: Layout | None = None
    dynamic: tuple[bool, ...] = ()
    elements: tuple[Shape, ...] = ()

    @staticmethod
    def array(element_type: str, dims: tuple[int, ...] = (), layout: Layout | None = None,
              dynamic: tuple[bool, ...] = ()) -> Shape:
        """Return an array shape; `dynamic` without a true flag is dropped, and UNBOUNDED is always dynamic."""
        if UNBOUNDED in dims:
            dynamic = tuple(n == UNBOUNDED or f for n, f in zip(dims, dynamic or (False,) * len(dims), strict=True))
        return Shape(element_type, tuple(dims), layout, tuple(dynamic) if any(dynamic) else ())

    @staticmethod
    def tuple(*elements: Shape) -> Shape:
        """Return a tuple of shapes."""
        return Shape("tuple", elements=elements)

    @staticmethod
    def one_or_tuple(shapes: Sequence[Shape]) -> Shape:
        """Return one shape as it is, several as a tuple."""
        return shapes[0] if len(shapes) == 1 else Shape.tuple(*shapes)

    @staticmethod
    def token() -> Shape:
        return Shape("token")

    @property
    def is_array(self) -> bool:
        return self.element_type in DTYPES

    @property
    def is_tuple(self) -> bool:
        return self.element_type == "tuple"

    @property
    def is_token(self) -> bool:
        return self.element_type == "token"

    @property
    def is_buffer(self) -> bool:
        return self.element_type == "buffer"

    @property
    def is_scalar(self) -> bool:
        return self.is_array and not self.dims

    @property
    def dtype(self) -> DType:
        """The element type's record; KeyError for shapes that are not arrays."""
        return DTYPES[self.element_type]

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def size(self) -> int:
        """Number of elements of an array (with every dynamic dimension at its bound)."""
        return math.prod(self.dims)

    @property
    def nbytes(self) -> int:
        """Bytes that the value takes in memory, every dynamic dimension at its bound, open ones as 1.

        Elements take a byte at least, unless the layout gives them fewer bits; tiles are whole. Tokens and opaque
        values take none.
        """
        return self._bytes()

    # Asked for every operand of every instruction, of few shapes.
    @functools.lru_cache(maxsize=4096)  # noqa: B019 - shapes are interned and few
    def _bytes(self) -> int:
        if self.element_type not in DTYPES:
            return sum(e.nbytes for e in self.elements)
        layout = self.layout
        bits = layout.element_size if layout is not None and layout.element_size else max(8, self.dtype.bits)
        dims = [1 if d < 0 else d for d in self.dims]
        if layout is None or not (layout.tiles or layout.tail_padding_alignment > 1):
            return (math.prod(dims) * bits + 7) // 8
        elements = math.prod(_tiled([dims[d] for d in reversed(self.minor_to_major)], layout.tiles))
        return (-(-elements // layout.tail_padding_alignment) * layout.tail_padding_alignment * bits + 7) // 8

    @property
    def is_static(self) -> bool:
        """True if no dimension, at any depth, is bounded-dynamic or unbounded."""
        return not self.dynamic and UNBOUNDED not in self.dims and all(e.is_static for e in self.elements)

    @property
    def full_layout(self) -> Layout:
        """An array's layout; where none is written, the default."""
        return self.layout or Layout.descending(self.rank)

    @property
    def minor_to_major(self) -> _Ints:
        """An array's dimensions as they lie in memory, the fastest one first; where no layout is written, the default.

        >>> Shape.array("f32", (2, 3)).minor_to_major
        (1, 0)
        """
        given = self.layout.minor_to_major if self.layout is not None else ()
        return given if len(given) == self.rank else tuple(range(self.rank - 1, -1, -1))

    @property
    def has_default_order(self) -> bool:
        """True if every array in the shape lies in memory with its last dimension fastest."""
        if self.elements:
            return all(e.has_default_order for e in self.elements)
        return self.minor_to_major == tuple(range(self.rank - 1, -1, -1))

    def is_dynamic_dim(self, dim: int) -> bool:
        return bool(self.dynamic) and self.dynamic[dim]

    @property
    def members(self) -> _Shapes:
        """Return the elements of a tuple; any other shape alone."""
        return self.elements if self.is_tuple else (self,)

    @property
    def bare(self) -> Shape:
        """Return the contents of a buffer; any other shape as it is."""
        return self.elements[0] if self.is_buffer else self

    @property
    def memory_space(self) -> int:
        """Return the number of the memory that the layout names; 0, the default one, without a layout."""
        return self.layout.memory_space if self.layout is not None else 0

    @property
    def dynamic_flags(self) -> _Bools:
        """Return a flag for each dimension, True if its size is known when the program runs."""
        return self.dynamic or (False,) * len(self.dims)

    def is_bounded_dim(self, dim: int) -> bool:
        """Return True if a dimension is dynamic with a bound: `<=n`."""
        return self.is_dynamic_dim(dim) and self.dims[dim] != UNBOUNDED

    def with_dims(self, dims: _Ints, dynamic: _Bools = ()) -> Shape:
        """Return the same element type with other dimensions and no layout."""
        return Shape.array(self.element_type, dims, None, dynamic)

    def with_element_type(self, element_type: str) -> Shape:
        return self if element_type == self.element_type else replace(self, element_type=element_type)

    def with_layout(self, layout: Layout | None) -> Shape:
        return replace(self, layout=layout)

    def without_layout(self) -> Shape:
        """Return the same shape with every layout removed, at any depth."""
        if self.layout is None and not self.elements:
            return self
        return Shape(self.element_type, self.dims, None, self.dynamic,
                     tuple(e.without_layout() for e in self.elements))

    def leaves(self) -> Iterator[Leaf]:
        """(index, shape) of every shape in the tree that is not a tuple, in order."""
        stack: list[Leaf] = [((), self)]
        while stack:
            index, shape = stack.pop()
            if shape.is_tuple:
                stack.extend(((*index, i), e) for i, e in reversed(list(enumerate(shape.elements))))
            else:
                yield index, shape

    @property
    def leaf_count(self) -> int:
        """How many shapes in the tree are no tuples. Tuples of one tuple twice hold 2^depth of them, so parts are
        counted once each.
        """
        if not self.is_tuple:
            return 1
        counts: dict[Shape, int] = {}
        stack = [self]
        while stack:
            shape = stack[-1]
            todo = [e for e in shape.elements if e.is_tuple and e not in counts]
            if todo:
                stack += todo
                continue
            stack.pop()
            counts[shape] = sum(counts[e] if e.is_tuple else 1 for e in shape.elements)
        return counts[self]

    def at(self, index: _Ints) -> Shape | None:
        """Return the shape at a tuple index, or None where there is none."""
        shape = self
        for i in index:
            if not shape.is_tuple or not 0 <= i < len(shape.elements):
                return None
            shape = shape.elements[i]
        return shape

    def compatible(self, other: Shape) -> bool:
        """Return True if both are the same up to layouts and `<=` flags."""
        if self is other:
            return True
        return self.element_type == other.element_type and self.dims == other.dims \
            and len(self.elements) == len(other.elements) \
            and all(map(Shape.compatible, self.elements, other.elements))

    def agrees(self, other: Shape) -> bool:
        """Return True if both are compatible, where `?` fits every size. XLA: ShapeUtil::Compatible."""
        if self.compatible(other):
            return True
        if self.element_type != other.element_type or len(self.elements) != len(other.elements):
            return False
        if not self.is_array:
            return bool(self.elements) and all(map(Shape.agrees, self.elements, other.elements))
        return len(self.dims) == len(other.dims) and all(
            a == b or UNBOUNDED in (a, b) for a, b in zip(self.dims, other.dims, strict=True))

    # Messages about large tuples are made whether or not they are shown, so their text is kept.
    @functools.lru_cache(maxsize=4096)  # noqa: B019 - shapes are interned and few
    def text(self, layout: bool = True) -> str:
        """Return the shape as HLO writes it, with or without layouts."""
        return str(self if layout else self.without_layout())

    def __str__(self) -> str:
        if self.element_type == "tuple":
            # XLA marks every fifth member with its index.
            return "(" + ", ".join(f"/*index={i}*/{e}" if i and i % 5 == 0 else str(e)
                                   for i, e in enumerate(self.elements)) + ")"
        if self.element_type == "buffer":
            return f"b({self.elements[0]})"
        if not self.is_array:
            return f"{self.element_type}[]"
        flags = self.dynamic_flags
        dims = ",".join("?" if d == UNBOUNDED else f"<={d}" if f else str(d)
                        for d, f in zip(self.dims, flags, strict=True))
        layout = self.layout
        # A layout of rank 0 is written only where it says something.
        shown = str(layout) if layout is not None and (self.dims or str(layout) != "{}") else ""
        return f"{self.element_type}[{dims}]{shown}"


def _tiled(dims: list[int], tiles: tuple[tuple[int, ...], ...]) -> list[int]:
    """Return the sizes of the dimensions in which an array lies, major to minor, after its tiles are made.

    Each tile cuts the most minor dimensions that the ones before it left; what does not fill a tile is padded. A tile
    of more dimensions than there are finds sizes of one. Source: XLA, docs/tiled_layout.md.
    """
    for tile in tiles:
        rank = len(tile)
        dims = [1] * (rank - len(dims)) + dims
        outer, inner = dims[:len(dims) - rank], dims[len(dims) - rank:]
        counts, sizes, combined = [], [], 1
        for size, part in zip(inner, tile, strict=True):
            if part == COMBINE:  # one dimension with the next more minor one
                combined *= size
                continue
            counts.append(-(-size * combined // max(part, 1)))
            sizes.append(max(part, 1))
            combined = 1
        dims = [*outer, *counts, *sizes]
    return dims
