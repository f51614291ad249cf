"""Limits of what is evaluated in the caller's own process: hostile modules end with a diagnostic, soon."""

from __future__ import annotations

import numpy as np
import pytest
from doubling_calls import doubling_calls

import hlotool
from hlotool.blame import find_nonfinite
from hlotool.diagnostics import HloError
from hlotool.execution import Options, Program, evaluate_program, execute, run_limit
from hlotool.execution.run_limits import RunLimits
from hlotool.numerics import sample_program, shadow_program

HUGE = """HloModule huge
ENTRY e {
  p = f32[] parameter(0)
  i = f32[10000000000000] iota(), iota_dimension=0
  b = f32[10000000000000] broadcast(p), dimensions={}
  a = f32[10000000000000] add(i, b)
  ROOT s = f32[1] slice(a), slice={[7:8]}
}
"""
PRODUCT = """HloModule product
ENTRY e {
  p = TYPE[] parameter(0)
  a = TYPE[20000,20000] broadcast(p), dimensions={}
  d = TYPE[20000,20000] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT s = TYPE[1,1] slice(d), slice={[7:8],[0:1]}
}
"""
ENDLESS = """HloModule endless
cond {
  s = f32[] parameter(0)
  ROOT t = pred[] constant(true)
}
body {
  s = f32[] parameter(0)
  half = f32[] constant(0.5)
  ROOT m = f32[] multiply(s, half)
}
ENTRY e {
  p = f32[] parameter(0)
  ROOT w = f32[] while(p), condition=cond, body=body
}
"""


def codes(error: pytest.ExceptionInfo[HloError]) -> set[str]:
    return {d.code for d in error.value.diagnostics}


@pytest.mark.parametrize("text", [ENDLESS, doubling_calls(36)])
@pytest.mark.parametrize("evaluate", [evaluate_program, shadow_program, lambda p, a: sample_program(p, a, 1)])
def test_an_evaluation_ends_in_time(text, evaluate):
    program = Program(hlotool.parse(text))
    with pytest.raises(HloError) as error, run_limit(0.2):
        evaluate(program, [[np.float32(1)]])
    assert codes(error) == {"E105"}


@pytest.mark.parametrize("kind", ["s32", "f32"])
def test_a_product_that_no_machine_computes_in_time_does_not_begin(kind):
    program = Program(hlotool.parse(PRODUCT.replace("TYPE", kind)))
    with pytest.raises(HloError) as error, run_limit(2.0):
        evaluate_program(program, [[np.ones((), kind.replace("s32", "int32").replace("f32", "float32"))]])
    assert codes(error) == {"E105"} and "operations" in str(error.value)


def test_values_beside_those_that_are_taken(monkeypatch):
    from hlotool.execution import run_limits

    text = PRODUCT.replace("TYPE", "f32").replace("20000", "5000")
    monkeypatch.setattr(run_limits, "available_memory", lambda: 150_000_000)
    monkeypatch.setattr(run_limits, "taken_memory", lambda: 100_000_000)
    with pytest.raises(HloError) as error:
        evaluate_program(Program(hlotool.parse(text)), [[np.float32(1)]])
    assert codes(error) == {"E112"} and "beside" in str(error.value)


def test_no_value_is_made_that_fits_into_no_memory():
    for search in (find_nonfinite, shadow_program):
        with pytest.raises(HloError) as error:
            search(Program(hlotool.parse(HUGE)), [[np.float32(1)]])
        assert codes(error) == {"E112"}


def test_compare_says_why_there_is_no_verdict():
    for text, code in ((HUGE, "E112"), (doubling_calls(60), "E105"), (PRODUCT.replace("TYPE", "s32"), "E105")):
        try:
            found = hlotool.compare(text, executors=("reference",), time_limit=0.5, time_budget=0.1)
        except HloError as error:
            assert {d.code for d in error.diagnostics} == {code}
            continue
        assert found.verdict == "none" and code in {d.code for d in found.diagnostics}, found


ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
LESS = "less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }\n"
WORK = {
    "convolution": "ENTRY e { z = f32[] parameter(0)  x = f32[1,4000,4000,64] broadcast(z), dimensions={}\n"
                   "k = f32[129,129,64,64] broadcast(z), dimensions={}\nROOT big = f32[1,3872,3872,64] "
                   "convolution(x, k), window={size=129x129}, dim_labels=b01f_01io->b01f }",
    "reduce-window": ADD + "ENTRY e { z = f32[] parameter(0)  x = f32[10000000] broadcast(z), dimensions={}\n"
                     "ROOT big = f32[5000001] reduce-window(x, z), window={size=5000000}, to_apply=add }",
    "dot": "ENTRY e { z = f32[] parameter(0)  x = f32[60000,60000] broadcast(z), dimensions={}\nROOT big = "
           "f32[60000,60000] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    "sort": LESS + "ENTRY e { z = f32[] parameter(0)  x = f32[400000000] broadcast(z), dimensions={}\n"
            "ROOT big = f32[400000000] sort(x), dimensions={0}, to_apply=less }"}


@pytest.mark.parametrize("opcode", WORK)
def test_work_that_cannot_end_is_named_and_not_begun(opcode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for memory in ("available_memory", "free_memory"):  # whatever this machine has left
        monkeypatch.setattr(f"hlotool.execution.run_limits.{memory}", lambda: 1 << 40)
    with pytest.raises(HloError) as caught:
        execute(hlotool.parse(WORK[opcode]), [1.0], "reference", Options(time_limit=40.0, in_process=True))
    (found,) = caught.value.diagnostics
    assert found.code == "E105" and f"{opcode} big takes" in found.message and "within 40 s" in found.message


def test_what_only_some_runs_reach_is_not_counted() -> None:
    inner = WORK["dot"].replace("ENTRY e", "branch").replace("ROOT big", "big").replace(
        "rhs_contracting_dims={0} }", "rhs_contracting_dims={0}\nROOT r = f32[1,1] slice(big), slice={[0:1],[0:1]} }")
    other = "other { z = f32[] parameter(0)  ROOT r = f32[1,1] broadcast(z), dimensions={} }\n"
    module = hlotool.parse(f"{inner}\n{other}ENTRY e {{ p = pred[] parameter(0)  z = f32[] parameter(1)\n"
                           "ROOT c = f32[1,1] conditional(p, z, z), true_computation=branch, "
                           "false_computation=other }")
    options = Options(time_limit=40.0, in_process=True)
    assert execute(module, [False, 2.0], "reference", options)[0].tolist() == [[2.0]]


@pytest.mark.parametrize("text", [
    "i = s32[1000000000000,1] iota(), iota_dimension=0\n  ROOT r = f32[1000000000000] gather(x, i), offset_dims={}, "
    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
    "i = pred[N] iota(), iota_dimension=0\n  ROOT r = f32[N] gather(x, i), offset_dims={}, "
    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
    "i = u8[N] iota(), iota_dimension=0\n  u = u8[N] iota(), iota_dimension=0\n  y = u8[8] convert(x)\n"
    "  ROOT r = u8[8] scatter(y, i, u), to_apply=last, update_window_dims={}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1"])
def test_the_places_of_indices_are_counted(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take much more than the indices themselves, and are asked for before they are made."""
    monkeypatch.setattr("hlotool.execution.run_limits.available_memory", lambda: 3 << 30)
    module = hlotool.parse("HloModule m\nlast { a = u8[] parameter(0)  ROOT b = u8[] parameter(1) }\n"
                           f"ENTRY e {{\n  x = f32[8] parameter(0)\n  {text.replace('N', str(200_000_000))}\n}}\n"
                           .replace("pred[", "u8["))
    with pytest.raises(HloError, match="E112") as caught:
        evaluate_program(Program(module), [[np.zeros(8, np.float32)]])
    said = str(caught.value)
    assert "the places of its indices take 4.8 GB" in said or "takes 4 TB" in said, said


def test_what_others_hold_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose memory is taken would end some process, and it might be another's."""
    monkeypatch.setattr("hlotool.execution.run_limits.free_memory", lambda: 100 << 20)
    module = hlotool.parse("ENTRY e { ROOT i = u8[90000000] iota(), iota_dimension=0 }")
    with pytest.raises(HloError, match="105 MB are free on this machine"):
        evaluate_program(Program(module), [[]])
    small = hlotool.parse("ENTRY e { ROOT i = u8[9000000] iota(), iota_dimension=0 }")
    assert evaluate_program(Program(small), [[]])[0][0].size == 9_000_000


def test_few_indices_are_gathered_as_ever() -> None:
    module = hlotool.parse("ENTRY e { x = f32[8] parameter(0)  i = s32[3,1] iota(), iota_dimension=0\n"
                           "  ROOT r = f32[3] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, "
                           "start_index_map={0}, index_vector_dim=1, slice_sizes={1} }")
    assert evaluate_program(Program(module), [[np.arange(8, dtype=np.float32)]])[0][0].tolist() == [0, 1, 2]


#: one instruction each, with so many steps of a loop of Python
LONG = {
    "convolution": ("ENTRY e { x = f32[1,1,9,9] parameter(0)  w = f32[1,1,9,9] parameter(1)\n"
                    "ROOT r = f32[1,1,1,1] convolution(x, w), window={size=9x9}, dim_labels=bf01_oi01->bf01 }", 81),
    "reduce-window": ("add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n"
                      "ENTRY e { x = f32[50] parameter(0)  z = f32[] parameter(1)\n"
                      "ROOT r = f32[1] reduce-window(x, z), window={size=50}, to_apply=add }", 50),
    "scatter": ("add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n"
                "ENTRY e { x = f32[4] parameter(0)  i = s32[60,1] parameter(1)  u = f32[60] parameter(2)\n"
                "ROOT r = f32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
                "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add }", 60),
}


@pytest.mark.parametrize("name", LONG)
def test_time_is_looked_at_within_long_instructions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, steps = LONG[name]
    program = Program(hlotool.parse(f"HloModule m\n{text}"))
    looks: list[RunLimits] = []

    def look(limits: RunLimits) -> None:
        looks.append(limits)

    monkeypatch.setattr(RunLimits, "check_time", look)
    evaluate_program(program, [[np.zeros(p.dims, p.dtype.numpy) for p in program.parameters]])
    assert len(looks) >= steps


@pytest.mark.parametrize(("text", "count"), [
    ("f32[4,2] gather(a, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
     "slice_sizes={1,2}", 4),
    ("f32[8,2] scatter(a, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
     "index_vector_dim=1, to_apply=second", 4), ("s32[9,3] iota(), iota_dimension=0", 3), ("f32[8,2] tanh(a)", 0)])
def test_how_many_bytes_places_take(text: str, count: int) -> None:
    from hlotool.execution.run_limits import _bytes_of_places

    module = hlotool.parse("second { x = f32[] parameter(0)  ROOT y = f32[] parameter(1) }\n"
                           "ENTRY e { a = f32[8,2] parameter(0)  i = s32[4,1] parameter(1)  u = f32[4,2] parameter(2)\n"
                           f"  ROOT r = {text} }}")
    assert _bytes_of_places(module.entry.root) == 24 * count


@pytest.mark.parametrize("groups", ["{{0,1}}", "{}"])
def test_a_gather_of_nothing_has_a_program(groups: str) -> None:
    text = ("HloModule m, replica_count=2\n\nENTRY e {\n  x = f32[0,3] parameter(0)\n"
            "  ROOT r = f32[0,3] all-gather(x), dimensions={0}, replica_groups=" + groups + "\n}\n")
    program = Program(hlotool.parse(text))
    results = evaluate_program(program, [[np.zeros((0, 3), np.float32)]] * 2)
    assert [[leaf.shape for leaf in row] for row in results] == [[(0, 3)]] * 2
    alone = Program(hlotool.parse(text.replace(", replica_count=2", "").replace("{{0,1}}", "{}")))
    assert alone.devices == 1


def test_partitions_send_to_each_other() -> None:
    text = ("HloModule m, num_partitions=2\n\nENTRY e {\n  x = f32[] parameter(0)\n"
            "  ROOT r = f32[] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}\n}\n")
    results = evaluate_program(Program(hlotool.parse(text)), [[np.float32(3)], [np.float32(5)]])
    assert [float(row[0]) for row in results] == [5.0, 3.0]


@pytest.mark.parametrize("header", ["num_partitions=2", "replica_count=2"])
def test_devices_send_and_receive_by_pairs(header: str) -> None:
    pairs = 'frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1}}"}'
    text = (f"HloModule m, {header}\n\nENTRY e {{\n  x = f32[] parameter(0)\n  t = token[] after-all()\n"
            f"  r = (f32[], u32[], token[]) recv(t), channel_id=1, {pairs}\n"
            f"  s = (f32[], u32[], token[]) send(x, t), channel_id=1, {pairs}\n"
            f"  sd = token[] send-done(s), channel_id=1, {pairs}\n"
            f"  rd = (f32[], token[]) recv-done(r), channel_id=1, {pairs}, control-predecessors={{sd}}\n"
            "  ROOT v = f32[] get-tuple-element(rd), index=0\n}\n")
    results = evaluate_program(Program(hlotool.parse(text)), [[np.float32(3)], [np.float32(5)]])
    assert [float(row[0]) for row in results] == [0.0, 3.0]
