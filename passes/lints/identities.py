"""Rules about operations that give what they were given."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hlotool.diagnostics import Severity
from hlotool.ir import HloInstruction, Shape
from hlotool.ops import OPS, value_of
from hlotool.passes.lints.edits import bypassed, fix_of
from hlotool.passes.lints.module_view import MAYBE_CONSTANT, View
from hlotool.passes.lints.rule import Finding, Fixability, rule


def same_value(a: Shape, b: Shape) -> bool:
    """Return True if two shapes are the same, their layouts included where both have one."""
    return a is b or (a.dims == b.dims and a.element_type == b.element_type and a.elements == b.elements
                      and a.dynamic == b.dynamic and (a.layout is b.layout or a.layout is None or b.layout is None))


def bypass(view: View, instruction: HloInstruction, value: HloInstruction, message: str,
           is_safe: bool = True) -> Finding:
    """Return the finding that an instruction's value is another's."""
    changes = bypassed(view, instruction, value)
    return Finding(instruction, message, help=f"use {value.name}",
                   fix=fix_of(view.module.source, f"use {value.name}", changes, is_safe))


@rule("W111", "identity-transpose", on=("transpose",), fix=Fixability.SAFE, tidied=True)
def identity_transpose(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A transpose that moves nothing.

    What it does
        Finds transposes whose permutation is 0, 1, 2, ... and that keep the layout.

    Why
        It says nothing, hides that its users take the operand, and may be compiled to a copy.

    Bad
        ENTRY main {
          x = f32[2,3] parameter(0)
          t = f32[2,3] transpose(x), dimensions={0,1}
          ROOT y = f32[2,3] negate(t)
        }

    Good
        ENTRY main {
          x = f32[2,3] parameter(0)
          ROOT y = f32[2,3] negate(x)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    permutation = instruction.attributes["dimensions"]
    if permutation == tuple(range(len(permutation))) and same_value(instruction.shape, instruction.operands[0].shape):
        yield bypass(view, instruction, instruction.operands[0], "the permutation is the identity")


@rule("W112", "identity-reshape", on=("reshape",), fix=Fixability.SAFE, tidied=True)
def identity_reshape(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A reshape to the shape that the operand has.

    What it does
        Finds reshapes whose result has the operand's dimensions and layout.

    Why
        It says nothing, and hides that its users take the operand.

    Bad
        ENTRY main {
          x = f32[2,3] parameter(0)
          r = f32[2,3] reshape(x)
          ROOT y = f32[2,3] negate(r)
        }

    Good
        ENTRY main {
          x = f32[2,3] parameter(0)
          ROOT y = f32[2,3] negate(x)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    if same_value(instruction.shape, instruction.operands[0].shape):
        yield bypass(view, instruction, instruction.operands[0], "the operand has this shape already")


@rule("W113", "identity-convert", on=("convert",), fix=Fixability.SAFE, tidied=True)
def identity_convert(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A conversion to the element type that the operand has.

    What it does
        Finds converts whose result has the operand's element type and layout.

    Why
        It says nothing. Often it is left over from a change of the model's types that has reached one side only.

    Bad
        ENTRY main {
          x = f32[4] parameter(0)
          c = f32[4] convert(x)
          ROOT y = f32[4] negate(c)
        }

    Good
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT y = f32[4] negate(x)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    if same_value(instruction.shape, instruction.operands[0].shape):
        yield bypass(view, instruction, instruction.operands[0], "the operand has this type already")


@rule("W114", "identity-slice", on=("slice",), fix=Fixability.SAFE, tidied=True)
def identity_slice(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A slice that takes everything.

    What it does
        Finds slices whose result has the operand's shape.

    Why
        It says nothing, and hides that its users take the operand.

    Bad
        ENTRY main {
          x = f32[4] parameter(0)
          s = f32[4] slice(x), slice={[0:4]}
          ROOT y = f32[4] negate(s)
        }

    Good
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT y = f32[4] negate(x)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    if same_value(instruction.shape, instruction.operands[0].shape):
        yield bypass(view, instruction, instruction.operands[0], "the slice takes the whole operand")


@rule("W115", "identity-pad", on=("pad",), fix=Fixability.SAFE, tidied=True)
def identity_pad(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A pad that adds nothing.

    What it does
        Finds pads without any padding.

    Why
        It says nothing. Often the padding was computed from sizes that fit already.

    Bad
        ENTRY main {
          x = f32[4] parameter(0)
          zero = f32[] constant(0)
          p = f32[4] pad(x, zero), padding=0_0
          ROOT y = f32[4] negate(p)
        }

    Good
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT y = f32[4] negate(x)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    padding = instruction.attributes["padding"].dimensions
    if all(d.low == d.high == d.interior == 0 for d in padding) and same_value(
            instruction.shape, instruction.operands[0].shape):
        yield bypass(view, instruction, instruction.operands[0], "nothing is padded")


@rule("W116", "identity-concatenate", on=("concatenate",), fix=Fixability.SAFE, tidied=True)
def identity_concatenate(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A concatenation of one array.

    What it does
        Finds concatenates with one operand.

    Why
        The result is the operand. Often a list that is joined has shrunk to one element.

    Bad
        ENTRY main {
          x = f32[4] parameter(0)
          c = f32[4] concatenate(x), dimensions={0}
          ROOT y = f32[4] negate(c)
        }

    Good
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT y = f32[4] negate(x)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    if len(instruction.operands) == 1 and same_value(instruction.shape, instruction.operands[0].shape):
        yield bypass(view, instruction, instruction.operands[0], "only one array is concatenated")


@rule("W117", "identity-broadcast", on=("broadcast",), fix=Fixability.SAFE, severity=Severity.INFO,
      default_on=False)
def identity_broadcast(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A broadcast to the shape that the operand has.

    What it does
        Finds broadcasts that add no dimension and keep the order.

    Why
        It says nothing, and hides that its users take the operand.

    Bad
        ENTRY main {
          x = f32[4] parameter(0)
          b = f32[4] broadcast(x), dimensions={0}
          ROOT y = f32[4] negate(b)
        }

    Good
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT y = f32[4] negate(x)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    dimensions = instruction.attributes.get("dimensions", ())
    operand = instruction.operands[0]
    if dimensions == tuple(range(instruction.shape.rank)) and same_value(instruction.shape, operand.shape):
        yield bypass(view, instruction, operand, "the operand has the shape already")


@rule("W118", "identity-copy", on=("copy",), fix=Fixability.SAFE, severity=Severity.INFO,
      default_on=False)
def identity_copy(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A copy that changes nothing, in a module that no backend has seen yet.

    What it does
        Finds copies to the layout that the operand has, or of another copy. Scheduled modules are left alone: there
        copies keep values apart that would share a buffer.

    Why
        Where buffers are not assigned yet, a copy has no meaning; it costs time and memory unless it is removed.

    Bad
        ENTRY main {
          x = f32[4] parameter(0)
          c = f32[4] copy(x)
          ROOT y = f32[4] negate(c)
        }

    Good
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT y = f32[4] negate(x)
        }

    Source
        XLA, copy_insertion.cc
    """
    if not view.is_optimized and same_value(instruction.shape, instruction.operands[0].shape):
        yield bypass(view, instruction, instruction.operands[0], "the copy has the operand's layout")


@rule("W131", "identity-arithmetic", on=tuple(o for o, r in OPS.items() if r.identity is not None),
      fix=Fixability.SAFE, tidied=True)
def identity_arithmetic(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """Arithmetic that leaves its operand as it is: times one, plus zero, and with all bits set.

    What it does
        Finds operations with a constant that is their neutral element. Adding +0 to floats turns -0 into 0, and an
        infinite complex number times one is none, so those fixes count as unsafe. Maxima with -inf, which frontends
        write around each softmax, do not count.

    Why
        It says nothing. Often a parameter of the model, a scale or an offset, has its default value.

    Bad
        ENTRY main {
          x = f32[4] parameter(0)
          one = f32[] constant(1)
          ones = f32[4] broadcast(one), dimensions={}
          p = f32[4] multiply(x, ones)
          ROOT y = f32[4] negate(p)
        }

    Good
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT y = f32[4] negate(x)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    lhs, rhs = instruction.operands
    if MAYBE_CONSTANT.isdisjoint((lhs.opcode, rhs.opcode)) or lhs.opcode == rhs.opcode == "constant":
        return
    record = OPS[instruction.opcode]
    if record.identity is None or not instruction.shape.is_array or view.computation in view.folding:
        return
    neutral = record.identity(instruction.shape.dtype)
    if neutral in (math.inf, -math.inf):
        return
    for value, other in ((lhs, rhs), (rhs, lhs)):
        if (other is rhs or "commutative" in record.flags) and other.opcode in MAYBE_CONSTANT \
                and view.constant(other) == neutral and same_value(instruction.shape, value.shape):
            dtype = instruction.shape.dtype
            changes = dtype.is_complex or (dtype.is_floating and _changes_zeros(instruction, view.constant(other)))
            yield bypass(view, instruction, value, f"{instruction.opcode} with {neutral} changes nothing", not changes)
            return


def _changes_zeros(instruction: HloInstruction, neutral: float) -> bool:
    """Return True if an operation with its neutral number gives some floats otherwise: -0 + 0 is 0."""
    return instruction.opcode in ("add", "power") or (
        instruction.opcode == "subtract" and math.copysign(1, neutral) < 0)


@rule("W135", "constant-select", on=("select",), fix=Fixability.SAFE, tidied=True)
def constant_select(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A select that always takes the same side.

    What it does
        Finds selects with a constant predicate, or with one value on both sides.

    Why
        The other side is computed for nothing. Often a flag of the model has been fixed.

    Bad
        ENTRY main {
          p = pred[4] parameter(0)
          x = f32[4] parameter(1)
          s = f32[4] select(p, x, x)
          ROOT y = (pred[4], f32[4]) tuple(p, s)
        }

    Good
        ENTRY main {
          p = pred[4] parameter(0)
          x = f32[4] parameter(1)
          ROOT y = (pred[4], f32[4]) tuple(p, x)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    predicate, on_true, on_false = instruction.operands
    if on_true is on_false:
        yield bypass(view, instruction, on_true, "both sides are one value")
        return
    value = view.constant(predicate) if predicate.opcode in MAYBE_CONSTANT else None
    if value is not None:
        taken = on_true if value else on_false
        yield bypass(view, instruction, taken, f"the predicate is always {str(bool(value)).lower()}")


@rule("W136", "degenerate-reduce", on=("reduce",), severity=Severity.INFO,
      default_on=False)
def degenerate_reduce(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A reduction over dimensions of one element.

    What it does
        Finds reduces of one array all of whose reduced dimensions have size 1, or that reduce no dimension.

    Why
        Nothing is folded but the initial value; a reshape says the same and costs nothing.

    Bad
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main {
          x = f32[4,1] parameter(0)
          zero = f32[] constant(0)
          ROOT y = f32[4] reduce(x, zero), dimensions={1}, to_apply=add
        }

    Good
        ENTRY main {
          x = f32[4,1] parameter(0)
          ROOT y = f32[4] reshape(x)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    operand = instruction.operands[0].shape
    if len(instruction.operands) == 2 and all(operand.dims[d] == 1 for d in value_of(instruction, "dimensions")) \
            and operand.is_static and not view.is_optimized:
        yield Finding(instruction, f"{operand.text(False)} is reduced over dimensions of size 1", help="reshape it")
