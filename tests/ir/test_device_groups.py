"""Shardings by themselves: device numbers of tiles, groups of meshes, and what does not fit."""

from __future__ import annotations

import pytest

from hlotool.ir.sharding import (
    MOST_DEVICES,
    AxisRef,
    IotaTile,
    Mesh,
    ReplicaGroups,
    UnlistedDevicesError,
    mesh_problem,
    require_listable,
)

SQUARE = Mesh((("x", 2), ("y", 4)))


def test_devices_of_an_iota() -> None:
    assert IotaTile((2, 3), (6,), (0,)).devices() == (0, 1, 2, 3, 4, 5)
    assert IotaTile((3, 2), (2, 3), (1, 0)).devices() == (0, 3, 1, 4, 2, 5)
    assert IotaTile((8,), (2, 2, 2), (2, 0, 1)).devices() == (0, 2, 4, 6, 1, 3, 5, 7)


def test_so_many_devices_are_listed() -> None:
    require_listable(MOST_DEVICES)
    with pytest.raises(UnlistedDevicesError, match=f"{MOST_DEVICES + 1} devices"):
        require_listable(MOST_DEVICES + 1)
    with pytest.raises(UnlistedDevicesError):
        IotaTile((2, MOST_DEVICES), (2 * MOST_DEVICES,), (0,)).devices()


def test_groups_in_three_forms() -> None:
    listed = ReplicaGroups(((0, 2), (1, 3)))
    iota = ReplicaGroups(iota=IotaTile((2, 2), (2, 2), (1, 0)))
    mesh = ReplicaGroups(mesh=Mesh((("x", 2), ("y", 2))), axes=(AxisRef("x"),))
    for groups in (listed, iota, mesh):
        assert groups.is_listed and groups.lists() == ((0, 2), (1, 3))
        assert groups.sizes() == {2} and groups.device_count() == 4
    assert not ReplicaGroups().is_listed and ReplicaGroups().lists() == ()
    assert ReplicaGroups().sizes() == set() and ReplicaGroups().device_count() == 0
    assert ReplicaGroups(((0,), (5, 2))).sizes() == {1, 2} and ReplicaGroups(((0,), (5, 2))).device_count() == 6
    assert ReplicaGroups(iota=IotaTile((0, 3), (0,), (0,))).sizes() == set()
    assert ReplicaGroups(iota=IotaTile((1, 3), (3,), (0,))).lists() == ((0, 1, 2),)


def groups_of(mesh: Mesh, *axes: AxisRef) -> tuple[tuple[int, ...], ...]:
    return ReplicaGroups(mesh=mesh, axes=axes).lists()


def test_groups_of_a_mesh() -> None:
    """Devices of one group differ in the axes that are named, the first of them slowest."""
    assert groups_of(SQUARE, AxisRef("y")) == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert groups_of(SQUARE, AxisRef("x")) == ((0, 4), (1, 5), (2, 6), (3, 7))
    assert groups_of(SQUARE, AxisRef("x"), AxisRef("y")) == (tuple(range(8)),)
    assert groups_of(SQUARE, AxisRef("y"), AxisRef("x")) == ((0, 4, 1, 5, 2, 6, 3, 7),)
    assert groups_of(SQUARE) == tuple((n,) for n in range(8))
    assert groups_of(Mesh(())) == ((0,),)


def test_groups_of_parts_of_axes() -> None:
    assert groups_of(SQUARE, AxisRef("y", 1, 2)) == ((0, 2), (1, 3), (4, 6), (5, 7))
    assert groups_of(SQUARE, AxisRef("y", 2, 2)) == ((0, 1), (2, 3), (4, 5), (6, 7))
    assert groups_of(Mesh((("a", 8),)), AxisRef("a", 2, 2)) == ((0, 2), (1, 3), (4, 6), (5, 7))
    assert groups_of(Mesh((("a", 8),)), AxisRef("a", 4, 2), AxisRef("a", 1, 2)) == (
        (0, 4, 1, 5), (2, 6, 3, 7))


def test_devices_of_a_mesh_in_their_order() -> None:
    assert groups_of(Mesh((("x", 2), ("y", 2)), (3, 1, 2, 0)), AxisRef("y")) == ((3, 1), (2, 0))
    turned = Mesh((("x", 2), ("y", 2)), IotaTile((4,), (2, 2), (1, 0)))
    assert groups_of(turned, AxisRef("y")) == ((0, 2), (1, 3))


def test_what_does_not_fit_in_a_mesh() -> None:
    assert mesh_problem(SQUARE) == "" and mesh_problem(Mesh((("x", 2),), (1, 0))) == ""
    assert mesh_problem(SQUARE, (AxisRef("y", 2, 2), AxisRef("y"), AxisRef("z", 3, 5))) == ""
    assert mesh_problem(Mesh((("x", -1),))) == "the axis 'x' has -1 devices"
    assert mesh_problem(Mesh((("x", 2),), (0, 1, 2))) == "the mesh has 2 devices, device_ids lists 3"
    iota = IotaTile((2, 2), (4,), (0,))
    assert mesh_problem(Mesh((("x", 2),), iota)) == "the mesh has 2 devices, device_ids lists 4"
    assert mesh_problem(Mesh((("x", 4),), iota)) == ""
    assert mesh_problem(SQUARE, (AxisRef("y", 1, 3),)) == "the parts (1)3 do not divide the axis 'y' of 4"
    assert "(3)1" in mesh_problem(SQUARE, (AxisRef("y", 3, 1),))
    assert "do not divide" in mesh_problem(SQUARE, (AxisRef("y", 0, 2),))
    assert mesh_problem(SQUARE, (AxisRef("y", 4, 2),)) == "the parts (4)2 do not divide the axis 'y' of 4"
    assert mesh_problem(SQUARE, (AxisRef("y", 3, None), AxisRef("x", None, 3))) == ""  # no parts
    with pytest.raises(UnlistedDevicesError, match="do not divide"):
        groups_of(SQUARE, AxisRef("y", 1, 3))
    with pytest.raises(UnlistedDevicesError, match="not listed one by one"):
        groups_of(Mesh((("x", 2 * MOST_DEVICES),)), AxisRef("x"))
