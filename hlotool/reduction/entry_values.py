"""Values of a candidate's instructions on the reference: what takes the place of what is cut off."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution import Moment, Program, arguments_for, evaluate_program, flat
from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape
from hlotool.ir.arrays import Array, np
from hlotool.numerics import Rows
from hlotool.process import work_time
from hlotool.reduction.candidate import Candidate

#: bytes of values that are kept
_KEPT = 1 << 30
#: seconds for one run of the reference
_LONGEST = 60.0
#: calls of one computation whose arguments are kept, the first ones
_CALLS = 6


class _LateError(Exception):
    """The reference takes too long."""


@dataclass
class EntryValues:
    """Values by the name of an entry's instruction, a list of devices each; they hold for whatever is cut out of it."""

    by_name: dict[str, list[Any]] = field(default_factory=dict)
    #: name of a computation -> calls -> devices -> values of its parameters
    calls: dict[str, list[list[list[Any]]]] = field(default_factory=dict)

    def leaves(self, instruction: HloInstruction, device: int) -> list[Array] | None:
        """The arrays of a value; None where it is not known, or is not what the shape says."""
        known = self.by_name.get(instruction.name)
        if known is None or known[device] is None:
            return None
        return fitting(instruction.shape, known[device])

    def of_call(self, computation: HloComputation, number: int) -> list[list[Array]] | None:
        """The arguments of a called computation at one of its calls, by device and leaf."""
        calls = self.calls.get(computation.name, [])
        if number >= len(calls):
            return None
        rows = []
        parameters = computation.parameters()
        for device in calls[number]:
            if len(device) != len(parameters):
                return None
            row: list[Array] = []
            for parameter, value in zip(parameters, device, strict=True):
                leaves = fitting(parameter.shape, value)
                if leaves is None:
                    return None
                row += leaves
            rows.append(row)
        return rows


def fitting(shape: Shape, value: Any) -> list[Array] | None:
    """Return the arrays of a value; None where they are not what the shape says."""
    try:
        found = [np.asarray(leaf) for leaf in flat(shape, value)]
    except (TypeError, ValueError):
        return None
    wanted = [s for _, s in shape.leaves() if s.is_array]
    fits = len(found) == len(wanted) and all(
        a.shape == s.dims and a.dtype == s.dtype.numpy for a, s in zip(found, wanted, strict=True))
    return found if fits else None


def values_of(candidate: Candidate, seconds: float = _LONGEST) -> EntryValues:
    """The values of a candidate, as far as the reference gets in time and memory."""
    found = EntryValues()
    if candidate.rows is None:
        return found
    taken = [0]
    devices = len(candidate.rows)

    def watch(moment: Moment) -> Any:
        instruction, value = moment.instruction, moment.value
        if not moment.path:
            taken[0] += _bytes_of(value)
            if taken[0] < _KEPT:
                found.by_name.setdefault(instruction.name, [None] * devices)[moment.device] = value
        elif instruction.opcode == "parameter":
            call = moment.path[-1]
            calls = found.calls.setdefault(call.computation.name, [])
            taken[0] += _bytes_of(value)
            if taken[0] < _KEPT:
                _note_call(calls, moment, devices)
        return value

    results_on(candidate.module, candidate.rows, watch, seconds)
    return found


def results_on(module: HloModule, rows: Rows, observer: Callable[[Moment], Any] | None = None,
               seconds: float = _LONGEST) -> list[Array] | None:
    """Return the results of all devices on the reference; None where it has none, or not in time."""
    deadline = work_time() + seconds

    def watch(moment: Moment) -> Any:
        if work_time() > deadline:
            raise _LateError
        return moment.value if observer is None else observer(moment)

    with contextlib.suppress(HloError, _LateError, MemoryError):
        return [leaf for row in evaluate_program(Program(module), rows, watch) for leaf in row]
    return None


def _note_call(calls: list[list[list[Any]]], moment: Moment, devices: int) -> None:
    number = moment.instruction.parameter_number
    if number == 0 or not calls:
        begun = [c for c in calls if c[moment.device]]
        if len(begun) == len(calls):
            if len(calls) >= _CALLS:
                return
            calls.append([[] for _ in range(devices)])
    row = next((c[moment.device] for c in reversed(calls) if len(c[moment.device]) in (number, 0)), None)
    if row is not None and len(row) == number:
        row.append(moment.value)


def _bytes_of(value: Any) -> int:
    if isinstance(value, tuple):
        return sum(map(_bytes_of, value))
    return int(getattr(value, "nbytes", 0))


def rows_for(module: HloModule, fed: Sequence[HloInstruction], values: EntryValues, devices: int) -> Rows:
    """The arguments of a section: the values of what feeds it; where one is not known, made ones."""
    rows: list[list[Array]] = []
    made: list[list[Array]] | None = None
    for device in range(devices):
        row: list[Array] = []
        for instruction in fed:
            leaves = values.leaves(instruction, device)
            count = sum(1 for _, s in instruction.shape.leaves() if s.is_array)
            if leaves is None:
                if made is None:
                    made = made_rows(module, devices)
                leaves = made[device][len(row):len(row) + count]
            row += leaves
        rows.append(row)
    return rows


def made_rows(module: HloModule, devices: int) -> list[list[Array]]:
    """Arguments for a module. Raises HloError for parameters that no argument can have."""
    program = Program(module)
    return [arguments_for(program, device, "positive") for device in range(devices)]
