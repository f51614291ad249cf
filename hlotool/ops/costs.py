"""Costs of operations: arithmetic and traffic with memory, as rules that operations are declared with.

A rule takes an instruction and gives its `Cost`; `inner(computation)` gives what one execution of a called
computation costs. Flops are additions, multiplications, comparisons and the like, of integers too; functions such as
exp, tanh and sqrt are transcendentals. An array of n elements counts n, its dynamic dimensions at their bounds.
The conventions are those of XLA's HloCostAnalysis (xla/service/hlo_cost_analysis.cc) where it has one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

from hlotool.ir import HloComputation, HloInstruction, Shape, lazy_dataclass


@lazy_dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one execution."""

    flops: int = 0
    transcendentals: int = 0
    #: bytes of operands that are read, and of results that are written
    bytes_read: int = 0
    bytes_written: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.flops + other.flops, self.transcendentals + other.transcendentals,
                    self.bytes_read + other.bytes_read, self.bytes_written + other.bytes_written)

    def __mul__(self, times: int) -> Cost:
        return Cost(self.flops * times, self.transcendentals * times, self.bytes_read * times,
                    self.bytes_written * times)

    @property
    def bytes(self) -> int:
        return self.bytes_read + self.bytes_written

    @property
    def work(self) -> int:
        """Flops and transcendental functions together."""
        return self.flops + self.transcendentals

    @property
    def intensity(self) -> float:
        """Flops for each byte of traffic; infinite without traffic."""
        return self.work / self.bytes if self.bytes else math.inf if self.work else 0.0

    def work_only(self) -> Cost:
        """The same without traffic: what a fused instruction costs."""
        return Cost(self.flops, self.transcendentals)


FREE = Cost()


class Inner(Protocol):
    """Questions of rules about called computations."""

    def __call__(self, computation: HloComputation) -> Cost:
        """Return the cost of one execution of a computation."""
        ...

    def trips(self, loop: HloInstruction) -> int:
        """How often a loop's body runs; 1 where that is not known, which the one who asks notes."""
        ...


CostRule: TypeAlias = Callable[[HloInstruction, Inner], Cost]


@functools.lru_cache(maxsize=4096)
def extent(size: int) -> int:
    """Elements along a dimension: its size or bound, one where the size is open."""
    return 1 if size < 0 else size


def elements_of(shape: Shape) -> int:
    """Elements of an array, or of all arrays in a tuple."""
    if shape.elements:
        return sum(map(elements_of, shape.elements))
    return math.prod(map(extent, shape.dims)) if shape.is_array else 0


def traffic(instruction: HloInstruction, flops: int = 0, transcendentals: int = 0) -> Cost:
    """Every operand read once, the result written once, and some arithmetic."""
    return Cost(flops, transcendentals, sum([o.shape.nbytes for o in instruction.operands]), instruction.shape.nbytes)


def moves(instruction: HloInstruction, inner: Inner) -> Cost:
    """No arithmetic: everything is read and written once."""
    return traffic(instruction)


def is_free(instruction: HloInstruction, inner: Inner) -> Cost:
    """Nothing happens when the program runs: the value has a place already."""
    return FREE


def runs(instruction: HloInstruction, inner: Inner) -> Cost:
    """Return the cost of the called computations, each run once."""
    return sum(map(inner, instruction.called_computations()), FREE)


def most(costs: Iterable[Cost]) -> Cost:
    """That which costs most: by arithmetic, then by traffic."""
    return max(costs, key=lambda c: (c.work, c.bytes), default=FREE)


def each_element(instruction: HloInstruction, inner: Inner) -> Cost:
    """One operation for each element of the result."""
    return traffic(instruction, elements_of(instruction.shape))


def each_function(instruction: HloInstruction, inner: Inner) -> Cost:
    """One transcendental function for each element of the result."""
    return traffic(instruction, 0, elements_of(instruction.shape))


def flops(count: Callable[[HloInstruction], int]) -> CostRule:
    """Everything is read and written once, with that much arithmetic."""

    def rule(instruction: HloInstruction, inner: Inner) -> Cost:
        return traffic(instruction, count(instruction))

    return rule


def reads_a_part(instruction: HloInstruction, inner: Inner) -> Cost:
    """Of its first operand as much is read as is written: slices and gathers."""
    written = instruction.shape.nbytes
    return Cost(bytes_read=written + sum(o.shape.nbytes for o in instruction.operands[1:]), bytes_written=written)


def updates_a_part(instruction: HloInstruction, inner: Inner) -> Cost:
    """The result takes its first operand's place; only the update, its second one, is read and written."""
    update = instruction.operands[1].shape.nbytes
    return Cost(bytes_read=sum(o.shape.nbytes for o in instruction.operands[1:]), bytes_written=update)


def folds(applications: Callable[[HloInstruction], int], *computations: str) -> CostRule:
    """A called computation applied to scalars so many times; everything is read and written once.

    `computations` are the attributes that name what is applied.
    """

    def rule(instruction: HloInstruction, inner: Inner) -> Cost:
        found = traffic(instruction)
        times = max(applications(instruction), 0)
        for name in computations or ("to_apply",):
            called = instruction.attributes.get(name)
            if isinstance(called, HloComputation):
                found += inner(called).work_only() * times
        return found

    return rule


def begun(rule: CostRule) -> CostRule:
    """Return the cost of an operation that is started asynchronously: as much as if it were not.

    The result is the second member of the state that it gives, beside the operands, which nobody writes.
    """

    def cost(instruction: HloInstruction, inner: Inner) -> Cost:
        state = instruction.shape
        if not state.is_tuple or len(state.elements) < 2:
            return rule(instruction, inner)
        return rule(HloInstruction(instruction.name, instruction.opcode, state.elements[1], instruction.operands,
                                   instruction.attributes), inner)

    return cost


def communicates(instruction: HloInstruction, inner: Inner) -> Cost:
    """A collective: the parts that are combined here, element by element, where it combines any."""
    called = instruction.attributes.get("to_apply")
    work = FREE
    if isinstance(called, HloComputation):
        arrays = max(1, len(instruction.operands))
        work = inner(called).work_only() * (sum(elements_of(o.shape) for o in instruction.operands) // arrays)
    return traffic(instruction) + work
