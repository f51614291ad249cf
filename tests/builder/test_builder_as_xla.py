"""What the builder gives for calls that XLA's own builder and shape inference are tested with, or that both refuse.

A row is the wanted shape ("" where the call is refused), the shapes of the parameters p0, p1, ... and the call.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest

from hlotool.builder import FUNCTIONS, XlaBuilder, XlaOp
from hlotool.diagnostics import HloError

_TWO = "f32[5,3] s32[5,3]"
_MATRIX = '{"lhs_contracting_dimensions": [1], "rhs_contracting_dimensions": [0]}'
_BATCHED = ('{"lhs_contracting_dimensions": [2], "rhs_contracting_dimensions": [1], "lhs_batch_dimensions": [0], '
            '"rhs_batch_dimensions": [0]}')
_ROWS: list[tuple[str, str, str]] = [
    # Reductions of several operands: what the computation takes and gives.
    ("(f32[], s32[])", _TWO, "Reduce([p0, p1], [0.0, 0], choosing('f32[] s32[] f32[] s32[]', [0, 1]), [0, 1])"),
    *[("", _TWO, f"{call.format(f'choosing({types!r}, {chosen})')}") for types, chosen in (
        ("f32[] s32[] f32[] s32[] f32[] s32[]", [0, 1]), ("s32[] s32[] f32[] s32[]", [2, 1]),
        ("f32[] s32[] f32[] s32[]", 0), ("f32[] s32[] f32[] s32[]", [0, 1, 1]), ("s32[] s32[] s32[] s32[]", [0, 1]),
        ("f32[] f32[] f32[] f32[]", [0, 1])) for call in (
        "Reduce([p0, p1], [0.0, 0], {}, [0, 1])", "ReduceWindow([p0, p1], [0.0, 0], {}, [1, 2], [1, 1], 'VALID')")],
    ("(f32[5,2,0], s32[5,2,0])", "f32[5,3,1] s32[5,3,1]", "ReduceWindow([p0, p1], [0.0, 0], choosing("
     "'f32[] s32[] f32[] s32[]', [0, 1]), [1, 2, 4], [1, 1, 1], 'VALID')"),
    ("", "f32[5,3]", "Reduce(p0, 0.0, Add, [3, 4])"),
    ("", "f32[5,3]", "Reduce(p0, 0.0, choosing('f32[] f32[] f32[]', 0), [0])"),
    ("", "f32[5,3]", "Reduce(p0, 0.0, Ge, [0])"),
    # Bounded sizes.
    ("f32[1,<=64]", "f32[<=128,<=64]", "Slice(p0, [32, 0], [33, 64], [1, 1])"),
    ("f32[<=1]", "f32[1,<=1]", "Reshape(p0, [1])"),
    ("f32[<=1,10]", "f32[<=10]", "Reshape(p0, [1, 10], inferred_dimension=0)"),
    ("f32[<=60]", "f32[6,<=10]", "Reshape(p0, [60])"),
    ("f32[2,3,<=10]", "f32[6,<=10]", "Reshape(p0, [2, 3, 10])"),
    ("f32[6,<=4,<=5,2,3]", "f32[2,3,<=4,<=5,6]", "Reshape(p0, [6, 4, 5, 2, 3])"),
    ("f32[15,<=15]", "f32[<=15]", "BroadcastInDim(p0, [15, 15], [1])"),
    ("f32[3,<=5,4]", "f32[<=5,4]", "BroadcastInDim(p0, [3, 5, 4], [1, 2])"),
    ("f32[1,2,<=3]", "f32[2,<=3]", "BroadcastInDim(p0, [1, 2, 3], [1, 2])"),
    ("f32[<=5,4]", "f32[<=5,4] f32[<=5]", "Add(p0, p1, [0])"),
    ("f32[<=10,15]", "f32[<=10] f32[1,15]", "Add(p0, p1, [0])"),
    ("f32[<=10]", "pred[<=10] f32[10]", "Select(p0, p1, p1)"),
    ("f32[4,<=5,<=6]", "f32[4,<=5,6] f32[4,5,<=6] pred[]", "Select(p2, p0, p1)"),
    ("f32[5,<=3]", "f32[<=3,5]", "Transpose(p0, [1, 0])"),
    ("f32[<=2,<=3,5]", "f32[<=2,<=3,4] f32[<=2,4,5]", f"DotGeneral(p0, p1, {_BATCHED})"),
    ("f32[<=4,3]", "f32[5,<=4,3]", "Reduce(p0, 0.0, Add, [0])"),
    ("f32[<=2,3,5]", "f32[<=2,4,8]", "ReduceWindow(p0, 0.0, Add, [1, 2, 4], [1, 1, 1], 'VALID')"),
    ("f32[<=2,4,8]", "f32[<=2,4,8] f32[<=2,2,2]",
     "SelectAndScatter(p0, Ge, [1, 2, 4], [1, 2, 4], 'VALID', p1, 0.0, Add)"),
    ("c64[5,<=10]", "c64[5,<=10]", "Fft(p0, 'FFT', [5, 10])"),
    ("c128[10,<=3]", "f64[10,<=5]", "Fft(p0, 'RFFT', [5])"),
    ("f64[10,<=5]", "c128[10,<=3]", "Fft(p0, 'IRFFT', [5])"),
    ("s32[]", "f32[5,<=7]", "GetDimensionSize(p0, 1)"),
    ("f32[10,10]", "f32[10,10] s32[] s32[]", "RemoveDynamicDimension(RemoveDynamicDimension(SetDimensionSize("
     "SetDimensionSize(p0, p1, 0), p2, 1), 0), 1)"),
    # Unknown sizes.
    ("f32[?,10]", "f32[?,10] f32[]", "Add(p0, p1)"),
    ("f32[?,10]", "f32[?,10] f32[1,10]", "Add(p0, p1, [0, 1])"),
    ("", "f32[?,10] f32[2]", "Add(p0, p1, [0])"),
    ("f32[?,10]", "f32[?,10]", "AllGather(p0, 0, 2, [])"),
    ("f32[?,10]", "f32[?,10]", "ReduceScatter(p0, Add, 0, 2, [])"),
    ("f32[?,15]", "f32[?,15]", "AllToAll(p0, 0, 0, 3, [])"),
    ("", "f32[?,15]", "AllToAll(p0, 0, 1, 3, [])"),  # XLA calls mhlo.dynamic_reshape, which HLO does not have
    ("", "f32[?,15]", "AllToAllTuple(p0, 0, 1, 3, [])"),
    ("f32[2,9]", "f32[6,3]", "AllToAllTuple(p0, 0, 1, 3, [[0, 1, 2]])"),
    ("(f32[2], f32[2])", "f32[2] f32[2]", "AllToAllTuple([p0, p1])"),
    ("", "f32[3,<=15]", "AllToAllTuple(p0, 0, 1, 3, [])"),
    # Sizes that stretch, and limits.
    ("f32[1,2,3]", "f32[1,2,3] f32[1,2,1]", "Add(p0, p1)"),
    ("f32[2,3,4]", "f32[2,3] f32[2,1,4]", "Add(p0, p1, [0, 1])"),
    ("f32[2,3,4]", "f32[2,1,4]", "BroadcastInDim(p0, [2, 3, 4], [0, 1, 2])"),
    ("", "f32[2,1,4]", "BroadcastInDim(p0, [-3, 3, 4], [0, 1, 2])"),
    ("f32[16,16]", "f32[128,64]", "Slice(p0, [32, 0], [64, 64], [2, 4])"),
    ("f32[3,4]", "f32[128,64]", "Slice(p0, [15, 0], [20, 13], [2, 4])"),
    ("", "f32[128,64]", "Slice(p0, [127, 0], [129, 2], [0, 1])"),
    ("(f32[3,4,2], s32[3,4,2])", "f32[3,4,5]", "TopK(p0, 2)"),
    ("", "f32[3,4,5]", "TopK(p0, 10)"),
    ("(f32[4], s32[4], u32[4])", "f32[4] s32[4] u32[4]", "Sort([p0, p1, p2])"),
    ("", "f32[4] f32[4] f32[5]", "Sort([p0, p1, p2])"),
    ("u32[2,2]", "u8[2,3] u16[3,2]", f"DotGeneral(p0, p1, {_MATRIX}, None, 'u32')"),
    ("f32[3,11,7]", "bf16[11,5] bf16[5,7] u32[3]",
     f"RaggedDot(p0, p1, p2, {{'dot_dimension_numbers': {_MATRIX}, 'lhs_ragged_dimensions': [1]}}, None, 'f32')"),
    ("f32[5,7]", "f32[5,7] s32[1]", "CollectiveBroadcast([p0, p1], [[0, 1]], has_dynamic_root=True)"),
    ("", "f32[5,7] s32[2]", "CollectiveBroadcast([p0, p1], [[0, 1]], has_dynamic_root=True)"),
    ("", "f32[5,7] s32[2,1]", "CollectiveBroadcast([p0, p1], [[0, 1]], has_dynamic_root=True)"),
    ("(f32[5,7], f32[5,7])", "f32[5,7] f32[5,7]", "MultiCollectivePermute([p0, p1], [(0, 1), (1, 2), (2, 3)])"),
    ("f32[4,64]", "f32[4,16]", "AllGather(p0, 1, 4)"),
    # Branches.
    ("f32[32]", "s32[] (f32[],f32[32])", "Conditional(p0, [lambda v: GetTupleElement(v, 1)], [p1])"),
    ("", "pred[] f32[32]", "Conditional(p0, [Neg, Neg, Neg], [p1, p1, p1])"),
    ("", "s32[] f32[32] f32[64]", "Conditional(p0, [lambda v: Reduce(v, 0.0, Add, [0]), "
     "lambda v: Slice(v, [0], [32])], [p1, p2])"),
    # Composites.
    ("f32[]", "f32[] f32[]", "CompositeCall(choosing('f32[] f32[]', 0), p0, p1, name='foo.bar')"),
    ("", "f32[] f32[]", "CompositeCall(choosing('f32[] f32[]', 0), p0, p1, name='foo.bar', attributes='')"),
]
#: dimension numbers of a scatter into f32[50,49,48,47,46]: update_window_dims, inserted_window_dims,
#: scatter_dims_to_operand_dims, index_vector_dim; the indices and the updates' sizes
_INDICES, _UPDATES = "s64[10,9,8,7,5]", "10,9,8,7,30,29,28"
_SCATTERS: list[tuple[bool, str, str, tuple[list[int], list[int], list[int], int]]] = [
    (True, "s64[]", "30,29,28,27", ([0, 1, 2, 3], [0], [0], 0)),
    (True, _INDICES, f"{_UPDATES},27,26", ([4, 5, 6, 7, 8], [], [0, 1, 2, 3, 4], 4)),
    (False, "f32[10,9,8,7,5]", _UPDATES, ([4, 5, 6], [1, 2], [0, 1, 2, 3, 4], 4)),
    (False, _INDICES, _UPDATES, ([4, 5, 6], [1, 2], [0, 1, 2, 3, 4], 10)),
    (False, _INDICES, f"{_UPDATES},50", ([4, 5, 6], [1, 2], [0, 1, 2, 3, 4], 4)),
    (False, _INDICES, f"{_UPDATES},27,26", ([4, 5, 6, 8, 7], [], [0, 1, 2, 3, 4], 4)),
    (False, _INDICES, f"{_UPDATES},27,26", ([4, 5, 6, 7, 7], [], [0, 1, 2, 3, 4], 4)),
    (False, _INDICES, f"{_UPDATES},27,26", ([4, 5, 6, 7, 9], [], [0, 1, 2, 3, 4], 4)),
    (False, _INDICES, _UPDATES, ([4, 5, 6], [2, 1], [0, 1, 2, 3, 4], 4)),
    (False, _INDICES, _UPDATES, ([4, 5, 6], [1, 1], [0, 1, 2, 3, 4], 4)),
    (False, _INDICES, _UPDATES, ([4, 5, 6], [1, 5], [0, 1, 2, 3, 4], 4)),
    (False, _INDICES, _UPDATES, ([4, 5, 6], [1, 2], [0, 1, 2, 3], 4)),
    (False, _INDICES, _UPDATES, ([4, 5, 6], [1, 2], [0, 1, 2, 3, 10], 4)),
    (False, _INDICES, _UPDATES, ([4, 5, 6], [1, 2], [0, 1, 2, 2, 3], 4)),
    (False, "s64[]", "30,29,28,27", ([0, 1, 2, 3], [], [0], 0)),
]


def _called(shapes: str, text: str) -> tuple[XlaBuilder, XlaOp]:
    """A builder with parameters of the shapes, and what a call gives."""
    b = XlaBuilder("as_xla")
    names: dict[str, Any] = {n: functools.partial(_apply, b, n) for n in FUNCTIONS}
    names |= {f"p{i}": b.Parameter(i, s) for i, s in enumerate(shapes.split(" "))}
    names["choosing"] = functools.partial(_choosing, b)
    return b, eval(text, names)


def _apply(b: XlaBuilder, function: str, /, *args: Any, **keywords: Any) -> Any:
    return getattr(b, function)(*args, **keywords)


def _choosing(b: XlaBuilder, types: str, chosen: int | list[int]) -> Any:
    """A computation that gives one of its parameters, or a tuple of some."""
    with b.computation("choosing") as found:
        rows = [b.Parameter(i, t) for i, t in enumerate(types.split())]
        b.root(b.Tuple([rows[i] for i in chosen]) if isinstance(chosen, list) else rows[chosen])
    return found


@pytest.mark.parametrize(("wanted", "shapes", "text"), _ROWS, ids=[f"{i}-{t.split('(')[0]}" for i, (_, _, t)
                                                                   in enumerate(_ROWS)])
def test_calls_give_what_xla_gives(wanted: str, shapes: str, text: str) -> None:
    if not wanted:
        with pytest.raises(HloError):
            b, value = _called(shapes, text)
            b.build(value)
        return
    b, value = _called(shapes, text)
    assert value.shape.text(False) == wanted
    b.build(value)


@pytest.mark.parametrize("kinds", [("f32",), ("f32", "bf16")], ids=",".join)
@pytest.mark.parametrize(("holds", "indices", "sizes", "numbers"), _SCATTERS)
def test_scatters_are_judged_as_xla_judges(holds: bool, indices: str, sizes: str, kinds: tuple[str, ...],
                                           numbers: tuple[list[int], list[int], list[int], int]) -> None:
    names = ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "index_vector_dim")
    count = len(kinds)
    shapes = " ".join([*(f"{k}[50,49,48,47,46]" for k in kinds), indices, *(f"{k}[{sizes}]" for k in kinds)])
    sums = ", ".join(f"v[{i}] + v[{i + count}]" for i in range(count))
    text = (f"Scatter([{', '.join(f'p{i}' for i in range(count))}], p{count}, "
            f"[{', '.join(f'p{count + 1 + i}' for i in range(count))}], "
            f"lambda *v: {sums if count == 1 else f'({sums})'}, {dict(zip(names, numbers, strict=True))})")
    if holds:
        b, value = _called(shapes, text)
        b.build(value)
        return
    with pytest.raises(HloError):
        _called(shapes, text)


def test_entry_parameters_stay_beside_a_chosen_root() -> None:
    b = XlaBuilder("chosen")
    x, y, z = (b.Parameter(i, "f32[42,123]") for i in range(3))
    b.Add(x, b.Sub(y, z))
    module = b.build(x)
    assert (module.entry.root.opcode, len(module.entry.parameters()), len(module.entry.instructions)) == (
        "parameter", 3, 5)
