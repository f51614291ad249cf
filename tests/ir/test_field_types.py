"""Values of other types than their fields' cannot be made: nothing has to look for them later."""

from __future__ import annotations

import numpy as np
import pytest

from hlotool.ir import Domain, Layout, ReplicaGroups, ResultAccuracy, Shape, Window, WindowDimension

WRONG = {
    "dims is ('a',)": lambda: Shape("f32", ("a",)),
    "dims is (2.5,)": lambda: Shape("f32", (2.5,)),
    "layout is 'x'": lambda: Shape("f32", (2,), "x"),
    "elements is (3,)": lambda: Shape("tuple", elements=(3,)),
    "memory_space is 'x'": lambda: Layout((0,), memory_space="x"),
    "dimensions is 3": lambda: Window(3),
    "reversal is 3": lambda: WindowDimension(reversal=3),
    "groups is ((0,), ('a',))": lambda: ReplicaGroups(((0,), ("a",))),
    "atol is 'a'": lambda: ResultAccuracy(None, "a"),
    "entry is 1": lambda: Domain("sharding", 1, 2),
}


@pytest.mark.parametrize("said", WRONG)
def test_what_is_of_another_type_is_not_made(said):
    with pytest.raises(TypeError) as caught:
        WRONG[said]()
    assert said in str(caught.value)


def test_whole_numbers_of_other_libraries_become_pythons():
    shape = Shape.array("f32", (np.int64(7), np.int32(11)))
    assert list(map(type, shape.dims)) == [int, int] and shape is Shape.array("f32", (7, 11))


def test_tests_of_types_see_unions_and_tuples_of_fixed_length():
    assert Shape("f32", (2,), None).layout is None
    with pytest.raises(TypeError):
        ReplicaGroups(iota=(1, 2))
