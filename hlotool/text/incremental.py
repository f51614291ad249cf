"""Reading a text again after a small change: only the statements that the change can have another meaning for.

An editor changes a line of a text of megabytes with every key. Of one computation, the statements that the change
touches are read again, and with them those that hold an error and those that use a name whose shape is another or that
is gone; everything else keeps its instruction, at its new place. What this gives is what reading all of the text gives,
or nothing: where a change could reach further (a brace, a header, an inline computation), `reread` says so.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from hlotool.diagnostics import Diagnostic, Edit, Fix, Note
from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule, Position, Source, no_collection
from hlotool.text.bodies import BodyReader
from hlotool.text.definitions import Body
from hlotool.text.parse import ModuleReader, in_order
from hlotool.text.scan import HEADER
from hlotool.text.tokens import MODULE_WORD, skip_blank

#: statements that are read again at most; with more of them the whole text is read as quickly
_MOST = 1000
#: how often the rest of a body is looked at as a whole, which pays where little is read again
_MOST_RUNS = 20
_PREDECESSORS = "control-predecessors"
#: what a text may not have around a change: line ends of other systems, and what separates modules
_FAR_REACHING = ("\r", "\0", MODULE_WORD, "-----")


@dataclass(slots=True, eq=False)
class Reading:
    """A text that was read, with what is needed to read it again after a change."""

    source: Source
    module: HloModule
    #: every syntax error, in the order of the text
    errors: list[Diagnostic]
    #: where each body begins and ends, in the order of the text
    bodies: dict[HloComputation, tuple[int, int]]
    #: what stands for the statements of a body that could not be read
    failed: dict[HloComputation, list[HloInstruction]]
    #: whether changes can be followed: each computation and each instruction has a statement of its own, and a shape
    is_plain: bool
    has_predecessors: bool


@dataclass(slots=True)
class Changed:
    """A reading after an edit, with the parts that were read again."""

    #: the computation in which the edit is; None where it is in the module's header
    computation: HloComputation | None
    #: the instructions that say something else than before, or whose operands do
    instructions: list[HloInstruction]
    #: the instructions that are gone
    gone: set[HloInstruction]
    #: the change's first line, the line behind its last one in the old text, and how many lines were added
    first: int
    behind: int
    added: int


def read_for_changes(source: Source) -> Reading:
    """Return the same as `parse_recovering`, ready for changes of the text."""
    with no_collection():
        reader = _IncrementalReader(source)
        module = reader.read()
        text = source.text
        is_plain = (
            not reader.has_spelled_out and bool(reader.bodies)
            and len(reader.bodies) == len(module.computations)
            and all(i.shape is not None for i in module.instructions())
            and not any(word in text for word in _FAR_REACHING[:2]))
        return Reading(source, module, in_order(reader.reports.diagnostics), reader.bodies, reader.failed,
                       is_plain, _PREDECESSORS in text)


def reread(reading: Reading, start: int, end: int, text: str) -> Changed | None:
    """Bring a reading up to date with a text in which `text` stands for what stood from `start` to `end`.

    The module is changed in place. None where that cannot be: then the reading is of no more use.
    """
    if not reading.is_plain:
        return None
    with no_collection():
        reading.is_plain = False
        change = _Change(reading, start, end, text)
        changed = change.made() or change.made_in_header()
        reading.is_plain = changed is not None
    return changed


class _IncrementalReader(ModuleReader):
    """Reads a text that was changed, into a module that is there."""

    @property
    def has_spelled_out(self) -> bool:
        """True if operands or calls were met that have no definition of their own before them."""
        known = self._definitions
        return bool(known.anonymous or known.pending) or known.missing_operands is not None

    def header(self, module: HloModule, at: int) -> int:
        """Read the header of a module that is there; gives the place behind it."""
        self.module = self._definitions.module = module
        module.attributes = Attributes({})
        return self._header(at)

    @property
    def body_reader(self) -> BodyReader:
        return self._bodies

    def follow(self, module: HloModule, before: dict[str, HloComputation]) -> None:
        """Read for a module that is there, behind those computations of it."""
        self.module = self._definitions.module = module
        self._definitions.computations.update(before)

    def close(self, body: Body, header: re.Match[str], all_of: dict[str, HloComputation]) -> bool:
        """End a body under its header, of which one was changed. False where its parts need names from elsewhere."""
        if self._definitions.anonymous:
            return False
        self._bodies.finish(body)
        self._definitions.computations.update(all_of)
        self._resolve_pending()
        if body.failed:
            self.failed[body.computation] = body.stand_ins()
        if header[3]:
            self._headers.check_parameters(*header.span(3))
        if header[4] and not body.failed:
            self._check_result(body.computation, header[4], header.start(4))
        return bool(body.computation.instructions)


@dataclass(slots=True)
class _Change:
    reading: Reading
    start: int
    end: int
    text: str
    added: int = 0
    reader: _IncrementalReader = field(init=False)
    body: Body = field(init=False)
    #: old instructions to the new ones of their name; None where users must be read again
    replaced: dict[HloInstruction, HloInstruction | None] = field(default_factory=dict)
    changed: list[HloInstruction] = field(default_factory=list)
    #: what was read again, and what of it says the same as before
    renewed: set[HloInstruction] = field(default_factory=set)
    same: set[HloInstruction] = field(default_factory=set)
    #: how often the rest of a body is still looked at as a whole
    runs: int = _MOST_RUNS

    def made(self) -> Changed | None:
        old, start, end = self.reading.source, self.start, self.end
        computation = self._computation()
        if computation is None or self._reaches_far(computation):
            return None
        lines = old.position(start).line, old.position(end).line + 1
        source = old.changed(start, end, self.text)
        self.added, lines_added = len(self.text) - (end - start), self.text.count("\n") - (lines[1] - 1 - lines[0])
        begin, close = self.reading.bodies[computation]
        instructions = computation.instructions
        again = self._touched(computation)
        if again is None:
            return None
        errors = [d for d in self.reading.errors if not self._is_of(d, computation)]
        self.replaced = dict.fromkeys(self.reading.failed.pop(computation, ()))
        self._move(computation, source)
        self.reader = _IncrementalReader(source)
        places = self._places(instructions, close)
        if not self._read_body(computation, instructions, places, again, begin):
            return None
        reading = self.reading
        reading.source, reading.module.source = source, source
        reading.errors = sorted([*(moved(d, lines[1], lines_added) for d in errors),
                                 *in_order(self.reader.reports.diagnostics)], key=lambda d: (d.line, d.column))
        reading.module.notes = [moved(d, lines[1], lines_added) for d in reading.module.notes]
        reading.failed |= self.reader.failed
        reading.has_predecessors = reading.has_predecessors or _PREDECESSORS in self.text
        return Changed(computation, self.changed, set(self.replaced), *lines, lines_added)

    def made_in_header(self) -> Changed | None:
        """Read the module's header again, one line, whose change moves all else."""
        reading, old = self.reading, self.reading.source.text
        begin, line_end = skip_blank(old, 0), self._header_end()
        if line_end is None or not begin + len(MODULE_WORD) < self.start <= self.end < line_end \
                or "\n" in self.text:
            return None
        first = reading.source.position(begin).line
        self.added = len(self.text) - (self.end - self.start)
        source = reading.source.changed(self.start, self.end, self.text)
        reader = _IncrementalReader(source)
        module, old_notes = reading.module, reading.module.notes
        behind = reader.header(module, begin)
        line_end += self.added
        if skip_blank(source.text, behind) != skip_blank(source.text, line_end) \
                or reader.has_spelled_out or not module.name:
            return None
        if (reading.errors or reader.reports.diagnostics) and not old.rstrip().endswith("}"):
            return None  # what is wrong may be wrong because the text ends in the middle
        self._move_all(0)
        reading.source, module.source = source, source
        reading.errors = sorted([*(d for d in reading.errors if d.line != first),
                                 *in_order(reader.reports.diagnostics)], key=lambda d: (d.line, d.column))
        module.notes = [*reader.reports.notes, *(d for d in old_notes if d.line != first)]
        return Changed(None, [], set(), first, first + 1, 0)

    def _header_end(self) -> int | None:
        """Return the end of the line that is the module's header; None where it has none, or signs that reach far."""
        old = self.reading.source.text
        begin = skip_blank(old, 0)
        end = old.find("\n", begin)
        if not old.startswith(MODULE_WORD, begin) or not 0 <= end < len(old):
            return None
        before, new = old[begin:end], old[begin:self.start] + self.text + old[self.end:end]
        signs = (*_FAR_REACHING, "/*", "*/", "//", *"\"'(){}[]")
        return end if all(before.count(sign) == new.count(sign) for sign in signs) else None

    # Where the change is

    def _computation(self) -> HloComputation | None:
        """Return the computation in whose body the change lies whole, on other lines than its header and its brace."""
        bodies, old = self.reading.bodies, self.reading.source.text
        found = bisect_right(list(bodies.values()), (self.start, len(old))) - 1
        computation = next(itertools.islice(bodies, found, None)) if found >= 0 else None
        if computation is None or not computation.instructions:
            return None
        begin, close = bodies[computation]
        is_inside = begin <= self.start and self.end <= close and old.startswith("}", close)
        return computation if is_inside and "\n" in old[computation.offset:self.start] else None

    def _reaches_far(self, computation: HloComputation) -> bool:
        old, (_, close) = self.reading.source.text, self.reading.bodies[computation]
        first, behind = old.rfind("\n", 0, self.start) + 1, old.find("\n", self.end)
        before, new = old[first:behind], old[first:self.start] + self.text + old[self.end:behind]
        return any(word in piece for word in _FAR_REACHING for piece in (before, new)) \
            or any(before.count(sign) != new.count(sign) for sign in ("/*", "*/")) \
            or not (old[self.end:close] or self.text or old[:self.start]).endswith("\n")

    def _touched(self, computation: HloComputation) -> set[int] | None:
        """The numbers of the statements that the change touches or that hold an error; -1: in front of the first."""
        offsets = [i.offset for i in computation.instructions]
        begin, _ = self.reading.bodies[computation]
        if offsets[0] < begin or any(a >= b for a, b in itertools.pairwise(offsets)):
            return None
        # The statement in front of it may go on where the next one no longer begins.
        first = max(-1, bisect_left(offsets, self.start) - 2)
        found = set(range(first, bisect_right(offsets, self.end)))
        for error in self.reading.errors:
            if self._is_of(error, computation):
                at = bisect_right(offsets, self._offset(error)) - 1
                found.update((max(-1, at - 1), at))  # what is missing may be missed where the next one begins
        # Or much later, where a comment or a string is not closed.
        found.update(bisect_right(offsets, i.offset) - 1 for i in self.reading.failed.get(computation, ()))
        return found if len(found) <= _MOST else None

    def _is_of(self, error: Diagnostic, computation: HloComputation) -> bool:
        """Return True if an error is about a body, or about what its header tells of parameters and result."""
        return computation.offset < self._offset(error) <= self.reading.bodies[computation][1]

    def _offset(self, error: Diagnostic) -> int:
        found = self.reading.source.offset(Position(error.line, error.column))
        return -1 if found is None else found

    # What stays

    def _move(self, computation: HloComputation, source: Source) -> None:
        """Give everything behind the change its new place."""
        added, bodies = self.added, self.reading.bodies
        begin, close = bodies[computation]
        self._move_all(list(bodies).index(computation) + 1)
        bodies[computation] = begin, close + added

    def _move_all(self, first: int) -> None:
        """Give the computations from one on their new places."""
        added, bodies = self.added, self.reading.bodies
        for other in list(itertools.islice(bodies, first, None)):
            start, end = bodies[other]
            bodies[other] = start + added, end + added
            other.offset += added
            for instruction in itertools.chain(other.instructions, self.reading.failed.get(other, ())):
                instruction.offset += added

    def _places(self, instructions: list[HloInstruction], close: int) -> list[int]:
        """Return the start of each statement now, then the end of the body; -1 for those inside of the change."""
        start, end, added = self.start, self.end, self.added
        places = [-1 if start <= (at := i.offset) <= end else at + added if at > end else at for i in instructions]
        for instruction, place in zip(instructions, places, strict=True):
            if place >= 0:
                instruction.offset = place
        return [*places, close + added]

    def _read_body(self, computation: HloComputation, instructions: list[HloInstruction], places: list[int],
                   again: set[int], begin: int) -> bool:
        reader, module = self.reader, self.reading.module
        computations = len(module.computations)
        reader.follow(module, _by_name(itertools.takewhile(lambda c: c is not computation, self.reading.bodies)))
        header = self._header(computation)
        if header is None:
            return False
        old_root = computation.root
        computation.instructions = []
        self.body = Body(computation)
        number, count = -1, len(instructions)
        stops = sorted(n for n in again if n < count)
        while number < count:
            if number not in again:
                stop = next(iter(stops[bisect_right(stops, number):]), count)
                number = self._keep_run(instructions, max(0, number), stop, old_root)
                if number == stop:
                    continue
            following = self._read_from(skip_blank(reader.text, begin) if number < 0 else places[number],
                                        number, instructions, places)
            if following is None:
                return False
            number = following
        return bool(computation.instructions) and self._finish(header, computations)

    def _header(self, computation: HloComputation) -> re.Match[str] | None:
        """Return the computation's header; None for one of several lines."""
        text = self.reader.text
        found = HEADER.match(text, skip_blank(text, text.rfind("\n", 0, computation.offset) + 1))
        if found is None or found.start(2) != computation.offset or found.end() != self.reading.bodies[computation][0]:
            return None
        return found

    def _keep_run(self, instructions: list[HloInstruction], number: int, stop: int, old_root: HloInstruction) -> int:
        """Take instructions over up to one that must be read again; gives the number of that one."""
        while number < stop:
            following = self._first_in_question(instructions[number:stop], old_root)
            run = instructions[number:number + following]
            self.body.table.update(zip([i.name for i in run], run, strict=True))
            self.body.computation.instructions += run
            number += following
            if number < stop:
                if not self._keep(instructions[number], old_root):
                    return number
                number += 1
        return number

    def _first_in_question(self, run: list[HloInstruction], old_root: HloInstruction) -> int:
        """Return the number of instructions that no new reading concerns; 0 where they are better asked one by one."""
        self.runs -= 1
        if self.runs < 0:
            return 0
        names, replaced = [i.name for i in run], self.replaced.keys()
        if len(set(names)) < len(run) or not self.body.table.keys().isdisjoint(names):
            return 0
        whole = len(run) - 1 if run[-1] is old_root else run.index(old_root) if old_root in run else len(run)
        if not replaced:
            return whole
        if self.reading.has_predecessors:
            whole = next((n for n, i in enumerate(run[:whole])
                          if not replaced.isdisjoint(i.control_predecessors())), whole)
        return next((n for n, i in enumerate(run[:whole]) if not replaced.isdisjoint(i.operands)), whole)

    def _keep(self, instruction: HloInstruction, old_root: HloInstruction) -> bool:
        """Take an instruction over, where nothing that was read again gives it another meaning."""
        body, replaced = self.body, self.replaced
        is_root = instruction is old_root and self.reader.text.startswith("ROOT", instruction.offset)
        if instruction.name in body.table or (is_root and body.root is not None) \
                or not replaced.keys().isdisjoint(instruction.control_predecessors()):
            return False
        if not replaced.keys().isdisjoint(instruction.operands):
            operands = tuple([replaced.get(o, o) for o in instruction.operands])
            if None in operands:
                return False
            instruction.operands = operands  # type: ignore[assignment]  # none of them is None
            if not all(o not in self.renewed or o in self.same for o in instruction.operands):
                self.changed.append(instruction)
        if is_root:
            body.root = instruction
        body.table[instruction.name] = instruction
        body.computation.instructions.append(instruction)
        return True

    def _read_from(self, at: int, number: int, instructions: list[HloInstruction], places: list[int]) -> int | None:
        """Read from an offset until a statement begins where one began before; gives the number of that one."""
        body, bodies = self.body, self.reader.body_reader
        made = body.computation.instructions
        first = len(made)
        bodies.begin_at(at, number < 0)
        gone = [instructions[number]] if number >= 0 else []
        number += 1
        while at != places[number]:
            if number < len(instructions) and not 0 <= at <= places[number]:
                gone.append(instructions[number])
                number += 1
                continue
            if number == len(instructions) and at > places[number]:
                return None
            count = len(made)
            following = bodies.read_one(body, at)
            if following is None or len(made) > count + 1:
                return None
            at = following
        self._replace(gone, made[first:])
        return number

    def _replace(self, gone: Iterable[HloInstruction], made: list[HloInstruction]) -> None:
        """Note what stands for instructions that are gone, and what was made."""
        self.renewed.update(made)
        for old in gone:
            new = self.body.table.get(old.name)
            self.replaced[old] = new if new is not None and new.shape is not None and new.shape == old.shape else None
            if self.replaced[old] is not None and new in made and self._is_same(old, new):
                self.same.add(new)
        self.changed += [i for i in made if i not in self.same]

    def _is_same(self, old: HloInstruction, new: HloInstruction) -> bool:
        """Return True if an instruction that was read again says what it said before."""
        return (old.opcode == new.opcode and old.attributes == new.attributes and old.metadata == new.metadata
                and len(old.operands) == len(new.operands)
                and all(a is b or (self.replaced.get(a) is b and b in self.same)
                        for a, b in zip(old.operands, new.operands, strict=True)))

    def _finish(self, header: re.Match[str], computations: int) -> bool:
        """Say what is wrong with the body as a whole; False where it holds what only reading all of it sees."""
        reader, module, body = self.reader, self.reading.module, self.body
        is_alone = reader.close(body, header, _by_name(self.reading.bodies))
        if not is_alone or len(module.computations) != computations:
            return False
        return bool(reader.reports.diagnostics) or all(i.shape is not None for i in self.changed)


def _by_name(computations: Iterable[HloComputation]) -> dict[str, HloComputation]:
    """Computations by name; of two of one name the first."""
    found: dict[str, HloComputation] = {}
    for computation in computations:
        found.setdefault(computation.name, computation)
    return found


def moved(found: Diagnostic, line: int, by: int) -> Diagnostic:
    """Return a finding with its places from a line on moved by so many lines."""
    if not by or (found.line < line and found.end_line < line and not found.notes and not found.fixes):
        return found

    def place(at: Position) -> Position:
        return Position(at.line + by, at.column) if at.line >= line else at

    first, last = place(Position(found.line, found.column)), place(Position(found.end_line, found.end_column))
    notes = tuple([Note(n.message, place(n.start), place(n.end) if n.end is not None else None)
                   if n.start is not None else n for n in found.notes])
    fixes = tuple([_moved_fix(f, place) for f in found.fixes])
    return replace(found, line=first.line, end_line=last.line, notes=notes, fixes=fixes)


def _moved_fix(fix: Fix, place: Callable[[Position], Position]) -> Fix:
    also = tuple([Edit(place(e.start), place(e.end), e.replacement) for e in fix.also])
    return replace(fix, start=place(fix.start), end=place(fix.end), also=also)


__all__ = ["Changed", "Reading", "moved", "read_for_changes", "reread"]
