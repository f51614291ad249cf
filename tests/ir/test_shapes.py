"""Shapes and layouts by themselves: what they hold, how they are counted, compared and written."""

from __future__ import annotations

import pickle

import pytest

from hlotool.ir import Layout, Shape
from hlotool.ir.shapes import COMBINE, UNBOUNDED, SplitConfig

F32 = Shape.array("f32", (2, 3))
TOKEN = Shape.token()
PAIR = Shape.tuple(F32, TOKEN)
NESTED = Shape.tuple(F32, Shape.tuple(TOKEN, Shape.tuple(), Shape.array("s8")), Shape.array("u4", (3,)))
BUFFER = Shape("buffer", elements=(F32,))
DYNAMIC = Shape.array("f32", (2, 3), None, (False, True))
OPEN = Shape.array("f32", (UNBOUNDED, 3), None, (True, False))


def test_equal_shapes_are_one() -> None:
    assert Shape.array("f32", (2, 3)) is F32 and Shape.tuple(F32, Shape.token()) is PAIR
    assert pickle.loads(pickle.dumps(NESTED)) is NESTED
    assert F32 is not F32.with_layout(Layout((1, 0))) and F32 != DYNAMIC


def test_kinds_of_shapes() -> None:
    kinds = ("is_array", "is_tuple", "is_token", "is_buffer", "is_scalar")
    found = {name: [k for k in kinds if getattr(shape, k)] for name, shape in {
        "f32": F32, "scalar": Shape.array("pred"), "pair": PAIR, "token": TOKEN, "buffer": BUFFER,
        "opaque": Shape("opaque")}.items()}
    assert found == {"f32": ["is_array"], "scalar": ["is_array", "is_scalar"], "pair": ["is_tuple"],
                     "token": ["is_token"], "buffer": ["is_buffer"], "opaque": []}
    assert F32.dtype.name == "f32" and F32.rank == 2 and F32.size == 6
    with pytest.raises(KeyError):
        assert PAIR.dtype


def test_bytes() -> None:
    def of(text: str, *dims: int, layout: Layout | None = None) -> int:
        return Shape.array(text, dims, layout).nbytes

    assert F32.nbytes == 24 and of("pred") == 1 and of("c128", 2) == 32
    assert of("s4", 3) == 3  # a byte each
    assert of("s4", 3, layout=Layout((0,), element_size=4)) == 2  # packed, and rounded up
    assert of("f32", 3, layout=Layout((0,), element_size=64)) == 24
    assert of("f32", 3, layout=Layout((0,), memory_space=1)) == 12
    assert OPEN.nbytes == 12 and DYNAMIC.nbytes == 24 and of("f32", 0, 7) == 0
    assert NESTED.nbytes == 24 + 1 + 3 and PAIR.nbytes == BUFFER.nbytes == 24 and TOKEN.nbytes == 0


def test_dynamic_dimensions() -> None:
    assert F32.is_static and NESTED.is_static and not DYNAMIC.is_static and not OPEN.is_static
    assert not Shape.tuple(F32, DYNAMIC).is_static and not Shape.array("f32", (UNBOUNDED,)).is_static
    assert [DYNAMIC.is_dynamic_dim(d) for d in (0, 1)] == [False, True] and not F32.is_dynamic_dim(0)
    assert [OPEN.is_bounded_dim(d) for d in (0, 1)] == [False, False]
    assert [DYNAMIC.is_bounded_dim(d) for d in (0, 1)] == [False, True]
    assert Shape.array("f32", (2,), None, (False,)) is Shape.array("f32", (2,))
    assert DYNAMIC.with_dims((4,)) is Shape.array("f32", (4,))
    assert F32.with_dims((4,), (True,)) is Shape.array("f32", (4,), None, (True,))


def test_orders_of_dimensions() -> None:
    column = Shape.array("f32", (2, 3), Layout((0, 1)))
    assert F32.minor_to_major == (1, 0) and column.minor_to_major == (0, 1)
    assert Shape.array("f32", (2, 3), Layout((0,))).minor_to_major == (1, 0)  # it fits no two dimensions
    assert Layout.descending(3) is Layout((2, 1, 0)) and Layout.descending(0) is Layout()
    assert F32.has_default_order and not column.has_default_order and Shape.array("f32").has_default_order
    assert Shape.tuple(F32, F32).has_default_order and not Shape.tuple(F32, column).has_default_order
    assert PAIR.without_layout() is PAIR and F32.without_layout() is F32
    assert Shape.tuple(column, DYNAMIC).without_layout() is Shape.tuple(F32, DYNAMIC)
    assert column.with_layout(None) is F32


def test_element_types_are_exchanged() -> None:
    laid = F32.with_layout(Layout((0, 1)))
    assert laid.with_element_type("s8") is Shape.array("s8", (2, 3), Layout((0, 1)))
    assert laid.with_element_type("f32") is laid


def test_trees() -> None:
    assert list(NESTED.leaves()) == [((0,), F32), ((1, 0), TOKEN), ((1, 2), Shape.array("s8")),
                                     ((2,), Shape.array("u4", (3,)))]
    assert list(F32.leaves()) == [((), F32)] and list(Shape.tuple().leaves()) == []
    assert NESTED.leaf_count == 4 and F32.leaf_count == 1 and Shape.tuple().leaf_count == 0
    twice = F32
    for _ in range(40):
        twice = Shape.tuple(twice, twice)
    assert twice.leaf_count == 2 ** 40
    assert NESTED.at(()) is NESTED and NESTED.at((1, 2)) is Shape.array("s8") and NESTED.at((0,)) is F32
    assert NESTED.at((3,)) is None and NESTED.at((-1,)) is None and NESTED.at((0, 0)) is None
    assert BUFFER.at((0,)) is None and NESTED.at((2,)) is not None


def test_compatible_shapes_differ_in_layouts_and_bounds() -> None:
    assert F32.compatible(F32) and F32.compatible(DYNAMIC) and F32.compatible(F32.with_layout(Layout((0, 1))))
    assert Shape.tuple(F32).compatible(Shape.tuple(DYNAMIC))
    for other in (Shape.array("f32", (3, 2)), Shape.array("s32", (2, 3)), Shape.array("f32", (2, 3, 1)), PAIR, TOKEN):
        assert not F32.compatible(other) and not other.compatible(F32)
    assert not PAIR.compatible(Shape.tuple(F32)) and not PAIR.compatible(Shape.tuple(F32, F32))
    assert not Shape.tuple().compatible(Shape.tuple(F32))


def test_text_of_shapes() -> None:
    assert [str(s) for s in (F32, DYNAMIC, OPEN, TOKEN, Shape("opaque"), BUFFER, Shape.tuple(), PAIR)] == [
        "f32[2,3]", "f32[2,<=3]", "f32[?,3]", "token[]", "opaque[]", "b(f32[2,3])", "()", "(f32[2,3], token[])"]
    assert str(Shape.tuple(*[TOKEN] * 11)) == (
        "(token[], token[], token[], token[], token[], /*index=5*/token[], token[], token[], token[], token[], "
        "/*index=10*/token[])")
    laid = F32.with_layout(Layout((0, 1)))
    assert str(laid) == laid.text() == "f32[2,3]{0,1}" and laid.text(layout=False) == "f32[2,3]"
    assert str(Shape.array("f32", (), Layout())) == "f32[]"
    assert str(Shape.array("f32", (), Layout(memory_space=1))) == "f32[]{:S(1)}"


def test_text_of_layouts() -> None:
    parts = {
        "D(D,C+)": {"dim_level_types": ("D", "C+")}, "T(8,128)(2,1)": {"tiles": ((8, 128), (2, 1))},
        "T(*,2)": {"tiles": ((COMBINE, 2),)}, "L(1024)": {"tail_padding_alignment": 1024},
        "L(0)": {"tail_padding_alignment": 0}, "#(u32)": {"index_type": "u32"}, "*(u64)": {"pointer_type": "u64"},
        "E(4)": {"element_size": 4}, "S(1)": {"memory_space": 1},
        "SC(0:1,2)(1:3)": {"split_configs": (SplitConfig(0, (1, 2)), SplitConfig(1, (3,)))},
        "P(f32[2,3])": {"physical_shape": F32}, "M(16)": {"dynamic_shape_metadata_prefix": 16}}
    for text, fields in parts.items():
        assert str(Layout((1, 0), **fields)) == f"{{1,0:{text}}}"  # type: ignore[arg-type]
    assert str(Layout((1, 0))) == "{1,0}" and str(Layout()) == "{}"
    both = {k: v for text in ("D(D,C+)", "S(1)", "M(16)") for k, v in parts[text].items()}
    assert str(Layout((0,), **both)) == "{0:D(D,C+)S(1)M(16)}"  # type: ignore[arg-type]
