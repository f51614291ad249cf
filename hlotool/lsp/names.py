"""Every place of a text where the name of an instruction or a computation stands."""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter

from hlotool.grammars import beginning
from hlotool.ir import KINDS, HloComputation, HloInstruction, HloModule, Kind

Item = HloInstruction | HloComputation

_TOKEN = re.compile(
    r"""(?P<skip>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|/\*.*?\*/|//[^\n]*"""
    r"""|(?:metadata|backend_config)=\{(?:[^{}"\n]|"(?:[^"\\\n]|\\.)*")*+\})"""
    r"|(?P<name>%?[A-Za-z_][\w.\-]*)|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<comma>,)", re.S)
_AFTER = re.compile(r"\s*([=(\[:]?)")
_STATEMENT = re.compile(beginning("hlo", "instruction", before=("WORD",)))
_COMPUTATIONS, _INSTRUCTIONS = (Kind.COMPUTATION, Kind.COMPUTATIONS), (Kind.INSTRUCTIONS,)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name in the text, without its percent sign: offsets `start` to `end`, and what it names."""

    start: int
    end: int
    item: Item
    #: the computation around it
    owner: HloComputation
    is_definition: bool = False


@dataclass
class Names:
    """The occurrences of a module's text in its order, and those of each item."""

    occurrences: list[Occurrence] = field(default_factory=list)
    of: dict[Item, list[Occurrence]] = field(default_factory=lambda: defaultdict(list))

    def add(self, occurrence: Occurrence) -> None:
        self.occurrences.append(occurrence)
        self.of[occurrence.item].append(occurrence)

    def at(self, offset: int) -> Occurrence | None:
        """The occurrence that an offset stands in or right behind."""
        index = bisect.bisect_right(self.occurrences, offset, key=attrgetter("start")) - 1
        found = self.occurrences[index] if index >= 0 else None
        return found if found is not None and found.start <= offset <= found.end else None

    def definition(self, item: Item) -> Occurrence | None:
        return next((o for o in self.of.get(item, ()) if o.is_definition), None)


def names_of(module: HloModule) -> Names:
    """Find them all. Names that a faulty part of the text makes unknown are left out."""
    found = Names()
    text = module.source.text if module.source else ""
    by_name = {c.name: c for c in module.computations}
    ordered = sorted((c for c in module.computations if c.offset >= 0), key=lambda c: c.offset)
    for computation, following in zip(ordered, [*ordered[1:], None], strict=True):
        end = _end(text, computation, following)
        for occurrence in _Body(text, computation, by_name).read(end):
            found.add(occurrence)
    found.occurrences.sort(key=attrgetter("start"))
    return found


def text_at(text: str, at: int, name: str) -> bool:
    """Whether a name stands there, whole."""
    return text.startswith(name, at) and not re.match(r"[\w.\-]", text[at + len(name):at + len(name) + 1])


def _end(text: str, computation: HloComputation, following: HloComputation | None) -> int:
    """Where a computation's text ends: in front of the next one's first word."""
    if following is None:
        return len(text)
    return max(text.rfind("\n", 0, following.offset), text.rfind("}", 0, following.offset), computation.offset)


class _Body:
    """Walks over one computation's text, knowing which statement, attribute and bracket it is in."""

    def __init__(self, text: str, computation: HloComputation, computations: dict[str, HloComputation]) -> None:
        self.text, self.computation, self.computations = text, computation, computations
        self.instructions = {i.name: i for i in computation.instructions}
        # Operands that are written in place have no name in the text.
        self.starts = {i.offset: i for i in computation.instructions if i.offset >= 0 and self._names(i)}
        #: the first statement; in front of it stands the header
        self.first = min(self.starts, default=len(text))
        self.opcode = self.key = ""
        self.depth = 0

    def read(self, end: int) -> Iterator[Occurrence]:
        at = self.computation.offset
        if text_at(self.text, at, self.computation.name):
            yield self._occurrence(at, at + len(self.computation.name), self.computation, True)
        pending: HloInstruction | None = None
        for token in _TOKEN.finditer(self.text, at + len(self.computation.name), end):
            start = token.start()
            if start in self.starts:
                pending, self.key, self.opcode, self.depth = self.starts[start], "", "", 0
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
                    yield self._occurrence(start, token.end(), item, False)

    def _names(self, instruction: HloInstruction) -> bool:
        start = _STATEMENT.match(self.text, instruction.offset)
        return start is not None and text_at(self.text, start.end(), instruction.name)

    def _named(self, name: str, end: int) -> Item | None:
        """What a name in the body or header stands for; None for opcodes, types, attributes and their words."""
        sign = _AFTER.match(self.text, end)
        after = sign[1] if sign else ""
        if end < self.first:
            return self.instructions.get(name) if after == ":" else None
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

    def _occurrence(self, start: int, end: int, item: Item, is_definition: bool) -> Occurrence:
        return Occurrence(start, end, item, self.computation, is_definition)
