"""The short way: instructions on one line in the printer's own spelling, which most of a dump is.

It takes a line or leaves it alone; what it leaves is read token by token (statements.py), which also says what is
wrong.
"""

from __future__ import annotations

import sys
from typing import Any

from hlotool.grammars import pattern
from hlotool.ir import NO_ATTRIBUTES, Attributes, HloInstruction, Metadata, ReadMetadata, deferred
from hlotool.text.definitions import Body
from hlotool.text.keywords import RESERVED
from hlotool.text.legacy import OLD_EVERYWHERE, SUSPECTS
from hlotool.text.phrase_cache import PAYLOADS, RememberedPhrases
from hlotool.text.phrases import METADATA
from hlotool.text.scan import LINE, cut_quickly
from hlotool.text.shapes_text import has_orders
from hlotool.text.tokens import INDEX_COMMENT

_LOOKED_AT = SUSPECTS.union(PAYLOADS)
_TYPED_OPERAND = deferred(lambda: pattern("lines", "typed_operand"))


class QuickLines:
    """Reads lines of one text."""

    def __init__(self, text: str, phrases: RememberedPhrases, suspects: list[HloInstruction]) -> None:
        """Instructions that may be in a form of another time are put in `suspects`."""
        self._text = text
        self._phrases = phrases
        self._suspects = suspects
        #: whether names may have a `%` in front
        self._has_signs = "%" in text
        self._attributes: dict[str, Attributes] = {}
        self._metadata: dict[str, Metadata] = {}

    def read(self, body: Body, at: int, limit: int = sys.maxsize) -> int:
        """Read lines as long as the short way takes them; returns the offset of what it does not take.

        Lines that begin at `limit` or behind it are left alone, too.
        """
        text, table, attribute_cache = self._text, body.table, self._attributes
        phrases, shapes = self._phrases, self._phrases.shapes
        parameters = phrases.parameters
        new_shape, payload_of = phrases.shape_or_none, phrases.payload_of_today
        metadata_cache, metadata_match, has_signs = self._metadata, METADATA.match, self._has_signs
        suspects = self._suspects
        append, line, lookup = body.computation.instructions.append, LINE.match, table.__getitem__
        while at < limit and (found := line(text, at)) is not None:
            root, name, shape_text, opcode, first, second, more, inside, rest = found.groups()
            shape = shapes.get(shape_text) or new_shape(shape_text, at)
            if shape is None or name in table or name in RESERVED or name.startswith("__"):
                return at
            attributes: Any = NO_ATTRIBUTES
            metadata = None
            if rest is not None:
                start = rest.find(", metadata={")
                if start >= 0:
                    metadata = metadata_cache.get(rest[start + 11:])
                    if metadata is not None:  # it ends the line, as it has ended others
                        rest = rest[:start]
                    else:
                        ending = metadata_match(rest, start + 11)
                        if ending is None:
                            return at
                        words = ending[0]
                        metadata = metadata_cache.get(words)
                        if metadata is None:
                            if "preserve_" in words or "_payload=" in words:
                                return at  # fields of another time, which the long way notes
                            metadata = metadata_cache[words] = ReadMetadata(words.rstrip())
                        rest = _without_metadata(rest, start, ending.end())
                if rest:
                    attributes = attribute_cache.get(rest) or self._new_attributes(rest)
                    if attributes is None:
                        return at
            operands: Any = ()
            if first is not None and more is None:
                try:
                    operands = (table[first],) if second is None else (table[first], table[second])
                except KeyError:
                    return at
            elif opcode in PAYLOADS:
                attributes = (parameters.get(inside) if attributes is NO_ATTRIBUTES and opcode == "parameter" else None
                              ) or payload_of(opcode, shape, inside or "", attributes)
                if attributes is None:
                    return at
            elif inside or more:
                if more:
                    inside = text[found.start(5) - 1:found.end(7)]
                # Printers put a sign in front of all operands or of none.
                bare, comma = (inside[1:], ", %") if has_signs and inside[0] == "%" else (inside, ", ")
                try:
                    operands = tuple(map(lookup, bare.split(comma))) if "[" not in bare and "/" not in bare \
                        else self._operands(inside, table)
                except KeyError:
                    return at
                if operands is None:
                    return at
            instruction = HloInstruction(name, opcode, shape, operands, attributes, metadata, at)
            if opcode in _LOOKED_AT:
                if opcode in SUSPECTS:
                    suspects.append(instruction)
                elif operands:  # names where a number or a value should stand
                    return at
            if root:
                if body.root is not None:
                    return at
                body.root = instruction
            table[name] = instruction
            append(instruction)
            at = found.end()
        return at

    def _new_attributes(self, rest: str) -> Attributes | None:
        """Return the attributes of a text that starts at the comma; None when the long way must look at it."""
        if rest.rfind("/*") > rest.rfind("*/"):
            return None  # a comment that goes on in the next line
        before, feed, after = rest.partition("\n")
        pieces = cut_quickly(before)
        if pieces is not None and feed:
            more = cut_quickly(after)
            pieces = None if more is None else pieces + more
        if pieces is None:
            return None
        values: dict[str, Any] = {}
        known, new_value = self._phrases.values, self._phrases.value_of_today
        for piece in pieces:
            value = known.get(piece)
            if value is None and (value := new_value(*piece)) is None:
                return None
            values[piece[0]] = value
        if len(values) < len(pieces) or not OLD_EVERYWHERE.isdisjoint(values):
            return None
        if ("use_global_device_ids" in values and "channel_id" not in values) or "metadata" in values:
            return None
        found = self._attributes[rest] = Attributes(values)
        return found

    def _operands(self, inside: str, table: dict[str, HloInstruction]) -> tuple[HloInstruction, ...] | None:
        """Operands with comments between them or shapes in front; None when the long way must look at them."""
        if "/*" in inside:
            inside = INDEX_COMMENT.sub("", inside)
        if "[" not in inside:
            if self._has_signs:  # what stands within a name stays, and the name is none then
                inside = inside.removeprefix("%").replace(", %", ", ")
            return tuple(map(table.__getitem__, inside.split(", ")))
        phrases, operands, at, match = self._phrases, [], 0, _TYPED_OPERAND.match
        while at < len(inside):
            found = match(inside, at)
            if found is None:
                return None
            operand = table[found[2]]
            shape = phrases.shapes.get(found[1]) or phrases.shape_or_none(found[1], -1)
            if shape is None or not (
                    shape is operand.shape or (phrases.agree(shape, operand.shape) and has_orders(shape))):
                return None
            operands.append(operand)
            at = found.end()
        return tuple(operands)


def _without_metadata(rest: str, start: int, end: int) -> str:
    """Return the text before and after the metadata, a line each, so that the two parts are not joined.

    A statement on one line has no line feed of its own.
    """
    if end == len(rest):
        return rest[:start]
    return f"{rest[:start]}\n{rest[end:]}" if start else rest[end:]


__all__ = ["QuickLines"]
