"""Rewrites that compilers make, sound and not: what is found, and the instruction that is named.

Each pair is one module before and after; the lines of `before` and `after` use the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import hlotool
from hlotool.verdict import Comparison


def reducer(name: str, opcode: str, kind: str = "f32") -> str:
    return (f"{name} {{ p = {kind}[] parameter(0)\n  q = {kind}[] parameter(1)\n"
            f"  ROOT r = {kind}[] {opcode}(p, q) }}\n")


def below(name: str, order: str = "") -> str:
    return (f"{name} {{ p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
            f"  ROOT r = pred[] compare(p, q), direction=LT{order} }}\n")


def loop(number: str, direction: str) -> str:
    """A loop from 0 to 5 whose body takes a sine."""
    return f"""cond{number} {{ t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction={direction} }}
body{number} {{ t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4] get-tuple-element(t), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  y = f32[4] sine(x)
  ROOT r = (s32[], f32[4]) tuple(j, y) }}
"""


def full(value: str, kind: str = "f32", name: str = "b", dims: str = "4") -> str:
    return f"{name}0 = {kind}[] constant({value})\n{name} = {kind}[{dims}] broadcast({name}0), dimensions={{}}\n"


@dataclass(frozen=True)
class Pair:
    before: str
    after: str
    parameters: str = "x = f32[4] parameter(0)\n"
    #: the instructions that may be named; empty: the rewrite is sound
    named: tuple[str, ...] = ()
    computations: str = ""


TWO = "x = f32[4] parameter(0)\ny = f32[4] parameter(1)\n"
WHOLE = "n = s32[4] parameter(0)\n"
GATHER = ("ROOT g = f32[3] gather(x, {}), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
          "index_vector_dim=1, slice_sizes={{1}}")
SCATTER = ("ROOT s = f32[4] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, "
           "scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={}")
LOOP = ("z = s32[] constant(0)\nt = (s32[], f32[4]) tuple(z, x)\nw = (s32[], f32[4]) while(t), condition=cond{0}, "
        "body=body{0}\nROOT g = f32[4] get-tuple-element(w), index=1")
KEYED = ("s = (s32[16], f32[16]) sort({}, {}), dimensions={{0}}, is_stable=true, to_apply=lt\n"
         "ROOT g = f32[16] get-tuple-element(s), index=1")
KEYS = ("lt { p = s32[] parameter(0)\n  q = s32[] parameter(1)\n  a = f32[] parameter(2)\n  b = f32[] parameter(3)\n"
        "  ROOT r = pred[] compare(p, q), direction=LT }\n")

UNSOUND = {
    "log of exp": Pair("e = f32[4] exponential(x)\nROOT l = f32[4] log(e)", "ROOT l = f32[4] copy(x)", named=("l",)),
    "x over x": Pair("ROOT q = f32[4] divide(x, x)", full("1") + "ROOT q = f32[4] copy(b)", named=("q",)),
    "added and subtracted": Pair("s = f32[4] add(x, y)\nROOT d = f32[4] subtract(s, y)", "ROOT d = f32[4] copy(x)", TWO,
                                 ("d",)),
    "root squared": Pair("s = f32[4] sqrt(x)\nROOT m = f32[4] multiply(s, s)", "ROOT m = f32[4] copy(x)", named=("m",)),
    "a sum before its conversion": Pair(
        full("3", "s32") + "a = s32[4] add(n, b)\nROOT f = f32[4] convert(a)",
        "c = f32[4] convert(n)\n" + full("3") + "ROOT f = f32[4] add(c, b)", WHOLE, ("f",)),
    "reduce-precision removed": Pair("ROOT r = f32[4] reduce-precision(x), exponent_bits=5, mantissa_bits=10",
                                     "ROOT r = f32[4] copy(x)", named=("r",)),
    "summed up in bf16": Pair(
        "z = f32[] constant(0)\nROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add",
        "c = bf16[512] convert(x)\nz = bf16[] constant(0)\ns = bf16[] reduce(c, z), dimensions={0}, to_apply=addb\n"
        "ROOT r = f32[] convert(s)", "x = f32[512] parameter(0)\n", ("r",),
        reducer("add", "add") + reducer("addb", "add", "bf16")),
    "a select as a minimum": Pair("p = pred[4] compare(x, y), direction=LT\nROOT s = f32[4] select(p, x, y)",
                                  "ROOT s = f32[4] minimum(x, y)", TWO, ("s",)),
    "a maximum as a select": Pair("ROOT s = f32[4] maximum(x, y)", "p = pred[4] compare(x, y), direction=GT\n"
                                  "ROOT s = f32[4] select(p, x, y)", TWO, ("s",)),
    "the sign of zero, seen by a quotient": Pair(
        full("0") + "a = f32[4] add(x, b)\n" + full("1", name="o") + "ROOT s = f32[4] divide(o, a)",
        full("1", name="o") + "ROOT s = f32[4] divide(o, x)", named=("s",)),
    "a quotient of integers as a shift": Pair(
        full("4", "s32") + "ROOT q = s32[4] divide(n, b)",
        full("2", "s32") + "ROOT q = s32[4] shift-right-arithmetic(n, b)", WHOLE, ("q",)),
    "a remainder as bits": Pair(full("8", "s32") + "ROOT q = s32[4] remainder(n, b)",
                                full("7", "s32") + "ROOT q = s32[4] and(n, b)", WHOLE, ("q",)),
    "a shift out of range": Pair(
        "ROOT q = s32[4] shift-left(n, k)",
        full("31", "s32") + "m = s32[4] and(k, b)\nROOT q = s32[4] shift-left(n, m)",
        "n = s32[4] parameter(0)\nk = s32[4] parameter(1)\n", ("q",)),
    "a conversion that saturates": Pair("ROOT c = s8[4] convert(x)", "w = s32[4] convert(x)\nROOT c = s8[4] convert(w)",
                                        named=("c",)),
    "the size of an integer is not below zero": Pair(
        "a = s32[4] abs(n)\n" + full("0", "s32") + "ROOT c = pred[4] compare(a, b), direction=GE",
        full("true", "pred") + "ROOT c = pred[4] copy(b)", WHOLE, ("c",)),
    "a gather that wraps": Pair(
        GATHER.format("i"), full("7", "s32", "m", "3,1") + "j = s32[3,1] and(i, m)\n" + GATHER.format("j"),
        "x = f32[8] parameter(0)\ni = s32[3,1] parameter(1)\n", ("g", "j")),
    "a scatter with equal indices": Pair(
        SCATTER.format("add"), SCATTER.format("max"),
        "x = f32[4] parameter(0)\ni = s32[3,1] parameter(1)\nu = f32[3] parameter(2)\n", ("s",),
        reducer("add", "add") + reducer("max", "maximum")),
    "a sort's order of NaN": Pair(
        "ROOT s = f32[8] sort(x), dimensions={0}, is_stable=true, to_apply=total",
        "ROOT s = f32[8] sort(x), dimensions={0}, is_stable=true, to_apply=partial",
        "x = f32[8] parameter(0)\n", ("s",),
        below("total", ", type=TOTALORDER") + below("partial")),
    "a stable sort backwards": Pair(
        KEYED.format("k", "x"), "l = s32[16] reverse(k), dimensions={0}\ny = f32[16] reverse(x), dimensions={0}\n"
        + KEYED.format("l", "y"), "k = s32[16] parameter(0)\nx = f32[16] parameter(1)\n", ("s",), KEYS),
    "a slice that is not held inside": Pair(
        "ROOT d = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}",
        "m = s32[] constant(7)\nz = s32[] constant(0)\nj = s32[] clamp(z, i, m)\no = f32[] constant(0)\n"
        "p = f32[10] pad(x, o), padding=0_2\nROOT d = f32[3] dynamic-slice(p, j), dynamic_slice_sizes={3}",
        "x = f32[8] parameter(0)\ni = s32[] parameter(1)\n", ("d",)),
    "updates that overlap, in another order": Pair(
        "a = f32[8] dynamic-update-slice(x, u, i)\nROOT d = f32[8] dynamic-update-slice(a, v, j)",
        "a = f32[8] dynamic-update-slice(x, v, j)\nROOT d = f32[8] dynamic-update-slice(a, u, i)",
        "x = f32[8] parameter(0)\nu = f32[3] parameter(1)\nv = f32[3] parameter(2)\ni = s32[] parameter(3)\n"
        "j = s32[] parameter(4)\n", ("d", "a")),
    "a loop that runs once more": Pair(LOOP.format(1), LOOP.format(2), named=("c", "w"),
                                       computations=loop("1", "LT") + loop("2", "LE")),
    "windows padded with zero": Pair(
        *(f"n = f32[] constant({v})\nROOT r = f32[6] reduce-window(x, n), window={{size=3 pad=1_1}}, to_apply=max"
          for v in ("-inf", "0")), "x = f32[6] parameter(0)\n", ("r", "n"), reducer("max", "maximum")),
    "a power as a root": Pair(full("0.5") + "ROOT p = f32[4] power(x, b)", "ROOT p = f32[4] sqrt(x)", named=("p",)),
    "a clamp as selects": Pair(
        full("0") + full("1", name="o") + "ROOT c = f32[4] clamp(b, x, o)",
        full("0") + full("1", name="o") + "p = pred[4] compare(x, o), direction=LT\nq = f32[4] select(p, x, o)\n"
        "g = pred[4] compare(q, b), direction=GT\nROOT c = f32[4] select(g, q, b)", named=("c", "q")),
}

SOUND = {
    "a power as a product": Pair(full("2") + "ROOT p = f32[4] power(x, b)", "ROOT p = f32[4] multiply(x, x)"),
    "a reciprocal root": Pair("s = f32[4] sqrt(x)\n" + full("1") + "ROOT r = f32[4] divide(b, s)",
                              "ROOT r = f32[4] rsqrt(x)"),
    "a sum in another order": Pair(
        "z = f32[] constant(0)\nROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add",
        "z = f32[] constant(0)\nm = f32[8,8] reshape(x)\ns = f32[8] reduce(m, z), dimensions={0}, to_apply=add\n"
        "ROOT r = f32[] reduce(s, z), dimensions={0}, to_apply=add", "x = f32[64] parameter(0)\n",
        computations=reducer("add", "add")),
    "operands the other way round": Pair("p = f32[4] multiply(x, y)\nROOT s = f32[4] add(p, x)",
                                         "p = f32[4] multiply(y, x)\nROOT s = f32[4] add(x, p)", TWO),
    "a broadcast after the quotient": Pair(
        "a = f32[4] broadcast(x), dimensions={}\nb = f32[4] broadcast(y), dimensions={}\nROOT s = f32[4] divide(a, b)",
        "q = f32[] divide(x, y)\nROOT s = f32[4] broadcast(q), dimensions={}",
        "x = f32[] parameter(0)\ny = f32[] parameter(1)\n"),
    "a reshape before": Pair("e = f32[4] exponential(x)\nROOT r = f32[2,2] reshape(e)",
                             "q = f32[2,2] reshape(x)\nROOT r = f32[2,2] exponential(q)"),
    "a product of matrices transposed": Pair(
        "ROOT d = f32[4,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "e = f32[3,4] dot(y, x), lhs_contracting_dims={0}, rhs_contracting_dims={1}\n"
        "ROOT d = f32[4,3] transpose(e), dimensions={1,0}", "x = f32[4,5] parameter(0)\ny = f32[5,3] parameter(1)\n"),
    "logistic written out": Pair(
        "ROOT l = f32[4] logistic(x)", "n = f32[4] negate(x)\ne = f32[4] exponential(n)\n" + full("1")
        + "s = f32[4] add(b, e)\nROOT l = f32[4] divide(b, s)"),
    "an odd function": Pair("n = f32[4] negate(x)\nROOT t = f32[4] tanh(n)",
                            "h = f32[4] tanh(x)\nROOT t = f32[4] negate(h)"),
    "zero minus a number": Pair(full("0") + "ROOT s = f32[4] subtract(b, x)", "ROOT s = f32[4] negate(x)"),
}


def compared(pair: Pair, executors: tuple[str, ...] = ("reference",)) -> Comparison:
    before, after = (f"HloModule m\n{pair.computations}\nENTRY e {{\n{pair.parameters}{b}\n}}\n"
                     for b in (pair.before, pair.after))
    return hlotool.compare(before, after, executors=executors, time_budget=3)


@pytest.mark.parametrize("name", UNSOUND)
def test_an_unsound_rewrite_is_found_and_named(name: str) -> None:
    found = compared(UNSOUND[name])
    assert found.verdict == "differ", str(found.counts)
    assert found.instruction in UNSOUND[name].named


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_rewrite_is_no_difference(name: str) -> None:
    found = compared(SOUND[name])
    assert found.verdict == "agree", str(found)
