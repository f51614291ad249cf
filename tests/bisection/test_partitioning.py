"""Passes that split a module over devices, and the rules that verdicts quote."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from hlotool.bisection import BisectOptions, BisectReport, folder_record, judge_chain, text_report
from hlotool.diagnostics.records import schema_of
from hlotool.dumps import read_folder

PUBLIC = pathlib.Path(__file__).parents[3] / "shared" / "corpus" / "miscompiles" / "public"
WHOLE = """HloModule f, num_partitions=2

ENTRY e {
  x = s32[2,5] parameter(0), sharding={devices=[1,2]<=[2]}
  s = s32[] parameter(1), sharding={replicated}
  b = s32[2,5] broadcast(s), dimensions={}
  ROOT y = s32[2,5] add(x, b), sharding={devices=[1,2]<=[2]}
}
"""
PARTS = """HloModule f, num_partitions=2

ENTRY e_spmd {
  x = s32[2,3] parameter(0), sharding={devices=[1,2]<=[2]}
  s = s32[] parameter(1), sharding={replicated}
  b = s32[2,3] broadcast(s), dimensions={}
  p = u32[] partition-id()
  q = s32[] convert(p)
  w = s32[2,3] broadcast(q), dimensions={}
  z = s32[2,3] add(x, b)
  ROOT y = s32[2,3] OPCODE(z, w)
}
"""
CLEAN = PARTS.replace("ROOT y = s32[2,3] OPCODE(z, w)", "ROOT y = s32[2,3] copy(z)")
LATER = (PARTS.replace("ROOT y = s32[2,3] OPCODE(z, w)", "ROOT y = s32[2,3] add(x, b)")
         .replace("  z = s32[2,3] add(x, b)\n", ""))


def folder_of(folder: pathlib.Path, *dumps: tuple[str, str]) -> pathlib.Path:
    for number, (name, text) in enumerate(dumps):
        stage = "before_optimizations" if not number else f"{number:04d}.{name}.before_x"
        (folder / f"module_0001.f.{stage}.txt").write_text(text)
    return folder


def judged(folder: pathlib.Path, **options: object):
    chain, = read_folder(folder).chains
    return judge_chain(chain, BisectOptions(**options))


def test_a_partitioner_that_is_right_agrees_and_what_follows_is_judged(tmp_path: pathlib.Path) -> None:
    found = judged(folder_of(tmp_path, ("", WHOLE), ("spmd-partitioner.after_spmd-partitioning", CLEAN),
                             ("simplification.after_algsimp", LATER)))
    assert [(p.changed_by, p.verdict) for p in found.passes] == [("spmd-partitioning", "agrees"), ("algsimp", "equal")]
    assert len(found.passes[0].inputs) > 1


@pytest.mark.parametrize("opcode", ["add", "subtract"])
def test_a_partitioner_that_is_wrong_on_one_device_is_blamed(opcode: str, tmp_path: pathlib.Path) -> None:
    """Its cleaning up is dumped before its own end; the name is that of the partitioner."""
    wrong = PARTS.replace("OPCODE", opcode)
    arguments = np.arange(10, dtype=np.int32).reshape(2, 5), np.int32(7)
    for options in ({}, {"arguments": arguments}):
        found = judged(folder_of(tmp_path, ("", WHOLE), ("spmd-cleanup.after_pipeline-start", wrong),
                                 ("spmd-partitioner.after_spmd-partitioning", wrong)), **options)
        blamed, = found.wrong
        assert blamed.changed_by == "spmd-partitioning"
        assert blamed.difference is not None and blamed.difference.judgement.worst[1] >= 3


def test_shardings_that_do_not_say_are_said(tmp_path: pathlib.Path) -> None:
    without = WHOLE.replace("add(x, b), sharding={devices=[1,2]<=[2]}", "add(x, b)")
    found = judged(folder_of(tmp_path, ("", without), ("spmd-partitioner.after_spmd-partitioning", CLEAN)))
    assert found.passes[0].verdict == "none" and found.passes[0].reason.startswith("partitioning: ")
    assert [d.code for d in found.passes[0].diagnostics] == ["E163"]


@pytest.mark.parametrize(("before", "after", "rule", "words"), [
    ("a = f32[4] exponential(x)\n  ROOT y = f32[4] log(a)", "a = f32[4] sine(x)\n  ROOT y = f32[4] negate(a)", "", ""),
    ("a = f32[4] multiply(x, x)\n  ROOT y = f32[4] sqrt(a)", "ROOT y.1 = f32[4] abs(x)", "sqrt(x * x) -> abs(x)",
     "inf"),
    ("a = f32[4] exponential(x)\n  ROOT y = f32[4] power(a, z)",
     "a.1 = f32[4] multiply(x, z)\n  ROOT y.1 = f32[4] exponential(a.1)",
     "power(exponential(x), y) -> exponential(x * y)", "does not keep")])
def test_a_verdict_quotes_the_rule(before, after, rule, words, tmp_path: pathlib.Path) -> None:
    texts = [f"HloModule f\n\nENTRY e {{\n  x = f32[4] parameter(0)\n  z = f32[4] parameter(1)\n  {body}\n}}\n"
             for body in (before, after)]
    found = judged(folder_of(tmp_path, ("", texts[0]), ("simplification.after_algsimp", texts[1])))
    wrong, = found.passes
    assert wrong.shown is not None
    assert wrong.rule.startswith(rule) and words in wrong.rule and bool(wrong.rule) == bool(rule)
    record = folder_record(str(tmp_path), [found])
    assert record["modules"][0]["passes"][0]["rule"] == (wrong.rule or None)
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(record, schema_of(BisectReport, "bisect"))
    assert ("rule" in text_report([found])) == bool(rule)
