"""Verification of asynchronous operations: what is started is awaited once, by what fits it."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.diagnostics import Diagnostic
from hlotool.ir import Aliasing, FrontendAttributes, HloComputation, HloInstruction, HloModule, Shape
from hlotool.ops import ASYNC_STEPS, OPS, AsyncStep, opcodes
from hlotool.passes.codes import (
    ASYNC_ALIASING,
    ASYNC_BODY,
    ASYNC_OPEN,
    ASYNC_SOURCE,
    ASYNC_USE,
    THREAD,
    WRONG_SHAPE,
)
from hlotool.passes.contents import Contents
from hlotool.passes.instruction_findings import SHAPE_PART, report
from hlotool.passes.verify.async_chains import Chains
from hlotool.passes.verify.call_checks import MAIN, thread_of

#: starts that have exactly one user, their own done
_PAIRED = opcodes(lambda flow: flow.step is AsyncStep.START and not flow.acts and not flow.enters)
#: operations that may forward a value in flight
_CARRIERS = opcodes(lambda flow: flow.packs or flow.forwards or (flow.branches_off and flow.step is None)) | {
    "parameter"}
_CARRIER_TARGETS = frozenset({
    "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"})
#: a custom call that only orders
_CONTROL = "control_dep"

Users = dict[HloInstruction, list[HloInstruction]]


def step_of(opcode: str) -> tuple[str, str]:
    """("negate", "start") for negate-start; the step is "" for what is no link of an asynchronous chain."""
    base, _, step = opcode.rpartition("-")
    is_link = step in ("start", "update", "done") and f"{base}-start" not in _PAIRED and base not in ("send", "recv")
    return (base, step) if is_link and base else (opcode, "")


def verify_async(module: HloModule, contents: Contents) -> Iterator[Diagnostic]:
    """Report faults of asynchronous chains. Source: XLA, hlo_verifier.cc, VerifyAsynchronousInstructionPairs."""
    if not any(o.endswith(ASYNC_STEPS) for o in contents.opcodes):
        return
    carried: list[HloInstruction] = []
    for computation in module.computations:
        links = [i for i in computation.instructions if i.opcode.endswith(ASYNC_STEPS)]
        if links:
            users = computation.users()
            for instruction in links:
                yield from _link(module, computation, instruction, users)
            carried += filter(_is_carried, links)
    if carried:
        chains = Chains(module)
        for instruction in carried:
            yield from _one_start(module, instruction, chains)


def _is_carried(link: HloInstruction) -> bool:
    """Return True if what a link goes on with came to it through a tuple, a loop, a branch or a call."""
    return step_of(link.opcode)[1] in ("update", "done") and bool(link.operands) and _carries(link.operands[0])


def _one_start(module: HloModule, link: HloInstruction, chains: Chains) -> Iterator[Diagnostic]:
    """Whatever way was taken, the same operation is under way. Source: XLA, CheckAsyncOpComputation."""
    starts = chains.starts_of(link.operands[0])
    said = link.attributes.get("calls")
    for start in starts:
        runs = start.attributes.get("calls")
        other = next((s for s in starts if _runs(s) != _runs(start)), None)
        if other is not None:
            yield report(module, link, ASYNC_SOURCE, f"{link.operands[0].name} was started by {start.name} or by "
                         f"{other.name}, which run different operations")
            return
        if said is not None and runs is not None and said is not runs:
            yield report(module, link, ASYNC_SOURCE, f"{start.name} runs {runs.name}, this says {said.name}",
                         part="calls")
            return


def _runs(start: HloInstruction) -> object:
    """Return a key of the operation that a start runs: its computation, else its opcode."""
    calls = start.attributes.get("calls")
    return calls if isinstance(calls, HloComputation) else start.opcode


def _link(module: HloModule, computation: HloComputation, instruction: HloInstruction,
          users: Users) -> Iterator[Diagnostic]:
    opcode = instruction.opcode
    base, step = step_of(opcode)
    if opcode in _PAIRED:
        yield from _paired_start(module, computation, instruction, users)
    elif opcode.endswith("-done") and f"{opcode[:-5]}-start" in _PAIRED:
        yield from _paired_done(module, instruction)
    if not step:
        return
    if step != "done":
        yield from _in_flight(module, computation, instruction, users)
        yield from _aliasing(module, instruction, step)
    if step == "start":
        yield from _body(module, computation, instruction)
    elif instruction.operands:
        yield from _source(module, computation, instruction, base, step)


def _paired_start(module: HloModule, computation: HloComputation, instruction: HloInstruction,
                  users: Users) -> Iterator[Diagnostic]:
    done = instruction.opcode.removesuffix("start") + "done"
    found = [u for u in users.get(instruction, ()) if u.attributes.get("custom_call_target") != _CONTROL]
    others = [u for u in found if u.opcode != done]
    if others:
        yield report(module, others[0], ASYNC_USE, f"{instruction.name} is in flight; only {done} can take it")
    elif len(found) > 1:
        yield report(module, found[1], ASYNC_OPEN, f"{instruction.name} is awaited by {found[0].name} already")
    elif not found and _ends_here(module, computation, instruction):
        yield report(module, instruction, ASYNC_OPEN, f"there is no {done} of {instruction.name}")


def _paired_done(module: HloModule, instruction: HloInstruction) -> Iterator[Diagnostic]:
    start = instruction.opcode.removesuffix("done") + "start"
    for operand in instruction.operands[:1]:
        if operand.opcode != start:
            yield report(module, instruction, ASYNC_SOURCE,
                         f"the operand {operand.name} is {operand.opcode}; it must be {start}")


def _in_flight(module: HloModule, computation: HloComputation, instruction: HloInstruction,
               users: Users) -> Iterator[Diagnostic]:
    found = users.get(instruction, [])
    steps = [u for u in found if step_of(u.opcode)[1] in ("update", "done")]
    for user in found:
        if user in steps:
            if user.operands[0] is not instruction:
                yield report(module, user, ASYNC_USE, f"{instruction.name} is in flight; it must be the first operand")
        elif user.opcode not in _CARRIERS and user.attributes.get("custom_call_target") not in _CARRIER_TARGETS:
            yield report(module, user, ASYNC_USE, f"{instruction.name} is in flight; {user.opcode} cannot use it")
            return
    dones = [u for u in steps if u.opcode.endswith("-done")]
    if len(dones) > 1:
        yield report(module, dones[1], ASYNC_OPEN, f"{instruction.name} is awaited by {dones[0].name} already")
    elif not found and _ends_here(module, computation, instruction):
        yield report(module, instruction, ASYNC_OPEN, f"nothing awaits {instruction.name}")


def _ends_here(module: HloModule, computation: HloComputation, instruction: HloInstruction) -> bool:
    """Return True if nobody can await an unused value: a root goes to the caller, which the entry has not."""
    return instruction is not computation.root or computation is module.entry


def _source(module: HloModule, computation: HloComputation, instruction: HloInstruction, base: str,
            step: str) -> Iterator[Diagnostic]:
    before = instruction.operands[0]
    started, link = step_of(before.opcode)
    if link in ("start", "update"):
        yield from _agreement(module, instruction, before, base, started)
        if step == "done":
            yield from _unbound(module, instruction)
            yield from _result(module, instruction)
        else:
            yield from _too_many(module, instruction)
    elif link == "done" or not _carries(before) or (before.opcode == "parameter" and computation is module.entry):
        yield report(module, instruction, ASYNC_SOURCE,
                     f"the operand {before.name} is {before.opcode}, which starts nothing")


def _carries(instruction: HloInstruction) -> bool:
    return instruction.opcode == "custom-call" or instruction.opcode in _CARRIERS - {"tuple"}


def _agreement(module: HloModule, instruction: HloInstruction, before: HloInstruction, base: str,
               started: str) -> Iterator[Diagnostic]:
    given, wanted = instruction.attributes.get("calls"), before.attributes.get("calls")
    if base != started and "async" not in (base, started):
        yield report(module, instruction, ASYNC_SOURCE, f"{before.name} starts {started}, this is {instruction.opcode}")
    elif given is not None and wanted is not None and given is not wanted:
        yield report(module, instruction, ASYNC_SOURCE, f"{before.name} runs {wanted.name}, this says {given.name}",
                     part="calls")
    else:
        yield from _contradiction(module, instruction, base)


def _contradiction(module: HloModule, instruction: HloInstruction, base: str) -> Iterator[Diagnostic]:
    """A later link does not say again what its start says, or says the same. Source: XLA, hlo_parser.cc."""
    start = _start_of(instruction)
    wrapped = () if base not in OPS else tuple(a.name for a in OPS[base].attributes)
    for name in ("async_execution_thread", "async_group_id", *wrapped):
        said = instruction.attributes.get(name)
        told = start.attributes.get(name, MAIN if name == "async_execution_thread" else None)
        if said is not None and not isinstance(said, HloComputation) and said != told:
            yield report(module, instruction, THREAD if name == "async_execution_thread" else ASYNC_SOURCE,
                         f"{name} is {said} here and {told} at {start.name}", part=name)
            return


def _start_of(link: HloInstruction) -> HloInstruction:
    """Return the beginning of the chain of updates that a link goes on with."""
    start = link.operands[0]
    while step_of(start.opcode)[1] == "update" and start.operands:
        start = start.operands[0]
    return start


def _started_by(done: HloInstruction) -> HloComputation | None:
    """Return the computation that the async-start at the beginning of the chain names, where there is one."""
    start = _start_of(done)
    calls = start.attributes.get("calls")
    return calls if start.opcode == "async-start" and isinstance(calls, HloComputation) else None


def _unbound(module: HloModule, done: HloInstruction) -> Iterator[Diagnostic]:
    start, last = _start_of(done), done.operands[0]
    base = step_of(start.opcode)[0]
    called = start.attributes.get("to_apply" if base == "call" else "calls") if base in ("async", "call", "fusion") \
        else None
    calls = called if isinstance(called, HloComputation) else None
    if calls is None and (base in ("async", "call", "fusion") or base not in OPS):
        return
    wanted = len(calls.parameters()) if calls is not None else len(OPS[base].operands) - OPS[base].is_variadic
    if last.shape is not None and last.shape.is_tuple and last.shape.elements \
            and len(last.shape.elements[0].elements) < wanted:
        name = calls.name if calls is not None else base
        yield report(module, done, ASYNC_SOURCE, f"{name} takes {wanted} operand{'s' * (wanted != 1)}, "
                     f"{len(last.shape.elements[0].elements)} are bound by now", help="bind the rest with async-update")


def _too_many(module: HloModule, update: HloInstruction) -> Iterator[Diagnostic]:
    calls = _started_by(update)
    if calls is None or update.shape is None or not update.shape.elements:
        return
    wanted, bound = len(calls.parameters()), len(update.shape.elements[0].elements)
    if bound > wanted:
        yield report(module, update, ASYNC_SOURCE, f"{calls.name} takes {wanted} operands, {bound} are bound here")


def _result(module: HloModule, done: HloInstruction) -> Iterator[Diagnostic]:
    """Compare the result of an async-done with that of the computation at the start of its chain."""
    calls = _started_by(done)
    if calls is None or calls.root is None:
        return
    given, written = calls.root.shape, done.shape
    if given is None or written is None:
        return
    if not written.agrees(given) and not written.agrees(Shape.tuple(given)):
        yield report(module, done, WRONG_SHAPE, f"{calls.name} gives {given.text(False)}, but "
                     f"{written.text(False)} is written", part=SHAPE_PART, help=f"write {given.text(False)}")


def _body(module: HloModule, computation: HloComputation, start: HloInstruction) -> Iterator[Diagnostic]:
    calls = start.attributes.get("calls")
    if start.opcode != "async-start" or not isinstance(calls, HloComputation) or calls.root is None:
        return
    thread = str(start.attributes.get("async_execution_thread", MAIN))
    written = thread_of(calls, {calls: thread})
    if thread != written:
        yield report(module, start, THREAD, f"async_execution_thread is {thread}, {calls.name} runs on {written}")
    entries = start.attributes.get("frontend_attributes")
    is_group = isinstance(entries, FrontendAttributes) and any("collectives_group" in k for k, _ in entries.entries)
    if thread != MAIN or is_group:
        return
    for inner in calls.instructions:
        if inner.opcode not in ("parameter", "get-tuple-element") and inner is not calls.root:
            yield report(module, inner, ASYNC_BODY,
                         f"{calls.name} is started asynchronously on the main thread; it may hold one operation only")
            return


def _aliasing(module: HloModule, instruction: HloInstruction, step: str) -> Iterator[Diagnostic]:
    for pair in instruction.attributes.get("output_to_operand_aliasing") or ():
        if isinstance(pair, Aliasing) and instruction.shape is not None:
            message = _pair(instruction, pair, step)
            if message:
                yield report(module, instruction, ASYNC_ALIASING, message, part="output_to_operand_aliasing")
                return


def _pair(instruction: HloInstruction, pair: Aliasing, step: str) -> str:
    if step == "update":
        operands = [o.shape for o in instruction.operands[:1]]
    else:
        calls = instruction.attributes.get("calls")
        is_known = isinstance(calls, HloComputation) and instruction.opcode == "async-start"
        sources = calls.parameters() if is_known and calls is not None else instruction.operands
        operands = [o.shape for o in sources]
    if not 0 <= pair.parameter < len(operands):
        return f"output_to_operand_aliasing names operand {pair.parameter}; there are {len(operands)} to name"
    inside, outside = operands[pair.parameter].at(pair.parameter_index), instruction.shape.at(pair.output_index)
    if inside is None or outside is None or not pair.output_index:
        return (f"output_to_operand_aliasing pairs output {list(pair.output_index)} with index "
                f"{list(pair.parameter_index)} of operand {pair.parameter}, which do not both exist")
    if step == "update" and min(pair.output_index[0], *pair.parameter_index[:1]) < 2:
        return "output_to_operand_aliasing of an update pairs contexts only, which begin at index 2"
    is_deferred = outside.is_tuple and not outside.elements  # results that a later update brings
    if not is_deferred and not inside.bare.compatible(outside.bare):
        return f"output_to_operand_aliasing pairs {outside.text(False)} with {inside.text(False)}"
    return ""
