"""The verdict on all results of a run, and on what is only guessed of a program's precision."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution import TIMEOUT, UNSUPPORTED, Executor, Program, executor_named, run_program
from hlotool.numerics import (
    Draws,
    Evidence,
    Kind,
    Way,
    assumed_ulps,
    computed,
    judge_apart,
    judge_plainly,
    judge_results,
    worst_of,
)

#: what is left of the product hangs on its last bits
CANCEL = """HloModule m
ENTRY e { a = f32[2] parameter(0)  b = f32[2] parameter(1)  t = f32[2] tanh(a)  u = f32[2] tanh(b)
  ROOT r = f32[2] subtract(t, u) }"""
HALF = [np.float32([0.5, 1.0]), np.float32([0.5, 2.0])]


def rows(*values: float) -> list[list[np.ndarray]]:
    return [[np.float32(values)]]


def test_numbers_of_devices_results_and_shapes_have_to_agree() -> None:
    one = rows(1, 2)
    for other, said in ((one + one, "1 devices against 2 devices"), ([one[0] * 2], "1 results against 2 results"),
                        (rows(1), "float32[2] against float32[1]")):
        worst = worst_of(judge_plainly(one, other))
        assert worst is not None and worst.judgement.is_wrong and said in str(worst)
    assert worst_of([]) is None


def test_samples_are_asked_for_when_something_is_not_settled() -> None:
    program, asked = Program(hlotool.parse(CANCEL)), []

    def source(way: Way) -> list[list[np.ndarray]]:
        asked.append(way)
        return computed(program, [HALF], way)

    def found(given: list[list[np.ndarray]]) -> Kind:
        asked.clear()
        evidence = Evidence(program, [HALF], source=source)
        return judge_results(given, evidence)[0].judgement.kind

    own = run_program(program, [HALF], "reference")
    assert found(own) is Kind.EQUAL and asked == ["own"]
    assert found([[own[0][0] + np.float32([3e-8, 0])]]) is Kind.ILL_CONDITIONED
    assert asked[:7] == ["own", "shadow", *range(5)] and not set(range(5, 16)) & set(asked)
    assert found([[own[0][0] + np.float32([1e-3, 0])]]).is_wrong
    assert asked == ["own", "shadow", *range(16)]


def test_samples_spread_about_the_program_and_not_about_what_somebody_says() -> None:
    program = Program(hlotool.parse(CANCEL))
    own = run_program(program, [HALF], "reference")
    far = [[own[0][0] + np.float32([0, 0.5])]]
    (found,) = judge_results(own, Evidence(program, [HALF]), far)
    assert found.judgement.is_wrong
    whole = Program(hlotool.parse("ENTRY e { a = s32[2] parameter(0)  ROOT r = s32[2] negate(a) }"))
    evidence = Evidence(whole, [[np.int32([1, 2])]])
    (found,) = judge_results(evidence.reference, evidence, [[np.int32([-1, -3])]])
    assert found.judgement.kind is Kind.WRONG


def test_without_a_reference_the_operations_suggest_what_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = hlotool.parse(CANCEL)
    program, allowed = Program(module), assumed_ulps(module)
    assert 4.0 < allowed < 100.0
    code = UNSUPPORTED

    def refused(*_: object, **__: object) -> list[list[np.ndarray]]:
        raise HloError([Diagnostic(code, "cannot")])

    near, far = (rows(1 + n * 2.0**-23, 1) for n in (int(allowed), int(allowed) + 8))
    evidence = Evidence(program, [HALF], source=refused)
    assert not judge_results(near, evidence, rows(1, 1))[0].judgement.is_wrong
    assert judge_results(far, evidence, rows(1, 1))[0].judgement.is_wrong
    monkeypatch.setattr(Executor, "ask", refused)
    reference = executor_named("reference")
    assert not judge_apart(reference, program, [HALF], near, rows(1, 1), is_own=False)[0].judgement.is_wrong
    assert judge_apart(reference, program, [HALF], far, rows(1, 1), is_own=False)[0].judgement.is_wrong
    code = TIMEOUT  # a reference that is too slow says nothing of the program
    with pytest.raises(HloError, match="cannot"):
        judge_results(far, evidence, rows(1, 1))
    long = "\n".join(f"  v{n} = f32[2] tanh(v{n - 1})" for n in range(1, 400))
    text = f"HloModule m\nENTRY e {{\n  v0 = f32[2] parameter(0)\n{long}\n  ROOT r = f32[2] tanh(v399)\n}}"
    assert allowed < assumed_ulps(hlotool.parse(text)) <= 4096.0


@pytest.mark.parametrize("is_own", [False, True])
def test_a_child_process_judges_alike(is_own: bool) -> None:
    program, reference = Program(hlotool.parse(CANCEL)), executor_named("reference")
    own = run_program(program, [HALF], "reference")
    for away in (0.0, 3e-8, 1e-3):
        given = [[own[0][0] + np.float32([away, 0])]]
        (there,) = judge_apart(reference, program, [HALF], given, own, is_own=is_own)
        (here,) = judge_results(given, Evidence(program, [HALF]), None if is_own else own)
        assert there.judgement.counts == here.judgement.counts and str(there) == str(here)


def test_infeeds_reach_the_samples() -> None:
    text = """ENTRY e { t = token[] after-all()  f = (f32[2], token[]) infeed(t)
      x = f32[2] get-tuple-element(f), index=0  ROOT r = f32[2] tanh(x) }"""
    found = Evidence(Program(hlotool.parse(text)), [[]], infeed=[[(np.float32([1, 2]))]])
    ways: list[Way] = ["own", "shadow", 0, 1, *((draws, 0) for draws in Draws)]
    assert functools.reduce(np.logical_and, [np.allclose(found.results(w)[0][0], np.tanh([1, 2])) for w in ways])
