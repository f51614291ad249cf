"""Export to StableHLO, import from it, portable artifacts, and whatever else holds a program.

Importing this room imports no jaxlib, and of its files those whose names are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.ir import lazily

if TYPE_CHECKING:
    from hlotool.stablehlo.any_source import in_file, module_of_input, read, read_all
    from hlotool.stablehlo.artifact import artifact_versions, read_artifact, without_chlo, write_artifact
    from hlotool.stablehlo.bytecode import to_bytecode
    from hlotool.stablehlo.converted_program import Conversion, convert
    from hlotool.stablehlo.expansion import refined
    from hlotool.stablehlo.export_stablehlo import to_program, to_stablehlo
    from hlotool.stablehlo.forms import TextForm, program_bytes, program_text
    from hlotool.stablehlo.import_stablehlo import from_stablehlo
    from hlotool.stablehlo.isolated import has_mlir
    from hlotool.stablehlo.kernel_payloads import with_readable_kernels
    from hlotool.stablehlo.loss_report import Loss, LossRecord, LossReport
    from hlotool.stablehlo.mlir_input import is_dictionary, read_program
    from hlotool.stablehlo.options import LiftOptions
    from hlotool.stablehlo.simpler_operations import in_simpler_operations
    from hlotool.stablehlo.single_operands import with_single_operands

__all__ = [
    "Conversion", "LiftOptions", "Loss", "LossRecord", "LossReport", "TextForm", "artifact_versions", "convert",
    "from_stablehlo", "has_mlir", "in_file", "in_simpler_operations", "is_dictionary", "module_of_input",
    "program_bytes", "program_text", "read", "read_all", "read_artifact", "read_program", "refined", "to_bytecode",
    "to_program", "to_stablehlo", "with_readable_kernels", "with_single_operands", "without_chlo", "write_artifact",
]

__getattr__ = lazily(__name__, {
    "any_source": ("in_file", "module_of_input", "read", "read_all"),
    "artifact": ("artifact_versions", "read_artifact", "without_chlo", "write_artifact"),
    "bytecode": ("to_bytecode",),
    "converted_program": ("Conversion", "convert"),
    "expansion": ("refined",),
    "export_stablehlo": ("to_program", "to_stablehlo"),
    "forms": ("TextForm", "program_bytes", "program_text"),
    "import_stablehlo": ("from_stablehlo",),
    "isolated": ("has_mlir",),
    "kernel_payloads": ("with_readable_kernels",),
    "loss_report": ("Loss", "LossRecord", "LossReport"),
    "mlir_input": ("is_dictionary", "read_program"),
    "options": ("LiftOptions",),
    "simpler_operations": ("in_simpler_operations",),
    "single_operands": ("with_single_operands",),
})
