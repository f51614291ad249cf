"""Conformance: files of cases, judging, expectations, the pytest plugin, the reports and the command."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from typing import Any

import jsonschema
import numpy as np
import pytest
from cases import SAMPLES

from hlotool.cli import main_conform
from hlotool.conformance import ConformanceCase
from hlotool.conformance.case_verdict import allowance_of
from hlotool.conformance.changes import changes, read_report
from hlotool.conformance.expectations import CaseVerdict, Expectation, judged, not_to_run, read_expectations, shipped
from hlotool.conformance.judge import REFERENCE, VERIFIER, asked_again, executors_of, judge, judge_all
from hlotool.conformance.model_cuts import cut_model
from hlotool.conformance.outcome import CaseOutcome, Status
from hlotool.conformance.report import ConformanceReport, Run, page
from hlotool.conformance.samples import read_cases, sections, written
from hlotool.conformance.selection import Selection
from hlotool.conformance.suites import samples_folder, suite_cases
from hlotool.diagnostics import HloError
from hlotool.diagnostics.records import schema_of
from hlotool.execution import executor_named
from hlotool.execution.tasks import compute_texts
from hlotool.numerics.allowance import SPREAD_FACTOR
from hlotool.ops import OPS

ROOT = pathlib.Path(__file__).parents[2]
NEGATE = "ENTRY e { a = f32[2] parameter(0)  ROOT b = f32[2] negate(a) }"
NIGHTLY = bool(os.environ.get("HLOTOOL_NIGHTLY"))
#: XLA's CPU compiler ends its process at a TopK without a tuple
ABORTS = 'ENTRY e { a = f32[2] parameter(0)  ROOT b = f32[2] custom-call(a), custom_call_target="TopK" }'
NEVER_ENDS = """body { x = s32[] parameter(0)  ROOT m = s32[] multiply(x, x) }
forever { y = s32[] parameter(0)  zero = s32[] constant(0)  ROOT t = pred[] compare(y, zero), direction=EQ }
ENTRY e { a = s32[] parameter(0)  ROOT r = s32[] while(a), condition=forever, body=body }"""


def case(text: str = NEGATE, **changes: Any) -> ConformanceCase:
    given = {"id": "c", "suite": "t", "opcode": "negate", "dtype": "f32", "text": text,
             "arguments": ((np.float32([1, 2]),),)}
    return ConformanceCase(**{**given, **changes})


def expect(*values: float) -> tuple[tuple[np.ndarray, ...], ...]:
    return ((np.float32(values),),)


# Files of cases.


def test_every_sample_is_a_case_with_a_name_of_its_own() -> None:
    selection = Selection()
    for suite in ("spec", "models"):
        found = list(suite_cases(suite, selection))
        assert len({c.name for c in found}) == len(found)
        assert all(" " not in c.name and "[" not in c.name for c in found)
        assert all(c.opcode in OPS for c in found if suite == "spec")
    spec = list(suite_cases("spec", selection))
    assert {c.opcode for c in spec if not c.is_bad} == set(OPS)
    labels = {label for record in OPS.values() for label in record.constraints}
    shown = {code for c in spec for code in (c.expected_code or "").split()}
    assert len(labels - shown) <= 12  # what syntax refuses already has a code of the parser


def test_a_file_is_read_as_its_docstring_says(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "mine.hlo"
    path.write_text(f"""// name: Two devices
// op: negate
// replicas: 2
// input: f32[2] {{1, 2}}
// input@1: f32[2] {{3, nan}}
// expect: f32[2] {{-1, -2}}
// expect@1: f32[2] {{-3, nan}}
HloModule m, replica_count=2
{NEGATE}
// -----
// name: Two devices
// error: [V103]
// error: [V104]
{NEGATE}
// -----
{NEGATE}
""")
    first, second, *whole = read_cases(path, "suite", ())
    assert (first.id, first.opcode, first.dtype, first.replicas, first.devices) == ("mine/two-devices", "negate", "f32",
                                                                                    2, 2)
    assert first.arguments[0][0].tolist() == [1, 2]
    assert first.expected is not None and first.expected[1][0][0] == -3 and np.isnan(first.expected[1][0][1])
    assert first.source == f"{path}:1"
    assert (second.id, second.expected_code, second.is_bad) == ("mine/two-devices-2", "V103 V104", True)
    assert [(c.id, c.inputs, c.opcode) for c in whole] == [("mine/random", "random", ""),
                                                           ("mine/positive", "positive", "")]


@pytest.mark.parametrize(("line", "said"), [
    ("// input: f32[2] {1}", "is no shape and value"), ("// expect: nonsense", "is no shape and value"),
    ("// replicas: 0", "a number from 1 to 1024"), ("// partitions: two", "a number from 1 to 1024"),
    ("// input: (f32[]) (1)", "is no shape and value"),
])
def test_a_line_that_cannot_be_understood_is_a_diagnostic(tmp_path: pathlib.Path, line: str, said: str) -> None:
    path = tmp_path / "x.hlo"
    path.write_text(f"\n\n// -----\n// name: x\n{line}\n{NEGATE}")
    with pytest.raises(HloError, match="T101") as caught:
        list(read_cases(path, "s", ()))
    (problem,) = caught.value.diagnostics
    assert said in problem.message and (problem.filename, problem.line) == (str(path), 3)


def test_a_case_is_written_as_it_is_read() -> None:
    given = case(expected=expect(-1, float("nan")), replicas=1, edge="nan")
    (again,) = sections(written(given))
    assert again.values("input") == ["f32[2] {1, 2}"] and again.values("expect") == ["f32[2] {-1, nan}"]
    assert again.first("op") == "negate" and again.text.endswith(f"{NEGATE}\n")
    assert written(given.renamed(text=again.text)) == again.text  # lines that are there are not written twice
    assert "// error: [V103]" in written(given.renamed(expected_code="V103"))
    assert "{...}" in written(given, longest=1)


def test_worked_examples_are_up_to_date(update_golden: bool) -> None:
    if not (ROOT.parent / "shared" / "spec" / "examples.json").exists():
        pytest.skip("the specification's examples are not here")
    from worked_runs import NOT_TRANSLATED, TRANSLATED
    from worked_samples import files

    folder = SAMPLES / "worked"
    wanted = files(NOT_TRANSLATED)
    if update_golden:
        for path in folder.glob("*.hlo"):
            path.unlink()
        for name, text in wanted.items():
            (folder / name).write_text(text)
    found = {path.name: path.read_text() for path in folder.glob("*.hlo")}
    assert found == wanted, "pytest --update-golden writes samples/worked again"
    ids = set(re.findall(r"^// example: (\S+)$", "".join(wanted.values()), re.M))
    assert ids == {r.id for r in TRANSLATED}


# Judging.


@pytest.mark.parametrize("executor", [REFERENCE, "pjrt:cpu", "stablehlo"])
def test_statuses(executor: str) -> None:
    assert judge(case(expected=expect(-1, -2)), executor).status is Status.PASS
    assert judge(case(), executor).status is Status.PASS  # the reference's values
    found = judge(case(expected=expect(-1, -3)), executor)
    assert found.status is Status.MISMATCH and found.worst is not None
    assert (found.worst.index, found.worst.value, found.worst.expected) == ((1,), "-2.0", "-3.0")
    assert "element [1] is -2.0, expected -3.0" in found.detail
    assert judge(case(expected=((np.float64([-1, -2]),),)), executor).status is Status.MISMATCH
    assert judge(case("ENTRY e {"), executor).status is Status.COMPILE_ERROR
    assert judge(case(arguments=()), executor).status is Status.RUN_ERROR


def test_what_an_executor_does_not_have_is_unsupported() -> None:
    text = ABORTS.replace("TopK", "Sharding")
    found = judge(case(text), "stablehlo")
    assert found.status is Status.UNSUPPORTED and "custom_call" in found.detail
    text = "ENTRY e { s = u64[] rng-get-and-update-state(), delta=1  ROOT r = u64[] copy(s) }"
    assert judge(case(text, arguments=()), "pjrt:cpu").status in (Status.UNSUPPORTED, Status.COMPILE_ERROR)


def test_a_module_that_aborts_and_one_that_never_ends_are_results() -> None:
    assert judge(case(ABORTS), "pjrt:cpu").status is Status.CRASH
    endless = case(NEVER_ENDS, arguments=((np.int32(0),),))
    for executor in (REFERENCE, "pjrt:cpu"):
        found = judge(endless, executor, 0.5)
        assert found.status is Status.TIME_OUT and "within 0.5 s" in found.detail
        assert judge(case(expected=expect(-1, -2)), executor).status is Status.PASS


def test_a_program_that_was_late_twice_is_asked_for_no_other_arguments() -> None:
    """Those before it have their results, as have other programs."""
    ends, *late = (case(NEVER_ENDS, id=str(n), arguments=((np.int32(n == 0),),)) for n in range(5))
    found = judge_all([ends, *late, case(expected=expect(-1, -2))], "pjrt:cpu", 0.5)
    assert [o.status for o in found] == [Status.PASS, *[Status.TIME_OUT] * 4, Status.PASS]
    assert ["not asked" in o.detail for o in found] == [False, False, False, True, True, False]


def test_texts_to_be_refused_are_the_verifiers() -> None:
    bad = case("ENTRY e { a = f32[2] parameter(0)  ROOT b = f32[3] negate(a) }", expected_code="V103")
    assert executors_of(bad, ["pjrt:cpu", REFERENCE]) == (VERIFIER,)
    assert judge(bad, VERIFIER).status is Status.PASS
    found = judge(bad.renamed(expected_code="V104"), VERIFIER)
    assert found.status is Status.MISMATCH and found.detail == "reported: V103; expected: V104"
    assert judge(case(expected_code=""), VERIFIER).status is Status.PASS
    assert judge(case(expected_code="V103"), VERIFIER).status is Status.MISMATCH
    undefined = case(ABORTS, expected_code="E108")
    assert executors_of(undefined, ["pjrt:cpu"]) == (REFERENCE,)
    assert judge(undefined, REFERENCE).status is Status.PASS
    assert judge(case(expected_code="E108"), REFERENCE).status is Status.MISMATCH


def allowance(opcode: str, line: str) -> tuple[float | None, float]:
    text = f"ENTRY e {{ a = f32[9] parameter(0)  {line} }}"
    found = allowance_of(case(text, opcode=opcode))
    return found.free_ulps, found.factor


def test_what_is_free_is_what_the_operation_declares() -> None:
    assert allowance("negate", "ROOT r = f32[9] negate(a)") == (0.0, 1.0)
    assert allowance("tanh", "ROOT r = f32[9] tanh(a)") == (OPS["tanh"].ulps, 1.0)
    # Nine terms may be added in more orders than are drawn.
    dot = "ROOT r = f32[] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    assert allowance("dot", dot) == (OPS["dot"].ulps, SPREAD_FACTOR)
    # Of a whole module the type of each result says it.
    assert allowance("", "ROOT r = f32[9] negate(a)") == (None, SPREAD_FACTOR)


ADD = "ENTRY e { a = f32[2] parameter(0)  b = f32[2] parameter(1)  ROOT r = f32[2] add(a, b) }"
#: what is left are the last bits of two functions that need not be exact
CANCEL = """ENTRY e { a = f32[2] parameter(0)  b = f32[2] parameter(1)  t = f32[2] tanh(a)  u = f32[2] tanh(b)
  ROOT r = f32[2] subtract(t, u) }"""


def test_what_is_beyond_a_declared_budget_alone_is_no_mismatch() -> None:
    """compare does not call a sum wrong that is one last place off; a case about `add` does not pass with it."""
    given = (np.float32([1, 2]), np.float32([3, 4]))
    right = case(ADD, opcode="add", arguments=(given,), expected=expect(4, 6))
    assert judge(right, "pjrt:cpu").agreement == "equal"
    off = judge(right.renamed(expected=((np.nextafter(np.float32([4, 6]), np.float32(9)),),)), "pjrt:cpu")
    assert off.status is Status.UNDECIDED and off.agreement == "within rounding" and off.worst is not None
    assert off.worst.ulps == 1 and off.worst.exact == "4" and off.worst.outside == 2
    assert "1 ULPs apart: 2 of 2 elements are off by more than the operations declare" in off.detail
    assert judge(right.renamed(expected=expect(4.0001, 6)), "pjrt:cpu").status is Status.MISMATCH


def test_what_moves_data_has_to_be_exact() -> None:
    given, moved = (np.float32([1, 2]),), ((-np.nextafter(np.float32([1, 2]), np.float32(9)),),)
    off = judge(case(opcode="negate", arguments=(given,), expected=moved), "pjrt:cpu")
    assert off.status is Status.MISMATCH and off.agreement == "wrong"


def test_what_last_bits_decide_is_no_pass_and_no_failure() -> None:
    given = (np.float32([0.5, 0.5]),) * 2
    open_ = case(CANCEL, opcode="tanh", arguments=(given,), expected=expect(1e-8, 0))
    found = judge(open_, "pjrt:cpu")
    assert found.status is Status.UNDECIDED and found.agreement == "ill-conditioned"
    assert "1 of 2 elements are left open" in found.detail
    assert judged(open_, FACTS, found, [])[0] is CaseVerdict.UNDECIDED
    assert judge(open_.renamed(expected=expect(1e-3, 0)), "pjrt:cpu").status is Status.MISMATCH


def test_a_flushed_subnormal_is_within_rounding() -> None:
    tiny = np.float32([1e-40, 1])
    flushed = case(opcode="negate", arguments=((tiny,),), expected=expect(0, -1))
    found = judge(flushed, REFERENCE)
    assert found.status is Status.PASS and found.agreement == "within rounding"


def several() -> list[ConformanceCase]:
    """Cases that are asked together: good ones, wrong ones, some that fail to read, to compile or to run, some that
    end the process, and some that cannot be merged with others."""
    good = [case(f"ENTRY e {{ a = f32[2] parameter(0)  ROOT b = f32[2] {op}(a) }}", id=op, opcode=op)
            for op in ("negate", "abs", "sign", "tanh", "sine")]
    two = """HloModule m, replica_count=2
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
ENTRY e { a = f32[2] parameter(0)  ROOT b = f32[2] all-reduce(a), replica_groups={{0,1}}, to_apply=add }"""
    return [*good[:2], case(expected=expect(-1, -3), id="wrong"), case("ENTRY e {", id="unread"),
            case(ABORTS, id="aborts"), *good[2:], case(arguments=(), id="unfit"),
            case(two, id="two", opcode="all-reduce", arguments=((np.float32([1, 2]),), (np.float32([3, 4]),))),
            case(ABORTS.replace("TopK", "nobody_knows_it"), id="unknown"), case(id="last")]


@pytest.mark.parametrize("executor", ["pjrt:cpu", REFERENCE])
def test_together_as_alone(executor: str) -> None:
    hurried = executor == "pjrt:cpu" and not NIGHTLY  # its processes take a second to begin, and some end here
    cases = [c for c in several() if not hurried or c.id in ("negate", "wrong", "unread", "aborts", "unfit", "last")]
    together = {c.id: o for c, o in zip(cases, judge_all(cases, executor, 20), strict=True)}
    for given in cases:
        if hurried and given.id == "aborts":
            continue
        alone = judge(given, executor, 20)
        # The last words of a process that ends hold the time and its number.
        detail = alone.detail if alone.status is not Status.CRASH else together[given.id].detail
        assert together[given.id] == dataclasses.replace(alone, detail=detail)
    assert together["wrong"].status is Status.MISMATCH and together["last"].status is Status.PASS
    assert together["unread"].status is Status.COMPILE_ERROR and together["unfit"].status is Status.RUN_ERROR
    if executor == "pjrt:cpu":
        assert together["aborts"].status is Status.CRASH


def test_few_element_types_are_asked_at_every_edge() -> None:
    counts = {name: len(list(suite_cases("ops", Selection(ops=("add",), types=(name,))))) for name in ("f32", "s16")}
    assert counts["s16"] == 2 < counts["f32"]


@pytest.mark.skipif(not NIGHTLY, reason="takes minutes")
def test_a_sample_of_the_suite_ends_together_as_alone() -> None:
    ops = ("add", "tanh", "dot", "reduce", "convert", "sort", "while", "gather", "all-reduce", "divide", "scatter")
    cases = list(suite_cases("ops", Selection(ops=ops)))
    chosen = [c for c in random.Random(0).sample(cases, 300) if not c.dtype.startswith("f6")]
    assert judge_all(chosen, "pjrt:cpu") == [judge(c, "pjrt:cpu") for c in chosen]


def test_programs_are_merged_into_one_and_parted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    executor = executor_named("pjrt:cpu")
    real = type(executor).compute
    monkeypatch.setattr(type(executor), "compute", lambda self, work, sets, infeed: (
        compiled.append(work), real(self, work, sets, infeed))[1])
    rows = [(c.text, c.id, c.arguments, ()) for c in several() if c.id not in ("aborts", "two")]
    found = compute_texts(executor, rows)
    assert [good for good, _ in found].count(False) == 3  # one is not read, one does not fit, one is not known
    assert len(compiled) == 1
    assert np.array_equal(found[0][1][0][0], np.float32([-1, -2]))


def test_what_passes_in_a_new_process_is_flaky_and_says_how_often(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([CaseOutcome(Status.MISMATCH, "again", seconds=1.0), CaseOutcome(Status.PASS, seconds=0.5)])
    monkeypatch.setattr("hlotool.conformance.judge.judge", lambda *_: next(answers))
    found = asked_again(case(), "pjrt:cpu", CaseOutcome(Status.CRASH, "first", seconds=2.0))
    assert found.status is Status.FLAKY and found.detail == "failed 2 of 3 times (crash, mismatch): first"
    assert found.seconds == 3.5 and judged(case(), FACTS, found, [])[0] is CaseVerdict.FLAKY


def test_infeeds_are_fed() -> None:
    text = """ENTRY e { t = token[] after-all()  f = (f32[2], token[]) infeed(t)
      x = f32[2] get-tuple-element(f), index=0  ROOT r = f32[2] negate(x) }"""
    given = case(text, opcode="infeed", arguments=(), infeed=expect(1, 2), expected=expect(-1, -2))
    assert judge(given, REFERENCE).status is Status.PASS
    assert judge(given, "pjrt:cpu").status is Status.UNSUPPORTED


@pytest.mark.parametrize(("arguments", "processes"), [
    ([], ["2"]), (["--suite", "spec", "-x"], ["2"]), (["--jobs", "3"], ["3"]), (["--op", "add"], []),
    (["--executors", "numpy,pjrt:cpu"], ["2"]), (["--executors", "pjrt:cuda"], []), (["--collect-only"], [])])
def test_whole_suites_take_every_processor(arguments: list[str], processes: list[str],
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    monkeypatch.setattr("hlotool.process.processors", lambda: 2)
    monkeypatch.setattr("pytest.main", lambda words, plugins: (given.extend(words), 0)[1])
    assert main_conform(arguments) == 0
    assert re.findall(r"-n ?(\d+)", " ".join(given)) == processes


# Models cut into operations, and runs compared.


@pytest.fixture
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """An empty folder to run commands in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


MODEL = """HloModule model
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
inner { v = f32[4] parameter(0)  w = f32[4] negate(v)  ROOT u = f32[4] multiply(w, v) }
body { t = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(t), index=0  one = s32[] constant(1)
  j = s32[] add(i, one)  a = f32[4] get-tuple-element(t), index=1  b = f32[4] negate(a)
  ROOT n = (s32[], f32[4]) tuple(j, b) }
until { t2 = (s32[], f32[4]) parameter(0)  k = s32[] get-tuple-element(t2), index=0  end = s32[] constant(3)
  ROOT less = pred[] compare(k, end), direction=LT }
ENTRY e { a0 = f32[4] parameter(0)  zero = s32[] constant(0)  b0 = f32[4] negate(a0)
  state = (s32[], f32[4]) tuple(zero, b0)  loop = (s32[], f32[4]) while(state), condition=until, body=body
  r = f32[4] get-tuple-element(loop), index=1  f = f32[4] fusion(r), kind=kLoop, calls=inner
  nothing = f32[] constant(0)  tok = token[] after-all()
  ROOT sum = f32[] reduce(f, nothing), dimensions={0}, to_apply=add }"""


def test_a_model_is_cut_into_its_distinct_operations(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "my model.hlo"
    path.write_text(MODEL)
    found = cut_model(path)
    opcodes = [c.opcode for c in found.cases if c.inputs == "random"]
    # Three negates of one shape are one; the adds inside of the reduction are its own.
    assert sorted(opcodes) == ["add", "compare", "fusion", "multiply", "negate", "reduce", "while"]
    assert found.left_out == {"after-all": 1}
    negate = next(c for c in found.cases if c.opcode == "negate")
    assert negate.edge == "random, 3 times" and negate.dtype == "f32" and negate.source == f"{path}:9"
    assert all(" " not in c.id for c in found.cases)
    reduce = next(c for c in found.cases if c.opcode == "reduce")
    assert "constant(0)" in reduce.text and "parameter(1)" not in reduce.text.split("ENTRY")[1]
    for executor in ("pjrt:cpu", REFERENCE):
        assert {o.status for o in judge_all(found.cases, executor, 20)} == {Status.PASS}


def test_what_is_no_model_is_a_diagnostic(tmp_path: pathlib.Path) -> None:
    (tmp_path / "bad.hlo").write_bytes(b"\xff\xfe")
    for name in ("bad.hlo", "nowhere.hlo"):
        with pytest.raises(HloError, match="T102"):
            cut_model(tmp_path / name)


def record(name: str, status: str) -> dict[str, str]:
    return {"suite": "s", "case": name, "executor": "pjrt:cpu", "status": status, "detail": ""}


def test_what_became_better_worse_new_and_gone() -> None:
    old = [record(n, s) for n, s in (("a", "pass"), ("b", "crash"), ("c", "mismatch"), ("d", "pass"), ("e", "pass"),
                                     ("f", "unsupported"), ("h", "undecided"))]
    new = [record(n, s) for n, s in (("a", "pass"), ("b", "mismatch"), ("c", "pass"), ("d", "undecided"),
                                     ("e", "time-out"), ("g", "pass"), ("f", "compile error"), ("h", "pass"))]
    found = changes(old, new)
    assert [line.split(" ")[0] for line in found.worse] == ["s/d", "s/e", "s/f"]
    assert [line.split(" ")[0] for line in found.better] == ["s/c", "s/h"]
    assert found.otherwise == ["s/b on pjrt:cpu: crash, now mismatch"]
    assert found.new == ["s/g on pjrt:cpu: pass"] and not found.gone
    assert changes(old, new[:-1]).gone == ["s/h on pjrt:cpu: undecided"]
    assert "worse: 3" in str(found) and "e on pjrt:cpu: pass, now time-out" in str(found)


ONE_CASE = f"// name: a\n// input: f32[2] {{1, 2}}\n// expect: f32[2] {{-1, -2}}\n{NEGATE}\n"
ON_THE_REFERENCE = ("mine.hlo", "--executors", "numpy", "-q")


def test_a_run_against_the_same_is_not_worse(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mine.hlo").write_text(ONE_CASE)
    assert main_conform([*ON_THE_REFERENCE, "--save-json", "old.json"]) == 0
    assert main_conform([*ON_THE_REFERENCE, "--against", "old.json"]) == 0
    assert "worse: 0" in capsys.readouterr().out
    for unusable in ("nowhere.json", "mine.hlo"):
        assert main_conform([*ON_THE_REFERENCE, "--against", unusable]) == 2


def test_a_run_against_another_ends_with_1_where_something_is_worse(here: pathlib.Path,
                                                                    capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mine.hlo").write_text(ONE_CASE)
    assert main_conform([*ON_THE_REFERENCE, "--save-json", "old.json"]) == 0
    (here / "mine.hlo").write_text(ONE_CASE.replace("-2}", "-3}"))
    (here / "known.toml").write_text('[[expect]]\ncases = ["*"]\nstatus = "mismatch"\nreason = "planted"\n')
    known = (*ON_THE_REFERENCE, "--expectations", "known.toml")
    assert main_conform([*known]) == 0
    assert main_conform([*known, "--against", "old.json"]) == 1
    assert "mine/a on reference: pass, now mismatch" in capsys.readouterr().out


@pytest.mark.parametrize("cases", [
    "{}", "[1]", "[{}]", '[{"suite": "s", "case": "c"}]',
    '[{"suite": "s", "case": "c", "executor": 1, "status": "pass"}]',
    '[{"suite": "s", "case": "c", "executor": "e", "status": "fine"}]',
    '[{"suite": "s", "case": "c", "executor": "e", "status": "pass", "detail": 1}]'])
def test_a_report_that_is_none_is_a_diagnostic(tmp_path: pathlib.Path, cases: str) -> None:
    (tmp_path / "old.json").write_text(f'{{"cases": {cases}}}')
    with pytest.raises(HloError):
        read_report(tmp_path / "old.json")


@pytest.mark.parametrize(("first", "times"), [
    (Status.TIME_OUT, 1), (Status.CRASH, 2), (Status.MISMATCH, 2), (Status.COMPILE_ERROR, 0)])
def test_how_often_a_failure_is_asked_again(monkeypatch: pytest.MonkeyPatch, first: Status, times: int) -> None:
    asked: list[str] = []
    monkeypatch.setattr("hlotool.conformance.judge.judge", lambda *_: asked.append("") or CaseOutcome(first))
    assert asked_again(case(), REFERENCE, CaseOutcome(first)).status is first
    assert len(asked) == times


def test_a_run_counts_each_case_once() -> None:
    rows = [("pass", CaseVerdict.PASSED), ("mismatch", CaseVerdict.UNEXPLAINED), ("mismatch", CaseVerdict.EXPLAINED)]
    records = {str(n): {"suite": "s", "executor": "e", "status": status, "verdict": str(verdict)}
               for n, (status, verdict) in enumerate(rows)}
    (counts,) = Run(records=records).counts().values()
    assert counts == {"cases": 3, "pass": 1, "mismatch": 2, "unexplained": 1, "explained": 1}


# Deadlines.

def test_a_run_ends_at_its_deadline_and_names_what_it_left(here: pathlib.Path, capsys: pytest.CaptureFixture[str],
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    from hlotool.conformance import plugin

    for name in "abc":
        (here / f"{name}.hlo").write_text(ONE_CASE)
    # Files are asked one after the other; time is over while the second is.
    asked: list[str] = []
    judge_all_of = plugin.judge_all

    def judged_until_then(cases: Any, *rest: Any) -> list[CaseOutcome]:
        asked.append(cases[0].id)
        return judge_all_of(cases, *rest) if len(asked) == 1 else [CaseOutcome(Status.TIME_OUT)]

    monkeypatch.setattr(plugin, "judge_all", judged_until_then)
    monkeypatch.setattr(plugin._Session, "is_over", property(lambda _: len(asked) > 1))
    arguments = ("a.hlo", "b.hlo", "c.hlo", "--executors", "numpy", "--time-limit", "1000", "--save-json", "out.json")
    assert main_conform(arguments) == 2
    report = json.loads((here / "out.json").read_text())
    assert [(c["case"], c["status"]) for c in report["cases"]] == [("a/a", "pass")]
    assert [(m["id"].partition("::")[0], m["reason"]) for m in report["missing"]] == [
        ("b.hlo", plugin.OUT_OF_TIME), ("c.hlo", plugin.OUT_OF_TIME)]
    said = capsys.readouterr().out
    assert "2 of 3 cases have no result" in said and f"{plugin.OUT_OF_TIME}: 1000 s were given" in said


def test_a_failure_that_stands_before_the_deadline_is_one(here: pathlib.Path) -> None:
    (here / "mine.hlo").write_text(ONE_CASE.replace("-2}", "-3}"))
    assert main_conform([*ON_THE_REFERENCE, "--time-limit", "1000"]) == 1


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_deadline_is_a_time(here: pathlib.Path, seconds: str) -> None:
    (here / "mine.hlo").write_text(ONE_CASE)
    assert main_conform([*ON_THE_REFERENCE, f"--deadline={seconds}"]) == 2


@pytest.mark.skipif(not NIGHTLY, reason="waits for a deadline")
@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_case_that_never_ends_keeps_no_run_beyond_its_deadline(here: pathlib.Path, processes: str) -> None:
    (here / "never.hlo").write_text(f"// name: n\n// input: s32[] 0\n// expect: s32[] 0\n{NEVER_ENDS}\n")
    done = run("never.hlo", "--executors", "numpy", "--time-limit", "8", "--run-limit", "10000", "--jobs", processes,
               "--save-json", "out.json", cwd=here)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "the time for the run was over" in done.stdout
    assert json.loads((here / "out.json").read_text())["cases"] == []


# Expectations.

ENTRY = """
[[expect]]
cases = ["t/c"]
status = "mismatch"
reason = "known"
right = "executor"
"""
FACTS = {"executor": "pjrt:cpu", "platform": "cpu", "machine": "x86_64", "jaxlib": "0.10.2"}
WRONG = CaseOutcome(Status.MISMATCH, "element 3")


@pytest.mark.parametrize(("more", "covers"), [
    ("", True), ('platform = "cpu"', True), ('platform = "cuda"', False), ('executor = "pjrt:*"', True),
    ('executor = "reference"', False), ('jaxlib = ">=0.10,<0.11"', True), ('jaxlib = ">=0.11"', False),
    ('machine = "arm*"', False), ('op = ["neg*"]', True), ('op = "add"', False), ('type = ["f8*", "f32"]', True),
    ('type = ["bf16"]', False), ('edge = ["nan"]', False),
])
def test_conditions(more: str, covers: bool) -> None:
    entries = read_expectations(ENTRY + more, "x.toml")
    verdict, entry = judged(case(), FACTS, WRONG, entries)
    assert verdict is (CaseVerdict.EXPLAINED if covers else CaseVerdict.UNEXPLAINED)
    assert entry is (entries[0] if covers else None)


def test_verdicts() -> None:
    (entry,) = read_expectations(ENTRY + 'detail = "element [0-9]"', "x.toml")
    passed = CaseOutcome(Status.PASS)
    assert judged(case(), FACTS, passed, [entry]) == (CaseVerdict.UNEXPECTED_PASS, entry)
    assert judged(case(), FACTS, passed, []) == (CaseVerdict.PASSED, None)
    assert judged(case(), FACTS, CaseOutcome(Status.MISMATCH, "else"), [entry])[0] is CaseVerdict.UNEXPLAINED
    assert judged(case(), FACTS, CaseOutcome(Status.CRASH, "element 1"), [entry])[0] is CaseVerdict.UNEXPLAINED
    assert judged(case(), FACTS, CaseOutcome(Status.UNSUPPORTED), [entry])[0] is CaseVerdict.UNSUPPORTED
    (sometimes,) = read_expectations(ENTRY + "sometimes = true", "x.toml")
    assert judged(case(), FACTS, passed, [sometimes]) == (CaseVerdict.PASSED, None)
    (never,) = read_expectations(ENTRY + "run = false", "x.toml")
    assert not_to_run(case(), FACTS, [entry, never]) is never
    assert not_to_run(case(id="other"), FACTS, [never]) is None


@pytest.mark.parametrize("text", [
    "not toml", "expect = 3", "[[expect]]\nstatus = 'mismatch'\nreason = 'r'", ENTRY.replace("mismatch", "pass"),
    ENTRY.replace("mismatch", "bad"), ENTRY.replace('"known"', '" "'), ENTRY + "what = 1", ENTRY + "run = 'no'",
    ENTRY.replace('"executor"', '"me"'), ENTRY + "detail = '('", ENTRY + "jaxlib = 'new'",
    ENTRY + "type = 'f32'\nop = 3",
])
def test_expectations_that_are_none_are_a_diagnostic(text: str) -> None:
    with pytest.raises(HloError, match="T103"):
        read_expectations(text, "x.toml")


def test_what_ships_is_well_formed_and_says_who_is_right() -> None:
    entries = shipped()
    assert entries and all(isinstance(e, Expectation) and len(e.reason) > 20 for e in entries)
    assert all(any(key == "executor" for key, _ in e.conditions) for e in entries)


# The plugin and the command.


def run(*arguments: str, cwd: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """`hlo-conformance` in a process of its own."""
    return subprocess.run([sys.executable, "-m", "hlotool", "conform", *arguments], cwd=cwd, text=True,
                          capture_output=True, check=False)


PLANTED = f"""// name: before
// input: f32[2] {{1, 2}}
// expect: f32[2] {{-1, -2}}
{NEGATE}
// -----
// name: aborts
// input: f32[2] {{1, 2}}
// expect: f32[2] {{1, 2}}
{ABORTS}
// -----
// name: never ends
// input: s32[] 0
// expect: s32[] 0
{NEVER_ENDS}
// -----
// name: wrong
// input: f32[2] {{1, 2}}
// expect: f32[2] {{-1, -4}}
{NEGATE}
// -----
// name: known
// input: f32[2] {{1, 2}}
// expect: f32[2] {{-1, -4}}
{NEGATE}
// -----
// name: mended
// input: f32[2] {{1, 2}}
// expect: f32[2] {{-1, -2}}
{NEGATE}
// -----
// name: not tried
// input: s32[] 0
// expect: s32[] 0
{NEVER_ENDS}
// -----
// name: refused
// error: [V103]
ENTRY e {{ a = f32[2] parameter(0)  ROOT b = f32[3] negate(a) }}
// -----
// name: after
// input: f32[2] {{1, 2}}
{NEGATE}
"""
KNOWN = """
[[expect]]
cases = ["*/planted/known", "*/planted/mended"]
status = "mismatch"
reason = "the expected value is wrong"
right = "executor"

[[expect]]
cases = ["*/planted/not-tried"]
status = "time-out"
run = false
reason = "it never ends"
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, subprocess.CompletedProcess[str]]:
    """A run over a file that holds everything; at night in a worker of xdist, with cases that end or keep a process.

    What fails is asked again in new processes, and those of PJRT take a second each to begin.
    """
    folder = tmp_path_factory.mktemp("cases")
    hard = ("// name: aborts", "// name: never")
    kept = [c for c in PLANTED.split("// -----\n") if NIGHTLY or not c.startswith(hard)]
    (folder / "planted.hlo").write_text("// -----\n".join(kept))
    (folder / "known.toml").write_text(KNOWN)
    on = ("--executors", "pjrt:cpu", "--jobs", "1") if NIGHTLY else ("--executors", "reference")
    done = run("planted.hlo", "--run-limit", "2", "--expectations", "known.toml", *on, "--save-json", "out.json",
               "--html", "out.html", "--junitxml", "out.xml", cwd=folder)
    return folder, done


def test_no_case_is_lost(planted: tuple[pathlib.Path, Any]) -> None:
    folder, done = planted
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads((folder / "out.json").read_text())
    found = {c["case"].removeprefix("planted/"): (c["status"], c["verdict"]) for c in report["cases"]}
    ended = {"aborts": ("crash", "unexplained"), "never-ends": ("time-out", "unexplained")} if NIGHTLY else {}
    assert found == {
        "before": ("pass", "passed"), **ended, "wrong": ("mismatch", "unexplained"), "known": ("mismatch", "explained"),
        "mended": ("pass", "unexpected pass"), "not-tried": ("time-out", "explained"), "refused": ("pass", "passed"),
        "after": ("pass", "passed")}
    assert report["totals"]["collected"] == report["totals"]["finished"] == len(found) and report["missing"] == []
    assert f"{len(found)} of {len(found)} cases have a result" in done.stdout
    assert "1 unexpected pass: known.toml, entry 1: the expected value is wrong" in done.stdout


def test_reports(planted: tuple[pathlib.Path, Any]) -> None:
    folder, _ = planted
    report = json.loads((folder / "out.json").read_text())
    schema = schema_of(ConformanceReport, "hlotool conform --format json")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(report, schema)
    (wrong,) = [c for c in report["cases"] if c["case"] == "planted/wrong"]
    assert (wrong["worst"]["index"], wrong["worst"]["value"], wrong["worst"]["expected"]) == ([1], "-2.0", "-4.0")
    assert next(sections(wrong["text"])).values("expect") == ["f32[2] {-1, -4}"]
    suite = ET.parse(folder / "out.xml").getroot().find("testsuite")
    assert suite is not None and (suite.get("tests"), suite.get("failures")) == (("9", "3") if NIGHTLY else ("7", "1"))
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert {"status", "verdict", "element_type"} <= properties.keys()
    html = (folder / "out.html").read_text()
    assert html.count("<details data-key=") == (6 if NIGHTLY else 4) and "http:" not in html and "https:" not in html
    ended = ("planted/aborts on pjrt:cpu", "custom_call_target") if NIGHTLY else ("planted/wrong on reference",)
    for said in (*ended, "the expected value is wrong"):
        assert said in html


def test_the_page_quotes_what_cases_hold() -> None:
    record = {"suite": "s", "case": "<b>", "operation": "add", "element_type": "f32", "edge": "", "source": "",
              "executor": "reference", "status": "mismatch", "verdict": "unexplained", "detail": "<script>",
              "seconds": 0.0, "agreement": "wrong", "worst": None, "reason": "", "right": "", "expectation": "",
              "text": "</pre>"}
    report = {"tool": "hlotool", "version": "1", "started": "now", "seconds": 1.0, "executors": {}, "missing": [],
              "totals": {"collected": 1, "finished": 1, "statuses": {}, "verdicts": {}}, "cases": [record]}
    made = page(report)
    assert "&lt;script&gt;" in made and "&lt;b&gt;" in made and "&lt;/pre&gt;" in made
    assert '<td class="unexplained"' in made


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """The cases that the command chooses."""
    assert main_conform([*arguments, "--executors", "numpy", "--collect-only", "-q"]) == 0
    return [line for line in capsys.readouterr().out.splitlines() if "::" in line]


def test_selection(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = listed(capsys, "--suite", "spec,ops", "--op", "neg*,tanh", "--dtype", "f32,bf16", "-k",
                   "not nan and not tanh")
    assert {re.split("::|/", n)[1] for n in names} == {"negate"}
    assert {n.split("::")[0] for n in names} == {"spec", "ops"} and not any("nan" in n for n in names)
    assert len(listed(capsys, "--suite", "ops", "--op", "negate", "--cases", "3", "--dtype", "s8,f64")) == 6


@pytest.mark.parametrize(("arguments", "said"), [
    (("--suite", "nope"), "no suite is called 'nope'"), (("--executors", "tpu"), "no executor is called 'tpu'"),
    (("nowhere.hlo",), "nowhere.hlo"), (("--expectations", "nowhere.toml"), "nowhere.toml"),
    (("broken.hlo",), "is no shape and value"), (("good.hlo", "-k", "nothingofthis"), "no case is chosen"),
])
def test_what_cannot_be_used_ends_with_2(here: pathlib.Path, capsys: pytest.CaptureFixture[str],
                                         arguments: tuple[str, ...], said: str) -> None:
    (here / "broken.hlo").write_text(f"// input: what\n{NEGATE}")
    (here / "good.hlo").write_text(NEGATE)
    assert main_conform(arguments) == 2
    shown = "".join(capsys.readouterr())
    assert said in shown and "Traceback" not in shown and "INTERNAL" not in shown


def test_samples_are_found_and_shipped() -> None:
    assert (samples_folder() / "worked").is_dir()
    import tomllib

    packaging = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert (ROOT / "hlotool" / "samples").resolve() == ROOT / "samples"
    assert packaging["package-data"]["hlotool.samples"] == ["*/*.hlo"]
    patterns = packaging["package-data"]["hlotool.conformance"]
    folder = ROOT / "hlotool" / "conformance"
    data = [p for p in folder.rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc")]
    assert data and all(any(p.relative_to(folder).match(pattern) for pattern in patterns) for p in data)


def test_cases_are_counted_by_suite_and_executor() -> None:
    run = Run(records={str(n): {"suite": suite, "executor": "e", "status": status, "verdict": verdict}
                       for n, (suite, status, verdict) in enumerate([
                           ("a", Status.PASS, CaseVerdict.PASSED), ("a", Status.CRASH, CaseVerdict.EXPLAINED),
                           ("a", Status.CRASH, CaseVerdict.UNEXPLAINED), ("b", Status.PASS, CaseVerdict.PASSED)])})
    assert run.counts() == {("a", "e"): {"cases": 3, "pass": 1, "crash": 2, "explained": 1, "unexplained": 1},
                            ("b", "e"): {"cases": 1, "pass": 1}}
