"""Steps for a whole program and its partitioned form, whose results differ on some device.

What both are proved to share (hlotool.distributed.shared_values) is handed in: whole to the one, in parts to the other.
The result goes up where both apply one operation to operands of which all but one are shared: that one is then meant to
be the same, too.

    whole                              on each device                    what is left of both
    h = f32[8,4] tanh(x)               h = f32[2,4] tanh(x)              h = f32[8,4] parameter(0)   h = f32[2,4] ...
    s = f32[4] reduce(h), {0}          p = f32[4] reduce(h), {0}         s = reduce(h), {0}          p = reduce(h), {0}
                                       s = f32[4] all-reduce(p)                                      s = all-reduce(p)
    y = f32[4] negate(s)               y = f32[4] negate(s)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hlotool.distributed import Partition, SharedValue, placement_for, shared_values
from hlotool.execution import Program, evaluate_program
from hlotool.ir import Attributes, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.passes.edit import Editing, Section, section
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import SearchState

#: a value of the whole program and the one of the partitioned program that is meant to be its parts
_Pair = tuple[HloInstruction, HloInstruction]


def cut_parts(work: SearchState) -> bool:
    """Keep what makes one result differ, of values that both programs share. Return True if it helped."""
    return work.try_all(_cuts, "cut")


def _cuts(base: Candidate) -> Iterator[Maker]:
    partition = base.partition()
    if partition is None or base.rows is None:
        return
    cuts = _Cuts(base, partition, shared_values(partition))
    made = [cut for pair in cuts.targets() for cut in (cuts.at(pair, True), cuts.at(pair, False)) if cut is not None]
    for candidate in sorted(made, key=lambda c: c.size):
        if (candidate.size, candidate.elements) < (base.size, base.elements) and candidate.size <= base.size:
            yield lambda candidate=candidate: candidate  # type: ignore[misc]


@dataclass
class _Cuts:
    """Sections of both modules that begin at shared values and end in one result."""

    base: Candidate
    partition: Partition
    shared: Sequence[SharedValue]
    #: of each module's values the whole one that it is, or is the parts of
    _keys: dict[HloInstruction, HloInstruction] = field(default_factory=dict)
    #: of each whole value that may be handed in the dimensions of its parts
    _parts: dict[HloInstruction, Shape] = field(default_factory=dict)

    def __post_init__(self) -> None:
        modules = self.partition.whole.module, self.partition.part.module
        for one, other in zip(*(m.entry.parameters() for m in modules), strict=True):
            self._keys[one], self._keys[other], self._parts[one] = one, one, other.shape
        for value in self.shared:
            if value.whole.opcode not in ("parameter", "constant", "iota"):
                self._keys.setdefault(value.whole, value.whole)
                self._keys.setdefault(value.part, value.whole)
                self._parts.setdefault(value.whole, value.part.shape)

    def targets(self) -> Iterator[_Pair]:
        """Yield the results, and above each what it is made of by one operation, as far as that leads."""
        roots = [m.entry.root for m in (self.partition.whole.module, self.partition.part.module)]
        pairs = list(zip(*(r.operands for r in roots), strict=False)) if all(
            r.opcode == "tuple" for r in roots) else [(roots[0], roots[1])]
        for pair in pairs:
            here: _Pair | None = pair
            while here is not None and here[0].shape.is_array:
                yield here
                here = self._above(*here)

    def _above(self, one: HloInstruction, other: HloInstruction) -> _Pair | None:
        """Return the one pair of operands that is not shared, of two instructions that are one operation."""
        named = [{n: v for n, v in i.attributes.items() if n not in ("sharding", "metadata")} for i in (one, other)]
        if one.opcode != other.opcode or named[0] != named[1] or len(one.operands) != len(other.operands) \
                or one.called_computations():
            return None
        left = [(a, b) for a, b in zip(one.operands, other.operands, strict=True) if not self._is_shared(a, b)]
        if len(left) != 1 or placement_for(*left[0], self.partition.part.partitions) is None:
            return None
        return left[0]

    def _is_shared(self, one: HloInstruction, other: HloInstruction) -> bool:
        return any(s.whole is one and s.part is other for s in self.shared)

    def at(self, pair: _Pair, cuts_at_shared: bool) -> Candidate | None:
        """Return the modules that end in a pair, and begin at parameters or at what is shared."""
        cut = {k for k in self._keys if k not in pair and k.opcode != "parameter"} if cuts_at_shared else set()
        header = Attributes({"num_partitions": self.partition.part.partitions})
        sections = [section(p.module, p.module.entry, [target], cut, header) for p, target in zip(
            (self.partition.whole, self.partition.part), pair, strict=True)]
        order = list(dict.fromkeys(self._keys[f] for s in sections for f in s.fed))
        rows = self._values(order)
        for own, is_part in zip(sections, (False, True), strict=True):
            self._number(own, order, is_part)
        return Candidate(sections[0].module, [rows], sections[1].module)

    def _values(self, order: Sequence[HloInstruction]) -> list[Array]:
        """Return the values of the whole program that are handed in."""
        assert self.base.rows is not None
        row, module = self.base.rows[0], self.partition.whole.module
        known = dict(zip(module.entry.parameters(), row, strict=True))
        inner = [o for o in order if o not in known]
        if inner:
            made = section(module, module.entry, inner, header=Attributes(
                {"num_partitions": self.partition.part.partitions}))
            given = [known[f] for f in made.fed]
            known.update(zip(inner, evaluate_program(Program(made.module), [given])[0], strict=True))
        return [np.asarray(known[o]) for o in order]

    def _number(self, own: Section, order: Sequence[HloInstruction], is_part: bool) -> None:
        """Let both modules take the same values in one order; those that a module does not use, too."""
        entry, edit = own.module.entry, Editing(own.module)
        taken: dict[int, HloInstruction] = {}
        twins: dict[HloInstruction, HloInstruction] = {}
        for parameter, fed in zip(entry.parameters(), own.fed, strict=True):
            number = order.index(self._keys[fed])
            if taken.setdefault(number, parameter) is not parameter:
                twins[parameter] = taken[number]
            parameter.attributes = parameter.attributes | {"parameter_number": number}
        edit.replace_uses(twins, entry)
        entry.instructions = [i for i in entry.instructions if i not in twins]
        for number, source in enumerate(order):
            if number not in taken:
                shape = (self._parts[source] if is_part else source.shape).without_layout()
                kept: Mapping[str, object] = {n: source.attributes[n] for n in ("sharding",)
                                              if n in source.attributes and not is_part}
                edit.insert(entry, "parameter", shape, (), {"parameter_number": number, **kept},
                            name=f"{source.name}.unused", before=entry.instructions[0])


