"""Evidence where time is over: few samples are enough for what agrees with them, and none is made up."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution import TIMEOUT, Program, evaluate_program, run_limit
from hlotool.verdict import Watch, cases, compare
from hlotool.verdict.argument_sets import ArgumentSet
from hlotool.verdict.cases import FEWEST, SAMPLES, Case

TEXT = """HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  d = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT r = f32[] tanh(d)
}
"""
PRODUCT = "d = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}"
SUM = "z = f32[64] multiply(x, y)\n  c = f32[] constant(0)\n  d = f32[] reduce(z, c), dimensions={0}, to_apply=add"
#: the header, and the sum that SUM calls
ADDED = """HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
"""


def ending_after(samples: int, monkeypatch) -> None:
    """Let time be over once that many samples are made."""
    made = []

    def sample(*given: object, **keywords: object) -> object:
        if len(made) >= samples:
            raise HloError([Diagnostic(TIMEOUT, "time is over")])
        made.append(sample_program(*given, **keywords))
        return made[-1]

    sample_program = cases.sample_program
    monkeypatch.setattr(cases, "sample_program", sample)


def case() -> Case:
    program = Program(hlotool.parse(TEXT))
    values = [[np.linspace(-1, 1, 64, dtype=np.float32), np.linspace(0, 1, 64, dtype=np.float32)]]
    return Case(program, ArgumentSet("given", values), 0, evaluate_program(program, values))


@pytest.mark.parametrize("made", range(SAMPLES + 2))
def test_few_samples_are_evidence_and_fewer_are_none(monkeypatch, made: int) -> None:
    ending_after(made, monkeypatch)
    if made < FEWEST:
        with pytest.raises(HloError, match="time is over"):
            case().evidence(0, 0)
        return
    assert len(case().evidence(0, 0).samples) == min(made, SAMPLES)


def test_more_samples_are_asked_for_again(monkeypatch) -> None:
    ending_after(3, monkeypatch)
    one = case()
    assert len(one.evidence(0, 0).samples) == 3
    with pytest.raises(HloError, match="time is over"):
        one.evidence(0, 0, 16, 8)


def test_another_failure_is_no_end_of_time(monkeypatch) -> None:
    def sample(*_: object, **__: object) -> object:
        raise HloError([Diagnostic("E106", "no room")])

    monkeypatch.setattr(cases, "sample_program", sample)
    with pytest.raises(HloError, match="no room"):
        case().evidence(0, 0, fewest=0)


def test_a_verdict_by_few_samples_agrees_but_does_not_accuse(monkeypatch) -> None:
    other = TEXT.replace("tanh(d)", "sine(d)")
    ending_after(FEWEST, monkeypatch)
    rounded = ADDED + TEXT.partition("\n")[2].replace(PRODUCT, SUM)
    given = case().arguments.values[0]
    assert compare(TEXT, rounded, arguments=given, executors=("reference",)).verdict == "agree"
    ending_after(FEWEST, monkeypatch)
    found = compare(TEXT, other, arguments=given, executors=("reference",))
    assert found.verdict == "none" and any("time is over" in d.message for d in found.diagnostics)


def test_no_time_is_no_negative_time() -> None:
    program = Program(hlotool.parse(TEXT))
    values = case().arguments.values
    with run_limit(0), pytest.raises(HloError, match="no time is left"):
        evaluate_program(program, values)


@pytest.mark.parametrize("is_after_origins", [False, True])
def test_origins_are_noted_where_they_are_asked_for(is_after_origins: bool) -> None:
    watch = Watch(is_after_origins=is_after_origins)
    watch.run(Program(hlotool.parse("""ENTRY e { x = f32[2] parameter(0)  l = f32[2] log(x)  a = f32[2] abs(l)
        c = f32[] constant(inf)  ROOT t = (f32[2], f32[], f32[2]) tuple(a, c, l) }""")), [[np.float32([-1, 1])]])
    assert [i.name for i in watch.origins] == ["l"] * is_after_origins
