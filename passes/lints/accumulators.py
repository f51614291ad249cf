"""Rules about folds: the types that they add up in, where they begin, and reducers that are none."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hlotool.diagnostics import Severity
from hlotool.ir import HloComputation, HloInstruction
from hlotool.ops import OPS, Freedom, Op, binary_opcode, flow_of, freedom_of, opcodes, source_of, value_of
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.numerics import is_narrow
from hlotool.passes.lints.rule import Finding, rule
from hlotool.passes.loop_states import place_read


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
    """Return the value that the body adds to the old one of a place; None where the next value is no such sum."""
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
        if place_read(old) == place and view.constant(part) is None and not _reads(part, place):
            return part
    return None


def _reads(value: HloInstruction, place: int) -> bool:
    """Return True if a value of a body depends on a place of the state: x + f(x) of residual networks is no sum."""
    seen, stack = {value}, [value]
    while stack:
        at = stack.pop()
        read = place_read(at)
        if at.opcode == "parameter" or read == place:
            return True
        if read is None:
            stack += [o for o in at.operands if o not in seen]
            seen.update(at.operands)
    return False


def _wide(view: View, part: HloInstruction) -> HloInstruction | None:
    """Return the wide sum that is narrowed before it is added."""
    part = source_of(part, lambda flow: flow.repeats)
    if part.opcode != "convert":
        return None
    source = view.origin(part.operands[0])
    is_sum = freedom_of(source) is Freedom.SUMS or flow_of(source).folds
    return source if is_sum and source.shape.is_array and source.shape.element_type == "f32" else None


#: operations that fold many elements into one with a computation
_FOLDS = tuple(sorted(opcodes(lambda flow: flow.folds)))


@rule("W304", "narrow-reduction", on=("reduce", "reduce-window"), in_fusions=True)
def narrow_reduction(view: View, instruction: HloInstruction, *, elements: int = 256) -> Iterator[Finding]:
    """A long sum that is accumulated in 16 bits or less.

    What it does
        Finds reductions by addition or multiplication of at least `elements` bf16, f16 or narrower elements each.

    Why
        A bf16 sum of ones stops growing at 256, an f16 sum at 2048: what is added is less than half of the last
        digit. Means, norms and losses come out wrong by percents.

    Bad
        add { a = bf16[] parameter(0)  b = bf16[] parameter(1)  ROOT s = bf16[] add(a, b) }
        ENTRY main {
          x = bf16[4096] parameter(0)
          zero = bf16[] constant(0)
          ROOT y = bf16[] reduce(x, zero), dimensions={0}, to_apply=add
        }

    Good
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main {
          x = bf16[4096] parameter(0)
          wide = f32[4096] convert(x)
          zero = f32[] constant(0)
          sum = f32[] reduce(wide, zero), dimensions={0}, to_apply=add
          ROOT y = bf16[] convert(sum)
        }

    Source
        XLA, bf16 normalization; IEEE 754, rounding
    """
    if not instruction.shape.is_array or not is_narrow(instruction.shape.element_type):
        return
    operand = instruction.operands[0].shape
    if instruction.opcode == "reduce":
        count = math.prod(operand.dims[d] for d in value_of(instruction, "dimensions"))
    else:
        count = math.prod(d.size for d in value_of(instruction, "window").dimensions)
    if binary_opcode(instruction.attributes["to_apply"]) in ("add", "multiply") and count >= elements:
        yield Finding(instruction, f"{count} elements are accumulated in {instruction.shape.element_type}",
                      help="convert to f32 first, and back after")


@rule("W305", "narrow-all-reduce", on=("all-reduce", "all-reduce-start", "reduce-scatter"), severity=Severity.INFO,
      default_on=False)
def narrow_all_reduce(view: View, instruction: HloInstruction, *, devices: int = 8) -> Iterator[Finding]:
    """A sum over devices in 16 bits or less.

    What it does
        Finds all-reduces and reduce-scatters by addition of narrow floats over groups of at least `devices` devices.

    Why
        Each step around the ring rounds. Off by default: half the traffic is often worth a digit.

    Bad
        HloModule m, replica_count=8
        add { a = bf16[] parameter(0)  b = bf16[] parameter(1)  ROOT s = bf16[] add(a, b) }
        ENTRY main { x = bf16[64] parameter(0)
          ROOT y = bf16[64] all-reduce(x), replica_groups={{0,1,2,3,4,5,6,7}}, to_apply=add }

    Good
        HloModule m, replica_count=8
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = bf16[64] parameter(0)  w = f32[64] convert(x)
          s = f32[64] all-reduce(w), replica_groups={{0,1,2,3,4,5,6,7}}, to_apply=add
          ROOT y = bf16[64] convert(s) }

    Source
        XLA, all_reduce_promotion.cc
    """
    sizes = view.group_sizes(instruction)
    operand = instruction.operands[0].shape
    if operand.is_array and is_narrow(operand.element_type) and sizes and max(sizes) >= devices \
            and binary_opcode(instruction.attributes["to_apply"]) == "add":
        yield Finding(instruction, f"{operand.element_type} is summed over {max(sizes)} devices",
                      help="convert to f32 first, and back after")


def _reducer(fold: HloInstruction) -> Op | None:
    """Return the operation that is all of what a fold applies; None where it applies more, or another one."""
    found: Op | None = OPS.get(binary_opcode(fold.attributes.get("scatter") or fold.attributes.get("to_apply")))
    return found


@rule("W307", "non-associative-reducer", on=_FOLDS, in_fusions=True)
def non_associative_reducer(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A reduction by an operation whose order matters.

    What it does
        Finds reductions whose computation is one operation of its two parameters, and that operation is not
        associative: subtract, divide, power, remainder, shifts.

    Why
        The order in which a reduction combines elements is not defined. The result depends on the backend, on the
        number of threads, and on the sizes.

    Bad
        sub { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] subtract(a, b) }
        ENTRY main {
          x = f32[64] parameter(0)
          zero = f32[] constant(0)
          ROOT y = f32[] reduce(x, zero), dimensions={0}, to_apply=sub
        }

    Good
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main {
          x = f32[64] parameter(0)
          zero = f32[] constant(0)
          sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
          ROOT y = f32[] negate(sum)
        }

    Source
        XLA Operation Semantics, Reduce
    """
    if instruction.opcode == "scan" and not instruction.attributes.get("is_associative"):
        return
    record = _reducer(instruction)
    if record is not None and "associative" not in record.flags and "elementwise" in record.flags:
        yield Finding(instruction, f"{record.opcode} is not associative, and the order of a reduction is not defined",
                      help="add up and negate, multiply and invert, or loop")


@rule("W308", "wrong-initial-value", on=("reduce", "reduce-window", "select-and-scatter"), in_fusions=True)
def wrong_initial_value(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A reduction that starts from something else than the operation's neutral element.

    What it does
        Finds reductions by one operation (add, multiply, maximum, minimum, and, or, xor) whose initial value is a
        constant that this operation does not leave alone.

    Why
        The initial value may enter once for each thread, window or partial result, so the value is not defined. A
        maximum that starts from 0 is never negative, which is seldom meant.

    Bad
        max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT m = f32[] maximum(a, b) }
        ENTRY main {
          x = f32[64] parameter(0)
          low = f32[] constant(0)
          ROOT y = f32[] reduce(x, low), dimensions={0}, to_apply=max
        }

    Good
        max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT m = f32[] maximum(a, b) }
        ENTRY main {
          x = f32[64] parameter(0)
          low = f32[] constant(-inf)
          ROOT y = f32[] reduce(x, low), dimensions={0}, to_apply=max
        }

    Source
        StableHLO specification, reduce
    """
    record = _reducer(instruction)
    if record is None or record.identity is None or "commutative" not in record.flags:
        return
    initial = instruction.operands[-1]
    if not initial.shape.is_array or initial.shape.dtype.is_complex or len(instruction.operands) > 3:
        return
    value, neutral = view.constant(initial), record.identity(initial.shape.dtype)
    if value is None or value == neutral or _is_lowest(initial, value, record.opcode):
        return
    yield Finding(instruction, f"the {record.opcode} starts from {value:g}; what changes nothing is {neutral}",
                  help=f"start from {neutral}, and apply {value:g} after")


def _is_lowest(initial: HloInstruction, value: float, opcode: str) -> bool:
    """The least finite float does for a maximum where infinities are not meant, the greatest for a minimum."""
    kind = initial.shape.dtype
    if not kind.is_floating or opcode not in ("maximum", "minimum"):
        return False
    limit = 2.0 ** (2 ** (kind.exponent_bits - 1) - 1) if kind.exponent_bits < 11 else 1e300
    return value < -limit / 4 if opcode == "maximum" else value > limit / 4
