"""Each operation of HLO, declared once; OPS maps opcodes to their records."""

from hlotool.ops.registry import OPS, Attribute, ConstraintError, Op, require

__all__ = ["OPS", "Attribute", "ConstraintError", "Op", "require"]
