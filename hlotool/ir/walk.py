"""Orders of instructions and computations, computed when asked; nothing here is stored."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterable
from typing import Any

from hlotool.ir.attributes import Attributes
from hlotool.ir.module import HloComputation, HloInstruction, HloModule


def post_order(computation: HloComputation) -> list[HloInstruction]:
    """Return the instructions in an order where operands and control predecessors come before users.

    Text order where that already holds. On a cycle (see `cycles`; the verifier reports it) each instruction stands
    once, and some stand before an operand.
    """
    done: set[HloInstruction] = set()
    opened: set[HloInstruction] = set()
    order: list[HloInstruction] = []
    for start in computation.instructions:
        if done.issuperset(start.operands) and not (start.attributes and start.control_predecessors()):
            if start not in done:
                done.add(start)
                order.append(start)
            continue
        stack = [(start, False)]
        while stack:
            instruction, ready = stack.pop()
            if instruction in done:
                continue
            if ready:
                done.add(instruction)
                order.append(instruction)
                continue
            if instruction in opened:
                continue
            opened.add(instruction)
            stack.append((instruction, True))
            before = (*instruction.operands, *instruction.control_predecessors())
            stack.extend((b, False) for b in reversed(before) if b not in opened)
    return order


def cycles(computation: HloComputation) -> list[HloInstruction]:
    """Instructions that must wait for themselves, by operands or control predecessors: one of each circle found.

    Instructions of other computations are not followed: nobody looked at their parts.
    """
    own = set(computation.instructions)
    done: set[HloInstruction] = set()
    opened: set[HloInstruction] = set()
    found: list[HloInstruction] = []
    for start in computation.instructions:
        stack = [(start, False)]
        while stack:
            instruction, ready = stack.pop()
            if ready:
                done.add(instruction)
            elif instruction not in opened:
                opened.add(instruction)
                stack.append((instruction, True))
                stack.extend((b, False) for b in (*instruction.operands, *instruction.control_predecessors())
                             if b in own and b not in done)
            elif instruction not in done:
                found.append(instruction)
    return list(dict.fromkeys(found))


def callees_first(module: HloModule) -> list[HloComputation]:
    """Return the computations in an order where callees come before callers; text order where that already holds.

    On a cycle (which the verifier reports) the order is that of the text.
    """
    return callees_before_callers(module.computations)


def called_by(computation: HloComputation) -> list[HloComputation]:
    """Return the computations that a computation's instructions call, each once, in order."""
    found: dict[HloComputation, None] = {}
    for instruction in computation.instructions:
        attributes = instruction.attributes
        if attributes:
            # What most instructions have at hand is asked for here, as every order of computations asks all of them.
            called = attributes.called if type(attributes) is Attributes else None
            if called is None:
                called = instruction.called_computations()
            if called:
                found.update(dict.fromkeys(called))
    return list(found)


def callees_before_callers(starts: Iterable[HloComputation],
                           circles: list[tuple[HloComputation, HloComputation]] | None = None,
                           called_by: Callable[[HloComputation], list[HloComputation]] = called_by
                           ) -> list[HloComputation]:
    """Computations and all that they call, directly or not, each once and behind what it calls.

    Those that call one which calls them in turn are added to `circles`, with that one. What a computation calls is
    what `called_by` says, for who knows it already.
    """
    done: set[int] = set()
    opened: set[int] = set()
    order: list[HloComputation] = []
    for start in starts:
        if id(start) in done:
            continue
        calls: list[HloComputation] | None = called_by(start)
        if not calls:  # as most are
            done.add(id(start))
            order.append(start)
            continue
        stack = [(start, False)]
        while stack:
            computation, ready = stack.pop()
            if id(computation) in done:
                continue
            if ready:
                done.add(id(computation))
                order.append(computation)
                continue
            opened.add(id(computation))
            stack.append((computation, True))
            called, calls = called_by(computation) if calls is None else calls, None
            stack.extend((c, False) for c in reversed(called) if id(c) not in opened)
            if circles is not None:  # what is opened and not done is being waited for
                circles.extend((computation, c) for c in called if id(c) in opened and id(c) not in done)
    return order


def live(computation: HloComputation, keeps: Callable[[HloInstruction], bool], *, with_control: bool = True
         ) -> set[HloInstruction]:
    """Return what the root, the parameters and the instructions of `keeps` depend on, themselves included.

    Instructions depend on their operands and, with `with_control`, on their control predecessors.
    """
    found: set[HloInstruction] = set()
    waiting = [computation.root, *(i for i in computation.instructions if i.opcode == "parameter" or keeps(i))]
    while waiting:
        instruction = waiting.pop()
        if instruction not in found:
            found.add(instruction)
            waiting.extend(instruction.operands)
            if with_control:
                waiting.extend(instruction.control_predecessors())
    return found


def reachable(starts: Iterable[HloComputation],
              called_by: Callable[[HloComputation], list[HloComputation]] = called_by) -> set[HloComputation]:
    """Those computations and all that they call, directly or not; `called_by` is as for callees_before_callers."""
    found: set[HloComputation] = set()
    waiting = list(starts)
    while waiting:
        computation = waiting.pop()
        if computation not in found:
            found.add(computation)
            waiting.extend(called_by(computation))
    return found


def _reduced(module: HloModule) -> tuple[Any, ...]:
    """Return how to pickle a module: operands and callees first, so that a chain of thousands needs no recursion."""
    order = [post_order(c) for c in callees_first(module)]
    return _unpickled, (order, module.name, module.computations, module.entry, module.attributes, module.tables,
                        module.source, module.notes, module.imported_from)


def _unpickled(_order: Any, *fields: Any) -> HloModule:
    return HloModule(*fields)


copyreg.pickle(HloModule, _reduced)
