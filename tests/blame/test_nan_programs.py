"""Programs with a known origin of NaN or an infinity: the instruction, the calls that lead there and the iteration."""

import json
import re
from dataclasses import dataclass

import numpy as np
import pytest

from hlotool import parse
from hlotool.blame import find_nonfinite, nonfinite_diagnostics
from hlotool.cli import main
from hlotool.execution import Program

INF, NAN = float("inf"), float("nan")


@dataclass
class Case:
    """Lines of the entry (the last is the root), other computations, arguments, and what is to be said.

    `c.3 = x` stands for a broadcast of the constant 3 to the shape of x.
    """

    lines: str
    given: tuple
    place: str
    verdict: str = "nan"
    cause: str = ""
    before: str = ""


def fold(name: str, opcode: str, kind: str = "f32") -> str:
    return (f"{name} {{\n p = {kind}[] parameter(0)\n q = {kind}[] parameter(1)\n"
            f" ROOT r = {kind}[] {opcode}(p, q)\n}}\n")


def loop(rounds: int, body: str, kind: str = "f32[4]") -> str:
    """Computations `until` and `body`: the body makes y of x (and of the counter i) so many times."""
    state = f" t = (s32[], {kind}) parameter(0)\n i = s32[] get-tuple-element(t), index=0\n"
    return (f"until {{\n{state} n = s32[] constant({rounds})\n ROOT p = pred[] compare(i, n), direction=LT\n}}\n"
            f"body {{\n{state} x = {kind} get-tuple-element(t), index=1\n one = s32[] constant(1)\n"
            f" j = s32[] add(i, one)\n{body} ROOT r = (s32[], {kind}) tuple(j, y)\n}}\n")


def run_loop(kind: str = "f32[4]") -> str:
    return (f"x = {kind} parameter(0)\n z = s32[] constant(0)\n s = (s32[], {kind}) tuple(z, x)\n"
            f" w = (s32[], {kind}) while(s), condition=until, body=body\n g = {kind} get-tuple-element(w), index=1\n")


def filled(name: str, number: str, kind: str = "f32", dims: str = "[4]") -> str:
    return f" {name}.0 = {kind}[] constant({number})\n {name} = {kind}{dims} broadcast({name}.0), dimensions={{}}\n"


ONES = np.ones(4, "f4")
X = "x = f32[4] parameter(0)\n"
CASES = {
    # Losses and their gradients.
    "cross entropy where a probability is 0, in a fusion": Case(
        X + " y = f32[4] parameter(1)\n f = f32[4] fusion(x, y), kind=kLoop, calls=loss\n n = f32[4] negate(f)",
        (np.float32([0.5, 0, 0.25, 0.25]), np.float32([1, 0, 0, 0])), "m in loss, called by f", cause="l",
        before="loss {\n p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n l = f32[4] log(p)\n"
               " ROOT m = f32[4] multiply(q, l)\n}\n"),
    "a norm's gradient at 0": Case(
        X + " z = f32[] constant(0)\n q = f32[4] multiply(x, x)\n"
        " s = f32[] reduce(q, z), dimensions={0}, to_apply=sum\n"
        " n = f32[] sqrt(s)\n b = f32[4] broadcast(n), dimensions={}\n d = f32[4] divide(x, b)\n r = f32[4] negate(d)",
        (np.zeros(4, "f4"),), "d", before=fold("sum", "add")),
    "a root's gradient at 0, times 0": Case(
        X + filled("h", "0.5") + " s = f32[4] sqrt(x)\n d = f32[4] divide(h, s)\n m = f32[4] multiply(d, x)\n"
        " n = f32[4] negate(m)", (np.float32([1, 0, 4, 9]),), "m", cause="d"),
    "layer normalisation of equal numbers without an epsilon": Case(
        X + " z = f32[] constant(0)\n" + filled("k", "0.25") +
        " s = f32[] reduce(x, z), dimensions={0}, to_apply=sum\n b = f32[4] broadcast(s), dimensions={}\n"
        " m = f32[4] multiply(b, k)\n c = f32[4] subtract(x, m)\n q = f32[4] multiply(c, c)\n"
        " v = f32[] reduce(q, z), dimensions={0}, to_apply=sum\n e = f32[] rsqrt(v)\n"
        " o = f32[4] broadcast(e), dimensions={}\n y = f32[4] multiply(c, o)", (np.full(4, 2, "f4"),), "y", cause="e",
        before=fold("sum", "add")),
    "logsumexp without taking off the largest": Case(
        X + " z = f32[] constant(0)\n e = f32[4] exponential(x)\n"
        " s = f32[] reduce(e, z), dimensions={0}, to_apply=sum\n"
        " l = f32[] log(s)\n n = f32[] negate(l)", (np.float32([1, 2, 100, 3]),), "e", "infinity",
        before=fold("sum", "add")),
    "a mask of log that is multiplied, not selected": Case(
        X + " p = pred[4] parameter(1)\n m = f32[4] convert(p)\n l = f32[4] log(x)\n y = f32[4] multiply(l, m)",
        (np.float32([1, -1, 2, 3]), np.array([True, False, True, True])), "l"),
    "a select whose dead side is NaN, and a power that is alive": Case(
        X + filled("z", "0") + filled("k", "0.5") + " p = pred[4] compare(x, z), direction=GE\n"
        " s = f32[4] sqrt(x)\n a = f32[4] select(p, s, z)\n m = f32[4] negate(x)\n u = f32[4] power(m, k)\n"
        " y = f32[4] add(a, u)", (np.float32([-1, 2, 3, 4]),), "u"),
    # Loops.
    "an iteration that divides by zero": Case(
        run_loop() + " y = f32[4] negate(g)", (np.float32([7.5, 3, 8.5, 9.5]),), "q in body, iteration 3 of w",
        before=loop(6, filled("o", "1") + " a = f32[4] subtract(x, o)\n d = f32[4] subtract(a, a)\n"
                    " p = pred[4] compare(x, d), direction=NE\n b = f32[4] select(p, o, d)\n"
                    " q = f32[4] divide(d, b)\n y = f32[4] add(a, q)\n")),
    "f16 that doubles until it overflows, then inf - inf": Case(
        run_loop("f16[4]") + " y = f16[4] negate(g)", (np.float16([1, 3000, 2, 3]),), "y in body, iteration 4 of w",
        cause="e", before=loop(8, " d = f16[4] add(x, x)\n e = f16[4] add(d, d)\n y = f16[4] subtract(e, d)\n",
                               "f16[4]")),
    "f8 without infinities in a loop": Case(
        run_loop("f8e4m3fn[4]") + " y = f32[4] convert(g)", (np.float32([1, 32, 2, 3]),),
        "y in body, iteration 3 of w", before=loop(5, " y = f8e4m3fn[4] add(x, x)\n", "f8e4m3fn[4]")),
    "a root that falls below zero after some rounds, in a fusion": Case(
        run_loop() + " y = f32[4] negate(g)", (np.float32([9, 9, 2.5, 9]),),
        "q in root, called by y, iteration 2 of w",
        before="root {\n p = f32[4] parameter(0)\n q = f32[4] sqrt(p)\n ROOT u = f32[4] multiply(q, q)\n}\n"
               + loop(4, filled("o", "1") + " s = f32[4] subtract(x, o)\n"
                      " y = f32[4] fusion(s), kind=kLoop, calls=root\n")),
    "a branch that the third round takes": Case(
        run_loop() + " y = f32[4] negate(g)", (np.float32([1, 2, -3, 4]),),
        "l in bad, called by y, iteration 2 of w",
        before="good {\n p = f32[4] parameter(0)\n ROOT n = f32[4] abs(p)\n}\n"
               "bad {\n p = f32[4] parameter(0)\n m = f32[4] negate(p)\n ROOT l = f32[4] log(m)\n}\n"
               + loop(4, " two = s32[] constant(2)\n k = pred[] compare(i, two), direction=EQ\n"
                      " y = f32[4] conditional(k, x, x), true_computation=bad, false_computation=good\n")),
    "what a loop made negative": Case(
        run_loop() + " y = f32[4] log(g)", (np.float32([1, 2, 3, 4]),), "y",
        before=loop(2, filled("o", "3") + " y = f32[4] subtract(x, o)\n")),
    # Reductions, products, windows.
    "products of a window overflow, then meet a zero": Case(
        X + " o = f32[] constant(1)\n"
        " c = f32[4] reduce-window(x, o), window={size=4 pad=3_0}, to_apply=product\n z = f32[4] parameter(1)\n"
        " m = f32[4] multiply(c, z)\n n = f32[4] negate(m)",
        (np.float32([1e20, 1e20, 1, 1]), np.float32([1, 1, 0, 1])), "m", cause="c", before=fold("product", "multiply")),
    "f16 products that overflow in a dot, and are taken from each other": Case(
        "x = f16[2,2] parameter(0)\n"
        " d = f16[2,2] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        " t = f16[2,2] transpose(d), dimensions={1,0}\n y = f16[2,2] subtract(d, t)",
        (np.float16([[300, 300], [300, 300]]),), "y", cause="d"),
    "a sum of infinities of both signs": Case(
        X + " z = f32[] constant(0)\n q = f32[4] divide(x, x)\n k = f32[4] parameter(1)\n e = f32[4] exponential(k)\n"
        " n = f32[4] parameter(2)\n m = f32[4] multiply(e, n)\n a = f32[4] add(m, q)\n"
        " s = f32[] reduce(a, z), dimensions={0}, to_apply=sum\n y = f32[] negate(s)",
        (ONES, np.float32([100, 1, 100, 2]), np.float32([1, 1, -1, 1])), "s", cause="e", before=fold("sum", "add")),
    "a convolution of an infinity with a zero": Case(
        "x = f32[1,4,1] parameter(0)\n k = f32[2,1,1] parameter(1)\n"
        " c = f32[1,3,1] convolution(x, k), window={size=2}, dim_labels=b0f_0io->b0f\n y = f32[1,3,1] negate(c)",
        (np.float32([1, INF, 2, 3]).reshape(1, 4, 1), np.float32([0, 1]).reshape(2, 1, 1)), "c"),
    # Domains.
    "an arc cosine just above 1, in a call in a fusion": Case(
        X + " f = f32[4] fusion(x), kind=kLoop, calls=outer\n y = f32[4] negate(f)",
        (np.float32([1, 1.0000001, 0, 0]),),
        "a in inner, called by c, called by f",
        before="inner {\n p = f32[4] parameter(0)\n ROOT a = f32[4] acos(p)\n}\n"
               "outer {\n p = f32[4] parameter(0)\n ROOT c = f32[4] call(p), to_apply=inner\n}\n"),
    "0 to the power -1, times 0": Case(
        X + filled("k", "-1") + " p = f32[4] power(x, k)\n m = f32[4] multiply(p, x)\n y = f32[4] negate(m)",
        (np.float32([1, 0, 2, 3]),), "m", cause="p"),
    "an inverse hyperbolic tangent of 1, taken from itself": Case(
        X + " a = f32[4] atanh(x)\n r = f32[4] reverse(a), dimensions={0}\n y = f32[4] subtract(a, r)",
        (np.float32([1, 0.5, 0.5, 1]),), "y", cause="a"),
    "a remainder by zero": Case(
        X + " k = f32[4] parameter(1)\n r = f32[4] remainder(x, k)\n y = f32[4] add(r, x)",
        (ONES, np.float32([1, 2, 0, 3])), "r"),
    "the logarithm of 1 + x below -1": Case(
        X + " l = f32[4] log-plus-one(x)\n y = f32[4] floor(l)", (np.float32([-2, 1, 0, 3]),), "l"),
    "a complex division by zero": Case(
        "x = c64[2] parameter(0)\n k = c64[2] parameter(1)\n d = c64[2] divide(x, k)\n y = f32[2] imag(d)",
        (np.complex64([1 + 1j, 2]), np.complex64([1, 0])), "d"),
    "a sine of an infinity that a quotient made": Case(
        X + filled("o", "1") + " d = f32[4] divide(o, x)\n s = f32[4] sine(d)\n y = f32[4] abs(s)",
        (np.float32([1, 0, 2, 3]),), "s", cause="d"),
    "an integer too large for f16": Case(
        "x = s32[4] parameter(0)\n h = f16[4] convert(x)\n y = f16[4] abs(h)", (np.int32([1, 70000, 2, 3]),), "h",
        "infinity"),
    "a decomposition of what is not definite": Case(
        "x = f32[2,2] parameter(0)\n l = f32[2,2] cholesky(x), lower=true\n y = f32[2,2] negate(l)",
        (np.float32([[1, 2], [2, 1]]),), "l"),
    # What is given, moved and picked.
    "NaN in one leaf of a tuple, another's is masked": Case(
        "t = (f32[4], f32[4]) parameter(0)\n a = f32[4] get-tuple-element(t), index=0\n"
        " b = f32[4] get-tuple-element(t), index=1\n l = f32[4] log(a)\n k = pred[4] is-finite(l)\n"
        " s = f32[4] select(k, l, a)\n y = f32[4] add(s, b)", (np.float32([1, -1, 2, 3]), np.float32([1, 2, NAN, 4])),
        "t"),
    "NaN that a dynamic slice picks from a constant": Case(
        "i = s32[] parameter(0)\n c = f32[4] constant({1, 2, nan, 4})\n"
        " d = f32[1] dynamic-slice(c, i), dynamic_slice_sizes={1}\n y = f32[1] negate(d)", (np.int32(2),), "c"),
    "padding with NaN": Case(
        X + " n = f32[] constant(nan)\n p = f32[6] pad(x, n), padding=1_1\n y = f32[6] abs(p)", (ONES,), "n"),
    "a bit pattern that is NaN": Case(
        "x = u32[4] parameter(0)\n b = f32[4] bitcast-convert(x)\n y = f32[4] abs(b)",
        (np.uint32([0, 0x7FC00001, 1, 2]),), "b"),
    "an update of NaN that a scatter writes": Case(
        X + " i = s32[1,1] parameter(1)\n u = f32[1] parameter(2)\n r = f32[1] sqrt(u)\n"
        " s = f32[4] scatter(x, i, r), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=last\n y = f32[4] negate(s)",
        (ONES, np.int32([[2]]), np.float32([-4])), "r",
        before="last {\n p = f32[] parameter(0)\n ROOT q = f32[] parameter(1)\n}\n"),
}


def module_of(case: Case) -> str:
    *first, root = [line.strip() for line in case.lines.strip().splitlines()]
    body = "".join(f"  {line}\n" for line in (*first, "ROOT " + root))
    return f"HloModule m\n{case.before}ENTRY e {{\n{body}}}\n"


def found(case: Case):
    program = Program(parse(module_of(case)))
    given = [np.asarray(a).astype(s.dtype.numpy) for a, s in zip(case.given, program.parameters, strict=True)]
    return find_nonfinite(program, [given])


@pytest.mark.parametrize("name", CASES)
def test_the_place_is_named(name: str) -> None:
    case = CASES[name]
    result = found(case)
    assert result.verdict == case.verdict
    first = result.guilty[0]
    assert str(first.place) == case.place
    assert (first.cause.place.instruction.name if first.cause else "") == case.cause


EXCHANGED = ("HloModule m, replica_count=2\n" + fold("sum", "add") +
             "ENTRY e {\n  x = f32[2] parameter(0)\n  l = f32[2] log(x)\n"
             "  a = f32[2] all-reduce(l), replica_groups={{0,1}}, to_apply=sum\n  ROOT y = f32[2] negate(a)\n}\n")


@pytest.mark.parametrize(("first", "second", "text", "place", "device", "cause"), [
    ([1, -2], [1, 2], EXCHANGED, "l", 0, ""), ([1, 2], [1, -2], EXCHANGED, "l", 1, ""),
    ([0, 2], [INF, 2], EXCHANGED, "a", 0, "l"),
    ([1, 2], [1, -2], re.sub(r"  a = .*\n", "", EXCHANGED).replace("(a)", "(l)"), "l", 1, ""),
])
def test_every_device_is_watched(first: list, second: list, text: str, place: str, device: int, cause: str) -> None:
    result = find_nonfinite(Program(parse(text)), [[np.float32(first)], [np.float32(second)]])
    assert result.verdict == "nan"
    maker = result.guilty[0]
    assert (str(maker.place), maker.device) == (place, device)
    assert (maker.cause.place.instruction.name if maker.cause else "") == cause
    said = [str(n.message) for n in nonfinite_diagnostics(result)[0].notes]
    assert any("on device 1" in n for n in said) == (device == 1)
    assert find_nonfinite(Program(parse(text)), [[np.float32([1, 2])]] * 2).verdict == "finite"


def test_the_command_says_the_iteration(tmp_path, capsys) -> None:
    case = CASES["f16 that doubles until it overflows, then inf - inf"]
    path, given = tmp_path / "m.hlo", tmp_path / "x.npz"
    path.write_text(module_of(case))
    np.savez(given, arg0=case.given[0])
    assert main(["isolate", "--nan", "--json", str(path), "--args", str(given)]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["verdict"], said["instruction"], said["iteration"]) == ("nan", "y", 4)
    assert said["findings"][0]["cause"]["instruction"] == "e"
    assert main(["isolate", "--nan", str(path), "--args", str(given)]) == 1
    assert "made by y in body, iteration 4 of w" in capsys.readouterr().out
