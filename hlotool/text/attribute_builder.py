"""Attribute values out of attribute.lark."""

from __future__ import annotations

import math
from typing import Any

from hlotool.ir import (
    Aliasing,
    BackendConfig,
    BufferDonor,
    ConvolutionDimensions,
    FrontendAttributes,
    OperandSparsity,
    Padding,
    PaddingDimension,
    ResultAccuracy,
    SliceDimension,
    Sparsity,
    Statistics,
    Window,
    WindowDimension,
)
from hlotool.text.phrase_errors import BAD_ATTRIBUTE, WHOLE, PhraseError
from hlotool.text.phrase_reading import PhraseReader, check_escapes, place_of
from hlotool.text.quoting import unquote


def int_of(token: str) -> int:
    """Return the number of a token, which has to fit 64 bits."""
    value = int(token)
    if not -(2**63) <= value < 2**63:
        raise PhraseError(BAD_ATTRIBUTE, f"the number does not fit 64 bits: {token}", *place_of(token))
    return value


def _part(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key, value


def _window_of(parts: dict[str, str], end: int = WHOLE) -> Window:
    sizes = parts.get("size", "").split("x") if parts.get("size") else []
    columns: dict[str, list[str]] = {key: value.split("x") for key, value in parts.items()}
    if "rhs_reversal" in columns:  # XLA takes any number of these: what is not said is no reversal
        columns["rhs_reversal"] = (columns["rhs_reversal"] + ["0"] * len(sizes))[:len(sizes)]
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


def _labels(text: str) -> ConvolutionDimensions:
    sides, _, output = text.partition("->")
    lhs, _, rhs = sides.partition("_")
    for side, labels in (("lhs", lhs), ("rhs", rhs), ("output", output)):
        _check_labels(side, labels, text)
    counts = [sum(c.isdigit() for c in labels) for labels in (lhs, rhs, output)]
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


class AttributeBuilder:
    """One method for each rule of attribute.lark."""

    def int(self, token: Any) -> Any:
        return int_of(token)

    def bool(self, token: Any) -> Any:
        return token == "true"

    def float(self, token: Any) -> Any:
        return float(token)

    def string(self, token: Any) -> str:
        return unquote(token)

    def word(self, token: Any) -> str:
        return str(token)

    def ints(self, *tokens: Any) -> Any:
        return tuple(int_of(t) for t in tokens if t is not None)

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
                              *place_of(token))
        return f"pad={token}"

    def padding(self, *dimensions: Any) -> Padding:
        if isinstance(dimensions[0], PaddingDimension):
            return Padding(dimensions)
        return Padding(tuple(PaddingDimension(*map(int, part.split("_"))) for part in dimensions[0].split("x")))

    def proto_padding(self, *fields: Any) -> PaddingDimension:
        sizes = dict(fields)
        return PaddingDimension(sizes.get("edge_padding_low", 0), sizes.get("edge_padding_high", 0),
                                sizes.get("interior_padding", 0))

    def proto_field(self, name: str, number: str) -> Any:
        return name[:-1], int_of(number)

    def dim_labels(self, text: Any) -> ConvolutionDimensions:
        return _labels(text)

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
        return ResultAccuracy(None, found.get("atol", 0.0), found.get("rtol", 0.0), int(found.get("ulps", 0)))

    def tolerance(self, name: Any, number: Any) -> Any:
        value = float(number)
        is_open = str(number) == "inf" and name != "ulps="
        if not is_open and not 0 <= value < (2.0**63 if name == "ulps=" else math.inf):
            raise PhraseError(BAD_ATTRIBUTE, f"the tolerance is out of range: {number}", *place_of(number))
        return str(name)[:-1], value

    def sparsity_config(self, *sides: Any) -> Sparsity:
        return Sparsity(**dict(sides))

    def sparse_operand(self, side: Any, *fields: Any) -> Any:
        found = dict(str(field).split("=") for field in fields)
        stored, _, block = found.get("sparsity", "0x0").partition("x")
        numbers = (stored, block, *(found.get(name, "0") for name in ("dimension", "stride", "idx")))
        return str(side)[:-1], OperandSparsity(*map(int_of, numbers))

    def braces(self, *pieces: str) -> str:
        return "".join(pieces)

    inner_braces = braces

    def config_string(self, text: str) -> BackendConfig:
        return BackendConfig(unquote(text), quoted=True)

    def config_json(self, text: str) -> BackendConfig:
        return BackendConfig(text)

    def frontend_attributes(self, *entries: Any) -> FrontendAttributes:
        return FrontendAttributes(tuple(e for e in entries if e is not None))

    def frontend(self, key: str, value: str) -> tuple[str, str]:
        if value[:1] in ("'", '"'):
            check_escapes(value, place_of(value)[0])
        return key[:-1], str(value)

    def origin_recovery_table(self, *parts: Any) -> None:
        """Nothing: the text is kept as it stands, the rule is there for its errors."""

    original_array = origin_recovery = origin_recovery_table

    def statistics(self, *parts: Any) -> Statistics:
        if parts[0] is None:
            return Statistics(0, ())
        return Statistics(int_of(parts[1]), tuple(p for p in parts[2:] if p is not None))

    def statistic(self, name: Any, number: Any) -> Any:
        return str(name)[:-1], str(number)


ATTRIBUTES = PhraseReader("attribute", AttributeBuilder, remembers=("ints",))
