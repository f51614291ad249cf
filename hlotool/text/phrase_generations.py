"""Dates phrases of HLO text that are not today's: the generation to which each belongs."""

from __future__ import annotations

import functools
import re

from hlotool.diagnostics import define
from hlotool.ir import Kind, Shape, deferred
from hlotool.text.phrase_reading import blank_comments

EMPTY_LAYOUT = define("P151", "legacy-empty-layout", "An empty layout after a scalar: 2017 and 2018.")
SPARSE_SHAPE = define("P152", "legacy-sparse-shape", "A sparse array shape: 2018 to about 2020.")
PHYSICAL_SHAPE = define("P153", "legacy-sparse-layout",
                        "Level types or a physical shape in a layout: sparse layouts of 2022 to 2024.")
REPEATED_SHAPE = define("P154", "legacy-literal-shape", "A literal that repeats shapes inside: 2017 to early 2019.")
SPARSE_LITERAL = define("P155", "legacy-sparse-literal", "A literal with an index before each value: 2018 to 2020.")
SPLAT = define("P156", "scalar-for-array",
               "One number where an array is due: XLA reads it as the first element and makes the others zero.")
TILE_SHAPE = define("P157", "legacy-tile-shape", "A shape in front of a sharding's tiles: 2017 and 2018.")
UNREDUCED_KIND = define("P158", "newer-unreduced-kind",
                        "Unreduced axes with a reduction: from 2026 on, not read by earlier parsers.")
OLD_METADATA = define("P159", "legacy-metadata-field", "A field of metadata that compilers have dropped.")
BARE_WINDOW = define("P161", "legacy-bare-window", "A window without braces: early 2017.")
PROTO_PADDING = define("P162", "legacy-proto-padding", "Padding as protobuf text: early 2017.")
BARE_ALIAS = define("P160", "bare-alias", "An alias entry without a parameter index: no parser reads it.")
DOCUMENT_SHAPE = define("P164", "document-shape",
                        "A shape in the notation of the operation documents: S64[5,2] or f32[2x3].")
NEW_METADATA = define("P163", "newer-metadata-field", "A field of metadata that earlier parsers do not know.")

Found = tuple[str, str] | None

_DOCUMENT = deferred(lambda: r"^(?:[A-Z]\w*\[|\w+\[[^\]]*\dx)")
_SPARSE_ENTRY = deferred(lambda: r"\{\s*(?:\[[\d,\s]+\]|\d+)\s*:")
_REPEATED = deferred(lambda: r"^\s*+\(*+\s*+[a-z]\w*+\[")
_INNER_SHAPE = deferred(lambda: r"[a-z]\w*\[")
_NUMBER_ALONE = deferred(lambda: r"\s*[^{\s]")


@functools.lru_cache(4096)
def shape_generation(text: str) -> Found:
    """Return the generation of a shape's text, or None for today's."""
    if "sparse{" in text:
        return SPARSE_SHAPE, "sparse shapes were dropped about 2020; read as dense"
    if "[]{}" in text.replace(" ", ""):
        return EMPTY_LAYOUT, "an empty layout after a scalar is a form of 2017 and 2018"
    if _DOCUMENT.search(text):
        return DOCUMENT_SHAPE, "capital element types and x between sizes are the notation of the documents"
    if "D(" in text or "P(" in text:
        return PHYSICAL_SHAPE, "sparse layouts are a form of 2022 to 2024"
    return None


def literal_generation(shape: Shape | None, text: str) -> Found:
    """Return the generation of a literal's text, or None for today's; without a shape splats go unseen."""
    head = text[:400]
    if "[" not in text and ":" not in head and (shape is None or not shape.dims):
        return None
    head = blank_comments(head).lstrip()
    if _REPEATED.match(head) or (head.startswith("(") and _INNER_SHAPE.search(text)):
        return REPEATED_SHAPE, "a literal that repeats its shape is a form of 2017 to early 2019"
    if _SPARSE_ENTRY.match(head):
        return SPARSE_LITERAL, "sparse literals are a form of 2018 to about 2020"
    if shape is not None and shape.is_array and shape.dims and _NUMBER_ALONE.match(head):
        return SPLAT, "one number stands for an array: XLA takes it as the first element and makes the others zero"
    return None


def generation(kind: Kind, text: str) -> Found:
    """(code, message) for the text of an attribute value that is not of today's generation."""
    if kind in (Kind.SHAPE, Kind.SHAPES, Kind.ENTRY_LAYOUT):
        return shape_generation(text)
    if kind is Kind.LITERAL:
        return literal_generation(None, text)
    if kind in _BY_KIND:
        return _of(kind, text)
    return None


@functools.lru_cache(4096)
def _of(kind: Kind, text: str) -> Found:
    for expression, code, message in _BY_KIND[kind]:
        if expression.search(text):
            return code, message
    return None


_BY_KIND: dict[Kind, tuple[tuple[re.Pattern[str], str, str], ...]] = {
    Kind.SHARDING: (
        (re.compile(r"\{\s*(?:[a-z]+\d\w*|pred)\["), TILE_SHAPE,
         "a tile shape in a sharding is a form of 2017 and 2018"),
        (re.compile(r"unreduced=\s*[a-z]"), UNREDUCED_KIND, "a reduction of unreduced axes is read from 2026 on only"),
    ),
    Kind.METADATA: (
        (re.compile(r"\bpreserve_layout="), OLD_METADATA, "preserve_layout was dropped in 2025; it is ignored"),
        (re.compile(r"\bmetadata_payload="), NEW_METADATA, "metadata_payload is read from 2026 on only"),
        (re.compile(r"\bsize_of_\w+_in_bytes="), OLD_METADATA, "memory sizes were dropped from metadata; ignored"),
    ),
    Kind.ALIASING: ((re.compile(r"\}\s*:\s*\d"), BARE_ALIAS, "an alias entry is written {output}: (parameter, {})"),),
    Kind.WINDOW: ((re.compile(r"^\s*[a-z]"), BARE_WINDOW, "a window without braces is a form of early 2017"),),
    Kind.PADDING: ((re.compile(r"dimensions"), PROTO_PADDING, "padding as protobuf text is a form of early 2017"),),
}
