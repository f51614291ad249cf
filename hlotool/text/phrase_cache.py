"""Phrases of one text, each distinct one read once: shapes, attribute values, payloads.

A dump repeats itself, so most phrases are found by their text.
"""

from __future__ import annotations

from typing import Any

from hlotool.ir import KINDS, Attributes, Kind, ReadMetadata, Shape, kind_of
from hlotool.text.definitions import Definitions
from hlotool.text.phrases import (
    PhraseError,
    generation,
    literal_generation,
    read_literal,
    read_names,
    read_shape,
    read_value,
    shape_generation,
)
from hlotool.text.reports import Reports

#: opcodes whose payload stands where operands do
PAYLOADS = ("parameter", "constant")


class RememberedPhrases:
    """Reads phrases, and notes which are forms of other times."""

    def __init__(self, reports: Reports, definitions: Definitions) -> None:
        self._reports = reports
        self._computations = definitions.computations
        self.shapes: dict[str, Shape] = {}
        #: values of attributes by name and text; those that name computations are not among them
        self.values: dict[tuple[str, str], Any] = {}
        #: payloads of parameters by the text in their parentheses
        self.parameters: dict[Any, Attributes] = {}
        self._constants: dict[Any, Attributes] = {}
        self._compatible: set[tuple[int, int]] = set()

    def shape(self, text: str, offset: int = -1) -> Shape:
        """Return the shape of a text; raises PhraseError."""
        shape = self.shapes.get(text)
        if shape is None:
            shape = self.shapes[text] = read_shape(text)
            self._note(shape_generation(text), text, offset)
        return shape

    def shape_or_none(self, text: str, offset: int) -> Shape | None:
        """Return the shape of a text; None when it cannot be read."""
        try:
            return self.shape(text, offset)
        except PhraseError:
            return None

    def agree(self, declared: Shape, actual: Shape | None) -> bool:
        """Return True if a shape written before an operand fits it; layouts are not compared, as in XLA."""
        key = (id(declared), id(actual))
        if key in self._compatible or actual is None:
            return True
        if declared.compatible(actual):
            self._compatible.add(key)
            return True
        return False

    def _note(self, found: tuple[str, str] | None, text: str, offset: int) -> None:
        if found is not None and offset >= 0:
            self._reports.note("", found[1], offset, offset + len(text), found[0])

    # Attribute values

    def value(self, kind: Kind, text: str, name: str) -> Any:
        """Return the value of an attribute, or None where it names a computation that is not known yet."""
        if kind is Kind.COMPUTATION:
            return None if text.startswith("{") else self._computations.get(text.removeprefix("%"))
        if kind is Kind.COMPUTATIONS:
            found = tuple(self._computations.get(n) for n in read_names(text))
            return None if None in found else found
        if kind is Kind.METADATA:
            found = read_value(kind, text, name)
            return ReadMetadata(text) if text.isprintable() else found
        return read_value(kind, text, name)

    def note_value(self, kind: Kind, text: str, offset: int) -> None:
        """Note the form of an attribute's value where it is one of another time."""
        self._note(generation(kind, text), text, offset)

    def value_of_today(self, name: str, text: str) -> Any:
        """Return the value of an attribute; None when it is wrong, unknown, of another time, or not defined yet.

        It is in `values` from then on.
        """
        kind = kind_of(name, text.startswith("{{"))
        if kind is Kind.COMPUTATION:  # nearly every one is named once
            return self.value(kind, text, name)
        if kind is Kind.INSTRUCTIONS or name not in KINDS:
            return None
        try:
            value = self.value(kind, text, name)
        except PhraseError:
            return None
        if value is None or generation(kind, text) is not None:
            return None
        self.values[name, text] = value
        return value

    # Payloads

    def payload(self, opcode: str, shape: Shape | None, inside: str) -> Attributes:
        """Return the payload of a parameter or constant: its number or its literal. Raises PhraseError."""
        if opcode == "constant":
            return Attributes({"literal": read_literal(shape, inside)})  # type: ignore[arg-type]
        number = read_value(Kind.INT, inside.strip(), "parameter_number", again=False)  # each stands once
        return Attributes({"parameter_number": number})

    def note_literal(self, shape: Shape, text: str, offset: int) -> None:
        """Note the form of a constant's value where it is one of another time."""
        self._note(literal_generation(shape, text), text, offset)

    def payload_of_today(self, opcode: str, shape: Shape, inside: str, attributes: Attributes) -> Attributes | None:
        """Return a payload with the attributes behind it; None when it is wrong or of another time."""
        # The number of a parameter does not depend on its shape.
        key, known = ((shape, inside), self._constants) if opcode == "constant" else (inside, self.parameters)
        payload = known.get(key)
        if payload is None:
            try:
                payload = self.payload(opcode, shape, inside)
            except PhraseError:
                return None
            if opcode == "constant" and literal_generation(shape, inside) is not None:
                return None
            if len(inside) < 64:
                known[key] = payload
        return payload if not attributes else payload | attributes


__all__ = ["PAYLOADS", "RememberedPhrases"]
