"""What became of a program under optimisation: its operations by kind of fate, matched by op_name and opcode.

    before: multiply, add, call, dot          after: fusion (multiply, add), custom-call
    2 fused, 1 inlined, 1 rewritten (dot -> custom-call), 0 not found

Compilers rename and restructure nearly every instruction, and keep `metadata.op_name`: that is the thread. What has no
op_name is matched by its opcode and shape. Constants, parameters and tuples are not counted: they are not work.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.ops import flow_of

#: the fates of an operation, and what each means
FATES = {
    "kept": "stands outside of fusions as the same operation",
    "fused": "is one of a fusion's operations",
    "rewritten": "other operations stand for it under its op_name",
    "inlined": "a call, or an operation of one: what it calls stands where it was used",
    "not found": "no operation bears its op_name or is like it: folded, merged, superfluous, or made into others",
}
_Key = tuple[str, str]
#: an operation, and whether it stands in a fusion
_Row = tuple[HloInstruction, bool]


@dataclass(slots=True)
class Became:
    """The operations of one module by their fates in another, and what is new there."""

    #: operations of the first module by fate, and by opcode
    fates: dict[str, Counter[str]] = field(default_factory=lambda: {f: Counter() for f in FATES})
    #: what stands for the rewritten ones: "dot -> custom-call" and how often
    rewritten: Counter[str] = field(default_factory=Counter)
    #: operations of the second module that stand for none of the first, by opcode
    new: Counter[str] = field(default_factory=Counter)
    #: fusions of the second module
    fusions: int = 0
    #: an example of each fate and opcode: the instruction's name and its op_name
    examples: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def count(self, fate: str, instruction: HloInstruction) -> None:
        """Put an operation of the first module down to a fate."""
        self.fates[fate][instruction.opcode] += 1
        self.examples.setdefault((fate, instruction.opcode), (instruction.name, _name(instruction)))

    def summary(self) -> str:
        """The counts in one sentence."""
        counts = ", ".join(f"{sum(self.fates[f].values())} {f}" for f in FATES)
        return f"{sum(sum(c.values()) for c in self.fates.values())} operations: {counts}; " \
               f"{self.fusions} fusions and {sum(self.new.values())} new operations after"

    def lines(self) -> Iterator[tuple[str, str]]:
        """A line for each fate with its opcodes, the most frequent first, and for what is new."""
        for fate, counts in self.fates.items():
            if counts:
                yield "head", f"{fate} ({FATES[fate]}):"
                listed = self.rewritten if fate == "rewritten" else counts
                yield "~", "  " + ", ".join(f"{name} x{n}" for name, n in listed.most_common())
        if self.new:
            yield "head", "new (like no operation of the first module, nor under an op_name of it):"
            yield "+", "  " + ", ".join(f"{name} x{n}" for name, n in self.new.most_common())

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {"fates": {f: dict(c) for f, c in self.fates.items()}, "rewritten": dict(self.rewritten),
                "new": dict(self.new), "fusions": self.fusions,
                "examples": [{"fate": f, "opcode": o, "name": n, "op_name": p}
                             for (f, o), (n, p) in self.examples.items()]}


def is_optimised(module: HloModule) -> bool:
    """Whether a compiler has been at work: the module is scheduled, or holds fusions."""
    return bool(module.attributes.get("is_scheduled")) or any(i.opcode == "fusion" for i in module.instructions())


def became(before: HloModule, after: HloModule) -> Became:
    """What became of the operations of one module in another, which a compiler made of it."""
    found, there = Became(), _There(after)
    rest = []
    for instruction, _ in _work(before):
        if (is_fused := there.take_named(instruction)) is None:
            rest.append(instruction)
        else:
            found.count("fused" if is_fused else "kept", instruction)
    for instruction in rest:
        others = there.under(_name(instruction))
        if instruction.opcode == "call":
            found.count("inlined", instruction)
        elif others:
            found.count("rewritten", instruction)
            found.rewritten[f"{instruction.opcode} -> {_listed(others)}"] += 1
        elif (is_fused := there.take_alike(instruction)) is not None:
            found.count("fused" if is_fused else "kept", instruction)
        else:
            found.count("not found", instruction)
    known = {n for i, _ in _work(before) for n in there.full(_name(i))}
    for instruction, _ in _work(after):
        if instruction.opcode == "fusion":
            found.fusions += 1
        elif instruction not in there.taken and _name(instruction) not in known:
            found.new[instruction.opcode] += 1
    return found


class _There:
    """The operations of the second module, each to be taken once."""

    def __init__(self, module: HloModule) -> None:
        self.taken: set[HloInstruction] = set()
        self._named: dict[_Key, deque[_Row]] = defaultdict(deque)
        self._alike: dict[_Key, deque[_Row]] = defaultdict(deque)
        self._under: dict[str, Counter[str]] = defaultdict(Counter)
        #: op_names by their last part: a call that is inlined puts its own before those of what it calls
        self._endings: dict[str, list[str]] = defaultdict(list)
        for row in _work(module):
            name = _name(row[0])
            self._alike[row[0].opcode, _shape(row[0])].append(row)
            if name:
                self._named[row[0].opcode, name].append(row)
                if name not in self._under:
                    self._endings[name.rpartition("/")[2]].append(name)
                self._under[name][row[0].opcode] += 1

    def full(self, name: str) -> list[str]:
        """The op_names of the second module that an op_name of the first may have become."""
        if not name or name in self._under:
            return [name] if name else []
        return [n for n in self._endings.get(name.rpartition("/")[2], ())[:64] if n.endswith(f"/{name}")]

    def under(self, name: str) -> Counter[str]:
        """The opcodes under an op_name."""
        return sum((self._under[n] for n in self.full(name)), Counter[str]())

    def take_named(self, instruction: HloInstruction) -> bool | None:
        """Whether the same operation under the same op_name stands in a fusion; None where there is none."""
        return next((r for n in self.full(_name(instruction))
                     if (r := self._take(self._named.get((instruction.opcode, n)))) is not None), None)

    def take_alike(self, instruction: HloInstruction) -> bool | None:
        """The same for an operation of the same opcode and shape, whatever its op_name."""
        return self._take(self._alike.get((instruction.opcode, _shape(instruction))))

    def _take(self, rows: deque[_Row] | None) -> bool | None:
        while rows:
            instruction, is_fused = rows.popleft()
            if instruction not in self.taken:
                self.taken.add(instruction)
                return is_fused
        return None


def _work(module: HloModule) -> Iterator[tuple[HloInstruction, bool]]:
    """The instructions that compute something, each with whether a fusion holds it; not those of folds."""
    fused: set[HloComputation] = set()
    folds: set[HloComputation] = set()
    for instruction in module.instructions():
        called = instruction.called_computations() if instruction.attributes else ()
        if instruction.opcode == "fusion":
            fused.update(called)
        elif instruction.opcode not in ("call", "while", "conditional", "async-start"):
            folds.update(called)
    for computation in module.computations:
        if computation in folds:
            continue
        for instruction in computation.instructions:
            if not flow_of(instruction).is_free:
                yield instruction, computation in fused


def _name(instruction: HloInstruction) -> str:
    metadata = instruction.metadata
    return metadata.op_name if metadata is not None else ""


def _shape(instruction: HloInstruction) -> str:
    return str(instruction.shape.without_layout())


def _listed(opcodes: Counter[str]) -> str:
    return ", ".join(sorted(opcodes)[:3]) + (", ..." if len(opcodes) > 3 else "")
