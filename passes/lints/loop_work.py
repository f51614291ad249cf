"""Rules about what loops do in every turn although once, or outside, would do."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir import HloComputation, HloInstruction
from hlotool.ops import Calls, Freedom, flow_of, opcodes, with_freedom
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.rule import Finding, rule
from hlotool.passes.loop_states import invariant_places, place_read

#: operations that are worth moving out of a loop
_EXPENSIVE = with_freedom(Freedom.SUMS, Freedom.BACKWARD) | {"sort", "reduce-window"} | opcodes(
    lambda flow: flow.exchanges and flow.step is None)


@rule("W210", "loop-invariant-work", on=("while",))
def loop_invariant_work(view: View, instruction: HloInstruction, *, bytes: int = 4096) -> Iterator[Finding]:
    """Expensive work in a loop that gives the same in each iteration.

    What it does
        Finds dots, convolutions, sorts, collectives, copies from and to the host's memory and the like of at least
        `bytes` bytes in loop bodies that depend only on values which the loop hands on unchanged.

    Why
        Once before the loop would do. Compilers hoist some of it, but not what is large or has effects on others.

    Bad
        cond { s = (s32[], f32[64,64], f32[64,64]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(10)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[], f32[64,64], f32[64,64]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1)  j = s32[] add(i, one)
               w = f32[64,64] get-tuple-element(s), index=1  x = f32[64,64] get-tuple-element(s), index=2
               d = f32[64,64] dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
               y = f32[64,64] add(x, d)  ROOT t = (s32[], f32[64,64], f32[64,64]) tuple(j, w, y) }
        ENTRY main { s = (s32[], f32[64,64], f32[64,64]) parameter(0)
                     ROOT l = (s32[], f32[64,64], f32[64,64]) while(s), condition=cond, body=body }

    Good
        cond { s = (s32[], f32[64,64], f32[64,64]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(10)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[], f32[64,64], f32[64,64]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1)  j = s32[] add(i, one)
               d = f32[64,64] get-tuple-element(s), index=1  x = f32[64,64] get-tuple-element(s), index=2
               y = f32[64,64] add(x, d)  ROOT t = (s32[], f32[64,64], f32[64,64]) tuple(j, d, y) }
        ENTRY main { s = (s32[], f32[64,64], f32[64,64]) parameter(0)
                     ROOT l = (s32[], f32[64,64], f32[64,64]) while(s), condition=cond, body=body }

    Source
        XLA, while_loop_invariant_code_motion.cc
    """
    body = instruction.attributes.get("body")
    if not isinstance(body, HloComputation) or body.root.opcode != "tuple" or len(view.callers.get(body, ())) != 1:
        return
    same = invariant_places(body)
    known: set[HloInstruction] = set()
    for inner in body.instructions:
        if (place := place_read(inner)) is not None:
            is_same = place in same
        else:
            is_same = inner.opcode == "constant" or (bool(inner.operands) and all(o in known for o in inner.operands))
        if is_same and not _may_vary(inner):
            known.add(inner)
            if (inner.opcode in _EXPENSIVE or _crosses(inner)) and view.bytes(inner.shape) >= bytes:
                yield Finding(inner, f"{inner.name} is the same in each iteration of {instruction.name}",
                              help="compute it before the loop")


def _may_vary(instruction: HloInstruction) -> bool:
    """Return True if an instruction may give something else each time, though its operands are the same."""
    flow = flow_of(instruction)
    return flow.varies or flow.calls in (Calls.LOOP, Calls.OPAQUE) or instruction.opcode == "parameter"


def _crosses(copy: HloInstruction) -> bool:
    """Return True if a copy takes an array from the host's memory to the device's, or back."""
    if copy.opcode not in ("copy", "copy-start") or not copy.operands[0].shape.is_array:
        return False
    result = copy.shape if copy.shape.is_array else copy.shape.elements[0]
    places = [s.memory_space for s in (copy.operands[0].shape, result)]
    return places[0] != places[1] and HOST_MEMORY in places


#: the memory space of the host; XLA: Layout::kHostMemorySpace
HOST_MEMORY = 5


@rule("W212", "host-transfer-in-loop", on=("infeed", "outfeed", "send", "recv", "custom-call"))
def host_transfer_in_loop(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A transfer to or from the host in each iteration of a loop.

    What it does
        Finds infeeds, outfeeds, host sends and receives, and calls of Python, in loops.

    Why
        The device waits for the host in each iteration.

    Bad
        cond { s = (s32[], token[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(10)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[], token[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1)  j = s32[] add(i, one)  k = token[] get-tuple-element(s), index=1
               o = token[] outfeed(j, k), outfeed_shape=s32[]  ROOT t = (s32[], token[]) tuple(j, o) }
        ENTRY main { s = (s32[], token[]) parameter(0)
                     ROOT l = (s32[], token[]) while(s), condition=cond, body=body }

    Good
        cond { s = (s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(10)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1)  j = s32[] add(i, one)  ROOT t = (s32[]) tuple(j) }
        ENTRY main { z = s32[] constant(0)  s = (s32[]) tuple(z)  k = token[] after-all()
                     l = (s32[]) while(s), condition=cond, body=body  i = s32[] get-tuple-element(l), index=0
                     ROOT o = token[] outfeed(i, k), outfeed_shape=s32[] }

    Source
        JAX, jax.debug.callback; XLA Operation Semantics, Infeed
    """
    opcode, given = instruction.opcode, instruction.attributes
    is_host = given.get("is_host_transfer") if opcode in ("send", "recv") else True
    if opcode == "custom-call":
        is_host = "python" in str(given.get("custom_call_target", ""))
    if is_host and view.computation in view.looped:
        yield Finding(instruction, "this waits for the host in each iteration", help="transfer before or after the "
                      "loop, or for many iterations at once")
