"""Modules that HLO text cannot express, for checks of the verifier: pairs of a bad one and its good neighbour."""

from __future__ import annotations

from collections.abc import Callable

from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule, Shape

F32 = Shape.array("f32", (2,))


def _parameter(name: str = "x") -> HloInstruction:
    return HloInstruction(name, "parameter", F32, (), Attributes({"parameter_number": 0}))


def _negate(operand: HloInstruction, name: str = "n", **attributes: object) -> HloInstruction:
    return HloInstruction(name, "negate", F32, (operand,), Attributes(attributes))


def _module(*computations: HloComputation, **attributes: object) -> HloModule:
    return HloModule("m", list(computations), computations[-1], Attributes(attributes))


def foreign_operand(bad: bool) -> HloModule:
    """An operand of another computation."""
    x, y = _parameter("x"), _parameter("y")
    inner = HloComputation("f", [x, _negate(x)])
    return _module(inner, HloComputation("e", [y, _negate(x if bad else y, "r")]))


def unlisted_instruction(bad: bool) -> HloModule:
    """An operand that its computation does not list."""
    x = _parameter()
    n = _negate(x)
    r = _negate(n, "r")
    return _module(HloComputation("e", [x, r] if bad else [x, n, r]))


def unlisted_computation(bad: bool) -> HloModule:
    """A callee that the module does not list."""
    x, y = _parameter("x"), _parameter("y")
    inner = HloComputation("f", [x, _negate(x)])
    call = HloInstruction("r", "call", F32, (y,), Attributes({"to_apply": inner}))
    entry = HloComputation("e", [y, call])
    return _module(entry) if bad else _module(inner, entry)


def recursion(bad: bool) -> HloModule:
    """A computation that calls itself."""
    x, y, z = _parameter("x"), _parameter("y"), _parameter("z")
    other = HloComputation("g", [z, _negate(z, "o")])
    inner = HloComputation("f", [x])
    call = HloInstruction("c", "call", F32, (x,), Attributes({"to_apply": inner if bad else other}))
    inner.instructions.append(call)
    inner.root = call
    outer = HloInstruction("r", "call", F32, (y,), Attributes({"to_apply": inner}))
    return _module(other, inner, HloComputation("e", [y, outer]))


def repeated_in_schedule(bad: bool) -> HloModule:
    """An instruction that stands in the sequence twice."""
    x = _parameter()
    n = _negate(x)
    r = _negate(n, "r")
    return _module(HloComputation("e", [x, n, n, r] if bad else [x, n, r]), is_scheduled=True)


def missing_in_schedule(bad: bool) -> HloModule:
    """A sequence that leaves out an operand."""
    module = unlisted_instruction(bad)
    module.attributes = Attributes({"is_scheduled": True})
    return module


def operand_after_user(bad: bool) -> HloModule:
    """A sequence in which an operand follows its user."""
    x = _parameter()
    n = _negate(x)
    r = _negate(n, "r")
    return _module(HloComputation("e", [x, r, n] if bad else [x, n, r], r), is_scheduled=True)


def predecessor_after_successor(bad: bool) -> HloModule:
    """A sequence in which a control predecessor follows its successor."""
    x = _parameter()
    n = _negate(x)
    r = HloInstruction("r", "negate", F32, (x,), Attributes({"control-predecessors": (n,)}))
    return _module(HloComputation("e", [x, r, n] if bad else [x, n, r], r), is_scheduled=True)


def fused_parameter_elsewhere(bad: bool) -> HloModule:
    """A fused computation that uses the parameter of its caller."""
    x, y = _parameter("x"), _parameter("y")
    fused = HloComputation("f", [y, _negate(x if bad else y)])
    fusion = HloInstruction("r", "fusion", F32, (x,), Attributes({"kind": "kLoop", "calls": fused}))
    return _module(fused, HloComputation("e", [x, fusion]))


def used_outside_fusion(bad: bool) -> HloModule:
    """An instruction of a fused computation with a user outside."""
    x, y = _parameter("x"), _parameter("y")
    inner = _negate(y)
    fused = HloComputation("f", [y, inner])
    fusion = HloInstruction("q", "fusion", F32, (x,), Attributes({"kind": "kLoop", "calls": fused}))
    root = HloInstruction("r", "add", F32, (fusion, inner if bad else x))
    return _module(fused, HloComputation("e", [x, fusion, root]))


def cyclic_update(bad: bool) -> HloModule:
    """An async-update that is its own producer."""
    x, y = _parameter("x"), _parameter("y")
    wrapped = HloComputation("w", [y, _negate(y)])
    state = Shape.tuple(Shape.tuple(F32), F32, Shape.array("u32"))
    start = HloInstruction("s", "async-start", state, (x,), Attributes({"calls": wrapped}))
    update = HloInstruction("u", "async-update", state, (start,))
    done = HloInstruction("d", "async-done", F32, (update,))
    if bad:
        update.operands = (update,)
        return _module(wrapped, HloComputation("e", [x, update, done]))
    return _module(wrapped, HloComputation("e", [x, start, update, done]))


BUILT: dict[str, Callable[[bool], HloModule]] = {f.__name__: f for f in (
    foreign_operand, unlisted_instruction, unlisted_computation, recursion, repeated_in_schedule, missing_in_schedule,
    operand_after_user, predecessor_after_successor, fused_parameter_elsewhere, used_outside_fusion, cyclic_update)}
