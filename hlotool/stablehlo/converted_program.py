"""Converts HLO to StableHLO and StableHLO to HLO, from anything that holds a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hlotool import mlir
from hlotool.diagnostics import HloError
from hlotool.ir import HloModule
from hlotool.stablehlo.any_source import held_by, in_file, is_stablehlo, module_of
from hlotool.stablehlo.artifact import without_chlo
from hlotool.stablehlo.export_stablehlo import to_program, to_stablehlo
from hlotool.stablehlo.forms import TextForm, program_bytes, program_text
from hlotool.stablehlo.given_program import given_program
from hlotool.stablehlo.isolated import has_mlir, require_mlir
from hlotool.stablehlo.loss_report import Loss, LossReport
from hlotool.stablehlo.mlir_input import read_program
from hlotool.stablehlo.options import LiftOptions
from hlotool.text import print_module, style_of
from hlotool.text.input_files import Input


@dataclass
class Conversion:
    """A program in the form that was asked for."""

    form: Literal["hlo", "stablehlo"]
    #: an HloModule, or a jax.extend.mlir.ir.Module; where jaxlib is not installed a hlotool.mlir.Operation
    program: Any
    #: parts of the HLO module that StableHLO has no place for; empty on the way to HLO
    losses: LossReport = field(default_factory=LossReport)
    #: those of this program among them, which an artifact adds to; None where the source was StableHLO
    own_losses: list[Loss] | None = None
    #: what the program was read from, in whose text its places lie; None where it was made, or is an object
    source: Input | None = None

    def __str__(self) -> str:
        return self.text()

    def text(self, form: TextForm | None = None) -> str:
        """Return HLO or MLIR text; of `form` HLO text takes only `elide_above`."""
        form = form or TextForm()
        if isinstance(self.program, HloModule):
            return print_module(self.program, replace(style_of(self.program), elide_above=form.elide_above))
        return program_text(self.program, form)

    def bytecode(self, version: str | None = None) -> bytes:
        """Return MLIR bytecode, or the portable artifact that StableHLO `version` ("1.0.0") reads.

        What is written in other operations for the version is added to `losses`. Raises HloError where that version
        lacks an operation, or the program is HLO: TypeError.
        """
        if isinstance(self.program, HloModule):
            raise TypeError("bytecode is a form of StableHLO; convert(..., to='stablehlo') gives a program in it")
        try:
            return program_bytes(self.program, version, losses=self.own_losses)
        except HloError as error:
            if self.source is None:
                raise
            raise HloError([in_file(d, self.source) for d in error.diagnostics]) from error


def convert(source: Any, *arguments: Any, to: Literal["hlo", "stablehlo"] | None = None, filename: str = "",
            arg_shapes: Sequence[Any] | None = None, options: LiftOptions | None = None,
            losses: LossReport | None = None, **keywords: Any) -> Conversion:
    """Convert HLO to StableHLO, and StableHLO to HLO, or to the form `to`.

    `source`, with the `arguments` and `keywords` of a function, is anything that `hlotool.read` takes; objects of JAX
    hold StableHLO, compiled ones HLO. `arg_shapes` are the shapes (Shape, "f32[8,16]" or (8, 16)) of the arguments of
    StableHLO that leaves dimensions open. `options` are choices on the way to StableHLO; `losses` collects what several
    modules lose, else each conversion has a report of its own. Raises HloError for a program that cannot be read, or
    has no form there (codes X1xx).
    """
    held = held_by(source, arguments, keywords, filename)
    form = to or ("hlo" if is_stablehlo(held) else "stablehlo")
    losses = losses if losses is not None else LossReport()
    if form == "hlo":
        return Conversion(form, module_of(held, arg_shapes))
    if not is_stablehlo(held):
        export = to_stablehlo if has_mlir() else to_program
        program = export(module_of(held), options=options, losses=losses)
        return Conversion(form, program, losses, losses.latest())
    program = _as_it_is(held, arg_shapes)
    return Conversion(form, program if options is None or options.chlo else without_chlo(program), losses,
                      source=held if isinstance(held, Input) else None)


def _as_it_is(held: Any, arg_shapes: Sequence[Any] | None) -> Any:
    """Return the MLIR module of StableHLO, unchanged but for the shapes. Raises HloError."""
    if not has_mlir():
        return _own_program(held, arg_shapes)
    from hlotool.stablehlo.expansion import refined

    try:
        if isinstance(held, Input):
            program = read_program(held.source.text if held.source is not None else held.data)
        else:
            program = read_program(held) if isinstance(held, bytes) else held
        return program if arg_shapes is None else refined(program, arg_shapes)
    except HloError as error:
        if not isinstance(held, Input):
            raise
        raise HloError([in_file(d, held) for d in error.diagnostics]) from error


def _own_program(held: Any, arg_shapes: Sequence[Any] | None) -> mlir.Operation:
    """Return StableHLO unchanged in our own representation. Raises HloError; also for shapes, which MLIR refines."""
    given = given_program((held.source.text if held.source is not None else held.data) if isinstance(held, Input)
                          else held)
    if arg_shapes is not None:
        require_mlir("MLIR's passes are needed to close a program's open dimensions")
    return given.program
