"""Traces values in flight through tuples, loops, branches and calls, back to the operation that started them."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.ops import AsyncStep, flow_of

Path = tuple[int, ...]


class Chains:
    """Finds the starts of values in flight in a module; callers are looked up once."""

    def __init__(self, module: HloModule) -> None:
        self._callers: dict[HloComputation, list[HloInstruction]] = {}
        for instruction in module.instructions():
            for computation in instruction.called_computations():
                self._callers.setdefault(computation, []).append(instruction)
        self._home = {p: c for c in module.computations for p in c.parameters()}

    def starts_of(self, value: HloInstruction) -> list[HloInstruction]:
        """Return every instruction that may have started what a value holds, in the order in which they are found."""
        found: dict[HloInstruction, None] = {}
        seen: set[tuple[HloInstruction, Path]] = set()
        left: list[tuple[HloInstruction, Path]] = [(value, ())]
        while left:
            place = left.pop()
            if place in seen:
                continue
            seen.add(place)
            if not place[1] and place[0].opcode.endswith("-start"):
                found[place[0]] = None
            else:
                left.extend(self._before(*place))
        return list(found)

    def _before(self, value: HloInstruction, path: Path) -> Iterator[tuple[HloInstruction, Path]]:
        opcode, operands = value.opcode, value.operands
        if opcode == "parameter":
            yield from self._given(value, path)
        elif opcode == "get-tuple-element" and operands:
            yield operands[0], (value.attributes.get("index", 0), *path)
        elif opcode == "tuple" and path and 0 <= path[0] < len(operands):
            yield operands[path[0]], path[1:]
        elif opcode in ("while", "call", "conditional"):
            yield from ((c.root, path) for c in _bodies(value) if c.root is not None)
            if opcode == "while" and operands:
                yield operands[0], path
        elif operands and (flow_of(value).forwards or flow_of(value).step is AsyncStep.UPDATE
                           or opcode == "custom-call"):
            yield operands[0], path

    def _given(self, parameter: HloInstruction, path: Path) -> Iterator[tuple[HloInstruction, Path]]:
        """Return the values that callers pass for a parameter; a loop passes its start and its body's result."""
        computation, number = self._home[parameter], parameter.parameter_number
        for caller in self._callers.get(computation, ()):
            if caller.opcode == "while" and caller.operands:
                yield caller.operands[0], path
                yield from ((c.root, path) for c in _bodies(caller) if c.root is not None)
            elif caller.opcode == "call" and number is not None and number < len(caller.operands):
                yield caller.operands[number], path
            elif caller.opcode == "conditional":
                branch = list(caller.called_computations()).index(computation)
                if 1 + branch < len(caller.operands):
                    yield caller.operands[1 + branch], path


def _bodies(caller: HloInstruction) -> tuple[HloComputation, ...]:
    """Return the computations whose results a caller gives."""
    if caller.opcode == "while":
        body = caller.attributes.get("body")
        return (body,) if isinstance(body, HloComputation) else ()
    return tuple(caller.called_computations())
