"""How much memory a module needs at once: live ranges of its values, in the order in which it runs.

Arguments and results have memory from beginning to end, as PJRT holds them; results that take an argument's place
(donation) count once. Between them, each value lives from the instruction that makes it to the last that reads it.
Views (get-tuple-element, bitcast) and loops work in the memory of what they are given; an elementwise instruction, or
one that updates a part, writes over an operand that nobody reads later; and a temporary value may lie where a result
will come, or where a donated argument was. Source: XLA, xla/service/buffer_assignment.cc and
HloDataflowAnalysis::CanShareOperandBufferWithUser.
"""

from __future__ import annotations

import bisect
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hlotool.ir import (
    Aliasing,
    HloComputation,
    HloInstruction,
    HloModule,
    Shape,
    callees_first,
    post_order,
)
from hlotool.ops import OPS

#: a tuple's table holds an address for each member
_ADDRESS = 8
#: results that are their operand under another name or in another form
_VIEWS = frozenset(("bitcast", "opt-barrier", "add-dependency", "domain", "all-reduce-done", "copy-done",
                    "all-gather-done", "collective-permute-done", "async-done", "async-update"))
#: operations whose result takes their first operand's place where nobody reads that later
_IN_PLACE = frozenset(("dynamic-update-slice", "scatter", "sort", "all-reduce", "triangular-solve", "cholesky"))
#: instructions that run computations which need memory of their own
_RUNS = frozenset(("call", "while", "conditional", "async-start", "custom-call"))
#: tuples that somebody else has made, or that are made with their operands
_NO_TABLE = frozenset(("parameter", "constant", "get-tuple-element", "while", *_VIEWS))
_NEVER = 1 << 62
#: temporaries begin at multiples of this. Source: XLA's CPU compiler, cpu::MinAlign
_ALIGNMENT = 64
#: places of results that are tried for a temporary
_MOST_PLACES = 16


@dataclass(frozen=True, slots=True)
class LiveBuffer:
    """A value that lives when the most memory is needed."""

    instruction: HloInstruction
    #: its place in the instruction's result, where that is a tuple
    index: tuple[int, ...]
    bytes: int
    #: argument, output, or temporary
    kind: str


@dataclass(frozen=True, slots=True)
class PeakMemory:
    """What a module needs at once, in bytes."""

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

    @property
    def total(self) -> int:
        return self.arguments + self.outputs - self.aliased + self.temporaries


@dataclass(slots=True, eq=False)
class _Buffer:
    """The memory of one array: where in time it is made, and last read."""

    size: int
    instruction: HloInstruction
    index: tuple[int, ...]
    start: int
    #: a parameter or constant, whose memory belongs to somebody else
    is_given: bool = False
    last_use: int = -1
    #: the place of a result or temporary in which it lies
    within: _Buffer | _Place | None = None


_start = operator.attrgetter("start")


@dataclass(slots=True, eq=False)
class _Place:
    """Memory that is there from beginning to end, for a result: what lies in it, in the order of time."""

    size: int
    holds: list[_Buffer] = field(default_factory=list)

    def takes(self, buffer: _Buffer, schedule: _Schedule) -> bool:
        """Put a buffer in, where nothing else lives there at that time."""
        at = bisect.bisect_right(self.holds, buffer.start, key=_start)
        if at:
            before = self.holds[at - 1]
            if before.last_use > buffer.start or (before.last_use == buffer.start
                                                  and not schedule.shares(buffer, before)):
                return False
        if at < len(self.holds):
            after = self.holds[at]
            if buffer.last_use > after.start or (buffer.last_use == after.start
                                                 and not schedule.shares(after, buffer)):
                return False
        self.holds.insert(at, buffer)
        buffer.within = self
        return True


#: the buffers of a value, in the form of its shape
_Tree: TypeAlias = "_Buffer | tuple[_Tree, ...]"


def peak_memory(module: HloModule) -> PeakMemory:
    """The most memory that a run needs, arguments and results included, and what takes it."""
    is_scheduled = bool(module.attributes.get("is_scheduled"))
    bodies = {i.attributes.get("body") for i in module.instructions() if i.opcode == "while"}
    aliases = [a for a in module.attributes.get("input_output_alias") or () if isinstance(a, Aliasing)]
    inner: dict[HloComputation, _Schedule] = {}
    for computation in callees_first(module):
        given: list[_Given] = [((), ())] if computation in bodies else []
        if computation is module.entry:
            given = [(a.output_index, (a.parameter, *a.parameter_index)) for a in aliases]
        inner[computation] = _Schedule(computation, inner, is_scheduled, given)
    entry = inner[module.entry]
    arguments = [LiveBuffer(p, index, shape.nbytes, "argument") for p in module.entry.parameters()
                 for index, shape in p.shape.leaves()]
    outputs = [LiveBuffer(module.entry.root, index, shape.nbytes, "output")
               for index, shape in module.entry.root.shape.leaves()]
    places = {a.output_index for a in aliases}
    aliased = {o.index for o in outputs if o.index in places}
    live = [*arguments, *(o for o in outputs if o.index not in aliased), *entry.live()]
    return PeakMemory(sum(a.bytes for a in arguments),
                      sum(o.bytes for o in outputs) + _tables(module.entry.root.shape),
                      sum(o.bytes for o in outputs if o.index in aliased), entry.peak, entry.at,
                      sorted((b for b in live if b.bytes), key=lambda b: -b.bytes), is_scheduled)


def _tables(shape: Shape) -> int:
    """Bytes of the tables of addresses that a tuple's result has."""
    return _ADDRESS * len(shape.elements) + sum(map(_tables, shape.elements)) if shape.is_tuple else 0


#: an index into a result, and the same of the parameters: the number of one, then the index into it
_Given: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...]]"


class _Schedule:
    """One computation's values over time.

    `given` pairs results with parameters in whose memory they lie: donated arguments, the state of a loop.
    """

    def __init__(self, computation: HloComputation, inner: dict[HloComputation, _Schedule], is_scheduled: bool,
                 given: Sequence[_Given]) -> None:
        self.inner = inner
        self.order = computation.instructions if is_scheduled else post_order(computation)
        self.trees: dict[HloInstruction, _Tree] = {}
        self.made: list[list[_Buffer]] = []
        #: what a tuple needs besides its members: their addresses
        self.tables: dict[HloInstruction, _Buffer] = {}
        self._overwritten: dict[HloInstruction, set[_Buffer]] = {}
        for time, instruction in enumerate(self.order):
            self.made.append([])
            self.trees[instruction] = self._tree(instruction, time)
        if computation.root in self.tables:
            self.tables[computation.root].is_given = True  # the caller's
        places = self._result_places(computation, given)
        self._lay_into(places)
        for time in range(len(self.order)):
            self._share(time)
        self.peak, self.at, self._time = self._sweep()

    def _tree(self, instruction: HloInstruction, time: int) -> _Tree:
        opcode, operands = instruction.opcode, instruction.operands
        given = [self.trees.get(o, ()) for o in operands]
        for operand in operands:
            if operand in self.tables:
                self.tables[operand].last_use = time
        if instruction.shape.is_tuple and opcode not in _NO_TABLE:
            self.tables[instruction] = _Buffer(_ADDRESS * len(instruction.shape.elements), instruction, (), time, False,
                                               time)
            self.made[time].append(self.tables[instruction])
        if opcode == "tuple":
            return tuple(given)
        if opcode == "get-tuple-element" and given:
            index = instruction.attributes.get("index", 0)
            return given[0][index] if isinstance(given[0], tuple) and 0 <= index < len(given[0]) else ()
        for tree in given:
            for buffer in _buffers(tree):
                buffer.last_use = max(buffer.last_use, time)
        if opcode == "while" and given:
            return given[0]
        if opcode in _VIEWS and given:
            return _view(given[0], instruction.shape)
        return self._new(instruction, instruction.shape, (), time)

    def _new(self, instruction: HloInstruction, shape: Shape, index: tuple[int, ...], time: int) -> _Tree:
        if shape.is_tuple:
            return tuple(self._new(instruction, e, (*index, i), time) for i, e in enumerate(shape.elements))
        is_given = instruction.opcode in ("parameter", "constant")
        buffer = _Buffer(shape.nbytes, instruction, index, -1 if is_given else time, is_given, time)
        self.made[time].append(buffer)
        return buffer

    def _result_places(self, computation: HloComputation, given: Sequence[_Given]) -> list[_Place]:
        """A place for each result, with the result in it, and the parameter that lies there before."""
        found = {}
        results = self.trees.get(computation.root, ())
        for buffer in _buffers(results):
            buffer.last_use = _NEVER
            if not buffer.is_given and buffer not in found:
                found[buffer] = buffer.within = _Place(buffer.size, [buffer])
        parameters = [self.trees.get(p, ()) for p in computation.parameters()]
        for result_index, (*path,) in given:
            owners = _at(tuple(parameters), path) if path else (parameters or [()])[0]
            for result, parameter in zip(_buffers(_at(results, result_index)), _buffers(owners), strict=False):
                place = found.get(result)
                if place is not None and parameter.is_given and parameter.within is None:
                    place.holds.insert(0, parameter)
                    parameter.within = place
        return list(found.values())

    def _lay_into(self, places: list[_Place]) -> None:
        """Temporaries, the largest first, into the smallest place that is large enough and free while they live."""
        ordered = sorted((p for p in places if p.size), key=lambda p: p.size)
        sizes = [p.size for p in ordered]
        loose = [b for made in self.made for b in made if b.within is None and not b.is_given and b.size]
        for buffer in sorted(loose, key=lambda b: (-b.size, b.start)):
            first = bisect.bisect_left(sizes, buffer.size)
            any(place.takes(buffer, self) for place in ordered[first:first + _MOST_PLACES])

    def shares(self, result: _Buffer, operand: _Buffer) -> bool:
        """Whether a result may be written over an operand that is read there for the last time."""
        if result.size != operand.size:
            return False
        instruction = result.instruction
        if instruction not in self._overwritten:
            self._overwritten[instruction] = {b for o in _overwritten(instruction)
                                              for b in _buffers(self.trees.get(o, ()))}
        return operand in self._overwritten[instruction]

    def _share(self, time: int) -> None:
        """Let temporaries take over the memory of operands that are read here for the last time."""
        for buffer in self.made[time]:
            if buffer.within is not None or buffer.is_given:
                continue
            for operand in _overwritten(self.order[time]):
                for old in _buffers(self.trees.get(operand, ())):
                    root = _memory(old)
                    if (isinstance(root, _Buffer) and root.last_use == time and not root.is_given
                            and root.size == buffer.size and buffer.within is None):
                        buffer.within, root.last_use = root, buffer.last_use

    def _sweep(self) -> tuple[int, HloInstruction | None, int]:
        """The most that lives at once, counting what called computations need while they run; where; and when."""
        ends: dict[int, int] = {}
        live = most = when = 0
        at: HloInstruction | None = None
        for time, instruction in enumerate(self.order):
            for buffer in self.made[time]:
                if buffer.within is None and not buffer.is_given:
                    size = -(-buffer.size // _ALIGNMENT) * _ALIGNMENT
                    live += size
                    ends[buffer.last_use] = ends.get(buffer.last_use, 0) + size
            inside = max((s.peak for s in self._called(instruction)), default=0)
            if live + inside > most:
                most, at, when = live + inside, instruction, time
            live -= ends.pop(time, 0)
        return most, at, when

    def _called(self, instruction: HloInstruction) -> list[_Schedule]:
        if instruction.opcode not in _RUNS:
            return []
        return [self.inner[c] for c in instruction.called_computations() if c in self.inner]

    def live(self) -> Iterator[LiveBuffer]:
        """The temporaries that live at the worst moment, those of called computations included."""
        if self.at is None:
            return
        for buffers in self.made[:self._time + 1]:
            for buffer in buffers:
                if buffer.within is None and not buffer.is_given and buffer.last_use >= self._time:
                    yield LiveBuffer(buffer.instruction, buffer.index, buffer.size, "temporary")
        called = self._called(self.at)
        if called:
            yield from max(called, key=lambda schedule: schedule.peak).live()


def _at(tree: _Tree, index: Sequence[int]) -> _Tree:
    for i in index:
        if not isinstance(tree, tuple) or not 0 <= i < len(tree):
            return ()
        tree = tree[i]
    return tree


def _buffers(tree: _Tree) -> Iterator[_Buffer]:
    """The buffers of a value, in order."""
    stack = [tree]
    while stack:
        one = stack.pop()
        if isinstance(one, tuple):
            stack.extend(reversed(one))
        else:
            yield one


def _memory(buffer: _Buffer) -> _Buffer | _Place:
    found: _Buffer | _Place = buffer
    while isinstance(found, _Buffer) and found.within is not None:
        found = found.within
    return found


def _view(tree: _Tree, shape: Shape) -> _Tree:
    """What an asynchronous chain's end gives: the last member that has the result's form."""
    if isinstance(tree, tuple) and not shape.is_tuple:
        found = list(_buffers(tree))
        fitting = [b for b in found if b.size == shape.nbytes]
        if found:
            return (fitting or found)[-1]
    return tree


def _overwritten(instruction: HloInstruction) -> Sequence[HloInstruction]:
    """Operands over which a result may be written."""
    if instruction.opcode in _IN_PLACE:
        return instruction.operands[:1] if instruction.opcode != "triangular-solve" else instruction.operands[1:]
    record = OPS.get(instruction.opcode)
    if record is not None and "elementwise" in record.flags and "identity" not in record.flags:
        return [o for o in instruction.operands if o.shape.dims == instruction.shape.dims]
    if instruction.opcode != "fusion":
        return ()
    (called,) = instruction.called_computations() or (None,)
    if called is None:
        return ()
    passed = _passed_through(called)
    return [o for p, o in zip(called.parameters(), instruction.operands, strict=False) if p in passed]


def _passed_through(computation: HloComputation) -> set[HloInstruction]:
    """Parameters of which a fusion reads an element only where it writes the result's element of that place."""
    elementwise: set[HloInstruction] = set()
    other: set[HloInstruction] = set()
    roots = computation.root.operands if computation.root.opcode == "tuple" else (computation.root,)
    elementwise.update(roots)
    for instruction in reversed(post_order(computation)):
        record = OPS.get(instruction.opcode)
        is_plain = record is not None and "elementwise" in record.flags
        for place, operand in enumerate(instruction.operands):
            keeps = is_plain and operand.shape.dims == instruction.shape.dims
            keeps = keeps or instruction.opcode == "bitcast"
            keeps = keeps or (instruction.opcode in _IN_PLACE and place == 0)
            if instruction in elementwise and instruction not in other and keeps:
                elementwise.add(operand)
            elif instruction is not computation.root or instruction.opcode != "tuple":
                other.add(operand)
    return {p for p in computation.parameters() if p in elementwise and p not in other}
