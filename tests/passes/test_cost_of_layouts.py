"""Costs of what layouts, empty sizes, groups and shardings mean."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.ir import Mesh
from hlotool.passes.cost import has_to_be_partitioned, module_cost
from hlotool.passes.cost.group_axes import axes_of_groups, axes_of_pairs, meshes_of


@pytest.mark.parametrize(("shape", "size"), [
    ("u32[12582912,1]{1,0:T(8,128)}", 12582912 * 128 * 4), ("f32[8,128]{1,0:T(8,128)}", 4096),
    ("f32[9,129]{1,0:T(8,128)}", 16 * 256 * 4), ("f32[9,129]{0,1:T(8,128)}", 136 * 128 * 4),
    ("bf16[5,16,128]{2,1,0:T(8,128)(2,1)}", 5 * 16 * 128 * 2), ("bf16[5,3,100]{2,1,0:T(4,128)(2,1)}", 5 * 4 * 128 * 2),
    ("f32[]{:T(128)}", 512), ("f32[100]{0:T(256)}", 1024), ("f32[100]{0:L(64)}", 512), ("s4[3,5]{1,0:E(4)}", 8),
    ("s8[2,3,5]{2,1,0:T(*,4)}", 2 * 4 * 4), ("f32[0,5]{1,0:T(8,128)}", 0), ("f32[2,3]", 24),
    ("(f32[3]{0:T(128)}, pred[])", 513)])
def test_tiles_are_whole(shape: str, size: int) -> None:
    module = hlotool.parse(f"ENTRY e {{ ROOT x = {shape} parameter(0) }}")
    assert module.entry.root.shape.nbytes == size


@pytest.mark.parametrize("text", [
    "a = f32[4,0] parameter(0)  b = f32[0,8] parameter(1)  "
    "ROOT c = f32[4,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "a = f32[2,8,0] parameter(0)  b = f32[3,0,4] parameter(1)  "
    "ROOT c = f32[2,6,4] convolution(a, b), window={size=3}, dim_labels=b0f_0io->b0f"])
def test_empty_sums_are_free(text: str) -> None:
    assert hlotool.cost(f"ENTRY e {{ {text} }}").flops == 0


MESH = Mesh((("a", 2), ("b", 2), ("c", 2)))


@pytest.mark.parametrize(("groups", "named", "unnamed"), [
    (((0, 1), (2, 3), (4, 5), (6, 7)), "c", "2 of stride 1"), (((0, 4), (1, 5), (2, 6), (3, 7)), "a", "2 of stride 4"),
    (((0, 2, 4, 6), (1, 3, 5, 7)), "a, b", "4 of stride 2"), (((0, 1, 4, 5), (2, 3, 6, 7)), "a, c",
                                                             "2 of stride 1 x 2 of stride 4"),
    ((tuple(range(8)),), "a, b, c", "8 of stride 1"), (((0, 3), (1, 2)), "", ""), (((0, 1, 3),), "", "")])
def test_groups_have_axes(groups: tuple[tuple[int, ...], ...], named: str, unnamed: str) -> None:
    assert axes_of_groups(groups, [MESH]) == (named or unnamed) and axes_of_groups(groups, []) == unnamed


def test_pairs_have_axes() -> None:
    ring = [(0, 2), (2, 0), (1, 3), (3, 1), (4, 6), (6, 4), (5, 7), (7, 5)]
    assert axes_of_pairs(ring, [MESH]) == "b" and axes_of_pairs(ring, []) == "2 of stride 2"


@pytest.mark.parametrize("groups", ["{{0,1,2,3},{4,5,6,7}}", "[2,4]<=[8]", "mesh['a'=2,'b'=4] {'b'}"])
def test_every_form_of_groups(groups: str) -> None:
    meshes = 'xla.sdy.meshes={mesh = #sdy.mesh<["a"=2, "b"=4]>}'
    text = f"""HloModule m, num_partitions=8, frontend_attributes={{{meshes}}}
add {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }}
ENTRY e {{ x = f32[8] parameter(0)
  ROOT y = f32[8] all-reduce(x), channel_id=1, replica_groups={groups}, use_global_device_ids=true, to_apply=add }}"""
    module = hlotool.parse(text)
    assert [m.axes for m in meshes_of(module)] == [(("a", 2), ("b", 4))]
    assert [t.axis for t in hlotool.cost(text).transfers] == ["b"]
    assert not has_to_be_partitioned(module_cost(module))


#: forms of the groups {0,1},{2,3} and {0,2},{1,3} of four ids, and of one group of all
FORMS = {"{{0,1},{2,3}}": ((0, 1), (2, 3)), "[2,2]<=[4]": ((0, 1), (2, 3)), "{{0,2},{1,3}}": ((0, 2), (1, 3)),
         "[2,2]<=[2,2]T(1,0)": ((0, 2), (1, 3)), "{}": ((0, 1, 2, 3),), "mesh['i'=2,'j'=2] {'i'}": ((0, 2), (1, 3)),
         "mesh['i'=4] {'i':(1)2}": ((0, 2), (1, 3)), "{{0},{1},{2},{3}}": ((0,), (1,), (2,), (3,))}
#: mode -> what the text says, replicas, partitions, and the device that id i is of in each of its worlds
MODES: dict[str, tuple[str, int, int, list[list[list[int]]]]] = {
    "replicas": ("", 4, 2, [[[r * 2 + p] for r in range(4)] for p in range(2)]),
    "replicas with partitions": (", channel_id=1", 4, 2, [[[r * 2, r * 2 + 1] for r in range(4)]]),
    "devices": (", channel_id=1, use_global_device_ids=true", 2, 2, [[[d] for d in range(4)]]),
    "devices of partitions": (", channel_id=1, use_global_device_ids=true", 1, 4, [[[d] for d in range(4)]])}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", MODES)
def test_the_devices_that_meet(form: str, mode: str) -> None:
    """Groups of ids in every form and mode, held against lists of devices that are written out here."""
    said, replicas, partitions, worlds = MODES[mode]
    text = f"""HloModule m, replica_count={replicas}, num_partitions={partitions}
add {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }}
ENTRY e {{ x = f32[8] parameter(0)
  ROOT y = f32[8] all-reduce(x), replica_groups={form}{said}, to_apply=add }}"""
    met = [sorted(d for i in ids for d in world[i]) for world in worlds for ids in FORMS[form]]
    (found,) = hlotool.cost(text).transfers
    size = len(met[0])
    assert found.group_size == size and found.once == 32 * 2 * (size - 1) // size
    named = f'xla.sdy.meshes={{mesh = #sdy.mesh<["r"={replicas}, "p"={partitions}]>}}'
    (found,) = hlotool.cost(text.replace("HloModule m,", f"HloModule m, frontend_attributes={{{named}}},")).transfers
    of_mesh = {"r": {frozenset(r * partitions + p for r in range(replicas)) for p in range(partitions)},
               "p": {frozenset(r * partitions + p for p in range(partitions)) for r in range(replicas)},
               "r, p": {frozenset(range(replicas * partitions))}}
    along = {axes for axes, groups in of_mesh.items() if groups == set(map(frozenset, met))}
    assert size == 1 or not along or found.axis in along
    lints = {f.code for f in hlotool.lint(text)}
    assert ("W504" in lints) == (size == 1)


@pytest.mark.parametrize(("channel", "axis"), [("", "r"), (", channel_id=1", "p")])
def test_pairs_are_of_replicas_or_of_partitions(channel: str, axis: str) -> None:
    text = f"""HloModule m, replica_count=2, num_partitions=4, \
frontend_attributes={{xla.sdy.meshes={{mesh = #sdy.mesh<["r"=2, "p"=4]>}}}}
ENTRY e {{ x = f32[8] parameter(0)
  ROOT y = f32[8] collective-permute(x), source_target_pairs={{{{0,1}},{{1,0}}}}{channel} }}"""
    (found,) = hlotool.cost(text).transfers
    assert found.axis == axis and found.groups == {"": "8 pairs", ", channel_id=1": "4 pairs"}[channel]


def test_what_is_sharded_and_sends_nothing_has_to_be_partitioned() -> None:
    text = """HloModule m, num_partitions=2
ENTRY e { x = f32[8] parameter(0), sharding={devices=[2]<=[2]}  ROOT y = f32[8] negate(x) }"""
    assert has_to_be_partitioned(module_cost(hlotool.parse(text)))
    assert not has_to_be_partitioned(module_cost(hlotool.parse(text.replace("partitions=2", "partitions=1"))))


_REGION = """HloModule m, num_partitions=2, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2]>}}
body { v = f32[4,8] parameter(0)
  ROOT s = f32[4,8] all-reduce(v), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[8,8] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [GIVEN, {}]>"}
  i = f32[4,8] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape",
    frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\\"a\\"}, {}]>]>"}
  c = f32[4,8] call(i), to_apply=body
  o = f32[4,8] custom-call(c), custom_call_target="xla.sdy.LocalToGlobalShape",
    frontend_attributes={xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>"}
  ROOT r = f32[4,8] OUTSIDE
}"""


@pytest.mark.parametrize(("given", "outside", "is_left"), [
    (r'{\"a\"}', "bitcast(o)", False),
    (r'{\"a\"}', "negate(o)", True),
    ("{}", "bitcast(o)", True),
    (r'{\"a\"}', 'custom-call(o), custom_call_target="xla.sdy.FuncResultSharding", frontend_attributes='
                 r'{xla.sdy.sharding="#sdy.sharding<@mesh, [{}, {}]>"}', False),
    (r'{\"a\"}', 'custom-call(o), custom_call_target="xla.sdy.FuncResultSharding", frontend_attributes='
                 r'{xla.sdy.sharding="#sdy.sharding<@mesh, [{\"a\"}, {}]>"}', True)])
def test_beside_regions_by_hand_a_partitioner_may_add_collectives(given: str, outside: str, is_left: bool) -> None:
    module = hlotool.parse(_REGION.replace("GIVEN", given).replace("OUTSIDE", outside))
    assert has_to_be_partitioned(module_cost(module)) is is_left
