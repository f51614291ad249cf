"""Devices in step give what each gives on a thread of its own, and part where they have to."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import Program, evaluate_program
from hlotool.execution import evaluate as evaluating
from hlotool.execution.evaluation import Evaluation
from hlotool.execution.spread import Apart, Classes, Joins, Spread, classes_of, each, gathered, spread

STEP = """HloModule step, num_partitions=8

add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }

less { s = (s32[], f32[3,4]) parameter(0)  n = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)  ROOT l = pred[] compare(n, three), direction=LT }

turn {
  s.1 = (s32[], f32[3,4]) parameter(0)
  n.1 = s32[] get-tuple-element(s.1), index=0
  one = s32[] constant(1)
  m = s32[] add(n.1, one)
  v = f32[3,4] get-tuple-element(s.1), index=1
  p = f32[3,4] collective-permute(v), channel_id=4, source_target_pairs={{0,1},{1,2},{2,3},{3,0},{4,5}}
  q = f32[3,4] tanh(p)
  ROOT t = (s32[], f32[3,4]) tuple(m, q)
}

ENTRY e {
  x = f32[3,5] parameter(0)
  w = f32[5,4] parameter(1)
  d = f32[3,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  r = f32[3,4] all-reduce(d), channel_id=1, replica_groups={{0,2,4,6},{1,3,5,7}}, use_global_device_ids=true,
    to_apply=add
  id = u32[] partition-id()
  table = s32[8] constant({0, 0, 1, 1, 0, 0, 1, 1})
  row = s32[1] dynamic-slice(table, id), dynamic_slice_sizes={1}
  at = s32[] reshape(row)
  zero = s32[] constant(0)
  cut = f32[1,4] dynamic-slice(r, at, zero), dynamic_slice_sizes={1,4}
  g = f32[6,4] all-gather(r), channel_id=2, replica_groups={{0,1},{2,3},{4,5},{6,7}}, use_global_device_ids=true,
    dimensions={0}
  sc = f32[3,4] reduce-scatter(g), channel_id=3, replica_groups={{0,1},{2,3},{4,5},{6,7}}, use_global_device_ids=true,
    dimensions={0}, to_apply=add
  init = (s32[], f32[3,4]) tuple(zero, sc)
  loop = (s32[], f32[3,4]) while(init), condition=less, body=turn
  out = f32[3,4] get-tuple-element(loop), index=1
  f0 = f32[] constant(0)
  total = f32[3] reduce(out, f0), dimensions={1}, to_apply=add
  back = f32[4,3] transpose(out), dimensions={1,0}
  ROOT res = (f32[3,4], f32[3], f32[4,3], f32[1,4]) tuple(out, total, back, cut)
}
"""


def rows_of(program: Program, seed: int = 0) -> list[list[np.ndarray]]:
    random = np.random.default_rng(seed)
    whole = [random.normal(size=s.dims).astype(s.dtype.numpy) for s in program.parameters]
    return [[random.normal(size=s.dims).astype(s.dtype.numpy) if n % 2 == 0 else whole[n]
             for n, s in enumerate(program.parameters)] for _ in range(program.devices)]


def on_threads(monkeypatch: pytest.MonkeyPatch, program: Program, rows: list, **more: object) -> list:
    def parts(self: object) -> None:
        raise Apart

    with monkeypatch.context() as patched:
        patched.setattr(evaluating._Run, "_in_step", parts)
        return evaluate_program(program, rows, **more)


def test_results_are_those_of_threads_and_so_is_what_an_observer_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(hlotool.parse(STEP))
    rows = rows_of(program)
    seen: list[dict] = [{}, {}]

    def watch(moment, kept):
        key = moment.device, tuple((c.caller.name, c.iteration) for c in moment.path), moment.instruction.name
        kept[key] = np.asarray(moment.value).tobytes() if moment.instruction.shape.is_array else None
        return moment.value

    apart = on_threads(monkeypatch, program, rows, observer=lambda m: watch(m, seen[0]))
    in_step = evaluate_program(program, rows, lambda m: watch(m, seen[1]))
    assert [[a.tobytes() for a in row] for row in apart] == [[a.tobytes() for a in row] for row in in_step]
    assert seen[0] == seen[1] and len(seen[0]) > 200
    plain = evaluate_program(program, rows)
    assert [[a.tobytes() for a in row] for row in plain] == [[a.tobytes() for a in row] for row in in_step]


def test_what_an_observer_puts_in_is_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(hlotool.parse(STEP))
    rows = rows_of(program)

    def change(moment):
        return moment.value * 0 if (moment.device, moment.instruction.name) == (3, "d") else moment.value

    changed = evaluate_program(program, rows, change)
    assert [a.tobytes() for r in changed for a in r] == [
        a.tobytes() for r in on_threads(monkeypatch, program, rows, observer=change) for a in r]
    assert changed[3][3].tobytes() != evaluate_program(program, rows)[3][3].tobytes()


def test_the_same_is_computed_once_and_different_values_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """HloModule m, num_partitions=512
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0)  w = f32[4] parameter(1)  t = f32[4] tanh(w)  y = f32[4] multiply(x, t)
  ROOT r = f32[4] all-reduce(y), channel_id=1, replica_groups=[256,2]<=[512], use_global_device_ids=true,
    to_apply=add }"""
    program, calls, run = Program(hlotool.parse(text)), {}, Evaluation.run

    def counted(self, step, operands, path=()):
        calls[step.instruction.name] = calls.get(step.instruction.name, 0) + 1
        return run(self, step, operands, path)

    monkeypatch.setattr(Evaluation, "run", counted)
    rows = rows_of(program)
    found = evaluate_program(program, rows)
    assert (calls["t"], calls["y"]) == (1, 1)
    assert found[3][0] is found[2][0]
    np.testing.assert_allclose(found[3][0], (rows[2][0] + rows[3][0]) * np.tanh(rows[3][1]), rtol=1e-5)


PARTING = """HloModule m, num_partitions=2
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
yes { x = f32[2] parameter(0)
  ROOT r = f32[2] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add }
no { y = f32[2] parameter(0)
  ROOT r.1 = f32[2] all-reduce(y), channel_id=OTHER, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add }
ENTRY e { p = pred[] parameter(0)  z = f32[2] parameter(1)
  ROOT c = f32[2] conditional(p, z, z), true_computation=yes, false_computation=no }"""


def test_devices_that_choose_differently_meet_or_are_reported() -> None:
    rows = [[np.bool_(True), np.ones(2, "f4")], [np.bool_(False), np.ones(2, "f4")]]
    found = evaluate_program(Program(hlotool.parse(PARTING.replace("OTHER", "1"))), rows)
    assert [r[0].tolist() for r in found] == [[2, 2], [2, 2]]
    with pytest.raises(HloError, match="wait for ever"):
        evaluate_program(Program(hlotool.parse(PARTING.replace("OTHER", "2"))), rows)


def test_more_devices_than_threads_may_not_part() -> None:
    text = PARTING.replace("OTHER", "2").replace("num_partitions=2", "num_partitions=300").replace("{{0,1}}", "{}")
    rows = [[np.bool_(d % 2), np.ones(2, "f4")] for d in range(300)]
    with pytest.raises(HloError, match="goes its own way"):
        evaluate_program(Program(hlotool.parse(text.replace(", use_global_device_ids=true", ""))), rows)


def test_classes_are_joined_and_small_values_are_held_once() -> None:
    halves = spread([one := np.zeros(20), one, two := np.ones(20), two])
    thirds = spread([one, two, two, two])
    assert isinstance(halves, Spread) and isinstance(thirds, Spread)
    joins = Joins()
    both = classes_of([halves, (thirds, 3)], joins)
    assert both is not None and both.count == 3 and classes_of([halves, thirds], joins) is both
    assert classes_of([1, (2, one)], joins) is None
    few = gathered(Classes.numbered(range(4)), [np.int32(n // 2) for n in range(4)])
    assert few.classes.count == 2 and [int(v) for v in each(few, 4)] == [0, 0, 1, 1]
    with pytest.raises(Apart):
        bool(few)
