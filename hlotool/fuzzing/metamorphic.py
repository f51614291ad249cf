"""Rewritings that change no bit: a value goes through a loop, a branch, a tuple, a transpose and back, ...

`wrap_value` takes an instruction's value through a piece of HLO that is put behind it; `outline` computes the value
anew from the instruction's operands: in a computation, a branch, a loop. Both give the piece, and the values of the
parameters that it adds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hlotool.ir import HloInstruction, HloModule, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops import OPS
from hlotool.passes.read import parse

#: a wider type that holds every value of a narrower one
_WIDER = {"f16": "f32", "bf16": "f32", "f32": "f64", "s8": "s32", "u8": "s16", "s16": "s32", "u16": "u32", "s32": "s64",
          "u32": "u64", "pred": "s32", "s4": "s8", "u4": "u8"}
#: an integer type of as many bits
_BITS = {8: "u8", 16: "u16", 32: "u32", 64: "u64"}
#: elements of a value at most
_MOST = 4096


@dataclass(frozen=True)
class HloPiece:
    """HLO to put behind an instruction."""

    text: str
    #: the values of parameters that it adds
    added: list[Array] = field(default_factory=list)


@dataclass(frozen=True)
class Value:
    """The instruction whose value is wrapped."""

    shape: Shape
    dice: random.Random

    @property
    def text(self) -> str:
        return self.shape.text(layout=False)

    @property
    def dims(self) -> tuple[int, ...]:
        return self.shape.dims

    @property
    def kind(self) -> str:
        return self.shape.element_type

    def of(self, dims: Sequence[int], kind: str = "") -> str:
        """The text of a shape of the value's element type."""
        return f"{kind or self.kind}[{','.join(map(str, dims))}]"

    def piece(self, *lines: str, added: Sequence[Array] = (), computations: str = "") -> HloPiece:
        """The lines behind `x`, the value; the last one is the result."""
        body = "\n".join([f"  x = {self.text} parameter(0)", *(f"  {line}" for line in lines[:-1]),
                          f"  ROOT {lines[-1]}"])
        return HloPiece(f"HloModule piece\n\n{computations}ENTRY e {{\n{body}\n}}\n", list(added))


Wrapping: TypeAlias = Callable[[Value], "HloPiece | None"]


def _braces(values: Sequence[int]) -> str:
    return "{" + ",".join(map(str, values)) + "}"


def _transposed(v: Value) -> HloPiece | None:
    if len(v.dims) < 2:
        return None
    order = list(range(len(v.dims)))
    v.dice.shuffle(order)
    back = [order.index(n) for n in range(len(order))]
    return v.piece(f"t = {v.of([v.dims[n] for n in order])} transpose(x), dimensions={_braces(order)}",
                   f"b = {v.text} transpose(t), dimensions={_braces(back)}")


def _reshaped(v: Value) -> HloPiece | None:
    return v.piece(f"t = {v.of([v.shape.size])} reshape(x)", f"b = {v.text} reshape(t)")


def _reversed(v: Value) -> HloPiece | None:
    if not v.dims:
        return None
    at = _braces([n for n in range(len(v.dims)) if v.dice.random() < 0.7] or [0])
    return v.piece(f"t = {v.text} reverse(x), dimensions={at}", f"b = {v.text} reverse(t), dimensions={at}")


def _ranges(starts: Sequence[int], ends: Sequence[int]) -> str:
    return "{" + ", ".join(f"[{a}:{b}]" for a, b in zip(starts, ends, strict=True)) + "}"


def _padded(v: Value) -> HloPiece | None:
    if not v.dims:
        return None
    low = [v.dice.randint(0, 2) for _ in v.dims]
    high = [v.dice.randint(0, 2) for _ in v.dims]
    dims = [a + d + b for a, d, b in zip(low, v.dims, high, strict=True)]
    said = "x".join(f"{a}_{b}" for a, b in zip(low, high, strict=True))
    return v.piece(f"z = {v.of([])} constant({_zero(v)})", f"t = {v.of(dims)} pad(x, z), padding={said}",
                   f"b = {v.text} slice(t), slice={_ranges(low, [a + d for a, d in zip(low, v.dims, strict=True)])}")


def _zero(v: Value) -> str:
    """Zero, or a number of a type that has no zero."""
    kind = v.shape.dtype
    if kind.specials == "no sign":
        return "1"
    return "false" if kind.family == "pred" else "(0, 0)" if kind.family == "complex" else "0"


def _joined(v: Value) -> HloPiece | None:
    if not v.dims:
        return None
    at = v.dice.randrange(len(v.dims))
    dims = [2 * d if n == at else d for n, d in enumerate(v.dims)]
    half = v.dice.choice((0, v.dims[at]))
    starts = [half if n == at else 0 for n in range(len(dims))]
    ends = [s + d for s, d in zip(starts, v.dims, strict=True)]
    return v.piece(f"t = {v.of(dims)} concatenate(x, x), dimensions={{{at}}}",
                   f"b = {v.text} slice(t), slice={_ranges(starts, ends)}")


def _chosen(v: Value) -> HloPiece | None:
    is_first = v.dice.random() < 0.5
    sides = "x, o" if is_first else "o, x"
    return v.piece(f"z = {v.of([])} constant({_zero(v)})", f"o = {v.text} broadcast(z), dimensions={{}}",
                   "p = pred[] parameter(1)", f"b = {v.text} select(p, {sides})", added=[np.array(is_first)])


def _broadcast(v: Value) -> HloPiece | None:
    dims = [3, *v.dims]
    order = _braces(range(1, len(dims)))
    zeros = ", ".join(["i", *["z"] * len(v.dims)])
    lines = [f"t = {v.of(dims)} broadcast(x), dimensions={order}", "i = s32[] parameter(1)", "z = s32[] constant(0)",
             f"s = {v.of([1, *v.dims])} dynamic-slice(t, {zeros}), dynamic_slice_sizes={_braces([1, *v.dims])}",
             f"b = {v.text} reshape(s)"]
    return v.piece(*lines, added=[np.array(v.dice.randint(-1, 4), np.int32)])


def _updated(v: Value) -> HloPiece | None:
    if not v.dims:
        return None
    dims = [d + 1 for d in v.dims]
    starts = [v.dice.randint(0, 1) for _ in dims]
    lines = [f"z = {v.of([])} constant({_zero(v)})", f"o = {v.of(dims)} broadcast(z), dimensions={{}}"]
    lines += [f"start{n} = s32[] constant({s})" for n, s in enumerate(starts)]
    lines.append(f"t = {v.of(dims)} dynamic-update-slice(o, x, {', '.join(f'start{n}' for n in range(len(dims)))})")
    ends = [s + d for s, d in zip(starts, v.dims, strict=True)]
    return v.piece(*lines, f"b = {v.text} slice(t), slice={_ranges(starts, ends)}")


def _reinterpreted(v: Value) -> HloPiece | None:
    other = _BITS.get(v.shape.dtype.bits)
    if other in (None, v.kind) or v.shape.dtype.family in ("pred", "complex"):
        return None
    return v.piece(f"t = {v.of(v.dims, other or '')} bitcast-convert(x)", f"b = {v.text} bitcast-convert(t)")


def _widened(v: Value) -> HloPiece | None:
    wide = _WIDER.get(v.kind)
    if wide is None:
        return None
    return v.piece(f"t = {v.of(v.dims, wide)} convert(x)", f"b = {v.text} convert(t)")


def _negated(v: Value) -> HloPiece | None:
    family = v.shape.dtype.family
    if v.shape.dtype.specials == "no sign":
        return None  # what is negated is NaN
    opcode = "not" if family in ("pred", "unsigned") else "negate"
    return v.piece(f"t = {v.text} {opcode}(x)", f"b = {v.text} {opcode}(t)")


def _packed(v: Value) -> HloPiece | None:
    return v.piece(f"t = ({v.text}, {v.text}) tuple(x, x)", f"u = (({v.text}, {v.text}), {v.text}) tuple(t, x)",
                   f"g = ({v.text}, {v.text}) get-tuple-element(u), index=0",
                   f"b = {v.text} get-tuple-element(g), index={v.dice.randint(0, 1)}")


def _fenced(v: Value) -> HloPiece | None:
    return v.piece(f"t = ({v.text}, {v.text}) tuple(x, x)", f"u = ({v.text}, {v.text}) opt-barrier(t)",
                   f"b = {v.text} get-tuple-element(u), index=0")


def _copied(v: Value) -> HloPiece | None:
    return v.piece(f"b = {v.text} copy(x)")


#: of the value
OF_VALUES: tuple[Wrapping, ...] = (
    _transposed, _reshaped, _reversed, _padded, _joined, _chosen, _broadcast, _updated, _reinterpreted, _widened,
    _negated, _packed, _fenced, _copied)


def wrap_value(target: HloInstruction, dice: random.Random) -> tuple[HloModule, list[Array]] | None:
    """The piece of a wrapping of an instruction's value, and the values of its parameters beyond that."""
    shape = target.shape
    if not shape.is_array or not shape.is_static or not 0 < shape.size <= _MOST:
        return None
    made = dice.choice(OF_VALUES)(Value(shape, dice))
    return None if made is None else (parse(made.text, "piece"), made.added)


def can_outline(target: HloInstruction) -> bool:
    """Return True if an instruction can be computed in a computation of its own."""
    record = OPS.get(target.opcode)
    shapes = [target.shape, *(o.shape for o in target.operands)]
    return (record is not None and bool(target.operands) and not {"collective", "random"} & set(record.flags)
            and all(s.is_array and s.is_static and s.size <= _MOST for s in shapes)
            and target.opcode not in ("custom-call", "fusion"))


def outline(target: HloInstruction, dice: random.Random) -> tuple[HloModule, list[Array]]:
    """The piece that computes an instruction anew, of its operands, in a call, a branch or a loop."""
    operands = [o.shape.text(layout=False) for o in target.operands]
    state, result = f"({', '.join(['s32[]', *operands])})", target.shape.text(layout=False)
    zero = _zero(Value(target.shape, dice))
    names = [f"a{n}" for n in range(len(operands))]
    parameters = "\n".join(f"  {n} = {s} parameter({i})" for i, (n, s) in enumerate(zip(names, operands, strict=True)))
    taken = "\n".join(f"  {n} = {s} get-tuple-element(t), index={i + 1}"
                      for i, (n, s) in enumerate(zip(names, operands, strict=True)))
    stub = (f"{{\n{parameters}\n  z = {target.shape.element_type}[] constant({zero})\n"
            f"  ROOT r = {result} broadcast(z), dimensions={{}}\n}}\n\n")
    called = f"call({', '.join(names)}), to_apply=inner"
    packed = f"  i = s32[] parameter({len(operands)})\n  t = {state} tuple(i, {', '.join(names)})\n"
    form = dice.choice(("call", "branch", "index", "loop"))
    added: list[Array] = []
    if form == "call":
        rest, main = "", f"  ROOT b = {result} {called}\n"
    elif form == "branch":
        rest = f"one {{\n  t = {state} parameter(0)\n{taken}\n  ROOT r = {result} {called}\n}}\n\n"
        rest += f"other {{\n  t = {state} parameter(0)\n  z = {target.shape.element_type}[] constant({zero})\n"
        rest += f"  ROOT r = {result} broadcast(z), dimensions={{}}\n}}\n\n"
        main = (packed + "  n = s32[] constant(0)\n  p = pred[] compare(i, n), direction=GE\n"
                f"  ROOT b = {result} conditional(p, t, t), true_computation=one, false_computation=other\n")
        added = [np.array(dice.randint(0, 3), np.int32)]
    elif form == "index":
        # An index out of range chooses the last branch.
        rest = f"one {{\n  t = {state} parameter(0)\n{taken}\n  ROOT r = {result} {called}\n}}\n\n"
        rest += f"other {{\n  t = {state} parameter(0)\n  z = {target.shape.element_type}[] constant({zero})\n"
        rest += f"  ROOT r = {result} broadcast(z), dimensions={{}}\n}}\n\n"
        main = packed + f"  ROOT b = {result} conditional(i, t, t, t), branch_computations={{other, other, one}}\n"
        added = [np.array(dice.choice((-1, 2, 3, 100)), np.int32)]
    else:
        whole = f"({', '.join(['s32[]', *operands, result])})"
        last = len(operands) + 1
        rest = (f"below {{\n  t = {whole} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
                "  n = s32[] constant(3)\n  ROOT p = pred[] compare(i, n), direction=LT\n}\n\n"
                f"step {{\n  t = {whole} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
                f"  one = s32[] constant(1)\n  j = s32[] add(i, one)\n{taken}\n  r = {result} {called}\n"
                f"  ROOT s = {whole} tuple({', '.join(['j', *names, 'r'])})\n}}\n\n")
        main = (f"  i = s32[] parameter({len(operands)})\n  z = {target.shape.element_type}[] constant({zero})\n"
                f"  o = {result} broadcast(z), dimensions={{}}\n"
                f"  t = {whole} tuple({', '.join(['i', *names, 'o'])})\n"
                f"  w = {whole} while(t), condition=below, body=step\n"
                f"  ROOT b = {result} get-tuple-element(w), index={last}\n")
        added = [np.array(dice.randint(0, 2), np.int32)]
    text = f"HloModule piece\n\ninner {stub}{rest}ENTRY e {{\n{parameters}\n{main}}}\n"
    return parse(text, "piece"), added
