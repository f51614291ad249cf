"""Counts the rounds of loops: as the compiler noted them, else by the loop's own counter.

    known_trip_count of backend_config        what a compiler found
    i = 0; while (i < 10) i += 3              counted, also where compare and add are hidden in fusions and calls
    x = 100; while (x > 1) x /= 2             evaluated, as long as nothing but constants goes into the condition
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from hlotool.ir import BackendConfig, HloComputation, HloInstruction, lazy_dataclass
from hlotool.ir.arrays import np
from hlotool.ops import MIRRORED, OPS, flow_of, int_limits, source_of
from hlotool.passes.loop_states import place_read

#: iterations and instructions that are evaluated at most
_MOST_ITERATIONS, _MOST_EVALUATIONS = 1 << 14, 1 << 16
#: the rounds of a loop that nothing ends
ENDLESS = math.inf
#: nested calls, fusions and operands that are followed
_DEEPEST = 200


class _UnknownError(Exception):
    """A value that the module alone does not tell."""


def trip_count(loop: HloInstruction) -> int | None:
    """Return the number of rounds of a while; None where the module does not tell, or where it never ends.

    What the compiler noted is believed.
    """
    noted = noted_trip_count(loop)
    if noted is not None:
        return noted
    found = _told(loop, _Loop.count)
    return None if found is None else int(found)


def counted_trip_count(loop: HloInstruction) -> float | None:
    """Return the rounds that a loop's own counter tells, ENDLESS included; nothing is evaluated, NumPy not needed."""
    return _told(loop, _Loop.counted)


def _told(loop: HloInstruction, ask: Callable[[_Loop], float | None]) -> float | None:
    body, condition = loop.attributes.get("body"), loop.attributes.get("condition")
    if not isinstance(body, HloComputation) or not isinstance(condition, HloComputation) or not loop.operands:
        return None
    try:
        return ask(_Loop(loop, body, condition))
    except (_UnknownError, ArithmeticError, KeyError, IndexError, ValueError, TypeError, ModuleNotFoundError):
        return None  # a module that is not valid, a value that only a run can tell, or (in a browser) no NumPy


def noted_trip_count(loop: HloInstruction) -> int | None:
    """The known_trip_count that a compiler wrote into the backend_config. Source: XLA, WhileLoopBackendConfig."""
    config = loop.attributes.get("backend_config")
    if not isinstance(config, BackendConfig) or "known_trip_count" not in config.text:
        return None
    try:
        found = int(json.loads(config.text)["known_trip_count"]["n"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return found if 0 <= found < 1 << 63 else None


@lazy_dataclass(frozen=True, slots=True)
class _Line:
    """factor * counter + offset, where the counter is a place of the loop's state; a constant has no place."""

    offset: int
    factor: int = 0
    place: int | None = None


class _Loop:
    def __init__(self, loop: HloInstruction, body: HloComputation, condition: HloComputation) -> None:
        self.init = _behind(loop.operands[0])
        self.body, self.condition = body, condition
        self.evaluations = 0
        self.is_start_evaluated = False

    def count(self) -> float | None:
        counted = self.counted(is_start_evaluated=True)
        return counted if counted is not None and counted != ENDLESS else self._evaluated()

    def initial(self, place: int) -> Any:
        """Return the value with which the loop starts, at a place of its state."""
        if self.init.opcode != "tuple":
            raise _UnknownError
        return self.value(self.init.operands[place], {}, None)

    def start(self, place: int) -> int:
        """Return the same as a whole number."""
        if self.init.opcode == "tuple" and (made := _resolved(self.init.operands[place], {})[0]).opcode == "constant":
            return _whole(made)
        if not self.is_start_evaluated:
            raise _UnknownError
        return int(self.initial(place))

    # A counter that goes in steps.

    def counted(self, *, is_start_evaluated: bool = False) -> float | None:
        """Return the rounds by the loop's counter, from a constant unless its start may be evaluated; None: unknown."""
        self.is_start_evaluated = is_start_evaluated
        test, frame = _resolved(self.condition.root, {})
        if test.opcode == "constant":
            return ENDLESS if _is_true(test) else 0
        if test.opcode != "compare" or not test.operands[0].shape.dtype.is_integral:
            return None
        try:
            lhs, rhs = (self.line(o, frame) for o in test.operands)
            direction = test.attributes["direction"]
            if lhs.place is None:
                lhs, rhs, direction = rhs, lhs, MIRRORED.get(direction, direction)
            if lhs.place is None:
                return ENDLESS if _holds(lhs.offset, rhs.offset, direction) else 0
            if rhs.place is not None or lhs.factor != 1:
                return None
            update = self.line(*_member(self.body.root, lhs.place))
            if update.place != lhs.place or update.factor != 1:
                return None
            start = self.start(lhs.place)
        except _UnknownError:
            return None
        kind = test.operands[0].shape.dtype
        least, largest = int_limits(kind)
        return _steps(start + lhs.offset, rhs.offset, direction, update.offset, range(least, largest + 1))

    def line(self, instruction: HloInstruction, frame: _Frame, depth: int = 0) -> _Line:
        """Return a scalar as a line over one place of the state. Raises _UnknownError for anything else."""
        instruction, frame = _resolved(instruction, frame)
        if depth > _DEEPEST:
            raise _UnknownError
        place = place_read(instruction)
        if place is not None and not frame:
            member, inside = _member(self.body.root, place)
            if place_read(member) == place and not inside:
                return _Line(self.start(place))  # handed on unchanged
            return _Line(0, 1, place)
        if instruction.opcode == "constant" and instruction.shape.dims == ():
            return _Line(_whole(instruction))
        if instruction.opcode == "convert":
            return self.line(instruction.operands[0], frame, depth + 1)
        if instruction.opcode not in ("add", "subtract"):
            raise _UnknownError
        lhs, rhs = (self.line(o, frame, depth + 1) for o in instruction.operands)
        sign = 1 if instruction.opcode == "add" else -1
        if lhs.place is not None and rhs.place is not None:
            raise _UnknownError
        return _Line(lhs.offset + sign * rhs.offset, lhs.factor + sign * rhs.factor,
                     lhs.place if lhs.place is not None else rhs.place)

    # Anything else that constants decide.

    def _evaluated(self) -> int | None:
        """Run what the condition needs, and nothing else."""
        places = self._needed()
        state = {p: self.initial(p) for p in places}
        for count in range(_MOST_ITERATIONS):
            if not bool(self.value(self.condition.root, {}, state)):
                return count
            state = {p: self.value(*_member(self.body.root, p), state) for p in places}
        return None

    def _needed(self) -> list[int]:
        """Return places of the state that the condition depends on, from iteration to iteration."""
        found: dict[int, None] = {}
        todo = list(_places_read(self.condition.root, {}))
        while todo:
            place = todo.pop()
            if place not in found:
                found[place] = None
                todo += _places_read(*_member(self.body.root, place))
        return list(found)

    def value(self, instruction: HloInstruction, frame: _Frame, state: dict[int, Any] | None, depth: int = 0) -> Any:
        """Return a scalar's value; `state` are the loop's own, by place. Raises _UnknownError."""
        instruction, frame = _resolved(instruction, frame)
        self.evaluations += 1
        if depth > _DEEPEST or self.evaluations > _MOST_EVALUATIONS or instruction.shape.dims:
            raise _UnknownError
        if instruction.opcode == "constant":
            return instruction.literal.array
        place = place_read(instruction)
        if place is not None and not frame and state is not None:
            return state[place]
        record = OPS.get(instruction.opcode)
        if record is None or "elementwise" not in record.flags or "random" in record.flags:
            raise _UnknownError
        operands = [self.value(o, frame, state, depth + 1) for o in instruction.operands]
        attributes = record.attributes_of(instruction)
        if instruction.opcode == "convert":
            return np.asarray(operands[0]).astype(instruction.shape.dtype.numpy)
        return record.evaluate(*operands, **attributes)


#: what stands for the parameters of a called computation: (call, the call's own frame); empty in the loop itself
_Frame = dict[str, Any]


def _whole(constant: HloInstruction) -> int:
    """Return a scalar constant, which is read as a whole number where it is one: that needs no array."""
    literal = constant.literal
    return literal.whole_number if constant.shape.dtype.is_integral else int(literal.array)


def _behind(instruction: HloInstruction) -> HloInstruction:
    return source_of(instruction, lambda flow: flow.rearranges)


def _resolved(instruction: HloInstruction, frame: _Frame) -> tuple[HloInstruction, _Frame]:
    """Return the origin of a value: behind copies, inside of calls and fusions, outside of their parameters."""
    for _ in range(_DEEPEST * 4):
        opcode = instruction.opcode
        if flow_of(instruction).rearranges and instruction.operands:
            instruction = instruction.operands[0]
        elif flow_of(instruction).in_place:
            (called,) = instruction.called_computations()
            instruction, frame = called.root, {"call": instruction, "outer": frame}
        elif opcode == "parameter" and frame:
            call, outer = frame["call"], frame["outer"]
            instruction, frame = call.operands[instruction.parameter_number], outer
        elif opcode == "get-tuple-element":
            inner, inner_frame = _resolved(instruction.operands[0], frame)
            if inner.opcode == "tuple":
                instruction, frame = inner.operands[instruction.attributes["index"]], inner_frame
            elif inner.opcode == "parameter" and not inner_frame and instruction.operands[0] is not inner:
                return _taken(inner, instruction), {}
            else:
                return instruction, frame if instruction.operands[0] is inner else inner_frame
        else:
            return instruction, frame
    raise _UnknownError


def _taken(value: HloInstruction, member: HloInstruction) -> HloInstruction:
    """Return the member of a value directly, where it was reached through calls and copies."""
    return HloInstruction(member.name, "get-tuple-element", member.shape, (value,), member.attributes)


def _member(root: HloInstruction, place: int) -> tuple[HloInstruction, _Frame]:
    """Return the value at a place of a computation's result."""
    found, frame = _resolved(root, {})
    if found.opcode != "tuple":
        raise _UnknownError
    return _resolved(found.operands[place], frame)


def _places_read(instruction: HloInstruction, frame: _Frame) -> set[int]:
    """Return every place of the state that a value of the loop is made of."""
    found: set[int] = set()
    seen: set[tuple[int, int]] = set()
    todo = [(instruction, frame)]
    while todo:
        one, inside = _resolved(*todo.pop())
        key = (id(one), id(inside.get("call")))
        if key in seen:
            continue
        seen.add(key)
        place = place_read(one)
        if place is not None and not inside:
            found.add(place)
        elif one.opcode == "parameter" or len(seen) > _MOST_EVALUATIONS:
            raise _UnknownError
        else:
            todo += [(o, inside) for o in one.operands]
    return found


def _holds(a: int, b: int, direction: str) -> bool:
    return {"LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b, "EQ": a == b, "NE": a != b}[direction]


def _is_true(constant: HloInstruction) -> bool:
    text = constant.literal.text
    return text.strip() == "true" if text else bool(constant.literal.array)


def _steps(start: int, limit: int, direction: str, step: int, numbers: range) -> float | None:
    """Iterations of `for (i = start; i direction limit; i += step)`; None where i would leave the type's numbers.

    A counter that goes away from its limit is ENDLESS: only by wrapping around it gets there.
    """
    if not _holds(start, limit, direction):
        return 0
    if direction == "EQ":
        return 1 if step else ENDLESS
    if direction == "NE":
        distance = limit - start
        if not step:
            return ENDLESS
        return distance // step if distance % step == 0 and distance // step > 0 else None
    if (direction in ("LT", "LE")) != (step > 0) or not step:
        return ENDLESS
    reach = abs(limit - start) + (direction in ("LE", "GE"))
    count = math.ceil(reach / abs(step)) if reach < 1 << 52 else -(-reach // abs(step))
    return count if start + count * step in numbers else None
