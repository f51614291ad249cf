"""Names and metadata of instructions as MLIR locations, and back.

An instruction `add.1` with op_name "jit(f)/add" from line 3 of a.py stands as
loc("add.1"("jit(f)/add"("a.py":3:0))); what it lacks is left out. A stack frame stands as its call sites; metadata
that says more than all this travels beside it, as loc("add.1"(fused<"{...}">["jit(f)/add"(...)])).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hlotool.ir import HloInstruction, Kind, Metadata
from hlotool.stablehlo.strings import string_attribute, string_of
from hlotool.text import PhraseError, quote, read_value, unquote

_NAME = re.compile(r"[A-Za-z_][\w.\-]*")

#: the metadata that a location says by itself
_PLAIN = frozenset(("op_name", "source_file", "source_line"))
#: the file that MLIR's parser names for a text without one
_NO_FILE = "-"
#: text that is what it is written as, whoever reads it: printable ASCII without escapes
_WORDS = r"[ !#-\[\]-~]*+"
#: metadata as most is written: fields in their order, a line only of a file; but for a frame, a location says it all
_PLAIN_TEXT = re.compile(rf'\{{(?:op_name="({_WORDS})")? ?(?:source_file="(?!{_NO_FILE}")({_WORDS})"'
                         r'(?: source_line=(\d{1,9}))?)? ?(?:stack_frame_id=([1-9]\d{0,8}))?\}', re.ASCII)
_ROW = re.compile(r"(\w+)=(\d+)")
#: a fused location with a text beside it, as MLIR prints it
_FUSED_WITH = re.compile(r'loc\(fused<("(?:[^"\\]|\\.)*+")>')
#: frames of a stack that are followed: a table may lead in circles
_DEEPEST = 256
#: the last line that MLIR counts to
_LAST = 2**31 - 1


class Locations:
    """The locations of one context, those of metadata remembered; to be used where that context is current."""

    def __init__(self, tables: Mapping[str, Sequence[str]] | None = None) -> None:
        from jax.extend.mlir import ir

        self._ir = ir
        self._tables = tables or {}
        self._frames: dict[int, Any] = {}
        self._files: dict[int, Any] = {}
        self._name = ir.Location.name
        self._is_name, self._is_fused = _test_for(ir, "NameLoc", "is_a_name"), _test_for(ir, "FusedLoc", "is_a_fused")
        self._is_file = _test_for(ir, "FileLineColLoc", "is_a_file")
        self._is_call = _test_for(ir, "CallSiteLoc", "is_a_callsite")
        self._known: dict[str, Any] = {}
        self._metadata: dict[tuple[str, str, int], Metadata | None] = {}
        self._beneath: dict[Any, tuple[bool, Metadata | None]] = {}

    def named(self, name: str) -> Any:
        """A location that is a name."""
        return self._name(name)

    def of(self, instruction: HloInstruction) -> Any:
        """The location of an instruction: its name, then what its metadata says."""
        metadata = instruction.metadata
        if metadata is None:
            return self._name(instruction.name)
        child = self._known.get(metadata.text)
        if child is None:
            child = self._known[metadata.text] = self._of_metadata(metadata)
        return self._name(instruction.name, child)

    def _of_metadata(self, metadata: Metadata) -> Any:
        plain = _PLAIN_TEXT.fullmatch(metadata.text)
        if plain is None:
            return self._of_fields(metadata, metadata.fields)
        operation, file, line, frame = plain.groups("")
        if frame and self._tables:
            location = self._frame(int(frame))
        else:
            location = self._ir.Location.file(file, int(line or "0"), 0) if file else self._ir.Location.unknown()
        if operation:
            location = self._name(operation, location)
        return self._with_text(location, metadata) if frame else location

    def _of_fields(self, metadata: Metadata, fields: Mapping[str, str]) -> Any:
        location = self._place_of(fields)
        if op_name := fields.get("op_name"):
            location = self._name(_encodable(_plain(op_name)), location)
        if not fields.keys() <= _PLAIN or _facts(fields) != self._facts_of(location):
            return self._with_text(location, metadata)
        return location

    def _with_text(self, location: Any, metadata: Metadata) -> Any:
        """A location that says less than the metadata does, with its text beside it."""
        return self._ir.Location.fused([location], string_attribute(self._ir, metadata.text))

    def _facts_of(self, location: Any) -> dict[str, str | int]:
        """Return the facts that an import will read in a location."""
        metadata = self.read(self._name("x", location))[1]
        return {} if metadata is None else _facts(metadata.fields)

    def _place_of(self, fields: Mapping[str, str]) -> Any:
        """The file and line that metadata names, or its stack frame."""
        frame = int(fields.get("stack_frame_id", "0"))
        if frame and self._tables:
            return self._frame(frame)
        if not fields.get("source_file"):
            return self._ir.Location.unknown()
        line, column, end_line, end_column = (min(max(int(fields.get(name, "0")), 0), _LAST) for name in (
            "source_line", "source_column", "source_end_line", "source_end_column"))
        file = _encodable(_plain(fields["source_file"]))
        if end_line < line or (end_line, end_column) == (line, column):
            return self._ir.Location.file(file, line, column)
        return self._ir.Location.file(file, line, column, end_line, end_column)

    def _frame(self, number: int) -> Any:
        """A row of StackFrames: where it is, at where it was called from."""
        found = self._frames.get(number)
        if found is not None:
            return found
        chain: list[tuple[int, int]] = []
        while number and len(chain) < _DEEPEST and number not in self._frames and (
                row := self._row("StackFrames", number)):
            chain.append((number, row.get("file_location_id", 0)))
            # Text counts parents from one: 1 stands for none.
            number = row.get("parent_frame_id", 1) - 1
        caller = self._frames.get(number) if chain else self._ir.Location.unknown()
        for frame, file in reversed(chain):
            place = self._file_location(file)
            if place is not None:
                caller = place if caller is None else self._ir.Location.callsite(place, [caller])
            self._frames[frame] = self._ir.Location.unknown() if caller is None else caller
        return self._ir.Location.unknown() if caller is None else caller

    def _file_location(self, number: int) -> Any:
        """A row of FileLocations, remembered; None where it names no file."""
        if number not in self._files:
            self._files[number] = self._read_file_location(self._row("FileLocations", number))
        return self._files[number]

    def _read_file_location(self, row: Mapping[str, int]) -> Any:
        file = self._string("FileNames", row.get("file_name_id", 0))
        if not file:
            return None
        line, column = row.get("line", 0), row.get("column", 0)
        end = row.get("end_line", line), row.get("end_column", column)
        location = self._ir.Location.file(file, line, column, *(end if end > (line, column) else ()))
        function = self._string("FunctionNames", row.get("function_name_id", 0))
        return self._name(function, location) if function else location

    def _row(self, table: str, number: int) -> dict[str, int]:
        """The numbers in a row of a table; {} where there is none."""
        rows = self._tables.get(table, ())
        return {k: int(v) for k, v in _ROW.findall(rows[number - 1])} if 0 < number <= len(rows) else {}

    def _string(self, table: str, number: int) -> str:
        rows = self._tables.get(table, ())
        return _encodable(unquote(rows[number - 1].partition(" ")[2].strip())) if 0 < number <= len(rows) else ""

    def name_in(self, location: Any) -> str | None:
        """The instruction's name in a location that `of` made."""
        location = _exact(location)
        return location.name_str if self._is_name(location) else None

    def read(self, location: Any) -> tuple[str, Metadata | None]:
        """The name ('' for none) and the metadata that a location stands for."""
        while self._is_fused(location) and location.locations:
            location = next((x for x in location.locations if self._is_name(x)), location.locations[0])
        if not self._is_name(location):
            return "", self._metadata_of("", location)
        name, child = location.name_str, location.child_loc
        # By its attribute: locations that are equal have hashes of their own.
        key = child.attr
        found = self._beneath.get(key)
        if found is None:
            found = self._beneath[key] = self._read_beneath(child)
        is_told, metadata = found
        if is_told or _NAME.fullmatch(name):
            return name, metadata
        return "", self._metadata_of(name, child)

    def _read_beneath(self, location: Any) -> tuple[bool, Metadata | None]:
        """The metadata of what stands below a name, and whether it tells the name of the operation."""
        if (whole := self._whole(location)) is not None:
            return True, whole
        if self._is_name(location):
            return True, self._metadata_of(location.name_str, location.child_loc)
        return False, self._metadata_of("", location)

    def _metadata_of(self, op_name: str, location: Any) -> Metadata | None:
        key = op_name, *self._place(location)
        if key not in self._metadata:
            self._metadata[key] = _metadata(*key)
        return self._metadata[key]

    def _whole(self, location: Any) -> Metadata | None:
        """The metadata that travels beside a location, as HLO text."""
        if not self._is_fused(location):
            return None
        try:
            text = string_of(self._ir.StringAttr(self._metadata_attribute(location)))
        except (TypeError, ValueError):
            return None
        if not (text.startswith("{") and text.endswith("}")):
            return None
        key = text, "", 0
        if key not in self._metadata:
            try:
                self._metadata[key] = read_value(Kind.METADATA, text, "metadata")
            except PhraseError:
                self._metadata[key] = None
        return self._metadata[key]

    def _metadata_attribute(self, location: Any) -> Any:
        """The attribute beside fused locations, which bindings before jaxlib 0.10.1 only print; None for none."""
        if hasattr(location, "metadata"):
            return location.metadata
        found = _FUSED_WITH.match(str(location))
        return self._ir.Attribute.parse(found[1]) if found else None

    def line_and_column(self, location: Any) -> tuple[int, int]:
        """Where an operation stands in the text that was parsed; zeros where the location names another place."""
        location = None if location is None else _exact(location)
        if self._is_file(location) and location.filename == _NO_FILE:
            return location.start_line, location.start_col
        return 0, 0

    def _place(self, location: Any) -> tuple[str, int]:
        """The file and line that a location leads to: of calls the callee's, of several the first one's."""
        for _ in range(1000):
            if self._is_file(location):
                file = location.filename
                return ("", 0) if file == _NO_FILE else (file, location.start_line)
            if self._is_call(location):
                location = location.callee
            elif self._is_name(location):
                location = location.child_loc
            elif self._is_fused(location) and location.locations:
                location = location.locations[0]
            else:
                break
        return "", 0


def _test_for(ir: Any, name: str, method: str) -> Callable[[Any], bool]:
    """Says whether a location is one of a kind; the bindings have no classes of them before jaxlib 0.10.1."""
    found: Any = getattr(ir, name, None)
    if found is None:
        return operator.methodcaller(method)
    return lambda location: isinstance(location, found)


def _exact(location: Any) -> Any:
    """The location as an object of its own class, which those of MLIR's diagnostics are not."""
    return type(location).from_attr(location.attr, location.context)


def _metadata(op_name: str, file: str, line: int) -> Metadata | None:
    fields = [f"op_name={quote(op_name)}"] if op_name else []
    if file:
        fields += [f"source_file={quote(file)}", f"source_line={line}"]
    found: Metadata | None = read_value(Kind.METADATA, "{" + " ".join(fields) + "}", "metadata") if fields else None
    return found


def _facts(fields: Mapping[str, str]) -> dict[str, str | int]:
    """Return the facts in fields of metadata, however they are written; empty and zero ones are none."""
    facts = {name: int(text) if name == "source_line" else _plain(text) for name, text in fields.items()}
    return {name: fact for name, fact in facts.items() if fact}


def _encodable(text: str) -> str:
    """Text for a name or a file of a location, which is UTF-8: other bytes become question marks."""
    if text.isascii():
        return text
    return text.encode(errors="replace").decode()


def _plain(text: str) -> str:
    """A metadata string, which keeps its escapes, without them."""
    return unquote(f'"{text}"')
