"""Watchdogs' logs of hangs: which collective, which instruction, who is missing."""

from __future__ import annotations

import json

import pytest

import hlotool
from hlotool.cli import main
from hlotool.distributed import merged_logs, read_watchdog_log, stuck_instructions

KEY = ("RendezvousKey{run_id=RunId: 52960572, global_devices=[0, 1, 2, 3], num_local_participants=4, "
       "collective_op_kind=cross_module, op_id=1}")
LATE = "Expected 4 threads to join the rendezvous, but not all of them arrived on time."
#: what a run of MODULE on four devices of XLA's CPU writes, but for times and threads
LOG = "".join(f"E1126 15:55:35.659224   2154{n} rendezvous.cc:116] [id={n}] This thread has been waiting for `all "
              f"reduce {KEY}` for 5 seconds and may be stuck. {LATE}\n" for n in range(3)) + (
    f"F1126 15:55:50.664544   21542 rendezvous.cc:161] [id=2] Termination timeout for `all reduce {KEY}` of 15 seconds "
    "exceeded. Exiting to ensure a consistent program state. Expected 4 threads to join the rendezvous, but only 3 of "
    "them arrived on time.\n")
MODULE = """HloModule jit_body, num_partitions=4

add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }

twice {
  p = (f32[2]) parameter(0)
  x = f32[2] get-tuple-element(p), index=0
  y = f32[2] add(x, x)
  ROOT t = (f32[2]) tuple(y)
}

summed {
  p.1 = (f32[2]) parameter(0)
  x.1 = f32[2] get-tuple-element(p.1), index=0
  psum = f32[2] all-reduce(x.1), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add,
    metadata={op_name="psum" source_file="train.py" source_line=9}
  ROOT t.1 = (f32[2]) tuple(psum)
}

ENTRY main {
  x.2 = f32[2] parameter(0)
  mean = f32[2] all-reduce(x.2), channel_id=2, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=add
  n = u32[] partition-id()
  three = u32[] constant(3)
  lt = pred[] compare(n, three), direction=LT
  i = s32[] convert(lt)
  t.2 = (f32[2]) tuple(mean)
  c = (f32[2]) conditional(i, t.2, t.2), branch_computations={twice, summed}
  ROOT r = f32[2] get-tuple-element(c), index=0
}
"""


def of(line: str) -> tuple[object, ...]:
    (stuck,) = read_watchdog_log(line)
    return stuck.opcode, stuck.number, stuck.devices, stuck.expected, stuck.arrived, stuck.missing


def test_a_real_log_and_its_module_name_who_is_missing() -> None:
    (stuck,) = read_watchdog_log(LOG)
    assert (stuck.opcode, stuck.number, stuck.is_channel) == ("all-reduce", 1, True)
    assert (stuck.arrived, stuck.expected, stuck.seconds, stuck.lines) == (3, 4, 15, [1, 2, 3, 4])
    assert stuck.missing == ()  # `id` counts arrivals, and is no device
    (place,) = stuck_instructions(hlotool.parse(MODULE), stuck)
    assert (place.instruction.name, place.elsewhere) == ("psum", (3,))
    assert place.branch is not None and place.branch.name == "c"


@pytest.mark.parametrize(("old", "new", "found"), [
    ("op_id=1", "op_id=2", []), ("all reduce", "all gather", []),
    ("global_devices=[0, 1, 2, 3]", "global_devices=[0, 1]", []),
    ("cross_module, op_id=1", "cross_replica, op_id=7", [])])
def test_what_does_not_fit_is_not_named(old: str, new: str, found: list[str]) -> None:
    (stuck,) = read_watchdog_log(LOG.replace(old, new))
    assert [p.instruction.name for p in stuck_instructions(hlotool.parse(MODULE), stuck)] == found


def test_a_branch_that_follows_from_data_tells_nothing() -> None:
    module = hlotool.parse(MODULE.replace("compare(n, three)", "compare(m, three)").replace(
        "three = u32", "m = u32[] parameter(1)  three = u32"))
    (place,) = stuck_instructions(module, read_watchdog_log(LOG)[0])
    assert (place.elsewhere, place.branch) == ((), None)


@pytest.mark.parametrize(("line", "found"), [
    ("2024-07-29 17:14:59: E external/xla/xla/service/rendezvous.cc:38] This thread has been waiting for `initialize "
     "clique for rank 1; clique=devices=[4,5]; stream=0; run_id=72` for 10 seconds and may be stuck. Expected 2 "
     "threads to join the rendezvous, but not all of them arrived on time.", ("", None, (4, 5), 2, 1, (4,))),
    ("E0218 03:50:19 rendezvous.cc:100] [id=1] This thread has been waiting for `Acquire clique: devices=4:[1,2,3,5]; "
     "local_participants=4; run_id=7` for 10 seconds and may be stuck. Expected 4 threads to join the rendezvous, but "
     "not all of them arrived on time.", ("", None, (1, 2, 3, 5), 4, 1, ())),
    ("E0213 12:41:17.931882   59040 rendezvous.cc:98] This thread has been waiting for `rendezvous of "
     "collective-permute; run_id=15; op id:1` for 20 seconds and may be stuck. Expected 8 threads to join the "
     "rendezvous, but not all of them arrived on time.", ("collective-permute", 1, (), 8, 1, ())),
    ("[id=0] This thread has been waiting for `first call to collective operation 190; run_id=-851342065` for 20 "
     "seconds and may be stuck. Expected 2 threads to join the rendezvous, but not all of them arrived on time.",
     ("", 190, (), 2, 1, ())),
    ("2021-06-01 12:09:19: E collective_ops_utils.h:209] This thread has been waiting for 5000ms for and may be "
     "stuck: participant for device ordinal 1, stream 0x55 waiting for all participants to arrive at rendezvous "
     "RendezvousKey{run_id=RunId: 85034, global_devices=[0,1], num_local_participants=2, collective_op_kind="
     "cross_replica, op_id=534}",
     ("", 534, (0, 1), 2, 1, (0,))),
    ("E  498776 ./collective_ops_utils.h:224] This thread has been waiting for 5000ms for and may be stuck: "
     "participant AllReduceParticipantData{buffers=[{element_count=250},{element_count=10}], rendezvous_key="
     "RendezvousKey{run_id=RunId: 564, global_devices=[0,1,2,3], num_local_participants=2, collective_op_kind="
     "cross_replica, op_id=246}, "
     "device_ordinal=0, stream=(nil)} waiting for all participants to arrive at rendezvous RendezvousKey{run_id=RunId: "
     "564, global_devices=[0,1,2,3], num_local_participants=2, collective_op_kind=cross_replica, op_id=246}",
     ("all-reduce", 246, (0, 1, 2, 3), 2, 1, ())),  # a number on its host is no number among all
])
def test_forms_of_xla(line: str, found: tuple[object, ...]) -> None:
    assert of(line) == found


def test_who_goes_on_waits_no_longer() -> None:
    unstuck = ("[id=0] This thread is unstuck waiting for `all reduce " + KEY + "` after 6s. Threads joined "
               "rendezvous with significant delay. Warning above was a false-positive.\n")
    first = LOG.splitlines(keepends=True)[0]
    assert read_watchdog_log(first + unstuck) == []
    assert len(read_watchdog_log(first + unstuck.replace("id=0", "id=1"))) == 1


def test_all_that_have_come_are_told() -> None:
    stuck, = read_watchdog_log(LOG.splitlines()[0].replace(
        LATE, "All 4 threads joined the rendezvous, however the leader has not marked the rendezvous as completed."))
    assert stuck.is_complete and stuck.missing == ()


def test_logs_of_several_hosts_are_one() -> None:
    line = ("rendezvous.cc:38] This thread has been waiting for `initialize clique for rank {0}; clique=devices=[0,1,2,"
            "3]; run_id={0}7` for 10 seconds and may be stuck. Expected 2 threads to join the rendezvous\n")
    (stuck,) = merged_logs([read_watchdog_log(line.format(0) + line.format(1)), read_watchdog_log(line.format(3))])
    assert (stuck.here, stuck.missing) == ({0, 1, 3}, (2,))
    assert (stuck.arrived, stuck.expected, stuck.is_complete) == (3, 4, False)


TORCH = ("[rank{0}]:[E321 02:07:08.4 ProcessGroupNCCL.cpp:607] [Rank {0}] Watchdog caught collective operation "
         "timeout: WorkNCCL(SeqNum={1}, OpType=ALLREDUCE, NumelIn=2, NumelOut=2, Timeout(ms)=600000) ran for 600060 "
         "milliseconds before timing out.\n")


def test_forms_of_the_watchdog_of_nccl() -> None:
    assert of(TORCH.format(0, 6) + TORCH.format(2, 6)) == ("all-reduce", 6, (), None, 2, ())
    desync = ("\t - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:\n"
              "\t     [1, 3] finished collective #5, but didn't join collective #6 (count from 1)\n")
    assert of(TORCH.format(0, 6) + TORCH.format(2, 6) + desync) == ("all-reduce", 6, (), None, 2, (1, 3))
    assert len(read_watchdog_log(TORCH.format(0, 6) + TORCH.format(1, 5))) == 2
    (stuck,) = read_watchdog_log(TORCH.format(0, 6))
    assert [p.instruction.name for p in stuck_instructions(hlotool.parse(MODULE), stuck)] == ["psum", "mean"]
    (other,) = read_watchdog_log(TORCH.format(0, 6).replace("NumelIn=2", "NumelIn=3"))
    assert stuck_instructions(hlotool.parse(MODULE), other) == []


def test_the_command_joins_logs_and_dumps(tmp_path, capsys) -> None:
    (tmp_path / "job.log").write_text(LOG)
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    (dumps / "module_0002.jit_body.cpu_after_optimizations.txt").write_text(MODULE)
    (dumps / "module_0002.jit_body.before_optimizations.txt").write_text(MODULE.replace("psum", "psum.1"))
    assert main(["hang", str(tmp_path / "job.log"), "--dumps", str(dumps)]) == 1
    said = capsys.readouterr().err
    assert "error[E180]: all-reduce psum (channel 1): 3 of 4 wait for 15 s; device 3 is missing" in said
    assert "conditional c sends device 3 into another branch" in said and "from: train.py:9" in said
    assert main(["hang", str(tmp_path / "job.log"), "--dumps", str(dumps), "--json"]) == 1
    (record,) = json.loads(capsys.readouterr().out)
    assert (record["missing"], [i["source"] for i in record["instructions"]]) == ([3], ["train.py:9"])
    assert main(["hang", str(tmp_path / "job.log")]) == 1
    assert "the log does not tell who is missing" in capsys.readouterr().err
    (tmp_path / "other.log").write_text("step 1\n")
    assert main(["hang", str(tmp_path / "other.log")]) == 0
    assert main(["hang", str(tmp_path / "nowhere.log")]) == 2


#: how logs of PyTorch name the work that timed out: broken off the line with the rank, at the end of the process, with
#: the process group, without a rank, and as the oldest versions do. Source: public threads about hangs
WORK = "WorkNCCL(SeqNum=7, OpType=_REDUCE_SCATTER_BASE, NumelIn=8, NumelOut=4, Timeout(ms)=600000) ran for 600034 ms"
CAUGHT = "Watchdog caught collective operation timeout:"


@pytest.mark.parametrize(("log", "name", "here"), [
    (f"node [rank4]:[E909 09:55:29 ProcessGroupNCCL.cpp:607] [Rank 4] {CAUGHT} \n{WORK}\n"
     f"node [rank2]:[E909 09:55:30 ProcessGroupNCCL.cpp:607] [Rank 2] {CAUGHT} \n{WORK}\n",
     "#7 _REDUCE_SCATTER_BASE of 8 elements", {2, 4}),
    (f"  what():  [PG 3 Rank 5] Process group watchdog thread terminated with exception: [Rank 5] {CAUGHT} {WORK}",
     "#7 _REDUCE_SCATTER_BASE of 8 elements", {5}),
    (f"[rank3]:[E ProcessGroupNCCL.cpp:563] [PG 0 (default_pg) Rank 3] {CAUGHT} {WORK}",
     "#7 _REDUCE_SCATTER_BASE of 8 elements", {3}),
    (f"{CAUGHT} {WORK}", "#7 _REDUCE_SCATTER_BASE of 8 elements", set()),
    (f"[Rank 1] {CAUGHT} WorkNCCL(OpType=BROADCAST, TensorShape=[16], Timeout(ms)=1800000) ran for 1806985 ms",
     "#? BROADCAST", {1})])
def test_works_are_read_however_they_are_named(log: str, name: str, here: set[int]) -> None:
    stuck, = read_watchdog_log(log)
    assert (stuck.name, stuck.here, stuck.arrived) == (name, here, max(1, len(here)))


def test_devices_of_other_hosts_are_not_called_missing() -> None:
    """A host of which two threads are expected tells nothing of the two devices of the other host."""
    said = ("E external/xla/xla/service/rendezvous.cc:38] This thread has been waiting for `initialize clique for rank "
            "1; clique=devices=[0,1,2,3]; stream=0; run_id=7` for 10 seconds and may be stuck. Expected {} threads to "
            "join the rendezvous, but not all of them arrived on time.")
    assert [read_watchdog_log(said.format(n))[0].missing for n in (2, 4)] == [(), (0, 2, 3)]
