"""Export to StableHLO, import from it, portable artifacts, and whatever else holds a program.

Importing this room imports no jaxlib.
"""

from hlotool.mlir.any_source import in_file, module_of_input, read, read_all
from hlotool.mlir.artifact import artifact_versions, read_artifact, without_chlo, write_artifact
from hlotool.mlir.bytecode import to_bytecode
from hlotool.mlir.expansion import refined
from hlotool.mlir.export_stablehlo import to_stablehlo
from hlotool.mlir.forms import TextForm, program_bytes, program_text
from hlotool.mlir.import_stablehlo import from_stablehlo
from hlotool.mlir.kernel_payloads import with_readable_kernels
from hlotool.mlir.loss_report import Loss, LossReport
from hlotool.mlir.mlir_input import is_dictionary, read_program, read_unverified
from hlotool.mlir.options import LiftOptions
from hlotool.mlir.simpler_operations import in_simpler_operations

__all__ = [
    "LiftOptions", "Loss", "LossReport", "TextForm", "artifact_versions", "from_stablehlo", "in_file",
    "in_simpler_operations", "is_dictionary", "module_of_input", "program_bytes", "program_text", "read", "read_all",
    "read_artifact", "read_program", "read_unverified", "refined", "to_bytecode", "to_stablehlo",
    "with_readable_kernels", "without_chlo", "write_artifact",
]
