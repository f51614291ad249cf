"""Programs merged into one: what they share, and what they must not."""

from __future__ import annotations

import numpy as np

from hlotool.execution import Program
from hlotool.execution.evaluate import evaluate_program
from hlotool.execution.merged_programs import is_mergeable, merged, parted
from hlotool.passes.read import parse

MEETING = """HloModule m, num_partitions=2
add {{ x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }}
ENTRY e {{ a = f32[2] parameter(0)
  b = f32[2] all-reduce(a), channel_id={first}, replica_groups={{{{0,1}}}}, use_global_device_ids=true, to_apply=add
  ROOT c = f32[2] collective-permute(b), channel_id={second}, source_target_pairs={{{{0,1}}}}
}}"""


def test_programs_that_meet_over_channels_of_one_number_meet_apart() -> None:
    programs = [Program(parse(MEETING.format(first=1, second=second))) for second in (2, 2, 1)]
    assert all(map(is_mergeable, programs))
    whole = merged(programs)
    channels = [i.attributes["channel_id"] for i in whole.module.instructions() if "channel_id" in i.attributes]
    # The last program's two operations have one channel, and keep one.
    assert channels == [1, 2, 3, 4, 5, 5]
    assert [i.attributes["channel_id"] for i in programs[1].module.entry.instructions[1:]] == [1, 2]
    rows = [[np.float32([n + d, n]) for n in range(3)] for d in range(2)]
    found = parted(programs, evaluate_program(whole, rows))
    alone = [evaluate_program(p, [[row[n]] for row in rows]) for n, p in enumerate(programs)]
    assert np.array_equal(found, alone) and np.array_equal(found[2][1][0], [5, 4])


def test_what_has_a_state_of_its_own_is_not_merged() -> None:
    text = "HloModule m\nENTRY e {{ {} }}"
    drawn = text.format("a = f32[] constant(0)  b = f32[] constant(1)  "
                        "ROOT c = f32[2] rng(a, b), distribution=rng_uniform")
    stateful = text.format("ROOT c = u64[2] rng-get-and-update-state(), delta=1")
    given = text.format("s = u64[2] parameter(0)  "
                        "ROOT c = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_philox")
    assert [is_mergeable(Program(parse(t))) for t in (drawn, stateful, given)] == [False, False, True]
