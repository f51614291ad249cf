"""Parts of whole arrays: where they are, what is cut, and what all devices' parts are together."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.distributed import partition_between, parts_of, versions_of
from hlotool.execution import Program
from hlotool.ir import NoPlacementError, Placement, Sharding, placement_of

WHOLE = """HloModule f, num_partitions=4

ENTRY e {
  x = s32[5,6] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  ROOT y = s32[5,6] negate(x), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
}
"""
PART = """HloModule f, num_partitions=4

ENTRY e_spmd {
  x = s32[3,6] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  p = u32[] partition-id()
  n = u32[] constant(DEVICE)
  b = pred[] compare(p, n), direction=EQ
  w = pred[3,6] broadcast(b), dimensions={}
  y = s32[3,6] negate(x)
  ROOT s = s32[3,6] select(w, x, y)
}
"""


def sharding_of(text: str) -> Sharding:
    found = hlotool.parse(f"HloModule m\nENTRY e {{ ROOT x = f32[8,8] parameter(0), sharding={{{text}}} }}")
    return found.entry.root.attributes["sharding"]


@pytest.mark.parametrize(("text", "counts", "places"), [
    ("replicated", (1, 1), ((0, 0),) * 4),
    ("maximal device=2", (1, 1), (None, None, (0, 0), None)),
    ("devices=[2,2]<=[4]", (2, 2), ((0, 0), (0, 1), (1, 0), (1, 1))),
    ("devices=[2,2]<=[2,2]T(1,0)", (2, 2), ((0, 0), (1, 0), (0, 1), (1, 1))),
    ("devices=[1,2,2]0,2,1,3 last_tile_dim_replicate", (1, 2), ((0, 0), (0, 1), (0, 0), (0, 1))),
    ("mesh['a'=2,'b'=2], [{'b'}, {'a'}]", (2, 2), ((0, 0), (1, 0), (0, 1), (1, 1))),
    ("mesh['a'=4], [{'a':(2)2}, {}]", (2, 1), ((0, 0), (1, 0), (0, 0), (1, 0)))])
def test_shardings_of_every_form_have_places(text: str, counts: tuple[int, ...], places: tuple) -> None:
    found = placement_of(sharding_of(text), 2, 4)
    assert (found.counts, found.places, found.manual) == (counts, places, ())


def test_manual_subgroups_are_numbered() -> None:
    found = placement_of(sharding_of("devices=[2,1,2]<=[4] last_tile_dims={manual}"), 2, 4)
    assert found.manual == (0, 1, 0, 1) and found.places == ((0, 0), (0, 0), (1, 0), (1, 0))


@pytest.mark.parametrize("text", ["manual", "devices=[2,1]<=[2]", "mesh['a'=2], [{'a'}, {}]"])
def test_shardings_without_places_are_refused(text: str) -> None:
    with pytest.raises(NoPlacementError):
        placement_of(sharding_of(text), 2, 4)


def test_parts_are_cut_and_put_together() -> None:
    """Also what does not divide, on devices in another order, and a scalar that all have."""
    rows = Placement((2, 1), ((1, 0), (0, 0)))
    array = np.arange(15).reshape(3, 5)
    parts = parts_of(rows, array)
    assert [p.shape for p in parts] == [(2, 5), (2, 5)]
    assert parts[1].tolist() == array[:2].tolist() and parts[0][1].tolist() == [0] * 5
    version, = versions_of(rows, parts, (3, 5))
    assert version.array.tolist() == array.tolist()
    assert [p.shape for p in parts_of(Placement((), ((), ())), np.asarray(3))] == [(), ()]


def test_copies_that_differ_are_all_kept_and_padding_is_none_of_it() -> None:
    rows = Placement((2,), ((0,), (0,), (1,), (1,)))
    parts = [np.array(p) for p in ([1, 2], [1, 9], [3, 0], [3, 7])]
    one, other = versions_of(rows, parts, (3,))
    assert one.array.tolist() == [1, 2, 3] and other.array.tolist() == [1, 9, 3]
    place, = other.places_of(other.array != one.array)
    assert str(place) == "[1:2] on device 1"


@pytest.mark.parametrize("device", range(4))
def test_one_wrong_device_is_found_whichever_it_is(device: int) -> None:
    part = PART.replace("DEVICE", str(device))
    found = hlotool.compare(hlotool.parse(WHOLE), hlotool.parse(part))
    assert found.verdict == "differ" and found.devices == [device]
    assert f"on device {device}" in str(found.worst)


def test_right_parts_agree_and_devices_that_are_none_matter_not() -> None:
    assert hlotool.compare(hlotool.parse(WHOLE), hlotool.parse(PART.replace("DEVICE", "7"))).verdict == "agree"


def test_results_whose_places_are_not_told_are_no_partition() -> None:
    """A result without a sharding that has other dimensions in parts; one of equal dimensions is on each device."""
    without = WHOLE.replace("negate(x), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}", "negate(x)")
    part = PART.replace("DEVICE", "7")
    assert partition_between(Program(hlotool.parse(without)), Program(hlotool.parse(part))) is None
    gathered = """HloModule f, num_partitions=4
ENTRY e {
  x = s32[3,6] parameter(0)
  g = s32[6,6] all-gather(x), channel_id=1, replica_groups={{0,2},{1,3}}, dimensions={0}, use_global_device_ids=true
  s = s32[5,6] slice(g), slice={[0:5], [0:6]}
  ROOT y = s32[5,6] negate(s)
}"""
    assert hlotool.compare(hlotool.parse(without), hlotool.parse(gathered)).verdict == "agree"


def test_a_part_without_collectives_that_kept_its_shardings_is_one() -> None:
    part = "HloModule f\nENTRY e { x = s32[3,6] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}" \
           "  ROOT y = s32[3,6] negate(x) }"
    assert hlotool.compare(hlotool.parse(WHOLE), hlotool.parse(part)).verdict == "agree"


def test_a_part_that_waits_for_ever_on_some_arguments_does_not_agree() -> None:
    """Devices part where an argument is 1, and meet on all other arguments."""
    gather = "all-gather(p), channel_id={}, replica_groups={{{{0,1}}}}, dimensions={{0}}, use_global_device_ids=true"
    whole = """HloModule w, num_partitions=2
ENTRY e {
  x = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  n = s32[] parameter(1), sharding={replicated}
  ROOT t = f32[4] sine(x), sharding={replicated}
}"""
    part = f"""HloModule w, num_partitions=2
a {{ p = f32[2] parameter(0)  ROOT g = f32[4] {gather.format(1)} }}
b {{ p = f32[2] parameter(0)  ROOT g = f32[4] {gather.format(2)} }}
ENTRY e {{
  x = f32[2] parameter(0)
  n = s32[] parameter(1)
  i = u32[] partition-id()
  j = s32[] convert(i)
  k = s32[] constant(1)
  m = s32[] add(k, j)
  c = pred[] compare(n, m), direction=LT
  s = f32[2] sine(x)
  ROOT r = f32[4] conditional(c, s, s), true_computation=a, false_computation=b
}}"""
    found = hlotool.compare(hlotool.parse(whole), hlotool.parse(part), time_budget=1.0)
    assert found.verdict == "none" and "the second module has no value on" in found.vacuous[0]
    assert "wait for ever" in found.diagnostics[0].message
