"""Computes the memory that a module needs at once: live ranges of its values, in the order in which it runs.

Arguments and results have memory from beginning to end, as PJRT holds them; results that take an argument's place
(donation) count once. Between them, each value lives from the instruction that makes it to the last that reads it.
Views (get-tuple-element, bitcast) and loops work in the memory of what they are given; an elementwise instruction, or
one that updates a part, writes over an operand that nobody reads later; and a temporary value may lie where a result
will come, or where a donated argument was. What is left shares a heap. Source: XLA, xla/service/buffer_assignment.cc.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hlotool.ir import Aliasing, HloComputation, HloInstruction, HloModule, Shape, callees_first, no_collection
from hlotool.passes.cost.heap import MOST_PLACED, Interval, Piece, aligned, combined_size, heap_size
from hlotool.passes.cost.overwriting import overwritten
from hlotool.passes.cost.values_in_time import (
    ADDRESS,
    NEVER,
    RUNS,
    Buffer,
    ResultMemory,
    Timeline,
    TimeSpan,
    buffers,
    call_sites,
    member,
)
from hlotool.passes.verify import require_usable

#: places of results that are tried for a temporary
_MOST_PLACES = 6


@dataclass(frozen=True, slots=True)
class LiveBuffer:
    """A value that lives when the most memory is needed."""

    instruction: HloInstruction
    #: its place in the instruction's result, where that is a tuple
    index: tuple[int, ...]
    bytes: int
    #: argument, output, or temporary
    kind: str

    @property
    def name(self) -> str:
        """The instruction's name, with the place in its result as XLA writes it: `while.3{0,1}`."""
        return self.instruction.name + ("{" + ",".join(map(str, self.index)) + "}" if self.index else "")

    @property
    def shape(self) -> str:
        """The value's shape without its layout."""
        shape = self.instruction.shape.at(self.index)
        return shape.text(False) if shape is not None else ""


@dataclass(frozen=True, slots=True)
class PeakMemory:
    """The memory that a module needs at once, in bytes."""

    arguments: int
    outputs: int
    #: results that lie where arguments lay
    aliased: int
    temporaries: int
    #: the instruction that runs when temporaries need the most; None in a module without any
    at: HloInstruction | None
    #: what lives then, the largest first
    live: list[LiveBuffer]
    #: the text gives an order of execution; otherwise the order of the text was taken, which no compiler promises
    is_scheduled: bool
    #: the instructions in the order in which they run, and the bytes of temporaries that live at each
    over_time: list[tuple[HloInstruction, int]]

    @property
    def total(self) -> int:
        return self.arguments + self.outputs - self.aliased + self.temporaries


#: an index into a result, and the same of the arguments: the number of one, then the index into it
_Alias: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...]]"


@no_collection()
def peak_memory(module: HloModule) -> PeakMemory:
    """Return the most memory that a run needs, arguments and results included, and what takes it."""
    require_usable(module)
    is_scheduled = bool(module.attributes.get("is_scheduled"))
    aliases = [a for a in module.attributes.get("input_output_alias") or () if isinstance(a, Aliasing)]
    sites = call_sites(module)
    shared: dict[HloComputation, Timeline] = {}
    for computation in callees_first(module):
        if sites[computation] > 1 and computation is not module.entry:
            shared[computation] = timeline = Timeline(computation, shared, sites, is_scheduled=is_scheduled)
            timeline.needs = _Layout(timeline, computation, (), is_scheduled=is_scheduled).needs
    parameters = module.entry.parameters()
    donated = [(parameters[a.parameter], a.parameter_index) for a in aliases if 0 <= a.parameter < len(parameters)]
    timeline = Timeline(module.entry, shared, sites, is_scheduled=is_scheduled, donated=donated)
    entry = _Layout(timeline, module.entry, [(a.output_index, (a.parameter, *a.parameter_index)) for a in aliases],
                    is_scheduled=is_scheduled)
    arguments = [LiveBuffer(p, index, shape.nbytes, "argument") for p in parameters
                 for index, shape in p.shape.leaves()]
    outputs = [LiveBuffer(module.entry.root, index, shape.nbytes, "output")
               for index, shape in module.entry.root.shape.leaves()]
    places = {a.output_index for a in aliases}
    aliased = {o.index for o in outputs if o.index in places}
    live = [*arguments, *(o for o in outputs if o.index not in aliased), *entry.live()]
    return PeakMemory(sum(a.bytes for a in arguments),
                      sum(o.bytes for o in outputs) + _tables(module.entry.root.shape),
                      sum(o.bytes for o in outputs if o.index in aliased), entry.needs, entry.at,
                      sorted((b for b in live if b.bytes), key=lambda b: -b.bytes), is_scheduled,
                      list(zip(timeline.order, entry.over_time, strict=True)))


def _tables(shape: Shape) -> int:
    """Bytes of the tables of addresses that a tuple's result has."""
    return ADDRESS * len(shape.elements) + sum(map(_tables, shape.elements)) if shape.is_tuple else 0


class _Layout:
    """The places of a timeline's values in memory. `donated` pairs results with arguments whose memory they take."""

    def __init__(self, timeline: Timeline, computation: HloComputation, donated: Iterable[_Alias], *,
                 is_scheduled: bool) -> None:
        self.timeline, self._is_scheduled = timeline, is_scheduled
        self._overwritten: dict[HloInstruction, set[Buffer]] = {}
        self._lay_into(self._result_places(computation, donated))
        for time in range(len(timeline.order)):
            self._share(time)
        at_once, self.at, self._time = self._sweep()
        self.needs = combined_size(self._pieces(at_once))

    def _result_places(self, computation: HloComputation, donated: Iterable[_Alias]) -> list[ResultMemory]:
        """Return a place for each result, with the result in it, and the argument that lies there before."""
        places: dict[Buffer, ResultMemory] = {}
        trees = self.timeline.trees
        result = trees.get(computation.root)
        if result is None:
            return []
        for buffer in buffers(result, tables=True):
            buffer.last_use = NEVER
            if (not buffer.is_given or buffer.is_donated) and buffer not in places:
                buffer.within = ResultMemory(buffer.size)
                for span in buffer.spans():
                    buffer.within.put(TimeSpan(*span, buffer))
                if not buffer.is_table:
                    places[buffer] = buffer.within
        parameters = [trees[p] for p in computation.parameters() if p in trees]
        for index, (number, *path) in donated:
            owner = member(parameters[number], path) if 0 <= number < len(parameters) else None
            for made, argument in zip(buffers(member(result, index)), buffers(owner) if owner else (), strict=False):
                place = places.get(made)
                if place is not None and argument.is_given and argument.within is None:
                    place.holds.insert(0, TimeSpan(argument.start, argument.last_use, argument))
                    place.starts.insert(0, argument.start)
                    argument.within = place
        return list(places.values())

    def _lay_into(self, places: list[ResultMemory]) -> None:
        """Temporaries, the largest first, into the smallest place that is large enough and free while they live.

        Of places of one size that of the result which is made last comes first, as in XLA's BufferAssigner.
        """
        ordered = sorted((p for p in places if p.size), key=lambda p: (p.size, -p.starts[-1]))
        sizes = [p.size for p in ordered]
        loose = [b for made in self.timeline.made for b in made if _needs_room(b) and not b.is_table]
        for buffer in sorted(loose, key=lambda b: (-b.size, b.start)):
            first = bisect.bisect_left(sizes, buffer.size)
            if first == len(sizes):
                continue
            spans = [TimeSpan(*span, buffer) for span in buffer.spans()]
            for place in ordered[first:first + _MOST_PLACES]:
                if self._fit(place, spans):
                    for span in spans:
                        place.put(span)
                    buffer.within = place
                    break

    def _fit(self, place: ResultMemory, spans: Sequence[TimeSpan]) -> bool:
        for span in spans:
            at = bisect.bisect_right(place.starts, span.start)
            if at and not self._may_follow(place.holds[at - 1], span):
                return False
            if at < len(place.holds) and not self._may_follow(span, place.holds[at]):
                return False
        return True

    def _may_follow(self, before: TimeSpan, after: TimeSpan) -> bool:
        """Return True if a value may lie where another lay: that is over, or is read for the last time to make it."""
        if before.end == after.start:
            return self._shares(after, before.buffer)
        return before.end < after.start

    def _shares(self, result: TimeSpan, operand: Buffer) -> bool:
        """Return True if a result may be written over an operand that is read there for the last time."""
        if result.buffer.size != operand.size:
            return False
        instruction = self.timeline.order[result.start]
        if instruction not in self._overwritten:
            self._overwritten[instruction] = set(self._written_over(instruction))
        return operand in self._overwritten[instruction]

    def _written_over(self, instruction: HloInstruction) -> Iterator[Buffer]:
        for operand in overwritten(instruction):
            tree = self.timeline.trees.get(operand)
            if tree is not None:
                yield from buffers(tree)

    def _share(self, time: int) -> None:
        """Let temporaries take over the memory of operands that are read here for the last time."""
        for buffer in self.timeline.made[time]:
            if not _needs_room(buffer) or buffer.is_table or buffer.is_merged:
                continue
            for old in self._written_over(self.timeline.order[time]):
                root = _memory(old)
                if (isinstance(root, Buffer) and root.last_use == time and not root.is_given and not root.is_merged
                        and root.size == buffer.size and root is not buffer and buffer.within is None):
                    buffer.within, root.last_use = root, buffer.last_use

    def _sweep(self) -> tuple[int, HloInstruction | None, int]:
        """Return the most that lives at once; where; and when."""
        order = self.timeline.order
        begun, ended = [0] * len(order), [0] * len(order)
        for buffer in itertools.chain.from_iterable(self.timeline.made):
            if _needs_room(buffer):
                size = aligned(buffer.size)
                for start, end in buffer.spans():
                    begun[start] += size
                    if end < len(order):  # what is needed to the end never ends
                        ended[end] += size
        live = most = when = 0
        at: HloInstruction | None = None
        self.over_time: list[int] = []
        for time, instruction in enumerate(order):
            live += begun[time]
            self.over_time.append(live)
            if live > most:
                most, at, when = live, instruction, time
            live -= ended[time]
        return most, at, when

    def _pieces(self, at_once: int) -> list[Piece]:
        """Return the allocations of the compiler: the largest first, then the heap, then those of single threads.

        A table of addresses never shares its memory with anything; arrays that are left share the heap.
        """
        buffers_made = [b for made in self.timeline.made for b in made]
        own = [Piece(b.size, b.is_table and _needs_room(b)) for b in buffers_made
               if b.is_given or b.is_table or isinstance(b.within, ResultMemory)]
        loose = [b for b in buffers_made if _needs_room(b) and not b.is_table]
        heap = at_once
        if self._is_scheduled and len(loose) <= MOST_PLACED:
            heap = heap_size([Interval(b.size, tuple(b.spans())) for b in loose])
        threads = sum(map(_thread_values, {c for i in self.timeline.order for c in _of_threads(i)}))
        return [*sorted(own, key=lambda piece: -piece.size), *([Piece(heap, True)] if heap else []),
                *[Piece(0, False)] * threads]

    def live(self) -> Iterator[LiveBuffer]:
        """Yield the temporaries that live at the worst moment."""
        for made in self.timeline.made[:self._time + 1]:
            for buffer in made:
                if _needs_room(buffer) and any(start <= self._time <= end for start, end in buffer.spans()):
                    yield LiveBuffer(buffer.instruction, buffer.index, buffer.size, "temporary")


def _of_threads(instruction: HloInstruction) -> Iterator[HloComputation]:
    """Computations that run element by element: those of reductions and sorts, also in fusions."""
    if instruction.opcode == "fusion":
        for called in instruction.called_computations():
            for inner in called.instructions:
                yield from _of_threads(inner)
    elif instruction.opcode not in RUNS:
        yield from instruction.called_computations()


def _thread_values(computation: HloComputation) -> int:
    return sum(i.opcode not in ("get-tuple-element", "bitcast") for i in computation.instructions)


def _needs_room(buffer: Buffer) -> bool:
    return buffer.within is None and not buffer.is_given


def _memory(buffer: Buffer) -> Buffer | ResultMemory:
    root: Buffer | ResultMemory = buffer
    while isinstance(root, Buffer) and root.within is not None:
        root = root.within
    return root
