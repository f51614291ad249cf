"""Rules about precision: narrow types, lossy conversions, reductions that do not mean what they say."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hlotool.diagnostics import Severity
from hlotool.ir import DTYPES, HloComputation, HloInstruction, ReplicaGroups
from hlotool.ops import value_of
from hlotool.passes.lints.edits import bypassed, fix_of
from hlotool.passes.lints.identities import holds, same_value
from hlotool.passes.lints.rule import Finding, Fixability, rule
from hlotool.passes.lints.view import View

#: operations that fold many elements into one with a computation
FOLDS = ("reduce", "reduce-window", "all-reduce", "all-reduce-start", "reduce-scatter", "select-and-scatter", "scan")


def is_narrow(element_type: str) -> bool:
    """Floats of 16 bits and less."""
    dtype = DTYPES.get(element_type)
    return dtype is not None and dtype.is_floating and dtype.bits <= 16


@rule("W301", "narrow-dot", on=("dot", "convolution"), severity=Severity.INFO, default_on=False)
def narrow_dot(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A dot whose result is rounded to 16 bits or less.

    What it does
        Finds dots and convolutions of narrow floats whose result is as narrow: no preferred element type was asked
        for.

    Why
        The products are summed up in a wide accumulator on most machines; the sum is rounded at the end, and what
        follows works with three digits. Off by default: in the middle of a bf16 network that is what is meant.

    Bad
        ENTRY main {
          a = bf16[8,256] parameter(0)
          b = bf16[256,8] parameter(1)
          ROOT y = bf16[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        }

    Good
        ENTRY main {
          a = bf16[8,256] parameter(0)
          b = bf16[256,8] parameter(1)
          ROOT y = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        }

    Source
        StableHLO specification, dot_general: accumulation_type
    """
    if instruction.shape.is_array and is_narrow(instruction.shape.element_type) and all(
            is_narrow(o.shape.element_type) for o in instruction.operands[:2]):
        yield Finding(instruction, f"the sums are rounded to {instruction.shape.element_type}",
                      help="let the result be f32 (preferred_element_type)")


@rule("W302", "rounded-dot", on=("convert",))
def rounded_dot(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A dot that is rounded to a narrow type and then widened again.

    What it does
        Finds converts to a wider float of a dot or convolution that gives a narrow one.

    Why
        The sums have been accumulated in a wide type, rounded, and widened: digits are lost for nothing. The dot can
        give the wide type itself.

    Bad
        ENTRY main {
          a = bf16[8,256] parameter(0)
          b = bf16[256,8] parameter(1)
          d = bf16[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
          ROOT y = f32[8,8] convert(d)
        }

    Good
        ENTRY main {
          a = bf16[8,256] parameter(0)
          b = bf16[256,8] parameter(1)
          ROOT y = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        }

    Source
        JAX, jax.lax.dot_general, preferred_element_type
    """
    dot = view.origin(instruction.operands[0])
    if dot.opcode in ("dot", "convolution") and dot.shape.is_array and is_narrow(dot.shape.element_type) \
            and instruction.shape.element_type in ("f32", "f64"):
        wide = instruction.shape.element_type
        yield Finding(instruction, f"{dot.name} is rounded to {dot.shape.element_type}, then widened to {wide}",
                      help=f"let {dot.name} give {wide} (preferred_element_type={wide})")


@rule("W303", "mixed-precision-dot", on=("dot", "convolution"), severity=Severity.INFO)
def mixed_precision_dot(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A dot of two element types.

    What it does
        Finds dots and convolutions whose operands differ in element type.

    Why
        Few backends multiply mixed types; the others convert the narrow operand first, so that the operation is as
        slow as one of the wide type. Often only one side of a model was meant to be narrow.

    Bad
        ENTRY main {
          a = bf16[8,16] parameter(0)
          b = f32[16,8] parameter(1)
          ROOT y = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        }

    Good
        ENTRY main {
          a = bf16[8,16] parameter(0)
          b = bf16[16,8] parameter(1)
          ROOT y = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        }

    Source
        XLA, operand_upcaster.cc
    """
    lhs, rhs = (o.shape for o in instruction.operands[:2])
    if lhs.is_array and rhs.is_array and lhs.element_type != rhs.element_type and {
            lhs.dtype.family, rhs.dtype.family} == {"float"} and not (lhs.dtype.bits == rhs.dtype.bits == 8):
        yield Finding(instruction, f"{lhs.element_type} meets {rhs.element_type}", help="convert one operand")


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
    record = view.reducer(instruction.attributes["to_apply"])
    operand = instruction.operands[0].shape
    if instruction.opcode == "reduce":
        count = math.prod(operand.dims[d] for d in value_of(instruction, "dimensions"))
    else:
        count = math.prod(d.size for d in value_of(instruction, "window").dimensions)
    if record is not None and record.opcode in ("add", "multiply") and count >= elements:
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
    groups = instruction.attributes.get("replica_groups")
    sizes = groups.sizes() if isinstance(groups, ReplicaGroups) else set()
    operand = instruction.operands[0].shape
    record = view.reducer(instruction.attributes["to_apply"])
    if operand.is_array and is_narrow(operand.element_type) and record is not None and record.opcode == "add" \
            and max(sizes, default=0) >= devices:
        yield Finding(instruction, f"{operand.element_type} is summed over {max(sizes)} devices",
                      help="convert to f32 first, and back after")


@rule("W306", "convert-ping-pong", on=("convert",), fix=Fixability.UNSAFE)
def convert_ping_pong(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A value that is narrowed and at once widened again.

    What it does
        Finds pairs of float converts, such as f32 to bf16 to f32, that lose digits and come back to the type they
        came from, in modules that no backend has seen: backends put in such pairs where they lack the narrow type.
        The fix keeps the digits, so it changes the values.

    Why
        Either the digits are wanted, then both converts are wrong; or rounding is meant, then reduce-precision says
        so. Compilers may remove the pair or not, so results differ between them.

    Bad
        ENTRY main {
          x = f32[4] parameter(0)
          a = bf16[4] convert(x)
          b = f32[4] convert(a)
          ROOT y = f32[4] tanh(b)
        }

    Good
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT y = f32[4] tanh(x)
        }

    Source
        XLA, simplify_fp_conversions.cc; xla.proto, xla_allow_excess_precision
    """
    inner = instruction.operands[0]
    if inner.opcode != "convert" or view.is_optimized:
        return
    value = inner.operands[0]
    wide, narrow = value.shape.dtype, inner.shape.dtype
    if wide.is_floating and narrow.is_floating and instruction.shape.element_type == wide.name \
            and not holds(narrow, wide):
        changes = bypassed(view, instruction, value) if same_value(value.shape, instruction.shape) else None
        yield Finding(instruction, f"{value.name} goes from {wide} to {narrow} and back, and loses digits",
                      help=f"use {value.name}, or say reduce-precision if rounding is meant",
                      fix=fix_of(view.module.source, f"use {value.name}", changes, is_safe=False))


@rule("W307", "non-associative-reducer", on=FOLDS, in_fusions=True)
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
    computation = instruction.attributes.get("scatter") or instruction.attributes.get("to_apply")
    if instruction.opcode == "scan" and not instruction.attributes.get("is_associative"):
        return
    record = view.reducer(computation) if isinstance(computation, HloComputation) else None
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
    computation = instruction.attributes.get("scatter") or instruction.attributes.get("to_apply")
    record = view.reducer(computation) if isinstance(computation, HloComputation) else None
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


@rule("W309", "inexact-iota", on=("iota",), in_fusions=True)
def inexact_iota(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """Positions that their element type cannot count.

    What it does
        Finds iotas that are longer than the element type has whole numbers in a row: 256 for bf16, 2048 for f16,
        128 for s8.

    Why
        Floats round, so neighbours get one number; integers wrap. Position encodings and masks go wrong silently at
        long sequences.

    Bad
        ENTRY main { ROOT x = bf16[1024] iota(), iota_dimension=0 }

    Good
        ENTRY main { i = s32[1024] iota(), iota_dimension=0  ROOT x = f32[1024] convert(i) }

    Source
        IEEE 754; XLA Operation Semantics, Iota
    """
    kind = instruction.shape.dtype
    dimension = instruction.attributes.get("iota_dimension", 0)
    if not instruction.shape.dims or kind.is_complex or kind.family == "pred":
        return
    length = instruction.shape.dims[dimension]
    limit = 1 << (kind.mantissa_bits + 1 if kind.is_floating else kind.bits - kind.is_signed)
    if length > limit + kind.is_floating:
        yield Finding(instruction, f"{kind} counts to {limit} only, the iota has {length} elements",
                      help="count in s32 and convert where it is used")


def _minus_one(view: View, value: HloInstruction) -> HloInstruction | None:
    """The exponential that one is taken from."""
    if value.opcode == "subtract" and value.operands[0].opcode == "exponential" and \
            view.constant(value.operands[1]) == 1:
        return value.operands[0]
    if value.opcode == "add" and value.operands[0].opcode == "exponential" and view.constant(value.operands[1]) == -1:
        return value.operands[0]
    return None


@rule("W310", "cancelled-exponential", on=("subtract", "add"), severity=Severity.INFO, in_fusions=True)
def cancelled_exponential(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """e to the x, less one.

    What it does
        Finds exponential(x) - 1.

    Why
        Near zero the exponential is rounded to 1 plus a few digits, and the difference keeps those few.
        exponential-minus-one keeps all.

    Bad
        ENTRY main { x = f32[] parameter(0)  e = f32[] exponential(x)  one = f32[] constant(1)
                     ROOT y = f32[] subtract(e, one) }

    Good
        ENTRY main { x = f32[] parameter(0)  ROOT y = f32[] exponential-minus-one(x) }

    Source
        XLA Operation Semantics, Expm1
    """
    if instruction.operands[0].opcode == "exponential" and instruction.shape.dtype.is_floating \
            and (inner := _minus_one(view, instruction)) is not None:
        yield Finding(instruction, f"{inner.name} less 1 loses digits near zero", help="use exponential-minus-one")


@rule("W311", "cancelled-log", on=("log",), severity=Severity.INFO, in_fusions=True)
def cancelled_log(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """The logarithm of one plus something.

    What it does
        Finds log(1 + x).

    Why
        Where x is small, 1 + x is rounded to few digits of x. log-plus-one keeps all.

    Bad
        ENTRY main { x = f32[] parameter(0)  one = f32[] constant(1)  s = f32[] add(x, one)  ROOT y = f32[] log(s) }

    Good
        ENTRY main { x = f32[] parameter(0)  ROOT y = f32[] log-plus-one(x) }

    Source
        XLA Operation Semantics, Log1p
    """
    inner = view.origin(instruction.operands[0])
    if inner.opcode == "add" and inner.shape.dtype.is_floating and any(view.constant(o) == 1 for o in inner.operands):
        yield Finding(instruction, f"{inner.name} adds 1 before the logarithm, which loses digits near zero",
                      help="use log-plus-one")


@rule("W312", "float-equality", on=("compare",), severity=Severity.INFO, default_on=False)
def float_equality(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """Computed floats that are compared for equality.

    What it does
        Finds EQ and NE compares of two different float values, neither of them constant. Comparing a value with
        itself, which tells NaN, does not count.

    Why
        Rounding differs between backends and optimisation levels, and so does the outcome. Off by default: exact
        compares with values that were selected, such as a maximum, are fine.

    Bad
        ENTRY main { x = f32[4] parameter(0)  y = f32[4] tanh(x)  ROOT p = pred[4] compare(x, y), direction=EQ }

    Good
        ENTRY main { x = f32[4] parameter(0)  y = f32[4] tanh(x)  ROOT p = pred[4] compare(x, y), direction=LE }

    Source
        IEEE 754
    """
    lhs, rhs = instruction.operands
    if instruction.attributes["direction"] in ("EQ", "NE") and lhs is not rhs and lhs.shape.dtype.is_floating \
            and view.constant(lhs) is None and view.constant(rhs) is None:
        yield Finding(instruction, f"{lhs.shape.element_type} values are compared for equality",
                      help="compare their distance with a tolerance")


#: operations whose results are whole numbers, or are not looked into
_WHOLE = frozenset({"floor", "ceil", "round-nearest-even", "round-nearest-afz", "convert", "constant", "parameter",
                    "clamp"})


@rule("W313", "truncating-convert", on=("convert",), default_on=False, severity=Severity.INFO)
def truncating_convert(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A conversion of floats to integers that drops fractions.

    What it does
        Finds converts from floats to integers whose operand is computed and not rounded by floor, ceil or round.

    Why
        The fraction is cut off towards zero, and what does not fit is implementation-defined. Off by default: it is
        often what is meant.

    Bad
        ENTRY main { x = f32[4] parameter(0)  y = f32[4] sqrt(x)  ROOT c = s32[4] convert(y) }

    Good
        ENTRY main { x = f32[4] parameter(0)  y = f32[4] sqrt(x)  f = f32[4] floor(y)  ROOT c = s32[4] convert(f) }

    Source
        StableHLO specification, convert
    """
    operand = view.origin(instruction.operands[0])
    if instruction.shape.is_array and instruction.shape.dtype.is_integral and operand.shape.is_array \
            and operand.shape.dtype.is_floating and operand.opcode not in _WHOLE:
        yield Finding(instruction, f"the fraction of {operand.name} is cut off", help="round first")
