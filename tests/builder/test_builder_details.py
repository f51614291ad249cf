"""What XLA's builder does beside its functions' values: broadcasts, contexts, other builders' values, types."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.builder import DotDimensionNumbers, GatherDimensionNumbers, XlaBuilder
from hlotool.builder.reduction import computation_before_start
from hlotool.execution import Program, run_program
from hlotool.ir import Shape


def refused(code: str) -> Any:
    return pytest.raises(hlotool.HloError, match=rf"\[{code}\]")


def test_clamp_broadcasts_a_scalar_operand() -> None:
    b = XlaBuilder()
    low, high = b.Constant([1.0, 2.0]), b.Constant([3.0, 4.0])
    for executor in ("reference", "pjrt:cpu"):
        assert hlotool.execute(b.build(b.Clamp(low, 1.5, high)), [], executor)[0].tolist() == [1.5, 2.0]


def test_a_bounded_one_becomes_a_scalar() -> None:
    b = XlaBuilder()
    assert str(b.Reshape(b.Parameter(0, "f32[<=1]"), []).shape) == "f32[]"


def test_and_and_or_of_several() -> None:
    b = XlaBuilder()
    p, q, r = (b.Constant(np.array(v)) for v in ([True, True, False], [True, False, True], [True, True, True]))
    module = b.build([b.And(p, q, r), b.Or(p, q, b.Not(r)), b.And(p, b.Constant(np.ones((2, 3), bool)), [1])])
    first, second, third = hlotool.execute(module, [], "pjrt:cpu")
    assert first.tolist() == [True, False, False] and second.all() and third.tolist() == [[True, True, False]] * 2


def test_frontend_attributes_merge_and_leave_composites_alone() -> None:
    b = XlaBuilder(metadata=False)
    x = b.Parameter(0, "f32[2]")
    with b.computation("decomposition") as computation:
        b.Neg(b.Parameter(0, "f32[2]"))
    with b.frontend_attributes(outer="1", shared="a"):
        plain = b.Add(x, x, frontend_attributes={"inner": "2", "shared": "b"})
        called = b.CompositeCall(computation, x, name="my.negate", frontend_attributes={"composite.name": "other"})
    text = str(b.build([plain, called]))
    assert 'frontend_attributes={outer="1",shared="b",inner="2"}' in text
    assert 'composite.name="my.negate"' in text and "other" not in text


def test_a_sharding_that_does_not_fit_is_refused() -> None:
    b = XlaBuilder()
    x, v = b.Parameter(0, "f32[4,4]"), b.Parameter(1, "f32[4]")
    b.SetSharding("{devices=[2,1]<=[2]}")
    assert "sharding" in b.Add(x, 1.0).instruction.attributes  # the constant inside has none
    with refused("B007"):
        b.Add(v, 1.0)
    b.ClearSharding()
    b.Add(v, 1.0)


@pytest.mark.parametrize("name", ["Lgamma", "Digamma", "IsNan", "IsInf", "IsPosInf", "IsNegInf", "IsNegZero", "Erfc",
                                  "ErfInv"])
@pytest.mark.parametrize("shape", ["s32[2]", "c64[2]", "(f32[2])"])
def test_functions_of_floats_refuse_other_types(name: str, shape: str) -> None:
    b = XlaBuilder()
    with refused("B001"):
        b.apply_named(name, [b.Parameter(0, shape)])


#: uses of a value y of another builder
FOREIGN: list[Callable[[XlaBuilder, Any, Any], Any]] = [
    lambda b, x, y: b.Add(x, y), lambda b, x, y: b.Tuple([x, y]), lambda b, x, y: b.build([x, y]),
    lambda b, x, y: b.build(y), lambda b, x, y: b.root(y), lambda b, x, y: b.Call(lambda a: a + y, x),
    lambda b, x, y: b.Reduce(x, y, b.Add), lambda b, x, y: b.GetTupleElement(y, 0),
    lambda b, x, y: b.Add(x, x, control_predecessors=[y]), lambda b, x, y: b.hlo.add(x, y),
    lambda b, x, y: b.ForEachIndex(3, lambda i, a: [a + y], [x]), lambda b, x, y: b.Sort([x, y])]


@pytest.mark.parametrize("use", FOREIGN)
def test_a_value_of_another_builder_is_a_diagnostic(use: Callable[[XlaBuilder, Any, Any], Any]) -> None:
    b, other = XlaBuilder("here"), XlaBuilder("there")
    x, y = b.Parameter(0, "f32[2]"), other.Parameter(0, "f32[2]")
    with refused("B002"):
        use(b, x, y)


def test_what_is_constant() -> None:
    """XLA's IsConstant: nothing that is known only when the program runs is behind it."""
    b = XlaBuilder()
    p = b.Parameter(0, "f32[3]")
    assert b.IsConstant(b.Reduce(b.Constant([1.0, 2.0]), 0.0, b.Add, [0]) + 1.0) and b.IsConstant(b.Iota("s32[4]", 0))
    assert b.IsConstant(b.GetDimensionSize(p, 0))
    for value in (p, p * 0.0, b.RngUniform(0.0, 1.0, "f32[2]"), b.Infeed("f32[2]"), b.ReplicaId(),
                  b.GetDimensionSize(b.SetDimensionSize(p, b.Parameter(1, "s32[]"), 0), 0)):
        assert not b.IsConstant(value)


def test_transfers_keep_the_order_of_their_calls() -> None:
    b = XlaBuilder()
    first = b.Infeed("f32[2]")
    b.Outfeed(first)
    b.Send(first, 1)
    second = b.Recv("f32[2]", 2)
    module = b.build([first, second, b.Infeed("f32[2]")])
    chain = [i for i in module.entry.instructions if i.opcode in ("infeed", "outfeed", "send", "recv")]
    assert [i.opcode for i in module.entry.instructions].count("after-all") == 1
    for before, after in itertools.pairwise(chain):
        reached, stack = set(), [after]
        while stack:
            one = stack.pop()
            reached.add(one)
            stack += one.operands
        assert before in reached, (before.name, after.name)


def test_replicas_in_no_group_get_zeros() -> None:
    """Ids need not be contiguous; the first of a group is its root, unless one is computed."""
    b = XlaBuilder()
    b.set_module_attribute("replica_count", 4)
    x, root = b.Parameter(0, "f32[1]"), b.Parameter(1, "s32[]")
    module = b.build([b.CollectiveBroadcast(x, [[3, 1]]), b.CollectiveBroadcast(x, [[3, 1]], root=root)])
    assert hlotool.verify(module) == [] and str(hlotool.parse(str(module))) == str(module)
    given = [[np.array([r + 1], np.float32), np.int32(1)] for r in range(4)]
    found = run_program(Program(module), given, "reference")
    assert [[float(a[0]) for a in row] for row in found] == [[0, 0], [4, 2], [0, 0], [4, 2]]
    with refused("V220"):
        c = XlaBuilder()
        c.set_module_attribute("replica_count", 2)
        c.build(c.CollectiveBroadcast(c.Parameter(0, "f32[1]"), [[3, 1]]))
    with refused("collective-broadcast-c2"):
        b.hlo.collective_broadcast(x, x, has_dynamic_root=True, replica_groups=[])


@pytest.mark.parametrize("size, strides, dilation, result", [(5, [2], [3], 7), (5, [2], [2], 5), (1, [1], [4], 1),
                                                             (0, [1], [2], 0), (4, [3], None, 2)])
def test_same_padding_is_counted_on_the_dilated_operand(size: int, strides: list[int], dilation: list[int] | None,
                                                        result: int) -> None:
    """The result of SAME has the dilated size (n-1)*d+1 over the stride, rounded up."""
    b = XlaBuilder()
    lhs, rhs = b.Parameter(0, f"f32[1,1,{size}]", "lhs"), b.Parameter(1, "f32[1,1,3]", "rhs")
    made = b.ConvGeneralDilated(lhs, rhs, strides, "SAME", dilation)
    assert made.shape.dims == (1, 1, result)


@pytest.mark.parametrize("starts", list(itertools.product([0, 1, 2, 5], [0, 2, 3, 7])))
def test_indices_of_the_chinese_document_wrap(starts: tuple[int, int]) -> None:
    """Of slices and updates: an index past the end counts from the beginning, in every dimension."""
    whole = np.arange(12, dtype=np.float32).reshape(3, 4)
    new = np.array([[100, 101, 102], [103, 104, 105]], np.float32)
    b = XlaBuilder(semantics="2017-zh")
    x, start = b.Constant(whole), b.Constant(np.array(starts, np.int32))
    module = b.build([b.DynamicSlice(x, start, [2, 3]), b.DynamicUpdateSlice(x, b.Constant(new), start)])
    places = np.ix_([(starts[0] + n) % 3 for n in range(2)], [(starts[1] + n) % 4 for n in range(3)])
    changed = whole.copy()
    changed[places] = new
    found = hlotool.execute(module, [], "reference")
    assert found[0].tolist() == whole[places].tolist() and found[1].tolist() == changed.tolist()


def test_everything_said_of_a_convolution_is_kept() -> None:
    """Roles of the dimensions in another order than usual, groups, strides, dilations: each in its place."""
    b = XlaBuilder()
    numbers = "01bf_o0i1->0bf1"
    lhs, rhs = b.Parameter(0, "f32[9,7,2,6]"), b.Parameter(1, "f32[4,3,3,5]")
    made = b.ConvGeneralDilated(lhs, rhs, [2, 1], [(1, 2), (3, 4)], [2, 1], [1, 2], numbers, 2, 1,
                                ["highest", "default"])
    text = str(b.build(made))
    for part in ("window={size=3x5 stride=2x1 pad=1_2x3_4 lhs_dilate=2x1 rhs_dilate=1x2}", "dim_labels=01bf_o0i1->0bf1",
                 "feature_group_count=2", "operand_precision={highest,default}"):
        assert part in text, text
    assert "batch_group_count" not in text
    # ((9-1)*2+1 + 3 - 3)//2 + 1 along the first dimension, 7 + 7 - ((5-1)*2+1) + 1 along the second
    assert made.shape.dims == (9, 2, 4, 6)
    same = b.ConvGeneralDilated(lhs, b.Parameter(2, "f32[4,3,6,5]"), [2, 3], "SAME", None, None, numbers)
    assert same.shape.dims == (5, 2, 4, 3)
    grouped = b.ConvGeneralDilated(lhs, b.Parameter(3, "f32[4,3,6,5]"), dimension_numbers=numbers, batch_group_count=2)
    assert "batch_group_count=2" in str(b.build(grouped)) and grouped.shape.dims == (7, 1, 4, 3)
    empty = b.ConvGeneralDilated(b.Parameter(4, "f32[0,7,2,6]"), b.Parameter(5, "f32[4,3,6,5]"), [1, 1], "SAME", [2, 2],
                                 None, numbers)
    assert empty.shape.dims[0] == 0
    for left, right in (("f32[9,7,2]", "f32[4,3,6,5]"), ("f32[9,7,2,6]", "f32[4,3,6]")):
        c = XlaBuilder()
        with pytest.raises(hlotool.HloError, match="01bf_o0i1->0bf1"):
            c.ConvGeneralDilated(c.Parameter(0, left), c.Parameter(1, right), dimension_numbers=numbers)
    with pytest.raises(hlotool.HloError, match="1 entry, the window 2"):
        b.ConvGeneralDilated(lhs, rhs, [2], "SAME", None, None, numbers)


def test_records_are_filled_as_the_documents_examples_fill_them() -> None:
    """`DotDimensionNumbers dnums; dnums.add_lhs_contracting_dimensions(2); ...`, and so the other records."""
    b, dnums = XlaBuilder(), DotDimensionNumbers()
    dnums.add_lhs_contracting_dimensions(2)
    dnums.add_rhs_contracting_dimensions(1)
    dnums.add_lhs_batch_dimensions(0)
    dnums.add_rhs_batch_dimensions(0)
    lhs = [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]
    module = b.build(b.DotGeneral(b.Constant(lhs), b.Constant([[[1.0, 0.0], [0.0, 1.0]]] * 2), dnums))
    assert hlotool.execute(module, [], executor="reference")[0].tolist() == lhs
    gathered = GatherDimensionNumbers()
    gathered.add_offset_dims(1)
    gathered.add_collapsed_slice_dims(0)
    gathered.add_start_index_map(0)
    gathered.set_index_vector_dim(1)
    assert b.Gather(b.Parameter(0, "f32[5,3]"), b.Constant([[4], [0]]), gathered, [1, 3]).shape.dims == (2, 3)
    for name in ("add_index_vector_dim", "set_offset_dims", "add_sizes", "offset"):
        with pytest.raises(AttributeError, match=f"GatherDimensionNumbers has no {name}"):
            getattr(gathered, name)


@pytest.mark.parametrize(("name", "kept"), [("token", "token_"), ("f32", "f32_"), ("opaque", "opaque_"),
                                            ("a b", "a_b"), ("α", "_"), ("1st", "_st"), ("tuple", "tuple")])
def test_names_are_made_as_text_can_hold_them(name: str, kept: str) -> None:
    """XLA's name uniquer: what is no name loses its characters, what would be read as a type gets an underscore."""
    def added(x: Any, y: Any) -> Any:
        return x + y

    added.__name__ = name
    b = XlaBuilder("m")
    value = b.Parameter(0, "f32[2]", name)
    module = b.build([value, b.Reduce(value, np.float32(0), added, [0])])
    assert module.entry.instructions[0].name == kept and module.computations[0].name == kept
    assert str(hlotool.parse(str(module))) == str(module)


def test_the_window_arguments_of_older_and_newer_documents() -> None:
    def most(a, b):
        return b

    assert computation_before_start(["x", most, "init", [2], [1], "VALID"]) == ["x", "init", most, [2], [1], "VALID"]
    assert computation_before_start(["x", "init", most, [2], [1], "VALID"]) == ["x", "init", most, [2], [1], "VALID"]
    assert computation_before_start(["x", "y", "i", "j", most, [2]]) == [["x", "y"], ["i", "j"], most, [2]]
    dilated = ["x", "init", most, [2], [1], [3], [4], "VALID"]
    assert computation_before_start(dilated) == [*dilated[:5], "VALID", [3], [4]]


@pytest.mark.parametrize(("given", "wanted"), [({}, "0"), ({"version": 3}, "3"), ({"version": 0}, "0")])
def test_a_composite_has_version_zero_unless_told_otherwise(given: dict[str, int], wanted: str) -> None:
    b = XlaBuilder("m")
    x = b.Parameter(0, Shape.array("f32", ()), "x")
    b.CompositeCall(lambda y: y + y, x, name="my.twice", **given)
    [call] = [i for i in b.Build().entry.instructions if i.opcode == "call"]
    assert call.attributes["frontend_attributes"].get("composite.version") == wanted
