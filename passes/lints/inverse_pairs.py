"""Rules about operations that undo each other."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.diagnostics import Severity
from hlotool.ir import DType, HloInstruction
from hlotool.passes.lints.edits import fix_of, rewritten
from hlotool.passes.lints.identities import bypass, same_value
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.rule import Finding, Fixability, rule


@rule("W121", "transpose-of-transpose", on=("transpose",), fix=Fixability.SAFE, tidied=True)
def transpose_of_transpose(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """Two transposes in a row.

    What it does
        Finds transposes of transposes; together they are one, or none.

    Why
        Each one may move the whole array. Two in a row come from layers that each want their own order.

    Bad
        ENTRY main {
          x = f32[2,3,4] parameter(0)
          a = f32[3,4,2] transpose(x), dimensions={1,2,0}
          b = f32[4,3,2] transpose(a), dimensions={1,0,2}
          ROOT y = f32[4,3,2] negate(b)
        }

    Good
        ENTRY main {
          x = f32[2,3,4] parameter(0)
          b = f32[4,3,2] transpose(x), dimensions={2,1,0}
          ROOT y = f32[4,3,2] negate(b)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    inner = instruction.operands[0]
    if inner.opcode != "transpose":
        return
    first, second = inner.attributes["dimensions"], instruction.attributes["dimensions"]
    both = tuple(first[d] for d in second)
    value = inner.operands[0]
    if both == tuple(range(len(both))) and same_value(instruction.shape, value.shape):
        yield bypass(view, instruction, value, f"this undoes the transpose {inner.name}")
        return
    order = ",".join(map(str, both))
    changes = rewritten(view, instruction, "transpose", [value], f"dimensions={{{order}}}", drop=["dimensions"])
    yield Finding(instruction, f"{inner.name} is a transpose, too", help=f"write one, dimensions={{{order}}}",
                  fix=fix_of(view.module.source, "write one transpose", changes))


@rule("W122", "reshape-of-reshape", on=("reshape",), fix=Fixability.SAFE, severity=Severity.INFO,
      default_on=False)
def reshape_of_reshape(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """Two reshapes in a row.

    What it does
        Finds reshapes of reshapes that nothing else uses; one does.

    Why
        The shape in between has no meaning and hides what the reshape does.

    Bad
        ENTRY main {
          x = f32[2,6] parameter(0)
          a = f32[12] reshape(x)
          b = f32[3,4] reshape(a)
          ROOT y = f32[3,4] negate(b)
        }

    Good
        ENTRY main {
          x = f32[2,6] parameter(0)
          b = f32[3,4] reshape(x)
          ROOT y = f32[3,4] negate(b)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    inner = instruction.operands[0]
    if inner.opcode != "reshape" or len(view.users(inner)) != 1 or not (
            instruction.shape.is_static and inner.shape.is_static):
        return
    value = inner.operands[0]
    if same_value(instruction.shape, value.shape):
        yield bypass(view, instruction, value, f"this undoes the reshape {inner.name}")
        return
    changes = rewritten(view, instruction, "reshape", [value])
    yield Finding(instruction, f"{inner.name} is a reshape, too", help=f"reshape {value.name}",
                  fix=fix_of(view.module.source, f"reshape {value.name}", changes))


def holds(wide: DType, narrow: DType) -> bool:
    """Return True if every value of one element type is one of the other, too."""
    if wide is narrow or narrow.family == "pred":
        return wide.family != "pred" or wide is narrow
    if narrow.is_floating:
        return wide.is_floating and wide.mantissa_bits >= narrow.mantissa_bits \
            and wide.exponent_bits >= narrow.exponent_bits and "fnuz" not in narrow.name + wide.name
    if not narrow.is_integral:
        return wide.is_complex and narrow.is_complex and wide.bits >= narrow.bits
    digits = narrow.bits - narrow.is_signed
    if wide.is_floating:
        return wide.mantissa_bits + 1 >= digits and wide.exponent_bits >= 8
    return wide.is_integral and wide.bits - wide.is_signed >= digits and (wide.is_signed or not narrow.is_signed)


@rule("W123", "convert-of-convert", on=("convert",), fix=Fixability.SAFE, tidied=True)
def convert_of_convert(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """Two conversions in a row where one does.

    What it does
        Finds converts of converts to a wider type that nothing else uses: the wider type makes no difference.

    Why
        The array is written and read once more, in the wider type.

    Bad
        ENTRY main {
          x = s8[4] parameter(0)
          a = s32[4] convert(x)
          b = f32[4] convert(a)
          ROOT y = f32[4] negate(b)
        }

    Good
        ENTRY main {
          x = s8[4] parameter(0)
          b = f32[4] convert(x)
          ROOT y = f32[4] negate(b)
        }

    Source
        XLA, simplify_fp_conversions.cc
    """
    inner = instruction.operands[0]
    if inner.opcode != "convert":
        return
    value = inner.operands[0]
    if not holds(inner.shape.dtype, value.shape.dtype) or inner.shape is instruction.shape \
            or inner.shape.element_type == value.shape.element_type:
        return
    between = inner.shape.element_type
    if same_value(instruction.shape, value.shape):
        yield bypass(view, instruction, value, f"{value.name} is converted to {between} and back")
        return
    if len(view.users(inner)) == 1:
        changes = rewritten(view, instruction, "convert", [value])
        yield Finding(instruction, f"{value.name} is converted to {between} first, which makes no difference",
                      help=f"convert {value.name}",
                      fix=fix_of(view.module.source, f"convert {value.name}", changes))


@rule("W132", "double-negation", on=("negate", "not"), fix=Fixability.SAFE, tidied=True)
def double_negation(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """An operation that undoes itself, twice.

    What it does
        Finds negate of negate and not of not.

    Why
        Together they give the operand.

    Bad
        ENTRY main {
          x = f32[4] parameter(0)
          a = f32[4] negate(x)
          b = f32[4] negate(a)
          ROOT y = f32[4] tanh(b)
        }

    Good
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT y = f32[4] tanh(x)
        }

    Source
        XLA, algebraic_simplifier.cc
    """
    inner = instruction.operands[0]
    if inner.opcode == instruction.opcode and same_value(instruction.shape, inner.operands[0].shape):
        yield bypass(view, instruction, inner.operands[0], f"this undoes {inner.name}")


@rule("W133", "element-of-tuple", on=("get-tuple-element",), fix=Fixability.SAFE, severity=Severity.INFO,
      default_on=False)
def element_of_tuple(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """An element of a tuple that was made in the same computation.

    What it does
        Finds get-tuple-element of tuple.

    Why
        The element is the tuple's operand; the detour hides it.

    Bad
        ENTRY main {
          x = f32[4] parameter(0)
          n = f32[4] tanh(x)
          t = (f32[4], f32[4]) tuple(n, x)
          e = f32[4] get-tuple-element(t), index=0
          ROOT y = f32[4] negate(e)
        }

    Good
        ENTRY main {
          x = f32[4] parameter(0)
          n = f32[4] tanh(x)
          ROOT y = f32[4] negate(n)
        }

    Source
        XLA, tuple_simplifier.cc
    """
    inner = instruction.operands[0]
    if inner.opcode == "tuple":
        yield bypass(view, instruction, inner.operands[instruction.attributes["index"]],
                      f"{inner.name} is made in this computation")


@rule("W134", "tuple-of-elements", on=("tuple",), fix=Fixability.SAFE, severity=Severity.INFO,
      default_on=False)
def tuple_of_elements(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A tuple that is taken apart and put together again.

    What it does
        Finds tuples whose operands are all the elements of one tuple, in order.

    Why
        The result is that tuple.

    Bad
        ENTRY main {
          t = (f32[4], s32[]) parameter(0)
          a = f32[4] get-tuple-element(t), index=0
          b = s32[] get-tuple-element(t), index=1
          u = (f32[4], s32[]) tuple(a, b)
          ROOT y = (f32[4], s32[]) opt-barrier(u)
        }

    Good
        ENTRY main {
          t = (f32[4], s32[]) parameter(0)
          ROOT y = (f32[4], s32[]) opt-barrier(t)
        }

    Source
        XLA, tuple_simplifier.cc
    """
    operands = instruction.operands
    if not operands or operands[0].opcode != "get-tuple-element" or instruction is view.computation.root:
        return
    whole = operands[0].operands[0]
    if whole.shape is instruction.shape and all(
            o.opcode == "get-tuple-element" and o.operands[0] is whole and o.attributes["index"] == n
            for n, o in enumerate(operands)):
        yield bypass(view, instruction, whole, f"these are the elements of {whole.name} again")
