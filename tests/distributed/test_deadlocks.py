"""Devices that wait for each other forever: in the text, and when it runs."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import Program, evaluate_program

TEXT = """HloModule m, num_partitions=2

add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }

left {
  p = (f32[4], f32[4]) parameter(0)
  x = f32[4] get-tuple-element(p), index=0
  y = f32[4] get-tuple-element(p), index=1
  one = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
  z = f32[4] multiply(one, y)
  ROOT two = f32[4] all-reduce(z), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
}

right {
  p.1 = (f32[4], f32[4]) parameter(0)
  x.1 = f32[4] get-tuple-element(p.1), index=0
  y.1 = f32[4] get-tuple-element(p.1), index=1
  one.1 = f32[4] all-reduce(x.1), channel_id=FIRST, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
  z.1 = f32[4] multiply(one.1, y.1)
  ROOT two.1 = f32[4] all-reduce(z.1), channel_id=SECOND, replica_groups={{0,1}}, to_apply=add,
      use_global_device_ids=true
}

ENTRY main {
  x.2 = f32[4] parameter(0)
  y.2 = f32[4] parameter(1)
  n = u32[] partition-id()
  i = s32[] convert(n)
  t = (f32[4], f32[4]) tuple(x.2, y.2)
  ROOT c = f32[4] conditional(i, t, t), branch_computations={left, right}
}
"""
ROWS = [[np.ones(4, np.float32)] * 2] * 2


def of(first: int, second: int) -> str:
    return TEXT.replace("FIRST", str(first)).replace("SECOND", str(second))


def test_another_order_in_another_branch_is_a_finding_and_an_error() -> None:
    assert "W502" in {d.code for d in hlotool.lint(of(2, 1))}
    with pytest.raises(HloError) as refused:
        evaluate_program(Program(hlotool.parse(of(2, 1))), ROWS)
    said = str(refused.value)
    assert "device 0 at all-reduce one (channel 1), for device 1; device 1 at all-reduce one.1 (channel 2), for " \
        "device 0 (device 0 waits for device 1 waits for device 0)" in said
    notes = [(n.message, n.start.line) for n in refused.value.diagnostics[0].notes if n.start is not None]
    lines = TEXT.splitlines()
    assert [message for message, _ in notes] == ["device 0 waits here for device 1", "device 1 waits here for device 0"]
    assert [lines[line - 1].split()[0] for _, line in notes] == ["one", "one.1"]


def test_a_device_that_has_come_to_its_end_is_waited_for() -> None:
    text = """HloModule m, num_partitions=2
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
left { x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add,
    metadata={op_name="jit(f)/psum" source_file="train.py" source_line=7} }
right { x.1 = f32[4] parameter(0)  ROOT y.1 = f32[4] tanh(x.1) }
ENTRY main { x.2 = f32[4] parameter(0)  n = u32[] partition-id()  i = s32[] convert(n)
  ROOT c = f32[4] conditional(i, x.2, x.2), branch_computations={left, right} }"""
    with pytest.raises(HloError, match=r"device 0 at all-reduce y .channel 1., for device 1; device 1 at") as it:
        evaluate_program(Program(hlotool.parse(text)), [row[:1] for row in ROWS])
    assert it.value.diagnostics[0].notes[0].message == "device 0 waits here for device 1 (train.py:7)"


def test_devices_that_receive_before_they_send_wait_in_a_circle() -> None:
    pairs = "frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2},{2,0}}}"
    text = f"""HloModule m, num_partitions=3
ENTRY main {{ x = f32[4] parameter(0)  t = token[] after-all()
  r = (f32[4], u32[], token[]) recv(t), channel_id=1, {pairs}
  rd = (f32[4], token[]) recv-done(r), channel_id=1
  u = token[] get-tuple-element(rd), index=1
  s = (f32[4], u32[], token[]) send(x, u), channel_id=1, {pairs}
  sd = token[] send-done(s), channel_id=1
  ROOT y = f32[4] get-tuple-element(rd), index=0 }}"""
    with pytest.raises(HloError, match="device 0 waits for device 2 waits for device 1 waits for device 0"):
        evaluate_program(Program(hlotool.parse(text)), [ROWS[0][:1]] * 3)


def test_one_order_in_all_branches_is_right() -> None:
    assert "W502" not in {d.code for d in hlotool.lint(of(1, 2))}
    assert evaluate_program(Program(hlotool.parse(of(1, 2))), ROWS)[0][0].tolist() == [4.0] * 4


def test_different_collectives_on_one_channel_do_not_meet() -> None:
    text = of(1, 2).replace("one.1 = f32[4] all-reduce(x.1), channel_id=1, replica_groups={{0,1}}, "
                            "use_global_device_ids=true, to_apply=add",
                            "one.1 = f32[4] collective-permute(x.1), channel_id=1, source_target_pairs={{0,1},{1,0}}")
    with pytest.raises(HloError, match=r"wait for ever|different collectives"):
        evaluate_program(Program(hlotool.parse(text)), ROWS)


CHOICE = """HloModule m, num_partitions=4
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
inner { x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), channel_id=1, replica_groups=GROUPS, BY }
left { x = f32[4] parameter(0)  ROOT r = f32[4] call(x), to_apply=inner }
right { x = f32[4] parameter(0)  ROOT r = f32[4] negate(x) }
ENTRY main {
  x = f32[4] parameter(0), sharding={devices=[4]<=[4]}
  z = f32[] constant(0)
  n = f32[] reduce(x, z), dimensions={0}, to_apply=add
  MAKE
  ROOT y = f32[4] conditional(c, x, x), true_computation=left, false_computation=right
}
"""
LOOP = """HloModule m, num_partitions=4
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
goes_on { t = (f32[], f32[4]) parameter(0)  e = f32[] get-tuple-element(t), index=0  k = f32[] constant(0.5)
  ROOT c = pred[] compare(e, k), direction=GT }
body { t = (f32[], f32[4]) parameter(0)  x = f32[4] get-tuple-element(t), index=1  h = f32[] constant(0.5)
  b = f32[4] broadcast(h), dimensions={}  y = f32[4] multiply(x, b)  z = f32[] constant(0)
  n = f32[] reduce(y, z), dimensions={0}, to_apply=add
  MAKE
  q = f32[4] all-reduce(y), channel_id=9, replica_groups=GROUPS, BY
  ROOT o = (f32[], f32[4]) tuple(r, q) }
ENTRY main { x = f32[4] parameter(0), sharding={devices=[4]<=[4]}  k = f32[] constant(1)
  t = (f32[], f32[4]) tuple(k, x)  ROOT w = (f32[], f32[4]) while(t), condition=goes_on, body=body }
"""
ALL, HALVES, ACROSS = "{{0,1,2,3}}", "{{0,1},{2,3}}", "{{0,2},{1,3}}"
SUM = "r = f32[] all-reduce(n), channel_id=2, replica_groups={}, BY"
IN_TWO = f"p = f32[] all-reduce(n), channel_id=2, replica_groups={HALVES}, BY  " \
         f"r = f32[] all-reduce(p), channel_id=3, replica_groups={ACROSS}, BY"
BY_NUMBER = "i = u32[] partition-id()  k = u32[] constant(2)  c = pred[] compare(i, k), direction=LT"


def findings(text: str, make: str, groups: str) -> set[str]:
    by = "use_global_device_ids=true, to_apply=add"
    text = text.replace("MAKE", make).replace("GROUPS", groups).replace("BY", by)
    return {d.code for d in hlotool.lint(text)} & {"W502", "W520"}


@pytest.mark.parametrize(("make", "groups", "is_wrong"), [
    (BY_NUMBER, HALVES, False), (BY_NUMBER, ACROSS, True), (BY_NUMBER, ALL, True),
    ("g = f32[16] all-gather(x), channel_id=2, replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true"
     "  r = f32[] reduce(g, z), dimensions={0}, to_apply=add  c = pred[] compare(r, z), direction=GT", ALL, False),
    ("r = f32[] collective-permute(n), channel_id=2, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}"
     "  c = pred[] compare(r, z), direction=GT", ALL, True),
    *((f"{SUM.format(over)}  c = pred[] compare(r, z), direction=GT", groups, is_wrong) for over, groups, is_wrong in (
        (ALL, ALL, False), (HALVES, ALL, True), (HALVES, HALVES, False), (HALVES, ACROSS, True))),
    (f"{IN_TWO}  c = pred[] compare(r, z), direction=GT", ALL, False)])
def test_branches_are_told_by_the_devices_that_meet_in_them(make: str, groups: str, is_wrong: bool) -> None:
    assert findings(CHOICE, make, groups) == ({"W502"} if is_wrong else set())


@pytest.mark.parametrize(("make", "groups", "is_wrong"), [
    (SUM.format(ALL), ALL, False), (SUM.format(HALVES), HALVES, False), (SUM.format(HALVES), ALL, True),
    (IN_TWO, ALL, False), ("r = f32[] copy(n)", ALL, True),
    ("i = u32[] partition-id()  r = f32[] convert(i)", HALVES, True),
    ("i = u32[] partition-id()  two = u32[] constant(2)  d = u32[] divide(i, two)  r = f32[] convert(d)", HALVES,
     False)])
def test_loops_are_told_by_the_devices_that_meet_in_them(make: str, groups: str, is_wrong: bool) -> None:
    assert findings(LOOP, make, groups) == ({"W520"} if is_wrong else set())


def overlaps(entry: str, schedule: str = "") -> list[tuple[str, str]]:
    text = f"""HloModule m, {schedule}num_partitions=4
add {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }}
shuffle {{ y = f32[4]{{0}} parameter(0)
  ROOT q = f32[4]{{0}} all-to-all(y), channel_id=3, replica_groups={{{{0,1,2,3}}}}, dimensions={{0}} }}
ENTRY main {{ x = f32[4]{{0}} parameter(0) {entry} ROOT t = (f32[4]{{0}}, f32[4]{{0}}) tuple(rd, pd) }}"""
    return [(d.severity.name, d.message) for d in hlotool.lint(text) if d.code == "W518"]


SUM_START = "r = f32[4]{0} all-reduce-start(x), channel_id=1, replica_groups={{0,1,2,3}}, " \
    "use_global_device_ids=true, to_apply=add "
PERMUTE = "p = (f32[4]{{0}}, f32[4]{{0}}, u32[], u32[]) collective-permute-start({}), channel_id=2, " \
    "source_target_pairs={{{{0,1}},{{1,0}}}}{} pd = f32[4]{{0}} collective-permute-done(p) "
SUM_DONE = "rd = f32[4]{0} all-reduce-done(r)"
STATE = "((f32[4]{0}), f32[4]{0}, u32[])"
SHUFFLE = f"s = {STATE} async-start(x), calls=shuffle u = {STATE} async-update(s), calls=shuffle " \
    "pd = f32[4]{0} async-done(u), calls=shuffle "


@pytest.mark.parametrize(("entry", "schedule", "severity"), [
    (SUM_START + PERMUTE.format("x", "") + SUM_DONE, "", "INFO"),
    (SUM_START + SUM_DONE + PERMUTE.format("rd", ""), "", ""),
    (SUM_START + SUM_DONE + PERMUTE.format("x", ", control-predecessors={rd}"), "", ""),
    (SUM_START + PERMUTE.format("x", ", control-predecessors={r}") + SUM_DONE + ", control-predecessors={p}", "",
     "WARNING"),
    (SUM_START + SHUFFLE + SUM_DONE, "", "INFO"),
    (SUM_START + SHUFFLE + SUM_DONE, "is_scheduled=true, ", "WARNING"),
    (SHUFFLE + SUM_START + SUM_DONE, "is_scheduled=true, ", ""),
])
def test_collectives_that_may_be_in_flight_together(entry: str, schedule: str, severity: str) -> None:
    assert [s for s, _ in overlaps(entry, schedule)] == ([severity] if severity else [])


def transfers(send: str, recv: str, header: str = "num_partitions=3", shape: str = "f32[4]{0}") -> list[str]:
    text = f"""HloModule m, is_scheduled=true, {header}
ENTRY main {{ x = f32[4]{{0}} parameter(0)  t = token[] after-all()
  r = ({shape}, u32[], token[]) recv(t), {recv}
  s = (f32[4]{{0}}, u32[], token[]) send(x, t), {send}
  sd = token[] send-done(s), {send.partition(", front")[0]}
  rd = ({shape}, token[]) recv-done(r), {recv.partition(", front")[0]}
  ROOT y = {shape} get-tuple-element(rd), index=0 }}"""
    return [f"{d.code} {d.message}" for d in hlotool.lint(text) if d.code in ("W518", "W521")]


def on(channel: int, pairs: str) -> str:
    return f"channel_id={channel}, frontend_attributes={{_xla_send_recv_source_target_pairs={pairs}}}"


@pytest.mark.parametrize(("send", "recv", "header", "shape", "said"), [
    (on(1, "{{0,1},{1,2}}"), on(1, "{{1,2},{0,1}}"), "num_partitions=3", "f32[4]{0}", ""),
    (on(1, "{{0,1}}"), on(1, "{{0,1},{1,2}}"), "num_partitions=3", "f32[4]{0}",
     "device 2 waits for f32[4] from 1 on channel 1, and no send answers"),
    (on(1, "{{0,1}}"), on(2, "{{0,1}}"), "num_partitions=3", "f32[4]{0}",
     "device 0 sends f32[4] to 1 on channel 1, and no recv takes it"),
    (on(1, "{{0,1}}"), on(1, "{{0,1}}"), "num_partitions=3", "f32[8]{0}",
     "device 0 sends f32[4] to 1 on channel 1, and no recv takes it"),
    (on(1, "{{0,1}}"), "channel_id=1", "num_partitions=3", "f32[4]{0}", ""),
    (on(1, "{{0,1}}"), "channel_id=1, is_host_transfer=true", "num_partitions=3", "f32[4]{0}",
     "device 0 sends f32[4] to 1 on channel 1, and no recv takes it"),
    (on(1, "{{0,1}}"), "channel_id=1, is_host_transfer=true", "replica_count=1", "f32[4]{0}", ""),
])
def test_ends_of_transfers_that_do_not_fit(send: str, recv: str, header: str, shape: str, said: str) -> None:
    assert transfers(send, recv, header, shape) == ([f"W521 {said}"] if said else [])
