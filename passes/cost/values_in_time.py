"""The values of a module over time: when each piece of memory is made, and when it is read for the last time.

Computations that one place calls run in the order of that place: their parameters are its operands, their results its
result, and the state of a loop stays where it is. What several places call (a compiler leaves no such computations) is
one piece of memory at each of them, as large as it needs. Source: XLA, HloLiveRange and HloAliasAnalysis.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hlotool.ir import Aliasing, HloComputation, HloInstruction, HloModule, Shape, post_order
from hlotool.ops import AsyncStep, flow_of, opcodes
from hlotool.passes.cost.overwriting import updated_in_place

#: a tuple's table holds an address for each member
ADDRESS = 8
#: operations that run computations which need memory of their own; others apply theirs element by element
RUNS = opcodes(lambda flow: flow.branches_off)
#: of these, those whose computations take their operands as they are
_PASSES_ON = opcodes(lambda flow: flow.branches_off and flow.step is None)
NEVER = 1 << 62


@dataclass(slots=True, eq=False)
class Buffer:
    """The memory of one array, or of a tuple's table of addresses."""

    size: int
    instruction: HloInstruction
    #: its place in the instruction's result, where that is a tuple
    index: tuple[int, ...]
    start: int
    #: a parameter or constant of the program, whose memory belongs to somebody else
    is_given: bool = False
    #: an argument in whose memory results may lie
    is_donated: bool = False
    last_use: int = -1
    is_table: bool = False
    #: the memory of a computation that several places call, while it runs
    runs: Timeline | None = None
    #: the state of a loop or the result of branches: several values in one place
    is_merged: bool = False
    #: times between which nobody needs the value, as the state of a loop from its last reader to the new state
    gaps: list[tuple[int, int]] = field(default_factory=list)
    #: the piece of memory that this one turned out to be
    same_as: Buffer | None = None
    #: the operand's memory or the place of a result in which it lies
    within: Buffer | ResultMemory | None = None

    def spans(self) -> list[tuple[int, int]]:
        """Return the times at which the value is needed: first and last ones, in order."""
        if not self.gaps:
            return [(self.start, self.last_use)]
        bounds = [self.start, *(time for gap in sorted(self.gaps) for time in gap), self.last_use]
        return list(zip(bounds[::2], bounds[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A value in a place, from one time to another."""

    start: int
    end: int
    buffer: Buffer


@dataclass(slots=True, eq=False)
class ResultMemory:
    """Memory that is there from beginning to end, for a result: what lies in it, in the order of time."""

    size: int
    holds: list[TimeSpan] = field(default_factory=list)
    #: when each of them starts
    starts: list[int] = field(default_factory=list)

    def put(self, span: TimeSpan) -> None:
        """Let a value lie here; behind what starts at the same time."""
        at = bisect.bisect_right(self.starts, span.start)
        self.holds.insert(at, span)
        self.starts.insert(at, span.start)


@dataclass(slots=True, eq=False)
class Members:
    """A tuple: its table of addresses, which nobody may have, and the memory of its members."""

    table: Buffer | None
    trees: tuple[Tree, ...]


#: the memory of a value, in the form of its shape
Tree: TypeAlias = "Buffer | Members"
_NOTHING = Members(None, ())


def found(buffer: Buffer) -> Buffer:
    """Return the piece of memory that a buffer is, after all that was merged."""
    root = buffer
    while root.same_as is not None:
        root = root.same_as
    while buffer.same_as is not None:
        buffer.same_as, buffer = root, buffer.same_as
    return root


def buffers(tree: Tree, *, tables: bool = False) -> Sequence[Buffer]:
    """Return the pieces of memory of a value, in order."""
    if isinstance(tree, Buffer):  # as nearly all are
        return (tree if tree.same_as is None else found(tree),)
    pieces: list[Buffer] = []
    stack: list[Tree] = [tree]
    while stack:
        one = stack.pop()
        if isinstance(one, Buffer):
            pieces.append(found(one))
            continue
        if tables and one.table is not None:
            pieces.append(found(one.table))
        stack.extend(reversed(one.trees))
    return pieces


def member(tree: Tree, index: Sequence[int]) -> Tree:
    """Return a part of a value; nothing where there is none."""
    for i in index:
        if not isinstance(tree, Members) or not 0 <= i < len(tree.trees):
            return _NOTHING
        tree = tree.trees[i]
    return tree


class Timeline:
    """One computation, and those that it alone calls, in the order in which they run.

    `shared` are the timelines of computations that several places call; `sites` counts the callers of each; `donated`
    are arguments, or parts of them, in whose memory results may lie.
    """

    def __init__(self, computation: HloComputation, shared: Mapping[HloComputation, Timeline],
                 sites: Mapping[HloComputation, int], *, is_scheduled: bool,
                 donated: Iterable[tuple[HloInstruction, tuple[int, ...]]] = ()) -> None:
        self._donated = frozenset(donated)
        self._shared, self._sites, self._is_scheduled = shared, sites, is_scheduled
        self._bound: dict[HloInstruction, Tree] = {}
        self._entered = {computation}
        self._entry = computation
        self.order: list[HloInstruction] = []
        self.trees: dict[HloInstruction, Tree] = {}
        self._all: list[Buffer] = []
        for instruction in self._steps():
            self.trees[instruction] = self._tree(instruction, len(self.order))
            self.order.append(instruction)
        #: pieces of memory by the time at which they are made
        self.made: list[list[Buffer]] = [[] for _ in self.order]
        for buffer in self._all:
            if buffer.same_as is None:
                self.made[max(buffer.start, 0)].append(buffer)

    # The order.

    def _steps(self) -> Iterator[HloInstruction]:
        stack = [self._of(self._entry)]
        while stack:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
            elif isinstance(step, HloComputation):
                stack.append(self._of(step))
            else:
                yield step

    def _of(self, computation: HloComputation) -> Iterator[HloInstruction | HloComputation]:
        order = computation.instructions if self._is_scheduled else post_order(computation)
        for instruction in order:
            for number, called in enumerate(self._own(instruction)):
                self._bind(instruction, number, called)
                yield called
            yield instruction

    def _own(self, instruction: HloInstruction) -> list[HloComputation]:
        """Return the computations that an instruction runs and nobody else does, in the order in which they run."""
        if instruction.opcode not in RUNS:
            return []
        called = list(instruction.called_computations())
        if instruction.opcode == "while":
            called = [c for c in (instruction.attributes.get("condition"), instruction.attributes.get("body"))
                      if isinstance(c, HloComputation)]
        if any(self._sites.get(c, 0) != 1 or c in self._entered for c in called) or len(set(called)) < len(called):
            return []
        self._entered.update(called)
        return called

    def _bind(self, call: HloInstruction, number: int, called: HloComputation) -> None:
        """Let the parameters of a computation be the operands of its caller."""
        if call.opcode not in _PASSES_ON:
            return
        operands: Sequence[HloInstruction] = call.operands
        if call.opcode == "while":
            operands = operands[:1]
        elif call.opcode == "conditional":
            operands = operands[number + 1:number + 2]
        for parameter, operand in zip(called.parameters(), operands, strict=False):
            if operand in self.trees:
                self._bound[parameter] = self.trees[operand]

    # The memory.

    def _tree(self, instruction: HloInstruction, time: int) -> Tree:
        opcode = instruction.opcode
        if opcode == "parameter" and instruction in self._bound:
            return self._bound[instruction]
        given = [self.trees.get(o, _NOTHING) for o in instruction.operands]
        if opcode == "tuple":
            return Members(self._table(instruction, instruction.shape, (), time), tuple(given))
        if opcode == "get-tuple-element" and given:
            if isinstance(given[0], Members) and given[0].table is not None:
                self._read(found(given[0].table), time)
            return member(given[0], (instruction.attributes.get("index", 0),))
        is_loop = opcode == "while" and bool(self._called(instruction))  # the body has read the state
        for tree in given if not is_loop else ():
            for buffer in buffers(tree, tables=True):
                self._read(buffer, time)
        flow = flow_of(instruction)
        is_awaited = flow.step not in (None, AsyncStep.START) and not flow.acts
        if given and (is_awaited or (flow.is_free and flow.rearranges)):
            return _view(given[0], instruction)
        return self._result(instruction, given, time)

    def _result(self, instruction: HloInstruction, given: list[Tree], time: int) -> Tree:
        called = self._called(instruction)
        if not called and instruction.opcode in RUNS:
            self._run_shared(instruction, time)
        if instruction.opcode == "while" and given:
            body = instruction.attributes.get("body")
            after = self._state(given[0], self._root(body)) if body in called else given[0]
            for buffer in buffers(after, tables=True):
                self._read(buffer, time)
            return after
        if instruction.opcode == "call" and called:
            return self._root(called[0])
        made = self._new(instruction, instruction.shape, (), time)
        if instruction.opcode == "conditional":
            passed = {b for tree in given for b in buffers(tree, tables=True)}
            for branch in called:
                self._merge(made, self._root(branch), passed)
        if instruction.opcode.endswith("-start") and isinstance(made, Members) and len(made.trees) > 1:
            made = self._begun(instruction, made, given)
        aliases = instruction.attributes.get("output_to_operand_aliasing") or ()
        if self._is_scheduled:  # otherwise nobody has copied yet what is needed later
            aliases = *aliases, *updated_in_place(instruction)
        for alias in aliases:
            if isinstance(alias, Aliasing) and 0 <= alias.parameter < len(given):
                made = self._lying(made, alias.output_index, member(given[alias.parameter], alias.parameter_index))
        return made

    def _begun(self, instruction: HloInstruction, state: Members, given: list[Tree]) -> Tree:
        """Return the state of what is started: its operands lie where they lay, beside the result.

        Source: XLA, HloDataflowAnalysis::UpdateAsyncStartValueSet and its siblings.
        """
        at = 1 if instruction.opcode == "copy-start" else 0
        own = state.trees[at]
        if isinstance(own, Members) and len(own.trees) == len(given):
            operands: Tree = Members(own.table, tuple(given))
            copies = [b for tree in own.trees for b in buffers(tree, tables=True)]
        elif isinstance(own, Buffer) and len(given) == 1 and isinstance(given[0], Buffer):
            operands, copies = given[0], [own]
        else:
            return state
        first = next((b for tree in given for b in buffers(tree)), None)
        for copy in copies:
            copy.within = first
        trees = list(state.trees)
        trees[at] = operands
        return Members(state.table, tuple(trees))

    def _lying(self, result: Tree, index: Sequence[int], operand: Tree) -> Tree:
        """Return a result of which the part at an index lies where an operand lay, as a call promises it."""
        if index:
            if not isinstance(result, Members) or not 0 <= index[0] < len(result.trees):
                return result
            trees = list(result.trees)
            trees[index[0]] = self._lying(trees[index[0]], index[1:], operand)
            return Members(result.table, tuple(trees))
        if not isinstance(result, Buffer) or not isinstance(operand, Buffer):
            return result
        given = found(operand)
        if (given.is_given and not given.is_donated) or given.size != result.size:
            return result
        self._unite(given, result)
        return given

    def _called(self, instruction: HloInstruction) -> list[HloComputation]:
        """Return the computations of an instruction that have run in this order, just before it."""
        if instruction.opcode not in _PASSES_ON:
            return []
        return [c for c in instruction.called_computations()
                if self._sites.get(c) == 1 and c.root is not None and c.root in self.trees and c is not self._entry]

    def _root(self, computation: HloComputation) -> Tree:
        return self.trees.get(computation.root, _NOTHING)

    def _run_shared(self, instruction: HloInstruction, time: int) -> None:
        """The memory of the largest computation that an instruction runs and others run as well."""
        runs = [self._shared[c] for c in instruction.called_computations() if c in self._shared]
        largest = max(runs, key=lambda timeline: timeline.needs, default=None)
        if largest is not None and largest.needs:
            self._all.append(Buffer(largest.needs, instruction, (), time, last_use=time, runs=largest))

    #: bytes of the temporaries, set when they are laid out
    needs: int = 0

    def _state(self, state: Tree, after: Tree) -> Tree:
        """Return the result of a loop: what the body makes lies where the state lay, unless that is an argument."""
        if isinstance(state, Members) and isinstance(after, Members):
            if state.table is not None and after.table is not None:
                self._unite(found(state.table), found(after.table))
            return Members(state.table, tuple(map(self._state, state.trees, after.trees)))
        if isinstance(state, Buffer) and isinstance(after, Buffer):
            before, behind = found(state), found(after)
            if before is behind or (before.is_given and not before.is_donated):
                return after
            if not behind.is_given and behind.start > before.start:
                self._unite(before, behind)
        return state

    def _merge(self, result: Tree, branch: Tree, passed: set[Buffer]) -> None:
        """Let a branch make the result of a conditional in its place; what it only passes on is copied there."""
        if isinstance(result, Members) and isinstance(branch, Members):
            if result.table is not None and branch.table is not None:
                self._merge(result.table, branch.table, passed)
            for whole, part in zip(result.trees, branch.trees, strict=False):
                self._merge(whole, part, passed)
        elif isinstance(result, Buffer) and isinstance(branch, Buffer):
            made = found(branch)
            if not made.is_given and made not in passed:
                self._unite(found(result), made)

    def _unite(self, one: Buffer, other: Buffer) -> None:
        if one is other:
            return
        spans = sorted(one.spans() + other.spans())
        other.same_as = one
        one.start, one.last_use = spans[0]
        one.gaps = []
        for start, end in spans[1:]:
            if start > one.last_use:
                one.gaps.append((one.last_use, start))
            one.last_use = max(one.last_use, end)
        one.size = max(one.size, other.size)
        one.is_merged = True

    def _read(self, buffer: Buffer, time: int) -> None:
        buffer.last_use = max(buffer.last_use, time)

    def _new(self, instruction: HloInstruction, shape: Shape, index: tuple[int, ...], time: int) -> Tree:
        if shape.is_tuple:
            table = self._table(instruction, shape, index, time)
            return Members(table, tuple(self._new(instruction, e, (*index, i), time)
                                        for i, e in enumerate(shape.elements)))
        is_given = instruction.opcode in ("parameter", "constant")
        buffer = Buffer(shape.nbytes, instruction, index, -1 if is_given else time, is_given,
                        (instruction, index) in self._donated, time)
        self._all.append(buffer)
        return buffer

    def _table(self, instruction: HloInstruction, shape: Shape, index: tuple[int, ...], time: int) -> Buffer | None:
        if instruction.opcode in ("parameter", "constant"):
            return None  # the program's caller has made it
        table = Buffer(ADDRESS * len(shape.elements), instruction, index, time, last_use=time, is_table=True)
        self._all.append(table)
        return table


def call_sites(module: HloModule) -> Counter[HloComputation]:
    """Return the number of instructions that run each computation as a whole."""
    return Counter(called for instruction in module.instructions() if instruction.opcode in RUNS
                   for called in instruction.called_computations())


def _view(tree: Tree, view: HloInstruction) -> Tree:
    """Return a value in another form; of an asynchronous chain's end the result in the state, or what has its form."""
    shape = view.shape
    if view.opcode.endswith("-done") and isinstance(tree, Members) and len(tree.trees) > 1:
        result = tree.trees[0 if view.opcode == "copy-done" else 1]
        if isinstance(result, Members) == shape.is_tuple:
            return result
    if isinstance(tree, Members) and not shape.is_tuple:
        members = buffers(tree)
        fitting = [b for b in members if b.size == shape.nbytes]
        if members:
            return (fitting or members)[-1]
    return tree
