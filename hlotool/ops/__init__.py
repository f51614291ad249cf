"""Each operation of HLO, declared once; OPS maps opcodes to their records."""
# ruff: noqa: F401, I001 - importing a family declares its operations, in the order of OPS

import sys
from collections.abc import Iterator
from types import ModuleType

import hlotool.ops.elementwise
import hlotool.ops.choice
import hlotool.ops.conversion
import hlotool.ops.movement
import hlotool.ops.indexing
import hlotool.ops.gathering
import hlotool.ops.contraction
import hlotool.ops.convolution
import hlotool.ops.reduction
import hlotool.ops.sorting
import hlotool.ops.normalization
import hlotool.ops.linalg
import hlotool.ops.random
import hlotool.ops.control
import hlotool.ops.ordering
import hlotool.ops.asynchronous
import hlotool.ops.transfer
import hlotool.ops.collective
import hlotool.ops.exchange
import hlotool.ops.labels
from hlotool.ops.asynchronous import STARTABLE
from hlotool.ops.drawing import Draw, Undrawable, draw_program
from hlotool.ops.values import EvaluationError
from hlotool.ops.control import TARGETS
from hlotool.ops.random import FIRST_STATE
from hlotool.ops.registry import COMMON_ATTRIBUTES, OPS, Attribute, ConstraintError, Op, require

__all__ = [
    "COMMON_ATTRIBUTES", "FIRST_STATE", "OPS", "STARTABLE", "TARGETS", "Attribute", "ConstraintError", "Draw",
    "EvaluationError", "Op", "Undrawable", "draw_program", "require"]


class _Table(ModuleType):
    """`hlotool.ops["dot"]` is the record, also once the room of that name has been imported."""

    def __getitem__(self, opcode: str) -> Op:
        return OPS[opcode]

    def __iter__(self) -> Iterator[str]:
        return iter(OPS)

    def __contains__(self, opcode: object) -> bool:
        return opcode in OPS

    def __len__(self) -> int:
        return len(OPS)


sys.modules[__name__].__class__ = _Table
