"""Each operation of HLO, declared once; OPS maps opcodes to their records."""

# The order of import is the order of OPS: the families from simple to special.
import hlotool.ops.choice
import hlotool.ops.contraction
import hlotool.ops.conversion
import hlotool.ops.convolution
import hlotool.ops.elementwise
import hlotool.ops.gathering
import hlotool.ops.indexing
import hlotool.ops.movement
from hlotool.ops.registry import OPS, Attribute, ConstraintError, Op, require

__all__ = ["OPS", "Attribute", "ConstraintError", "Op", "require"]
