"""Operations as MLIR prints them where it has a short form: `%0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>`.

The forms are those of grammars/stablehlo.lark, the rule `form`: what reads an operation writes it, too. Here stands
what the rules inside of forms write, each the counterpart of the method of its name in `text_operations.py`, and where
spaces stand. Values are named as MLIR names them.
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
from hlotool.mlir.operations import Block, Operation, Region, SsaValue
from hlotool.mlir.print_values import quoted, symbol, value_text
from hlotool.mlir.short_forms import BLOCK_NAMES, FULL_NAMES, RESULT_NAMES, is_applied
from hlotool.mlir.text_printer import TextPrinter, Work, type_of

_BEFORE = frozenset(")],")
_TIGHT = frozenset("([")


def short_text(operation: Operation, *, locations: bool = False, elide_above: int | None = None) -> str:
    """Return the text of a program in the short forms of its operations.

    Constants of more than `elide_above` elements are left out.

    >>> print(short_text(Operation("x.y", (), [mlir.IndexType()], attributes={"a": mlir.UNIT})), end="")
    %0 = "x.y"() {a} : () -> index
    """
    printer, names = ShortPrinter(locations, elide_above), TakenNames()
    printer.name_results(operation, names)
    return printer.written(printer.operation(operation, "", names, "builtin"), operation)


class _NotShort(Exception):
    """An operation that its short form cannot say."""


class TakenNames:
    """The numbers and names that are taken where a region begins."""

    def __init__(self, values: int = 0, arguments: int = 0, conflicts: int = 0,
                 taken: tuple[set[str], ...] = ()) -> None:
        self.values, self.arguments, self.conflicts = values, arguments, conflicts
        self.taken = (*taken, set())

    def inner(self) -> TakenNames:
        return TakenNames(self.values, self.arguments, self.conflicts, self.taken)

    def unique(self, name: str) -> str:
        """Return a name that no value has, with a number where another has it."""
        found = name
        while any(found in names for names in self.taken):
            found = f"{name}_{self.conflicts}"
            self.conflicts += 1
        self.taken[-1].add(found)
        return f"%{found}"


class ShortPrinter(TextPrinter):
    """Writes one text."""

    # Names

    def name_results(self, operation: Operation, names: TakenNames) -> None:
        results = operation.results
        if not results:
            return
        own = RESULT_NAMES.get(operation.name)
        given = own(operation) if own is not None else ()
        if len(given) == len(results):
            for value, name in zip(results, given, strict=True):
                self.names[value] = names.unique(name)
            return
        base = f"%{names.values}"
        names.values += 1
        for value in results:
            self.names[value] = base if len(results) == 1 else f"{base}#{value.number}"

    def name_region(self, operation: Operation, region: Region, names: TakenNames) -> None:
        special = BLOCK_NAMES.get(operation.name)
        for number, block in enumerate(region.blocks):
            self.blocks[block] = f"^bb{number}"
            given = special(operation, len(block.arguments)) if special is not None else ()
            for value in block.arguments:
                if given:
                    self.names[value] = names.unique(given[value.number])
                elif number == 0:
                    self.names[value] = names.unique(f"arg{names.arguments}")
                    names.arguments += 1
                else:
                    self.names[value] = f"%{names.values}"
                    names.values += 1
            for inner in block.operations:
                self.name_results(inner, names)

    def bound(self, operation: Operation) -> str:
        """The names of the results, with the equals sign."""
        results = operation.results
        if not results:
            return ""
        first = self.names[results[0]]
        if "#" in first:
            return f"{first.partition('#')[0]}:{len(results)} = "
        return ", ".join([self.names[r] for r in results]) + " = "

    # Operations

    def operation(self, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
        self.out.append(indent)
        yield from self.statement(operation, indent, names, dialect)
        self.out.append(f"{self.place(operation.location)}\n")

    def statement(self, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
        """An operation without its location, in its short form if that can say it."""
        out = self.out
        out.append(self.bound(operation))
        own = OWN_FORMS.get(operation.name)
        begun = len(out)
        try:
            if own is not None:
                yield from own(self, operation, indent, names, dialect)
            else:
                yield from self.by_form(operation, indent, names, dialect)
        except _NotShort:
            del out[begun:]
            yield from self.generic(operation, indent, names)

    def by_form(self, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
        part = forms().get(operation.name)
        if part is None or operation.successors:
            raise _NotShort
        form = _OperationForm(self, operation)
        text = form.text(part)
        if form.left:
            raise _NotShort
        self.out.append(spelled_name(operation.name, dialect))
        pieces = text.split("\0")
        self.out.append(pieces[0])
        for region, piece in zip(form.regions, pieces[1:], strict=True):
            yield self.braced(operation, region, indent, names, form.region_begin)
            self.out.append(piece)

    def braced(self, operation: Operation, region: Region, indent: str, names: TakenNames, is_named: bool = True
               ) -> Work:
        """A region between its braces; the arguments of its entry are named in front of it, or in its label."""
        inner = names.inner()
        self.name_region(operation, region, inner)
        self.out.append("{\n")
        yield self.region(operation, region, indent, inner, not is_named)
        self.out.append(f"{indent}}}")

    def region(self, operation: Operation, region: Region, indent: str, names: TakenNames, labels: bool) -> Work:
        dialect = operation.dialect if operation.name in ("func.func", "builtin.module") else ""
        inside = indent + "  "
        for number, block in enumerate(region.blocks):
            is_empty = not block.operations and operation.name != "builtin.module"
            if number or (labels and (block.arguments or len(region.blocks) > 1 or is_empty)):
                arguments = self.arguments(block)
                self.out.append(f"{indent}{self.blocks[block]}{f'({arguments})' if arguments else ''}:\n")
            for inner in block.operations:
                yield self.operation(inner, inside, names, dialect)

    def generic(self, operation: Operation, indent: str, names: TakenNames) -> Work:
        self.begin_generic(operation)
        for number, region in enumerate(operation.regions):
            self.out.append(", " if number else " (")
            yield self.braced(operation, region, indent, names, is_named=False)
        self.end_generic(operation)

    def dictionary(self, entries: dict[str, Any]) -> str:
        return super().dictionary(dict(sorted(entries.items())))


def spelled_name(name: str, dialect: str) -> str:
    """Return an operation's name as it stands where operations of a dialect need no prefix."""
    short = name.partition(".")[2]
    return short if dialect and FULL_NAMES.get(short) == name and name.startswith(f"{dialect}.") else name


class _OperationForm:
    """Writes one operation by its form."""

    def __init__(self, printer: ShortPrinter, operation: Operation) -> None:
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
            raise _NotShort
        return self.names[self.left.pop(0)]

    def attribute(self, name: str) -> Any:
        found = self.given.get(name)
        if found is None:
            raise _NotShort
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
                raise _NotShort

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
        raise _NotShort
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


def _expect(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise _NotShort
    return value


def _numbers(value: Any) -> str:
    return f"[{', '.join(map(str, _expect(value, mlir.DenseArrayAttribute).values))}]"


_KINDS: dict[str, Callable[[Any], str]] = {
    "i64": lambda v: str(_expect(v, mlir.IntegerAttribute).value),
    "i32": lambda v: str(_expect(v, mlir.IntegerAttribute).value),
    "ui64": lambda v: str(_expect(v, mlir.IntegerAttribute).value),
    "f64": lambda v: value_text(_expect(v, mlir.FloatAttribute)).removesuffix(" : f64"),
    "truth": lambda v: "true" if _expect(v, mlir.IntegerAttribute).value else "false",
    "i64_array": _numbers,
    "string": lambda v: quoted(_expect(v, mlir.StringAttribute).text),
    "symbol": lambda v: symbol(_expect(v, mlir.SymbolAttribute).names),
    "symbol_text": lambda v: symbol((_expect(v, mlir.StringAttribute).text,)),
}


def _operands(form: _OperationForm) -> str:
    written, form.left = ", ".join([form.names[n] for n in form.left]), []
    return written


def _operands_then(form: _OperationForm) -> list[str]:
    written = [piece for n in form.left for piece in (form.names[n], ",")]
    form.left = []
    return written


def _attributes(form: _OperationForm) -> str:
    return form.printer.dictionary(form.rest())


def _types(values: list[SsaValue], form: _OperationForm) -> str:
    return ", ".join([form.printer.text(v.type) for v in values])


def _function_type(form: _OperationForm) -> str:
    return form.printer.text(type_of(form.operation))


def _same_type(form: _OperationForm) -> str:
    operation = form.operation
    if len(operation.results) != 1:
        raise _NotShort
    type = operation.results[0].type
    return form.printer.text(type) if all(o.type == type for o in operation.operands) else _function_type(form)


def _complex_type(form: _OperationForm) -> str:
    type = form.operation.results[0].type
    if isinstance(type, mlir.TensorType) and isinstance(type.element, mlir.ComplexType):
        part = mlir.TensorType(type.shape, type.element.element, type.encoding)
        if all(o.type == part for o in form.operation.operands):
            return form.printer.text(type)
    return _function_type(form)


def _select_types(form: _OperationForm) -> str:
    predicate, *others = [o.type for o in form.operation.operands]
    type = form.operation.results[0].type
    if all(o == type for o in others):
        return f"{form.printer.text(predicate)}, {form.printer.text(type)}"
    return _function_type(form)


def _result_types(form: _OperationForm) -> str:
    types = [r.type for r in form.operation.results]
    listed = ", ".join(map(form.printer.text, types))
    return listed if len(types) == 1 else f"({listed})"


def _result_type(form: _OperationForm) -> str:
    if len(form.operation.results) != 1:
        raise _NotShort
    return form.printer.text(form.operation.results[0].type)


def _slice_ranges(form: _OperationForm) -> str:
    lists: list[tuple[int, ...]] = [_expect(form.attribute(n), mlir.DenseArrayAttribute).values
                                    for n in ("start_indices", "limit_indices", "strides")]
    starts, limits, strides = lists
    if not len(starts) == len(limits) == len(strides):
        raise _NotShort
    ranges = [f"{a}:{b}" + (f":{s}" if s != 1 else "") for a, b, s in zip(starts, limits, strides, strict=True)]
    return f"[{', '.join(ranges)}]"


def _exponent_mantissa(form: _OperationForm) -> str:
    return f"e{form.attribute('exponent_bits').value}m{form.attribute('mantissa_bits').value}"


def _dot_dimensions(kind: str) -> Callable[[_OperationForm], str]:
    def write(form: _OperationForm) -> str:
        given = dict(form.attribute("dot_dimension_numbers").parameters)
        sides = [", ".join(map(str, given.get(f"{side}_{kind}_dimensions", ()))) for side in ("lhs", "rhs")]
        return f"{kind}_dims = [{sides[0]}] x [{sides[1]}]"

    return write


def _has_batching(form: _OperationForm) -> bool:
    numbers = form.attribute("dot_dimension_numbers")
    return any("batching" in name for name, _ in numbers.parameters)


def _precisions(form: _OperationForm) -> str:
    return f"[{', '.join([_word_of(m) for m in form.attribute('precision_config').members])}]"


def _dot_precision(form: _OperationForm) -> str:
    written = [f"precision = {_precisions(form)}"] if "precision_config" in form.given else []
    if "algorithm" in form.given:
        body = form.printer.text(form.attribute("algorithm")).removeprefix("#stablehlo.dot_algorithm")
        written.append(f"algorithm = {body}")
    return ", ".join(written)


def _convolution_dimensions(form: _OperationForm) -> str:
    text = form.printer.text(form.attribute("dimension_numbers"))
    if not text.startswith("#stablehlo.conv<[") or "raw" in text:
        raise _NotShort
    return text.removeprefix("#stablehlo.conv<")[:-1]


def _window(form: _OperationForm) -> str:
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
            truths: tuple[int, ...] = _expect(value, mlir.DenseArrayAttribute).values
            parts.append(f"reverse = [{', '.join(['true' if v else 'false' for v in truths])}]")
        else:
            parts.append(f"{word} = {_numbers(value)}")
    return f"{{{', '.join(parts)}}}"


def _dense_numbers(value: Any) -> list[int]:
    shape = _expect(value, mlir.DenseAttribute).type.shape
    numbers = [int.from_bytes(value.data[n:n + 8], "little", signed=True) for n in range(0, len(value.data), 8)]
    return numbers * (shape[0] * shape[1]) if len(numbers) == 1 else numbers


def _constant(form: _OperationForm) -> str:
    return form.printer.text(form.attribute("value"))


def _is_typed_constant(form: _OperationForm) -> bool:
    return getattr(form.given.get("value"), "type", None) == form.operation.results[0].type


def _untyped_constant(form: _OperationForm) -> str:
    properties = form.printer.dictionary(form.operation.properties)
    rest = f" {form.printer.dictionary(form.operation.attributes)}" if form.operation.attributes else ""
    return f"() <{properties}>{rest} : {_function_type(form)}"


def _shardy(name: str, before: str) -> Callable[[_OperationForm], str]:
    def write(form: _OperationForm) -> str:
        text = form.printer.text(form.attribute(name))
        if not text.startswith(before):
            raise _NotShort
        return text.removeprefix(before) if before[-1] != "<" else text.removeprefix(before)[:-1]

    return write


def _axes_of(text: str) -> str:
    """The lists of `#sdy<axis_ref_list{"x"}>`, with their brackets."""
    begin = min((text.find(sign) for sign in "[{" if sign in text), default=-1)
    if not text.startswith("#sdy<") or begin < 0:
        raise _NotShort
    return text[begin:-1]


def _composite_regions(form: _OperationForm) -> list[str]:
    form.region_begin = False
    return [f"({', '.join([chr(0)] * len(form.regions))})"]


def _direction(form: _OperationForm) -> str:
    return ("NONE", "FORWARD", "BACKWARD", "BOTH")[form.attribute("allowed_direction").value]


_RULES: dict[str, Callable[[_OperationForm], str | list[str]]] = {
    "operand": _OperationForm.take, "_operands": _operands, "_operands_then": _operands_then, "attributes": _attributes,
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
    "symbol_name": lambda f: symbol((_expect(f.attribute("sym_name"), mlir.StringAttribute).text,)),
    "constant_symbol": lambda f: symbol(_expect(f.attribute("value"), mlir.SymbolAttribute).names),
    "mesh": _shardy("mesh", "#sdy.mesh"), "sharding": _shardy("sharding", "#sdy.sharding"),
    "out_sharding": _shardy("out_sharding", "#sdy.sharding"),
    "allowed_direction": _direction,
    "type_of_each": lambda f: f.printer.text(f.operation.operands[0].type),
    "first_operand_type": lambda f: f.printer.text(f.operation.operands[0].type),
    "extracted_type": lambda f: f.printer.text(f.operation.operands[0].type),
}
_THERE: dict[str, Callable[[_OperationForm], bool]] = {
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


# Operations with more than a rule can say


def _said_in_words(printer: ShortPrinter, operation: Operation, *said: str) -> str:
    rest = {n: v for n, v in {**operation.properties, **operation.attributes}.items() if n not in said}
    return f" attributes {printer.dictionary(rest)}" if rest else ""


def _module(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    name = operation.attribute("sym_name")
    if len(operation.regions) != 1 or len(operation.regions[0].blocks) != 1 or operation.operands or operation.results:
        raise _NotShort
    printer.out.append(spelled_name(operation.name, dialect) + (f" {symbol((name.text,))}" if isinstance(
        name, mlir.StringAttribute) else "") + _said_in_words(printer, operation, "sym_name") + " ")
    yield printer.braced(operation, operation.regions[0], indent, names)


def _function(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    name, visibility, type = [operation.attribute(n) for n in ("sym_name", "sym_visibility", "function_type")]
    if not isinstance(name, mlir.StringAttribute) or not isinstance(type, mlir.TypeAttribute) or not isinstance(
            type.type, mlir.FunctionType) or len(operation.regions) != 1:
        raise _NotShort
    blocks = operation.regions[0].blocks
    inner = names.inner()
    printer.name_region(operation, operation.regions[0], inner)
    given = _dictionaries(printer, operation.attribute("arg_attrs"), len(type.type.inputs))
    written = [printer.text(t) + d for t, d in zip(type.type.inputs, given, strict=True)]
    if blocks:
        if [a.type for a in blocks[0].arguments] != list(type.type.inputs):
            raise _NotShort
        written = [f"{printer.names[a]}: {w}{printer.place(a.location)}"
                   for a, w in zip(blocks[0].arguments, written, strict=True)]
    own = f"{visibility.text} " if isinstance(visibility, mlir.StringAttribute) else ""
    printer.out.append(f"{operation.name} {own}{symbol((name.text,))}({', '.join(written)})"
                       + _results_of(printer, operation, type.type.results)
                       + _said_in_words(printer, operation, "sym_name", "sym_visibility", "function_type", "arg_attrs",
                                        "res_attrs"))
    if blocks:
        printer.out.append(" {\n")
        yield printer.region(operation, operation.regions[0], indent, inner, False)
        printer.out.append(f"{indent}}}")


def _results_of(printer: ShortPrinter, operation: Operation, types: tuple[Any, ...]) -> str:
    given = _dictionaries(printer, operation.attribute("res_attrs"), len(types))
    if not types:
        return ""
    listed = ", ".join([printer.text(t) + d for t, d in zip(types, given, strict=True)])
    is_bare = len(types) == 1 and not given[0] and not isinstance(types[0], mlir.FunctionType)
    return f" -> {listed}" if is_bare else f" -> ({listed})"


def _dictionaries(printer: ShortPrinter, given: Any, count: int) -> list[str]:
    if given is None:
        return [""] * count
    if not isinstance(given, mlir.ArrayAttribute) or len(given.members) != count:
        raise _NotShort
    return [f" {printer.text(d)}" if _expect(d, mlir.DictionaryAttribute).entries else "" for d in given.members]


def _while(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    if len(operation.regions) != 2 or any(len(r.blocks) != 1 for r in operation.regions) or [
            r.type for r in operation.results] != [o.type for o in operation.operands]:
        raise _NotShort
    # the names of the body's arguments stand in front of both regions, and each names its own alike
    inner = names.inner()
    printer.name_region(operation, operation.regions[1], inner)
    if any(len(r.blocks[0].arguments) != len(operation.operands) for r in operation.regions):
        raise _NotShort
    pairs = [f"{printer.names[a]} = {printer.names[o]}" for a, o in zip(
        operation.regions[1].blocks[0].arguments, operation.operands, strict=True)]
    types = ", ".join([printer.text(o.type) for o in operation.operands])
    printer.out.append(f"{operation.name}({', '.join(pairs)}){f' : {types}' if types else ''}"
                       f"{_said_in_words(printer, operation)}\n{indent}cond ")
    yield printer.braced(operation, operation.regions[0], indent, names)
    printer.out.append(" do ")
    yield printer.braced(operation, operation.regions[1], indent, names)


def _reduce(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    count, dimensions = len(operation.operands) // 2, operation.attribute("dimensions")
    if len(operation.operands) % 2 or not isinstance(dimensions, mlir.DenseArrayAttribute) \
            or len(operation.regions) != 1 or len(operation.regions[0].blocks) != 1:
        raise _NotShort
    block = operation.regions[0].blocks[0]
    operands = [printer.names[o] for o in operation.operands]
    pairs = ", ".join([f"({a} init: {b})" for a, b in zip(operands[:count], operands[count:], strict=True)])
    applied = _applied(operation, block)
    rest = {n: v for n, v in {**operation.properties, **operation.attributes}.items() if n != "dimensions"}
    printer.out.append(f"{operation.name}{pairs}{f' applies {applied}' if applied else ''} across dimensions = "
                       f"{_numbers(dimensions)}{f' {printer.dictionary(rest)}' if rest else ''} : "
                       f"{printer.text(type_of(operation))}")
    if applied:
        return
    inner = names.inner()
    printer.name_region(operation, operation.regions[0], inner)
    if len(block.arguments) != 2 * count:
        raise _NotShort
    given = [f"{printer.names[a]}: {printer.text(a.type)}{printer.place(a.location)}" for a in block.arguments]
    listed = "".join([f"({a}, {b}) " for a, b in zip(given[:count], given[count:], strict=True)])
    printer.out.append(f"\n{indent} reducer{listed} ")
    yield printer.braced(operation, operation.regions[0], indent, names)


def _applied(operation: Operation, block: Block) -> str:
    """The operation that is all that a reduction does, or ""."""
    if len(block.operations) != 2 or len(block.arguments) != 2:
        return ""
    inner, last = block.operations
    first = operation.operands[0].type
    type = mlir.TensorType((), first.element) if isinstance(first, mlir.TensorType) else None
    is_plain = (is_applied(inner.name) and inner.operands == block.arguments and len(inner.results) == 1
                and inner.results[0].type == type and all(a.type == type for a in block.arguments)
                and last.operands == inner.results and not inner.attributes and not inner.properties)
    return inner.name if is_plain else ""


def _manual(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    if len(operation.regions) != 1 or len(operation.regions[0].blocks) != 1:
        raise _NotShort
    is_manual = operation.name == "sdy.manual_computation"
    form = _OperationForm(printer, operation)
    said = ["name", "in_shardings", "out_shardings", "manual_axes"]
    head = "" if is_manual else f"<{quoted(_expect(form.attribute('name'), mlir.StringAttribute).text)}>"
    shardings = "".join([f" {n}={_shardy(n, '#sdy.sharding_per_value<')(form)}"
                         for n in ("in_shardings", "out_shardings") if is_manual or n in form.given])
    axes = " manual_axes=" + _shardy("manual_axes", "#sdy<manual_axes")(form)[:-1] if is_manual else ""
    rest = {n: v for n, v in form.given.items() if n not in said}
    inner = names.inner()
    printer.name_region(operation, operation.regions[0], inner)
    printer.out.append(f"{operation.name}{head}({', '.join(form.names)}){shardings}{axes}"
                       f"{f' {printer.dictionary(rest)}' if rest else ''} "
                       f"({printer.arguments(operation.regions[0].blocks[0])}) ")
    yield printer.braced(operation, operation.regions[0], indent, names)
    printer.out.append(f" : {printer.text(type_of(operation))}")


def _scan(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    form = _OperationForm(printer, operation)
    carried: tuple[int, ...] = _expect(form.attribute("operandSegmentSizes"), mlir.DenseArrayAttribute).values
    if len(carried) != 2 or sum(carried) != len(form.names) or len(operation.regions) != 1:
        raise _NotShort
    printer.out.append(f"{operation.name}({', '.join(form.names[:carried[0]])}) "
                       f"inits ({', '.join(form.names[carried[0]:])}) dimension={form.attribute('dimension').value} "
                       + _said_in_words(printer, operation, "dimension", "operandSegmentSizes", "resultSegmentSizes")
                       + " ")
    yield printer.braced(operation, operation.regions[0], indent, names, is_named=False)
    printer.out.append(f" : {printer.text(type_of(operation))}")


def _no_form(printer: ShortPrinter, operation: Operation, indent: str, names: TakenNames, dialect: str) -> Work:
    raise _NotShort
    yield


#: operations whose form is more than a rule can say
OWN_FORMS: dict[str, Callable[[ShortPrinter, Operation, str, TakenNames, str], Work]] = {
    "builtin.module": _module, "func.func": _function, "stablehlo.while": _while, "stablehlo.reduce": _reduce,
    "sdy.manual_computation": _manual, "sdy.named_computation": _manual, "chlo.scan": _scan,
    "func.call_indirect": _no_form,
}
