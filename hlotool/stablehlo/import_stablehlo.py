"""From StableHLO to a module: what is tried, in which process, and what is said where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, Note, Severity
from hlotool.ir import (
    HloModule,
    Shape,
    Source,
    no_collection,
)
from hlotool.ops import has_foreign
from hlotool.stablehlo import codes
from hlotool.stablehlo.expansion import expanded, is_dynamic, is_quantised, refined
from hlotool.stablehlo.importer import Importer
from hlotool.stablehlo.isolated import HAS_CHILD, module_from_outside
from hlotool.stablehlo.mlir_input import deep, read_program


@no_collection()
def from_stablehlo(source: Any, *, arg_shapes: Sequence[Shape | Sequence[int] | str] | None = None,
                   isolate: bool = True) -> HloModule:
    """The HLO module of a StableHLO program: an MLIR module, its text, its bytecode or a portable artifact.

    The function main (or the only one that is public) becomes the entry computation, several results a tuple.
    `arg_shapes` are the shapes of its arguments, for a program that leaves dimensions open ("f32[2,3]", "[2,3]", a
    Shape, or the dimensions). Operations and types that HLO lacks are written in those it has where that can be done
    exactly. Raises HloError with a diagnostic for every operation that has no HLO form.

    Texts and bytes are read and imported in a child process, for MLIR ends its process on some of them; with
    `isolate=False`, which is for what MLIR wrote in this process, they are not. Operations that somebody declared
    here no child knows: a program that is to become them is only read there.
    """
    if isinstance(source, (bytearray, memoryview)):
        source = bytes(source)
    is_outside = isolate and HAS_CHILD and isinstance(source, (str, bytes))
    if is_outside and not has_foreign():
        return _placed(module_from_outside(source, arg_shapes), source)
    from jax.extend.mlir import ir

    program = source if isinstance(source, ir.Module) else read_program(source, isolate=isolate)
    with program.context, ir.Location.unknown():
        if arg_shapes is not None:
            program = refined(program, arg_shapes)
        text = Source(source) if isinstance(source, str) else None
        try:
            return _placed(_imported(program, text), source)
        except RecursionError:
            return _placed(deep(lambda: _imported_here(program, text)), source)


def _placed(module: HloModule, source: Any) -> HloModule:
    """Return the module with the text that its instructions have their places in."""
    if isinstance(source, str):
        module.imported_from = Source(source)
    return module


def _imported_here(program: Any, source: Source | None) -> HloModule:
    from jax.extend.mlir import ir

    with program.context, ir.Location.unknown():  # contexts are current in one thread
        return _imported(program, source)


def _imported(program: Any, source: Source | None) -> HloModule:
    """The module; where operations that HLO lacks stand in the way, of the program without them."""
    importer = Importer(program, source)
    try:
        return importer.run()
    except HloError as error:
        # Passes end the process on operations that no dialect knows.
        if not importer.needs_expansion or program.context.allow_unregistered_dialects:
            raise
        try:
            module = Importer(expanded(program, importer.known), source).run()
        except HloError as second:
            raise HloError(_advised(_failures(error, second), program)) from None
    if is_quantised(program):
        module.notes.append(Diagnostic(codes.QUANTISED, "quantised types became their storage types, and operations "
                                       "on them the arithmetic that they mean", Severity.INFO))
    return module


def _failures(first: HloError, second: HloError) -> list[Diagnostic]:
    """Return the obstacles in the terms of the program itself, unless those are only operations to be expanded."""
    if any(d.line for d in second.diagnostics):
        return second.diagnostics
    reason = Note(second.diagnostics[0].message)
    return [replace(d, notes=(*d.notes, reason)) for d in first.diagnostics]


def _advised(diagnostics: list[Diagnostic], program: Any) -> list[Diagnostic]:
    if not is_dynamic(program):
        return diagnostics
    return [replace(d, help=d.help or "give the shapes of the arguments: arg_shapes=, or --arg-shapes of "
                                      "`hlotool convert`") for d in diagnostics]
