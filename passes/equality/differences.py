"""Finds the differences of two modules, whatever their computations and instructions are called.

    x = f32[2] parameter(0)                         p = f32[2] parameter(0)
    y = f32[2] add(x, x)                            q = f32[2] multiply(p, p)
    ROOT z = f32[2] negate(y)                       ROOT r = f32[2] negate(q)

differ in one place: `y: opcode: add -> multiply`. Computations are matched from the entry along calls, and
instructions in them from both ends: those of equal structure (see structure.py), then operands of matched users, then
users of matched operands, then what is alike. Repetitions of a pure instruction, and dead instructions, are no
difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict

from hlotool.ir import HloComputation, HloInstruction, HloModule, Kind, kind_of, live, no_collection, reachable
from hlotool.passes.equality.matching import Matching
from hlotool.passes.equality.structure import Aspects, Structure, has_effect, memory_of, module_attributes
from hlotool.passes.verify import require_usable
from hlotool.text import PrintOptions, print_instruction, print_value


@dataclass(frozen=True, slots=True)
class ChangedPart:
    """One thing in which two matched instructions (or two headers) differ; '' where one side lacks it."""

    name: str
    left: str
    right: str


class ChangedPartRecord(TypedDict):
    """A thing in which two instructions or headers differ, for programs."""

    name: str
    left: str
    right: str


class SideRecord(TypedDict):
    """An instruction of one module, or a computation that the other one lacks, for programs."""

    computation: str
    line: int
    name: NotRequired[str]
    opcode: NotRequired[str]
    text: NotRequired[str]


#: "changed", "removed" or "added"; of a whole computation the others
ChangeKind: TypeAlias = Literal["changed", "removed", "added", "removed computation", "added computation"]


class ChangeRecord(TypedDict):
    """A difference, for programs."""

    kind: ChangeKind
    left: SideRecord | None
    right: SideRecord | None
    parts: list[ChangedPartRecord]


class DiffRecord(TypedDict):
    """The differences of two modules, for programs."""

    equal: bool
    matched: NotRequired[Annotated[int, "instructions"]]
    immaterial: NotRequired[Annotated[int, "repetitions and dead instructions"]]
    header: list[ChangedPartRecord]
    changes: list[ChangeRecord]


@dataclass(frozen=True, slots=True)
class ModuleChange:
    """A difference: two matched instructions that are not the same, or one that only one side has.

    The computations are the ones that hold them. Without instructions it is the computation itself that is missing.
    """

    left: HloInstruction | None
    right: HloInstruction | None
    left_computation: HloComputation | None
    right_computation: HloComputation | None
    parts: tuple[ChangedPart, ...] = ()

    @property
    def kind(self) -> ChangeKind:
        """The kind of the difference."""
        if self.left is not None and self.right is not None:
            return "changed"
        if self.left is not None or self.right is not None:
            return "added" if self.left is None else "removed"
        return "added computation" if self.left_computation is None else "removed computation"


@dataclass(slots=True)
class Diff:
    """The result of `diff`. True if the modules mean the same, as Comparison is."""

    left: HloModule
    right: HloModule
    #: differences of the headers
    header: list[ChangedPart] = field(default_factory=list)
    changes: list[ModuleChange] = field(default_factory=list)
    #: matched pairs of instructions without a difference, in computations that differ, and in those that do not
    matched: int = 0
    #: dead instructions, and repetitions of pure ones, that only one side has
    immaterial: int = 0
    #: pairs of instructions in computations that were compared
    _partners: dict[HloInstruction, HloInstruction] = field(default_factory=dict)
    _structure: Structure | None = None

    def pairs(self) -> dict[HloInstruction, HloInstruction]:
        """Return the right module's instruction for each of the left one's that has a partner, changed ones included.

        In computations that need no comparison, for they are equal, instructions of one structure are pairs, in order.
        """
        found = dict(self._partners)
        if self._structure is None:
            return found
        numbers = self._structure.computations
        compared = set(found)
        equal: dict[int, dict[str, HloComputation]] = {}
        for computation in self.right.computations:
            if computation in numbers:
                equal.setdefault(numbers[computation], {})[computation.name] = computation
        for computation in self.left.computations:
            partners = equal.get(numbers.get(computation, -1), {})
            partner = partners.get(computation.name) or next(iter(partners.values()), None)
            if partner is not None and not any(i in compared for i in computation.instructions):
                found.update(self._equal_pairs(computation, partner))
        return found

    def _equal_pairs(self, left: HloComputation, right: HloComputation
                     ) -> Iterator[tuple[HloInstruction, HloInstruction]]:
        assert self._structure is not None
        numbers = self._structure.instructions
        rows: dict[int, list[HloInstruction]] = {}
        for instruction in reversed(right.instructions):
            rows.setdefault(numbers[instruction], []).append(instruction)
        for instruction in left.instructions:
            if row := rows.get(numbers[instruction]):
                yield instruction, row.pop() if len(row) > 1 else row[0]

    @property
    def is_equal(self) -> bool:
        """True if no difference was found."""
        return not self.header and not self.changes

    def __bool__(self) -> bool:
        return self.is_equal

    def count(self, kind: str) -> int:
        """Return how many changes are of a kind (see ModuleChange.kind)."""
        return sum(c.kind == kind for c in self.changes)

    def summary(self) -> str:
        """Return the verdict in one sentence."""
        if self.is_equal:
            return f"no difference; {self.matched} instructions match"
        kinds = ("changed", "removed", "added", "removed computation", "added computation")
        counts = [f"{self.count(k)} {k}" for k in kinds if self.count(k)]
        header = [f"{len(self.header)} in the header"] if self.header else []
        return f"{', '.join([*counts, *header])}; {self.matched} instructions match"

    def __str__(self) -> str:
        return "\n".join([self.summary(), *(line for _, line in self.lines())])

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield the report line by line, each with its kind: "head", "-", "+", "~" or "part"."""
        for part in self.header:
            yield "head", f"header {part.name}: {part.left or 'absent'} -> {part.right or 'absent'}"
        last: tuple[Any, ...] = ()
        for change in self.changes:
            place = change.left_computation, change.right_computation
            if place != last and (change.left or change.right):
                yield "head", f"in {_names(*place)}:"
            last = place
            yield from _change_lines(change, self.left, self.right)

    def as_json(self) -> DiffRecord:
        """Return the report as plain data."""
        return {
            "equal": self.is_equal, "matched": self.matched, "immaterial": self.immaterial,
            "header": [_part_json(p) for p in self.header],
            "changes": [_change_json(c, self.left, self.right) for c in self.changes],
        }


@no_collection()
def diff(a: HloModule | str, b: HloModule | str, *, names: bool = False, layouts: bool = False,
         ignore: Iterable[str] = ()) -> Diff:
    """Return the differences of two modules (or HLO texts) in what they compute and how they are to be compiled.

    Names, metadata and the order of the text count for nothing; with `names`, instructions of one name are matched
    first, and other names are differences. Layouts count with `layouts`. `ignore` names attributes that do not count.
    """
    left, right = _module(a), _module(b)
    require_usable(left)
    require_usable(right)
    structure = Structure(Aspects(layouts, frozenset(ignore)))
    structure.add(left)
    structure.add(right)
    found = Diff(left, right, _structure=structure)
    _compare_headers(found, structure.aspects)
    _Comparison(found, structure, names).run()
    return found


def _module(given: HloModule | str) -> HloModule:
    if not isinstance(given, str):
        return given
    from hlotool.passes.read import parse

    return parse(given)


def _compare_headers(found: Diff, aspects: Aspects) -> None:
    left, right = (module_attributes(m, aspects) for m in (found.left, found.right))
    for name in sorted({*left, *right}):
        if left.get(name) != right.get(name):
            texts = [_text(name, m.attributes.get(name)) for m in (found.left, found.right)]
            if texts[0] != texts[1]:
                found.header.append(ChangedPart(name, *texts))


class _Comparison:
    """The walk over pairs of computations, callers first."""

    def __init__(self, found: Diff, structure: Structure, by_name: bool) -> None:
        self.found = found
        self.structure = structure
        self.by_name = by_name
        self.pairs: dict[HloComputation, HloComputation] = {}
        self.taken: set[HloComputation] = set()
        self.todo: list[tuple[HloComputation, HloComputation]] = []
        #: numbers of the left module's computations
        self.known = {structure.computations[c] for c in reachable([found.left.entry])}
        self.seen: tuple[set[HloComputation], set[HloComputation]] = (set(), set())

    def run(self) -> None:
        left, right = self.found.left, self.found.right
        self.todo.append((left.entry, right.entry))
        self.pairs[left.entry] = right.entry
        self.taken.add(right.entry)
        while self.todo:
            self._computations(*self.todo.pop(0))
        numbers = self.structure.computations
        one, other = ([c for c in m.computations if c in inside] for m in (left, right)
                      for inside in [reachable([m.entry])])
        equal = {numbers[c] for c in one} & {numbers[c] for c in other}
        self.found.changes.extend(ModuleChange(None, None, c, None) for c in one
                                  if c not in self.seen[0] and numbers[c] not in equal)
        self.found.changes.extend(ModuleChange(None, None, None, c) for c in other
                                  if c not in self.seen[1] and numbers[c] not in equal)

    def pair(self, left: HloComputation, right: HloComputation) -> bool:
        """Match two computations, to be compared later; false where one of them has another partner."""
        if left in self.pairs or right in self.taken:
            return self.pairs.get(left) is right
        if left.name != right.name and self.structure.computations[right] in self.known:
            return False  # it stands for another one, so the caller has changed
        self.pairs[left] = right
        self.taken.add(right)
        self.todo.append((left, right))
        return True

    def _computations(self, left: HloComputation, right: HloComputation) -> None:
        for side, computation in enumerate((left, right)):
            self.seen[side].add(computation)
        numbers = self.structure.computations
        if numbers[left] == numbers[right] and not self.by_name:
            self.found.matched += len(left.instructions)
            self._mark_callees(left, right)
            return
        matching = Matching(left, right, self.structure, self.by_name)
        matching.run()
        self._report(left, right, matching)

    def _mark_callees(self, left: HloComputation, right: HloComputation) -> None:
        """Mark what equal computations call: that is equal, too, and missing on neither side."""
        for side, computation in enumerate((left, right)):
            stack = [computation]
            while stack:
                for instruction in stack.pop().instructions:
                    for callee in instruction.called_computations() if instruction.attributes else ():
                        if callee not in self.seen[side]:
                            self.seen[side].add(callee)
                            self.found.matched += len(callee.instructions) * (1 - side)
                            stack.append(callee)

    def _report(self, left: HloComputation, right: HloComputation, matching: Matching) -> None:
        changes = self.found.changes
        self.found._partners.update(matching.partner)
        for x in left.instructions:
            y = matching.partner.get(x)
            if y is None:
                continue
            if parts := tuple(self._parts(x, y, matching, left.root is x, right.root is y)):
                changes.append(ModuleChange(x, y, left, right, parts))
            else:
                self.found.matched += 1
        for side, computation in enumerate((left, right)):
            rest = matching.rest(side)
            kept = live(computation, lambda i: has_effect(i, self.structure.effects)) if rest else set()
            for instruction in rest:
                if instruction not in kept or matching.is_repeated(instruction, side):
                    self.found.immaterial += 1
                elif side == 0:
                    changes.append(ModuleChange(instruction, None, left, right))
                else:
                    changes.append(ModuleChange(None, instruction, left, right))

    def _parts(self, x: HloInstruction, y: HloInstruction, matching: Matching, is_left_root: bool,
               is_right_root: bool) -> Iterator[ChangedPart]:
        """Yield the differences of two paired instructions themselves; those of their operands are reported there."""
        if self.structure.instructions[x] != self.structure.instructions[y]:
            if x.opcode != y.opcode:
                yield ChangedPart("opcode", x.opcode, y.opcode)
            shape = self.structure.aspects.shape
            if shape(x.shape) is not shape(y.shape):
                yield ChangedPart("shape", str(shape(x.shape)), str(shape(y.shape)))
            elif memory_of(x) != memory_of(y):
                yield ChangedPart("layouts", _layouts(x), _layouts(y))
            yield from self._attribute_parts(x, y)
            yield from self._operand_parts(x, y, matching)
            before, after = (i.control_predecessors() for i in (x, y))
            if not matching.same_set(before, after):
                yield ChangedPart("control-predecessors", _listed(before), _listed(after))
        else:
            self._pair_callees(x, y)
        if is_left_root != is_right_root and not matching.roots_equal:
            yield ChangedPart("root", "ROOT" if is_left_root else "", "ROOT" if is_right_root else "")
        if self.by_name and x.name != y.name:
            yield ChangedPart("name", x.name, y.name)

    def _operand_parts(self, x: HloInstruction, y: HloInstruction, matching: Matching) -> Iterator[ChangedPart]:
        if len(x.operands) != len(y.operands):
            yield ChangedPart("operands", _listed(x.operands), _listed(y.operands))
            return
        for n, (p, q) in enumerate(zip(x.operands, y.operands, strict=True)):
            if not matching.same(p, q):
                yield ChangedPart(f"operand {n}", f"%{p.name}", f"%{q.name}")

    def _attribute_parts(self, x: HloInstruction, y: HloInstruction) -> Iterator[ChangedPart]:
        aspects, numbers = self.structure.aspects, self.structure.computations
        left, right = (dict(aspects.attributes(i, numbers.__getitem__)) for i in (x, y))
        for name in sorted({*left, *right}):
            if left.get(name) == right.get(name):
                continue
            if kind_of(name) in (Kind.COMPUTATION, Kind.COMPUTATIONS) and self._paired(x, y, name):
                continue
            yield ChangedPart(name, _text(name, x.attributes.get(name)), _text(name, y.attributes.get(name)))
        self._pair_callees(x, y)

    def _paired(self, x: HloInstruction, y: HloInstruction, name: str) -> bool:
        """Return True if the computations of an attribute are paired, so that their differences are reported there."""
        left, right = (_computations_of(i, name) for i in (x, y))
        numbers = self.structure.computations
        return len(left) == len(right) and all(
            numbers[a] == numbers[b] or self.pair(a, b) for a, b in zip(left, right, strict=True))

    def _pair_callees(self, x: HloInstruction, y: HloInstruction) -> None:
        """Mark equal callees, which need no comparison and are no computations of one side."""
        if not x.attributes:
            return
        for a, b in zip(x.called_computations(), y.called_computations(), strict=False):
            if self.by_name:
                self.pair(a, b)
            elif self.structure.computations[a] == self.structure.computations[b] and a not in self.seen[0]:
                self.found.matched += len(a.instructions)
                self.seen[0].add(a)
                self.seen[1].add(b)
                self._mark_callees(a, b)


def _layouts(instruction: HloInstruction) -> str:
    """Return the shapes with layouts on which an operation's meaning depends."""
    return f"{', '.join(str(o.shape) for o in instruction.operands)} to {instruction.shape}"


def _computations_of(instruction: HloInstruction, name: str) -> tuple[HloComputation, ...]:
    value = instruction.attributes.get(name)
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _listed(instructions: Sequence[HloInstruction]) -> str:
    return ", ".join(f"%{i.name}" for i in instructions)


def _names(left: HloComputation | None, right: HloComputation | None) -> str:
    given = [c.name for c in (left, right) if c is not None]
    return f"%{given[0]}" if len(set(given)) == 1 else f"%{given[0]} and %{given[1]}"


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name == "literal":
        return str(value.text) if value.text is not None else print_value(Kind.LITERAL, value)
    return print_value(kind_of(name), value)


_SHOWN = PrintOptions(metadata=False, layouts=False, elide_above=16)


def _row(instruction: HloInstruction) -> str:
    text = print_instruction(instruction, _SHOWN)
    return text if len(text) <= 300 else f"{text[:297]}..."


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:197]}..."


def _where(module: HloModule, item: HloInstruction | HloComputation) -> str:
    position = module.position(item)
    return f"   (line {position.line})" if position.line else ""


def _change_lines(change: ModuleChange, left: HloModule, right: HloModule) -> Iterator[tuple[str, str]]:
    x, y = change.left, change.right
    if x is not None and y is not None:
        yield "~", f"  ~ {_row(x)}{_where(left, x)}"
        for part in change.parts:
            yield "part", f"      {part.name}: {_short(part.left) or 'absent'} -> {_short(part.right) or 'absent'}"
    elif x is not None:
        yield "-", f"  - {_row(x)}{_where(left, x)}"
    elif y is not None:
        yield "+", f"  + {_row(y)}{_where(right, y)}"
    elif change.left_computation is not None:
        yield "-", f"- computation %{change.left_computation.name}{_where(left, change.left_computation)}"
    elif change.right_computation is not None:
        yield "+", f"+ computation %{change.right_computation.name}{_where(right, change.right_computation)}"


def _change_json(change: ModuleChange, left: HloModule, right: HloModule) -> ChangeRecord:
    def side(module: HloModule, instruction: HloInstruction | None, computation: HloComputation | None
             ) -> SideRecord | None:
        if computation is None:
            return None
        item = instruction if instruction is not None else computation
        found: SideRecord = {"computation": computation.name, "line": module.position(item).line}
        if instruction is not None:
            found |= {"name": instruction.name, "opcode": instruction.opcode, "text": _row(instruction)}
        return found

    return {"kind": change.kind,
            "left": side(left, change.left, change.left_computation) if change.kind != "added" else None,
            "right": side(right, change.right, change.right_computation) if change.kind != "removed" else None,
            "parts": [_part_json(p) for p in change.parts]}


def _part_json(part: ChangedPart) -> ChangedPartRecord:
    return {"name": part.name, "left": part.left, "right": part.right}
