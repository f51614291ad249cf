"""Programs in memory from what they come as: text, portable artifacts, bytecode, modules of MLIR's bindings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import Source
from hlotool.mlir import (
    NESTED,
    Operation,
    artifact_version,
    generic_text,
    is_bytecode,
    is_unmarked_artifact,
    read_recovering,
    read_stablehlo_artifact,
    read_stablehlo_bytecode,
    structural_mistakes,
)
from hlotool.stablehlo.bindings import from_bindings
from hlotool.stablehlo.isolated import (
    expanded_outside,
    generic_from_outside,
    has_mlir,
    require_mlir,
    verified_outside,
)
from hlotool.stablehlo.mhlo_text import in_stablehlo
from hlotool.stablehlo.mlir_input import MOST_NESTED, deep, every_mistake


@dataclass(frozen=True, slots=True)
class GivenProgram:
    """A program, and what is known of where it came from."""

    program: Operation
    #: the text or bytes that MLIR reads it from; None: its generic text
    written: str | bytes | None = None
    #: the text that the places of its operations are in
    source: Source | None = None
    #: the text that its operations begin in, that one or one with the same lines; else locations may name places in it
    read_from: Source | None = None
    #: MLIR has verified it, or it is not to be verified
    is_verified: bool = False

    def for_mlir(self) -> str | bytes:
        """Return what MLIR is given of it."""
        return generic_text(self.program) if self.written is None else self.written

    def is_judged_by_mlir(self) -> bool:
        """Let MLIR verify the program; False where it is not installed, or older than the program. Raises HloError."""
        if self.is_verified:
            return True
        if not has_mlir() or _is_too_new(self.written):
            return False
        verified_outside(self.for_mlir())
        return True

    def passed(self, types: list[str] | None, kept: list[str] | None) -> GivenProgram | None:
        """Return the program for arguments of `types`, written without what HLO lacks but for the operations `kept`.

        None where MLIR does not read it. Raises HloError; also where MLIR is not installed.
        """
        require_mlir("MLIR's passes are needed to write this program in operations that HLO has")
        text = expanded_outside(self.for_mlir(), types, kept)
        if text is None:
            return None
        return replace(self, program=_read_whole(text), written=text, read_from=None, is_verified=True)


def given_program(source: Any, *, is_trusted: bool = False) -> GivenProgram:
    """Return the program that a text, bytes, a module of MLIR's bindings or one in memory is.

    Where our readers refuse what MLIR reads, MLIR's reading counts. Raises HloError; TypeError for other things.
    """
    if isinstance(source, Operation):
        return GivenProgram(source, is_verified=True)
    if isinstance(source, str):
        return _of_text(source, is_trusted)
    if not isinstance(source, bytes):
        return _of_bindings(source)
    if is_bytecode(source):
        return _of_bytecode(source, is_trusted)
    return _of_text(source.decode(errors="replace"), is_trusted)


def _of_text(text: str, is_trusted: bool) -> GivenProgram:
    source = read_from = Source(text)
    if "mhlo" in text and (written := in_stablehlo(text)) != text:
        read_from = Source(written)
    program, mistakes = _read(read_from)
    if not mistakes:
        return GivenProgram(program, text, source, read_from, is_trusted)
    if not has_mlir():
        raise HloError(mistakes)
    try:
        return replace(_by_mlir(text), source=source)
    except HloError as error:
        raise HloError(every_mistake(text, mistakes, error.diagnostics)) from None


def _read(source: Source) -> tuple[Operation, list[Diagnostic]]:
    """Return the program of a text, whose regions may be nested to any depth, and what is wrong with it."""
    found = read_recovering(source)
    if any(d.code == NESTED for d in found[1]):
        return deep(lambda: read_recovering(source, deepest=MOST_NESTED))
    return found


def _read_whole(text: str) -> Operation:
    """Return the program of a text that MLIR wrote. Raises HloError."""
    program, mistakes = _read(Source(text))
    if mistakes:
        raise HloError(mistakes)
    return program


def _of_bytecode(data: bytes, is_trusted: bool) -> GivenProgram:
    """Return the program of bytecode; MLIR reads what is not known here."""
    is_unmarked = is_unmarked_artifact(data)
    is_artifact = is_unmarked or artifact_version(data) is not None
    try:
        program = (read_stablehlo_artifact if is_artifact else read_stablehlo_bytecode)(data).program
        # Plain bytecode has no version: of another one, properties could be taken for others.
        if is_artifact or not any(structural_mistakes(program)):
            return GivenProgram(program, None if is_unmarked else data, is_verified=is_trusted)
        return _by_mlir(data)
    except HloError:
        if not has_mlir():
            raise
        return _by_mlir(data)


def _by_mlir(source: str | bytes) -> GivenProgram:
    """Return a program as MLIR reads it."""
    require_mlir("this bytecode is read by MLIR", "write a portable artifact, or text")
    text = generic_from_outside(source)
    return GivenProgram(_read_whole(text), source, is_verified=True)


def _of_bindings(module: Any) -> GivenProgram:
    if not hasattr(module, "operation"):
        raise TypeError(f"a StableHLO program is an MLIR module, a str or bytes, not {type(module).__name__}")
    return GivenProgram(from_bindings(module), is_verified=True)


def _is_too_new(written: str | bytes | None) -> bool:
    """Return True for an artifact that this jaxlib does not read."""
    from hlotool.stablehlo.artifact import is_readable

    return isinstance(written, bytes) and artifact_version(written) is not None and not is_readable(written)
