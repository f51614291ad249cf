"""Rules of operations at their edges: the last that is right, the first that is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.execution.program import Program
from hlotool.ir import Shape
from hlotool.ops import OPS, Freedom
from hlotool.ops.collective import declared_results, packed, scaled
from hlotool.ops.lowering import _is_wider

HEAD = """HloModule m
step { x = f32[] parameter(0)  c = f32[] parameter(1)  s = f32[] add(x, c)  ROOT t = (f32[], f32[]) tuple(s, s) }
plain { x = f32[] parameter(0)  ROOT y = f32[] negate(x) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT p = pred[] compare(a, b), direction=LT }
more { a = f32[] parameter(0)  b = f32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)
       ROOT p = pred[] compare(a, b), direction=LT }
ENTRY e { v = f32[4] parameter(0)  x = f32[] parameter(1)  n = s32[] parameter(2)
"""


def shape(text: str) -> Shape:
    return hlotool.parse(f"ENTRY e {{ ROOT x = {text} parameter(0) }}").entry.root.shape


@pytest.mark.parametrize(("instruction", "codes"), [
    ("f32[4] scan(v), dimensions={0}, to_apply=plain", []),
    ("f32[4] scan(v), dimensions={0}, num_carries=0, to_apply=plain", []),
    ("(f32[4], f32[]) scan(v, x), dimensions={0}, num_carries=1, to_apply=step", []),
    ("f32[4] scan(v), dimensions={0}, num_carries=2, to_apply=plain", ["scan-c3"]),
    ("f32[4] scan(v), dimensions={1}, to_apply=plain", ["scan-c4"]),
    ("f32[] sort(x), dimensions={0}, to_apply=less", []), ("f32[4] sort(v), dimensions={0}, to_apply=less", []),
    ("f32[4] sort(v), dimensions={1}, to_apply=less", ["sort-c3"]),
    ("f32[4] sort(v), dimensions={-1}, to_apply=less", ["sort-c3"])])
def test_the_last_that_is_right_and_the_first_that_is_wrong(instruction: str, codes: list[str]) -> None:
    found = hlotool.lint(f"{HEAD} ROOT r = {instruction} }}")
    assert [d.code for d in found if d.severity == "error"] == codes, [str(d) for d in found]


def test_scalars_are_sorted_already() -> None:
    one, two = np.float32(3), np.int32(4)
    assert OPS["sort"].evaluate(one, dimensions=(0,), to_apply=None) == one
    assert OPS["sort"].evaluate(one, two, dimensions=(0,), to_apply=None) == (one, two)
    pair = hlotool.parse(f"{HEAD} ROOT r = (f32[], s32[]) sort(x, n), dimensions={{0}}, to_apply=more }}")
    single = hlotool.parse(f"{HEAD} ROOT r = f32[] sort(x), dimensions={{0}}, to_apply=less }}")
    for module in (pair, single):
        text = str(hlotool.to_stablehlo(module))
        assert "sort" not in text
        assert [s.dims for _, s in hlotool.from_stablehlo(text).entry.root.shape.leaves()] == [
            s.dims for _, s in module.entry.root.shape.leaves()]


@pytest.mark.parametrize(("declared", "count", "results"), [
    (None, 1, None), ("f32[2]", 1, ["f32[2]"]), ("(f32[2])", 1, ["f32[2]"]),
    ("(f32[2], s32[])", 2, ["f32[2]", "s32[]"]),
    ("(f32[2], s32[])", 1, ["(f32[2], s32[])"]), ("(f32[2])", 2, ["f32[2]"]), ("f32[2]", 2, ["f32[2]"])])
def test_declared_results(declared: str | None, count: int, results: list[str] | None) -> None:
    found = declared_results(shape(declared) if declared else None, count)
    assert (None if found is None else [s.text(False) for s in found]) == results


def test_one_is_itself_and_several_are_a_tuple() -> None:
    assert packed([1]) == 1 and packed([1, 2]) == (1, 2)
    assert [Shape.one_or_tuple([shape("f32[2]")] * n).text(False) for n in (1, 2)] == ["f32[2]", "(f32[2], f32[2])"]


@pytest.mark.parametrize(("given", "size", "result"), [
    ("f32[2,3]", 6, "f32[6,3]"), ("f32[<=2,3]", 6, "f32[<=6,3]"), ("f32[?,3]", 6, "f32[6,3]")])
def test_another_size(given: str, size: int, result: str) -> None:
    assert scaled(shape(given), 0, size).text(False) == result


@pytest.mark.parametrize(("wanted", "given", "is_wider"), [
    ("f32[]", "f16[]", True), ("f16[]", "f32[]", False), ("f32[]", "f32[]", False), ("f16[]", "bf16[]", True),
    ("s32[]", "f16[]", False), ("s32[]", "s8[]", True), ("u32[]", "s8[]", False), ("f32[]", "(f16[])", False),
    ("(f32[])", "f16[]", False), ("c64[]", "f32[]", False), ("c128[]", "c64[]", True)])
def test_which_type_is_a_wider_one(wanted: str, given: str, is_wider: bool) -> None:
    assert _is_wider(shape(wanted), shape(given)) is is_wider


def test_exact_operations_are_those_that_round_nothing() -> None:
    """What they give of numbers that a narrow type holds, it holds."""
    numbers = np.array([-2.5, -1.0, -0.75, 0.0, 0.25, 0.5, 1.5, 2.0], np.float32)
    exact = {"ceil", "copy", "floor", "negate", "round-nearest-afz", "round-nearest-even", "sign"}
    own = {name for name, record in OPS.items()
           if record.freedom is Freedom.EXACT and "elementwise" in record.flags and len(record.operands) == 1}
    assert exact <= own
    for name in own:
        text = f"ENTRY e {{ x = f32[8] parameter(0)  ROOT r = f32[8] {name}(x) }}"
        if [d for d in hlotool.verify(hlotool.parse(text)) if d.severity == "error"]:
            continue
        (found,) = hlotool.execute(hlotool.parse(text), [numbers], executor="reference")
        assert (found.astype(np.float16).astype(np.float32) == found).all(), name
    for name in ("tanh", "sqrt", "exponential", "add", "multiply", "divide"):
        assert OPS[name].freedom is not Freedom.EXACT, name


@pytest.mark.parametrize("opcode", [
    "cbrt", "cosine", "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "rsqrt", "sine",
    "sqrt", "tan", "tanh"])
def test_an_accuracy_may_be_asked_of_what_rounds(opcode: str) -> None:
    for accuracy in ("mode=highest", "tolerance={atol=0,rtol=0,ulps=2}"):
        text = f"ENTRY e {{ x = f32[2] parameter(0)  ROOT r = f32[2] {opcode}(x), result_accuracy={{{accuracy}}} }}"
        module = hlotool.parse(text)
        assert hlotool.verify(module) == []
        assert f"result_accuracy={{{accuracy}}}" in str(module)
        lifted = hlotool.to_stablehlo(module)
        assert "#stablehlo.result_accuracy<" in str(lifted)  # in its own place, and not among what StableHLO lacks
        assert f"result_accuracy={{{accuracy}}}" in str(hlotool.from_stablehlo(lifted))


@pytest.mark.parametrize(("attributes", "shapes", "flops"), [
    # every row of lhs meets its group's matrix
    ("lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
     ("f32[8,4]", "f32[2,4,6]", "f32[8,6]"), 2 * 8 * 4 * 6),
    # each term of the sum belongs to one of the two groups
    ("lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}",
     ("f32[8,4]", "f32[4,6]", "f32[2,8,6]"), 2 * 8 * 4 * 6)])
def test_what_a_ragged_dot_costs(attributes: str, shapes: tuple[str, str, str], flops: int) -> None:
    lhs, rhs, result = shapes
    module = hlotool.parse(f"ENTRY e {{ a = {lhs} parameter(0)  b = {rhs} parameter(1)  g = s32[2] parameter(2)\n"
                           f"ROOT r = {result} ragged-dot(a, b, g), {attributes} }}")
    assert not [d for d in hlotool.verify(module) if d.severity == "error"]
    assert hlotool.module_cost(module).total.flops == flops


@pytest.mark.parametrize(("instruction", "devices"), [
    ("f32[8] all-gather(v), dimensions={0}", 2), ("f32[4] all-gather(v), dimensions={0}", 1),
    ("f32[12] all-gather(v), dimensions={0}", 3), ("f32[1] reduce-scatter(v), dimensions={0}, to_apply=sum", 4),
    ("f32[4] all-reduce(v), to_apply=sum", 1), ("f32[4] all-reduce(v), to_apply=sum, replica_groups={{0,1,2,3,4}}", 5),
    ("f32[4] collective-permute(v), source_target_pairs={{0,6}}", 7),
    ("(f32[4], f32[16]) all-gather-start(v), dimensions={0}", 4)])
def test_how_many_devices_collectives_need(instruction: str, devices: int) -> None:
    end = "" if "start" not in instruction else "  ROOT d = f32[16] all-gather-done(r)"
    module = hlotool.parse(f"{HEAD.partition('ENTRY')[0]}sum {{ a = f32[] parameter(0)  b = f32[] parameter(1)  "
                           f"ROOT s = f32[] add(a, b) }}\nENTRY e {{ v = f32[4] parameter(0)\n"
                           f"{'' if end else 'ROOT '}r = {instruction}\n{end} }}")
    assert Program(module).devices == devices


@pytest.mark.parametrize(("kernel", "labels", "dimension", "codes"), [
    ("1,2", "oi", 1, []), ("2,1", "io", 0, []), ("1,3", "oi", 1, ["convolution-c11"]),
    ("1,2", "oi", 0, ["convolution-c11"])])
def test_a_sparse_kernel_takes_as_many_features_as_it_stands_for(kernel: str, labels: str, dimension: int,
                                                                 codes: list[str]) -> None:
    module = hlotool.parse(
        f"ENTRY e {{ x = f32[1,8] parameter(0)  k = f32[{kernel}] parameter(1)  i = u8[{kernel}] parameter(2)  "
        f"ROOT c = f32[1,1] convolution(x, k, i), dim_labels=bf_{labels}->bf, "
        f"sparsity_config={{rhs={{sparsity=1x4 dimension={dimension} stride=1 idx=2}}}} }}")
    assert [d.code for d in hlotool.verify(module)] == codes
