"""An executor that is right but for one instruction, wherever that stands: what blame has to find.

It is the reference with one operation falsified. Instructions are known by where they stand in the text, as parts of a
module keep that and may change names.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from hlotool.blame.reference_run import FOLDS
from hlotool.execution import Moment, Program, arguments_for, evaluate_program
from hlotool.ir import HloComputation, HloInstruction
from hlotool.numerics import Known, judge


@dataclass
class Faulty:
    """The reference, but for the instruction at an offset of the text."""

    offset: int
    product_bits = 0
    name: str = "faulty"

    def stored_arrays(self):
        return None

    def require_computing(self):
        """It does."""

    def run(self, program, argument_sets):
        wanted = {i for i in program.module.instructions() if i.offset == self.offset}

        def rebind(instruction, function, keywords):
            if instruction not in wanted or instruction.opcode == "parameter":
                return function, keywords
            return lambda *given, **named: falsified(function(*given, **named)), keywords

        return [evaluate_program(program, rows, rebind=rebind) for rows in argument_sets]


def falsified(value):
    """Another value of the same type."""
    if isinstance(value, tuple):
        return (falsified(value[0]), *value[1:])
    value = np.array(value)
    if value.dtype == np.bool_:
        return ~value
    if value.dtype.kind in "iu":
        return value + np.ones((), value.dtype)
    return (value * np.asarray(1.125, value.dtype) + np.asarray(0.25, value.dtype)).astype(value.dtype)


def arguments(program: Program, kind: str = "positive"):
    return [arguments_for(program, device, kind) for device in range(program.devices)]


def candidates(program: Program, rows) -> list[tuple[HloComputation, HloInstruction]]:
    """The instructions that are evaluated and compute an array, those of reducers left out; of one place in the text
    only where it has one."""
    seen: dict[HloInstruction, HloComputation] = {}

    def watch(moment: Moment):
        instruction = moment.instruction
        if instruction.opcode not in ("parameter", "tuple", "get-tuple-element") and instruction.shape.is_array \
                and not any(call.caller.opcode in FOLDS for call in moment.path):
            seen[instruction] = moment.path[-1].computation if moment.path else program.module.entry
        return moment.value

    evaluate_program(program, rows, watch)
    offsets = [i.offset for i in program.module.instructions()]
    return [(c, i) for i, c in seen.items() if offsets.count(i.offset) == 1]


def chosen(program: Program, rows, count: int, seed: int = 0,
           share: float = 0.05) -> list[tuple[HloComputation, HloInstruction]]:
    """Some of them that change a result by a share of it, every second one in a called computation where there are
    such."""
    found = candidates(program, rows)
    inner = [f for f in found if f[0] is not program.module.entry] or found
    generator = random.Random(seed)
    picked: list[tuple[HloComputation, HloInstruction]] = []
    right = evaluate_program(program, rows)
    for _ in range(20 * count):
        if len(picked) == count:
            break
        one = generator.choice(inner if len(picked) % 2 else found)
        try:
            wrong = Faulty(one[1].offset).run(program, [rows])[0]
        except Exception:  # a loop that never ends well, an index that is none: no fault to look for
            continue
        if one not in picked and any(judge(w, Known(r)).is_wrong and large(w, r, share) for ws, rs in
                                     zip(wrong, right, strict=True) for w, r in zip(ws, rs, strict=True)):
            picked.append(one)
    return picked


def large(wrong, right, share: float) -> bool:
    """Whether a difference is far beyond rounding."""
    if right.dtype.kind not in "fc":
        return True
    with np.errstate(all="ignore"):
        a, b = wrong.astype(np.complex128), right.astype(np.complex128)
        return bool((np.abs(a - b) > share * np.abs(b).max(initial=1e-6)).any())


def deep_module(layers: int) -> str:
    """A module of some 12 instructions a layer, whose layers change little, so that no rounding grows.

    Every tenth layer has a fusion, every fortieth a loop.
    """
    fused = ("fused {\n  p = f32[8,8] parameter(0)\n  s = f32[8,8] sine(p)\n  m = f32[8,8] multiply(s, s)\n"
             "  ROOT a = f32[8,8] add(m, p)\n}\n")
    body = ("cond {\n  t = (s32[], f32[8,8]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
            "  n = s32[] constant(3)\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n"
            "body {\n  t = (s32[], f32[8,8]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
            "  x = f32[8,8] get-tuple-element(t), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
            "  y = f32[8,8] cosine(x)\n  z = f32[8,8] multiply(y, y)\n  ROOT r = (s32[], f32[8,8]) tuple(j, z)\n}\n")
    lines = ["x.0 = f32[8,8] parameter(0)", "w = f32[8,8] parameter(1)", "h = f32[] constant(0.001)",
             "zero = s32[] constant(0)"]
    for n in range(layers):
        lines += [
            f"d.{n} = f32[8,8] dot(x.{n}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
            f"b.{n} = f32[8,8] broadcast(h), dimensions={{}}", f"m.{n} = f32[8,8] multiply(d.{n}, b.{n})",
            f"t.{n} = f32[8,8] tanh(m.{n})", f"r.{n} = f32[8,8] transpose(t.{n}), dimensions={{1,0}}",
            f"s.{n} = f32[8,8] add(r.{n}, x.{n})", f"a.{n} = f32[8,8] abs(s.{n})", f"q.{n} = f32[8,8] sqrt(a.{n})",
            f"u.{n} = f32[8,8] subtract(s.{n}, q.{n})", f"c.{n} = f32[8,8] cosine(u.{n})"]
        last = f"c.{n}"
        if n % 40 == 39:
            lines += [f"i.{n} = (s32[], f32[8,8]) tuple(zero, {last})",
                      f"l.{n} = (s32[], f32[8,8]) while(i.{n}), condition=cond, body=body",
                      f"g.{n} = f32[8,8] get-tuple-element(l.{n}), index=1"]
            last = f"g.{n}"
        elif n % 10 == 9:
            lines.append(f"f.{n} = f32[8,8] fusion({last}), kind=kLoop, calls=fused")
            last = f"f.{n}"
        lines += [f"v.{n} = f32[8,8] multiply({last}, b.{n})", f"x.{n + 1} = f32[8,8] add(v.{n}, x.{n})"]
    lines[-1] = "ROOT " + lines[-1]
    return "HloModule deep\n" + fused + body + "ENTRY e {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"
