"""Comparison of modules and executors: verdicts, reasons, coverage, arguments."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.blame import compare
from hlotool.cli.compare import _text
from hlotool.cli.main import main
from hlotool.diagnostics import HloError
from hlotool.diagnostics.records import schema_of
from hlotool.execution import Program
from hlotool.numerics import Judgement, Kind, Tolerance
from hlotool.numerics.open_elements import OpenElements
from hlotool.ops import gives_to_host
from hlotool.verdict import (
    ArgumentSearch,
    Comparison,
    ComparisonReport,
    Coverage,
    Finding,
    Watch,
    comparison,
    comparison_json,
)
from hlotool.verdict.argument_sets import KINDS

SMALL = """HloModule small
ENTRY e {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  sum = f32[4] add(a, b)
  ROOT root = (f32[4], f32[4]) tuple(sum, a)
}"""


def module(body: str, computations: str = "", header: str = "m") -> str:
    return f"HloModule {header}\n\n{computations}\nENTRY e {{\n{body}\n}}\n"


def both(before: str, after: str, parameters: str = "  x = f32[4] parameter(0)\n", **options: object) -> Comparison:
    """Two rewrites of one thing on the reference alone."""
    return compare(module(parameters + before), module(parameters + after), executors=("reference",), **options)


def test_compare_agrees() -> None:
    found = compare(SMALL, inputs=("random", "special", "wide"))
    assert found and found.compared == 3 and not found.diagnostics
    assert found.verdict == "agree" and found.kind == "equal"
    assert compare(SMALL, executors=("pjrt:cpu", "stablehlo"), ulps=0, inputs=("random", "special"))


def test_compare_two_modules() -> None:
    found = compare(SMALL, SMALL.replace("add(a, b)", "subtract(a, b)"))
    assert not found
    assert [d.code for d in found.diagnostics] == ["E140"]  # as the command says
    worst = found.worst
    assert worst is not None and worst.result == 0 and found.kind == "wrong" and found.instruction == "sum"


def test_a_budget_by_hand_compares_two_executors_with_each_other() -> None:
    # tanh is within its budget, but not equal between the two.
    text = SMALL.replace("ROOT root = (f32[4], f32[4]) tuple(sum, a)",
                         "exact = f32[4] negate(sum)\n  t = f32[4] tanh(exact)\n  ROOT u = f32[4] add(t, t)")
    assert compare(text, executors=("pjrt:cpu", "stablehlo"), ulps=0, inputs=("random",)).verdict == "differ"
    assert compare(text, executors=("pjrt:cpu", "stablehlo"), inputs=("random",))
    assert compare(text, executors=("pjrt:cpu", "stablehlo"), inputs=("random",), tolerance=Tolerance(rtol=1e-5))


def test_a_failure_to_run_is_no_agreement() -> None:
    found = compare(SMALL, executors=("pjrt:nothing", "reference"))
    assert not found and found.verdict == "none" and found.kind == "failed" and found.diagnostics


def test_modules_of_other_signatures_are_refused() -> None:
    with pytest.raises(HloError, match="cannot be compared"):
        compare(SMALL, SMALL.replace("f32[4]", "f32[5]"))


@pytest.mark.parametrize(("before", "after", "type_"), [
    ("s = f32[4] multiply(x, x)\n  ROOT r = f32[4] sqrt(s)", "ROOT r = f32[4] abs(x)", "f32"),
    ("e = f32[4] exponential(x)\n  ROOT r = f32[4] log(e)", "ROOT r = f32[4] copy(x)", "f32"),
    ("ROOT d = f32[4] subtract(x, x)", "z = f32[] constant(0)\n  ROOT d = f32[4] broadcast(z), dimensions={}", "f32"),
    ("ROOT a = f32[4] log-plus-one(x)", "one = f32[] constant(1)\n  ones = f32[4] broadcast(one), dimensions={}\n"
     "  y = f32[4] add(x, ones)\n  ROOT a = f32[4] log(y)", "f32"),
    ("ROOT a = s32[4] abs(x)", "n = s32[4] negate(x)\n  ROOT a = s32[4] maximum(x, n)", "s8"),
    ("w = s32[4] multiply(x, x)\n  ROOT a = s32[4] abs(w)", "ROOT w = s32[4] multiply(x, x)", "s32"),
    ("n = s8[4] convert(x)\n  ROOT w = s32[4] convert(n)", "ROOT w = s32[4] copy(x)", "s32"),
])
def test_rewrites_that_are_false_at_the_edges(before: str, after: str, type_: str) -> None:
    element = "s32" if type_.startswith("s") else "f32"
    found = both("  " + before, "  " + after, f"  x = {element}[4] parameter(0)\n")
    # |least integer| is itself on both sides: the one sound rewrite of these.
    assert found.verdict == ("agree" if type_ == "s8" else "differ"), str(found)


@pytest.mark.parametrize(("before", "after"), [
    ("c = f32[] constant(8)\n  e = f32[4] broadcast(c), dimensions={}\n  ROOT q = f32[4] divide(x, e)",
     "c = f32[] constant(0.125)\n  e = f32[4] broadcast(c), dimensions={}\n  ROOT q = f32[4] multiply(x, e)"),
    ("c = f32[] constant(7)\n  e = f32[4] broadcast(c), dimensions={}\n  ROOT q = f32[4] divide(x, e)",
     "c = f32[] constant(0.142857149)\n  e = f32[4] broadcast(c), dimensions={}\n  ROOT q = f32[4] multiply(x, e)"),
    ("ROOT d = f32[4] add(x, x)",
     "c = f32[] constant(2)\n  e = f32[4] broadcast(c), dimensions={}\n  ROOT d = f32[4] multiply(x, e)"),
    ("b = bf16[4] convert(x)\n  ROOT d = f32[4] convert(b)", "ROOT d = f32[4] copy(x)"),
])
def test_rewrites_that_are_sound(before: str, after: str) -> None:
    found = both("  " + before, "  " + after)
    assert found.verdict == "agree", str(found)


def test_index_clamps_are_reached_through_arithmetic() -> None:
    parameters = "  x = s32[8] parameter(0)\n  i = s32[] parameter(1)\n  five = s32[] constant(5)\n" \
                 "  j = s32[] add(i, five)\n"
    before = "  ROOT d = s32[3] dynamic-slice(x, j), dynamic_slice_sizes={3}"
    after = "  n = s32[] constant(3)\n  m = s32[] minimum(j, n)\n" \
            "  ROOT d = s32[3] dynamic-slice(x, m), dynamic_slice_sizes={3}"
    found = both(before, after, parameters)
    assert found.verdict == "differ" and found.compared <= 8


def test_who_is_right_and_why() -> None:
    text = module("  x = f32[4] parameter(0)\n  e = f32[4] exponential-minus-one(x)\n  ROOT r = f32[4] sqrt(e)")
    wrong = module("  x = f32[4] parameter(0)\n  e = f32[4] exponential(x)\n  ROOT r = f32[4] sqrt(e)")
    found = compare(text, wrong, executors=("reference",))
    worst = found.worst
    assert worst is not None and worst.right == "the first module" and "higher precision" in worst.why
    assert found.witness is not None and found.witness[0][0].shape == (4,)
    again = compare(text, wrong, executors=("reference",), arguments=found.witness[0])
    assert again.verdict == "differ" and again.inputs == ["given"]


# Agreement that would mean nothing.


def test_all_nan_is_no_agreement() -> None:
    found = compare(module("  x = f32[4] parameter(0)\n  n = f32[] constant(nan)\n"
                           "  w = f32[4] broadcast(n), dimensions={}\n  ROOT s = f32[4] add(x, w)"))
    assert found.verdict == "none" and found.kind == "vacuous" and "NaN" in found.vacuous[0]


def test_results_that_do_not_depend_on_the_arguments_are_no_agreement() -> None:
    found = compare(module("  x = f32[4] parameter(0)\n  ROOT n = f32[4] iota(), iota_dimension=0"))
    assert found.kind == "vacuous" and "depends" in found.vacuous[0]
    same = compare(module("  x = u32[4] parameter(0)\n  z = u32[4] shift-right-logical(x, x)\n"
                          "  c = u32[] constant(0)\n  w = u32[4] broadcast(c), dimensions={}\n"
                          "  ROOT y = u32[4] multiply(x, w)"))
    assert same.kind == "vacuous" and "same whatever" in same.vacuous[0]
    constant = compare(module("  ROOT n = f32[4] iota(), iota_dimension=0"))
    assert constant.verdict == "agree"


def test_each_kind_of_arguments_is_what_its_name_says() -> None:
    search = ArgumentSearch([Program(hlotool.parse(module("  x = f32[4096] parameter(0)\n"
                                                          "  ROOT y = f32[4096] negate(x)")))])
    drawn = {kind: np.asarray(search.make(kind).values[0][0], np.float64) for kind in KINDS}
    sizes = {kind: np.log2(np.abs(values[np.isfinite(values) & (values != 0)])) for kind, values in drawn.items()}
    assert np.ptp(sizes["wide"]) > 200 and np.abs(np.median(sizes["wide"])) < 40
    assert np.max(sizes["random"]) < 4 and (drawn["positive"] > 0).all() and (drawn["negative"] < 0).all()
    assert set(np.unique(drawn["whole"])) <= set(range(-4, 5))
    assert len(np.unique(drawn["ties"])) <= 4 and not np.isfinite(drawn["special"]).all()


def test_sides_that_are_never_taken_are_named() -> None:
    body = "  x = f32[4] parameter(0)\n  a = f32[4] abs(x)\n  m = f32[] constant(-1)\n" \
           "  w = f32[4] broadcast(m), dimensions={}\n  p = pred[4] compare(a, w), direction=LT\n" \
           "  ROOT s = f32[4] select(p, w, a)"
    found = compare(module(body))
    assert found.verdict == "agree" and found.untaken == ["select s: on_true"]
    assert (found.choices, found.covered) == (1, 0)
    reached = compare(module(body.replace("constant(-1)", "constant(77.25)")))
    assert reached.untaken == [] and reached.covered == 1


def test_branches_of_a_conditional_are_all_tried() -> None:
    branches = "".join(f"b{n} {{\n  y = f32[] parameter(0)\n  ROOT r = f32[] {op}(y)\n}}\n"
                       for n, op in enumerate(("negate", "abs", "copy")))
    body = "  i = s32[] parameter(0)\n  x = f32[] parameter(1)\n" \
           "  ROOT c = f32[] conditional(i, x, x, x), branch_computations={b0, b1, b2}"
    found = compare(module(body, branches))
    assert found.verdict == "agree" and found.untaken == []
    # A number without a branch takes the last.
    clamped = body.replace("conditional(i,", "conditional(j,").replace(
        "  ROOT", "  z = s32[] constant(0)\n  j = s32[] maximum(i, z)\n  ROOT")
    assert compare(module(body, branches), module(clamped, branches), executors=("reference",)).verdict == "differ"


# Arguments.


def test_arguments_are_deterministic_and_plain_ones_keep_networks_finite() -> None:
    text = pathlib.Path(__file__).parents[2] / "hlotool/samples/models/resnet_forward.hlo"
    program = Program(hlotool.parse(text.read_text()))
    first, second = (ArgumentSearch([program], seed=3).make("random") for _ in range(2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first.values[0], second.values[0], strict=True))
    (logits,) = hlotool.execute(program.module, first.values[0], "reference")
    assert np.isfinite(logits).all() and np.ptp(logits) > 0


def test_small_arrays_meet_special_values_and_parameters_differ() -> None:
    program = Program(hlotool.parse(SMALL))
    search = ArgumentSearch([program])
    rows = [search.make("special", n).values[0] for n in range(6)]
    seen = np.concatenate([leaf for row in rows for leaf in row])
    assert np.isnan(seen).any() and np.isinf(seen).any() and (seen == 0).any()
    assert any(row[0].tobytes() != row[1].tobytes() for row in rows)


# The command.


def test_the_record_fits_its_schema(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    one, other = tmp_path / "one.hlo", tmp_path / "other.hlo"
    one.write_text(SMALL)
    other.write_text(SMALL.replace("add(a, b)", "subtract(a, b)"))
    witness = tmp_path / "witness.npz"
    assert main(["compare", str(one), str(other), "--json", "--save-arguments", str(witness)]) == 1
    record = json.loads(capsys.readouterr().out)
    jsonschema.validate(record, schema_of(ComparisonReport, "compare"))
    assert record["verdict"] == "differ" and record["instruction"] == "sum" and record["line"] == 5
    assert main(["compare", str(one), str(other), "--args", str(witness), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["arguments"] == {"sets": 1, "planned": 1, "left_out": 0,
                                                                "enumerated": 0, "kinds": ["given"]}
    found = comparison_json("x", compare(SMALL, inputs=("random",)))
    jsonschema.validate(found, schema_of(ComparisonReport, "compare"))


def test_exit_codes(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "vacuous.hlo"
    path.write_text(module("  x = f32[4] parameter(0)\n  ROOT n = f32[4] iota(), iota_dimension=0"))
    assert main(["compare", str(path)]) == 1
    assert "vacuous" in capsys.readouterr().out
    assert main(["compare", str(path), "--allow-vacuous"]) == 0


def test_stored_values_and_the_shadow_are_executors(tmp_path: pathlib.Path) -> None:
    arguments = [np.float32([1, 2, 3, 4]), np.float32([5, 6, 7, 8])]
    np.savez(tmp_path / "out.npz", result0=arguments[0] + arguments[1], result1=arguments[0])
    stored = f"stored:{tmp_path / 'out.npz'}"
    assert compare(SMALL, arguments=arguments, executors=(stored, "reference"))
    assert compare(SMALL, arguments=[arguments[1], arguments[0]], executors=(stored, "reference")).verdict == "differ"
    assert compare(SMALL, executors=("shadow", "reference"), inputs=("random",))


def test_what_has_still_to_be_partitioned_is_compared_on_whole_arrays() -> None:
    text = module("  x = s32[2,8] parameter(0), sharding={devices=[1,2]<=[2]}\n"
                  "  ROOT y = s32[2,8] add(x, x), sharding={devices=[1,2]<=[2]}", header="m, num_partitions=2")
    found = compare(text, inputs=("random", "wide"))
    assert found.verdict == "agree" and found.compared == 2


def test_assert_same_speaks_of_the_worst_element() -> None:
    from hlotool.testing import assert_same

    assert_same(SMALL, inputs=("random",))
    with pytest.raises(AssertionError, match=r"subtract|higher precision"):
        assert_same(SMALL, SMALL.replace("add(a, b)", "subtract(a, b)"), executors=("reference",))
    with pytest.raises(AssertionError, match="vacuous"):
        assert_same(module("  x = f32[4] parameter(0)\n  ROOT n = f32[4] iota(), iota_dimension=0"))


def test_run_gives_a_record(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.hlo"
    path.write_text("HloModule m\nENTRY e { c = f32[3] constant({1, nan, -inf})  ROOT n = f32[3] negate(c) }\n")
    assert main(["run", str(path), "--executors", "reference", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["results"] == [{"device": 0, "result": 0, "element_type": "f32", "dims": [3],
                                  "values": [-1.0, "nan", "inf"]}]


def test_results_whose_sizes_change_are_compared() -> None:
    """One bounded dimension: other arguments, another size; elements of each size count by themselves."""
    text = module("x = f32[5] parameter(0)\nn = s32[] parameter(1)\n"
                  "ROOT d = f32[<=5] set-dimension-size(x, n), dimensions={0}")
    assert hlotool.compare(text, text, executors=("reference",), inputs=("random", "special", "targets", "wide"))
    found = OpenElements()
    for size in (2, 3):
        kinds = np.full(size, Kind.ILL_CONDITIONED, np.int8)
        found.note(("e", 0, 0), Judgement(kinds, kinds, kinds, None, kinds, kinds))
    assert (found.elements, found.undecided) == (5, 5)


def test_a_result_that_few_roundings_lead_to_counts_at_the_ends_of_the_range() -> None:
    """NaN folded away in one result, beside a network whose own results say little there."""
    network = "".join(f"t.{n} = f32[8] tanh(h.{n})\nh.{n + 1} = f32[8] multiply(t.{n}, t.{n})\n" for n in range(20))

    def beside(rewritten: str) -> str:
        return module("x = f32[4] parameter(0)\nh.0 = f32[8] parameter(1)\nz = f32[] constant(0)\n"
                      f"b = f32[4] broadcast(z), dimensions={{}}\n{network}{rewritten}\n"
                      "ROOT t = (f32[4], f32[8]) tuple(r, h.20)")

    before = beside("r = f32[4] maximum(x, b)")
    after = beside("p = pred[4] compare(x, b), direction=GT\nc = f32[4] convert(p)\nr = f32[4] multiply(x, c)")
    found = hlotool.compare(before, after, executors=("reference",), time_budget=5)
    assert found.verdict == "differ" and found.instruction in ("", "r")  # its operands are not the first module's


@pytest.mark.parametrize(("held", "wanted"), [(1 << 28, [12, 1]), (64, [2] * 6 + [1]), (1, [1] * 13)])
def test_few_large_sets_are_run_at_a_time(held: int, wanted: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []

    def noted(work: Any, cases: list[Any]) -> None:
        batches.append(len(cases))
        plain(work, cases)

    plain = comparison._Work._compare_batch
    monkeypatch.setattr(comparison, "_BATCH_BYTES", held)
    monkeypatch.setattr(comparison._Work, "_compare_batch", noted)
    text = "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT s = f32[4] sine(x)\n}\n"
    assert hlotool.compare(text, executors=("shadow", "reference"), inputs=["random"] * 13).verdict == "agree"
    assert batches == wanted


def test_initial_values_of_what_is_split_hold_the_identity() -> None:
    """Each part of a reduction begins with the initial value, so another number has no one result."""
    found = hlotool.compare(module(
        "x = f32[8,8] parameter(0), sharding={devices=[2,2]<=[4]}\n  z = f32[] parameter(1)\n"
        "ROOT r = f32[8] reduce(x, z), dimensions={0}, to_apply=add",
        "add {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}",
        "m, num_partitions=4"))
    assert found.verdict == "agree", str(found)


@pytest.mark.parametrize(("tolerance", "kind"), [
    (Tolerance(atol=0.5), Kind.WITHIN), (Tolerance(rtol=0.25), Kind.WITHIN), (Tolerance(atol=0.25), Kind.WRONG),
    (Tolerance(ulps=2.0**21), Kind.WITHIN), (Tolerance(ulps=2.0**21 - 1), Kind.WRONG)])
def test_the_ends_of_a_tolerance_are_within_it(tolerance: Tolerance, kind: Kind) -> None:
    found = tolerance.judge(np.float32([2.5, 2.0]), np.float32([2.0, 2.0]))
    assert [Kind(k) for k in found.kinds] == [kind, Kind.EQUAL]


@pytest.mark.parametrize(("device", "value", "where"), [
    (0, "", "result 2 of pjrt:cpu"), (1, "", "result 2 of device 1 of pjrt:cpu"),
    (1, "y", "y of device 1 of pjrt:cpu")])
def test_a_finding_names_its_device_where_there_are_others(device: int, value: str, where: str) -> None:
    judgement = Tolerance().judge(np.float32([1]), np.float32([2]))
    found = Finding("pjrt:cpu", "reference", 2, device, "random", 0, judgement, "reference", "why", value)
    assert str(found).startswith(f"{where}, random arguments: ")


def test_the_first_set_alone_may_take_longer_than_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[float] = []
    seen: list[Coverage] = []

    def watch(coverage: Coverage | None = None, *, until: float) -> Watch:
        seen.extend([coverage] if coverage is not None else [])
        ends.extend([until] if coverage is not None and coverage is seen[0] else [])  # the other module has its own end
        return Watch(coverage)

    monkeypatch.setattr(comparison, "Watch", watch)
    monkeypatch.setattr(comparison, "_GRACE", 0.0)
    hlotool.compare(SMALL, SMALL, executors=("reference",), time_budget=0.9)
    assert ends[0] > max(ends[1:], default=0.0) + 10 and len(set(ends[1:])) <= 1


@pytest.mark.parametrize(("direction", "untaken"), [("LT", "yes"), ("GE", "no")])
def test_the_branch_of_a_conditional_that_is_never_taken_is_named(direction: str, untaken: str) -> None:
    branches = "yes {\n  y = u32[] parameter(0)\n  ROOT r = u32[] negate(y)\n}\n" \
               "no {\n  y = u32[] parameter(0)\n  ROOT r = u32[] not(y)\n}\n"
    body = "  x = u32[] parameter(0)\n  m = u32[] constant(0)\n" \
           f"  p = pred[] compare(x, m), direction={direction}\n" \
           "  ROOT c = u32[] conditional(p, x, x), true_computation=yes, false_computation=no"
    found = compare(module(body, branches), executors=("reference", "stablehlo"))
    assert len(found.untaken) == 1 and found.untaken[0] == f"conditional c: {untaken}", found.untaken


def test_weights_stay_signed_where_a_second_moment_has_to_be_positive() -> None:
    """Of sqrt(0.9 * v + 0.1 * g * g) with a gradient g the nearest parameter alone is kept positive."""
    step = hlotool.parse("""HloModule step
ENTRY e {
  w = f32[8,8] parameter(0)
  v = f32[8,8] parameter(1)
  g = f32[8,8] sine(w)
  c = f32[] constant(0.9)
  d = f32[] constant(0.1)
  b = f32[8,8] broadcast(c), dimensions={}
  a = f32[8,8] broadcast(d), dimensions={}
  m = f32[8,8] multiply(v, b)
  h = f32[8,8] multiply(g, g)
  n = f32[8,8] multiply(h, a)
  s = f32[8,8] add(m, n)
  ROOT r = f32[8,8] sqrt(s)
}""")
    made = next(ArgumentSearch([Program(step)]).sets(("random",)))
    assert (made.values[0][0] < 0).any() and (made.values[0][1] > 0).all()


@pytest.mark.parametrize(("untaken", "said"), [
    (0, None), (2, "select 0; select 1"), (8, "; ".join(f"select {n}" for n in range(8))),
    (9, "; ".join(f"select {n}" for n in range(8)) + "; ...")])
def test_sides_that_no_arguments_take_are_named(untaken: int, said: str | None) -> None:
    found = Comparison("one", "other", ("reference",), untaken=[f"select {n}" for n in range(untaken)], choices=20,
                       covered=20 - untaken)
    lines = [line.strip() for line in _text(found).splitlines() if "never taken" in line]
    assert lines == ([] if said is None else [
        f"never taken ({20 - untaken} of 20 choices are covered): {said}"])


def test_sets_on_which_a_routine_may_not_end_are_counted() -> None:
    jax = pytest.importorskip("jax")
    text = jax.jit(lambda x: jax.numpy.linalg.eigh(x + x.T)[0]).lower(
        jax.ShapeDtypeStruct((3, 3), "float32")).compiler_ir(dialect="hlo").as_hlo_text()
    found = hlotool.compare(text, executors=("reference",), time_budget=2.0)
    assert found.left_out > 0 and found.is_equal
    assert f"; {found.left_out} more left out, on which a LAPACK routine may not end" in str(found)
    plain = module("x = f32[4] parameter(0)\n  ROOT y = f32[4] negate(x)")
    assert "left out" not in str(hlotool.compare(plain, executors=("reference",), time_budget=2.0))


OUTFEED = """HloModule m
ENTRY e {
  a = f32[4] parameter(0)
  t = token[] after-all()
  n = f32[4] negate(a)
  o = token[] outfeed(n, t), outfeed_shape=f32[4]
  ROOT r = f32[4] add(a, a)
}
"""


def test_what_goes_to_the_host_is_compared() -> None:
    """Two modules that hand out values over the same channels, in one order, differ by those."""
    found = hlotool.compare(OUTFEED, OUTFEED.replace("negate(a)", "abs(a)"), executors=["reference"])
    assert (found.verdict, found.instruction, found.line, found.handed_out) == ("differ", "n", 5, [])
    assert found.worst is not None and found.worst.result == 1
    found = hlotool.compare(OUTFEED, OUTFEED.replace("outfeed(n", "outfeed(a"), executors=["reference"])
    assert (found.verdict, found.instruction, found.line) == ("differ", "o", 6)
    same = OUTFEED.replace("add(a, a)", "subtract(a, n)")
    found = hlotool.compare(OUTFEED, same, executors=["reference"])
    assert (found.verdict, found.handed_out, found.open) == ("agree", [], [])
    place = hlotool.isolate(OUTFEED, OUTFEED.replace("negate(a)", "abs(a)")).parting.place
    assert place.instruction.name == "n"


def test_values_of_one_channel_are_compared_in_order() -> None:
    head, tail = OUTFEED.split("  o = ")
    send = ("  s = (f32[4], u32[], token[]) send({}, o), channel_id=3, is_host_transfer=true\n"
            "  d = token[] send-done(s), channel_id=3, is_host_transfer=true\n"
            "  p = token[] outfeed({}, d), outfeed_shape=f32[4]\n")
    line, rest = tail.split("\n", 1)
    texts = [f"{head}  o = {line}\n{send.format(*values)}{rest}" for values in ("aa", "an", "na")]
    assert hlotool.compare(texts[0], texts[0].replace("negate(a)", "negate(copied)").replace(
        "  n =", "  copied = f32[4] copy(a)\n  n ="), executors=["reference"]).open == []
    assert hlotool.compare(texts[0], texts[1], executors=["reference"]).instruction == "p"
    assert hlotool.compare(texts[0], texts[2], executors=["reference"]).instruction == "s"


def test_what_goes_to_the_host_in_no_one_order_is_left_open() -> None:
    """Fewer values, values of another shape, no token between two of them, or one within a call."""
    texts = {
        "one more": OUTFEED.replace("  ROOT", "  p = token[] outfeed(n, o), outfeed_shape=f32[4]\n  ROOT"),
        "another shape": OUTFEED.replace("outfeed(n, t), outfeed_shape=f32[4]", "outfeed(h, t), outfeed_shape=f32[2]")
        .replace("  o =", "  h = f32[2] slice(n), slice={[0:2]}\n  o ="),
        "a call": OUTFEED.replace("ENTRY", "f {\n  a = f32[4] parameter(0)\n  t = token[] after-all()\n"
                                  "  ROOT o = token[] outfeed(a, t), outfeed_shape=f32[4]\n}\nENTRY").replace(
            "outfeed(n, t), outfeed_shape=f32[4]", "call(n), to_apply=f")}
    for name, text in texts.items():
        found = compare(OUTFEED, text, executors=["reference"])
        assert found.verdict == "agree" and "what outfeed o hands to the host is not compared" in found.open, name
    loose = OUTFEED.replace("  ROOT", "  p = token[] outfeed(a, t), outfeed_shape=f32[4]\n  ROOT")
    found = compare(loose, loose.replace("add(a, a)", "subtract(a, n)"), executors=["reference"])
    assert found.handed_out == ["outfeed o", "outfeed p", "second module, outfeed o", "second module, outfeed p"]
    assert compare(OUTFEED, executors=["reference"]).open == ["what outfeed o hands to the host is not compared"]


@pytest.mark.parametrize(("line", "expected"), [
    ("s = (f32[4], u32[], token[]) send(a, t), channel_id=1, is_host_transfer=true", True),
    ("s = (f32[4], u32[], token[]) send(a, t), channel_id=1", False),
    ("s = ((f32[4]), token[]) infeed(t)", False)])
def test_what_hands_a_value_to_the_host(line: str, expected: bool) -> None:
    module = hlotool.parse(f"HloModule m\nENTRY e {{ a = f32[4] parameter(0)  t = token[] after-all()\n {line}\n"
                           " ROOT r = f32[4] copy(a) }")
    assert [gives_to_host(i) for i in module.entry.instructions if i.name == "s"] == [expected]


def test_modules_of_one_name_are_told_apart(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "HloModule jit_f\nENTRY e { x = f32[4] parameter(0)  ROOT r = f32[4] multiply(x, x) }"
    other = text.replace("multiply", "add")
    found = compare(hlotool.parse(text), hlotool.parse(other), executors=("reference",))
    assert found.worst is not None and found.worst.right == "the first module"
    assert (found.left, found.right) == ("the first module", "the second module")
    before, after = tmp_path / "before.hlo", tmp_path / "after.hlo"
    before.write_text(text)
    after.write_text(other)
    assert main(["compare", str(before), str(after), "--executors", "reference"]) == 1
    told = capsys.readouterr().out
    assert f"{before} and {after} differ" in told and f"{before} is right: {after} gives" in told


def test_one_executor_is_compared_with_the_reference() -> None:
    found = hlotool.compare("HloModule m\nENTRY e { x = f32[2] parameter(0)  ROOT r = f32[2] tanh(x) }",
                            executors=["pjrt:cpu"])
    assert (found.left, found.right) == ("m on pjrt:cpu", "m on reference")
