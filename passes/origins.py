"""Finds the line of the program that made an instruction, by its metadata or the stack frame that this names.

    metadata={op_name="jit(f)/dot_general" source_file="train.py" source_line=42}      ->  train.py:42
    metadata={op_name="jit(f)/dot_general" stack_frame_id=3}, frame 3 in the tables    ->  train.py:42, in loss

Source: xla/hlo/ir/stack_frames.h; text numbers frames, locations and names from 1.
"""

from __future__ import annotations

import re

from hlotool.diagnostics import Origin
from hlotool.ir import HloInstruction, HloModule, Metadata, deferred
from hlotool.text import unquote

_FIELD = deferred(lambda: r"(\w+)=(\d+)")
_NAMED = deferred(lambda: r"""(\d+)\s+["'](.*)["']\s*""", re.S)


def line_of(module: HloModule, instruction: HloInstruction) -> str:
    """Return the file and line of the program that an instruction comes from, as "file:line"; empty if not known."""
    origin = origin_of(module, instruction)
    return f"{origin.file}:{origin.line}" if origin is not None and origin.line else ""


def origin_of(module: HloModule, instruction: HloInstruction) -> Origin | None:
    """Return the line of the program that an instruction comes from; None where the module does not say."""
    metadata = instruction.metadata
    if not isinstance(metadata, Metadata):  # a program may have put anything there
        return None
    framed = _of_frame(module, metadata)
    if framed is not None:
        return framed
    if not metadata.source_file and "/" not in metadata.op_name:
        return None
    return Origin(_plain(metadata.source_file), metadata.source_line if metadata.source_file else 0,
                  op_name=_plain(metadata.op_name))


def _of_frame(module: HloModule, metadata: Metadata) -> Origin | None:
    number = metadata.stack_frame_id
    location = _row(module, "StackFrames", number).get("file_location_id", 0)
    place = _row(module, "FileLocations", location)
    if not place:
        return None
    file = _name(module, "FileNames", place.get("file_name_id", 0))
    function = _name(module, "FunctionNames", place.get("function_name_id", 0))
    if not file:
        return None
    return Origin(file, place.get("line", 0), place.get("column", 0), function, _plain(metadata.op_name))


def _line(module: HloModule, table: str, number: int) -> str:
    """Return the row of that number; rows stand in the order of their numbers."""
    rows = module.tables.get(table, ())
    return rows[number - 1] if 0 < number <= len(rows) else ""


def _row(module: HloModule, table: str, number: int) -> dict[str, int]:
    return {name: int(value) for name, value in _FIELD.findall(_line(module, table, number))}


def _name(module: HloModule, table: str, number: int) -> str:
    found = _NAMED.fullmatch(_line(module, table, number))
    return _plain(found[2]) if found else ""


def _plain(text: str) -> str:
    """Return the text between a string's quotes with its escapes resolved."""
    return unquote(f'"{text}"')
