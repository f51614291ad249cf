"""Types, attributes and locations as MLIR's text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.narrow_integers import without_signs
from hlotool.mlir.print_floats import float_text, float_width

#: so many elements are listed; more are written as their bytes
_MOST_LISTED = 100
_BARE = re.compile(r"[A-Za-z_][\w$.]*")
_NUMBER = re.compile(r"-?[\d.]+(?:[eE][+-]\d+)?")
_PLAIN = re.compile(r'[ !#-\[\]-~]*')


def quoted(text: str) -> str:
    """Return a string as MLIR writes it: what is neither printable nor harmless as two hexadecimal digits.

    >>> print(quoted('a"b'))
    "a\\22b"
    """
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    data = text.encode("utf-8", "surrogateescape")
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else "\\\\" if b == 92 else f"\\{b:02X}"
                         for b in data) + '"'


def _name(text: str) -> str:
    return text if _BARE.fullmatch(text) and text.isascii() else quoted(text)


def symbol(names: tuple[str, ...]) -> str:
    """Return a reference to a symbol: `@name`, `@root::@nested`."""
    return "::".join(f"@{_name(name)}" for name in names)


def value_text(value: Any, place: Callable[[Any], str] | None = None, elide_above: int | None = None) -> str:
    """Return the text of a type, an attribute or a location.

    `place` writes what a location holds in its brackets where others refer to it, by default its whole text. Constants
    of more than `elide_above` elements that are not all equal are left out, as MLIR writes them.

    >>> value_text(mlir.TensorType((2, None), mlir.FloatType("f32")))
    'tensor<2x?xf32>'
    """
    return _ValueWriter(place, elide_above)(value)


class _ValueWriter:
    """Writes values; `place` writes locations inside of others."""

    def __init__(self, place: Callable[[Any], str] | None, elide_above: int | None) -> None:
        self.place = place or self.bare_location
        self.elide_above = elide_above

    def __call__(self, value: Any) -> str:
        writer = _WRITERS.get(type(value))
        return writer(self, value) if writer is not None else self.parameter(value)

    def listed(self, values: Any) -> str:
        return ", ".join([self(v) for v in values])

    def shaped(self, keyword: str, dimensions: tuple[str, ...] | None, value: Any, *more: Any) -> str:
        shape = "*x" if dimensions is None else "".join([f"{d}x" for d in dimensions])
        rest = "".join([f", {self(m)}" for m in more if m is not None])
        return f"{keyword}<{shape}{self(value.element)}{rest}>"

    def tensor(self, value: mlir.TensorType) -> str:
        return self.shaped("tensor", _dimensions(value.shape), value, value.encoding)

    def memref(self, value: mlir.MemRefType) -> str:
        return self.shaped("memref", _dimensions(value.shape), value, value.layout, value.memory_space)

    def vector(self, value: mlir.VectorType) -> str:
        scalable = value.scalable or (False,) * len(value.shape)
        return self.shaped("vector", tuple(f"[{d}]" if s else str(d)
                                           for d, s in zip(value.shape, scalable, strict=True)), value)

    def function(self, value: mlir.FunctionType) -> str:
        results = self.listed(value.results)
        bare = len(value.results) == 1 and not isinstance(value.results[0], mlir.FunctionType)
        return f"({self.listed(value.inputs)}) -> " + (results if bare else f"({results})")

    def integer(self, value: mlir.IntegerAttribute) -> str:
        if value.type == mlir.IntegerType(1):
            return "true" if value.value else "false"
        return f"{value.value} : {self(value.type)}"

    def string(self, value: mlir.StringAttribute) -> str:
        return quoted(value.text) + (f" : {self(value.type)}" if value.type is not None else "")

    def entries(self, entries: Any) -> str:
        """The entries of a dictionary, without braces; of a unit the name is enough."""
        return ", ".join([_name(name) if type(v) is mlir.UnitAttribute else f"{_name(name)} = {self(v)}"
                          for name, v in entries])

    def dense_array(self, value: mlir.DenseArrayAttribute) -> str:
        elements = ", ".join(element_texts(value.element, value.values))
        return f"array<{self(value.element)}{': ' if elements else ''}{elements}>"

    def dense(self, value: mlir.DenseAttribute) -> str:
        if self.elide_above is not None and _number_of_stored(value) > max(self.elide_above, 1):
            return self(mlir.DenseResourceAttribute(value.type, "__elided__"))
        return f"dense<{self.elements(value)}> : {self(value.type)}"

    def elements(self, value: mlir.DenseAttribute) -> str:
        """The elements between the angle brackets: one, a nested list, or bytes."""
        element = value.type.element  # type: ignore[union-attr]
        count = _number_of_stored(value)
        if count > _MOST_LISTED:
            return f'"0x{without_signs(value.data, element).hex().upper()}"'
        texts = list(element_texts(element, _numbers(value.data, element)))
        if count == 1:
            return texts[0]
        return _nested(texts, value.type.shape or ()) if count else ""  # type: ignore[union-attr]

    def strings(self, value: mlir.DenseStringsAttribute) -> str:
        texts = [quoted(t) for t in value.texts]
        shape = value.type.shape or ()  # type: ignore[union-attr]
        inner = texts[0] if len(texts) == 1 else _nested(texts, shape) if texts else ""
        return f"dense<{inner}> : {self(value.type)}"

    def sparse(self, value: mlir.SparseAttribute) -> str:
        values = value.values
        inner = self.elements(values) if isinstance(values, mlir.DenseAttribute) else \
            self.strings(values).removeprefix("dense<").rpartition("> : ")[0]
        return f"sparse<{self.elements(value.indices)}, {inner}> : {self(value.type)}"

    def dialect(self, sign: str, value: Any) -> str:
        parameters = value.parameters
        if not parameters:
            return f"{sign}{value.dialect}.{value.mnemonic}" if value.mnemonic else f"{sign}{value.dialect}<>"
        if len(parameters) == 1 and not parameters[0][0] and _BARE.fullmatch(str(parameters[0][1])) and type(
                parameters[0][1]) is str:
            return f"{sign}{value.dialect}<{value.mnemonic} {parameters[0][1]}>"
        spelled = SPELLINGS.get((value.dialect, value.mnemonic), _ValueWriter.parameters)
        body = spelled(self, parameters)
        return f"{sign}{value.dialect}{'.' if value.mnemonic else ''}{value.mnemonic}<{body}>"

    def parameters(self, parameters: tuple[tuple[str, Any], ...]) -> str:
        return ", ".join([f"{name} = {self(v)}" if name else self(v) for name, v in parameters])

    def parameter(self, value: Any) -> str:
        """Write values that only a dialect's parameters hold: words, numbers, lists."""
        if isinstance(value, tuple):
            return f"[{self.listed(value)}]"
        if isinstance(value, bool):
            return "true" if value else "false"
        return f"{value:.17e}" if isinstance(value, float) else str(value)

    def location(self, value: Any) -> str:
        return f"loc({self.bare_location(value)})"

    def bare_location(self, value: Any) -> str:
        """Write the text between the brackets of a location."""
        match value:
            case mlir.FileLocation():
                end = "" if value.end_column is None else f" to :{value.end_column}" \
                    if value.end_line in (None, value.line) else f" to {value.end_line}:{value.end_column}"
                return f"{quoted(value.file)}:{value.line}:{value.column}{end}"
            case mlir.NameLocation():
                inner = "" if value.place is mlir.UNKNOWN else f"({self.place(value.place)})"
                return quoted(value.name) + inner
            case mlir.CallLocation():
                return f"callsite({self.place(value.callee)} at {self.place(value.caller)})"
            case mlir.FusedLocation():
                metadata = "" if value.metadata is None else f"<{self(value.metadata)}>"
                return f"fused{metadata}[{', '.join([self.place(p) for p in value.places])}]"
        return "unknown"


def _dimensions(shape: tuple[int | None, ...] | None) -> tuple[str, ...] | None:
    return None if shape is None else tuple("?" if d is None else str(d) for d in shape)


def _bare(text: str) -> str:
    """The text of a member of an array: a number has no type where it has the usual one."""
    return text[:-6] if text.endswith((" : i64", " : f64")) and _NUMBER.fullmatch(text, 0, len(text) - 6) else text


def _nested(texts: list[str], shape: tuple[int | None, ...]) -> str:
    for size in reversed(shape[1:]):
        texts = [f"[{', '.join(texts[n:n + (size or 1)])}]" for n in range(0, len(texts), size or 1)]
    return f"[{', '.join(texts)}]"


def stored_bytes(element: Any) -> int:
    """Return the bytes that an element of a `DenseAttribute` takes; 0 where the type has no elements in bytes."""
    match element:
        case mlir.IntegerType(width=width):
            return (width + 7) // 8
        case mlir.IndexType():
            return 8
        case mlir.FloatType(name=name):
            return (float_width(name) + 7) // 8
        case mlir.ComplexType(element=part):
            return 2 * stored_bytes(part)
    return 0


def _number_of_stored(value: mlir.DenseAttribute) -> int:
    """Return the number of elements that a dense attribute stores: one where all are equal."""
    width = stored_bytes(value.type.element)  # type: ignore[union-attr]
    return len(value.data) // width if width else 0


def dense_numbers(attribute: mlir.DenseAttribute) -> Iterator[int]:
    """Yield the elements of a dense attribute, floats as bits and complex ones as two; one where all are equal."""
    return _numbers(attribute.data, attribute.type.element)  # type: ignore[union-attr]


def _numbers(data: bytes, element: Any) -> Iterator[int]:
    """Yield the numbers of elements, two of a complex one: signed where signed integers are written so."""
    part = element.element if isinstance(element, mlir.ComplexType) else element
    width = stored_bytes(part)
    signed = isinstance(part, mlir.IndexType) or (
        isinstance(part, mlir.IntegerType) and part.signedness != "u" and part.width > 1)
    for start in range(0, len(data), width):
        yield int.from_bytes(data[start:start + width], "little", signed=signed)


def element_texts(element: Any, numbers: Any) -> Iterator[str]:
    """Yield the text of each element of a dense attribute, without its type."""
    match element:
        case mlir.ComplexType(element=part):
            parts = element_texts(part, numbers)
            yield from (f"({real},{imaginary})" for real, imaginary in zip(parts, parts, strict=True))
        case mlir.FloatType(name=name):
            yield from (float_text(bits, name) for bits in numbers)
        case mlir.IntegerType(width=1):
            yield from ("true" if number else "false" for number in numbers)
        case _:
            yield from map(str, numbers)


def _convolution(write: _ValueWriter, parameters: tuple[tuple[str, Any], ...]) -> str:
    """`[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`."""
    given = dict(parameters)
    if any(type(v) is mlir.Bracketed for v in given.values()):
        return write.parameters(parameters)

    def side(of: str, first: str, second: str, names: str) -> str:
        spatial = given[f"{of}_spatial_dimensions"]
        places = {given[f"{of}_{first}_dimension"]: names[0], given[f"{of}_{second}_dimension"]: names[1],
                  **{place: str(number) for number, place in enumerate(spatial)}}
        return f"[{', '.join(places.get(n, '?') for n in range(len(spatial) + 2))}]"

    return (f"{side('input', 'batch', 'feature', 'bf')}x{side('kernel', 'input_feature', 'output_feature', 'io')}"
            f"->{side('output', 'batch', 'feature', 'bf')}")


#: attributes and types whose parameters are not written as a list: (dialect, mnemonic) to what writes them
SPELLINGS: dict[tuple[str, str], Callable[[_ValueWriter, tuple[tuple[str, Any], ...]], str]] = {
    ("stablehlo", "conv"): _convolution,
}

_WRITERS: dict[type, Callable[[_ValueWriter, Any], str]] = {
    mlir.Bracketed: lambda w, v: v.text,
    mlir.IntegerType: lambda w, v: f"{v.signedness}i{v.width}",
    mlir.IndexType: lambda w, v: "index",
    mlir.NoneType: lambda w, v: "none",
    mlir.FloatType: lambda w, v: v.name,
    mlir.ComplexType: lambda w, v: f"complex<{w(v.element)}>",
    mlir.TensorType: _ValueWriter.tensor,
    mlir.VectorType: _ValueWriter.vector,
    mlir.MemRefType: _ValueWriter.memref,
    mlir.TupleType: lambda w, v: f"tuple<{w.listed(v.members)}>",
    mlir.FunctionType: _ValueWriter.function,
    mlir.DialectType: lambda w, v: w.dialect("!", v),
    mlir.TextType: lambda w, v: v.text,
    mlir.UnitAttribute: lambda w, v: "unit",
    mlir.IntegerAttribute: _ValueWriter.integer,
    mlir.FloatAttribute: lambda w, v: f"{float_text(v.bits, v.type.name)} : {v.type.name}",
    mlir.StringAttribute: _ValueWriter.string,
    mlir.SymbolAttribute: lambda w, v: symbol(v.names),
    mlir.TypeAttribute: lambda w, v: w(v.type),
    mlir.ArrayAttribute: lambda w, v: f"[{', '.join([_bare(w(m)) for m in v.members])}]",
    mlir.DictionaryAttribute: lambda w, v: f"{{{w.entries(v.entries)}}}",
    mlir.DenseArrayAttribute: _ValueWriter.dense_array,
    mlir.DenseAttribute: _ValueWriter.dense,
    mlir.DenseStringsAttribute: _ValueWriter.strings,
    mlir.DenseResourceAttribute: lambda w, v: f"dense_resource<{_name(v.key)}> : {w(v.type)}",
    mlir.SparseAttribute: _ValueWriter.sparse,
    mlir.DialectAttribute: lambda w, v: w.dialect("#", v),
    mlir.TextAttribute: lambda w, v: v.text,
    **dict.fromkeys(mlir.LOCATIONS, _ValueWriter.location),
}
