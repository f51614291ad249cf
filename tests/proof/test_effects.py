"""Draws, transfers and calls of libraries with effects are one each time that they run, wherever they are written."""

import pytest

import hlotool
from hlotool.proof import ProofStatus, certified, prove

pytest.importorskip("bitwuzla")
pytest.importorskip("z3")
LIMITS = "z = f32[] constant(0)\n  o = f32[] constant(1)\n"
RNG = "rng(z, o), distribution=rng_uniform"
COMPUTATIONS = f"""
draw {{
  {LIMITS}  ROOT r = f32[4] {RNG}
}}

drawn {{
  x = f32[4] parameter(0)
  {LIMITS}  ROOT r = f32[4] {RNG}
}}

kept {{
  ROOT x = f32[4] parameter(0)
}}

act {{
  x = f32[4] parameter(0)
  ROOT r = f32[4] custom-call(x), custom_call_target="act", custom_call_has_side_effect=true
}}

cond {{
  p = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4] get-tuple-element(p), index=1
  @condition
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}}

body {{
  p = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4] get-tuple-element(p), index=1
  k = f32[4] get-tuple-element(p), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4] copy(x)
  @body
  ROOT r = (s32[], f32[4], f32[4]) tuple(j, y, k)
}}
"""
CALLS = "a = f32[4] call(), to_apply=draw\nb = f32[4] call(), to_apply=draw\n"
CONDITIONALS = "".join(f"{n} = f32[4] conditional(p, x, x), true_computation=drawn, false_computation=kept\n"
                       for n in "ab")
LOOP = ("c = s32[] constant(0)\nt = (s32[], f32[4], f32[4]) tuple(c, x, x)\n"
        "w = (s32[], f32[4], f32[4]) while(t), condition=cond, body=body\n")
OUT = "t = token[] after-all()\n  e = token[] outfeed(x, t)\n"
DRAWN = f"{LIMITS}  q = f32[4] {RNG}\n  "
#: loops that add a number to their state that is drawn before, or in each round
FED = f"{DRAWN}c = s32[] constant(0)\nt = (s32[], f32[4], f32[4]) tuple(c, x, q)\n" + LOOP.split("\n", 2)[2] + (
    "ROOT g = f32[4] get-tuple-element(w), index=1")


def received(one, other, is_host="true"):
    return "t = token[] after-all()\n" + "".join(
        f"r{n} = (f32[4], u32[], token[]) recv(t), channel_id={channel}, is_host_transfer={is_host}\n"
        f"d{n} = (f32[4], token[]) recv-done(r{n}), channel_id={channel}, is_host_transfer={is_host}\n"
        f"g{n} = f32[4] get-tuple-element(d{n}), index=0\n" for n, channel in enumerate((one, other))
    ) + "ROOT s = f32[4] subtract(g0, g1)"


def library(aliasing):
    return f'ROOT r = f32[4] custom-call(x), custom_call_target="act"{aliasing}'


def unlike(loop, one, other):
    """Two programs of one loop whose computations differ."""
    return loop, loop, one, other


NOTHING, OUTFED = ("", ""), ("", OUT)
#: two values of which only a graph of moves, or a solver, finds that they are equal
TWINS = """s = f32[4] add(x, x)
u = f32[4] reverse(s), dimensions={0}
b = f32[4] reverse(x), dimensions={0}
v = f32[4] add(b, b)
l = s32[] parameter(2)
one = s32[] constant(1)
h = s32[] add(l, l)
k = s32[] shift-left(l, one)
c = s32[] constant(0)
"""


def twins(operation, kind="f32[4]", ending=""):
    """Two programs that subtract results of an operation on values that are equal: of both runs, or of one."""
    runs = "".join(f"w{at} = {operation.format(at)}\n" for at in ("uh", "vk"))
    runs += ending or "\n".join(f"g{at} = {kind} copy(w{at})" for at in ("uh", "vk"))
    return tuple(f"{TWINS}{runs}\nROOT r = {kind} subtract(guh, {last})" for last in ("gvk", "guh"))


#: lines before and after; of a loop's condition and body, too
UNEQUAL = {
    "two calls that draw": (CALLS + "ROOT s = f32[4] subtract(a, b)", CALLS + "ROOT s = f32[4] subtract(b, b)"),
    "two branches that draw": (CONDITIONALS + "ROOT s = f32[4] subtract(a, b)",
                               CONDITIONALS + "ROOT s = f32[4] subtract(a, a)"),
    "two calls of a library": tuple(
        "a = f32[4] call(x), to_apply=act\nb = f32[4] call(x), to_apply=act\n" + f"ROOT s = f32[4] subtract(a, {last})"
        for last in "ab"),
    "a loop of transfers whose result is dropped": (LOOP + "ROOT s = f32[4] copy(x)", "ROOT s = f32[4] copy(x)",
                                                    OUTFED, OUTFED),
    "a transfer in a condition": unlike(LOOP + "ROOT s = s32[] get-tuple-element(w), index=0", OUTFED, (OUT, "")),
    "a draw before a loop": unlike(FED, ("", DRAWN.replace("q =", "d =") + "u = f32[4] add(y, d)\n"),
                                   ("", DRAWN.replace("q =", "d =") + "u = f32[4] add(y, k)\n")),
    "libraries of equal operands": twins(
        'f32[4] custom-call({0[0]}), custom_call_target="act", custom_call_has_side_effect=true'),
    "draws between equal limits": twins("s32[4] rng(c, {0[1]}), distribution=rng_uniform", "s32[4]"),
    "branches of equal operands": twins(
        "f32[4] conditional(p, {0[0]}, {0[0]}), true_computation=drawn, false_computation=kept"),
    "loops of equal starts": (*twins(
        "(s32[], f32[4], f32[4]) while((s32[], f32[4], f32[4]) tuple(c, {0[0]}, x)), condition=cond, body=body",
        ending="guh = f32[4] get-tuple-element(wuh), index=1\ngvk = f32[4] get-tuple-element(wvk), index=1"),
        *[("", "t = token[] after-all()\n  n = (f32[4], token[]) infeed(t)\n  m = f32[4] get-tuple-element(n), "
               "index=0\n  u = f32[4] add(y, m)\n")] * 2),
    "two channels": (received(1, 2), received(2, 1)),
    "a result in the place of an operand": (library(""), library(", output_to_operand_aliasing={{}: (0, {})}")),
}


def programs(lines, other, inside=NOTHING, other_inside=NOTHING):
    made = []
    for text, (condition, body) in ((lines, inside), (other, other_inside)):
        own = COMPUTATIONS.replace("@condition", condition).replace("@body", body)
        own = own.replace("tuple(j, y, k)", "tuple(j, u, k)") if "u = " in body else own
        made.append(hlotool.parse(f"HloModule m\n{own}\nENTRY e {{\np = pred[] parameter(0)\nx = f32[4] parameter(1)\n"
                                  f"{text}\n}}\n"))
        assert not [d for d in hlotool.verify(made[-1]) if d.severity == "error"], text
    return made


@pytest.mark.parametrize("name", UNEQUAL)
def test_effects_are_told_apart(name):
    before, after = programs(*UNEQUAL[name])
    assert prove(before, after).status is ProofStatus.UNKNOWN
    assert not certified(before, after)
    assert prove(before, before).status is prove(after, after).status is ProofStatus.PROVED


def test_effects_that_are_called_are_those_in_place():
    place = f"{LIMITS}a = f32[4] {RNG}\nb = f32[4] {RNG}\n"
    before, after = programs(CALLS + "ROOT s = f32[4] subtract(a, b)", place + "ROOT s = f32[4] subtract(a, b)")
    assert prove(before, after).status is ProofStatus.PROVED and certified(before, after)


REDUCED = "ROOT r = f32[4] all-reduce(x), to_apply=sum, replica_groups={}"


@pytest.mark.parametrize("entry", [REDUCED, f"{REDUCED}, channel_id=1",
                                   "i = u32[] replica-id()\nROOT r = f32[] convert(i)"])
def test_other_numbers_of_devices_are_told_apart(entry):
    whole = [hlotool.parse(f"HloModule m, replica_count={n}, num_partitions={n}\nsum {{ a = f32[] parameter(0)  "
                           "b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\nENTRY e {\nx = f32[4] parameter(0)\n"
                           f"{entry}\n}}\n") for n in (2, 4, 2)]
    assert prove(*whole[:2]).status is ProofStatus.UNKNOWN and not certified(*whole[:2])
    assert prove(*whole[::2]).status is ProofStatus.PROVED
