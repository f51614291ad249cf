"""Steps of a reduction one by one: what is plainer, what is kept, what is refused, at the boundaries."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import Program, typed
from hlotool.ir import Shape
from hlotool.passes.edit import renamed
from hlotool.reduction.bundle_archive import _test_of
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.entry_values import EntryValues, fitting, values_of
from hlotool.reduction.pair_values import Side, _size
from hlotool.reduction.search_state import SearchState
from hlotool.reduction.simplify import _plainness, _with_count, plainer_arrays
from hlotool.reduction.state import _FILES, State, read_rows, rows_as_bytes

F32 = partial(np.array, dtype=np.float32)


def shown(arrays: Any) -> list[Any]:
    return [a.tolist() for a in arrays]


@pytest.mark.parametrize(("given", "digits", "plainer"), [
    # zeros, ones, the first element for all, whole numbers, so many digits
    (F32([3.14159, 27.1828]), (2,), [[0, 0], [1, 1], [3.14159, 3.14159], [3, 27], [3.1, 27]]),
    (F32([0.00123456, 0]), (3,), [[0, 0], [1, 1], [0.00123456, 0.00123456], [0, 0], [0.00123, 0]]),
    (F32([1, 1]), (2,), [[0, 0]]), (F32([0, 0]), (2,), []), (F32([]), (2,), []),
    (F32([-0.0, -0.0]), (), [[0, 0], [1, 1]]),
    (F32([np.inf, 1.25]), (2,), [[0, 0], [1, 1], [np.inf, np.inf], [np.inf, 1], [np.inf, 1.2]]),
    (np.array([7, 9], np.int32), (2,), [[0, 0], [1, 1], [7, 7]]),
    (np.array([True, False]), (), [[0, 0], [1, 1], [1, 1]]),
    (np.array([False, False]), (), [])])
def test_plainer_values(given: Any, digits: tuple[int, ...], plainer: list[list[float]]) -> None:
    found = list(plainer_arrays(given, digits=digits))
    assert len(found) == len(plainer), shown(found)
    for one, wanted in zip(found, plainer, strict=True):
        assert one.dtype == given.dtype and one.shape == given.shape
        np.testing.assert_array_equal(one, np.array(wanted, given.dtype))


def test_as_many_elements_are_tried_for_all_as_are_asked_for() -> None:
    given = np.array([5, 6, 5, 7], np.int32)
    assert shown(plainer_arrays(given, distinct=2)) == [[0] * 4, [1] * 4, [5] * 4, [6] * 4]
    assert shown(plainer_arrays(given, distinct=0)) == [[0] * 4, [1] * 4]


@pytest.mark.parametrize(("plain", "other"), [
    ([0, 0], [1, 1]), ([0, 0], [-0.0, 0]), ([1, 1], [2, 2]), ([2, 2], [2, 3]), ([2, 3], [2, 3.25])])
def test_what_is_plainer_than_what(plain: list[float], other: list[float]) -> None:
    assert _plainness(F32(plain)) < _plainness(F32(other))


def test_complex_numbers_have_signs_in_both_halves() -> None:
    for value in (complex(-0.0, 0.0), complex(0.0, -0.0)):
        assert _plainness(np.array([0j])) < _plainness(np.array([value]))


ROLES = """HloModule roles
one { a = f32[] parameter(0)  ROOT r = f32[] tanh(a) }
two { a = f32[] parameter(0)  ROOT r = f32[] sine(a) }
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT m = f32[] maximum(a, b) }
ENTRY e {
  n = s32[] parameter(0)  x = f32[] parameter(1)  v = f32[3] parameter(2)
  c = f32[] conditional(n, x, x), branch_computations={one, two}
  r = f32[] reduce(v, x), dimensions={0}, to_apply=max
  ROOT t = (f32[], f32[]) tuple(c, r)
}
"""


def test_branches_and_reducers_are_named_for_what_they_do() -> None:
    found = renamed(hlotool.parse(ROLES), "reduced")
    assert [c.name for c in found.computations] == ["branch", "branch.1", "maximum", "main"]
    assert [i.name for i in found.entry.instructions] == ["p0", "p1", "p2", "conditional", "reduce", "tuple"]


@pytest.mark.parametrize(("count", "rows"), [(4, 4), (2, 2), (1, 1)])
def test_fewer_devices_take_fewer_arguments(count: int, rows: int) -> None:
    module = hlotool.parse("HloModule m, replica_count=8\nENTRY e { ROOT x = f32[] parameter(0) }")
    found = _with_count(Candidate(module, [[F32(n)] for n in range(8)]), "replica_count", count)
    assert found.module.attributes["replica_count"] == count
    assert [float(row[0]) for row in found.rows or ()] == [float(n) for n in range(rows)]


SMALL = """HloModule small
ENTRY e {
  x = f32[2] parameter(0)
  a = f32[2] negate(x)
  b = f32[2] tanh(a)
  ROOT c = (f32[2], f32[2]) tuple(a, b)
}
"""


def test_values_of_instructions_are_those_of_the_reference() -> None:
    module = hlotool.parse(SMALL)
    values = values_of(Candidate(module, [[F32([1, 2])]]))
    found = {i.name: values.leaves(i, 0) for i in module.entry.instructions}
    assert shown(found["a"] or []) == [[-1, -2]]
    assert next(a.tolist() for a in found["c"] or []) == [-1, -2] and len(found["c"] or []) == 2
    assert values_of(Candidate(module, None)).leaves(module.entry.root, 0) is None
    assert EntryValues(by_name={"a": [None]}).leaves(module.entry.instructions[1], 0) is None


@pytest.mark.parametrize(("shape", "value", "fits"), [
    ("f32[2]", F32([1, 2]), True), ("f32[2]", F32([1, 2, 3]), False), ("f32[2]", np.array([1.0, 2.0]), False),
    ("(f32[2], s32[])", (F32([1, 2]), np.array(1, np.int32)), True), ("(f32[2], s32[])", (F32([1, 2]),), False),
    ("f32[]", F32(1), True), ("(f32[2], token[])", (F32([1, 2]), ()), True)])
def test_which_values_a_shape_has(shape: str, value: Any, fits: bool) -> None:
    given = hlotool.parse(f"ENTRY e {{ ROOT x = {shape} parameter(0) }}").entry.root.shape
    assert (fitting(given, value) is not None) is fits


def test_what_lies_between_shared_values_and_a_target() -> None:
    module = hlotool.parse(ROLES)
    side = Side(module, set(module.entry.instructions), {}, {})
    items = {i.name: i for i in module.entry.instructions}
    seen, cut = side.region(items["c"], set())
    assert _size(seen) == 1 + 2 + 2 and cut == {items["n"], items["x"]}  # with what it calls: two branches of two
    seen, cut = side.region(items["r"], set())
    assert _size(seen) == 1 + 3 and cut == {items["v"], items["x"]}  # a reducer of three
    shared = Side(module, set(module.entry.instructions), {}, {items["c"]: b"c"})
    seen, cut = shared.region(items["t"], {b"c"})
    assert _size(seen) == 2 + 3 and cut == {items["c"], items["v"], items["x"]}


@pytest.mark.parametrize(("given", "kept"), [
    (10, 10.0), (0.5, 0.5), (600, 600.0), (601, 600.0), (999_999_999, 600.0), (1e9, 60.0), (1e12, 60.0), (0, 60.0),
    (-1, 60.0), ("soon", 60.0), (None, 60.0)])
def test_how_long_the_test_of_a_bundle_may_take(given: Any, kept: float) -> None:
    about = {"test": {"kind": "timeout", "executor": "reference", "seconds": given}}
    assert _test_of(about, "b.zip", ()).seconds == kept  # type: ignore[attr-defined]


@pytest.mark.parametrize("test", [
    None, {}, {"kind": "command"}, {"kind": 3}, {"kind": "finding", "code": "W1x", "executor": "reference"},
    {"kind": "finding", "code": 7, "executor": "reference"}, {"kind": "timeout", "executor": "mine:run"},
    {"kind": "failure", "executor": "reference", "message": "a.*b"}])
def test_tests_that_no_bundle_may_have(test: Any) -> None:
    with pytest.raises(HloError):
        _test_of({"test": test}, "b.zip", ())


def test_executors_of_a_users_own_run_where_they_are_allowed() -> None:
    about = {"test": {"kind": "timeout", "executor": "mine", "seconds": 1}}
    assert _test_of(about, "b.zip", ("mine",)).executor == "mine"  # type: ignore[attr-defined]
    with pytest.raises(HloError, match="no executor of hlotool's own"):
        _test_of(about, "b.zip", ("other",))


@pytest.mark.parametrize(("size", "is_refused"), [(1 << 30, False), ((1 << 30) + 1, True)])
def test_files_of_a_state_have_a_size_that_memory_holds(size: int, is_refused: bool, tmp_path: Path) -> None:
    for name in _FILES[:2]:
        (tmp_path / name).touch()
    os.truncate(tmp_path / "best.hlo", size)  # a hole, which takes no room
    state = State(tmp_path)
    if not is_refused:
        state._require_own_files()
        return
    with pytest.raises(HloError, match="too large"):
        state._require_own_files()


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_, np.complex64, ml_dtypes.bfloat16,
                                   ml_dtypes.float8_e4m3fn])
def test_arguments_are_kept_with_their_types(dtype: Any) -> None:
    name = {"bool": "pred", "float32": "f32", "int8": "s8", "complex64": "c64", "bfloat16": "bf16",
            "float8_e4m3fn": "f8e4m3fn"}[np.dtype(dtype).name]
    program = Program(hlotool.parse(f"ENTRY e {{ ROOT x = {name}[2] parameter(0) }}"))
    given = np.array([0, 1], np.dtype(dtype))
    ((found,),) = read_rows(rows_as_bytes([[given]]), program)
    assert found.dtype == given.dtype and found.tobytes() == given.tobytes()


def test_raw_bytes_take_a_type_of_their_size_only() -> None:
    raw = np.zeros(2, "V2")
    assert typed(raw, Shape.array("bf16")).dtype == ml_dtypes.bfloat16
    assert typed(raw, Shape.array("f32")).dtype == raw.dtype
    assert typed(F32([1]), Shape.array("s32")).dtype == np.float32


def test_values_are_computed_once_for_what_was_cut_out_of_one_module() -> None:
    base, other = (Candidate(hlotool.parse(SMALL), [[F32([1, n])]]) for n in (2, 3))
    work = SearchState(SimpleNamespace(taken=set()), base)  # type: ignore[arg-type] # nobody is asked
    first = work.values_of(base)
    work.best = other
    assert work.values_of(base) is first
    work.best = base
    assert work.values_of(base) is first
    work.accept(other, "cut", keeps_values=True)
    assert work.values_of(other) is first
    work.accept(base, "arguments", keeps_values=False)
    again = work.values_of(base)
    assert again is not first and shown(again.leaves(base.module.entry.instructions[1], 0) or []) == [[-1, -2]]
    assert work.done == {"cut": 1, "arguments": 1}
