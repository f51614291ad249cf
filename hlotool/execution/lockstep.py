"""All devices of a program in step, on one thread: each instruction for all devices before the next one.

What devices are known to hold alike is computed once (spread.py); an elementwise operation on values that differ is one
call of NumPy, with the devices as a leading dimension. Devices that choose different ways around a meeting, or wait for
what is sent later in the program, are not in step: `Apart` is raised, and each has to run on a thread of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution.codes import MEMORY
from hlotool.execution.device_state import running
from hlotool.execution.devices import DeviceWorld
from hlotool.execution.evaluation import Evaluation, Moment, Observer, Path, Rebinding, Step
from hlotool.execution.manual_regions import Border
from hlotool.execution.run_limits import RunLimits, memory_problem
from hlotool.execution.sizes import bytes_of
from hlotool.execution.spread import Apart, Classes, Joins, Spread, classes_of, each, gathered, picked, spread
from hlotool.ir import HloInstruction, HloModule, Shape
from hlotool.ir.arrays import np
from hlotool.ops import OPS, AsyncStep, Effect, Effects, Leading, flow_of, flow_of_opcode, is_a, is_elementwise

#: so many values or more are computed in one call, where each takes so many bytes at most, and all together
_WORTH_STACKING, _LARGEST_STACKED, _LARGEST_STACK = 4, 1 << 16, 1 << 28


class Brought(Exception):
    """A device has said what it brings to a meeting."""

    def __init__(self, value: Any, participants: tuple[int, ...]) -> None:
        super().__init__()
        self.value, self.participants = value, participants


class StepWorld(DeviceWorld):
    """One device's view where all run in step: first it is asked what it brings, then it gets what all brought."""

    #: what all participants bring to each meeting of the instruction that runs, as far as they have been asked
    brought: Sequence[list[Any]] = ()
    #: meetings of the instruction so far
    met = 0
    #: groups of devices, and what those of one compute together
    common: dict[Any, Any]
    #: False where each device has to be seen computing it
    is_shared = True

    def at(self, instruction: HloInstruction) -> StepWorld:
        """Return the view itself: there is one instruction at a time."""
        return self

    def exchange(self, value: Any, participants: Sequence[int]) -> list[Any]:
        """Return what every participant brings to this meeting, in their order."""
        if tuple(participants) == (self.device,):
            return [value]
        if self.met == len(self.brought):
            members = tuple(participants)
            raise Brought(value, self.common.setdefault((members,), members))
        self.met += 1
        return self.brought[self.met - 1]

    def together(self, members: Sequence[int], compute: Callable[[], Any]) -> Any:
        """Return the value that is the same for all of some devices, computed once."""
        key = tuple(members)
        if not self.is_shared:
            return compute()
        if key not in self.common:
            self.common[key] = compute()
        return self.common[key]

    def recv(self, channel: int | None, pairs: Sequence[tuple[int, int]], is_host: bool, shape: Shape) -> Any:
        """The next value of a channel. Raises Apart where it is not sent yet."""
        sources = [] if is_host else self._targets([(target, source) for source, target in pairs])
        if sources and not self.meeting.is_sent(channel, sources[0], self.device):
            raise Apart
        return super().recv(channel, pairs, is_host, shape)


class StepEvaluation(Evaluation):
    """The run of a module on all devices in step; `worlds` are the devices' views."""

    def __init__(self, module: HloModule, worlds: Sequence[StepWorld], observer: Observer | None,
                 rebind: Rebinding | None, limits: RunLimits, borders: Mapping[HloInstruction, Border],
                 rebinds_alike: bool = False) -> None:
        super().__init__(module, worlds[0], observer, rebind, limits, borders)
        self.worlds = worlds
        self.rebinds_alike = rebinds_alike
        #: what runs instructions that need no other device, for each device; for all that hold the same the first does
        self._alone: dict[int, Evaluation] = {}
        self.joins = Joins()
        self._steps: dict[tuple[int, HloInstruction], Step] = {}
        self._meets = Effects(lambda i: bool(flow_of(i).effect & _OWN_TO_A_DEVICE))

    def run(self, step: Step, operands: list[Any], path: Path = ()) -> Any:
        """Return the value of one instruction on all devices. Raises HloError where it has none, Apart."""
        if _is_passing(step.instruction.opcode) and step.instruction not in self.borders:
            return super().run(step, operands, path)
        if step.instruction in self.borders or "world" in step.keywords:
            return self._met(step, operands, path)
        if step.callees and any(self._meets.inside(c.computation) for c in step.callees):
            raise Apart
        if not self._is_alike(step) or (self.observer is not None and step.callees):
            at = picked(tuple(operands), np.arange(len(self.worlds)))
            return spread([self._on(device, step, at(device), path) for device in range(len(self.worlds))])
        return self._computed(step, operands, path)

    def _is_alike(self, step: Step) -> bool:
        """Return True if an instruction does the same on each device."""
        return self.rebinds_alike or self.is_own(step)

    def watch(self, path: Path, instruction: HloInstruction, operands: Sequence[Any], value: Any,
              again: Callable[..., Any]) -> Any:
        """Show the value of each device to the observer; return the value that the program goes on with."""
        assert self.observer is not None
        devices = len(self.worlds)
        own, at = each(value, devices), picked(tuple(operands), np.arange(devices))
        seen = [self.observer(Moment(d, path, instruction, at(d), own[d], functools.partial(
            self._again, d, instruction))) for d in range(devices)]
        return value if all(a is b for a, b in zip(seen, own, strict=True)) else spread(seen)

    def _check_large(self, step: Step) -> None:
        """Leave it to what runs an instruction for one device: the values of devices may be one."""

    def _again(self, device: int, instruction: HloInstruction, *operands: Any) -> Any:
        if instruction.opcode == "parameter":
            return operands[0]
        return self._step(device, instruction).again(*operands)

    def _step(self, device: int, instruction: HloInstruction) -> Step:
        """Return an instruction made ready for one device."""
        key = (device, instruction)
        if key not in self._steps:
            self._steps[key] = self._of(device).step(instruction)
        return self._steps[key]

    def _of(self, device: int) -> Evaluation:
        if device not in self._alone:
            self._alone[device] = Evaluation(self.module, self.worlds[device], self.observer, self.rebind, self.limits,
                                             self.borders)
        return self._alone[device]

    def _on(self, device: int, step: Step, operands: Sequence[Any], path: Path) -> Any:
        with running(device):
            return self._of(device).run(self._step(device, step.instruction), list(operands), path)

    def _computed(self, step: Step, operands: list[Any], path: Path) -> Any:
        """Return the value of an instruction that is alike on devices with the same operands."""
        self.limits.check_time()
        classes = classes_of(operands, self.joins)
        if classes is None:
            return self._on(0, step, operands, path)
        leading = _leading_of(step) if classes.count >= _WORTH_STACKING and self.is_own(step) else None
        if leading is not None and _is_worth_stacking(step, operands, leading, classes.count):
            return self._stacked(step, operands, classes, leading, path)
        if step.is_large and (problem := memory_problem(step.instruction, 1, classes.count)):
            raise HloError([self._refused(step, problem, MEMORY)])
        at = picked(tuple(operands), classes.first)
        return gathered(classes, [self._on(0, step, at(n), path) for n in range(classes.count)])

    def _stacked(self, step: Step, operands: Sequence[Any], classes: Classes, leading: Leading, path: Path) -> Any:
        """Return the value of an instruction for all classes by one call."""
        instruction = step.instruction
        rows: list[Any] = []
        for number, value in enumerate(operands):
            if leading.begins and number >= len(operands) // 2:
                rows.append(value)
                continue
            if isinstance(value, Spread):
                row = value.stacked()
                if value.classes is not classes:
                    row = row[value.classes.of[classes.first]]
            else:
                row = np.broadcast_to(value, (classes.count, *np.shape(value)))
            missing = instruction.shape.rank + 1 - row.ndim if is_a(instruction, "elementwise") else 0
            rows.append(np.ascontiguousarray(row).reshape(*row.shape, *(1,) * missing))
        first = self._step(0, instruction)
        keywords = {**first.keywords, **leading.attributes(first.keywords)}
        if "shape" in keywords:
            keywords["shape"] = Shape.array(instruction.shape.element_type, (classes.count, *instruction.shape.dims))
        made = self._of(0).run(replace(first, keywords=keywords), rows, path)
        return gathered(classes, made) if isinstance(made, np.ndarray) else tuple(gathered(classes, m) for m in made)

    def _met(self, step: Step, operands: list[Any], path: Path) -> Any:
        """Return the value of an instruction in which devices meet, or ask for what is theirs alone."""
        self.limits.check_time()
        at = picked(tuple(operands), np.arange(len(self.worlds)))
        common: dict[Any, Any] = {}
        made: list[Any] = [None] * len(self.worlds)
        shares = self._gives_alike(step)
        known: dict[int, list[list[Any]]] = {device: [] for device in range(len(self.worlds))}
        waiting = list(known)
        while waiting:
            asked: dict[int, Brought] = {}
            alike: dict[int, Any] = {}
            for device in waiting:
                row = id(known[device][-1]) if known[device] else 0
                if shares and row in alike:
                    made[device] = alike[row]
                    continue
                try:
                    made[device] = self._met_on(device, step, at(device), path, known[device], common)
                except Brought as its:
                    asked[device] = its
                    continue
                if row and len(known[device][-1][0]) == len(operands):
                    alike[row] = made[device]
            for device, brought in _rows(asked).items():
                known[device].append(brought)
            waiting = list(asked)
        return spread(made)

    def _gives_alike(self, step: Step) -> bool:
        """Return True if all devices of a group get one value, which nobody has to see being made for each."""
        border = self.borders.get(step.instruction)
        is_uniform = not border.enters if border is not None else is_a(step.instruction, "uniform")
        return is_uniform and self.observer is None and self._is_alike(step)

    def _met_on(self, device: int, step: Step, operands: Sequence[Any], path: Path, brought: Sequence[list[Any]],
                common: dict[Any, Any]) -> Any:
        world = self.worlds[device]
        world.brought, world.met, world.common = brought, 0, common
        world.is_shared = self.observer is None and self._is_alike(step)
        if not world.is_shared or step.instruction in self.borders:
            return self._on(device, step, operands, path)
        first = self._step(0, step.instruction)
        return self._of(0).run(replace(first, keywords={**first.keywords, "world": world}), list(operands), path)


def _rows(asked: Mapping[int, Brought]) -> dict[int, list[Any]]:
    """Return what the participants of each device's meeting bring to it. Raises Apart where they do not all come."""
    rows: dict[tuple[int, ...], list[Any]] = {}
    for brought in asked.values():
        group = brought.participants
        if group not in rows:
            if any(m not in asked or asked[m].participants != group for m in group):
                raise Apart  # which of them wait for whom is seen where each runs by itself
            rows[group] = [asked[m].value for m in group]
    return {device: rows[brought.participants] for device, brought in asked.items()}


#: effects of operations whose result is a device's own whatever the operands are
_OWN_TO_A_DEVICE = Effect.EXCHANGE | Effect.DEVICE | Effect.HOST | Effect.STATE


@functools.cache
def _is_passing(opcode: str) -> bool:
    """Return True if an operation hands values on as they are, to computations and out of tuples."""
    flow = flow_of_opcode(opcode)
    return flow.packs or flow.enters or (flow.step in (AsyncStep.UPDATE, AsyncStep.DONE) and not flow.effect)


def _leading_of(step: Step) -> Leading | None:
    """Return how an operation does the same to arrays with one more dimension in front; None: it does not."""
    instruction = step.instruction
    if step.one_size or "operand_shapes" in step.keywords or not all(map(is_elementwise, step.callees)):
        return None
    if not all(s.is_array and s.is_static for s in (instruction.shape, *(o.shape for o in instruction.operands))):
        return None
    return Leading() if is_a(instruction, "elementwise") else OPS[instruction.opcode].leading


def _is_worth_stacking(step: Step, operands: Sequence[Any], leading: Leading, count: int) -> bool:
    """Return True if values are small enough, each and together, and what has no leading dimension does not differ."""
    inits = operands[len(operands) // 2:] if leading.begins else ()
    largest = max(map(bytes_of, (step.instruction.shape, *(o.shape for o in step.instruction.operands))))
    return largest <= _LARGEST_STACKED and count * largest <= _LARGEST_STACK and not any(
        isinstance(i, Spread) for i in inits)
