"""A module in the operations that XLA's import of StableHLO leaves: functions of complex numbers are written out there.

    exponential(c64 x)          ->   complex(exp(re) * cos(im), exp(re) * sin(im)), its special cases told apart
    custom-call ApproxTopK      ->   sort, slice

Source: XLA, mlir_hlo_to_hlo.cc (PrepareForExport), which runs StableHLO's passes that are run here.
"""

from __future__ import annotations

from hlotool.diagnostics import HloError
from hlotool.ir import HloModule
from hlotool.passes import PASSES
from hlotool.stablehlo.expansion import run_passes
from hlotool.stablehlo.export_stablehlo import to_stablehlo
from hlotool.stablehlo.import_stablehlo import from_stablehlo
from hlotool.stablehlo.options import LiftOptions

_COMPLEX = "func.func(stablehlo-complex-math-expander)"
_CHLO = "func.func(chlo-legalize-to-stablehlo)"


def in_simpler_operations(module: HloModule) -> HloModule | None:
    """The module in those operations; None where it has none of the others, or cannot be written in StableHLO."""
    has_complex = any(s.is_array and s.dtype.is_complex for c in module.computations for i in c.instructions
                      for _, s in i.shape.leaves() if i.opcode != "parameter")
    has_calls = any(i.attributes.get("custom_call_target") == "ApproxTopK" for c in module.computations
                    for i in c.instructions)
    if not (has_complex or has_calls):
        return None
    try:
        if has_calls:
            module = PASSES["lift-library-other"](module)
        if not has_complex:
            return module
        program = to_stablehlo(module, options=LiftOptions(library=False))
        # CHLO's functions are written out in others of complex numbers.
        run_passes(program, _COMPLEX, _CHLO, _COMPLEX)
        return from_stablehlo(program)
    except HloError:
        return None
