"""Export to StableHLO, import from it, and portable artifacts. Importing this room imports no jaxlib."""

from hlotool.mlir.artifact import artifact_versions, read_artifact, without_chlo, write_artifact
from hlotool.mlir.expansion import refined
from hlotool.mlir.export import to_stablehlo
from hlotool.mlir.forms import TextForm, program_bytes, program_text
from hlotool.mlir.import_ import from_stablehlo
from hlotool.mlir.losses import Loss, LossReport
from hlotool.mlir.options import LiftOptions
from hlotool.mlir.reading import read_program, read_unverified

__all__ = [
    "LiftOptions", "Loss", "LossReport", "TextForm", "artifact_versions", "from_stablehlo", "program_bytes",
    "program_text", "read_artifact", "read_program", "read_unverified", "refined", "to_stablehlo", "without_chlo",
    "write_artifact",
]
