"""The rule about sums that are kept in a narrow type although their parts are wide."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir import HloComputation, HloInstruction
from hlotool.passes.lints.numerics import is_narrow
from hlotool.passes.lints.rule import Finding, rule
from hlotool.passes.lints.view import View

#: operations that give sums in a wide type
_SUMS = frozenset({"dot", "convolution", "reduce", "reduce-window", "all-reduce", "reduce-scatter"})
_PASSED = frozenset({"copy", "bitcast", "reshape", "transpose", "broadcast", "opt-barrier"})


@rule("W314", "narrow-accumulator", on=("while",))
def narrow_accumulator(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A sum that a loop keeps in 16 bits.

    What it does
        Finds places of a loop's state that are narrow floats and to which each iteration adds: the body's next value
        is the old one plus another that does not depend on it. Where what is added was computed as a wide sum and
        narrowed, that is said.

    Why
        A bf16 number has 8 digits: once the sum is 256 times as large as what is added, nothing is added any more.
        Gradients that are accumulated over micro-batches, and running sums in scans, stop growing. The accumulator
        can be f32 and be narrowed after the loop.

    Bad
        cond { s = (s32[], bf16[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(64)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[], bf16[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1)  j = s32[] add(i, one)
               sum = bf16[8] get-tuple-element(s), index=1
               part = bf16[8] broadcast(bf16[] convert(i)), dimensions={}
               more = bf16[8] add(sum, part)  ROOT t = (s32[], bf16[8]) tuple(j, more) }
        ENTRY main { i = s32[] constant(0)  x = bf16[8] parameter(0)  t = (s32[], bf16[8]) tuple(i, x)
                     w = (s32[], bf16[8]) while(t), condition=cond, body=body
                     ROOT r = bf16[8] get-tuple-element(w), index=1 }

    Good
        cond { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(64)  ROOT p = pred[] compare(i, n), direction=LT }
        body { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               one = s32[] constant(1)  j = s32[] add(i, one)
               sum = f32[8] get-tuple-element(s), index=1
               part = f32[8] broadcast(f32[] convert(i)), dimensions={}
               more = f32[8] add(sum, part)  ROOT t = (s32[], f32[8]) tuple(j, more) }
        ENTRY main { i = s32[] constant(0)  x = f32[8] parameter(0)  t = (s32[], f32[8]) tuple(i, x)
                     w = (s32[], f32[8]) while(t), condition=cond, body=body
                     ROOT r = f32[8] get-tuple-element(w), index=1 }

    Source
        JAX, jax.lax.scan; IEEE 754, rounding
    """
    body = instruction.attributes.get("body")
    if not isinstance(body, HloComputation) or body.root.opcode != "tuple" or len(body.parameters()) != 1:
        return
    for place, update in enumerate(body.root.operands):
        if update.shape.is_array and is_narrow(update.shape.element_type) \
                and (part := _added(view, update, place)) is not None:
            kind = update.shape.element_type
            wide = _wide(view, part)
            told = f"; {wide.name} gives {wide.shape.element_type}, and is narrowed first" if wide else ""
            yield Finding(update, f"place {place} of {instruction.name}'s state is summed up in {kind}{told}",
                          help="keep the sum in f32, and convert it after the loop")


def _added(view: View, update: HloInstruction, place: int) -> HloInstruction | None:
    """What the body adds to the old value of a place; None where the next value is no such sum."""
    total = update
    while total.opcode in ("copy", "bitcast"):
        total = total.operands[0]
    rounded = total.opcode == "convert" and total.operands[0].opcode == "add"  # as backends write a bf16 addition
    total = total.operands[0] if rounded else total
    if total.opcode != "add":
        return None
    for one, part in (total.operands, total.operands[::-1]):
        old = one
        while old.opcode in ("copy", "bitcast", "convert"):
            old = old.operands[0]
        if old.opcode == "get-tuple-element" and old.operands[0].opcode == "parameter" \
                and old.attributes["index"] == place and view.constant(part) is None and not _reads(part, place):
            return part
    return None


def _reads(value: HloInstruction, place: int) -> bool:
    """Whether a value of a body depends on a place of the state: x + f(x), as residual networks have it, is no sum."""
    seen, stack = {value}, [value]
    while stack:
        at = stack.pop()
        if at.opcode == "parameter" or (at.opcode == "get-tuple-element" and at.operands[0].opcode == "parameter"
                                        and at.attributes["index"] == place):
            return True
        if at.opcode != "get-tuple-element" or at.operands[0].opcode != "parameter":
            stack += [o for o in at.operands if o not in seen]
            seen.update(at.operands)
    return False


def _wide(view: View, part: HloInstruction) -> HloInstruction | None:
    """The wide sum that is narrowed before it is added."""
    while part.opcode in _PASSED:
        part = part.operands[0]
    if part.opcode != "convert":
        return None
    source = view.origin(part.operands[0])
    return source if source.opcode in _SUMS and source.shape.is_array and source.shape.element_type == "f32" else None
