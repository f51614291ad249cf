"""The reference: a program on all of its devices, in step where they go the same way, else each on a thread."""

from __future__ import annotations

import copy
import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution.codes import MEMORY, MISREAD, TIMEOUT, UNSUPPORTED
from hlotool.execution.devices import Abandoned, DeviceWorld, Meeting, Queues
from hlotool.execution.evaluation import Evaluation, Moment, Observer, Rebinding, Step
from hlotool.execution.lockstep import StepEvaluation, StepWorld
from hlotool.execution.manual_regions import Border, NotSplit, border_of, require_whole
from hlotool.execution.program import Program, flat, located, nested, require_rows
from hlotool.execution.run_limits import OutOfTime, RunLimits
from hlotool.execution.sizes import MOST_THREADS
from hlotool.execution.spread import Apart, each, each_of, spread
from hlotool.ir import HloComputation, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops import Effects, checked_by, flow_of, inside_of, is_border
from hlotool.process import OutOfMemory


def evaluate_program(program: Program, arguments: Sequence[Sequence[Array]], observer: Observer | None = None,
                     queues: Sequence[Queues] | None = None, rebind: Rebinding | None = None, *,
                     sees_parts: bool = False, rebinds_alike: bool = False, unlike_parts: bool = False
                     ) -> list[list[Array]]:
    """The results of every device, leaf by leaf. Raises HloError for what has no defined value.

    `observer` sees the values of every device; around regions that are partitioned by hand it sees whole arrays, or
    with `sees_parts` the values of every partition, and those in the regions, too. `queues` hold what infeed and the
    host give to each device; `rebind` may put another function in the place of an operation's own, in every
    computation: another precision, a fault on purpose. Results then need not have the declared element types. Limits:
    run_limits.py.

    `rebinds_alike`: what `rebind` puts in is one function for all devices, which keeps nothing from call to call, so
    that devices with the same operands share its value. `unlike_parts`: partitions may leave a region that is
    partitioned by hand with several values of one part, of which the first counts; it is an error otherwise. Drawn
    roundings give such, and a fault that is searched for.

    Several devices run in step (lockstep.py). Where they part, each runs on a thread of its own from the beginning:
    an observer then sees again what it has seen.
    """
    require_rows(program, arguments)
    # What has still to be partitioned means what it computes on whole arrays.
    is_whole = program.partitioning == "automatic"
    borders, inside = _regions(program)
    if unlike_parts:
        borders = {i: replace(b, is_checked=False) for i, b in borders.items()}
    # Around regions that are partitioned by hand all partitions compute the whole arrays.
    alike = program.partitions if borders else 1
    if borders and observer is not None and not sees_parts:
        observer = _of_whole_arrays(observer, inside, alike)
    run = _Run(program, arguments, observer, queues, rebind, borders, alike,
               program.replicas, 1 if is_whole and not borders else program.partitions, rebinds_alike)
    try:
        return run.results()[::alike]
    except OutOfMemory as error:
        raise HloError.of(MEMORY, str(error), filename=program.filename) from error
    except OutOfTime as error:
        raise HloError.of(TIMEOUT, str(error), filename=program.filename) from error


@dataclass
class _Run:
    """One evaluation of a program: of one device, of several in step, or of each on a thread."""

    program: Program
    arguments: Sequence[Sequence[Array]]
    observer: Observer | None
    queues: Sequence[Queues] | None
    rebind: Rebinding | None
    borders: Mapping[HloInstruction, Border]
    #: devices that have the same arguments, next to each other
    alike: int
    replicas: int
    partitions: int
    rebinds_alike: bool

    def __post_init__(self) -> None:
        self.limits = RunLimits.now()
        self.count = self.replicas * self.partitions

    def results(self) -> list[list[Array]]:
        """Return the results of each device."""
        if self.count == 1:
            return [self._on_device(0, Meeting(1, 1))]
        kept = copy.deepcopy(self.queues)
        try:
            if self.observer is not None and _may_part(self.program):
                replace(self, observer=None, queues=copy.deepcopy(self.queues))._in_step()
            return self._in_step()
        except Apart:
            for queues, before in zip(self.queues or (), kept or (), strict=True):
                vars(queues).update(vars(before))
        self.program.require_devices(MOST_THREADS, "each of which goes its own way,")
        meeting = Meeting(self.replicas, self.partitions)
        return _on_threads(lambda device: self._on_device(device, meeting), self.count, meeting)

    def _queues_of(self, device: int) -> Queues | None:
        return self.queues[device // self.alike] if self.queues is not None and not device % self.alike else None

    def _on_device(self, device: int, meeting: Meeting) -> list[Array]:
        world = DeviceWorld(meeting, device, self._queues_of(device))
        evaluation = Evaluation(self.program.module, world, self.observer, self.rebind, self.limits, self.borders)
        values = iter(self.arguments[device // self.alike])
        return self._leaves(evaluation, [nested(p.shape, values) for p in self.program.module.entry.parameters()])

    def _in_step(self) -> list[list[Array]]:
        """Return the results of all devices, run in step. Raises Apart."""
        meeting = Meeting(self.replicas, self.partitions)
        worlds = [StepWorld(meeting, d, self._queues_of(d)) for d in range(self.count)]
        evaluation = StepEvaluation(self.program.module, worlds, self.observer, self.rebind, self.limits, self.borders,
                                    self.rebinds_alike)
        rows = [row for row in self.arguments for _ in range(self.alike)]
        values = iter([spread([row[n] for row in rows]) for n in range(len(rows[0]))])
        given = [nested(p.shape, values) for p in self.program.module.entry.parameters()]
        found = [each(leaf, self.count) for leaf in self._leaves(evaluation, given)]
        return [list(row) for row in zip(*found, strict=True)] if found else [[] for _ in worlds]

    def _leaves(self, evaluation: Evaluation, given: Sequence[Any]) -> list[Any]:
        """Return the checked leaves of the entry's result."""
        with np.errstate(all="ignore"), checked_by(self.limits.check_time):
            entry = self.program.module.entry
            leaves = flat(entry.root.shape, evaluation.call(entry, given))
            return [each_of(leaf, functools.partial(self._checked, shape))
                    for leaf, shape in zip(leaves, self.program.results, strict=True)]

    def _checked(self, shape: Shape, leaf: Any) -> Array:
        return _checked(self.program, np.asarray(leaf), shape, self.rebind is None)


def _may_part(program: Program) -> bool:
    """Return True if devices may choose ways on which they meet, or wait for what is sent later."""
    meets = Effects(lambda i: flow_of(i).exchanges)
    return any(i.opcode == "recv" or (flow_of(i).branches_off and any(map(meets.inside, i.called_computations())))
               for i in program.module.instructions())


def _regions(program: Program) -> tuple[dict[HloInstruction, Border], frozenset[HloInstruction]]:
    """Where regions begin and end that are written for one device, and what they hold.

    Raises HloError for one that is not understood.
    """
    if program.manual_region is None:
        return {}, frozenset()
    found: dict[HloInstruction, Border] = {}
    border = program.manual_region
    try:
        for border in filter(is_border, program.module.instructions()):
            found[border] = border_of(program.module, border, program.partitions)
        inside = inside_of(list(found), program.module)
        require_whole(program.module, inside)
    except NotSplit as error:
        raise HloError([located(program.module, border, UNSUPPORTED,
                                 "the reference runs programs of whole arrays or of one device each; this one has "
                                 "still to be partitioned and holds a region that is partitioned by hand: "
                                 f"{error}")]) from error
    return found, inside


def _of_whole_arrays(observer: Observer, inside: frozenset[HloInstruction], alike: int) -> Observer:
    """An observer that sees of partitions that compute the same one, and nothing of their parts."""
    def watch(moment: Moment) -> Any:
        if moment.device % alike or moment.instruction in inside:
            return moment.value
        return observer(replace(moment, device=moment.device // alike))

    return watch


def _checked(program: Program, leaf: Array, shape: Shape, typed: bool) -> Array:
    """A result that has the declared shape, and type: another one is a fault of a NumPy function."""
    if not (shape.is_array and shape.is_static):
        return leaf
    if leaf.shape != shape.dims or (typed and leaf.dtype != shape.dtype.numpy):
        raise HloError([located(program.module, program.module.entry.root, MISREAD,
                                 f"the reference made {leaf.dtype}{list(leaf.shape)} of {shape.text(layout=False)}")])
    return leaf


def _on_threads(run: Callable[[int], list[Array]], devices: int, meeting: Meeting) -> list[list[Array]]:
    """Each device on a thread; the first failure ends all."""
    results: list[Any] = [None] * devices
    failures: list[BaseException] = []

    def body(device: int) -> None:
        try:
            results[device] = run(device)
            meeting.finish(device)
        except Abandoned:
            pass  # the device that failed says why
        except BaseException as error:  # whatever it is, the caller shall see it
            failures.append(error)
            meeting.abandon()

    threads = [threading.Thread(target=body, args=(d,), daemon=True) for d in range(devices)]
    try:
        for thread in threads:
            thread.start()
    except RuntimeError as error:  # a process may have only so many, and each takes memory
        meeting.abandon()
        raise OutOfMemory(f"{devices} devices do not fit: {error}") from error
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return results


class InstructionRuns:
    """The instructions of a module for one device, run one at a time by a caller who keeps their values."""

    def __init__(self, program: Program, rebind: Rebinding | None = None) -> None:
        self._evaluation = Evaluation(program.module, DeviceWorld(Meeting(1, 1), 0, None), None, rebind,
                                      RunLimits.now())
        self._steps: dict[HloInstruction, Step] = {}

    def run(self, instruction: HloInstruction, operands: list[Any]) -> Any:
        """The value of an instruction for the values of its operands. Raises HloError where it has none; OutOfTime."""
        self._evaluation.limits = RunLimits.now()
        with np.errstate(all="ignore"):
            step = self._steps.get(instruction)
            if step is None:
                step = self._steps[instruction] = self._evaluation.step(instruction)
            return self._evaluation.run(step, operands)

    def forget(self, instruction: HloInstruction, computation: HloComputation) -> None:
        """Make an instruction of a computation ready anew when it runs next, as it has been changed."""
        self._steps.pop(instruction, None)
        self._evaluation.plans.pop(computation, None)
