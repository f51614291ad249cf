"""Verification of modules whose layouts are assigned: what keeps layouts and memories, and what backends refuse."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.diagnostics import Diagnostic
from hlotool.ir import UNBOUNDED, HloInstruction, HloModule, Shape
from hlotool.ops import flow_of, opcodes, with_flag
from hlotool.passes.codes import (
    ELEMENT_SIZE,
    HOST_RESULT,
    LAYOUT_CHANGE,
    MEMORY_SPACE,
    RENAMED,
    RESHAPE_MOVES,
    SEQUENTIAL_SCAN,
    UNBOUNDED_RESULT,
    WRONG_LAYOUT,
)
from hlotool.passes.instruction_findings import report

#: memory space numbers. Source: XLA, xla/layout.h
FAST, HOST = 1, 5
#: operations whose result may be laid out unlike their operands; all others keep the layout of every operand of the
#: result's rank. Source: XLA, LayoutAssignment::InstructionCanChangeLayout
_CHANGES = with_flag("relayouts")
#: operations that forward their operand, layout and all
_PASSES = opcodes(lambda flow: flow.forwards and flow.is_free) | {"copy-done"}


def verify_layouts(module: HloModule, profile: str) -> Iterator[Diagnostic]:
    """Report the findings of the profiles after layout assignment; at most one for an instruction."""
    fused = {c for i in module.instructions() if i.opcode == "fusion" for c in i.called_computations()}
    for computation in module.computations:
        for instruction in computation.instructions:
            if instruction.shape is None or any(o.shape is None for o in instruction.operands):
                continue
            found = next(_findings(instruction, computation in fused, profile), None)
            if found is not None:
                yield report(module, instruction, *found)


def _findings(i: HloInstruction, is_fused: bool, profile: str) -> Iterator[tuple[str, str]]:
    yield from _wrong_layout(i, is_fused)
    if i.opcode not in _CHANGES:
        yield from _changed_layout(i)
    yield from _memory(i)
    name = i.metadata.fields.get("scheduling_name") if i.metadata is not None else None
    if name and name != i.name and ".remat" not in i.name and ".clone" not in i.name:
        yield RENAMED, f"the name is {i.name}, scheduling_name is {name}"
    if i.opcode == "scan" and not i.attributes.get("is_associative"):
        yield SEQUENTIAL_SCAN, "only associative scans remain after layout assignment"
    if profile in ("cpu", "gpu"):
        yield from _backend(i, is_fused, profile)


def _wrong_layout(i: HloInstruction, is_fused: bool) -> Iterator[tuple[str, str]]:
    expected: Shape | None = None
    if i.opcode == "get-tuple-element" and i.operands:
        expected = i.operands[0].shape.at((i.attributes.get("index", -1),))
    elif i.opcode == "tuple":
        expected = Shape.tuple(*(o.shape for o in i.operands))
    elif i.opcode in _PASSES | {"dynamic-update-slice"} and i.operands:
        expected = i.operands[0].shape.elements[0] if i.opcode == "copy-done" and i.operands[0].shape.elements else (
            i.operands[0].shape)
    elif flow_of(i).enters and flow_of(i).step is None and i.called_computations():
        root = i.called_computations()[-1].root
        expected = root.shape if root is not None else None
    elif i.opcode == "copy" and i.operands and HOST in (i.shape.memory_space, i.operands[0].shape.memory_space):
        expected = i.operands[0].shape
    if expected is None or not expected.compatible(i.shape):
        return
    for (_, a), (_, b) in zip(i.shape.leaves(), expected.leaves(), strict=True):
        if a.is_array and a.minor_to_major != b.minor_to_major:
            yield WRONG_LAYOUT, f"the result is {i.shape}; {i.opcode} gives {expected} here"
            return


def _changed_layout(i: HloInstruction) -> Iterator[tuple[str, str]]:
    if not i.shape.is_array:
        return
    own = i.shape.minor_to_major
    for number, operand in enumerate(i.operands):
        shape = operand.shape
        if shape.is_array and shape.rank == i.shape.rank and shape.minor_to_major != own:
            yield LAYOUT_CHANGE, f"operand {number} is {shape}, the result is {i.shape}: {i.opcode} changes no layout"
            return


def _memory(i: HloInstruction) -> Iterator[tuple[str, str]]:
    if i.opcode not in ("dynamic-slice", "dynamic-update-slice", "bitcast") or not i.operands:
        return
    if not (i.shape.is_array and i.operands[0].shape.is_array):
        return
    before, after = i.operands[0].shape.memory_space, i.shape.memory_space
    if i.opcode == "bitcast":
        wrong = (before == HOST) != (after == HOST) and i.operands[0].opcode != "copy"
    elif i.opcode == "dynamic-slice":
        wrong = before != after and (FAST in (before, after) or after == HOST)
    else:
        wrong = before != after and (FAST in (before, after) or before == HOST)
    if wrong:
        yield MEMORY_SPACE, f"the operand is in memory space {before}, the result in {after}: {i.opcode} does not copy"


def _backend(i: HloInstruction, is_fused: bool, profile: str) -> Iterator[tuple[str, str]]:
    for _, leaf in i.shape.leaves():
        if not leaf.is_array:
            continue
        if UNBOUNDED in leaf.dims:
            yield UNBOUNDED_RESULT, f"the result is {i.shape.text(False)}; no backend compiles dimensions without bound"
        layout = leaf.layout
        if layout is not None and layout.element_size and (leaf.dtype.bits >= 8 or leaf.element_type == "pred"):
            yield ELEMENT_SIZE, f"{leaf}: an element size is for types of less than 8 bits"
        if layout is not None and layout.memory_space == HOST and profile == "cpu":
            yield HOST_RESULT, f"the result {i.shape} is in host memory, which a CPU does not have apart"
    if profile == "gpu" and i.opcode == "reshape" and not is_fused and i.operands and not _is_view(
            i.operands[0].shape, i.shape):
        yield RESHAPE_MOVES, f"{i.operands[0].shape} to {i.shape} moves elements; after layout assignment a reshape " \
                             "only looks at them otherwise"


def _is_view(a: Shape, b: Shape) -> bool:
    """Return True if a reshape leaves every element where it is: both sides read in memory order factor alike."""
    if not (a.is_array and b.is_array) or 0 in a.dims:
        return True

    def walk(shape: Shape) -> list[tuple[int, int]]:
        """(stride in row-major order of the elements, size), minor to major, sizes of 1 left out, runs merged."""
        strides, step = {}, 1
        for dim in reversed(range(shape.rank)):
            strides[dim], step = step, step * shape.dims[dim]
        runs: list[tuple[int, int]] = []
        for dim in shape.minor_to_major:
            if shape.dims[dim] == 1:
                continue
            if runs and runs[-1][0] * runs[-1][1] == strides[dim]:
                runs[-1] = (runs[-1][0], runs[-1][1] * shape.dims[dim])
            else:
                runs.append((strides[dim], shape.dims[dim]))
        return runs

    return walk(a) == walk(b)
