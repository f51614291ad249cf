"""Names and metadata of instructions as MLIR locations, and back.

An instruction `add.1` with op_name "jit(f)/add" from line 3 of a.py stands as
loc("add.1"("jit(f)/add"("a.py":3:0))); what it lacks is left out. A stack frame stands as its call sites; metadata
that says more than all this travels beside it, as loc("add.1"(fused<"{...}">["jit(f)/add"(...)])).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hlotool import mlir
from hlotool.ir import HloInstruction, Metadata
from hlotool.stablehlo.location_reader import LocationReader
from hlotool.text import unquote

#: the metadata that a location says by itself
_PLAIN = frozenset(("op_name", "source_file", "source_line"))
#: text that is what it is written as, whoever reads it: printable ASCII without escapes
_WORDS = r"[ !#-\[\]-~]*+"
#: metadata as most is written: fields in their order, a line only of a file; but for a frame, a location says it all
_PLAIN_TEXT = re.compile(rf'\{{(?:op_name="({_WORDS})")? ?(?:source_file="(?!{mlir.NO_FILE}")({_WORDS})"'
                         r'(?: source_line=(\d{1,9}))?)? ?(?:stack_frame_id=([1-9]\d{0,8}))?\}', re.ASCII)
_ROW = re.compile(r"(\w+)=(\d+)")
#: frames of a stack that are followed: a table may lead in circles
_DEEPEST = 256
#: the last line that MLIR counts to
_LAST = 2**31 - 1


class Locations(LocationReader):
    """The locations of one module's instructions, those of metadata remembered."""

    def __init__(self, tables: Mapping[str, Sequence[str]] | None = None) -> None:
        super().__init__()
        self._tables = tables or {}
        self._frames: dict[int, mlir.Location] = {}
        self._files: dict[int, mlir.Location | None] = {}
        self._known: dict[str, mlir.Location] = {}

    def of(self, instruction: HloInstruction) -> mlir.Location:
        """The location of an instruction: its name, then what its metadata says."""
        metadata = instruction.metadata
        if metadata is None:
            return mlir.NameLocation(instruction.name)
        child = self._known.get(metadata.text)
        if child is None:
            child = self._known[metadata.text] = self._of_metadata(metadata)
        return mlir.NameLocation(instruction.name, child)

    def _of_metadata(self, metadata: Metadata) -> mlir.Location:
        plain = _PLAIN_TEXT.fullmatch(metadata.text)
        if plain is None:
            return self._of_fields(metadata, metadata.fields)
        operation, file, line, frame = plain.groups("")
        if frame and self._tables:
            location = self._frame(int(frame))
        else:
            location = mlir.FileLocation(file, int(line or "0"), 0) if file else mlir.UNKNOWN
        if operation:
            location = mlir.NameLocation(operation, location)
        return self._with_text(location, metadata) if frame else location

    def _of_fields(self, metadata: Metadata, fields: Mapping[str, str]) -> mlir.Location:
        location = self._place_of(fields)
        if op_name := fields.get("op_name"):
            location = mlir.NameLocation(_encodable(_plain(op_name)), location)
        if not fields.keys() <= _PLAIN or _facts(fields) != self._facts_of(location):
            return self._with_text(location, metadata)
        return location

    def _with_text(self, location: mlir.Location, metadata: Metadata) -> mlir.Location:
        """A location that says less than the metadata does, with its text beside it."""
        return mlir.FusedLocation((location,), mlir.StringAttribute(metadata.text))

    def _facts_of(self, location: mlir.Location) -> dict[str, str | int]:
        """Return the facts that an import will read in a location."""
        metadata = self.read(mlir.NameLocation("x", location))[1]
        return {} if metadata is None else _facts(metadata.fields)

    def _place_of(self, fields: Mapping[str, str]) -> mlir.Location:
        """The file and line that metadata names, or its stack frame."""
        frame = int(fields.get("stack_frame_id", "0"))
        if frame and self._tables:
            return self._frame(frame)
        if not fields.get("source_file"):
            return mlir.UNKNOWN
        line, column, end_line, end_column = (min(max(int(fields.get(name, "0")), 0), _LAST) for name in (
            "source_line", "source_column", "source_end_line", "source_end_column"))
        file = _encodable(_plain(fields["source_file"]))
        if end_line < line or (end_line, end_column) == (line, column):
            return mlir.FileLocation(file, line, column)
        return mlir.FileLocation(file, line, column, end_line, end_column)

    def _frame(self, number: int) -> mlir.Location:
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
        caller = self._frames.get(number) if chain else mlir.UNKNOWN
        for frame, file in reversed(chain):
            place = self._file_location(file)
            if place is not None:
                caller = place if caller is None else mlir.CallLocation(place, caller)
            self._frames[frame] = mlir.UNKNOWN if caller is None else caller
        return mlir.UNKNOWN if caller is None else caller

    def _file_location(self, number: int) -> mlir.Location | None:
        """A row of FileLocations, remembered; None where it names no file."""
        if number not in self._files:
            self._files[number] = self._read_file_location(self._row("FileLocations", number))
        return self._files[number]

    def _read_file_location(self, row: Mapping[str, int]) -> mlir.Location | None:
        file = self._string("FileNames", row.get("file_name_id", 0))
        if not file:
            return None
        line, column = row.get("line", 0), row.get("column", 0)
        end = row.get("end_line", line), row.get("end_column", column)
        location = mlir.FileLocation(file, line, column, *(end if end > (line, column) else ()))
        function = self._string("FunctionNames", row.get("function_name_id", 0))
        return mlir.NameLocation(function, location) if function else location

    def _row(self, table: str, number: int) -> dict[str, int]:
        """The numbers in a row of a table; {} where there is none."""
        rows = self._tables.get(table, ())
        return {k: int(v) for k, v in _ROW.findall(rows[number - 1])} if 0 < number <= len(rows) else {}

    def _string(self, table: str, number: int) -> str:
        rows = self._tables.get(table, ())
        return _encodable(unquote(rows[number - 1].partition(" ")[2].strip())) if 0 < number <= len(rows) else ""


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
