"""Names and metadata of instructions as MLIR locations, and back.

An instruction `add.1` with op_name "jit(f)/add" from line 3 of a.py stands as
loc("add.1"("jit(f)/add"("a.py":3:0))); what it lacks is left out.
"""

from __future__ import annotations

import re
from typing import Any

from hlotool.ir import HloInstruction, Metadata
from hlotool.text import quote, unquote

_NAME = re.compile(r"[A-Za-z_][\w.\-]*")

#: the file that MLIR's parser names for a text without one
_NO_FILE = "-"


class Locations:
    """The locations of one context, those of metadata remembered; to be used where that context is current."""

    def __init__(self) -> None:
        from jax.extend.mlir import ir

        self._ir = ir
        self._name = ir.Location.name
        self._known: dict[str, Any] = {}
        self._metadata: dict[tuple[str, str, int], Metadata | None] = {}

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
        file = self._ir.Location.unknown()
        if metadata.source_file:
            file = self._ir.Location.file(_plain(metadata.source_file), metadata.source_line, 0)
        return self._name(_plain(metadata.op_name), file) if metadata.op_name else file

    def name_in(self, location: Any) -> str | None:
        """The instruction's name in a location that `of` made."""
        location = _exact(location)
        return location.name_str if isinstance(location, self._ir.NameLoc) else None

    def read(self, location: Any) -> tuple[str, Metadata | None]:
        """The name ('' for none) and the metadata that a location stands for."""
        ir = self._ir
        while isinstance(location, ir.FusedLoc) and location.locations:
            location = next((x for x in location.locations if isinstance(x, ir.NameLoc)), location.locations[0])
        name = op_name = ""
        if isinstance(location, ir.NameLoc):
            name, location = location.name_str, location.child_loc
            if isinstance(location, ir.NameLoc):
                op_name, location = location.name_str, location.child_loc
            elif not _NAME.fullmatch(name):
                name, op_name = "", name
        key = op_name, *self._place(location)
        if key not in self._metadata:
            self._metadata[key] = _metadata(*key)
        return name, self._metadata[key]

    def line_and_column(self, location: Any) -> tuple[int, int]:
        """Where an operation stands in the text that was parsed; zeros where the location names another place."""
        location = None if location is None else _exact(location)
        if isinstance(location, self._ir.FileLineColLoc) and location.filename == _NO_FILE:
            return location.start_line, location.start_col
        return 0, 0

    def _place(self, location: Any) -> tuple[str, int]:
        """The file and line that a location leads to: of calls the callee's, of several the first one's."""
        ir = self._ir
        for _ in range(1000):
            if isinstance(location, ir.FileLineColLoc):
                file = location.filename
                return ("", 0) if file == _NO_FILE else (file, location.start_line)
            if isinstance(location, ir.CallSiteLoc):
                location = location.callee
            elif isinstance(location, ir.NameLoc):
                location = location.child_loc
            elif isinstance(location, ir.FusedLoc) and location.locations:
                location = location.locations[0]
            else:
                break
        return "", 0


def _exact(location: Any) -> Any:
    """The location as an object of its own class, which those of MLIR's diagnostics are not."""
    return type(location).from_attr(location.attr, location.context)


def _metadata(op_name: str, file: str, line: int) -> Metadata | None:
    fields = [f"op_name={quote(op_name)}"] if op_name else []
    if file:
        fields += [f"source_file={quote(file)}", f"source_line={line}"]
    return Metadata("{" + " ".join(fields) + "}") if fields else None


def _plain(text: str) -> str:
    """A metadata string, which keeps its escapes, without them."""
    return unquote(f'"{text}"')
