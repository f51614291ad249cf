"""Attribute values from text: simple kinds by one expression each, structured ones by attribute.lark."""

from __future__ import annotations

import functools
import math
import re
import weakref
from collections.abc import Callable
from typing import Any

from hlotool.diagnostics import without_controls
from hlotool.grammars import plain, terminal
from hlotool.ir import (
    API_VERSIONS,
    FrontendAttributes,
    Kind,
    Literal,
    Metadata,
    Raw,
    ReadMetadata,
    ResultAccuracy,
    Shape,
    deferred,
)
from hlotool.text.attribute_builder import ATTRIBUTES
from hlotool.text.literals_text import read_literal
from hlotool.text.phrase_errors import (
    BAD_ATTRIBUTE,
    BAD_LITERAL,
    BAD_METADATA,
    BAD_SHAPE,
    BAD_SHARDING,
    BAD_WORD,
    PLACEHOLDER,
    PhraseError,
    closest,
    too_long,
)
from hlotool.text.phrase_reading import PhraseReader, blank_comments, check_escapes
from hlotool.text.shapes_text import SHAPES, limit_nesting, read_shape
from hlotool.text.shardings_text import SHARDINGS
from hlotool.text.tokens import NAME

#: words that an attribute may hold, by the attribute's name, where XLA's parser checks them
ATTRIBUTE_WORDS: dict[str, tuple[str, ...]] = {
    "direction": ("EQ", "NE", "GE", "GT", "LE", "LT"),
    "type": ("FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"),
    "order": ("TOTAL", "PARTIAL"),
    "fft_type": ("FFT", "IFFT", "RFFT", "IRFFT"),
    "distribution": ("rng_uniform", "rng_normal", "rng_bernoulli"),
    "transpose_a": ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
    "padding_type": ("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"),
    "convolution_kind": ("fprop", "wgrad", "dgrad", "unset"),
    "kind": ("kLoop", "kInput", "kOutput", "kCustom", "kTransposeDot", "kConvBackwardFilter", "kConvBackwardInput"),
    "schedule": ("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"),
    "api_version": API_VERSIONS,
    "mode": ("cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"),
    "operand_precision": ("default", "high", "highest", "packed_nibble"),
}
_ACCURACY_MODES = ("default", "highest")

_STRING = terminal("attribute", "STRING")
_STRING_FIELDS = tuple(re.findall(r"[a-z_]{3,}", terminal("attribute", "STRING_FIELD")))
_NUMBER_FIELDS = tuple(re.findall(r"[a-z_]{3,}", terminal("attribute", "NUMBER_FIELD")))
_OTHER_FIELDS = ("profile_type", "preserve_layout")

#: fields of metadata that compilers print, in their order
_PRINTED_FIELDS = ("op_type", "op_name", "source_file", "source_line", "source_end_line", "source_column",
                   "source_end_column", "deduplicated_name", "stack_frame_id", "scheduling_name")
_QUICK_STRING, _QUICK_NUMBER = r'"[^"\\\x00-\x1f\x7f-\x9f]*+"', r"-?\d{1,9}+(?!\w)"
#: metadata as compilers print it: every field once, no escapes; all other forms go to `validate_metadata`
METADATA = deferred(lambda: r"\{" + "".join(
    rf"(?:\s*+(?:,\s*+)?+{name}={_QUICK_STRING if name in _STRING_FIELDS else _QUICK_NUMBER})?+"
    for name in _PRINTED_FIELDS) + r"\s*+\}", re.ASCII)
#: metadata in braces, its fields in any order, commas allowed
_METADATA = deferred(lambda: plain("attribute", "metadata"))
#: fields of 32 bits: XLA's others are of 64
_LONG_FIELDS = ("size_of_generated_code_in_bytes", "size_of_memory_working_set_in_bytes", "logical_creation_pass_id")


def read_value(kind: Kind, text: str, name: str = "", *, again: bool = True) -> Any:
    """The value of an attribute of a kind; `name` is the attribute's, for its words and for messages.

    What is expected `again` is remembered by its text.

    >>> read_value(Kind.INTS, "{1,2}")
    (1, 2)
    """
    if kind is Kind.INT and len(text) < _DIGITS and text.isdecimal() and text.isascii():
        return int(text)
    return _read_again(kind, text, name) if again and len(text) < _LONG else _read(kind, text, name)


#: kinds whose values hold words or text, whatever its maker wrote
KEPT_KINDS = frozenset({Kind.RAW, Kind.BACKEND_CONFIG, Kind.FRONTEND_ATTRIBUTES, Kind.STATISTICS, Kind.SHARDING,
                        Kind.REPLICA_GROUPS, Kind.DOMAIN, Kind.RESULT_ACCURACY, Kind.DIM_LABELS, Kind.WINDOW,
                        Kind.PADDING, Kind.SPARSITY})
#: those that came from a text, which need not be looked at when they are written
was_read: weakref.WeakSet[Any] = weakref.WeakSet()

#: a number with fewer digits than this fits 64 bits
_DIGITS = 19
#: characters from which on a text is not expected a second time
_LONG = 200


def _read(kind: Kind, text: str, name: str) -> Any:
    plain_text = blank_comments(text)
    if "\\" in plain_text and kind not in (Kind.LITERAL, Kind.METADATA):
        _check_escapes(kind, plain_text)
    if kind is not Kind.LITERAL and not plain_text.isprintable():
        _refuse_controls(plain_text, name or kind.value)
        plain_text = _spelled(plain_text, is_json=kind is Kind.BACKEND_CONFIG and plain_text.lstrip()[:1] == "{",
                              has_modules=name == "origin_recovery_table")
    how = _HOW[kind]
    try:
        value = how(plain_text, name) if callable(how) else how[0].read(how[1], plain_text, code=how[2],
                                                                        what=name or kind.value)
    except ValueError as error:
        raise too_long(error, text) from None
    check = _CHECKS.get(kind)
    if check is not None:
        check(value, text, name)
    if kind in KEPT_KINDS:
        was_read.add(value)
    return value


_read_again = functools.lru_cache(16384)(_read)

#: a control character that is neither white space nor inside of a string
_CONTROL = deferred(lambda: rf"{_STRING}|([\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f])", re.S)


def _check_escapes(kind: Kind, text: str) -> None:
    """Raise PhraseError for an escape in a string that is none; JSON in braces has escapes of its own."""
    if kind is Kind.FRONTEND_ATTRIBUTES or (kind is Kind.BACKEND_CONFIG and text.lstrip()[:1] == "{"):
        return  # the builder knows which values of frontend attributes are strings
    for found in re.finditer(_STRING, text):
        check_escapes(found[0], found.start())


def _refuse_controls(text: str, what: str) -> None:
    """Raise PhraseError for a control character outside of strings, where no spelling of it means the same."""
    for found in _CONTROL.finditer(text):
        if found[1] is not None:
            raise PhraseError(BAD_ATTRIBUTE, f"{what} holds a control character, {found[1]!a}, which only a "
                              "string may", *found.span(), "remove it")


def _spelled(text: str, *, is_json: bool, has_modules: bool = False) -> str:
    """Control characters in strings as they are printed: values that are kept as they stand stay what they are."""
    if "\n" in text and not has_modules:  # which are printed as they stand, line by line
        line_feed = "\\u000a" if is_json else "\\n"
        text = re.sub(_STRING, lambda m: m[0].replace("\n", line_feed), text)
    return without_controls(text, is_json=is_json)


# Words and numbers that depend on the attribute's name

def _check_int(value: int, text: str, name: str) -> None:
    if not -(2**63) <= value < 2**63:
        raise PhraseError(BAD_ATTRIBUTE, f"{name or 'the number'} does not fit 64 bits: {text.strip()}", 0, len(text))


def _check_float(value: float, text: str, name: str) -> None:
    if math.isinf(value) and "inf" not in text:
        raise PhraseError(BAD_ATTRIBUTE, f"{name or 'the number'} is out of range: {text}", 0, len(text))


def _check_word(word: str, text: str, name: str) -> None:
    known = ATTRIBUTE_WORDS.get(name)
    # `kind` also belongs to operations other than fusion, whose words are lower case.
    if known and word not in known and (name != "kind" or word.startswith("k")):
        _unknown_word(word, known, name, text.find(word))


def _check_words(words: tuple[str, ...], text: str, name: str) -> None:
    known = ATTRIBUTE_WORDS.get(name)
    for word in words:
        if known and word.lower() not in known:
            _unknown_word(word, known, name, text.find(word))


def _check_accuracy(value: ResultAccuracy, text: str, name: str) -> None:
    if value.mode is not None and value.mode not in _ACCURACY_MODES:
        _unknown_word(value.mode, _ACCURACY_MODES, "the mode of result_accuracy", max(0, text.find(value.mode)))


_CHECKS: dict[Kind, Callable[[Any, str, str], None]] = {
    Kind.INT: _check_int, Kind.FLOAT: _check_float, Kind.WORD: _check_word, Kind.WORDS: _check_words,
    Kind.RESULT_ACCURACY: _check_accuracy,
}


def _unknown_word(word: str, known: tuple[str, ...], name: str, start: int) -> None:
    advice = next((k for k in known if k.lower() == word.lower()), None)
    more = f"; did you mean {advice}?" if advice else closest(word, known) or f": it is one of {', '.join(known)}"
    if word == word.upper() and word.lower() == name:
        raise PhraseError(PLACEHOLDER, f"{word} is a placeholder, not a value", start, start + len(word),
                          f"{name} is one of {', '.join(known)}")
    raise PhraseError(BAD_WORD, f"{name} cannot be {word}{more}", start, start + len(word))


# Kinds with a reader of their own

def _shape(text: str, name: str) -> Shape:
    return read_shape(text.strip())


_LITERAL_SHAPE = deferred(lambda: rf"\s*+{terminal('literal', 'SHAPE')}\s*+", re.ASCII)


def _literal(text: str, name: str) -> Literal:
    """A shape and its value, or a parenthesised list of such pairs. XLA: ParseLiteral(Literal*)."""
    limit_nesting(text)
    match = _LITERAL_SHAPE.match(text)
    if match is not None:
        try:
            return read_literal(read_shape(match[0].strip()), text[match.end():])
        except PhraseError as error:
            error.start, error.end = error.start + match.end(), error.end + match.end()
            raise
    if text.lstrip()[:1] != "(" or text.rstrip()[-1:] != ")":
        raise PhraseError(BAD_LITERAL, "expected a shape and a value, like f32[] 0.5", 0, len(text))
    parts = _top_level(text.strip()[1:-1])
    members = tuple(_literal(p, name) for p in parts)
    joined = ", ".join(m.text or "" for m in members)
    return Literal(Shape("tuple", elements=tuple(m.shape for m in members)), elements=members, text=f"({joined})")


_DELIMITER = deferred(lambda: r"[\[{(]|[\]})]|,")


def _top_level(text: str) -> list[str]:
    """The pieces of a text between commas that stand in no brackets."""
    pieces, depth, start = [], 0, 0
    for match in _DELIMITER.finditer(text):
        sign = match[0]
        if sign == "," and depth == 0:
            pieces.append(text[start:match.start()])
            start = match.end()
        elif sign != ",":
            depth += 1 if sign in "[{(" else -1
    pieces.append(text[start:])
    return pieces if text.strip() else []


def _raw(text: str, name: str) -> Raw:
    if name == "origin_recovery_table":
        ATTRIBUTES.read(name, text, code=BAD_ATTRIBUTE, what=name)  # for its errors
    return Raw(text.strip())


def _replica_groups(text: str, name: str) -> Any:
    if re.fullmatch(r"\s*[A-Z_]+\s*", text):
        raise PhraseError(PLACEHOLDER, f"{text.strip()} is a placeholder, not replica groups", 0, len(text),
                          "replica groups look like {{0,1},{2,3}} or [2,2]<=[4]")
    return SHARDINGS.read("groups", text, code=BAD_SHARDING, what=name or "replica groups")


def _metadata(text: str, name: str) -> Metadata:
    validate_metadata(text.strip())
    return ReadMetadata(text.strip())


def _frontend_attributes(text: str, name: str) -> FrontendAttributes:
    """Strings or balanced braces by name. XLA: ParseFrontendAttributes."""
    word = _PLACEHOLDER.fullmatch(text)
    if word is not None:
        raise PhraseError(PLACEHOLDER, f"{word[1]} is a placeholder, not frontend attributes", *word.span(1),
                          "write key=\"value\" pairs, or leave the attribute out")
    value: FrontendAttributes = ATTRIBUTES.read("frontend_attributes", text, code=BAD_ATTRIBUTE,
                                                what=name or "frontend attributes")
    return value


_PLACEHOLDER = deferred(lambda: r"\s*\{\s*([A-Z][A-Z_]+)\s*\}\s*")


def read_names(text: str, rule: str = "names") -> tuple[str, ...]:
    """Return the names of `{a, %b}` or of one name, without `%`; `some_names` are those of a list, at least one."""
    names: tuple[str, ...] = ATTRIBUTES.read(rule, blank_comments(text), code=BAD_ATTRIBUTE, what="a list of names")
    return names


def validate_metadata(text: str) -> None:
    """Raise PhraseError unless the text is a record of metadata with known fields, each once."""
    if METADATA.fullmatch(text) is None:
        _check_metadata(text)


def _check_metadata(text: str) -> None:
    known = (*_STRING_FIELDS, *_NUMBER_FIELDS, *_OTHER_FIELDS)
    if text[:1] != "{" or text[-1:] != "}":
        raise PhraseError(BAD_METADATA, "metadata stands in braces: {op_name=\"...\"}", 0, len(text))
    field = re.compile(rf"[\s,]*({NAME})=({_STRING}|\{{[^{{}}]*\}}|[^\s,{{}}]*)", re.S)
    at, seen = 1, set[str]()
    while (match := field.match(text, at)) is not None:
        key, value = match[1], match[2]
        if key not in known:
            raise PhraseError(BAD_METADATA, f"metadata has no field {key}{closest(key, known)}", *match.span(1))
        if key in seen:
            raise PhraseError(BAD_METADATA, f"metadata has the field {key} twice", *match.span(1))
        seen.add(key)
        if key in _STRING_FIELDS and value[:1] not in ("'", '"'):
            raise PhraseError(BAD_METADATA, f"{key} must be a string, not {value}", *match.span(2))
        if key in _NUMBER_FIELDS and not re.fullmatch(terminal("attribute", "WHOLE"), value):
            raise PhraseError(BAD_METADATA, f"{key} must be a whole number, not {value}", *match.span(2))
        if key in _OTHER_FIELDS and not re.fullmatch(r"true|false|\{[\d,\s]*\}", value):
            raise PhraseError(BAD_METADATA, f"{value} is not a value of {key}", *match.span(2))
        if key in _STRING_FIELDS:
            check_escapes(value, match.start(2))
        elif key in _NUMBER_FIELDS and not -(limit := 2**63 if key in _LONG_FIELDS else 2**31) <= int(value) < limit:
            raise PhraseError(BAD_METADATA, f"{key} does not fit {limit.bit_length()} bits: {value}", *match.span(2))
        at = match.end()
    if _METADATA.fullmatch(text) is None:
        rest = text[at:-1]
        raise PhraseError(BAD_METADATA, f"expected name=value in metadata, found {rest.strip()[:20] or 'nothing'}", at,
                          len(text))


def _ints(text: str, name: str) -> Any:
    rule = "slice_sizes" if name == "slice_sizes" else "ints"
    return ATTRIBUTES.read(rule, text, code=BAD_ATTRIBUTE, what=name or rule)


#: kind to a function, or to the reader, the rule, and the code of its mistakes
_HOW: dict[Kind, Callable[[str, str], Any] | tuple[PhraseReader, str, str]] = {
    **{kind: (ATTRIBUTES, rule, BAD_ATTRIBUTE) for kind, rule in {
        Kind.INT: "int", Kind.BOOL: "bool", Kind.FLOAT: "float", Kind.STRING: "string", Kind.WORD: "word",
        Kind.BOOLS: "bools", Kind.WORDS: "words", Kind.SLICE: "slice", Kind.WINDOW: "window",
        Kind.DIM_LABELS: "dim_labels", Kind.PADDING: "padding", Kind.PAIRS: "pairs", Kind.STATISTICS: "statistics",
        Kind.ALIASING: "aliasing", Kind.DONORS: "donors", Kind.COMPUTATION: "names", Kind.COMPUTATIONS: "names",
        Kind.INSTRUCTIONS: "some_names", Kind.SPARSITY: "sparsity_config", Kind.RESULT_ACCURACY: "result_accuracy",
        Kind.BACKEND_CONFIG: "backend_config"}.items()},
    Kind.SHAPES: (SHAPES, "shapes", BAD_SHAPE), Kind.ENTRY_LAYOUT: (SHAPES, "entry_layout", BAD_SHAPE),
    Kind.SHARDING: (SHARDINGS, "start", BAD_SHARDING), Kind.DOMAIN: (SHARDINGS, "domain", BAD_SHARDING),
    Kind.SHAPE: _shape, Kind.LITERAL: _literal, Kind.RAW: _raw, Kind.REPLICA_GROUPS: _replica_groups,
    Kind.METADATA: _metadata, Kind.FRONTEND_ATTRIBUTES: _frontend_attributes, Kind.INTS: _ints,
}
