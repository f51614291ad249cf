"""Limits of what is evaluated in the caller's own process, where nobody can end it from outside.

Time is looked at between instructions, at every call of a computation; while a machine is busy with other programs it
does not pass (`hlotool.process.work_time`). A single instruction whose arithmetic alone
takes longer than the limit on any machine is refused before it begins; so is one whose value, beside what the process
holds already, would take more memory than there may be.

    with run_limit(10.0):
        evaluate_program(program, arguments)      # HloError E105 after ten seconds

Without `run_limit` the limit of every evaluation is that of an executor.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from hlotool.diagnostics import format_bytes
from hlotool.execution.sizes import bytes_of, leaves
from hlotool.ir import HloComputation, HloInstruction, Shape
from hlotool.ops import OPS, Cost, Freedom
from hlotool.process import available_memory, free_memory, note_progress, taken_memory, work_time

#: seconds for one evaluation where nobody says otherwise
DEFAULT_SECONDS = 60.0
#: arithmetic in a second that no machine's NumPy reaches: products of floats are a library's, the rest is not, and
#: what compares in sorting runs in Python
_FASTEST_PRODUCTS, _FASTEST, _FASTEST_SORTS = 2e12, 1e10, 1e8
#: operands times results of an instruction below which its arithmetic is not counted
_WORTH_COUNTING = 1e10
#: bytes that NumPy takes for each index: as 64 bits, clamped, and spread over the result
_BYTES_OF_A_PLACE = 24
#: bytes of a value below which memory is not looked at
_WORTH_LOOKING = 1 << 26

_SECONDS: ContextVar[float | None] = ContextVar("seconds of one evaluation", default=None)


@contextlib.contextmanager
def run_limit(seconds: float) -> Iterator[None]:
    """Within it every evaluation on this thread ends after so many seconds, or sooner where that is said around it."""
    around = _SECONDS.get()
    token = _SECONDS.set(seconds if around is None else min(seconds, around))
    try:
        yield
    finally:
        _SECONDS.reset(token)


class OutOfTime(Exception):
    """An evaluation takes longer than it may."""


@dataclass(frozen=True)
class RunLimits:
    """The limits of one evaluation, which all of its devices share."""

    seconds: float
    #: the end, on the clock of `work_time()`
    until: float

    @classmethod
    def now(cls) -> RunLimits:
        """Those that hold on this thread, for what begins now."""
        given = _SECONDS.get()
        seconds = DEFAULT_SECONDS if given is None else given
        note_progress(seconds=seconds)
        return cls(seconds, work_time() + seconds)

    def check_time(self) -> None:
        """Raise OutOfTime where time is over."""
        if self.seconds <= 0:
            raise OutOfTime("no time is left for another run of the reference")
        if work_time() > self.until:
            raise OutOfTime(f"the reference does not end within {self.seconds:.3g} s")

    def check_work(self, instruction: HloInstruction) -> None:
        """Raise OutOfTime for an instruction that takes longer by itself, on any machine."""
        if self.seconds <= 0:
            self.check_time()
        size = _most_elements(instruction.shape)
        given = max((_most_elements(o.shape) for o in instruction.operands), default=0)
        if size * given < _WORTH_COUNTING or instruction.opcode not in OPS or math.isinf(self.seconds):
            return
        if any(map(memory_problem, instruction.operands)):
            return  # which ends it sooner, and says more
        record = OPS[instruction.opcode]
        work = record.cost_of(instruction, _EachInstruction()).flops
        shape = instruction.shape
        is_product = record.freedom is Freedom.SUMS and shape.is_array and not shape.dtype.is_integral
        fastest = _FASTEST_PRODUCTS if is_product else _FASTEST_SORTS if instruction.opcode == "sort" else _FASTEST
        if work > fastest * self.seconds:
            raise OutOfTime(f"{instruction.opcode} {instruction.name} takes {work:.2g} operations, more than the "
                            f"reference does within {self.seconds:.3g} s")


@functools.lru_cache(maxsize=4096)
def _most_elements(shape: Shape) -> int:
    """Of the largest array in a shape; a tuple of many is asked about by each instruction that takes one of them."""
    return max((s.size for s in leaves(shape) if s.is_array), default=0)


class _EachInstruction:
    """Called computations as the rules of costs ask about them: one operation for each instruction, one round."""

    def __call__(self, computation: HloComputation) -> Cost:
        return Cost(flops=max(1, len(computation.instructions) - len(computation.parameters())))

    def trips(self, loop: HloInstruction) -> int:
        """Loops are ended by the clock."""
        return 1


def is_large(instruction: HloInstruction, devices: int = 1) -> bool:
    """Return True if making the value of an instruction, on all devices, is worth a look at time and memory."""
    return devices * (sum(map(bytes_of, leaves(instruction.shape))) + _bytes_of_places(instruction)) >= _WORTH_LOOKING


def _bytes_of_places(instruction: HloInstruction) -> int:
    """Bytes that an instruction takes, beside its value, for indices: to count them, or for what they mean."""
    if instruction.opcode == "iota" and instruction.shape.dims:  # counted in 64 bits, then made what it is to be
        return 8 * int(instruction.shape.dims[instruction.attributes.get("iota_dimension", 0)])
    if instruction.opcode not in ("gather", "scatter") or len(instruction.operands) < 2:
        return 0
    # scatter's operands are as many as its updates, with the indices between them
    indices = instruction.operands[1 if instruction.opcode == "gather" else (len(instruction.operands) - 1) // 2].shape
    return _BYTES_OF_A_PLACE * indices.size if indices.is_array and indices.is_static else 0


def room_problem(instruction: HloInstruction) -> str:
    """Why an instruction finds no room even where nothing else is held; empty where it may. Asked before it is run."""
    size, places = sum(map(bytes_of, leaves(instruction.shape))), _bytes_of_places(instruction)
    if not places or size + places <= available_memory():
        return ""
    return (f"its value, {instruction.shape.text(layout=False)}, takes {format_bytes(size)}, the places of its indices "
            f"take {format_bytes(places)}, and {format_bytes(available_memory())} may be taken")


def arguments_problem(devices: int, shapes: Iterable[Shape]) -> str:
    """Why arguments and results of those shapes, on so many devices, find no room; empty where they do.

    They are held here and in the executor's process, and on the way as bytes on both sides.
    """
    size = 4 * devices * sum(map(bytes_of, shapes))
    room = min(available_memory() - taken_memory(), free_memory())
    if size < _WORTH_LOOKING or size <= room:
        return ""
    return (f"arguments and results of {devices} {'device' if devices == 1 else 'devices'}, and their copies for an "
            f"executor, take {format_bytes(size)}, and {format_bytes(max(0, room))} are left")


def memory_problem(instruction: HloInstruction, widening: int = 1, devices: int = 1) -> str:
    """Why the value of an instruction, on all devices, finds no room beside what the process holds; empty where it
    does."""
    size = devices * widening * sum(map(bytes_of, leaves(instruction.shape)))
    places = devices * _bytes_of_places(instruction)
    taken, available = taken_memory(), available_memory()
    is_free = size + places < _WORTH_LOOKING or size + places <= (free := free_memory())
    if taken + size + places <= available and is_free:
        return ""
    working = f", the places of its indices take {format_bytes(places)}" if places else ""
    each = f", on all of {devices} devices," if devices > 1 else ""
    if not is_free:
        return (f"its value, {instruction.shape.text(layout=False)}, takes{each} {format_bytes(size)}{working}, and "
                f"{format_bytes(free)} are free on this machine")
    return (f"its value, {instruction.shape.text(layout=False)}, takes{each} {format_bytes(size)}{working}, beside the "
            f"{format_bytes(taken)} that are taken, and {format_bytes(available)} may be taken")
