"""What a program asks of its arguments: how far indices go, in which order they stand, what counts."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.execution import Program
from hlotool.ir import DTYPES
from hlotool.verdict.boundary_arguments import Wishes, _pair_undone

GATHER = ("f32[4,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
          "slice_sizes={1,2}")
SCATTER = ("f32[8,2] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
           "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second")


def wishes(root: str) -> Wishes:
    return Wishes(Program(hlotool.parse(
        "second { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }\n"
        "ENTRY e { x = f32[8,2] parameter(0)  i = s32[4,1] parameter(1)  u = f32[4,2] parameter(2)  "
        f"n = s32[] parameter(3)  z = s32[] constant(0)  ROOT r = {root} }}")))


@pytest.mark.parametrize(("root", "sorted_", "unique"), [
    (GATHER, False, False), (f"{GATHER}, indices_are_sorted=true", True, False),
    (f"{SCATTER}, unique_indices=true", False, True), (SCATTER, False, False),
    (f"{SCATTER}, indices_are_sorted=true, unique_indices=true", True, True),
    (f"{SCATTER}, indices_are_sorted=false, unique_indices=false", False, False)])
def test_the_order_of_indices(root: str, sorted_: bool, unique: bool) -> None:
    found = wishes(root)
    assert (1 in found.sorted, 1 in found.unique) == (sorted_, unique)
    assert not {0, 2} & {*found.sorted, *found.unique, *found.bounds}


@pytest.mark.parametrize(("root", "leaf", "bound"), [
    (GATHER, 1, 7), (SCATTER, 1, 7)])
def test_how_far_indices_go(root: str, leaf: int, bound: int) -> None:
    assert wishes(root).bounds == {leaf: bound}


@pytest.mark.parametrize(("reducer", "identity"), [("add", 0.0), ("multiply", 1.0), ("minimum", float("inf"))])
def test_a_reduction_begins_with_what_changes_nothing(reducer: str, identity: float) -> None:
    found = Wishes(Program(hlotool.parse(
        "HloModule m, num_partitions=2\n"
        f"f {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] {reducer}(a, b) }}\n"
        "ENTRY e { x = f32[8] parameter(0), sharding={devices=[2]<=[2]}  n = f32[] parameter(1)  "
        "ROOT r = f32[] reduce(x, n), dimensions={0}, to_apply=f }")))
    assert found.identities == {1: identity}


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(("opcode", "function"), [
    ("add", lambda a, b: a + b), ("subtract", lambda a, b: a - b), ("multiply", lambda a, b: a * b),
    ("divide", lambda a, b: a / b)])
@pytest.mark.parametrize(("value", "known"), [(6.0, 3.0), (-5.0, 0.5), (0.25, -8.0)])
def test_an_operand_that_gives_a_value_with_the_known_one(number, opcode, function, value, known):
    (found,) = _pair_undone(opcode, number, value, known, DTYPES["f32"])
    assert function(*((found, known) if number == 0 else (known, found))) == pytest.approx(value)


def test_an_operand_of_whole_numbers_is_whole():
    assert _pair_undone("multiply", 0, 7, 2, DTYPES["s32"]) == (3,)
    assert _pair_undone("power", 0, 9.0, 2.0, DTYPES["f32"]) == (3.0,)
    assert _pair_undone("divide", 1, 0.0, 2.0, DTYPES["f32"]) == ()
