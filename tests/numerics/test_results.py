"""The verdict on all results of a run, and on what is only guessed of a program's precision."""

from __future__ import annotations

import functools

import numpy as np

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import Program, run_program
from hlotool.numerics import Kind, Samples, assumed_ulps, judge_results, settled_results, worst_of
from hlotool.numerics.rounding import samples_of

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
        worst = worst_of(judge_results(one, other))
        assert worst is not None and worst.judgement.is_wrong and said in str(worst)
    assert worst_of([]) is None


def test_samples_are_asked_for_when_something_is_not_settled() -> None:
    program, asked = Program(hlotool.parse(CANCEL)), []

    def samples(count: int) -> Samples:
        asked.append(count)
        return samples_of(program, [HALF], count)

    own = run_program(program, [HALF], "reference")
    assert not any(j.judgement.is_wrong for j in settled_results(own, own, samples, program.module)) and not asked
    near = [[own[0][0] + np.float32([3e-8, 0])]]
    (found,) = settled_results(near, own, samples, program.module)
    assert found.judgement.kind is Kind.ILL_CONDITIONED and asked == [5]
    (found,) = settled_results([[own[0][0] + np.float32([1e-3, 0])]], own, samples, program.module)
    assert found.judgement.is_wrong and asked == [5, 5, 16]


def test_samples_spread_about_the_program_and_not_about_what_somebody_says() -> None:
    program = Program(hlotool.parse(CANCEL))
    samples = samples_of(program, [HALF], 5)
    own = run_program(program, [HALF], "reference")
    far = [[own[0][0] + np.float32([0, 0.5])]]
    (found,) = judge_results(own, far, samples, is_own=False)
    assert found.judgement.is_wrong
    whole = Program(hlotool.parse("ENTRY e { a = s32[2] parameter(0)  ROOT r = s32[2] negate(a) }"))
    given = [[np.int32([1, 2])]]
    samples = samples_of(whole, given, 5)
    (found,) = judge_results(samples.reference, [[np.int32([-1, -3])]], samples, is_own=False)
    assert found.judgement.kind is Kind.WRONG


def test_without_samples_the_operations_suggest_what_is_allowed() -> None:
    module = hlotool.parse(CANCEL)
    allowed = assumed_ulps(module)
    assert 4.0 < allowed < 100.0

    def refused(count: int) -> Samples:
        raise HloError([])

    near, far = (rows(1 + n * 2.0**-23, 1) for n in (int(allowed), int(allowed) + 8))
    assert not settled_results(near, rows(1, 1), refused, module)[0].judgement.is_wrong
    assert settled_results(far, rows(1, 1), refused, module)[0].judgement.is_wrong
    long = "\n".join(f"  v{n} = f32[2] tanh(v{n - 1})" for n in range(1, 400))
    text = f"HloModule m\nENTRY e {{\n  v0 = f32[2] parameter(0)\n{long}\n  ROOT r = f32[2] tanh(v399)\n}}"
    assert allowed < assumed_ulps(hlotool.parse(text)) <= 4096.0


def test_infeeds_reach_the_samples() -> None:
    text = """ENTRY e { t = token[] after-all()  f = (f32[2], token[]) infeed(t)
      x = f32[2] get-tuple-element(f), index=0  ROOT r = f32[2] tanh(x) }"""
    found = samples_of(Program(hlotool.parse(text)), [[]], 2, infeed=[[(np.float32([1, 2]))]])
    assert np.allclose(found.shadow[0][0], np.tanh([1, 2])) and len(found.samples) == 2 and len(found.strict) == 1
    assert functools.reduce(np.logical_and, [np.allclose(s[0][0], np.tanh([1, 2])) for s in found.samples])
