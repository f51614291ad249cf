"""A changed module printed over the text that it was read from: what says the same keeps its layout and comments.

Texts of XLA's printers are printed in their style (`text_style.py`), which comes to the same. In texts that people laid
out, the statements that differ are replaced, added and removed where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from hlotool.diagnostics import without_controls
from hlotool.ir import HloComputation, HloInstruction, HloModule, Source, deferred, no_collection
from hlotool.text.comments import strings_in
from hlotool.text.incremental import Reading, read_for_changes
from hlotool.text.parse import parse_recovering
from hlotool.text.print import ModulePrinter, print_module
from hlotool.text.scan import cut_instruction
from hlotool.text.text_style import TODAY, style_of
from hlotool.text.tokens import ANY_COMMENT

#: where an edit starts and ends, and what stands there afterwards
_Edit: TypeAlias = tuple[int, int, str]
#: the rest of a line on which nothing else stands
_REST_OF_LINE = deferred(lambda: rf"(?:[ \t]|{ANY_COMMENT})*(?:\n|\Z)")
_ROOT = re.compile(r"ROOT\s+%?\Z")
_INDENT = re.compile(r"(?:\n|\A)([ \t]*)\Z")


@no_collection()
def print_changes(module: HloModule) -> str:
    """Return the module as text that differs from its source only where the module differs from it.

    A comment behind a statement goes where the statement goes. The module is printed whole, as by `print_module`, where
    its source was written by a printer, has mistakes or forms of earlier years, or where a change is more than
    statements that are added, removed and replaced. Raises HloError for a module that cannot be written.
    """
    whole = print_module(module)
    if module.source is None or not module.source.text.strip() or style_of(module) is not TODAY:
        return whole
    if any("\n" in string for string in strings_in(module.source.text)):
        return whole  # a line feed in a string is written as one
    reading = read_for_changes(Source(module.source.text))
    if reading.errors or reading.module.notes or print_module(reading.module) == reading.source.text:
        return whole
    wanted = _parts(module)
    if _parts(reading.module) == wanted:
        return without_controls(reading.source.text)
    if not reading.is_plain:
        return whole
    try:
        text = _Changes(reading, module).text()
    except _CannotKeep:
        return whole
    found, mistakes = parse_recovering(Source(text))
    return whole if mistakes or _parts(found) != wanted else without_controls(text)


def _parts(module: HloModule) -> tuple[str, list[str]]:
    """Return the header and the computations of a module, whose order is not part of its meaning."""
    printer = ModulePrinter(module, TODAY)
    return printer.header(module), sorted(printer.computation(c, c is module.entry) for c in module.computations)


class _CannotKeep(Exception):
    """A change that statements in their places do not tell."""


class _Changes:
    """The edits that lead from a text, and the module in it, to another module."""

    def __init__(self, reading: Reading, module: HloModule) -> None:
        self._text = text = reading.source.text
        self._bodies = reading.bodies
        self._old, self._new = reading.module, module
        first = next((i for i in reading.module.instructions() if i.operands), None)
        options = replace(TODAY, percent=any(text[i.offset:i.offset + 1] == "%" for i in module.entry.parameters()),
                          operand_shapes=first is not None and "[" in cut_instruction(text, first.offset).operands)
        self._before, self._after = ModulePrinter(reading.module, options), ModulePrinter(module, options)

    def text(self) -> str:
        """Return the text after the edits. Raises _CannotKeep."""
        parts, at = list[str](), 0
        for start, end, new in sorted(self._edits()):
            if start < at:
                raise _CannotKeep
            parts += [self._text[at:start], new]
            at = end
        return "".join([*parts, self._text[at:]])

    def _edits(self) -> Iterator[_Edit]:
        old, new = self._old, self._new
        if (self._before.header(old), old.tables, old.entry.name) != (
                self._after.header(new), new.tables, new.entry.name):
            raise _CannotKeep
        known, kept = {c.name: c for c in old.computations}, {c.name for c in new.computations}
        yield from (self._without(c) for c in old.computations if c.name not in kept)
        added = ""
        for computation in new.computations:
            before = known.get(computation.name)
            if before is None:
                added += self._after.computation(computation, is_entry=False) + "\n\n"
                continue
            if added:
                at = self._text.rfind("\n", 0, before.offset) + 1
                yield at, at, added
                added = ""
            if before.attributes != computation.attributes:
                raise _CannotKeep
            yield from self._header(before, computation)
            yield from self._body(before, computation)
        if added:
            raise _CannotKeep

    def _without(self, computation: HloComputation) -> _Edit:
        """The removal of a computation with the blank lines behind it."""
        start = self._text.rfind("\n", 0, computation.offset) + 1
        end = self._text.index("}", self._bodies[computation][1]) + 1
        if self._text[start:computation.offset].strip("%") or computation.attributes:
            raise _CannotKeep
        return start, end + len(self._text[end:]) - len(self._text[end:].lstrip()), ""

    def _header(self, before: HloComputation, now: HloComputation) -> Iterator[_Edit]:
        """The new header of a computation whose parameters or result are others, where it tells them."""
        start, end = before.offset, self._bodies[before][0]
        heads = [p.computation(c, is_entry=False).partition("\n")[0]
                 for p, c in ((self._before, before), (self._after, now))]
        if heads[0] != heads[1] and "->" in self._text[start:end]:
            yield start, end, heads[1] if self._text[start] == "%" else heads[1].removeprefix("%")

    def _body(self, before: HloComputation, now: HloComputation) -> Iterator[_Edit]:
        old, names = {i.name: i for i in before.instructions}, {i.name for i in now.instructions}
        if [n for n in old if n in names] != [i.name for i in now.instructions if i.name in old]:
            raise _CannotKeep
        yield from (self._removed(i) for i in before.instructions if i.name not in names)
        place: tuple[int, str] | None = None
        waiting: list[str] = []
        for instruction in now.instructions:
            root = "ROOT " * (instruction is now.root)
            text = self._after.instruction(instruction, root)
            held = old.get(instruction.name)
            if held is None:
                waiting.append(text)
                continue
            start, end = self._span(held)
            if waiting:
                yield self._inserted(waiting, place, start)
                waiting = []
            if text != self._before.instruction(held, "ROOT " * (held is before.root)):
                yield start, end, text
            place = self._behind(start, end)
        if waiting:
            yield self._inserted(waiting, place, None)

    def _span(self, instruction: HloInstruction) -> tuple[int, int]:
        """Where a statement starts, ROOT included, and where it ends."""
        start = instruction.offset
        if found := _ROOT.search(self._text, max(start - 80, 0), start):
            start = found.start()
        return start, cut_instruction(self._text, start).last

    def _removed(self, instruction: HloInstruction) -> _Edit:
        """The removal of a statement, with its lines where nothing else stands on them."""
        start, end = self._span(instruction)
        before, rest = _INDENT.search(self._text, 0, start), _REST_OF_LINE.match(self._text, end)
        return (before.start(1), rest.end(), "") if before and rest else (start, end, "")

    def _behind(self, start: int, end: int) -> tuple[int, str] | None:
        """Where a statement's line ends, and its indentation; None where something else stands on the line."""
        before, rest = _INDENT.search(self._text, 0, start), _REST_OF_LINE.match(self._text, end)
        return (rest.end(), before[1]) if before and rest else None

    def _inserted(self, added: list[str], place: tuple[int, str] | None, following: int | None) -> _Edit:
        """New statements behind the one before them, else in front of the one that follows."""
        if place is not None:
            at, indent = place
            return at, at, "".join([f"{indent}{text}\n" for text in added])
        found = None if following is None else _INDENT.search(self._text, 0, following)
        if found is None:
            raise _CannotKeep
        return found.start(1), found.start(1), "".join([f"{found[1]}{text}\n" for text in added])
