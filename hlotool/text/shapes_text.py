"""Shapes from text, by shape.lark."""

from __future__ import annotations

import functools
from typing import Any

from hlotool.ir import COMBINE, DTYPES, UNBOUNDED, EntryLayout, Layout, Shape, SplitConfig, is_type_word
from hlotool.text.phrase_errors import BAD_LAYOUT, BAD_SHAPE, PLACEHOLDER, UNKNOWN_TYPE, PhraseError, closest, too_long
from hlotool.text.phrase_reading import PhraseReader, blank_comments, place_of

_INT64_MAX = 2**63 - 1

#: how other systems spell element types
_OTHER_SPELLINGS = {
    "float": "f32", "double": "f64", "half": "f16", "bfloat16": "bf16", "bool": "pred", "boolean": "pred",
    "int": "s32", "uint": "u32", "long": "s64", "complex64": "c64", "complex128": "c128", "i1": "pred",
    **{f"float{n}": f"f{n}" for n in (16, 32, 64)}, **{f"int{n}": f"s{n}" for n in (2, 4, 8, 16, 32, 64)},
    **{f"uint{n}": f"u{n}" for n in (2, 4, 8, 16, 32, 64)}, **{f"i{n}": f"s{n}" for n in (2, 4, 8, 16, 32, 64)},
    **{f"ui{n}": f"u{n}" for n in (2, 4, 8, 16, 32, 64)},
}

_shapes: dict[str, Shape] = {}


def read_shape(text: str) -> Shape:
    """Return the shape that a text says.

    >>> read_shape("f32[2,3]{1,0}").layout.minor_to_major
    (1, 0)
    """
    shape = _shapes.get(text)
    if shape is None:
        limit_nesting(text)
        try:
            shape = _shapes[text] = _read(text)
        except ValueError as error:
            raise too_long(error, text) from None
    return shape


#: tuples nested deeper than this are refused; compilers recurse over them and so does printing
_DEEPEST_TUPLE = 200


def limit_nesting(text: str) -> None:
    """Refuse tuples of shapes or values that are nested too deep: everything about them recurses."""
    if text.count("(") + text.count("{") <= _DEEPEST_TUPLE:
        return
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "({") - (sign in ")}")
        if depth > _DEEPEST_TUPLE:
            raise PhraseError(BAD_SHAPE, f"tuples are nested more than {_DEEPEST_TUPLE} deep", at, at + 1)


def _read(text: str) -> Shape:
    if "<<" in text:
        raise PhraseError(PLACEHOLDER, f"{text} is a placeholder, not a shape", 0, len(text),
                          "fill in an element type, for example f32[2]")
    shape: Shape = SHAPES.read("start", blank_comments(text), code=BAD_SHAPE, what="a shape")
    return shape


def element_type_of(token: Any) -> str:
    """Return the name of an element type; PhraseError for words that are none."""
    word = str(token)
    if is_type_word(word):
        return word
    if word.isupper() and word.lower() in DTYPES:  # the documents' spelling: S64[5,2]
        return word.lower()
    start, end = place_of(token)
    if word == "TYPE":
        raise PhraseError(PLACEHOLDER, "TYPE is a placeholder, not an element type", start, end,
                          "replace TYPE by an element type, for example f32")
    other = _OTHER_SPELLINGS.get(word.lower())
    advice = f"; did you mean {other}?" if other else closest(word, DTYPES)
    raise PhraseError(UNKNOWN_TYPE, f"unknown element type {word}{advice}", start, end)


class _ShapeBuilder:
    """One method for each rule of shape.lark."""

    def tuple(self, *members: Shape | None) -> Shape:
        return Shape("tuple", elements=tuple(m for m in members if m is not None))

    def buffer(self, member: Shape) -> Shape:
        return Shape("buffer", elements=(member,))

    def array(self, name: Any, dims: Any, sparse: Any, layout: Layout | None) -> Shape:
        return _array(element_type_of(name), dims, layout, name)

    def dims(self, *dims: Any) -> Any:
        return tuple(d for d in dims if d is not None)

    def size(self, token: Any) -> Any:
        if int(token) < 0:
            raise PhraseError(BAD_SHAPE, f"a dimension cannot have the size {token}", *place_of(token))
        return _checked(token), False

    def bound(self, token: Any) -> Any:
        return self.size(token)[0], True

    def unbounded(self) -> Any:
        return UNBOUNDED, True

    def sparse(self, token: Any) -> int:
        return int(token)

    def layout(self, order: Any, suffixes: dict[str, Any] | None) -> Layout:
        return Layout(order, **(suffixes or {}))

    def order(self, *tokens: Any) -> Any:
        return tuple(int(t) for t in tokens if t is not None)

    def suffixes(self, *parts: Any) -> dict[str, Any]:
        return dict(p for p in parts if p is not None)

    def levels(self, *tokens: Any) -> Any:
        return "dim_level_types", tuple(map(str, tokens))

    def tiles(self, *tiles: Any) -> Any:
        return "tiles", tuple(tiles)

    def tile(self, *dims: Any) -> Any:
        return tuple(d[0] for d in dims if d is not None)

    def combine(self) -> Any:
        return COMBINE, False

    def padding(self, token: Any) -> Any:
        return "tail_padding_alignment", int(token)

    def index_type(self, token: Any) -> Any:
        return "index_type", _unsigned(token)

    def pointer_type(self, token: Any) -> Any:
        return "pointer_type", _unsigned(token)

    def element_size(self, token: Any) -> Any:
        return "element_size", int(token)

    def memory_space(self, token: Any) -> Any:
        return "memory_space", int(token)

    def splits(self, *splits: SplitConfig) -> Any:
        return "split_configs", tuple(splits)

    def split(self, dim: Any, *indices: Any) -> SplitConfig:
        return SplitConfig(int(dim), tuple(map(int, indices)))

    def physical(self, shape: Shape) -> Any:
        return "physical_shape", shape

    def prefix(self, token: Any) -> Any:
        return "dynamic_shape_metadata_prefix", int(token)

    def shapes(self, *shapes: Any) -> Any:
        return tuple(s for s in shapes if s is not None)

    def entry_layout(self, *shapes: Any) -> EntryLayout:
        return EntryLayout(tuple(s for s in shapes[:-1] if s is not None), shapes[-1])


def _checked(token: Any) -> int:
    if int(token) > _INT64_MAX:
        raise PhraseError(BAD_SHAPE, f"{token} is too large for a dimension", *place_of(token))
    return int(token)


def _unsigned(token: Any) -> str:
    if token not in DTYPES or DTYPES[token].family != "unsigned":
        raise PhraseError(BAD_LAYOUT, f"{token} is not an unsigned type", *place_of(token))
    return str(token)


def _array(name: str, dims: tuple[tuple[int, bool], ...], layout: Layout | None, token: Any) -> Shape:
    sizes = tuple(size for size, _ in dims)
    if name not in DTYPES:
        if sizes:
            raise PhraseError(BAD_SHAPE, f"{name} has no dimensions", *place_of(token))
        return Shape(name)
    if layout is not None and len(layout.minor_to_major) != len(sizes):
        raise PhraseError(BAD_LAYOUT, f"the shape has {len(sizes)} dimensions, its layout orders "
                          f"{len(layout.minor_to_major)}", *place_of(token))
    if not sizes and layout is not None and str(layout) == "{}":
        layout = None
    return Shape.array(name, sizes, layout, tuple(dynamic for _, dynamic in dims))


@functools.lru_cache(65536)
def has_orders(shape: Shape) -> bool:
    """Return True if each layout in a shape lists every dimension once."""
    layout = shape.layout
    return all(map(has_orders, shape.elements)) and (
        layout is None or sorted(layout.minor_to_major) == list(range(shape.rank)))


SHAPES = PhraseReader("shape", _ShapeBuilder, remembers=("shape", "layout"))
