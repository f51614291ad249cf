"""Types, attributes and locations from text: what the rules of grammars/stablehlo.lark make of their children."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, cast

from hlotool.diagnostics import did_you_mean
from hlotool.grammars import Descent, Mismatch, Reader, blank_of
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.codes import BAD_NUMBER, BAD_TYPE, NESTED, REDEFINED, UNDEFINED
from hlotool.mlir.defined_attributes import fields_of_attribute
from hlotool.mlir.elements_text import array_values, dense_of, integer_range, unescaped
from hlotool.mlir.print_floats import float_bits, float_text, float_width
from hlotool.mlir.print_values import value_text
from hlotool.mlir.text_error import TextError
from hlotool.mlir.vhlo_operations import WHOLE

I1, I32, I64 = mlir.IntegerType(1), mlir.IntegerType(32), mlir.IntegerType(64)
UI64 = mlir.IntegerType(64, "u")
F64 = mlir.FloatType("f64")
_WIDEST = (1 << 24) - 1
_DEEPEST = 200
BLANK = blank_of("stablehlo")
#: matches what may stand between tokens, nothing if need be
skip = cast("Callable[[str, int], re.Match[str]]", re.compile(BLANK, re.ASCII).match)
_TENSOR = r"tensor<[\w?]*+(?:<\w*+>)?>"
#: a type in which nothing depends on other lines of the text
_PLAIN_TYPE = re.compile(rf"({_TENSOR}){BLANK}", re.ASCII)
_ANGLES = r'<[^<>"\n]*+(?:<[^<>"\n]*+(?:<[^<>"\n]*+>[^<>"\n]*+)*+>[^<>"\n]*+)*+>'
#: a function's type or that of a tensor, up to what ends it
_OWN_TYPE = re.compile(
    rf'(\([^()"\n]*+\) -> (?:\([^()"\n]*+\)|tensor{_ANGLES})(?! ->)|tensor{_ANGLES}){BLANK}', re.ASCII)
_PLAIN_ATTRIBUTE = re.compile(
    rf'(dense<[^<>"{{}}\n]*+> : {_TENSOR}|array<[^<>"!#\n]*+>|-?\d++ : [iu]++\d++){BLANK}(?=[,}}\]>])', re.ASCII)
_OWN_ATTRIBUTE = re.compile(rf'(#[a-z]++(?:\.\w++)?{_ANGLES}){BLANK}(?=[,}}\]>])', re.ASCII)
_SIZE = re.compile(r"\d+|\?")
_ALIAS_IN_BODY = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[#!][A-Za-z_][\w$]*+(?![.<\w$])', re.ASCII)
_ALIAS_LINE = re.compile(r"^[^\S\n]*(#[A-Za-z_][\w$]*+)[^\S\n]*=[^\S\n]*(?=loc\b)", re.M | re.ASCII)
#: a location as most are written: a name, with the alias of a place inside of it, or a file
_PLAIN_PLACE = re.compile(r'loc\("([^"\\\n]*+)"(?:\((#loc\d*+)\)|:(\d{1,9}):(\d{1,9}))?+\)', re.ASCII)
_DECIMAL = re.compile(r"-?\d+\.\d*(?:[eE][+-]?\d+)?")
_RAW = re.compile(r"\s*raw\s+")
_STORAGE = re.compile(r"^([su]?i?\d{1,3})<(-?\d{1,40}):(-?\d{1,40})>")
#: storage type, expressed type and dimensions, in front of the scales
_EXPRESSED = re.compile(r"^([^,{]*(?:\{[^}]*\})?),")
#: dialects whose attributes have lists of parameters
_LISTED = ("stablehlo.", "vhlo.", "chlo.", "mhlo.")
#: parameters that are numbers, or lists of numbers, as printers write them
_GIVEN = r"\w+ = (?:-?\d{1,18}|\[(?:\d{1,18}(?:, \d{1,18})*)?\])"
_NUMBERS = re.compile(rf"{_GIVEN}(?:, {_GIVEN})*", re.ASCII)
_NUMBER = re.compile(r"(\w+) = (?:(-?\d+)|\[([\d, ]*)\])", re.ASCII)
_ONE_WORD = re.compile(r"([A-Za-z_]\w*) ([A-Za-z_]\w*)")
_DOTTED = re.compile(r"([A-Za-z_][\w.]*)<([\s\S]*)>")


#: values of texts in which nothing depends on other lines, whatever program they stand in
_plain: dict[str, Any] = {}
_MOST_PLAIN, _LONGEST_PLAIN = 50_000, 5000


def _keep(known: dict[str, Any], text: str, value: Any) -> None:
    if len(text) <= _LONGEST_PLAIN:
        if len(known) >= _MOST_PLAIN:
            known.clear()
        known[text] = value


def _cached_reader(rule: str, plain: re.Pattern[str], own: re.Pattern[str]) -> Reader:
    """Return what reads a rule, and looks up the texts that were read before: some anywhere, some in this program."""

    def read(text: str, at: int, out: list[Any], builder: Any) -> int:
        known = _plain
        found = plain.match(text, at)
        if found is None:
            known, found = builder.known_texts, own.match(text, at)
        value = known.get(found[1]) if found is not None else None
        if found is not None and value is not None:
            out.append(value)
            return found.end()
        end = deeper(text, at, out, builder)
        if found is not None and found.end() == end:
            _keep(known, found[1], out[-1])
        return end

    deeper = _nested_reader(rule)
    return read


def _nested_reader(rule: str) -> Reader:
    def read(text: str, at: int, out: list[Any], builder: Any) -> int:
        builder.depth += 1
        if builder.depth > _DEEPEST:
            raise TextError(NESTED, f"brackets are nested more than {_DEEPEST} deep", at, at + 1)
        end: int = builder.rules.body_of(rule)(text, at, out, builder)
        builder.depth -= 1
        return end

    return read


class ValueBuilder:
    """Makes types, attributes and locations of the children of rules, and knows the names that stand for them."""

    READERS: ClassVar[dict[str, Reader]] = {
        "type": _cached_reader("type", _PLAIN_TYPE, _OWN_TYPE),
        "attribute": _cached_reader("attribute", _PLAIN_ATTRIBUTE, _OWN_ATTRIBUTE),
        **{rule: _nested_reader(rule) for rule in ("inner_body", "place", "inner_angles", "inner_brackets",
                                                   "inner_braces", "parameter_value")}}
    rules: Any

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        self.type_aliases: dict[str, Any] = {}
        self.attribute_aliases: dict[str, Any] = {}
        #: places of the texts of locations that have a name, found when one is asked for
        self._location_texts: dict[str, int] | None = None
        self._locations: dict[str, Any] = {}
        #: texts of types and attributes that stand for the same wherever they are in this program
        self.known_texts: dict[str, Any] = {}

    def read(self, rule: str, at: int) -> tuple[Any, int]:
        """Return the value of a rule that begins at a place, and where it ends."""
        out: list[Any] = []
        end = self.rules.rule(rule)(self.text, at, out, self)
        return out[0], end

    def named(self, rule: str, children: list[Any], start: int, end: int) -> Any:
        """Return the children of a rule whose value they are."""
        return children[0] if len(children) == 1 else tuple(children)

    def _written(self, start: int, end: int) -> str:
        return self.text[start:end].rstrip()

    # Types

    def _sized(self, written: str | None) -> tuple[int | None, ...] | None:
        if written is None:
            return ()
        if written.startswith("*"):
            return None
        if len(written) > 4000 and any(len(size) > 4000 for size in _SIZE.findall(written)):
            return (1 << 63,)
        return tuple(None if size == "?" else int(size) for size in _SIZE.findall(written))

    def _shape(self, written: str | None, start: int) -> tuple[int | None, ...] | None:
        found = self._sized(written)
        if found and any(size is not None and size >= 1 << 63 for size in found):
            raise TextError(BAD_NUMBER, "a size is larger than an array can be", start, start + len(written or ""))
        return found

    def tensor(self, children: list[Any], start: int, end: int) -> Any:
        shape, element, encoding = children
        if isinstance(element, (mlir.TensorType, mlir.TupleType, mlir.FunctionType, mlir.MemRefType, mlir.NoneType)):
            raise TextError(BAD_TYPE, f"a tensor has no elements of type {value_text(element)}", start,
                            start + len(self._written(start, end)))
        return mlir.TensorType(self._shape(shape, start), element, encoding)

    def vector(self, children: list[Any], start: int, end: int) -> Any:
        sizes, element = children
        listed = re.findall(r"\[?\d+\]?", sizes or "")
        scalable = tuple(size[0] == "[" for size in listed)
        shape = self._shape(sizes, start) or ()
        return mlir.VectorType(tuple(s or 0 for s in shape), element, scalable if any(scalable) else ())

    def memref(self, children: list[Any], start: int, end: int) -> Any:
        sizes, element, *more = [child for number, child in enumerate(children) if number < 2 or child is not None]
        layout, space = ([*more, None, None])[:2]
        if layout is not None and space is None and not isinstance(layout, (mlir.TextAttribute, mlir.DialectAttribute)):
            layout, space = None, layout
        return mlir.MemRefType(self._shape(sizes, start), element, layout, space)

    def complex_of(self, children: list[Any], start: int, end: int) -> Any:
        if not isinstance(children[0], (mlir.FloatType, mlir.IntegerType)):
            raise TextError(BAD_TYPE, "a complex type has parts of floats or integers", start,
                            start + len(self._written(start, end)))
        return mlir.ComplexType(children[0])

    def tuple_of_types(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.TupleType(tuple(c for c in children if c is not None))

    def function(self, children: list[Any], start: int, end: int) -> Any:
        *inputs, results = children
        return mlir.FunctionType(tuple(i for i in inputs if i is not None), results)

    def result_types(self, children: list[Any], start: int, end: int) -> Any:
        return tuple(c for c in children if c is not None)

    def function_types(self, children: list[Any], start: int, end: int) -> Any:
        return self.function(children, start, end)

    def integer_type(self, children: list[Any], start: int, end: int) -> Any:
        sign = children[0][0] if children[0][0] != "i" else ""
        digits = children[0].lstrip("sui")
        if len(digits) > 8 or int(digits) > _WIDEST:
            raise TextError(BAD_TYPE, f"an integer has at most {_WIDEST} bits", start, start + len(children[0]))
        return mlir.IntegerType(int(digits), sign)

    def float_type(self, children: list[Any], start: int, end: int) -> Any:
        if not float_width(children[0]):
            raise TextError(BAD_TYPE, f"{children[0]} is no type of floats", start, start + len(children[0]))
        return mlir.FloatType(children[0])

    def index_type(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.IndexType()

    def none_type(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.NoneType()

    def aliased_type(self, children: list[Any], start: int, end: int) -> Any:
        known = self.type_aliases.get(children[0])
        if known is None:
            raise TextError(UNDEFINED, f"no line above defines the type {children[0]}", start,
                            start + len(children[0]))
        return known

    def dialect_type(self, children: list[Any], start: int, end: int) -> Any:
        dialect, _, mnemonic = children[0][1:].partition(".")
        if dialect == "stablehlo" and mnemonic not in ("token", "future"):
            raise TextError(BAD_TYPE, f"StableHLO has no type {mnemonic}", start, start + len(children[0]),
                            help="its own types are !stablehlo.token and !stablehlo.future<...>")
        parameters = self._parameters(children[1], start)
        if dialect == "quant" and parameters:
            parameters = (("", mlir.Bracketed(_quantised(parameters[0][1].text))),)
        return mlir.DialectType(dialect, mnemonic, parameters)

    def short_dialect_type(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.DialectType(*self._short(children, start))

    # Attributes

    def unit(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.UNIT

    def true(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.IntegerAttribute(1, I1)

    def false(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.IntegerAttribute(0, I1)

    def number(self, children: list[Any], start: int, end: int) -> Any:
        written, type = children
        if "." in written:
            type = type or F64
            bits = float_bits(float(written), type.name) if isinstance(type, mlir.FloatType) else None
            if bits is None:
                raise TextError(BAD_NUMBER, f"{written} is no value of {value_text(type)}", start,
                                start + len(written))
            return mlir.FloatAttribute(bits, type)
        type = type or I64
        if isinstance(type, mlir.FloatType):
            if "x" not in written or written[0] == "-":
                raise TextError(BAD_NUMBER, f"{written} is an integer, and its type has floats", start,
                                start + len(written), help=f"write {written}.0")
            return mlir.FloatAttribute(self._within(int(written, 16), 0, (1 << float_width(type.name)) - 1, written,
                                                    start), type)
        if not isinstance(type, (mlir.IntegerType, mlir.IndexType)):
            raise TextError(BAD_NUMBER, f"{written} is no value of {value_text(type)}", start, start + len(written))
        value = self._within(self._integer(written, start), *integer_range(type), written, start)
        width = getattr(type, "width", 64)
        wraps = getattr(type, "signedness", "") != "u" and width > 1 and value >> width - 1 == 1
        if width == 1 and getattr(type, "signedness", "") == "":
            value &= 1
        return mlir.IntegerAttribute(value - (1 << width) if wraps else value, type)

    def _integer(self, written: str, start: int) -> int:
        if len(written) > 4000:
            raise TextError(BAD_NUMBER, f"a number of {len(written)} digits fits no type", start, start + len(written))
        return int(written, 16 if "x" in written else 10)

    def _within(self, value: int, low: int, high: int, written: str, start: int) -> int:
        if not low <= value <= high:
            shown = written if len(written) < 40 else written[:40] + "..."
            raise TextError(BAD_NUMBER, f"{shown} is out of the range of its type, {low} to {high}", start,
                            start + len(written))
        return value

    def i64_of(self, written: str, start: int) -> int:
        """Return an integer that must fit 64 bits."""
        return self._within(self._integer(written, start), -(1 << 63), (1 << 63) - 1, written, start)

    def string_attribute(self, children: list[Any], start: int, end: int) -> Any:
        text, type = children
        if type == mlir.NoneType():
            type = None
        return mlir.StringAttribute(unescaped(text, start), type)

    def symbol_attribute(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.SymbolAttribute(tuple(self.symbol_name_of(c, start) for c in children))

    def symbol_name_of(self, written: str, start: int) -> str:
        """Return the name that `@name` or `@"name"` refers to."""
        return unescaped(written[1:], start + 1) if written[1] == '"' else written[1:]

    def array(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.ArrayAttribute(tuple(c for c in children if c is not None))

    def dictionary(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.DictionaryAttribute(tuple(sorted(children[0].items())))

    def entries(self, children: list[Any], start: int, end: int) -> Any:
        found: dict[str, Any] = {}
        for entry in children:
            if entry is None:
                continue
            name, value, at, after = entry
            if name in found:
                raise TextError(REDEFINED, f"the attribute {name} is given twice", at, after)
            found[name] = value
        return found

    def entry(self, children: list[Any], start: int, end: int) -> Any:
        name, value = children
        after = start + len(name)
        if name[0] == '"':
            name = unescaped(name, start)
        return name, mlir.UNIT if value is None else value, start, after

    def dense(self, children: list[Any], start: int, end: int) -> Any:
        elements, type = children
        at = self.text.index("<", start) + 1
        if elements is not None:
            at = self.text.index(elements, at)
        colon = self.text.index(":", at + len(elements or ""))
        return dense_of(elements or "", type, at, skip(self.text, colon + 1).end())

    def dense_array(self, children: list[Any], start: int, end: int) -> Any:
        element, *pieces = children
        return mlir.DenseArrayAttribute(element, array_values(element, [p for p in pieces if p is not None], start,
                                                              self._written(start, end)))

    def dense_resource(self, children: list[Any], start: int, end: int) -> Any:
        key, type = children
        return mlir.DenseResourceAttribute(type, unescaped(key, start) if key[0] == '"' else key)

    def sparse(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.TextAttribute(self._written(start, end))

    def text_attribute(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.TextAttribute(self._written(start, end))

    def distinct(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.TextAttribute(self._written(start, end))

    def type_attribute(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.TypeAttribute(children[0])

    def attribute(self, children: list[Any], start: int, end: int) -> Any:
        return children[0]

    elements = literal = other_attribute = attribute

    def aliased_attribute(self, children: list[Any], start: int, end: int) -> Any:
        name = children[0]
        known = self.attribute_aliases.get(name)
        return known if known is not None else self.aliased_place(children, start, end)

    def dialect_attribute(self, children: list[Any], start: int, end: int) -> Any:
        dialect, _, mnemonic = children[0][1:].partition(".")
        parameters = self._parameters(children[1], start, f"{dialect}.{mnemonic}")
        if (dialect, mnemonic) == ("stablehlo", "type_extensions"):
            mnemonic = "bounds"  # its name in print
        return mlir.DialectAttribute(dialect, mnemonic, parameters)

    def short_dialect_attribute(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.DialectAttribute(*self._short(children, start))

    def body(self, children: list[Any], start: int, end: int) -> Any:
        """The text between angle brackets, and where it begins and the next token does."""
        return "".join(children[1:-1]), start + 1, end

    def bracketed(self, children: list[Any], start: int, end: int) -> Any:
        return "".join(children)

    inner_body = braced = inner_angles = inner_brackets = inner_braces = bracketed

    def _short(self, children: list[Any], start: int) -> tuple[str, str, Any]:
        """The dialect, mnemonic and parameters of `#dialect<mnemonic ...>`."""
        dialect, (text, at, _) = children[0][1:], children[1]
        if found := _ONE_WORD.fullmatch(text):
            return dialect, found[1], (("", found[2]),)
        if found := _DOTTED.fullmatch(text):
            return dialect, found[1], self._parameters((found[2], at + found.start(2), 0), start)
        if re.fullmatch(r"[A-Za-z_][\w.]*", text):
            return dialect, text, ()
        return dialect, "", (("", self._body(text)),)

    def _parameters(self, body: tuple[str, int, int] | None, start: int, name: str = "") -> Any:
        """The parameters in a body, as far as it is a list of values; else the body as it is."""
        if body is None:
            return ()
        text, at, end = body
        if name == "stablehlo.conv":
            found = self._convolution(text, at, end)
        else:
            found = self._list_of(text, at, end) if name.startswith(_LISTED) else None
        self._refuse_repeated(found, name, text, at)
        if name == "stablehlo.type_extensions" and found and found[0][0] == "bounds":
            return tuple([("", size) for size in found[0][1]])
        if name == "stablehlo.result_accuracy" and found:
            return tuple([(n, mlir.Bracketed(float_text(_f64_bits(v), "f64")) if n in ("atol", "rtol") else v)
                          for n, v in found if v != 0])
        fields = fields_of_attribute(name.removeprefix("stablehlo.")) if name.startswith("stablehlo.") else {}
        if fields and not text.lstrip().startswith("raw"):
            found = self._in_order(fields, found, name, text, at)
        return found or (("", self._body(text)),)

    def _refuse_repeated(self, found: Any, name: str, text: str, at: int) -> None:
        """Raise TextError where a field is given twice."""
        given = [field for field, _ in found or () if field]
        if len(given) > len(set(given)):
            twice = next(field for field in given if given.count(field) > 1)
            raise TextError(BAD_TYPE, f"#{name} has its field {twice} twice", at, at + len(text))

    def _in_order(self, fields: dict[str, bool], found: Any, name: str, text: str, at: int) -> Any:
        """The parameters of an attribute whose fields are known, in their order; empty lists and zeros are left out."""
        given = dict(found or ())
        wrong = next((n for n in given if n not in fields), None)
        if (found is None and text.strip()) or wrong is not None or len(given) < len(found or ()):
            raise TextError(BAD_TYPE, f"#{name} has the fields {', '.join(fields)}, each once" if wrong is None
                            else f"#{name} has no field {wrong}", at, at + len(text),
                            help=did_you_mean(wrong, fields) if wrong is not None else "")
        is_whole = name[10:] in WHOLE
        return tuple([(n, given[n]) for n in fields if n in given and (is_whole or given[n] not in ((), 0))])

    def _body(self, text: str) -> mlir.Bracketed:
        """The body as a text in which no alias stands."""
        return mlir.Bracketed(_ALIAS_IN_BODY.sub(self._spelled_out, text))

    def _spelled_out(self, found: re.Match[str]) -> str:
        name = found[0]
        value = self.type_aliases.get(name, self.attribute_aliases.get(name))
        return name if name[0] == '"' or value is None else value_text(value)

    def _list_of(self, text: str, at: int, end: int) -> Any:
        """The parameters between the angle brackets that begin before one place and end before another."""
        if _NUMBERS.fullmatch(text):
            return tuple([(m[1], int(m[2]) if m[2] else tuple(map(int, m[3].split(","))) if m[3] else ())
                          for m in _NUMBER.finditer(text)])
        depth, out = self.depth, []  # type: ignore[var-annotated]
        begin = skip(self.text, at).end()
        try:
            close = self.rules.rule("parameters")(self.text, begin, out, self)
        except (Mismatch, TextError):
            self.depth = depth
            return None
        found = out[0]
        if not self._closes(close, end) or not found:
            return None
        # a word alone is written with its mnemonic, and then it stands in the body
        return None if len(found) == 1 and not found[0][0] and isinstance(found[0][1], str) else found

    def _closes(self, at: int, end: int) -> bool:
        return self.text[at:at + 1] == ">" and skip(self.text, at + 1).end() == end

    def parameters(self, children: list[Any], start: int, end: int) -> Any:
        return tuple(c for c in children if c is not None)

    def named_parameter(self, children: list[Any], start: int, end: int) -> Any:
        return children[0], children[1]

    def plain_parameter(self, children: list[Any], start: int, end: int) -> Any:
        return "", children[0]

    def word(self, children: list[Any], start: int, end: int) -> Any:
        return children[0]

    def unknown_size(self, children: list[Any], start: int, end: int) -> Any:
        return "?"

    def list_parameter(self, children: list[Any], start: int, end: int) -> Any:
        return tuple(c for c in children if c is not None)

    def number_parameter(self, children: list[Any], start: int, end: int) -> Any:
        """A number, which has a type only where one is written."""
        if children[1] is not None:
            return self.number(children, start, end)
        return float(children[0]) if "." in children[0] else self.i64_of(children[0], start)

    def true_parameter(self, children: list[Any], start: int, end: int) -> Any:
        return True

    def false_parameter(self, children: list[Any], start: int, end: int) -> Any:
        return False

    def parameter_value(self, children: list[Any], start: int, end: int) -> Any:
        """An attribute; a type stands for itself."""
        return children[0].type if isinstance(children[0], mlir.TypeAttribute) else children[0]

    def _convolution(self, text: str, at: int, end: int) -> Any:
        """The dimensions of `[b, 0, f]x[0, i, o]->[b, 0, f]`; None for the other form."""
        if "=" in text:
            return self._raw_convolution(text, at, end)
        if "[" not in text:
            return None
        found, close = self.read("dimension_numbers", skip(self.text, at).end())
        return found.parameters if self._closes(close, end) else None

    def _raw_convolution(self, text: str, at: int, end: int) -> Any:
        """The dimensions of `raw input_batch_dimension = 0, ...`; None where they are not each dimension once."""
        begin = _RAW.match(self.text, at)
        listed = self._list_of("", begin.end(), end) if begin is not None else None
        self._refuse_repeated(listed, "stablehlo.conv", text, at)
        given = dict(listed or ())
        fields = fields_of_attribute("conv")
        for side in ("input", "kernel", "output"):
            places: list[Any] = [p for n in fields if n.startswith(side)
                                 for p in (given.get(n, ()) if fields[n] else (given.get(n),))]
            if sorted(places, key=repr) != list(range(len(places))):
                return None
        return tuple([(n, given[n]) for n in fields])

    # Locations

    def location(self, children: list[Any], start: int, end: int) -> Any:
        return children[0]

    def named_place(self, children: list[Any], start: int, end: int) -> Any:
        name = unescaped(children[0], start)
        match children[1:]:
            case [str(line), str(column), None]:
                return mlir.FileLocation(name, self.u32_of(line, start), self.u32_of(column, start))
            case [str(line), str(column), end_line, str(end_column)]:
                first = self.u32_of(line, start)
                return mlir.FileLocation(name, first, self.u32_of(column, start),
                                         first if end_line is None else self.u32_of(end_line, start),
                                         self.u32_of(end_column, start))
            case [None]:
                return mlir.NameLocation(name)
        return mlir.NameLocation(name, children[1])

    def u32_of(self, written: str, start: int) -> int:
        """Return a number of a line or column."""
        return self._within(self._integer(written, start), 0, (1 << 32) - 1, written, start)

    def call_place(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.CallLocation(*children)

    def fused_place(self, children: list[Any], start: int, end: int) -> Any:
        metadata, *places = children
        return mlir.FusedLocation(tuple(p for p in places if p is not None), metadata)

    def unknown_place(self, children: list[Any], start: int, end: int) -> Any:
        return mlir.UNKNOWN

    def aliased_place(self, children: list[Any], start: int, end: int) -> Any:
        name = children[0]
        known = self._locations.get(name)
        if known is None:
            known = self._locations[name] = self._defined_place(name, start)
        return known

    def _defined_place(self, name: str, start: int) -> Any:
        """The location of a name, which a line further on may define."""
        at = self._texts_of_locations().pop(name, None)
        if at is None:
            raise TextError(UNDEFINED, f"no line defines {name}, or it is defined by itself", start, start + len(name))
        return self.read("location", at)[0]

    def _texts_of_locations(self) -> dict[str, int]:
        if self._location_texts is None:
            self._location_texts = {m[1]: m.end() for m in _ALIAS_LINE.finditer(self.text)}
        return self._location_texts

    def plain_place(self, name: str) -> mlir.Location | None:
        """Return the location of an alias whose line is as most are; None for others, which the grammar reads."""
        found = self._locations.get(name)
        if found is None:
            texts = self._texts_of_locations()
            at = texts.pop(name, None)
            if at is not None:
                found = self._plain_place_at(at)
                if found is None:
                    texts[name] = at
                else:
                    self._locations[name] = found
        return found

    def _plain_place_at(self, at: int) -> mlir.Location | None:
        written = _PLAIN_PLACE.match(self.text, at)
        if written is None:
            return None
        name, inner, line, column = written.groups()
        if line is not None:
            return mlir.FileLocation(name, int(line), int(column))
        if inner is None:
            return mlir.NameLocation(name)
        place = self.plain_place(inner)
        return None if place is None else mlir.NameLocation(name, place)


def _f64_bits(number: float) -> int:
    """Return the bits of a decimal number; a whole one is the bits themselves, for floats are written so."""
    return number if isinstance(number, int) else float_bits(number, "f64") or 0


def _quantised(text: str) -> str:
    """The parameters of a quantised type as MLIR prints them.

    >>> _quantised("i8:f32, 2.0: 0")
    'i8:f32, 2.000000e+00'
    """
    text = _STORAGE.sub(lambda m: m[1] if _is_whole_range(m[1], int(m[2]), int(m[3])) else m[0], "".join(text.split()))
    text = _DECIMAL.sub(lambda m: float_text(float_bits(float(m[0]), "f64") or 0, "f64"), text)
    return _EXPRESSED.sub(r"\1, ", re.sub(r"(\de[+-]\d+):0(?!\d)", r"\1", text), count=1)


def _is_whole_range(storage: str, low: int, high: int) -> bool:
    width = int(storage.lstrip("sui"))
    return (low, high) == ((0, (1 << width) - 1) if storage[0] == "u" else (-(1 << width - 1), (1 << width - 1) - 1))


class Rules:
    """The readers of the grammar's rules for one builder."""

    def __init__(self, builder: Any) -> None:
        self.descent = Descent("stablehlo", builder)
        self._bodies: dict[str, Reader] = {}

    def rule(self, name: str) -> Reader:
        """Return the reader of a rule."""
        return self.descent.rule(name)

    def body_of(self, name: str) -> Reader:
        """Return the reader of a rule that a builder reads itself, without that."""
        if name not in self._bodies:
            self._bodies[name] = self.descent.own(name)
        return self._bodies[name]
