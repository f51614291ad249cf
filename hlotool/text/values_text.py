"""Attribute values from text: simple kinds by one expression each, structured ones by attribute.lark."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import Any

from hlotool.ir import (
    Aliasing,
    BackendConfig,
    BufferDonor,
    ConvolutionDimensions,
    EntryLayout,
    FrontendAttributes,
    Kind,
    Literal,
    Metadata,
    OperandSparsity,
    Padding,
    PaddingDimension,
    Raw,
    ResultAccuracy,
    Shape,
    SliceDimension,
    Sparsity,
    Statistics,
    Window,
    WindowDimension,
)
from hlotool.text.literals_text import read_literal
from hlotool.text.phrase_errors import (
    BAD_ATTRIBUTE,
    BAD_LITERAL,
    BAD_METADATA,
    BAD_SHAPE,
    BAD_SHARDING,
    BAD_WORD,
    PLACEHOLDER,
    WHOLE,
    PhraseError,
    closest,
    too_long,
)
from hlotool.text.phrase_grammar import blank_comments, parse_phrase, unquote
from hlotool.text.shapes_text import limit_nesting, read_entry_layout, read_shape, read_shapes, shape_transformer
from hlotool.text.shardings_text import quick_groups, quick_sharding, sharding_transformer

# Words that an attribute may hold, by the attribute's name, where XLA's parser checks them.
_WORDS: dict[str, tuple[str, ...]] = {
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
    "api_version": ("API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
                    "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"),
    "mode": ("cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"),
    "operand_precision": ("default", "high", "highest", "packed_nibble"),
}
_ACCURACY_MODES = ("default", "highest")

_INTEGER = re.compile(r"\s*+(-?\d+)\s*+")
_INTEGERS = re.compile(r"\s*+\{\s*+(?:-?\d+(?:\s*+,\s*+-?\d+)*)?\s*+\}\s*+")
_NUMBER = re.compile(r"\s*+-?(?:\d+\.?\d*(?:[eE][+\-]?\d+)?|(?<=-)\.\d+(?:[eE][+\-]?\d+)?|inf|nan)\s*+")
_WORD = re.compile(r"\s*+([A-Za-z_][\w.\-]*)\s*+")
_NAME = re.compile(r"\s*+%?([A-Za-z_][\w.\-]*)\s*+")
_STRING = re.compile(r"""\s*+("[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+')\s*+""", re.S)
_BOOLS = re.compile(r"\s*+(?:true|false|\{\s*+(?:(?:true|false)(?:\s*+,\s*+(?:true|false))*)?\s*+\})\s*+")
_PAIRS = re.compile(r"\s*+\{\s*+(?:\{[-\d,\s]*\}(?:\s*+,\s*+\{[-\d,\s]*\})*)?\s*+\}\s*+")
_GROUP = re.compile(r"\{([-\d,\s]*)\}")
_RANGE = re.compile(r"\[\s*+(-?\d+)\s*+:\s*+(-?\d+)\s*+(?::\s*+(-?\d+)\s*+)?\]")
_SLICES = re.compile(rf"\s*+\{{\s*+(?:{_RANGE.pattern}(?:\s*+,\s*+{_RANGE.pattern})*)?\s*+\}}\s*+")
_PADDINGS = re.compile(r"\s*+(-?\d+_-?\d+(?:_-?\d+)?(?:x-?\d+_-?\d+(?:_-?\d+)?)*)\s*+")
_LABELS = re.compile(r"\s*+([0-9bf?]{2,})_([0-9io?]{2,})->([0-9bf?]{2,})\s*+")
_WINDOW = re.compile(r"\{\s*+((?:[a-z_]++=[-\dx_]++\s*+)*+)\}")
_JSON = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}]', re.S)

_STRING_FIELDS = ("op_type", "op_name", "source_file", "deduplicated_name", "scheduling_name", "metadata_payload")
_NUMBER_FIELDS = ("source_line", "source_end_line", "source_column", "source_end_column", "stack_frame_id",
                  "size_of_generated_code_in_bytes", "size_of_memory_working_set_in_bytes", "logical_creation_pass_id")
_OTHER_FIELDS = ("profile_type", "preserve_layout")
_QUOTED = r'''"[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+\''''
_FIELD = (rf"(?:(?:{'|'.join(_STRING_FIELDS)})=(?:{_QUOTED})|(?:{'|'.join(_NUMBER_FIELDS)})=-?\d+(?![\w.])"
          r"|profile_type=\{\s*(?:\d+(?:\s*,\s*\d+)*)?\s*\}|preserve_layout=(?:true|false))")
#: a whole record of metadata, its fields in any order, commas allowed
METADATA = re.compile(rf"\{{\s*+(?:(?:,\s*+)?{_FIELD}\s*+)*+\}}", re.S)


def read_value(kind: Kind, text: str, name: str = "") -> Any:
    """The value of an attribute of a kind; `name` is the attribute's, for its words and for messages.

    >>> read_value(Kind.INTS, "{1,2}")
    (1, 2)
    """
    quick = _QUICK.get(kind)
    try:
        if quick is not None:
            value = quick(text, name)
            if value is not None:
                return value
        return _read_structured(kind, text, name)
    except ValueError as error:
        raise too_long(error, text) from None


@functools.lru_cache(8192)
def _read_structured(kind: Kind, text: str, name: str) -> Any:
    plain = blank_comments(text)
    if plain != text and kind in _QUICK and (value := _QUICK[kind](plain, name)) is not None:
        return value
    if kind in _SPECIAL:
        return _SPECIAL[kind](plain, name)
    return parse_phrase("attribute", _RULES[kind], plain, attribute_transformer, code=BAD_ATTRIBUTE,
                        what=name or kind.value)


# Simple kinds

def _int(text: str, name: str) -> int | None:
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    value = int(match[1])
    if not -(2**63) <= value < 2**63:
        raise PhraseError(BAD_ATTRIBUTE, f"{name or 'the number'} does not fit 64 bits: {match[1]}", 0, len(text))
    return value


def _ints(text: str, name: str) -> tuple[Any, ...] | None:
    if _INTEGERS.fullmatch(text) is None:
        # Of several slices at once slice_sizes is a list of lists.
        return _pairs(text, name) if name == "slice_sizes" else None
    inside = text.strip()[1:-1]
    return tuple(map(int, inside.split(","))) if inside and not inside.isspace() else ()


def _bool(text: str, name: str) -> bool | None:
    return {"true": True, "false": False}.get(text.strip())


def _bools(text: str, name: str) -> tuple[bool, ...] | None:
    if _BOOLS.fullmatch(text) is None:
        return None
    return tuple(t == "true" for t in re.findall("true|false", text))


def _float(text: str, name: str) -> float | None:
    if _NUMBER.fullmatch(text) is None:
        return None
    value = float(text)
    if math.isinf(value) and "inf" not in text:
        raise PhraseError(BAD_ATTRIBUTE, f"{name or 'the number'} is out of range: {text}", 0, len(text))
    return value


def _word(text: str, name: str) -> str | None:
    match = _WORD.fullmatch(text)
    if match is None:
        return None
    word = match[1]
    known = _WORDS.get(name)
    # `kind` also belongs to operations other than fusion, whose words are lower case.
    if known and word not in known and (name != "kind" or word.startswith("k")):
        _unknown_word(word, known, name, match.start(1))
    return word


def _unknown_word(word: str, known: tuple[str, ...], name: str, start: int) -> None:
    advice = next((k for k in known if k.lower() == word.lower()), None)
    more = f"; did you mean {advice}?" if advice else closest(word, known) or f": it is one of {', '.join(known)}"
    if word == word.upper() and word.lower() == name:
        raise PhraseError(PLACEHOLDER, f"{word} is a placeholder, not a value", start, start + len(word),
                          f"{name} is one of {', '.join(known)}")
    raise PhraseError(BAD_WORD, f"{name} cannot be {word}{more}", start, start + len(word))


def _words(text: str, name: str) -> tuple[str, ...] | None:
    stripped = text.strip()
    if stripped[:1] != "{" or stripped[-1:] != "}":
        return None
    inside = stripped[1:-1].strip()
    words = tuple(w.strip() for w in inside.split(",")) if inside else ()
    if not all(_WORD.fullmatch(w) for w in words):
        return None
    known = _WORDS.get(name)
    for word in words:
        if known and word.lower() not in known:
            _unknown_word(word, known, name, text.find(word))
    return words


def _string(text: str, name: str) -> str | None:
    match = _STRING.fullmatch(text)
    return unquote(match[1]) if match else None


def _pairs(text: str, name: str) -> tuple[tuple[int, ...], ...] | None:
    if _PAIRS.fullmatch(text) is None:
        return None
    try:
        return tuple(tuple(map(int, g.split(","))) if g.strip() else () for g in _GROUP.findall(text.strip()[1:-1]))
    except ValueError:
        return None


@functools.lru_cache(4096)
def _slice(text: str, name: str) -> tuple[SliceDimension, ...] | None:
    if _SLICES.fullmatch(text) is None:
        return None
    return tuple(SliceDimension(int(a), int(b), int(c or 1)) for a, b, c in _RANGE.findall(text))


@functools.lru_cache(4096)
def _padding(text: str, name: str) -> Padding | None:
    match = _PADDINGS.fullmatch(text)
    if match is None:
        return _proto_padding(text)
    return Padding(tuple(PaddingDimension(*map(int, part.split("_"))) for part in match[1].split("x")))


_PROTO_PADDING = re.compile(r"\s*dimensions\s*\{([^{}]*)\}\s*")
_PROTO_FIELD = re.compile(r"\s*(edge_padding_low|edge_padding_high|interior_padding):\s*(-?\d+)\s*")


def _proto_padding(text: str) -> Padding | None:
    """The protobuf text that early 2017 printed: `dimensions { edge_padding_low: 2 edge_padding_high: 1 }`."""
    dimensions, at = [], 0
    while found := _PROTO_PADDING.match(text, at):
        fields = _PROTO_FIELD.findall(found[1])
        if _PROTO_FIELD.sub("", found[1]).strip():
            return None
        sizes = {name: int(value) for name, value in fields}
        dimensions.append(PaddingDimension(sizes.get("edge_padding_low", 0), sizes.get("edge_padding_high", 0),
                                           sizes.get("interior_padding", 0)))
        at = found.end()
    return Padding(tuple(dimensions)) if dimensions and at == len(text) else None


@functools.lru_cache(4096)
def _window(text: str, name: str) -> Window | None:
    # Early 2017 wrote the parts without braces.
    braced = text.strip() if "{" in text else f"{{{text}}}"
    match = _WINDOW.fullmatch(braced)
    if match is None or not _unique_parts(match[1]):
        return None
    return _window_of(dict(_part(p) for p in match[1].split()), len(text))


_PARTS = ("size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal")


def _part(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key, value


def _unique_parts(text: str) -> bool:
    keys = [_part(p)[0] for p in text.split()]
    return len(set(keys)) == len(keys) and all(k in _PARTS for k in keys) and all(
        re.fullmatch(r"-?\d+_-?\d+(x-?\d+_-?\d+)*" if k == "pad" else r"-?\d+(x-?\d+)*", _part(p)[1])
        for k, p in zip(keys, text.split(), strict=True))


def _window_of(parts: dict[str, str], end: int = WHOLE) -> Window:
    sizes = parts.get("size", "").split("x") if parts.get("size") else []
    columns: dict[str, list[str]] = {key: value.split("x") for key, value in parts.items()}
    for key, column in columns.items():
        if len(column) != len(sizes):
            raise PhraseError(BAD_ATTRIBUTE, f"the window has {len(sizes)} sizes, {key}= has {len(column)} entries", 0,
                              end)

    def row(i: int) -> WindowDimension:
        low, high = columns["pad"][i].split("_") if "pad" in columns else ("0", "0")
        return WindowDimension(int(sizes[i]), int(columns["stride"][i]) if "stride" in columns else 1, int(low),
                               int(high), int(columns["lhs_dilate"][i]) if "lhs_dilate" in columns else 1,
                               int(columns["rhs_dilate"][i]) if "rhs_dilate" in columns else 1,
                               "rhs_reversal" in columns and int(columns["rhs_reversal"][i]) == 1)

    return Window(tuple(map(row, range(len(sizes)))))


@functools.lru_cache(4096)
def _dim_labels(text: str, name: str) -> ConvolutionDimensions | None:
    match = _LABELS.fullmatch(text)
    if match is None:
        return None
    lhs, rhs, output = match.groups()
    for side, labels in (("lhs", lhs), ("rhs", rhs), ("output", output)):
        _check_labels(side, labels, text)
    counts = [sum(c.isdigit() for c in labels) for labels in match.groups()]
    if len(set(counts)) > 1:
        raise PhraseError(BAD_ATTRIBUTE, "lhs, rhs and output must have as many spatial dimensions each, they have "
                          f"{counts[0]}, {counts[1]} and {counts[2]}", 0, len(text))
    return ConvolutionDimensions(lhs, rhs, output)


def _check_labels(side: str, labels: str, text: str) -> None:
    known = labels.replace("?", "")
    spatial = sorted(int(c) for c in known if c.isdigit())
    if len(set(known)) != len(known):
        raise PhraseError(BAD_ATTRIBUTE, f"a label stands twice in the {side} labels {labels}", 0, len(text))
    if spatial != list(range(len(spatial))):
        raise PhraseError(BAD_ATTRIBUTE, f"the spatial dimensions of the {side} labels {labels} do not count from 0", 0,
                          len(text))


def _raw(text: str, name: str) -> Raw:
    return Raw(text.strip())


def _entry_layout(text: str, name: str) -> EntryLayout | None:
    return read_entry_layout(text)


_INDEX = r"\{((?:\d{1,18}(?:,\s*\d{1,18})*+)?)\}"
_ALIAS = re.compile(rf"\s*{_INDEX}:\s*\((\d{{1,18}}),\s*{_INDEX}(?:,\s*(may-alias|must-alias))?\)\s*(,|\}}$)")


def _aliasing(text: str, name: str) -> tuple[Aliasing, ...] | None:
    """The alias table of a training step has an entry for each weight."""
    found, at = [], 1
    while (match := _ALIAS.match(text, at)) is not None:
        output, parameter, index, kind, sign = match.groups()
        found.append(Aliasing(_index(output), int(parameter), _index(index), kind))
        at = match.end()
        if sign != ",":
            return tuple(found)
    return None


def _index(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()


_QUICK: dict[Kind, Callable[[str, str], Any]] = {
    Kind.INT: _int, Kind.INTS: _ints, Kind.BOOL: _bool, Kind.BOOLS: _bools, Kind.FLOAT: _float, Kind.WORD: _word,
    Kind.WORDS: _words, Kind.STRING: _string, Kind.PAIRS: _pairs, Kind.SLICE: _slice, Kind.PADDING: _padding,
    Kind.WINDOW: _window, Kind.DIM_LABELS: _dim_labels, Kind.RAW: _raw, Kind.ENTRY_LAYOUT: _entry_layout,
    Kind.SHARDING: lambda text, name: quick_sharding(text), Kind.REPLICA_GROUPS: lambda text, name: quick_groups(text),
    Kind.ALIASING: _aliasing, Kind.SHAPES: lambda text, name: read_shapes(text),
}


# Kinds with a reader of their own

def _shape(text: str, name: str) -> Shape:
    return read_shape(text.strip())


_LITERAL_SHAPE = re.compile(r"\s*[a-z]\w*\[[^\]]*\](?:\{[\d,:][^{}]*\})?\s*")


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


_DELIMITER = re.compile(r"[\[{(]|[\]})]|,")


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


def _by_shape(rule: str) -> Callable[[str, str], Any]:
    return lambda text, name: parse_phrase("shape", rule, text, shape_transformer, code=BAD_SHAPE, what=name or rule)


def _by_sharding(rule: str) -> Callable[[str, str], Any]:
    return lambda text, name: parse_phrase("sharding", rule, text, sharding_transformer, code=BAD_SHARDING,
                                           what=name or "a sharding")


def _replica_groups(text: str, name: str) -> Any:
    if re.fullmatch(r"\s*[A-Z_]+\s*", text):
        raise PhraseError(PLACEHOLDER, f"{text.strip()} is a placeholder, not replica groups", 0, len(text),
                          "replica groups look like {{0,1},{2,3}} or [2,2]<=[4]")
    return parse_phrase("sharding", "groups", text, sharding_transformer, code=BAD_SHARDING,
                        what=name or "replica groups")


def _metadata(text: str, name: str) -> Metadata:
    validate_metadata(text.strip())
    return Metadata(text.strip())


def _balanced_json(text: str, start: int, name: str) -> int:
    """The end of the braces that open at `start`. XLA: HloLexer::LexJsonDict."""
    depth = 0
    for match in _JSON.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    raise PhraseError(BAD_ATTRIBUTE, f"the braces of {name} are never closed", start)


def _backend_config(text: str, name: str) -> BackendConfig:
    stripped = text.strip()
    if stripped[:1] == "{":
        end = _balanced_json(stripped, 0, name or "backend_config")
        if end != len(stripped):
            raise PhraseError(BAD_ATTRIBUTE, "text follows the braces of backend_config", end, len(stripped))
        return BackendConfig(stripped)
    value = _string(stripped, name)
    if value is None:
        raise PhraseError(BAD_ATTRIBUTE, "backend_config is a string or JSON in braces", 0, len(text))
    return BackendConfig(value, quoted=True)


_KEY = re.compile(r"\s*([A-Za-z_][\w.\-]*)=\s*")


def _frontend_attributes(text: str, name: str) -> FrontendAttributes:
    """Strings or balanced braces by name. XLA: ParseFrontendAttributes."""
    if not text.lstrip().startswith("{"):
        raise PhraseError(BAD_ATTRIBUTE, "frontend attributes stand in braces: {key=\"value\"}", 0, len(text))
    at = text.index("{") + 1
    entries: list[tuple[str, str]] = []
    if re.compile(r"\s*\}\s*").fullmatch(text, at):
        return FrontendAttributes(())
    while True:
        key = _KEY.match(text, at)
        if key is None:
            raise _no_key(text, at)
        at = key.end()
        quoted = _STRING.match(text, at)
        if quoted is not None:
            entries.append((key[1], quoted[1]))
            at = quoted.end()
        elif text[at:at + 1] == "{":
            end = _balanced_json(text, at, key[1])
            entries.append((key[1], text[at:end]))
            at = end
        else:
            raise PhraseError(BAD_ATTRIBUTE, f"the value of {key[1]} must be a string or stand in braces", at)
        while text[at:at + 1].isspace():
            at += 1
        if text[at:at + 1] == ",":
            at += 1
            continue
        if text[at:].strip() == "}":
            return FrontendAttributes(tuple(entries))
        raise PhraseError(BAD_ATTRIBUTE, "expected ',' or '}' after a frontend attribute", at)


def _no_key(text: str, at: int) -> PhraseError:
    word = re.compile(r"\s*([A-Z][A-Z_]+)\s*\}").match(text, at)
    if word is not None:
        return PhraseError(PLACEHOLDER, f"{word[1]} is a placeholder, not frontend attributes", word.start(1),
                           word.end(1), "write key=\"value\" pairs, or leave the attribute out")
    return PhraseError(BAD_ATTRIBUTE, "expected key=\"value\" in frontend attributes", at)


def _result_accuracy(text: str, name: str) -> ResultAccuracy:
    value: ResultAccuracy = parse_phrase("attribute", "result_accuracy", text, attribute_transformer,
                                         code=BAD_ATTRIBUTE, what=name or "result_accuracy")
    if value.mode is not None and value.mode not in _ACCURACY_MODES:
        _unknown_word(value.mode, _ACCURACY_MODES, "the mode of result_accuracy", max(0, text.find(value.mode)))
    return value


_SPECIAL: dict[Kind, Callable[[str, str], Any]] = {
    Kind.SHAPE: _shape, Kind.LITERAL: _literal, Kind.SHARDING: _by_sharding("start"),
    Kind.REPLICA_GROUPS: _replica_groups,
    Kind.METADATA: _metadata, Kind.BACKEND_CONFIG: _backend_config, Kind.FRONTEND_ATTRIBUTES: _frontend_attributes,
    Kind.RESULT_ACCURACY: _result_accuracy, Kind.SHAPES: _by_shape("shapes"),
    Kind.ENTRY_LAYOUT: _by_shape("entry_layout"), Kind.DOMAIN: _by_sharding("domain"),
}

#: kind to its rule in attribute.lark
_RULES: dict[Kind, str] = {
    Kind.INT: "int", Kind.BOOL: "bool", Kind.FLOAT: "float", Kind.STRING: "string", Kind.WORD: "word",
    Kind.INTS: "ints", Kind.BOOLS: "bools", Kind.WORDS: "words", Kind.SLICE: "slice",
    Kind.WINDOW: "window", Kind.DIM_LABELS: "dim_labels", Kind.PADDING: "padding", Kind.PAIRS: "pairs",
    Kind.STATISTICS: "statistics", Kind.ALIASING: "aliasing", Kind.DONORS: "donors", Kind.COMPUTATION: "names",
    Kind.COMPUTATIONS: "names", Kind.INSTRUCTIONS: "names", Kind.SPARSITY: "sparsity_config",
}


def read_names(text: str) -> tuple[str, ...]:
    """The names of `{a, %b}` or of one name, without `%`."""
    stripped = text.strip()
    parts = stripped[1:-1].split(",") if stripped[:1] == "{" and stripped[-1:] == "}" else [stripped]
    names = tuple(m[1] for p in parts if (m := _NAME.fullmatch(p)) is not None)
    if len(names) == len(parts):
        return names
    found: tuple[str, ...] = parse_phrase("attribute", "names", blank_comments(text), attribute_transformer,
                                          code=BAD_ATTRIBUTE, what="a list of names")
    return found


def validate_metadata(text: str) -> None:
    """Raise PhraseError unless the text is a record of metadata with known fields."""
    if METADATA.fullmatch(text) is None:
        _explain_metadata(text)


def _explain_metadata(text: str) -> None:
    known = (*_STRING_FIELDS, *_NUMBER_FIELDS, *_OTHER_FIELDS)
    if text[:1] != "{" or text[-1:] != "}":
        raise PhraseError(BAD_METADATA, "metadata stands in braces: {op_name=\"...\"}", 0, len(text))
    field = re.compile(rf"[\s,]*([A-Za-z_][\w.\-]*)=({_QUOTED}|\{{[^{{}}]*\}}|[^\s,{{}}]*)", re.S)
    at = 1
    while (match := field.match(text, at)) is not None:
        key, value = match[1], match[2]
        if key not in known:
            raise PhraseError(BAD_METADATA, f"metadata has no field {key}{closest(key, known)}", *match.span(1))
        if key in _STRING_FIELDS and value[:1] not in ("'", '"'):
            raise PhraseError(BAD_METADATA, f"{key} must be a string, not {value}", *match.span(2))
        if key in _NUMBER_FIELDS and not re.fullmatch(r"-?\d+", value):
            raise PhraseError(BAD_METADATA, f"{key} must be a whole number, not {value}", *match.span(2))
        if key in _OTHER_FIELDS and not re.fullmatch(r"true|false|\{[\d,\s]*\}", value):
            raise PhraseError(BAD_METADATA, f"{value} is not a value of {key}", *match.span(2))
        at = match.end()
    rest = text[at:-1]
    raise PhraseError(BAD_METADATA, f"expected name=value in metadata, found {rest.strip()[:20] or 'nothing'}", at,
                      len(text))


# The transformer of attribute.lark

@functools.cache
def attribute_transformer() -> Any:
    """The transformer that builds values out of attribute.lark."""
    from lark import Transformer, v_args

    @v_args(inline=True)
    class AttributeTransformer(Transformer):  # type: ignore[type-arg]
        """One method for each rule of attribute.lark."""

        def int(self, token: Any) -> Any:
            return _int(str(token), "")

        def bool(self, token: Any) -> Any:
            return token == "true"

        def float(self, token: Any) -> Any:
            return _float(str(token), "")

        def string(self, token: Any) -> str:
            return unquote(token)

        def word(self, token: Any) -> str:
            return str(token)

        def ints(self, *tokens: Any) -> Any:
            return tuple(_int(str(t), "") for t in tokens if t is not None)

        def bools(self, *tokens: Any) -> Any:
            return tuple(t == "true" for t in tokens if t is not None)

        def words(self, *tokens: Any) -> Any:
            return tuple(str(t) for t in tokens if t is not None)

        names = words

        def name(self, token: Any) -> str:
            return str(token)

        def pairs(self, *items: Any) -> Any:
            return tuple(i for i in items if i is not None)

        slice = pairs

        def range(self, start: Any, limit: Any, stride: Any) -> SliceDimension:
            return SliceDimension(*(int_of(t) for t in (start, limit, stride or "1")))

        def window(self, *parts: Any) -> Window:
            found = [_part(str(p)) for p in parts]
            if len(dict(found)) != len(found):
                raise PhraseError(BAD_ATTRIBUTE, "a part of the window is given twice", 0, WHOLE)
            return _window_of(dict(found))

        def window_pad(self, token: Any) -> str:
            if any(p.count("_") != 1 for p in token.split("x")):
                raise PhraseError(BAD_ATTRIBUTE, "a window's padding has a low and a high number for each dimension",
                                  token.start_pos, token.end_pos)
            return f"pad={token}"

        def padding(self, token: Any) -> Any:
            return _padding(str(token), "")

        def dim_labels(self, token: Any) -> Any:
            return _dim_labels(str(token), "")

        def aliasing(self, *entries: Any) -> Any:
            return tuple(e for e in entries if e is not None)

        donors = aliasing

        def alias(self, output: Any, parameter: Any, index: Any, kind: Any) -> Aliasing:
            return Aliasing(output, int_of(parameter), index, str(kind) if kind else None)

        def alias_bare(self, output: Any, parameter: Any) -> Aliasing:
            return Aliasing(output, int_of(parameter))

        def donor(self, parameter: Any, index: Any) -> BufferDonor:
            return BufferDonor(int_of(parameter), index)

        def accuracy_mode(self, word: Any) -> ResultAccuracy:
            return ResultAccuracy(mode=str(word))

        def accuracy_tolerance(self, *parts: Any) -> ResultAccuracy:
            found = dict(p for p in parts if p is not None)
            return ResultAccuracy(None, found.get("atol", 0.0), found.get("rtol", 0.0), round(found.get("ulps", 0)))

        def tolerance(self, name: Any, number: Any) -> Any:
            return str(name)[:-1], _float(str(number), "")

        def sparsity_config(self, *sides: Any) -> Sparsity:
            return Sparsity(**dict(sides))

        def sparse_operand(self, side: Any, *fields: Any) -> Any:
            found = dict(str(field).split("=") for field in fields)
            stored, _, block = found.get("sparsity", "0x0").partition("x")
            numbers = (stored, block, *(found.get(name, "0") for name in ("dimension", "stride", "idx")))
            return str(side)[:-1], OperandSparsity(*map(int_of, numbers))

        def statistics(self, *parts: Any) -> Statistics:
            if parts[0] is None:
                return Statistics(0, ())
            return Statistics(int_of(parts[1]), tuple(p for p in parts[2:] if p is not None))

        def statistic(self, name: Any, number: Any) -> Any:
            return str(name)[:-1], str(number)

    return AttributeTransformer()


def int_of(token: Any) -> int:
    """The number of a token, checked to fit 64 bits."""
    value = _int(str(token), "")
    return 0 if value is None else value
