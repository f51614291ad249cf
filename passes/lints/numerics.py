"""Rules about precision: narrow types, lossy conversions, what cancels."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.diagnostics import Severity
from hlotool.ir import DTYPES, HloInstruction
from hlotool.ops import OPS, Elements
from hlotool.passes.lints.edits import bypassed, fix_of
from hlotool.passes.lints.identities import same_value
from hlotool.passes.lints.inverse_pairs import holds
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.rule import Finding, Fixability, rule


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
    """Return the exponential that one is taken from."""
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
            and operand.shape.dtype.is_floating and not _is_whole(operand):
        yield Finding(instruction, f"the fraction of {operand.name} is cut off", help="round first")


def _is_whole(operand: HloInstruction) -> bool:
    """Return True if floats are whole numbers, or it is not known where they come from."""
    record = OPS.get(operand.opcode)
    return record is None or record.curve.is_whole or record.flow.elements is Elements.GIVEN or \
        operand.opcode in ("convert", "clamp")
