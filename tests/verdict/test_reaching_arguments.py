"""Arguments that reach far: long loops, transformed constants, payloads of NaN, ends of narrow types, unused sides."""

from __future__ import annotations

import json
import os
import pathlib

import numpy as np
import pytest
from reaching_pairs import PAIRS

import hlotool
from hlotool.cli import main
from hlotool.execution import Program
from hlotool.verdict import KINDS, ArgumentSearch
from hlotool.verdict.loop_bounds import most_rounds

#: one of each class; the others run at night
_FEW = ("round 12, an argument", "round 49, an argument hidden by xor", "round 299, twice an argument and three",
        "a product with an odd number", "a rotation", "a hash function's end", "a float's affine map",
        "bits of a float, multiplied", "NaN 7fffffff", "NaN 7f800001", "the end of f8e4m3fn",
        "the end of f32 as f8e5m2", "a square and one", "a sum of eight", "sixteen truth values",
        "a branch of the second module", "inside of a loop", "selects inside of each other", "a table's element",
        "a gathered element", "four equal numbers", "between two limits", "a constant in a loop")
#: True at night (CONTRIBUTING.md)
_ALL = os.environ.get("HLOTOOL_NIGHTLY") == "1"


def compared(before: str, after: str) -> hlotool.verdict.Comparison:
    return hlotool.verdict.compare(before, after, executors=("reference",))


@pytest.mark.parametrize("name", PAIRS if _ALL else _FEW)
def test_a_fault_that_only_far_fetched_arguments_show(name: str) -> None:
    found = compared(PAIRS[name].before, PAIRS[name].wrong)
    assert found.verdict == "differ", str(found)


@pytest.mark.parametrize("name", PAIRS if _ALL else _FEW[::3])
def test_its_sound_twin_is_no_difference(name: str) -> None:
    found = compared(PAIRS[name].before, PAIRS[name].sound)
    assert found.verdict == "agree", str(found)


def _of_a_square(number: int, root: str = "s", test: str = "direction=EQ") -> str:
    """A number that is chosen where a square is 3, which it never is."""
    return ("HloModule m\nENTRY e {\n  x = u32[] parameter(0)\n  h = u32[] multiply(x, x)\n  k = u32[] constant(3)\n"
            f"  c = pred[] compare(h, k), {test}\n  a = u32[] constant({number})\n  s = u32[] select(c, a, x)\n"
            f"  t = u32[] add(x, a)\n  ROOT r = u32[] copy({root})\n}}\n")


def test_a_change_that_reaches_no_result_is_no_agreement() -> None:
    found = compared(_of_a_square(7), _of_a_square(8))
    assert found.verdict == "none" and found.kind == "vacuous"
    assert "differ in constant a, of which no result told anything" in found.vacuous[0]
    assert compared(_of_a_square(7, "t"), _of_a_square(8, "t")).verdict == "differ"


def test_a_comparison_that_both_modules_decide_alike_is_no_agreement() -> None:
    found = compared(_of_a_square(7, test="direction=LT"), _of_a_square(7, test="direction=LE"))
    assert found.verdict == "none" and "differ in compare c" in found.vacuous[0]


def test_a_change_that_shows_but_counts_for_nothing_is_an_agreement() -> None:
    """The start of a slice is held within its operand, by the operation, too."""
    made = ("HloModule m\nENTRY e {{\n  x = f32[10] parameter(0)\n  i = s32[] parameter(1)\n  z = s32[] constant(0)\n"
            "  h = s32[] constant({})\n  c = s32[] clamp(z, i, h)\n"
            "  ROOT r = f32[3] dynamic-slice(x, c), dynamic_slice_sizes={{3}}\n}}\n")
    found = compared(made.format(7), made.format(8))
    assert found.verdict == "agree" and not found.vacuous, str(found)


def test_truth_values_of_results_and_of_xor_are_choices() -> None:
    head = "HloModule m\nENTRY e {\n  x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  k = s32[] constant(2)\n"
    squares = "  p = s32[] multiply(x, x)\n  q = s32[] constant(3)\n  a = pred[] compare(p, q), direction=EQ\n"
    other = "  b = pred[] compare(y, k), direction=LT\n"
    found = compared(f"{head}{squares}{other}  ROOT r = pred[] xor(a, b)\n}}\n",
                     f"{head}{squares}{other}  ROOT r = pred[] compare(a, b), direction=NE\n}}\n")
    assert found.verdict == "agree" and found.untaken == ["xor r: first true"]
    found = compared(f"{head}{squares}{other}  ROOT r = (pred[], pred[]) tuple(a, b)\n}}\n",
                     f"{head}{squares}{other}  c = pred[] copy(a)\n  ROOT r = (pred[], pred[]) tuple(c, b)\n}}\n")
    assert found.verdict == "agree" and found.untaken == ["result 0: true"]


@pytest.mark.parametrize("kind", ["s64", "u64", "s32", "s4"])
def test_one_number_of_every_width_is_an_argument(kind: str) -> None:
    text = (f"HloModule m\nENTRY e {{{{\n  x = {kind}[] parameter(0)\n  k = {kind}[] constant(5)\n"
            "  c = pred[] compare(x, k), direction={}\n  ROOT r = s32[] convert(c)\n}}\n")
    assert compared(text.format("GE"), text.format("GT")).verdict == "differ"
    found = ArgumentSearch([Program(hlotool.parse(text.format("GE")))])
    assert {str(found.make(k).values[0][0].dtype) for k in KINDS} == {str(np.dtype(found.leaves[0].shape.dtype.numpy))}


def test_few_bits_in_all_are_tried_one_by_one() -> None:
    """A loop of as many rounds as a u8 says, whose last round is wrong where that is 255."""
    def made(changed: str) -> str:
        return PAIRS["round 12, an argument"].before.replace("x = s32[]", "x = u8[]").replace(
            "n = s32[] copy(x)", "n = s32[] convert(x)").replace("t = s32[] copy(u)", changed)

    right = made("t = s32[] copy(u)")
    wrong = made("b = s32[] constant(254)\n  e = pred[] compare(i, b), direction=EQ\n  t = s32[] select(e, s, u)")
    found = compared(right, wrong)
    assert found.verdict == "differ" and found.witness is not None and found.witness[0][0] == 255
    found = compared(right, made("t = s32[] add(q, s)"))
    assert found.verdict == "agree" and found.enumerated == 256 and not found.open


def test_a_truth_value_that_becomes_a_number_is_a_choice() -> None:
    """Arithmetic in place of a select, where no arguments found make it true: a hash of five rounds."""
    head = "HloModule m\nENTRY e {\n  x = u32[] parameter(0)\n  k = u32[] constant(2654435761)\n  v0 = u32[] copy(x)\n"
    rounds = "".join(f"  r{n} = u32[] remainder(v{n}, k)\n  m{n} = u32[] multiply(v{n}, r{n})\n"
                     f"  v{n + 1} = u32[] add(m{n}, k)\n" for n in range(5))
    test = "  c = u32[] constant(77777)\n  q = pred[] compare(v5, c), direction=EQ\n  g = u32[] convert(q)\n"
    found = compared(f"{head}{rounds}  ROOT r = u32[] not(v5)\n}}\n",
                     f"{head}{rounds}{test}  n = u32[] not(v5)\n  ROOT r = u32[] add(n, g)\n}}\n")
    assert found.verdict == "differ" or "second module, convert g: true was never taken" in found.open


def test_a_loop_that_may_run_further_is_open() -> None:
    pair = PAIRS["round 12, an argument"]
    found = compared(pair.before, pair.sound)
    assert found.basis == "sampled" and [w.split(" may ")[0] for w in found.open] == [
        "while w", "second module, while w"]
    assert found.loops["while w"] >= 1000 and "open: while w may run further" in str(found)


def test_a_bounded_loop_is_not_open() -> None:
    bounded = PAIRS["round 12, an argument"].before.replace(
        "ROOT c = pred[] compare(i, n)", "f = s32[] constant(40)\n  l = s32[] minimum(n, f)\n"
                                         "  ROOT c = pred[] compare(i, l)")
    loop = next(i for i in hlotool.parse(bounded).entry.instructions if i.opcode == "while")
    assert most_rounds(loop) == 40
    found = compared(bounded, bounded.replace("add(s, q)", "add(q, s)"))
    assert not found.open and found.verdict == "agree"


def test_few_bits_are_tried_whole() -> None:
    text = "HloModule m\nENTRY e {\n  x = u8[3] parameter(0)\n  y = u8[3] parameter(1)\n  ROOT z = u8[3] {}\n}\n"
    found = compared(text.replace("{}\n", "xor(x, y)\n"), text.replace("{}\n", "xor(y, x)\n"))
    assert found.enumerated == 65_536 and found.basis == "enumerated" and not found.open
    one_of_them = text.replace("  ROOT z = u8[3] {}", "".join(
        f"  {n} = u8[] constant({c})\n  {n}s = u8[3] broadcast({n}), dimensions={{}}\n"
        f"  {n}e = pred[3] compare({a}, {n}s), direction=EQ\n" for n, c, a in (("c", 93, "x"), ("d", 201, "y")))
        + "  both = pred[3] and(ce, de)\n  v = u8[3] xor(x, y)\n  ROOT z = u8[3] select(both, x, v)")
    assert compared(text.replace("{}\n", "xor(x, y)\n"), one_of_them).verdict == "differ"


def test_one_program_under_two_names_is_proved_equal() -> None:
    before = PAIRS["round 12, an argument"].before
    found = compared(before, before.replace("  q = ", "  square = ").replace("(s, q)", "(s, square)"))
    assert found.basis == "proved" and not found.open


def test_sides_of_the_second_module_are_named(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "HloModule m\nENTRY e {\n  x = s32[4] parameter(0)\n  ROOT y = s32[4] negate(x)\n}\n"
    never = text.replace("  ROOT y = s32[4] negate(x)", "  a = s32[4] multiply(x, x)\n  c = s32[] constant(2)\n"
                         "  b = s32[4] broadcast(c), dimensions={}\n  q = pred[4] compare(a, b), direction=EQ\n"
                         "  n = s32[4] negate(x)\n  ROOT y = s32[4] select(q, x, n)")
    files = [tmp_path / "before.hlo", tmp_path / "after.hlo"]
    for file, written in zip(files, (text, never), strict=True):
        file.write_text(written)
    names = [str(f) for f in files]
    assert main(["compare", *names, "--executors", "reference"]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.endswith("open: second module, select y: on_true was never taken") and "on 320 sets" in first
    assert main(["compare", *names, "--executors", "reference", "--allow-open", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["basis"] == "sampled" and len(record["open"]) == 1


def test_nans_have_many_payloads_where_bits_are_read() -> None:
    text = "HloModule m\nENTRY e {\n  x = f32[64] parameter(0)\n  ROOT y = u32[64] bitcast-convert(x)\n}\n"
    search = ArgumentSearch([Program(hlotool.parse(text))])
    drawn = np.concatenate([search.make("bits", n).values[0][0].view(np.uint32) for n in range(40)])
    missing = drawn[np.isnan(drawn.view(np.float32))]
    assert {0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001, 0x7FC00000, 0xFFC00000} <= set(missing.tolist())
    assert len(set(missing.tolist())) > 50
