"""Modules of JAX with places that can be shown, and diagnostics at the lines of the program that made them."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hlotool.diagnostics import Diagnostic, Note
from hlotool.ir import HloModule, Source


def module_of(program: Any) -> HloModule:
    """Return the module of a program in memory, with text, so that places in it can be shown."""
    from hlotool.stablehlo import from_stablehlo

    # Its operations are changed by compiling; a copy as text keeps the locations.
    return module_of_text(str(from_stablehlo(program.operation.get_asm(enable_debug_info=True), isolate=False)))


def module_of_text(text: str) -> HloModule:
    """Return the module of an HLO text that JAX shows."""
    from hlotool.passes.read import parse

    return parse(text, "<jax>")


def at_program(found: Sequence[Diagnostic], module: str) -> Iterator[Diagnostic]:
    """Yield each finding at the line of the program; equal ones of one line are one."""
    seen: set[tuple[str, str, int, str]] = set()
    for diagnostic in found:
        origin = diagnostic.origin
        if origin is None or not origin.file or not origin.line:
            yield replace(diagnostic, filename=f"<{module}>")
            continue
        key = (diagnostic.code, origin.file, origin.line, origin.op_name)
        if key in seen:
            continue
        seen.add(key)
        line = linecache.getline(origin.file, origin.line).rstrip()
        start = len(line) - len(line.lstrip()) + 1
        what = f" as {origin.op_name}" if origin.op_name else ""
        notes = (Note(f"compiled in {module}{what}"), *(Note(n.message) for n in diagnostic.notes))
        yield replace(diagnostic, filename=origin.file, line=origin.line, column=start, end_line=origin.line,
                      end_column=max(start + 1, len(line) + 1), origin=None, notes=notes, fixes=())


def frames(found: Sequence[Diagnostic], *, color: bool = False) -> str:
    """Frames with the lines of the program."""
    from hlotool.diagnostics.render import Renderer, in_order

    files = {d.filename for d in found if not d.filename.startswith("<")}
    sources = {file: Source("".join(linecache.getlines(file)), file) for file in files}
    return "\n\n".join(map(Renderer(sources, color=color).frame, in_order(found)))


def print_frames(found: Sequence[Diagnostic]) -> None:
    """Frames on standard error, with the lines of the program."""
    print(frames(found, color=sys.stderr.isatty()) + "\n", file=sys.stderr)
