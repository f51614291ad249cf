"""Writes an operation by its form: `stablehlo.add` -> ` %arg0, %arg1 : tensor<4xf32>`.

The forms are those of grammars/stablehlo.lark, the rule `form`: what reads an operation writes it, too. This file has
the texts of the rules inside of forms, each the counterpart of the method of its name in `text_operations.py`, and the
places of spaces.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hlotool.grammars import (
    Choice,
    Maybe,
    Part,
    Reference,
    Repeated,
    Sequence,
    Token,
    grammar,
    token_word,
)
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.defined_attributes import is_left_out
from hlotool.mlir.operations import Operation, SsaValue
from hlotool.mlir.print_values import quoted, symbol, value_text
from hlotool.mlir.short_forms import FULL_NAMES
from hlotool.mlir.text_printer import TextPrinter, type_of

_BEFORE = frozenset(")],")
_TIGHT = frozenset("([")


class NotShort(Exception):
    """An operation that its short form cannot say."""


class OperationForm:
    """Writes one operation by its form."""

    def __init__(self, printer: TextPrinter, operation: Operation) -> None:
        self.printer, self.operation = printer, operation
        self.names = [printer.names[o] for o in operation.operands]
        #: operands that no part has written yet
        self.left = list(range(len(self.names)))
        self.given = {name: value for name, value in (operation.properties | operation.attributes).items()
                      if not is_left_out(operation.name, name, value)}
        self.regions = list(operation.regions)
        self.region_begin = True
        self.is_tight = operation.dialect == "sdy" and operation.name != "sdy.mesh"
        self.parts: frozenset[str] = frozenset()

    def text(self, part: Part) -> str:
        """The text from behind the operation's name."""
        self.parts = _rules_of(part)
        pieces: list[str] = []
        self.write(part, pieces)
        return _spaced(pieces, self.is_tight)

    def take(self) -> str:
        if not self.left:
            raise NotShort
        return self.names[self.left.pop(0)]

    def attribute(self, name: str) -> Any:
        found = self.given.get(name)
        if found is None:
            raise NotShort
        return found

    def write(self, part: Part, pieces: list[str]) -> None:
        match part:
            case Token(name):
                pieces.append(token_word(name))
            case Reference(rule):
                pieces += self.rule(rule)
            case Sequence(parts):
                for inner in parts:
                    self.write(inner, pieces)
            case Choice(options):
                self.write(next((o for o in options if self.is_there(o)), options[-1]), pieces)
            case Maybe(inner):
                if self.is_there(inner):
                    self.write(inner, pieces)
                elif inner == Reference("_operands") and pieces[-1:] != ["("]:
                    pieces.append("")
            case Repeated():
                raise NotShort

    def is_there(self, part: Part) -> bool:
        """True if the operation has what a part says."""
        match part:
            case Reference(rule):
                test = _THERE.get(rule)
                return test(self) if test is not None else rule in self.given
            case Sequence(parts):
                found = [p for p in parts if isinstance(p, Reference)]
                return self.is_there(found[0]) if found else False
            case Maybe(inner):
                return self.is_there(inner)
        return False

    def rule(self, rule: str) -> list[str]:
        writer = _RULES.get(rule)
        if writer is not None:
            written = writer(self)
            return [written] if isinstance(written, str) else written
        value = self.attribute(rule)
        kind = grammar("stablehlo").rules[rule].part
        if not isinstance(kind, Reference):
            return [_word_of(value)]
        if kind.rule in ("bracketed", "braced"):
            return [_axes_of(self.printer.text(value))]
        return [_KINDS[kind.rule](value)]

    def rest(self) -> dict[str, Any]:
        """The attributes that no part of the form says."""
        said = {name for rule in self.parts for name in _SAID.get(rule, (rule,))}
        return {name: value for name, value in self.given.items() if name not in said}


def _word_of(value: Any) -> str:
    """The word of an enumerator."""
    if not isinstance(value, mlir.DialectAttribute) or len(value.parameters) != 1 \
            or not isinstance(value.parameters[0][1], str):
        raise NotShort
    return value.parameters[0][1]


def _spaced(pieces: list[str], is_tight: bool) -> str:
    """Return pieces with the spaces that MLIR puts between them."""
    out: list[str] = []
    glue = False
    for piece in pieces:
        if piece in _BEFORE or piece.startswith("() <") or piece in _TIGHT or glue or (is_tight and piece == "="):
            out.append(piece)
        else:
            out.append(f" {piece}")
        glue = piece in _TIGHT or (is_tight and piece == "=")
    return "".join(out)


# Texts that rules write


def expect(value: Any, kind: type) -> Any:
    """Return a value of a kind. Raises NotShort for others."""
    if not isinstance(value, kind):
        raise NotShort
    return value


def numbers_text(value: Any) -> str:
    """Return `[0, 1]` for an array of numbers. Raises NotShort for other values."""
    return f"[{', '.join(map(str, expect(value, mlir.DenseArrayAttribute).values))}]"


_KINDS: dict[str, Callable[[Any], str]] = {
    "i64": lambda v: str(expect(v, mlir.IntegerAttribute).value),
    "i32": lambda v: str(expect(v, mlir.IntegerAttribute).value),
    "ui64": lambda v: str(expect(v, mlir.IntegerAttribute).value),
    "f64": lambda v: value_text(expect(v, mlir.FloatAttribute)).removesuffix(" : f64"),
    "truth": lambda v: "true" if expect(v, mlir.IntegerAttribute).value else "false",
    "i64_array": numbers_text,
    "string": lambda v: quoted(expect(v, mlir.StringAttribute).text),
    "symbol": lambda v: symbol(expect(v, mlir.SymbolAttribute).names),
    "symbol_text": lambda v: symbol((expect(v, mlir.StringAttribute).text,)),
}


def _operands(form: OperationForm) -> str:
    written, form.left = ", ".join([form.names[n] for n in form.left]), []
    return written


def _operands_then(form: OperationForm) -> list[str]:
    written = [piece for n in form.left for piece in (form.names[n], ",")]
    form.left = []
    return written


def _attributes(form: OperationForm) -> str:
    return form.printer.dictionary(form.rest())


def _types(values: list[SsaValue], form: OperationForm) -> str:
    return ", ".join([form.printer.text(v.type) for v in values])


def _function_type(form: OperationForm) -> str:
    return form.printer.text(type_of(form.operation))


def _same_type(form: OperationForm) -> str:
    operation = form.operation
    if len(operation.results) != 1:
        raise NotShort
    type = operation.results[0].type
    return form.printer.text(type) if all(o.type == type for o in operation.operands) else _function_type(form)


def _complex_type(form: OperationForm) -> str:
    type = form.operation.results[0].type
    if isinstance(type, mlir.TensorType) and isinstance(type.element, mlir.ComplexType):
        part = mlir.TensorType(type.shape, type.element.element, type.encoding)
        if all(o.type == part for o in form.operation.operands):
            return form.printer.text(type)
    return _function_type(form)


def _select_types(form: OperationForm) -> str:
    predicate, *others = [o.type for o in form.operation.operands]
    type = form.operation.results[0].type
    if all(o == type for o in others):
        return f"{form.printer.text(predicate)}, {form.printer.text(type)}"
    return _function_type(form)


def _result_types(form: OperationForm) -> str:
    types = [r.type for r in form.operation.results]
    listed = ", ".join(map(form.printer.text, types))
    return listed if len(types) == 1 else f"({listed})"


def _result_type(form: OperationForm) -> str:
    if len(form.operation.results) != 1:
        raise NotShort
    return form.printer.text(form.operation.results[0].type)


def _slice_ranges(form: OperationForm) -> str:
    lists: list[tuple[int, ...]] = [expect(form.attribute(n), mlir.DenseArrayAttribute).values
                                    for n in ("start_indices", "limit_indices", "strides")]
    starts, limits, strides = lists
    if not len(starts) == len(limits) == len(strides):
        raise NotShort
    ranges = [f"{a}:{b}" + (f":{s}" if s != 1 else "") for a, b, s in zip(starts, limits, strides, strict=True)]
    return f"[{', '.join(ranges)}]"


def _exponent_mantissa(form: OperationForm) -> str:
    return f"e{form.attribute('exponent_bits').value}m{form.attribute('mantissa_bits').value}"


def _dot_dimensions(kind: str) -> Callable[[OperationForm], str]:
    def write(form: OperationForm) -> str:
        given = dict(form.attribute("dot_dimension_numbers").parameters)
        sides = [", ".join(map(str, given.get(f"{side}_{kind}_dimensions", ()))) for side in ("lhs", "rhs")]
        return f"{kind}_dims = [{sides[0]}] x [{sides[1]}]"

    return write


def _has_batching(form: OperationForm) -> bool:
    numbers = form.attribute("dot_dimension_numbers")
    return any("batching" in name for name, _ in numbers.parameters)


def _precisions(form: OperationForm) -> str:
    return f"[{', '.join([_word_of(m) for m in form.attribute('precision_config').members])}]"


def _dot_precision(form: OperationForm) -> str:
    written = [f"precision = {_precisions(form)}"] if "precision_config" in form.given else []
    if "algorithm" in form.given:
        body = form.printer.text(form.attribute("algorithm")).removeprefix("#stablehlo.dot_algorithm")
        written.append(f"algorithm = {body}")
    return ", ".join(written)


def _convolution_dimensions(form: OperationForm) -> str:
    text = form.printer.text(form.attribute("dimension_numbers"))
    if not text.startswith("#stablehlo.conv<[") or "raw" in text:
        raise NotShort
    return text.removeprefix("#stablehlo.conv<")[:-1]


def _window(form: OperationForm) -> str:
    given, parts = form.given, []
    for word, name in (("stride", "window_strides"), ("pad", "padding"), ("lhs_dilate", "lhs_dilation"),
                       ("rhs_dilate", "rhs_dilation"), ("reverse", "window_reversal")):
        value = given.get(name)
        if value is None:
            continue
        if word == "pad":
            numbers = _dense_numbers(value)
            listed = ", ".join([f"[{a}, {b}]" for a, b in zip(numbers[::2], numbers[1::2], strict=True)])
            parts.append(f"pad = [{listed}]")
        elif word == "reverse":
            truths: tuple[int, ...] = expect(value, mlir.DenseArrayAttribute).values
            parts.append(f"reverse = [{', '.join(['true' if v else 'false' for v in truths])}]")
        else:
            parts.append(f"{word} = {numbers_text(value)}")
    return f"{{{', '.join(parts)}}}"


def _dense_numbers(value: Any) -> list[int]:
    shape = expect(value, mlir.DenseAttribute).type.shape
    numbers = [int.from_bytes(value.data[n:n + 8], "little", signed=True) for n in range(0, len(value.data), 8)]
    return numbers * (shape[0] * shape[1]) if len(numbers) == 1 else numbers


def _constant(form: OperationForm) -> str:
    return form.printer.text(form.attribute("value"))


def _is_typed_constant(form: OperationForm) -> bool:
    return getattr(form.given.get("value"), "type", None) == form.operation.results[0].type


def _untyped_constant(form: OperationForm) -> str:
    properties = form.printer.dictionary(form.operation.properties)
    rest = f" {form.printer.dictionary(form.operation.attributes)}" if form.operation.attributes else ""
    return f"() <{properties}>{rest} : {_function_type(form)}"


def shardy_text(name: str, before: str) -> Callable[[OperationForm], str]:
    """Return the writer of an attribute of the dialect sdy whose text begins with `before`, which forms leave out."""
    def write(form: OperationForm) -> str:
        text = form.printer.text(form.attribute(name))
        if not text.startswith(before):
            raise NotShort
        return text.removeprefix(before) if before[-1] != "<" else text.removeprefix(before)[:-1]

    return write


def _axes_of(text: str) -> str:
    """The lists of `#sdy<axis_ref_list{"x"}>`, with their brackets."""
    begin = min((text.find(sign) for sign in "[{" if sign in text), default=-1)
    if not text.startswith("#sdy<") or begin < 0:
        raise NotShort
    return text[begin:-1]


def _composite_regions(form: OperationForm) -> list[str]:
    form.region_begin = False
    return [f"({', '.join([chr(0)] * len(form.regions))})"]


def _direction(form: OperationForm) -> str:
    return ("NONE", "FORWARD", "BACKWARD", "BOTH")[form.attribute("allowed_direction").value]


_RULES: dict[str, Callable[[OperationForm], str | list[str]]] = {
    "operand": OperationForm.take, "_operands": _operands, "_operands_then": _operands_then, "attributes": _attributes,
    "function_type": _function_type, "same_type": _same_type, "complex_type": _complex_type,
    "tuple_type": _result_type, "select_types": _select_types, "result_type": _result_type,
    "result_types_of_all": _result_types,
    "pairwise_types": lambda f: _types(f.operation.operands, f),
    "operand_types": lambda f: _types(f.operation.operands, f),
    "slice_ranges": _slice_ranges, "exponent_mantissa": _exponent_mantissa,
    "dot_batching": _dot_dimensions("batching"), "dot_contracting": _dot_dimensions("contracting"),
    "dot_precision": _dot_precision, "precision_config": _precisions,
    "convolution_dimensions": _convolution_dimensions, "window": _window,
    "constant_value": _constant, "untyped_constant": _untyped_constant, "value_of_check": _constant,
    "regions": _composite_regions,
    "symbol_name": lambda f: symbol((expect(f.attribute("sym_name"), mlir.StringAttribute).text,)),
    "constant_symbol": lambda f: symbol(expect(f.attribute("value"), mlir.SymbolAttribute).names),
    "mesh": shardy_text("mesh", "#sdy.mesh"), "sharding": shardy_text("sharding", "#sdy.sharding"),
    "out_sharding": shardy_text("out_sharding", "#sdy.sharding"),
    "allowed_direction": _direction,
    "type_of_each": lambda f: f.printer.text(f.operation.operands[0].type),
    "first_operand_type": lambda f: f.printer.text(f.operation.operands[0].type),
    "extracted_type": lambda f: f.printer.text(f.operation.operands[0].type),
}
_THERE: dict[str, Callable[[OperationForm], bool]] = {
    "operand": lambda f: bool(f.left), "_operands": lambda f: bool(f.left),
    "attributes": lambda f: bool(f.rest()), "dot_batching": _has_batching,
    "dot_precision": lambda f: "precision_config" in f.given or "algorithm" in f.given,
    "untyped_constant": lambda f: not _is_typed_constant(f), "regions": lambda f: bool(f.regions),
    "symbol_name": lambda f: "sym_name" in f.given, "constant_value": lambda f: True,
}
#: attributes that rules of other names say
_SAID = {
    "slice_ranges": ("start_indices", "limit_indices", "strides"),
    "exponent_mantissa": ("exponent_bits", "mantissa_bits"),
    "dot_contracting": ("dot_dimension_numbers",), "dot_precision": ("precision_config", "algorithm"),
    "convolution_dimensions": ("dimension_numbers",),
    "window": ("window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"),
    "constant_value": ("value",), "value_of_check": ("value",), "symbol_name": ("sym_name",),
    "constant_symbol": ("value",),
}


@functools.cache
def forms() -> dict[str, Part]:
    """Operation to its form, from behind the name."""
    found: dict[str, Part] = {}
    for part, _ in grammar("stablehlo").rules["form"].alternatives:
        if not isinstance(part, Sequence):
            continue
        first, *rest = part.parts
        for token in first.options if isinstance(first, Choice) else (first,):
            if isinstance(token, Token):
                name = token_word(token.name)
                found[FULL_NAMES.get(name, name)] = Sequence(tuple(rest))
    return found


@functools.cache
def _rules_of(part: Part) -> frozenset[str]:
    """Return the rules that a form names."""
    match part:
        case Reference(rule):
            return frozenset((rule,))
        case Sequence(parts) | Choice(parts):
            return frozenset().union(*map(_rules_of, parts))
        case Maybe(inner) | Repeated(inner):
            return _rules_of(inner)
    return frozenset()
