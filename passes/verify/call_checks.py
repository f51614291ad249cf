"""Verification of calls and fusions: execution threads, composites, what fused computations hold."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.diagnostics import Diagnostic, Severity
from hlotool.ir import FrontendAttributes, HloComputation, HloInstruction, HloModule
from hlotool.ops import ASYNC_STEPS, has_effect
from hlotool.passes.codes import (
    CALL_ALIASING,
    COMPOSITE,
    FUSED_ROOT_USED,
    FUSED_UNUSED,
    SEED,
    SHARED_FUSION,
    THREAD,
)
from hlotool.passes.contents import Contents
from hlotool.passes.instruction_findings import report

MAIN = "main"


#: execution threads that asynchronous starts give to computations
Threads = dict[HloComputation, str]


def thread_of(computation: HloComputation, started: Threads) -> str:
    """Return the execution thread of a computation: the written one, else that of the async-start that calls it."""
    return str(computation.attributes.get("execution_thread") or started.get(computation, MAIN))


def started_threads(contents: Contents) -> Threads:
    """Return the threads that starts give to the computations they call."""
    return {c: str(i.attributes.get("async_execution_thread") or MAIN)
            for i in contents.of(("async-start",)) for c in i.called_computations()}


def verify_calls(module: HloModule, contents: Contents) -> Iterator[Diagnostic]:
    """Report faults of calls, apart from shapes. Source: XLA, hlo_verifier.cc, InstructionVerifier."""
    fused: dict[HloComputation, HloInstruction] = {}
    started = started_threads(contents)
    for instruction in contents.of(("custom-call",)):
        yield from _seed(module, instruction)
    are_threads = bool(started) or any("execution_thread" in c.attributes for c in module.computations)
    for computation, calls in contents.calls.items():
        for instruction in calls:
            if are_threads and not instruction.opcode.endswith(ASYNC_STEPS):
                yield from _threads(module, computation, instruction, started)
            if instruction.opcode == "call":
                yield from _call(module, instruction)
            elif instruction.opcode == "fusion":
                yield from _fusion(module, instruction, instruction.called_computations()[0], fused)


def _threads(module: HloModule, caller: HloComputation, instruction: HloInstruction,
             started: Threads) -> Iterator[Diagnostic]:
    here = thread_of(caller, started)
    for callee in dict.fromkeys(instruction.called_computations()):
        there = thread_of(callee, started)
        if there != here:
            yield report(module, instruction, THREAD, f"{caller.name} runs on thread {here}, {callee.name} on {there}",
                         help="start it with async-start")


def _call(module: HloModule, instruction: HloInstruction) -> Iterator[Diagnostic]:
    if instruction.attributes.get("output_to_operand_aliasing"):
        yield report(module, instruction, CALL_ALIASING, "a call has no output_to_operand_aliasing",
                     part="output_to_operand_aliasing")
    if not instruction.attributes.get("is_composite"):
        return
    entries = instruction.attributes.get("frontend_attributes")
    message = _composite(entries) if isinstance(entries, FrontendAttributes) else "it has no frontend_attributes"
    if message:
        yield report(module, instruction, COMPOSITE, f"the call is a composite, but {message}")


def _composite(entries: FrontendAttributes) -> str:
    if not entries.get("composite.name"):
        return "composite.name is missing or empty"
    if entries.get("composite.attributes") == "":
        return "composite.attributes is empty"
    version = entries.get("composite.version")
    if version is not None and not version.isdecimal():
        return f"composite.version is {version!r}, which is no natural number"
    return ""


def _fusion(module: HloModule, instruction: HloInstruction, fused: HloComputation,
            seen: dict[HloComputation, HloInstruction]) -> Iterator[Diagnostic]:
    if fused in seen:
        yield report(module, instruction, SHARED_FUSION,
                     f"{seen[fused].name} fuses {fused.name} already; each fusion has a computation of its own")
        return
    seen[fused] = instruction
    users = fused.users()
    if users.get(fused.root):
        yield report(module, users[fused.root][0], FUSED_ROOT_USED,
                     f"{fused.root.name} is the root of {fused.name}, so nothing in it may use it")
        return
    for inner in fused.instructions:
        if inner is not fused.root and not users.get(inner) and not has_effect(inner):
            yield report(module, inner, FUSED_UNUSED, f"nothing in {fused.name} uses {inner.name}",
                         severity=Severity.WARNING)


def _seed(module: HloModule, instruction: HloInstruction) -> Iterator[Diagnostic]:
    if instruction.attributes.get("custom_call_target") == "GetRngSeed" and instruction.shape is not None and (
            instruction.operands or instruction.shape.text(False) != "u64[]"):
        yield report(module, instruction, SEED, f"GetRngSeed takes {len(instruction.operands)} operands and gives "
                     f"{instruction.shape.text(False)}; it takes none and gives u64[]")
