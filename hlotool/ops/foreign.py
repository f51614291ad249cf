"""Operations that others have declared beside hlotool's own: only the process in which they did so knows them."""

from __future__ import annotations

from collections.abc import Iterable

from hlotool.ir import HloInstruction
from hlotool.ops.custom_call import TARGETS
from hlotool.ops.registry import OPS

#: opcodes that hlotool itself declares; this file is imported behind all of them
_OWN_OPCODES, _OWN_TARGETS = frozenset(OPS), frozenset(TARGETS)


def has_foreign() -> bool:
    """Return True if anybody has declared an operation, or the values of a custom call's target."""
    return len(OPS) > len(_OWN_OPCODES) or len(TARGETS) > len(_OWN_TARGETS)


def is_any_foreign(instructions: Iterable[HloInstruction]) -> bool:
    """Return True if some of the instructions have values only by others' declarations."""
    return has_foreign() and any(_is_foreign(i) for i in instructions)


def _is_foreign(instruction: HloInstruction) -> bool:
    if instruction.opcode in OPS and instruction.opcode not in _OWN_OPCODES:
        return True
    target = instruction.attributes.get("custom_call_target")
    return target in TARGETS and target not in _OWN_TARGETS
