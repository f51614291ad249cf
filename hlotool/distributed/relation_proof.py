"""The proof that a partitioned program computes the parts of a whole one, for all arguments and on all devices.

Both programs' values are carried to terms (hlotool.ops.relations), the parameters of the part being tiles of the whole
ones. Where each device's result is the term that the whole result is at that device's place, the programs are equal:
up to the order of sums, and to what rounding partial sums costs. No arguments are drawn. What is not carried decides
nothing: no instruction is accused by a proof that stops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlotool.diagnostics import first_few
from hlotool.distributed.partition import Partition, placement_for
from hlotool.distributed.relation_walk import Walk, leaves_of, nested_arguments, only_marks, tile_of
from hlotool.ir import HloInstruction, Placement, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops import acts, is_border
from hlotool.ops.relation_values import array_of
from hlotool.ops.relations import NotCarried, Pieces, Relations, Term, TermPiece, TermView, Value
from hlotool.process import work_time

#: seconds for a proof, unless others are asked for
TIME_LIMIT = 20.0
#: numbers that are listed at most
_FACTORS = 4


@dataclass(frozen=True)
class RelationProof:
    """Where a partitioned program is proved to be a whole one's, and where the proof stopped."""

    is_proved: bool
    devices: int
    #: True if sums are put together in another order
    is_reordered: bool = False
    #: numbers by which terms are multiplied in one program, and their sum in the other one
    factors: tuple[float, ...] = ()
    #: the instruction of the partitioned program behind which nothing is known, and why
    stopped: HloInstruction | None = None
    reason: str = ""

    def __str__(self) -> str:
        if not self.is_proved:
            at = f"at %{self.stopped.name}, " if self.stopped is not None else ""
            return f"not decided: {at}{self.reason}"
        order = ", up to the order of sums" if self.is_reordered else ""
        if self.factors:
            order += f" and to where they are multiplied by {first_few((f'{f:g}' for f in self.factors), _FACTORS)}"
        return f"equal on {self.devices:,} devices, for all arguments{order}"


def prove_partition(partition: Partition, time_limit: float = TIME_LIMIT) -> RelationProof:
    """Return whether all devices' results are proved to be the parts of the whole ones, within seconds of work."""
    try:
        return _Proof(partition, time_limit).made()
    except NotCarried as error:
        return RelationProof(False, partition.part.partitions, reason=str(error))


@dataclass(frozen=True)
class SharedValue:
    """A value of a whole program, of which a value of the partitioned one is proved to be the parts."""

    whole: HloInstruction
    part: HloInstruction
    placement: Placement


def shared_values(partition: Partition) -> list[SharedValue]:
    """Return the values of both entries that are proved to be one, split as the whole program's shardings say."""
    proof = _Proof(partition)
    try:
        proof.walk()
    except NotCarried:
        return []
    return list(proof.shared())


class _Proof:
    """Two programs whose values are carried to the same terms."""

    def __init__(self, partition: Partition, time_limit: float = TIME_LIMIT) -> None:
        self.partition = partition
        until = work_time() + time_limit
        self.relations = Relations(partition.part.partitions)
        self.whole = Walk(self.relations, partition.whole, until)
        self.part = Walk(self.relations, partition.part, until)
        #: kinds and bodies of the folds of the whole program
        self._known_folds: set[tuple[object, tuple[Term, ...]]] = set()

    def walk(self) -> tuple[object, object]:
        """Return the results of both programs. Raises NotCarried for what no proof is tried of."""
        for walk in (self.whole, self.part):
            acting = next((i for i in walk.program.module.instructions()
                           if acts(i) and not only_marks(i) and not is_border(i)), None)
            if acting is not None:
                raise NotCarried(f"{acting.opcode} {acting.name} exchanges data with the host, or draws numbers")
        if any(None in p.places for p in (*self.partition.arguments, *self.partition.results)):
            raise NotCarried("some devices have no part of a value")
        whole = self.whole.run(self.partition.whole.module.entry, nested_arguments(
            self.partition.whole, lambda n, s: self.relations.parameter(n, s.element_type, s.dims)))
        self.relations.begin_part()
        part = self.part.run(self.partition.part.module.entry, nested_arguments(self.partition.part, self._argument))
        return whole, part

    def shared(self) -> Iterator[SharedValue]:
        """Yield the values that both have, those of the whole program in its order, each with the first of the part."""
        by_term: dict[Term, list[HloInstruction]] = {}
        for instruction in self.partition.part.module.entry.instructions:
            value = self.part.values.get(instruction)
            if isinstance(value, TermView):
                by_term.setdefault(value.term, []).append(instruction)
        for instruction in self.partition.whole.module.entry.instructions:
            whole = self.whole.values.get(instruction)
            for other in by_term.get(whole.term, ()) if isinstance(whole, TermView) else ():
                placement = placement_for(instruction, other, self.relations.devices)
                part = self.part.values[other]
                if placement is None or None in placement.places:
                    continue
                if isinstance(whole, TermView) and isinstance(part, TermView) and self._is_part(
                        whole, part, placement, instruction.shape):
                    yield SharedValue(instruction, other, placement)

    def made(self) -> RelationProof:
        """Return the proof. Raises NotCarried for what no proof is tried of."""
        whole, part = self.walk()
        known = {v.term for v in self._views(self.whole)}
        self._known_folds = {(t.key[1], t.operands) for t in known if t.kind == "fold"}
        roots = [p.module.entry.root.shape for p in (self.partition.whole, self.partition.part)]
        pairs = zip(leaves_of(whole, roots[0]), leaves_of(part, roots[1]), self.partition.whole.results,
                    self.partition.results, strict=True)
        for number, (one, other, shape, placement) in enumerate(pairs):
            if one is None:
                at = next(iter(self.whole.reasons), None)
                return self._undecided(None, f"%{at.name} of the whole program: {self.whole.reasons[at]}"
                                       if at is not None else "the whole program is not carried")
            if other is None or not self._is_part(array_of(one), array_of(other), placement, shape):
                return self._stopped(number, known, other)
        return RelationProof(True, self.relations.devices, self.relations.is_reordered,
                             tuple(sorted(self.relations.factors)))

    def _argument(self, number: int, shape: Shape) -> TermView | Pieces:
        whole = self.partition.whole.parameters[number]
        given = self.relations.parameter(number, whole.element_type, whole.dims)
        return tile_of(self.relations, given, self.partition.arguments[number], shape.dims)

    def _views(self, walk: Walk) -> Iterator[TermView]:
        for value in walk.values.values():
            if isinstance(value, TermView | Pieces):
                yield from (p.view for p in self.relations.pieces_of(value))

    # results

    def _is_part(self, whole: TermView | Pieces, part: TermView | Pieces, placement: Placement, shape: Shape) -> bool:
        """Return True if a value is the part of a whole one at each device's place, as far as that has elements."""
        wanted = tile_of(self.relations, whole, placement, part.dims)
        sizes = np.asarray(part.dims, np.int64)
        places = np.asarray(placement.places, np.int64).reshape(len(placement.places), len(sizes))
        inside = np.clip(np.asarray(shape.dims, np.int64) - places * sizes, 0, sizes) if part.dims else np.ones(
            (1, 1), np.int64)
        return all(self._are_alike(a, b, inside) for a in self.relations.pieces_of(wanted)
                   for b in self.relations.pieces_of(part))

    def _are_alike(self, a: TermPiece, b: TermPiece, inside: Array) -> bool:
        """Return True if two regions have the same elements wherever they overlap within what counts."""
        low = np.maximum(np.maximum(a.low.array, b.low.array), 0)
        high = np.minimum(np.minimum(a.high.array, b.high.array), inside)
        live = np.asarray((low < high).all(axis=1))
        if not live.any():
            return True
        one, other = a.view, b.view
        if one.term is not other.term:
            return False
        differs = np.asarray(one.rows, np.int64) - np.asarray(other.rows, np.int64)
        differs = differs.reshape(len(one.rows), len(one.dims))
        count = len(live)
        shift = np.broadcast_to(one.offsets.array - other.offsets.array, (count, len(one.rows)))
        # the difference of both places is affine: it vanishes in a box if it does at a corner and grows along no side
        rank = len(one.dims)
        at_low = shift + np.broadcast_to(low, (count, low.shape[1]))[:, :rank] @ differs.T
        grows = (np.broadcast_to(high - low, (count, low.shape[1])) > 1)[:, :rank].astype(np.int64) @ np.abs(differs).T
        return bool((at_low[live] == 0).all() and (grows[live] == 0).all())

    # where it stopped

    def _undecided(self, at: HloInstruction | None, reason: str) -> RelationProof:
        return RelationProof(False, self.relations.devices, stopped=at, reason=reason)

    def _stopped(self, number: int, known: set[Term], value: Value | None) -> RelationProof:
        """Return where the first value is that is none of the whole program's, on the way to a result."""
        root = self.partition.part.module.entry.root
        at: HloInstruction = root.operands[number] if root.opcode == "tuple" and number < len(root.operands) else root
        seen = {at}
        while (inner := self._unknown_operand(at, known, seen)) is not None:
            at = inner
            seen.add(at)
        if at in self.part.reasons:
            return self._undecided(at, self.part.reasons[at])
        if not self._is_fold(at):  # what it is made of may be a part of a sum, which nobody completed
            at = next((o for o in at.operands if self._is_fold(o) and not self._is_known(o, known)), at)
        return self._undecided(at, self._why(at, known))

    def _unknown_operand(self, at: HloInstruction, known: set[Term], seen: set[HloInstruction]
                         ) -> HloInstruction | None:
        for operand in (*at.operands, *(c.root for c in at.called_computations() if at.opcode in ("call", "fusion"))):
            if operand in seen or operand.opcode == "parameter":
                continue
            value = self.part.values.get(operand)
            if value is None or (not isinstance(value, tuple) and not all(
                    self._is_explained(p.view, known) for p in self.relations.pieces_of(value))):
                return operand
        return None

    def _is_fold(self, at: HloInstruction) -> bool:
        value = self.part.values.get(at)
        return isinstance(value, TermView) and value.term.kind == "fold"

    def _is_known(self, at: HloInstruction, known: set[Term]) -> bool:
        value = self.part.values.get(at)
        return isinstance(value, TermView) and value.term in known

    def _is_explained(self, view: TermView, known: set[Term]) -> bool:
        term = view.term
        if term.kind == "fold":
            return (term.key[1], term.operands) in self._known_folds
        return term in known or term.kind in ("count", "constant", "literal", "parameter") or (
            term.kind in ("pad", "joined") and term.operands[0] in known)

    def _why(self, at: HloInstruction, known: set[Term]) -> str:
        value = self.part.values.get(at)
        if isinstance(value, TermView) and value.term.kind == "fold":
            wanted = [t for t in known if t.kind == "fold" and t.key[1] == value.term.key[1]
                      and t.operands == value.term.operands]
            if wanted:
                return (f"it holds {_terms(value.term)} of a {_word(value.term)} that has {_terms(wanted[0])} in the "
                        "whole program")
        if isinstance(value, TermView) and value.term in known:
            return "it is a value of the whole program, but not at the place of each device"
        return "its value is none that the whole program has"


def _terms(term: Term) -> str:
    patterns: Sequence[tuple[object, tuple[tuple[int, int], ...]]] = term.key[3]
    count = int(np.prod([sum(b - a for a, b in intervals) for _, intervals in patterns], dtype=np.int64))
    times = int(term.key[4])
    return f"{count:,} terms" + (f", each {times:,} times," if times != 1 else "")


def _word(term: Term) -> str:
    kind: tuple[str, str] = term.key[1]
    return {"add": "sum", "multiply": "product"}.get(kind[0], kind[0])
