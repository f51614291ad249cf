"""From a module to StableHLO: what is done before and after its instructions are written."""

from __future__ import annotations

from typing import Any

from hlotool import mlir
from hlotool.diagnostics import HloError, Severity
from hlotool.ir import HloModule, no_collection
from hlotool.passes.edit import clone_module
from hlotool.passes.legalize import legalized
from hlotool.passes.lift import (
    has_fusions,
    has_random_state,
    is_random_state,
    outline_fusions,
    outline_random_state,
    without_library_calls,
)
from hlotool.passes.verify import require_usable
from hlotool.stablehlo import codes
from hlotool.stablehlo.artifact import without_chlo
from hlotool.stablehlo.bindings import RefusedError, from_bindings, to_bindings
from hlotool.stablehlo.context import make_context
from hlotool.stablehlo.exporter import Exporter
from hlotool.stablehlo.loss_report import Loss, LossReport, library_loss
from hlotool.stablehlo.options import LiftOptions
from hlotool.stablehlo.replaced_operations import lose_replaced
from hlotool.stablehlo.shardy import with_shardy


@no_collection()
def to_program(module: HloModule, *, options: LiftOptions | None = None, losses: LossReport | None = None
               ) -> mlir.Operation:
    """Return the module as a program of builtin, func, stablehlo and chlo operations in our own representation.

    As `to_stablehlo`, but nothing of jaxlib is needed, and MLIR's verifier has not seen the program. Raises HloError
    with a diagnostic for every instruction that has no StableHLO form, or where `options` ask for a program without
    chlo and jaxlib is not installed.
    """
    return _exported(module, options or LiftOptions(), losses, None)[0]


@no_collection()
def to_stablehlo(module: HloModule, context: Any = None, *, options: LiftOptions | None = None,
                 losses: LossReport | None = None) -> Any:
    """The module as an MLIR module of builtin, func, stablehlo and chlo operations that verifies.

    The entry computation becomes the public function main; its tuple parameters are flattened into one argument
    for each leaf, its tuple result into several results. `context` is the MLIR context to build in, by default
    a new one. `losses` collects what StableHLO cannot hold. Raises HloError with a diagnostic for every
    instruction that has no StableHLO form.
    """
    return _exported(module, options or LiftOptions(), losses, context or make_context())[1]


def _exported(module: HloModule, options: LiftOptions, losses: LossReport | None, context: Any
              ) -> tuple[mlir.Operation, Any]:
    """Return the program, and as jaxlib's MLIR verified it where a context is given."""
    require_usable(module)
    prepared, found = _prepared(module, options)
    exporter = Exporter(prepared, found, options)
    program, bound = exporter.run(), None
    if options.shardy:
        with_shardy(program)
    if context is not None or not options.chlo:
        bound = _verified(exporter, program, context or make_context())
    if not options.chlo:
        bound = without_chlo(bound)
        written = from_bindings(bound)
        lose_replaced(found, program, written)
        program = written
    if losses is not None:
        losses.add(module, found)
    if options.strict and found:
        raise HloError([loss.diagnostic(module, Severity.ERROR) for loss in found])
    return program, bound


def _verified(exporter: Exporter, program: mlir.Operation, context: Any) -> Any:
    """Return the program in jaxlib's bindings. Raises HloError with what MLIR refuses, at instructions."""
    try:
        return to_bindings(program, context)
    except RefusedError as error:
        raise exporter.refused(error.findings) from None


def _prepared(module: HloModule, options: LiftOptions) -> tuple[HloModule, list[Loss]]:
    """The module in today's forms, lifted as the options say (a copy where something changes); what that lost."""
    found, losses = legalized(module), list[Loss]()
    if options.library:
        found, calls = without_library_calls(found)
        losses += map(library_loss, calls)
    if options.fusions != "inline" and has_fusions(found):
        found = outline_fusions(clone_module(found) if found is module else found,
                                composite=options.fusions == "composite")
    if has_random_state(found):
        found = outline_random_state(clone_module(found) if found is module else found)
        losses += [Loss(codes.LOST_STATE, i.name, i.offset, "each execution starts with the state of the first one")
                   for i in found.instructions() if is_random_state(i)]
    return found, losses
