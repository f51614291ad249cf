"""Each operation of HLO, declared once; OPS maps opcodes to their records."""
# ruff: noqa: F401, I001 - importing a family declares its operations, in the order of OPS

import hlotool.ops.elementwise
import hlotool.ops.choice
import hlotool.ops.conversion
import hlotool.ops.movement
import hlotool.ops.indexing
import hlotool.ops.gathering
import hlotool.ops.contraction
import hlotool.ops.convolution
from hlotool.ops.registry import COMMON_ATTRIBUTES, OPS, Attribute, ConstraintError, Op, require

__all__ = ["COMMON_ATTRIBUTES", "OPS", "Attribute", "ConstraintError", "Op", "require"]
