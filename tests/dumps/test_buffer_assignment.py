"""Texts that XLA writes of its memory: buffer assignments and live ranges."""

from __future__ import annotations

import pytest

from hlotool.dumps import (
    assigned_peak,
    device_bytes,
    is_buffer_assignment,
    read_buffer_assignment,
    read_live_ranges,
)


def test_buffer_assignments_are_read():
    text = """BufferAssignment:
allocation 0: size 4096, parameter 3, shape |f32[32,32]| at ShapeIndex {}, maybe-live-out:
 value: <303 w.1 @0> (size=4096,offset=0): f32[32,32]{1,0}
allocation 1: size 4, thread-local:
 value: <2 add.1 @0> (size=4,offset=0): f32[]
allocation 38: size 1880, preallocated-temp:
 value: <300 fusion.4 @0> (size=1024,offset=856): f32[8,32]{1,0}
"""
    assert is_buffer_assignment(text)
    found = read_buffer_assignment(text)
    assert [(a.kind, a.size, len(a.values)) for a in found] == [
        ("parameter", 4096, 1), ("thread-local", 4, 1), ("temporary", 1880, 1)]
    assert device_bytes(found) == 4096 + 1880
    assert found[2].values[0].offset == 856


ASSIGNED = """BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:
 value: <1 x @0> (size=64,offset=0): f32[16]{0}
allocation 1: size 64, output shape is |f32[16]|, maybe-live-out:
 value: <2 y @0> (size=64,offset=0): f32[16]{0}
allocation 2: size 1152, preallocated-temp:
 value: <3 early @0> (size=1024,offset=0): f32[256]{0}
 value: <4 a{0} @0> (size=512,offset=0): f32[128]{0}
 value: <5 w{0} (phi) @0> (size=512,offset=0): f32[128]{0}
 value: <6 b @0> (size=640,offset=512): f32[160]{0}
"""
RANGES = """HloLiveRange (max 6):
  InstructionSequence:
    0:x
    1:early
    2:a
    3:b
    4:w
    5:y
  BufferLiveRange:
    x{}:0-6
    early{}:1-2
    a{0}:3-4
    w{0}:4-5
    b{}:3-4
    y{}:5-6
"""


@pytest.mark.parametrize(("more", "time", "at", "live"), [
    ("", 4, "w", ["b", "a{0}", "x", "y"]),
    ("  Live ranges at 2 (peak):\n    early{}: 1024 bytes\n", 2, "a", ["early", "x", "y"])])
def test_what_lives_at_the_peak_of_a_buffer_assignment(more, time, at, live):
    allocations, ranges = read_buffer_assignment(ASSIGNED + RANGES + more), read_live_ranges(RANGES + more)
    assert [v.name for v in allocations[2].values] == ["early", "a{0}", "w{0}", "b"]
    found = assigned_peak(allocations, ranges)
    assert (found.time, found.at, [v.name for v, _ in found.live]) == (time, at, live)
    assert found.temporaries == (1024 if more else 512 + 640)
    assert read_live_ranges(ASSIGNED) is None
