"""Dependence of a program on its arguments: an abstract run in which values are only "depends" or "does not".

The value of an instruction is True or False, of a tuple a tuple of them. What runs a data-dependent number of times, or
in a branch that the arguments choose, depends on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.execution import Program
from hlotool.ir import HloComputation, HloInstruction, Shape, post_order
from hlotool.ops import flow_of

#: True, False, or a tuple of such
Mark = Any


class Dependence:
    """The marks of every instruction, in any call of its computation."""

    def __init__(self, program: Program) -> None:
        self._marks: dict[HloInstruction, Mark] = {}
        self._known: dict[tuple[HloComputation, tuple[Mark, ...]], Mark] = {}
        entry = program.module.entry
        self.root = self._call(entry, [_filled(p.shape, True) for p in entry.parameters()])

    def depends(self, instruction: HloInstruction) -> bool:
        """Return True if any part of an instruction's value depends on the arguments; False if it is never computed."""
        return _any(self._marks.get(instruction, False))

    @property
    def results(self) -> bool:
        """Return True if any result depends on the arguments."""
        return _any(self.root)

    def _call(self, computation: HloComputation, given: Sequence[Mark]) -> Mark:
        key = (computation, tuple(given))
        if key in self._known:
            return self._known[key]
        marks: dict[HloInstruction, Mark] = dict(zip(computation.parameters(), given, strict=False))
        for instruction in post_order(computation):
            if instruction.opcode != "parameter":
                marks[instruction] = self._mark(instruction, [marks.get(o, False) for o in instruction.operands])
        for instruction, mark in marks.items():
            self._marks[instruction] = _either(self._marks.get(instruction, False), mark)
        return self._known.setdefault(key, marks[computation.root])

    def _mark(self, instruction: HloInstruction, operands: list[Mark]) -> Mark:
        opcode, shape = instruction.opcode, instruction.shape
        if opcode == "tuple":
            return tuple(operands)
        if opcode == "get-tuple-element" and isinstance(operands[0], tuple):
            return operands[0][int(instruction.attributes["index"])]
        if opcode == "while":
            return self._loop(instruction, operands[0])
        if opcode in ("call", "fusion"):
            return self._call(instruction.called_computations()[0], operands)
        if opcode == "conditional":
            branches = [self._call(c, [o]) for c, o in zip(instruction.called_computations(), operands[1:],
                                                           strict=False)]
            found = branches[0] if branches else False
            for branch in branches[1:]:
                found = _either(found, branch)
            return _filled(shape, True) if _any(operands[0]) else found
        if flow_of(instruction).forwards:
            return operands[0]
        for computation in instruction.called_computations():  # reducers, comparators: scalars of the operands
            self._call(computation, [_filled(p.shape, any(map(_any, operands))) for p in computation.parameters()])
        return _filled(shape, flow_of(instruction).varies or any(map(_any, operands)))

    def _loop(self, instruction: HloInstruction, state: Mark) -> Mark:
        condition, body = instruction.attributes["condition"], instruction.attributes["body"]
        while True:
            following = _either(state, self._call(body, [state]))
            if _any(self._call(condition, [state])):  # how often it runs depends on the arguments: so does all of it
                self._call(body, [_filled(instruction.shape, True)])
                return _filled(instruction.shape, True)
            if following == state:
                return state
            state = following


def _filled(shape: Shape, mark: bool) -> Mark:
    return tuple(_filled(e, mark) for e in shape.elements) if shape.is_tuple else mark


def _any(mark: Mark) -> bool:
    return any(map(_any, mark)) if isinstance(mark, tuple) else bool(mark)


def _either(a: Mark, b: Mark) -> Mark:
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(map(_either, a, b))
    if isinstance(a, tuple) or isinstance(b, tuple):
        whole, mark = (a, b) if isinstance(a, tuple) else (b, a)
        return _spread(whole, mark) if mark else whole
    return a or b


def _spread(mark: Mark, filling: bool) -> Mark:
    return tuple(_spread(m, filling) for m in mark) if isinstance(mark, tuple) else filling or mark
