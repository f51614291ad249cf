"""Export to StableHLO, import from it, and portable artifacts. Importing this room imports no jaxlib."""

from hlotool.mlir.artifact import read_artifact, write_artifact
from hlotool.mlir.export import to_stablehlo
from hlotool.mlir.import_ import from_stablehlo
from hlotool.mlir.losses import Loss, LossReport
from hlotool.mlir.options import LiftOptions

__all__ = [
    "LiftOptions", "Loss", "LossReport", "from_stablehlo", "read_artifact", "to_stablehlo", "write_artifact",
]
