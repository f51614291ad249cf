"""Verification of send and recv: one completion each, equal ends, and (in schedules) no waiting for each other."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.diagnostics import Diagnostic
from hlotool.ir import FrontendAttributes, HloComputation, HloInstruction, HloModule
from hlotool.ops import SOURCE_TARGET_PAIRS, circle_of, pairs_of
from hlotool.passes.codes import ASYNC_SOURCE, ASYNC_USE, CHANNEL_PAIR, CHANNEL_SHARED, CHANNEL_USE, DEADLOCK
from hlotool.passes.contents import Contents
from hlotool.passes.instruction_findings import report

_OPENING = frozenset({"send", "recv"})
_CLOSING = frozenset({"send-done", "recv-done"})
_COLLECTIVES = ("all-", "collective-", "reduce-scatter", "ragged-all-to-all")

Pairs = tuple[tuple[int, int], ...]


def verify_channels(module: HloModule, contents: Contents, scheduled: bool) -> Iterator[Diagnostic]:
    """Report faults of sends and recvs. Source: XLA, hlo_verifier.cc, VerifyChannels."""
    if contents.opcodes.isdisjoint(_OPENING | _CLOSING):
        return
    async_bodies = {c for i in contents.of(("async-start",)) for c in i.called_computations()}
    hosts: dict[tuple[str, object], HloInstruction] = {}
    for computation in module.computations:
        ends = [i for i in computation.instructions if i.opcode in _OPENING or i.opcode in _CLOSING]
        if not ends:
            continue
        users = computation.users()
        for instruction in ends:
            if instruction.opcode in _CLOSING:
                yield from _closing(module, instruction)
                continue
            if not (instruction is computation.root and computation in async_bodies):
                yield from _users(module, instruction, users.get(instruction, []))
            yield from _host(module, instruction, hosts)
        if scheduled:
            yield from _deadlock(module, computation)


def _users(module: HloModule, instruction: HloInstruction, found: list[HloInstruction]) -> Iterator[Diagnostic]:
    done = f"{instruction.opcode}-done"
    if len(found) != 1:
        yield report(module, instruction, CHANNEL_USE,
                     f"{instruction.name} has {len(found)} users; it has exactly one, {done}")
    elif found[0].opcode not in (done, "tuple"):
        yield report(module, found[0], ASYNC_USE, f"{instruction.name} is under way; {found[0].opcode} cannot use it")


def _closing(module: HloModule, instruction: HloInstruction) -> Iterator[Diagnostic]:
    opening = instruction.opcode.removesuffix("-done")
    for operand in instruction.operands[:1]:
        if operand.opcode == opening:
            yield from _ends(module, instruction, operand)
        elif operand.opcode not in (*_OPENING, "get-tuple-element", "parameter"):
            yield report(module, instruction, ASYNC_SOURCE, f"the operand {operand.name} is {operand.opcode}; it must "
                         f"be {opening}")


def _ends(module: HloModule, done: HloInstruction, start: HloInstruction) -> Iterator[Diagnostic]:
    for name, default in (("channel_id", None), ("is_host_transfer", False)):
        a, b = start.attributes.get(name, default), done.attributes.get(name, default)
        if a != b:
            yield report(module, done, CHANNEL_PAIR, f"{name} is {b} here and {a} at {start.name}", part=name)
            return


def _host(module: HloModule, instruction: HloInstruction,
          seen: dict[tuple[str, object], HloInstruction]) -> Iterator[Diagnostic]:
    channel = instruction.attributes.get("channel_id")
    if channel is None or not instruction.attributes.get("is_host_transfer"):
        return
    first = seen.setdefault((instruction.opcode, channel), instruction)
    if first.shape is not None and instruction.shape is not None and not first.shape.compatible(instruction.shape):
        yield report(module, instruction, CHANNEL_SHARED, f"channel {channel} carries "
                     f"{first.shape.text(False)} at {first.name}, {instruction.shape.text(False)} here")
        return
    for name in sorted({*first.attributes, *instruction.attributes} - {"control-predecessors"}):
        if first.attributes.get(name) != instruction.attributes.get(name):
            yield report(module, instruction, CHANNEL_SHARED, f"{name} is not what it is at {first.name}, which is on "
                         f"channel {channel} too", part=name)
            return


def _named_pairs(instruction: HloInstruction) -> Pairs | None:
    """Return the pairs of source and target; None where no frontend attribute names them."""
    held = instruction.attributes.get("frontend_attributes")
    is_named = isinstance(held, FrontendAttributes) and held.get(SOURCE_TARGET_PAIRS) is not None
    return pairs_of(held) if is_named else None


def _deadlock(module: HloModule, computation: HloComputation) -> Iterator[Diagnostic]:
    """The first reason why the sequence waits forever. Source: XLA, hlo_verifier.cc, VerifyNoCollectiveDeadlocks."""
    opened: list[tuple[HloInstruction, Pairs]] = []
    for instruction in computation.instructions:
        pairs = _named_pairs(instruction) if instruction.opcode in _OPENING else None
        if pairs is not None:
            message = _bad_pairs(pairs)
            opcode = instruction.opcode
            partner = next((k for k, (o, p) in enumerate(opened) if o.opcode != opcode and p == pairs), None)
            rival = next((o for o, p in opened if o.opcode == opcode and set(p) & set(pairs)), None)
            if not message and partner is None and rival is not None:
                message = f"{rival.name} of the same devices is not met by its partner yet"
            if message:
                yield report(module, instruction, DEADLOCK, message)
                return
            if partner is None:
                opened.append((instruction, pairs))
            else:
                del opened[partner]
        elif opened and instruction.opcode.startswith(_COLLECTIVES) and not instruction.opcode.endswith("-done"):
            yield report(module, instruction, DEADLOCK, f"{opened[0][0].name} has no partner yet: devices would wait "
                         f"for each other here")
            return
    if opened and computation is module.entry:
        yield report(module, opened[0][0], DEADLOCK, f"{opened[0][0].name} has no partner")


def _bad_pairs(pairs: Pairs) -> str:
    for number, what in ((0, "source"), (1, "target")):
        ends = [p[number] for p in pairs]
        twice = next((e for i, e in enumerate(ends) if e in ends[:i]), None)
        if twice is not None:
            return f"{twice} is a {what} twice"
    start = circle_of(pairs)
    return "" if start is None else f"the pairs lead from {start} back to {start}"
