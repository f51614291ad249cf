"""`ops[...].infer` with dimensions that are bounded (`<=n`) or unbounded (`?`).

The instructions of samples/ops are inferred again with dimensions of their operands made dynamic; what must hold of
the results needs no table: known sizes are those of the static result, and what changes when the dimension grows is
dynamic. Rows of expected shapes, from XLA's own rules, follow.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import pytest
from cases import load_ops

import hlotool
from hlotool.diagnostics import HloError
from hlotool.ir import UNBOUNDED, HloInstruction, Shape
from hlotool.ops import OPS, ConstraintError

#: a dimension: operand, index of the leaf in its tuple, dimension of the leaf
Place = tuple[int, tuple[int, ...], int]
BOUNDED, UNBOUND, GROWN = "bounded", "unbounded", "grown"


@functools.cache
def samples() -> dict[str, list[HloInstruction]]:
    """The instructions of the good samples that have operands, by opcode."""
    found: dict[str, list[HloInstruction]] = defaultdict(list)
    for case in load_ops():
        if not case.is_bad:
            for instruction in hlotool.parse(case.text).instructions():
                if instruction.operands:
                    found[instruction.opcode].append(instruction)
    return found


def places(shapes: list[Shape]) -> list[Place]:
    return [(i, index, d) for i, shape in enumerate(shapes) for index, leaf in shape.leaves() if leaf.is_array
            for d in range(leaf.rank)]


def groups(shapes: list[Shape]) -> list[list[Place]]:
    """Each dimension, all dimensions of one size, and all there are."""
    every, by_size = places(shapes), defaultdict(list)
    for i, index, d in every:
        leaf = shapes[i].at(index)
        assert leaf is not None
        by_size[leaf.dims[d]].append((i, index, d))
    found = [[p] for p in every] + list(by_size.values()) + [every]
    return [group for n, group in enumerate(found) if group and group not in found[:n]]


def changed(shapes: list[Shape], group: list[Place], how: str) -> list[Shape]:
    found = list(shapes)
    for i, index, d in group:
        found[i] = _changed(found[i], index, d, how)
    return found


def _changed(shape: Shape, index: tuple[int, ...], d: int, how: str) -> Shape:
    if index:
        members = list(shape.elements)
        members[index[0]] = _changed(members[index[0]], index[1:], d, how)
        return Shape.tuple(*members)
    dims, flags = list(shape.dims), [shape.is_dynamic_dim(i) for i in range(shape.rank)]
    dims[d] = {BOUNDED: dims[d], UNBOUND: UNBOUNDED, GROWN: dims[d] + 1}[how]
    flags[d] = how != GROWN
    return replace(shape, dims=tuple(dims), dynamic=tuple(flags) if any(flags) else ())


def infer(instruction: HloInstruction, shapes: list[Shape], declared: Shape | None) -> Shape | None:
    """The inferred shape, or None for an error, which is a labelled ConstraintError: others pass through."""
    record = OPS[instruction.opcode]
    try:
        return record.infer(*shapes, declared=declared, **record.attributes_of(instruction))
    except ConstraintError as error:
        assert error.label.startswith(f"{instruction.opcode}-") and error.message
        return None


def dims_of(shape: Shape) -> list[tuple[int, bool, bool]]:
    """(size, whether it is dynamic, whether it has a bound) of every dimension."""
    return [(n, leaf.is_dynamic_dim(d), leaf.is_bounded_dim(d)) for _, leaf in shape.leaves() if leaf.is_array
            for d, n in enumerate(leaf.dims)]


def cases(opcode: str) -> Iterator[tuple[HloInstruction, list[Shape], Shape | None, Shape]]:
    """Instructions of the opcode with operand shapes and what is inferred of them, nothing or the result declared."""
    for instruction in samples()[opcode]:
        shapes = [o.shape for o in instruction.operands]
        for declared in (None, instruction.shape):
            static = infer(instruction, shapes, declared)
            if static is not None:
                yield instruction, shapes, declared, static


WITH_OPERANDS = [opcode for opcode, record in OPS.items() if record.operands]


@pytest.mark.parametrize("opcode", WITH_OPERANDS)
def test_dynamic_operands(opcode: str) -> None:
    tried = 0
    for instruction, shapes, declared, static in cases(opcode):
        tried += 1
        for group in groups(shapes):
            for how in (BOUNDED, UNBOUND):
                given = changed(shapes, group, how)
                found = infer(instruction, given, declared)
                if found is not None:
                    where = f"{opcode} of {', '.join(map(str, given))} gives {found}, of static ones {static}"
                    check_sizes(static, found, how, where)
                    check_dependence(instruction, changed(shapes, group, GROWN), static, found, declared, where)
    assert tried


def check_sizes(static: Shape, found: Shape, how: str, where: str) -> None:
    """Sizes that are known are those of the static result; a bound comes from a bound."""
    before, after = dims_of(static), dims_of(found)
    assert [s.element_type for _, s in static.leaves()] == [s.element_type for _, s in found.leaves()], where
    assert len(before) == len(after), where
    for (old, _, was_bounded), (size, is_dynamic, is_bounded) in zip(before, after, strict=True):
        assert size == old or (size == UNBOUNDED and how == UNBOUND), where
        assert is_dynamic or size != UNBOUNDED, f"{where}: an unbounded dimension is not marked dynamic"
        assert not is_bounded or was_bounded or how == BOUNDED, f"{where}: a bound from nowhere"


def check_dependence(instruction: HloInstruction, grown: list[Shape], static: Shape, found: Shape,
                     declared: Shape | None, where: str) -> None:
    """A size that grows with the operands' is dynamic where they are."""
    longer = infer(instruction, grown, None) if declared is None else None
    if longer is not None:
        for (old, *_), (new, *_), (_, is_dynamic, _) in zip(*map(dims_of, (static, longer, found)), strict=True):
            assert old == new or is_dynamic, where


def test_most_operations_are_tried_by_growing() -> None:
    """The check of dependence says something: most operations have a sample that can grow."""
    def grows(opcode: str) -> bool:
        return any(declared is None and infer(i, changed(shapes, group, GROWN), None) is not None
                   for i, shapes, declared, _ in cases(opcode) for group in groups(shapes))
    assert sum(map(grows, WITH_OPERANDS)) > 90


_FOLD = "a { i = f32[] parameter(0) j = f32[] parameter(1) ROOT k = f32[] add(i, j) }"
_LESS = "lt { i = f32[] parameter(0) j = f32[] parameter(1) ROOT k = pred[] compare(i, j), direction=LT }"
_STEP = "step { i = f32[] parameter(0) j = f32[] parameter(1) k = f32[] add(i, j) ROOT t = (f32[], f32[]) tuple(k, k) }"
_FILTER = "window={size=2x2}, dim_labels=b01f_01io->b01f"
#: parameters | operation | its shape, or the label of the constraint that it breaks. Sources: XLA, shape_inference.cc
#: (InferMostSpecificDimAndBound, InferDegenerateDimensionBroadcastShape, InferConcatOpShape, InferSliceShape,
#: InferPadShape, GenerateDotResultDimensions, InferAllToAllShape, InferAllToAllTupleShape); the operations' records of
#: rules
ROWS = f"""
f32[?,10] f32[?,<=10] | add(p0, p1) | f32[?,<=10]
f32[?,?] f32[<=3,5] | add(p0, p1) | f32[<=3,5]
f32[<=4] f32[4] | add(p0, p1) | f32[<=4]
f32[?,1] f32[1,?] | add(p0, p1) | f32[?,?]
f32[?] f32[<=1] | compare(p0, p1), direction=LT | pred[?]
f32[<=2] f32[<=3] | add(p0, p1) | add-c3
f32[?] f32[<=3] | compare(p0, p1), direction=LT | pred[<=3]
f32[?] f32[3] | complex(p0, p1) | c64[3]
pred[2,?] f32[?,<=3] f32[2,?] | select(p0, p1, p2) | f32[2,<=3]
f32[] f32[?,<=3] | clamp(p0, p1, p0) | f32[?,<=3]
f32[2,?] f32[?,3] | concatenate(p0, p1), dimensions={{0}} | f32[?,3]
f32[<=2,3] f32[2,<=3] | concatenate(p0, p1), dimensions={{0}} | f32[<=4,<=3]
f32[<=2,3] f32[?,3] | concatenate(p0, p1), dimensions={{0}} | f32[?,3]
f32[2,<=3] f32[2,<=4] | concatenate(p0, p1), dimensions={{0}} | concatenate-c2
f32[?,<=10,<=5] | slice(p0), slice={{[1:3],[2:6],[4:5]}} | f32[2,<=4,1]
f32[?,<=4,<=4] s32[] | dynamic-slice(p0, p1, p1, p1), dynamic_slice_sizes={{2,4,3}} | f32[2,<=4,3]
f32[?,<=4] f32[2,4] s32[] | dynamic-update-slice(p0, p1, p2, p2) | f32[?,<=4]
f32[?,<=5,10] f32[] | pad(p0, p1), padding=1_1x1_1x2_2_1 | f32[?,<=7,23]
f32[?,<=3,2] | transpose(p0), dimensions={{1,2,0}} | f32[<=3,2,?]
f32[?,<=4,2] | reverse(p0), dimensions={{0,1}} | f32[?,<=4,2]
f32[?,<=3] f32[] | reduce(p0, p1), dimensions={{1}}, to_apply=a | f32[?]
f32[?,<=4,8] f32[] | reduce-window(p0, p1), window={{size=1x2x1}}, to_apply=a | f32[?,<=3,8]
f32[?,<=4] | map(p0, p0), dimensions={{0,1}}, to_apply=a | f32[?,<=4]
f32[?,<=2,?] f32[?,4,5] | dot(p0, p1), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, \
rhs_contracting_dims={{1}} | f32[?,<=2,5]
f32[<=8,10] f32[?,10,4] | dot(p0, p1), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{1}}, \
rhs_contracting_dims={{1}} | f32[<=8,4]
f32[?,3] f32[4,?] | dot(p0, p1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} | dot-c5
f32[?,5,<=6,1] f32[2,2,1,3] | convolution(p0, p1), {_FILTER} | f32[?,4,<=5,3]
f32[1,5,6,1] f32[2,2,1,<=3] | convolution(p0, p1), {_FILTER} | convolution-c15
f32[?,?] | cholesky(p0) | f32[?,?]
f32[3,?] f32[?,<=2] | triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=NO_TRANSPOSE | f32[?,<=2]
c64[?,<=4] | fft(p0), fft_type=FFT, fft_length={{4}} | c64[?,<=4]
f32[?,?] | fft(p0), fft_type=RFFT, fft_length={{4}} | c64[?,3]
c64[<=2,3] | fft(p0), fft_type=IRFFT, fft_length={{4}} | f32[<=2,4]
f32[?,<=4] | sort(p0), dimensions={{0}}, to_apply=lt | f32[?,<=4]
f32[?,10] | topk(p0), k=2, largest=true | (f32[?,2], s32[?,2])
f32[?,4,2] s32[<=5,2] | gather(p0, p1), offset_dims={{1,2}}, collapsed_slice_dims={{0}}, start_index_map={{0,1}}, \
index_vector_dim=1, slice_sizes={{1,4,2}} | f32[<=5,4,2]
f32[?,7] f32[7] | batch-norm-training(p0, p1, p1), epsilon=0.1, feature_index=1 | (f32[?,7], f32[7], f32[7])
f32[5,3] s32[] | set-dimension-size(p0, p1), dimensions={{0}} | f32[<=5,3]
f32[?,5] | get-dimension-size(p0), dimensions={{0}} | s32[]
f32[?,<=4] | all-gather(p0), dimensions={{1}}, replica_groups={{{{0,1}}}} | f32[?,<=8]
f32[?,<=4] | reduce-scatter(p0), dimensions={{1}}, replica_groups={{{{0,1}}}}, to_apply=a | f32[?,<=2]
f32[?,10] | all-to-all(p0), dimensions={{1}}, replica_groups={{{{0,1}}}} | f32[?,10]
f32[<=4,10] | all-to-all(p0), dimensions={{1}}, replica_groups={{{{0,1}}}} | all-to-all-c5
f32[?] | all-to-all(p0, p0), replica_groups={{{{0,1}}}} | all-to-all-c4
f32[?,<=4] | all-reduce(p0), to_apply=a | f32[?,<=4]
f32[<=4,?] | copy-start(p0) | (f32[<=4,?], f32[<=4,?], u32[])
f32[1,?] f32[1,2] | scaled-dot(p0, p0, p1, p1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}} | f32[1,1]
f32[1,3] f32[3,1] s32[<=2] | ragged-dot(p0, p1, p2), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, \
lhs_ragged_dims={{1}} | f32[<=2,1,1]
f32[2,1,3] f32[2,3,1] s32[2,<=4] | ragged-dot(p0, p1, p2), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, \
lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}, lhs_ragged_dims={{2}} | f32[<=4,2,1,1]
f32[<=4] f32[] | scan(p0, p1), dimensions={{0}}, num_carries=1, to_apply=step | (f32[<=4], f32[])
f32[?] f32[] | scan(p0, p1), dimensions={{0}}, num_carries=1, to_apply=step | (f32[?], f32[])
"""


@pytest.mark.parametrize("row", [r for r in ROWS.splitlines() if r])
def test_rule(row: str) -> None:
    shapes, operation, expected = row.split(" | ")
    parameters = "".join(f" p{n} = {shape} parameter({n})" for n, shape in enumerate(shapes.split()))
    text = f"{_FOLD} {_LESS} {_STEP} ENTRY e {{{parameters} ROOT r = {operation} }}"
    try:
        found = hlotool.parse(text).entry.root.shape.text(layout=False)
    except HloError as error:
        found = error.diagnostics[0].code
    assert found == expected


@pytest.mark.parametrize(("features", "taken", "groups", "fits"), [
    ("?", "?", 1, True), ("?", "?", 2, False), ("4", "?", 1, False), ("?", "4", 1, False), ("6", "2", 3, True),
    ("6", "2", 2, False)])
def test_features_of_a_convolution_without_bounds(features: str, taken: str, groups: int, fits: bool) -> None:
    """XLA compares them as they are written."""
    module = hlotool.parse(
        f"ENTRY e {{ x = f32[1,8,{features}] parameter(0)  k = f32[1,{taken},6] parameter(1)  ROOT c = f32[1,8,6] "
        f"convolution(x, k), window={{size=1}}, dim_labels=b0f_0io->b0f, feature_group_count={groups} }}")
    assert [d.code for d in hlotool.verify(module)] == ([] if fits else ["convolution-c11"])
