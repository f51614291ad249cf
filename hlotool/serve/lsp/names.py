"""Every place of a text where the name of an instruction or a computation stands."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from hlotool.grammars import beginning
from hlotool.ir import KINDS, HloComputation, HloInstruction, HloModule, Kind

Item = HloInstruction | HloComputation
_GIVEN = re.compile(r"%?([A-Za-z_][\w.\-]*)")

_TOKEN = re.compile(
    r"""(?P<skip>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|/\*.*?\*/|//[^\n]*"""
    r"""|(?:metadata|backend_config)=\{(?:[^{}"\n]|"(?:[^"\\\n]|\\.)*")*+\})"""
    r"|(?P<name>%?[A-Za-z_][\w.\-]*)|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<comma>,)", re.S)
_OF_NAME = re.compile(r"[\w.\-]")
_AFTER = re.compile(r"\s*([=(\[:]?)")
_STATEMENT = re.compile(beginning("hlo", "instruction", before=("WORD",)))
_COMPUTATIONS, _INSTRUCTIONS = (Kind.COMPUTATION, Kind.COMPUTATIONS), (Kind.INSTRUCTIONS,)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name in the text, without its percent sign: offsets `start` to `end`, and what it names."""

    start: int
    end: int
    item: Any
    #: the computation around it; None in MLIR
    owner: HloComputation | None
    is_definition: bool = False
    #: inside of an operation's parentheses
    is_operand: bool = False


class Names:
    """The places of a module's names, found a statement at a time: a text of megabytes is never read whole for one."""

    def __init__(self, module: HloModule, has_errors: bool = False) -> None:
        self._module, self._has_errors = module, has_errors
        self._text = module.source.text if module.source else ""
        self._ordered = sorted((c for c in module.computations if c.offset >= 0), key=attrgetter("offset"))
        self._by_name = {c.name: c for c in module.computations}
        self._bodies: dict[HloComputation, _BodyWalk] = {}

    def at(self, offset: int) -> Occurrence | None:
        """Return the occurrence that an offset stands in or right behind."""
        number = self._number(offset)
        if number < 0:
            return None
        body = self._body(number)
        found = [o for o in body.statement(body.number(offset)) if o.start <= offset <= o.end]
        return found[-1] if found else None

    def defined_at(self, offset: int) -> Item | None:
        """Return what the statement or header around an offset defines."""
        number = self._number(offset)
        if number < 0:
            return None
        body = self._body(number)
        statement = body.number(offset)
        return body.instruction(statement) if statement >= 0 else body.computation

    def of(self, found: Occurrence) -> list[Occurrence]:
        """Return every occurrence of what is named at one place, in the order of the text."""
        item = found.item
        name, start, end = item.name, 0, len(self._text)
        if isinstance(item, HloInstruction) and found.owner is not None:
            body = self._body(self._number(found.owner.offset))
            start, end = body.computation.offset, body.end
        seen: dict[tuple[int, int], None] = {}
        while (start := self._text.find(name, start, end)) >= 0:
            number = self._number(start)
            if number >= 0:
                seen[number, self._body(number).number(start)] = None
            start += len(name)
        return [o for number, statement in seen for o in self._body(number).statement(statement) if o.item is item]

    def definition(self, found: Occurrence) -> Occurrence | None:
        """Return the occurrence that defines what is named at one place; None for what has no name in the text."""
        body = self._body(self._number(found.item.offset)) if found.item.offset >= 0 else None
        return next((o for o in body.statement(body.number(found.item.offset))
                     if o.is_definition and o.item is found.item), None) if body is not None else None

    def refusal(self, found: Occurrence, new_name: str) -> str:
        """Return why a name cannot be given; nothing where it can."""
        given, item = _GIVEN.fullmatch(new_name), found.item
        if given is None:
            return f"{new_name!r} is no name: letters, digits, '_', '.' and '-', a letter first"
        if self._has_errors:
            return "the module has syntax errors: what they hide would keep its name"
        siblings: Sequence[Item] = (self._module.computations if isinstance(item, HloComputation) else
                                    found.owner.instructions if found.owner is not None else ())
        return f"{given[1]} is taken" if any(s.name == given[1] and s is not item for s in siblings) else ""

    def all(self) -> Iterator[Occurrence]:
        """Yield every occurrence of the text, in its order."""
        for statement in self.statements(0, len(self._text)):
            yield from statement

    def statements(self, start: int, end: int) -> Iterator[list[Occurrence]]:
        """Yield the occurrences of each statement and header that a part of the text touches, in its order."""
        for number in range(max(0, self._number(start)), len(self._ordered)):
            body = self._body(number)
            if body.computation.offset > end:
                return
            for statement in body.touched(start, end):
                yield body.statement(statement)

    def _number(self, offset: int) -> int:
        """Return the computation that an offset stands in, by its place in the text; -1 in front of the first."""
        return bisect.bisect_right(self._ordered, offset, key=attrgetter("offset")) - 1

    def _body(self, number: int) -> _BodyWalk:
        computation = self._ordered[number]
        found = self._bodies.get(computation)
        if found is None:
            following = self._ordered[number + 1] if number + 1 < len(self._ordered) else None
            end = _end(self._text, computation, following)
            found = self._bodies[computation] = _BodyWalk(self._text, computation, self._by_name, end)
        return found


def text_at(text: str, at: int, name: str) -> bool:
    """Return True if a name stands there, whole."""
    return text.startswith(name, at) and _OF_NAME.match(text, at + len(name)) is None


def name_start(text: str, instruction: HloInstruction) -> int:
    """Return the place of an instruction's name in its statement; -1 for one written in place of an operand."""
    start = instruction.offset
    if text_at(text, start, instruction.name):
        return start
    found = _STATEMENT.match(text, start)
    return found.end() if found is not None and text_at(text, found.end(), instruction.name) else -1


def _end(text: str, computation: HloComputation, following: HloComputation | None) -> int:
    """Return the end of a computation's text: the place before the next one's first word."""
    if following is None:
        return len(text)
    return max(text.rfind("\n", 0, following.offset), text.rfind("}", 0, following.offset), computation.offset)


class _BodyWalk:
    """Walks over one computation's text, knowing which statement, attribute and bracket it is in."""

    def __init__(self, text: str, computation: HloComputation, computations: dict[str, HloComputation], end: int
                 ) -> None:
        self.text, self.computation, self.computations, self.end = text, computation, computations, end
        self.instructions = {i.name: i for i in computation.instructions}
        self._starts = {i.offset: i for i in computation.instructions if i.offset >= 0}
        #: where statements begin; operands that are written in place are not statements, but within one
        self.places = sorted(self._starts)
        self.opcode = self.key = ""
        self.depth = 0
        self._known: dict[int, list[Occurrence]] = {}

    def number(self, offset: int) -> int:
        """The statement that an offset stands in; -1 for the header. What is written in place is in its owner's."""
        number = bisect.bisect_right(self.places, offset) - 1
        while number >= 0 and not self._names(self._starts[self.places[number]]):
            number -= 1
        return number

    def instruction(self, number: int) -> HloInstruction:
        """Return the instruction that a statement defines."""
        return self._starts[self.places[number]]

    def touched(self, start: int, end: int) -> list[int]:
        """Return the numbers of the statements that a part of the text touches; -1 for the header."""
        places = self.places[max(0, bisect.bisect_right(self.places, start) - 1):bisect.bisect_right(self.places, end)]
        return sorted({*([-1] if start <= self.computation.offset else []), *map(self.number, places)})

    def statement(self, number: int) -> list[Occurrence]:
        """Return the names of a statement, or of the header (-1)."""
        found = self._known.get(number)
        if found is None:
            following = number + 1
            while following < len(self.places) and not self._names(self._starts[self.places[following]]):
                following += 1
            end = self.places[following] if following < len(self.places) else self.end
            found = self._known[number] = list(self._header(end) if number < 0 else self._read(number, end))
        return found

    def _header(self, end: int) -> Iterator[Occurrence]:
        at, computation = self.computation.offset, self.computation
        if text_at(self.text, at, computation.name):
            yield self._occurrence(at, at + len(computation.name), computation, True)
        self.depth, self.key, self.opcode = 0, "", ""
        for token in _TOKEN.finditer(self.text, at + len(computation.name), end):
            if token["name"]:
                start = token.start() + token["name"].startswith("%")
                name, sign = self.text[start:token.end()], _AFTER.match(self.text, token.end())
                if sign and sign[1] == ":" and name in self.instructions:
                    yield self._occurrence(start, token.end(), self.instructions[name], False)

    def _read(self, number: int, end: int) -> Iterator[Occurrence]:
        at = self.places[number]
        pending: HloInstruction | None = self._starts[at]
        self.key, self.opcode, self.depth = "", "", 0
        for token in _TOKEN.finditer(self.text, at, end):
            start = token.start()
            if token["open"]:
                self.depth += 1
            elif token["close"]:
                self.depth -= 1
            elif token["comma"] and self.depth == 0:
                self.key = ""
            elif token["name"]:
                start += token["name"].startswith("%")
                name = self.text[start:token.end()]
                if pending is not None and name != "ROOT":
                    yield self._occurrence(start, start + len(pending.name), pending, True)
                    pending = None
                elif pending is None and (item := self._named(name, token.end())) is not None:
                    is_operand = not self.key and self.depth > 0
                    yield self._occurrence(start, token.end(), item, False, is_operand)

    def _names(self, instruction: HloInstruction) -> bool:
        """Return True if a statement of the text begins with the instruction's name."""
        return name_start(self.text, instruction) >= 0

    def _named(self, name: str, end: int) -> Item | None:
        """Return the definition of a name in the body or header; None for opcodes, types and words of attributes."""
        sign = _AFTER.match(self.text, end)
        after = sign[1] if sign else ""
        if after == "=":
            if self.depth == 0:
                self.key = name
            return None
        if after == "(":
            if self.depth == 0:
                self.opcode = name
            return None
        if self.key:
            kind = KINDS.get(self.key)
            if kind in _COMPUTATIONS:
                return self.computations.get(name)
            return self.instructions.get(name) if kind in _INSTRUCTIONS else None
        is_operand = self.depth > 0 and self.opcode not in ("constant", "parameter") and after != "["
        return self.instructions.get(name) if is_operand else None

    def _occurrence(self, start: int, end: int, item: Item, is_definition: bool, is_operand: bool = False
                    ) -> Occurrence:
        return Occurrence(start, end, item, self.computation, is_definition, is_operand)
