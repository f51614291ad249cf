"""What XLA's builder does beside its functions' values: broadcasts, contexts, other builders' values, types."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.builder import XlaBuilder
from hlotool.execution import Program, run_program


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
