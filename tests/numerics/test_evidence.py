"""Evidence where time is over: few samples are enough for what agrees with them, and none is made up."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution import Program, evaluate_program, run_limit
from hlotool.numerics import Draws, Evidence, Kind, Policy, Way, computed, evidence
from hlotool.numerics.evidence import CONFIRMING, FEWEST, FEWEST_TO_CONFIRM, FIRST
from hlotool.verdict import Watch, compare

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


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that each evaluation in another way takes."""
    now, each = [0.0], [0.0]

    def evaluated(*given: object, **keywords: object) -> object:
        now[0] += each[0]
        return computed(*given, **keywords)

    computed = evidence.computed
    monkeypatch.setattr(evidence, "computed", evaluated)
    monkeypatch.setattr(evidence, "work_time", lambda: now[0])
    return each


def gathered(seconds: float = 60.0) -> Evidence:
    program = Program(hlotool.parse(TEXT))
    values = [[np.linspace(-1, 1, 64, dtype=np.float32), np.linspace(0, 1, 64, dtype=np.float32)]]
    return Evidence(program, values, Policy(seconds))


@pytest.mark.parametrize("made", range(FIRST + 2))
def test_few_samples_are_evidence_and_fewer_are_none(clock: list[float], made: int) -> None:
    clock[0] = 1.0
    found = gathered(made + 1.0)  # the shadow costs one, too
    if made < FEWEST:
        with pytest.raises(HloError, match=f"{made} samples took more than .* too few for a verdict"):
            found.known(0, 0)
        return
    assert len(found.known(0, 0).samples) == min(made, FIRST)


def test_more_samples_are_asked_for_again(clock: list[float]) -> None:
    clock[0] = 1.0
    found = gathered(4.0)
    assert len(found.known(0, 0).samples) == 3
    with pytest.raises(HloError, match="too few"):
        found.known(0, 0, range(CONFIRMING), FEWEST_TO_CONFIRM)
    assert len(found.known(0, 0, range(CONFIRMING), 3).samples) == 3


def test_the_reference_is_given_and_costs_nothing(clock: list[float]) -> None:
    clock[0] = 1.0
    assert gathered(0.0).judge(gathered().reference[0][0]).kind is Kind.EQUAL
    with pytest.raises(HloError, match="0 samples"):
        gathered(0.0).judge(gathered().reference[0][0] + np.float32(1))


def test_another_failure_is_no_end_of_time() -> None:
    def source(way: Way) -> list[list[np.ndarray]]:
        if way == 1:
            raise HloError([Diagnostic("E106", "no room")])
        return computed(program, values, way)

    program, values = gathered().program, gathered().arguments
    with pytest.raises(HloError, match="no room"):
        Evidence(program, values, source=source).known(0, 0, fewest=0)


def test_what_a_sample_does_not_give_is_left_out() -> None:
    """As of an instruction of a loop that runs less often in a sample."""
    given = {"own": np.float32(1), "shadow": None, 0: np.float32(1.5)}
    found = Evidence(gathered().program, (), source=lambda way: [[given.get(way)]]).known(0, 0)
    assert found.shadow is None and found.samples == [np.float32(1.5)] and found.others is not None
    assert not list(found.others(Draws.STRICT))


def test_a_verdict_by_few_samples_agrees_but_does_not_accuse(clock: list[float]) -> None:
    other = TEXT.replace("tanh(d)", "sine(d)")
    rounded = ADDED + TEXT.partition("\n")[2].replace(PRODUCT, SUM)
    clock[0] = 20.0
    given = gathered().arguments[0]
    assert compare(TEXT, rounded, arguments=given, executors=("reference",)).verdict == "agree"
    found = compare(TEXT, other, arguments=given, executors=("reference",))
    assert found.verdict == "none" and any("too few for a verdict" in d.message for d in found.diagnostics)


def test_no_time_is_no_negative_time() -> None:
    program = Program(hlotool.parse(TEXT))
    values = gathered().arguments
    with run_limit(0), pytest.raises(HloError, match="no time is left"):
        evaluate_program(program, values)


@pytest.mark.parametrize("is_after_origins", [False, True])
def test_origins_are_noted_where_they_are_asked_for(is_after_origins: bool) -> None:
    watch = Watch(is_after_origins=is_after_origins)
    watch.run(Program(hlotool.parse("""ENTRY e { x = f32[2] parameter(0)  l = f32[2] log(x)  a = f32[2] abs(l)
        c = f32[] constant(inf)  ROOT t = (f32[2], f32[], f32[2]) tuple(a, c, l) }""")), [[np.float32([-1, 1])]])
    assert [i.name for i in watch.origins] == ["l"] * is_after_origins
