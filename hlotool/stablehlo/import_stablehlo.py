"""From StableHLO to a module: what is tried, and what is said where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, Note, Severity
from hlotool.ir import HloModule, Shape, no_collection
from hlotool.mlir import DialectType, Operation, SsaValue, TensorType, walk
from hlotool.passes.verify import is_valid
from hlotool.stablehlo import codes
from hlotool.stablehlo.expansion import argument_types
from hlotool.stablehlo.given_program import GivenProgram, given_program
from hlotool.stablehlo.importer import Importer
from hlotool.stablehlo.lifts import lifts
from hlotool.stablehlo.mlir_input import deep
from hlotool.stablehlo.module_attributes import body_of, function_type, symbol_of


@no_collection()
def from_stablehlo(source: Any, *, arg_shapes: Sequence[Shape | Sequence[int] | str] | None = None,
                   isolate: bool = True) -> HloModule:
    """The HLO module of a StableHLO program: its text, its bytecode, a portable artifact, or an MLIR module.

    An MLIR module is one of jaxlib's bindings or of `hlotool.mlir`. The function main (or the only one that is public)
    becomes the entry computation, several results a tuple. `arg_shapes` are the shapes of its arguments, for a program
    that leaves dimensions open ("f32[2,3]", "[2,3]", a Shape, or the dimensions). Operations and types that HLO lacks
    are written in those it has where that can be done exactly. Raises HloError with a diagnostic for every operation
    that has no HLO form.

    Texts and bytes are read and checked here. Where a check finds something and jaxlib is installed, its MLIR decides,
    in a child process, for it ends its process on some programs. `isolate=False` is for what MLIR wrote itself, which
    is not checked.
    """
    given = given_program(bytes(source) if isinstance(source, (bytearray, memoryview)) else source,
                          is_trusted=not isolate)
    try:
        module = _imported(given, arg_shapes)
    except RecursionError:
        module = deep(lambda: _imported(given, arg_shapes))
    module.imported_from = given.source
    return module


def _imported(given: GivenProgram, arg_shapes: Sequence[Shape | Sequence[int] | str] | None) -> HloModule:
    """The module; where operations that HLO lacks stand in the way, of the program without them."""
    types = None if arg_shapes is None else _argument_types(given.program, arg_shapes)
    if types is not None:
        given = given.passed(types, None) or given
    importer = _importer(given)
    try:
        module = importer.run()
    except HloError as error:
        if importer.needs_expansion:
            return _expanded(given, error)
        given.is_judged_by_mlir()
        raise
    _check(given, importer, module)
    return module


def _check(given: GivenProgram, importer: Importer, module: HloModule) -> None:
    """Refuse what StableHLO's verifier refuses: it is asked where our checks find something. Raises HloError."""
    if given.is_verified:
        return
    mistakes = importer.mistakes()
    is_dubious = bool(mistakes) or not is_valid(module)
    if is_dubious and not given.is_judged_by_mlir() and mistakes:
        raise HloError(mistakes)


def _importer(given: GivenProgram) -> Importer:
    return Importer(given.program, given.source, given.read_from)


def _expanded(given: GivenProgram, error: HloError) -> HloModule:
    """The module of a program in operations that HLO has, where `error` says why it needs that."""
    try:
        simpler = given.passed(None, list(lifts()))
        if simpler is None:
            given.is_judged_by_mlir()
            raise error
        module = _importer(simpler).run()
    except HloError as second:
        if second is error:
            raise
        raise HloError(_advised(_failures(error, second), given.program)) from None
    if _is_quantised(given.program):
        module.notes.append(Diagnostic(codes.QUANTISED, "quantised types became their storage types, and operations "
                                       "on them the arithmetic that they mean", Severity.INFO))
    return module


def _argument_types(program: Operation, arg_shapes: Sequence[Shape | Sequence[int] | str]) -> list[str]:
    functions = [(symbol_of(f), function_type(f).inputs) for f in _functions(program)]
    return argument_types(functions, arg_shapes)


def _functions(program: Operation) -> list[Operation]:
    return [operation for operation in body_of(program) if operation.name == "func.func"]


def _failures(first: HloError, second: HloError) -> list[Diagnostic]:
    """Return the obstacles in the terms of the program itself, unless those are only operations to be expanded."""
    if any(d.line for d in second.diagnostics):
        return second.diagnostics
    reason = Note(second.diagnostics[0].message)
    return [replace(d, notes=(*d.notes, reason), help=d.help or second.diagnostics[0].help) for d in first.diagnostics]


def _advised(diagnostics: list[Diagnostic], program: Operation) -> list[Diagnostic]:
    if not _is_dynamic(program):
        return diagnostics
    return [replace(d, help=d.help or "give the shapes of the arguments: arg_shapes=, or --arg-shapes of "
                                      "`hlotool convert`") for d in diagnostics]


def _is_dynamic(program: Operation) -> bool:
    """Return True if an argument of a function has a dimension that is neither known nor bounded."""
    return any(isinstance(t, TensorType) and t.shape is not None and None in t.shape and t.encoding is None
               for function in _functions(program) for t in function_type(function).inputs)


def _is_quantised(program: Operation) -> bool:
    """Return True if a value of the program has a quantised type."""
    def values(operation: Operation) -> list[SsaValue]:
        return [*operation.results, *(a for r in operation.regions for b in r.blocks for a in b.arguments)]

    elements = (getattr(value.type, "element", None) for operation in walk(program) for value in values(operation))
    return any(isinstance(element, DialectType) and element.dialect == "quant" for element in elements)
