"""Finds numbers that depend on nothing but the device's own number, by computing them for all devices."""

from __future__ import annotations

import contextlib

from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array, np
from hlotool.ops import OPS, flow_of, is_a
from hlotool.passes.lints.module_view import View

#: devices for which numbers are computed
_MOST_DEVICES = 4096


def numbers_of(view: View, instruction: HloInstruction) -> Array | None:
    """Return the value of an instruction with one element on each device; None where it depends on more.

    Modules with several replicas and several partitions are left alone, as shardings are; and all where (in a browser)
    there is no NumPy.
    """
    with contextlib.suppress(ModuleNotFoundError):
        return _numbers(view, instruction)
    return None


def _numbers(view: View, instruction: HloInstruction) -> Array | None:
    replicas, partitions = view.module.device_counts
    if min(replicas, partitions) > 1 or not 1 < replicas * partitions <= _MOST_DEVICES:
        return None
    known = view.memory.setdefault("device_numbers", {})
    assert isinstance(known, dict)
    waiting = [instruction]
    while waiting:
        at = waiting[-1]
        missing = [o for o in at.operands if o not in known] if _is_followed(at) else []
        if not missing:
            known[at] = _computed(at, [known.get(o) for o in at.operands], view.module.device_counts)
            waiting.pop()
        waiting += missing
    found: Array | None = known[instruction]
    return found


def _is_followed(instruction: HloInstruction) -> bool:
    if instruction.opcode == "dynamic-slice":
        return instruction.shape.size == 1 and instruction.operands[0].shape.rank == 1
    is_whole = instruction.shape.is_array and instruction.shape.dtype.is_integral | (
        instruction.shape.element_type == "pred")
    return is_whole and instruction.shape.size == 1 and instruction.opcode != "parameter" and (
        _is_plain(instruction) or flow_of(instruction).rearranges)


def _is_plain(instruction: HloInstruction) -> bool:
    return is_a(instruction, "elementwise") and not is_a(instruction, "random")


def _computed(i: HloInstruction, operands: list[Array | None], counts: tuple[int, int]) -> Array | None:
    """Return the values of all devices, of those of the operands; a table is an array of its entries."""
    replicas, partitions = counts
    if i.opcode in ("partition-id", "replica-id"):
        count = partitions if i.opcode == "partition-id" else replicas
        numbers = np.arange(count) if count > 1 else np.zeros(replicas * partitions, np.int64)
        return np.asarray(numbers, i.shape.dtype.numpy)
    if i.opcode == "constant" and i.shape.is_array and i.shape.rank < 2 and not i.literal.has_elided:
        array = np.asarray(i.literal.array).reshape(-1)
        return array if i.shape.size != 1 else np.repeat(array, replicas * partitions)
    if not _is_followed(i) or any(o is None for o in operands):
        return None
    given = [np.asarray(o) for o in operands]
    if i.opcode == "dynamic-slice":
        at = np.clip(given[1].astype(np.int64), 0, max(len(given[0]) - 1, 0))
        return given[0][at] if i.operands[0].shape.size > 1 else None
    if i.opcode == "convert":
        return given[0].astype(i.shape.dtype.numpy)
    if flow_of(i).rearranges:
        return given[0] if i.operands[0].shape.size == 1 else None
    if any(o.shape.size != 1 for o in i.operands):
        return None
    record = OPS[i.opcode]
    with np.errstate(all="ignore"):
        return np.asarray(record.evaluate(*given, **record.attributes_of(i)))
