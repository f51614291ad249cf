"""Tells the fate of each operation of a program under optimisation, paired by op_name and opcode.

    before: multiply, add, call, dot          after: fusion (multiply, add), custom-call
    2 fused, 1 inlined, 1 rewritten (dot -> custom-call), 0 not found

Compilers rename and restructure nearly every instruction, and keep `metadata.op_name`. Operations without op_name are
paired by opcode and shape. Operations that are free (constants, parameters, tuples) are not counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hlotool.diagnostics import first_few
from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape
from hlotool.ops import flow_of
from hlotool.passes.equality.pairing import Pairing, op_name

#: fates of an operation, with the meaning of each
FATES = {
    "kept": "stands outside of fusions as the same operation",
    "fused": "is one of a fusion's operations",
    "rewritten": "other operations stand for it under its op_name",
    "inlined": "a call, or an operation of one: what it calls stands where it was used",
    "not found": "no operation bears its op_name or is like it: folded, merged, superfluous, or made into others",
}


@dataclass(slots=True)
class Became:
    """The operations of one module by their fates in another, and what is new there."""

    #: operations of the first module by fate, and by opcode
    fates: dict[str, Counter[str]] = field(default_factory=lambda: {f: Counter() for f in FATES})
    #: the rewritten ones and their replacements: "dot -> custom-call" and how often
    rewritten: Counter[str] = field(default_factory=Counter)
    #: operations of the second module that replace none of the first, by opcode
    new: Counter[str] = field(default_factory=Counter)
    #: fusions of the second module
    fusions: int = 0
    #: the fate of each operation of the first module, and the operations of the second that stand for it
    places: dict[HloInstruction, tuple[str, tuple[HloInstruction, ...]]] = field(default_factory=dict)
    #: operations of the second module that replace none of the first
    added: list[HloInstruction] = field(default_factory=list)
    #: an example of each fate and opcode: the instruction's name and its op_name
    examples: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def count(self, fate: str, instruction: HloInstruction, *stand_for_it: HloInstruction) -> None:
        """Count an operation of the first module under a fate."""
        self.places[instruction] = fate, stand_for_it
        self.fates[fate][instruction.opcode] += 1
        self.examples.setdefault((fate, instruction.opcode), (instruction.name, op_name(instruction)))

    def summary(self) -> str:
        """Return the counts in one sentence."""
        counts = ", ".join(f"{sum(self.fates[f].values())} {f}" for f in FATES)
        return f"{sum(sum(c.values()) for c in self.fates.values())} operations: {counts}; " \
               f"{self.fusions} fusions and {sum(self.new.values())} new operations after"

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield a line for each fate with its opcodes, the most frequent first, and for new operations."""
        for fate, counts in self.fates.items():
            if counts:
                yield "head", f"{fate} ({FATES[fate]}):"
                listed = self.rewritten if fate == "rewritten" else counts
                yield "~", "  " + ", ".join(f"{name} x{n}" for name, n in listed.most_common())
        if self.new:
            yield "head", "new (like no operation of the first module, nor under an op_name of it):"
            yield "+", "  " + ", ".join(f"{name} x{n}" for name, n in self.new.most_common())

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {"fates": {f: dict(c) for f, c in self.fates.items()}, "rewritten": dict(self.rewritten),
                "new": dict(self.new), "fusions": self.fusions,
                "examples": [{"fate": f, "opcode": o, "name": n, "op_name": p}
                             for (f, o), (n, p) in self.examples.items()]}


def is_optimised(module: HloModule) -> bool:
    """Return True if a compiler has been at work: the module is scheduled, or holds fusions."""
    return bool(module.attributes.get("is_scheduled")) or any(i.opcode == "fusion" for i in module.instructions())


def became(before: HloModule, after: HloModule) -> Became:
    """Return the fates of the operations of one module in another, which a compiler made of it."""
    found, there, is_fused = Became(), _OpNames(after), dict(_work(after))
    pairing = Pairing([i for i, _ in _work(before)], list(is_fused))
    pairing.pair(lambda i: (i.opcode, op_name(i)), lambda i: [(i.opcode, n) for n in there.full(op_name(i))])
    for instruction, partner in pairing.partner.items():
        found.count("fused" if is_fused[partner] else "kept", instruction, partner)
    rest = {i: there.under(op_name(i)) for i in pairing.rest(0)}
    pairing.pair(_likeness, lambda i: () if rest[i] or i.opcode == "call" else (_likeness(i),))
    for instruction, others in rest.items():
        if instruction.opcode == "call":
            found.count("inlined", instruction)
        elif others:
            found.count("rewritten", instruction, *others)
            found.rewritten[f"{instruction.opcode} -> {first_few(sorted({o.opcode for o in others}), 3)}"] += 1
        elif (alike := pairing.partner.get(instruction)) is not None:
            found.count("fused" if is_fused[alike] else "kept", instruction, alike)
        else:
            found.count("not found", instruction)
    known = {n for i in pairing.members[0] for n in there.full(op_name(i))}
    for instruction in is_fused:
        if instruction.opcode == "fusion":
            found.fusions += 1
        elif instruction not in pairing.taken and op_name(instruction) not in known:
            found.new[instruction.opcode] += 1
            found.added.append(instruction)
    return found


class _OpNames:
    """The op_names of the second module, and the operations that have each."""

    def __init__(self, module: HloModule) -> None:
        self._under: dict[str, list[HloInstruction]] = defaultdict(list)
        #: op_names by their last part: a call that is inlined puts its own before those of what it calls
        self._endings: dict[str, list[str]] = defaultdict(list)
        for instruction, _ in _work(module):
            if name := op_name(instruction):
                if name not in self._under:
                    self._endings[name.rpartition("/")[2]].append(name)
                self._under[name].append(instruction)

    def full(self, name: str) -> list[str]:
        """Return the op_names that an op_name of the first module may have become."""
        if not name or name in self._under:
            return [name] if name else []
        return [n for n in self._endings.get(name.rpartition("/")[2], ())[:64] if n.endswith(f"/{name}")]

    def under(self, name: str) -> list[HloInstruction]:
        """Return the operations under an op_name of the first module."""
        return [i for n in self.full(name) for i in self._under[n]]


def _work(module: HloModule) -> Iterator[tuple[HloInstruction, bool]]:
    """Yield the instructions that compute something, each with True if a fusion holds it; not those of folds."""
    fused: set[HloComputation] = set()
    folds: set[HloComputation] = set()
    for instruction in module.instructions():
        called = instruction.called_computations() if instruction.attributes else ()
        if instruction.opcode == "fusion":
            fused.update(called)
        elif not flow_of(instruction).branches_off:
            folds.update(called)
    for computation in module.computations:
        if computation in folds:
            continue
        for instruction in computation.instructions:
            if not flow_of(instruction).is_free:
                yield instruction, computation in fused


def _likeness(instruction: HloInstruction) -> tuple[str, Shape]:
    return instruction.opcode, instruction.shape.without_layout()
