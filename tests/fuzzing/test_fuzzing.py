"""Fuzzing: programs are valid and follow from the seed; a planted fault is found, made small, sorted and bundled."""

from __future__ import annotations

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from planted_tests import install_executors
from waiting import PATIENCE

import hlotool
from hlotool.cli import main
from hlotool.conformance.expectations import read_expectations
from hlotool.diagnostics.records import schema_of
from hlotool.execution import Program, evaluate_program, run_text
from hlotool.fuzzing import (
    GENERATORS,
    Campaign,
    CampaignReport,
    Limits,
    Plan,
    Sighting,
    Tally,
    campaign_text,
    process_finding,
    programs_of,
)
from hlotool.fuzzing import batch as fuzzing_batch
from hlotool.fuzzing.drawn_programs import composed_program
from hlotool.fuzzing.finding_class import FindingClass, likely_class, likeness
from hlotool.fuzzing.metamorphic import OF_VALUES, Value
from hlotool.fuzzing.process_finding import Followed
from hlotool.fuzzing.rewritten_programs import rewriting_of
from hlotool.fuzzing.rule_programs import program_of
from hlotool.fuzzing.test_program import Subject
from hlotool.ir import Shape, placement_of
from hlotool.numerics import is_nan
from hlotool.passes.rewrite_rules import matches, names_in, pattern_text, rule_of_change, rules
from hlotool.process import Crashed, close_children
from hlotool.reduction import read_bundle

NIGHTLY = bool(os.environ.get("HLOTOOL_NIGHTLY"))
DUMP = """HloModule dump
ENTRY e {
  p = f32[4,4] parameter(0)
  q = f32[4,4] parameter(1)
  a = f32[4,4] add(p, q)
  t = f32[4,4] tanh(a)
  m = f32[4,4] multiply(t, a)
  d = f32[4,4] dot(m, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = pred[4,4] compare(d, t), direction=LT
  ROOT s = f32[4,4] select(c, d, m)
}
"""


@pytest.fixture
def planted(tmp_path, monkeypatch):
    folder = tmp_path / "executors"
    folder.mkdir()
    install_executors(folder, monkeypatch)
    yield
    close_children()


def same(one, other) -> bool:
    return all(bool(np.all((a == b) | (is_nan(a) & is_nan(b)))) for x, y in zip(one, other, strict=True)
               for a, b in zip(x, y, strict=True))


@pytest.mark.parametrize("generator", GENERATORS)
def test_programs_are_valid_follow_from_the_seed_and_run(generator: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "dump.hlo").write_text(DUMP)
    names = (generator,) if generator != "rewritten" else ("rule", "rewritten")
    plan = Plan(3, generators=names, dumps=(str(tmp_path / "dump.hlo"),), size=12)
    found = programs_of(plan, 5)
    again = programs_of(plan, 5)
    assert len(found) > 8
    assert [(s.text, [a.tobytes() for r in s.rows for a in r]) for s in found] == [
        (s.text, [a.tobytes() for r in s.rows for a in r]) for s in again]
    assert len({s.text for s in found}) > 6
    assert {s.text for s in programs_of(plan, 6)} != {s.text for s in found}
    for subject in found:
        module = hlotool.parse(subject.text)
        assert not [d for d in hlotool.verify(module) if d.severity == "error"], subject.text
        assert evaluate_program(Program(module), subject.rows)


def test_walks_hold_control_flow_calls_tuples_and_dynamic_sizes() -> None:
    seen = set()
    for seed in range(250):
        made = composed_program(random.Random(seed))
        if made is not None:
            seen |= {i.opcode for i in hlotool.parse(made.text).instructions()}
    assert {"while", "conditional", "call", "tuple", "get-tuple-element", "set-dimension-size", "reduce"} <= seen


def test_operations_meet_several_devices_and_narrow_types() -> None:
    drawn = [s for b in range(8) for s in programs_of(Plan(1, generators=("operation",)), b)]
    assert any(len(s.rows) > 1 for s in drawn)
    assert {"s4", "u4", "f8e4m3fn", "f8e5m2", "bf16", "pred"} <= {s.element_type for s in drawn}


def test_shardings_fit_their_meshes_and_split_what_has_parts_of_one_size() -> None:
    meshes, is_uneven = set(), False
    for subject in (s for b in range(4) for s in programs_of(Plan(1, generators=("sharded",)), b)):
        module = hlotool.parse(subject.text)
        program = Program(module)
        meshes.add(program.partitions)
        assert program.partitioning == "automatic" and len(subject.rows) == 1
        for instruction in module.instructions():
            given = instruction.attributes.get("sharding")
            if given is not None and "manual" in (given.kind, *given.last_tile_dims):
                continue
            shapes = [s for _, s in instruction.shape.leaves()]
            for sharding, shape in zip(given.elements or [given], shapes, strict=True) if given is not None else ():
                found = placement_of(sharding, shape.rank, program.partitions)
                splits = [n % c for n, c in zip(shape.dims, found.counts, strict=True)]
                assert instruction.opcode != "parameter" or not any(splits), subject.text
                is_uneven |= any(splits)
    assert meshes == {2, 4, 8} and is_uneven


def test_regions_by_hand_have_one_value_and_say_it_in_both_words() -> None:
    """The reference holds the parts that leave a region against each other."""
    seen: dict[str, int] = {}
    words = {"shardy": "xla.sdy.meshes", "by hand": "xla.sdy.LocalToGlobalShape", "gspmd": "SPMDShardToFullShape",
             "mixed": "last_tile_dims={manual, replicated}", "open": "{?}", "parts": ":(1)2", "order": "device_ids",
             "constraint": 'custom_call_target="Sharding", sharding={devices=[2,1,2'}
    words |= {o: f" {o}(" for o in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute",
                                    "partition-id")}
    for subject in (s for b in range(3) for s in programs_of(Plan(2, generators=("sharded",)), b)):
        for name, word in words.items():
            seen[name] = seen.get(name, 0) + (word in subject.text)
        assert not [d for d in hlotool.lint(subject.text) if d.severity.name == "ERROR"], subject.text
        evaluate_program(Program(hlotool.parse(subject.text)), subject.rows)
    assert all(seen.values()), seen


@pytest.mark.parametrize("number", range(0, 64, 8))
def test_partitioned_regions_give_what_the_whole_program_gives(number: int) -> None:
    """XLA's partitioner, GSPMD's or Shardy's, keeps these programs."""
    pytest.importorskip("jax")
    plan = Plan(2, generators=("sharded",))
    subject = programs_of(plan, 1)[number]
    found = evaluate_program(Program(hlotool.parse(subject.text)), subject.rows)
    given = run_text(subject.text, subject.rows, "pjrt:cpu", devices=1, time_limit=PATIENCE)
    for one, other in zip(found[0], given[0], strict=True):
        assert np.allclose(one.astype(np.complex128), other.astype(np.complex128), 1e-2, 1e-2, equal_nan=True)


def test_every_rule_has_a_program_that_holds_it() -> None:
    """The left side stands in the program, and matching finds the rule in it."""
    for number, rule in enumerate(rules()):
        kind = "s32" if rule.of == "integer" else "f32"
        made = next(filter(None, (program_of(rule, kind, random.Random(f"{number}/{n}")) for n in range(8))), None)
        assert made is not None, rule
        dims = (8, 8) if rule.of == "matrix" else (4,)
        shape = f"{kind}[{','.join(map(str, dims))}]"
        lines = [f"{n} = {shape} parameter({i})" for i, n in enumerate(names_in(rule.before))]
        root = hlotool.parse(pattern_text(rule.before, kind, dims, lines)).entry.root
        assert rule in [m.rule for m in matches(root)], rule


def test_matching_tells_operands_constants_and_directions_apart() -> None:
    def root(body: str):
        return hlotool.parse(f"HloModule m\nENTRY e {{ p = f32[2] parameter(0)  q = f32[2] parameter(1)\n{body} }}"
                             ).entry.root

    def texts(body: str) -> set[str]:
        return {str(m.rule) for m in matches(root(body))}

    assert "log(exponential(x)) -> x" in texts("a = f32[2] exponential(p) ROOT r = f32[2] log(a)")
    assert "log(exponential(x)) -> x" not in texts("a = f32[2] sine(p) ROOT r = f32[2] log(a)")
    assert "x - x -> 0" in texts("ROOT r = f32[2] subtract(p, p)")
    assert "x - x -> 0" not in texts("ROOT r = f32[2] subtract(p, q)")
    assert "power(x, 2) -> x * x" in texts(
        "c = f32[] constant(2) b = f32[2] broadcast(c), dimensions={} ROOT r = f32[2] power(p, b)")
    assert "power(x, 2) -> x * x" not in texts(
        "c = f32[] constant(3) b = f32[2] broadcast(c), dimensions={} ROOT r = f32[2] power(p, b)")
    change = root("a = f32[2] multiply(p, p) ROOT r = f32[2] sqrt(a)"), root("ROOT r = f32[2] abs(p)")
    assert str(rule_of_change(*change)) == "sqrt(x * x) -> abs(x)"
    assert rule_of_change(change[0], root("ROOT r = f32[2] negate(p)")) is None
    # What a rule computes of constants is a constant after it, and must be the right one; operands stay what they were.
    sums = root("c = f32[] constant(3) b = f32[2] broadcast(c), dimensions={} a = f32[2] add(p, b) ROOT r = add(a, b)")
    for number, operand, rule in ((6, "p", "(x + c) + d -> x + (c + d)"), (7, "p", None), (6, "q", None)):
        constant = f"c = f32[] constant({number}) b = f32[2] broadcast(c), dimensions={{}}"
        after = root(f"{constant} ROOT r = add({operand}, b)")
        assert (str(rule_of_change(sums, after)) if rule else rule_of_change(sums, after)) == rule


@pytest.mark.parametrize("wrapping", OF_VALUES, ids=lambda w: w.__name__)
def test_a_wrapping_changes_no_bit(wrapping) -> None:
    """On the value itself: all that the type can hold at its ends goes through unchanged."""
    for number, kind in enumerate(("f32", "bf16", "s8", "u16", "pred", "f8e4m3fn", "f8e8m0fnu", "f8e5m2fnuz")):
        shape = Shape.array(kind, (2, 3))
        piece = wrapping(Value(shape, random.Random(number)))
        if piece is None:
            continue
        generator = np.random.default_rng(number)
        size = 8 * shape.dtype.numpy.itemsize if kind != "pred" else 1
        bits = generator.integers(0, 1 << size, (2, 3), endpoint=False)
        given = bits.astype(bool) if kind == "pred" else bits.astype(f"u{size // 8}").view(shape.dtype.numpy)
        found = evaluate_program(Program(hlotool.parse(piece.text)), [[given, *piece.added]])
        assert same(found, [[given]]), piece.text


def test_a_rewriting_gives_the_same_bits() -> None:
    text = """HloModule m
ENTRY e { p = f32[3,4] parameter(0)  q = f32[3,4] parameter(1)  a = f32[3,4] divide(p, q)  b = f32[3,4] sine(a)
  ROOT t = (f32[3,4], f32[3,4]) tuple(a, b) }"""
    rows = [[np.array([[0, 1, -1, np.inf], [np.nan, -0.0, 3, 1e-40], [7, 1e38, 2, 5]], np.float32)] * 2]
    subject = Subject("operation", "x", text, rows)
    expected = evaluate_program(Program(hlotool.parse(text)), rows)
    opcodes = set()
    for seed in range(60):
        made = rewriting_of(subject, random.Random(seed))
        if made is not None:
            module = hlotool.parse(made.text)
            assert not [d for d in hlotool.verify(module) if d.severity == "error"], made.text
            assert same(evaluate_program(Program(module), made.rows), expected), made.text
            opcodes |= {i.opcode for i in module.instructions()}
    assert {"while", "conditional", "call", "transpose", "pad", "concatenate", "optimization-barrier"} <= opcodes | {
        "optimization-barrier" if "opt-barrier" in opcodes else ""}


def fuzzed(capsys, *words: str) -> tuple[int, dict]:
    code = main(["fuzz", "--json", "-j", "1", *words])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def campaign(planted, tmp_path, capsys) -> tuple[tuple[str, ...], pathlib.Path, dict]:
    """Of programs of rules on an executor that adds 1 to square roots of products: words, folder and record."""
    folder = tmp_path / "found"
    words = ("--executors", "wrong", "--generators", "rule", "--seed", "10", "--size", "24")
    code, record = fuzzed(capsys, *words, "--programs", "72", "-o", str(folder))
    assert code == 1
    return words, folder, record


def test_a_planted_fault_is_found_made_small_sorted_and_bundled(campaign, capsys) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    _, _, record = campaign
    jsonschema.validate(record, schema_of(CampaignReport, "fuzz"))
    assert record["programs"] == 72 and record["outcomes"]["seen"] >= 1
    (found,) = [c for c in record["classes"] if c["kind"] == "wrong"]
    assert found["opcodes"] == ["multiply", "sqrt"] and not found["is_ours"]
    assert found["instructions"] <= 4
    bundle = pathlib.Path(found["bundle"])
    assert [i.opcode for i in read_bundle(bundle.read_bytes(), "b", ["wrong"]).candidate.module.entry.instructions
            ][-1] == "sqrt"
    assert main(["bundle", "run", str(bundle), "--executors", "wrong", "reference"]) == 0


def test_a_campaign_goes_on_in_its_folder_and_in_no_other(campaign, capsys) -> None:
    words, folder, record = campaign
    (found,) = [c for c in record["classes"] if c["kind"] == "wrong"]
    assert main(["fuzz", *words, "--programs", "96", "-o", str(folder)]) == 2
    assert main(["fuzz", *words, "--programs", "96", "-o", str(folder), "--resume", "--seed", "2"]) == 2
    capsys.readouterr()
    code, more = fuzzed(capsys, *words, "--programs", "96", "-o", str(folder), "--resume")
    assert code == 1 and more["programs"] == 96
    assert [c["name"] for c in more["classes"] if c["kind"] == "wrong"] == [found["name"]]
    assert sum(c["sightings"] for c in more["classes"]) >= sum(c["sightings"] for c in record["classes"])


def test_a_right_executor_has_no_findings(planted, capsys) -> None:
    code, record = fuzzed(capsys, "--executors", "stablehlo" if NIGHTLY else "reference", "--size", "24", "--programs",
                          "24", "--seed", "4")
    assert (code, record["classes"]) == (0, []), record["classes"]


def test_a_crash_is_a_class_and_costs_no_other_program_its_verdict(planted, capsys) -> None:
    # Each try at making it smaller ends a process, which takes half a second to replace.
    count, limit = (30, "60") if NIGHTLY else (6, "0.1")
    code, record = fuzzed(capsys, "--executors", "crashing", "--generators", "operation,rewritten",
                          "--size", str(count), "--programs", str(count), "--seed", "3", "--reduction-limit", limit)
    assert code == 1
    (found,) = record["classes"]
    assert found["kind"] == "crash" and "reverse" in found["opcodes"]
    assert not NIGHTLY or (found["opcodes"] == ["reverse"] and found["instructions"] <= 2)
    outcomes = record["outcomes"]
    assert outcomes["agrees"] + outcomes["seen"] + outcomes.get("no value", 0) >= count * 5 // 6


def test_what_is_alike_is_followed_up_once() -> None:
    tally = Tally(Plan())
    first = Sighting(Subject("rule", "a -> b", "x", [[]], "a -> b"), "wrong", "said")
    other = Sighting(Subject("rewritten", "a -> b", "y", [[]], "a -> b"), "wrong", "said")
    crash = Sighting(Subject("rule", "a -> b", "y", [[]], "a -> b"), "crash", "said")
    for sighting in (first, other, crash):
        tally.take_up(sighting)
    assert list(tally.pending) == [first, crash]
    assert likeness(first) == likeness(other) != likeness(crash)


@pytest.mark.parametrize(("words", "said"), [
    (("--resume",), "--output"), (("--generators", "wild"), "no generator wild"), (("--generators", "dump"), "--dumps"),
    (("--jobs", "0"), "0 is not from 1 to 256"), (("--time-limit", "-1"), "above 0"),
    (("--executors", "none"), "no executor"), (("--dumps", "empty"), "holds no file")])
def test_what_cannot_be_done_is_refused(words, said, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert main(["fuzz", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="signals of a group")
def test_an_interrupt_ends_with_what_was_found(tmp_path) -> None:
    process = subprocess.Popen([sys.executable, "-m", "hlotool", "fuzz", "--executors", "reference",
                                "--time-limit", "600", "--json", "--size", "8", "-j", "1", "-o", str(tmp_path / "f")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    batches = tmp_path / "f" / "batches.jsonl"
    while not batches.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    record = json.loads(out)
    assert record["is_interrupted"] and record["programs"] > 0 and record["plan"]["size"] == 8


def test_what_ends_its_following_up_is_sorted_by_its_program() -> None:
    """Two programs whose reductions ended their processes are two classes, of so many instructions, and said so."""
    campaign = Campaign(Tally(Plan()), Limits())
    for opcode in ("sine", "cosine"):
        text = f"ENTRY e {{ x = f32[] parameter(0)  ROOT y = f32[] {opcode}(x) }}"
        campaign._take_followed(Sighting(Subject("composed", opcode, text, [[]]), "crash", "signal 11"),
                                Crashed("the process ended"))
    said = campaign_text(campaign.tally)
    assert {c.best.opcodes for c in campaign.tally.classes.values()} == {("sine",), ("cosine",)}
    assert said.count("2 instructions") == 2 and said.count("not reduced: ") == 2


@pytest.mark.parametrize(("entry", "is_left_out"), [
    ('status = "crash"', True), ('status = "mismatch"', False), ('status = "time-out"\nrun = false', True),
    ('status = "crash"\nop = "add"', False)])
def test_what_ends_its_process_is_left_out(monkeypatch: pytest.MonkeyPatch, entry: str, is_left_out: bool) -> None:
    entries = read_expectations(f'[[expect]]\ncases = ["*"]\nreason = "known"\n{entry}\n', "known.toml")
    monkeypatch.setattr(fuzzing_batch, "_entries", lambda: tuple(entries))
    one = Subject("operation", "negate/f32", "", [], opcode="negate", element_type="f32")
    assert fuzzing_batch._is_left_out(one, "reference") is is_left_out
    assert not fuzzing_batch._is_left_out(Subject("rule", "a rule", "", []), "reference")


@pytest.mark.parametrize(("verdicts", "wrong", "guilty"), [
    (["equal", "agrees"], [], "code generation"), (["equal", "wrong"], ["algsimp"], "algsimp"),
    (["equal", "none"], [], ""), (None, [], "")])
def test_the_pass_to_blame(monkeypatch: pytest.MonkeyPatch, verdicts: list[str] | None, wrong: list[str],
                           guilty: str) -> None:
    judged = None if verdicts is None else SimpleNamespace(
        wrong=[SimpleNamespace(changed_by=name) for name in wrong],
        passes=[SimpleNamespace(verdict=v) for v in verdicts])
    monkeypatch.setattr(process_finding, "judge_small", lambda *_: judged)
    found = SimpleNamespace(rows=[], guilty_pass="", problems=[])
    process_finding._name_pass(found, None, SimpleNamespace(executor="pjrt:cpu", time_limit=1.0))
    assert found.guilty_pass == guilty and found.problems == []


@pytest.mark.parametrize(("kind", "opcodes", "is_one"), [
    ("crash", ("sine",), True), ("crash", ("sine", "add"), False), ("wrong", ("sine",), False), ("crash", (), False)])
def test_a_sighting_is_likely_of_a_class_of_its_kind_whose_opcodes_it_has(kind: str, opcodes: tuple[str, ...],
                                                                         is_one: bool) -> None:
    text = "HloModule m\n\nENTRY e {\n  x = f32[] parameter(0)\n  ROOT r = f32[] sine(x)\n}\n"
    sighting = Sighting(Subject("composed", "m", text, []), "crash", "gone")
    known = FindingClass(Followed(sighting, kind, "gone", text, [], opcodes=opcodes))
    assert (likely_class(sighting, [known]) is known) == is_one


def test_one_rule_is_one_class_whichever_value_comes_out() -> None:
    subject = Subject("rule", "sqrt(x * x) -> abs(x)", "", [])
    made = [Followed(Sighting(subject, kind, ""), kind, "", "", [], opcodes=opcodes, guilty_pass="algsimp", rule=rule)
            for kind, opcodes, rule in (
                ("wrong", ("multiply", "sqrt"), "sqrt(x * x) -> abs(x)"),
                ("non-finite fold", ("multiply", "negate", "sqrt"), "sqrt(x * x) -> abs(x)"),
                ("wrong", ("divide",), ""), ("non-finite fold", ("divide",), ""), ("wrong", ("add",), ""),
                ("crash", ("divide",), ""))]
    assert [len({f.key for f in made[:n]}) for n in range(1, 7)] == [1, 1, 2, 2, 3, 4]


def test_dumps_that_are_left_out_are_reported_at_their_places(tmp_path: pathlib.Path, capsys) -> None:
    (tmp_path / "good.hlo").write_text(DUMP)
    (tmp_path / "bad.hlo").write_text("HloModule m\nENTRY e {\n  ROOT x = f32[ parameter(0)\n}\n")
    (tmp_path / "buffers.txt").write_text("BufferAssignment:\nallocation 0: size 4\n")
    words = ["fuzz", "--dumps", str(tmp_path), "--generators", "dump", "--executors", "reference", "--programs", "1",
             "--size", "1", "-j", "1"]
    assert main(words) == 0
    said = capsys.readouterr().err
    assert said.count("warning[R142]") == 2 and "bad.hlo:3:" in said and "buffers.txt" in said
    assert "good.hlo" not in said
    (tmp_path / "good.hlo").unlink()
    assert main(words) == 2
    assert "error[R141]" in capsys.readouterr().err


def test_a_campaign_without_a_program_is_not_clean(capsys) -> None:
    assert main(["fuzz", "--time-limit", "0.001", "-j", "1"]) == 2
    assert "no program was judged" in capsys.readouterr().err
