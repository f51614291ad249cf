"""Why a module, or an instruction of it, has no StableHLO form: diagnostics at the instructions."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import NoReturn

from hlotool.diagnostics import Diagnostic, HloError, at
from hlotool.ir import ELIDED_ADVICE, HloInstruction, HloModule
from hlotool.ops import OPS, ConstraintError
from hlotool.passes.verify import verify
from hlotool.stablehlo import codes
from hlotool.stablehlo.types import NoType

#: exceptions of a lowering on an instruction that breaks its operation's rules
MISREADINGS = (KeyError, IndexError, TypeError, ValueError, AttributeError, StopIteration, ArithmeticError)


class LoweringRefusal(Exception):
    """One instruction cannot be lowered; the diagnostic is recorded already."""


class ExportFindings:
    """The findings about the instructions of one module."""

    def __init__(self, module: HloModule) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._module = module

    def report(self, instruction: HloInstruction, code: str, message: str, *, help: str = "") -> None:
        """Record a finding at an instruction."""
        source, start = self._module.source, instruction.offset
        if source is None or start < 0:
            self.diagnostics.append(Diagnostic(code, f"{message} ({instruction.name})", help=help))
        else:
            self.diagnostics.append(at(source, start, start + len(instruction.name), code, message, help=help))

    def report_module(self, code: str, message: str) -> None:
        """Record a finding that has no place."""
        source = self._module.source
        self.diagnostics.append(Diagnostic(code, message, filename=source.filename if source else "<string>"))

    def fail(self, instruction: HloInstruction, code: str, message: str) -> NoReturn:
        """Record a finding at an instruction, and raise Refusal."""
        self.report(instruction, code, message)
        raise LoweringRefusal

    def explain(self, instruction: HloInstruction, error: Exception) -> None:
        """Record why the lowering of an instruction raised."""
        literal = instruction.attributes.get("literal")
        if literal is not None and getattr(literal, "has_elided", False):
            self.report(instruction, codes.ELIDED, f"the text leaves out the values of {instruction.name} ({{...}})",
                        help=ELIDED_ADVICE)
        elif isinstance(error, NoType):
            self.report(instruction, codes.UNTYPED, str(error))
        elif isinstance(error, HloError):
            self.diagnostics.extend(error.diagnostics)
        elif isinstance(error, ConstraintError):
            self.report(instruction, codes.MALFORMED, str(error))
        else:
            self.report(instruction, codes.MALFORMED, _broken_rule(instruction) or (
                f"{instruction.opcode} {instruction.name} cannot be lifted as it stands: "
                f"{type(error).__name__}: {error}"))

    def add_verifiers(self, found_by_mlir: Iterable[tuple[str, str]]) -> None:
        """Record what MLIR refuses: names of instructions, and messages of which the first one of each is kept.

        Where an operation's own rule is broken, that is what is recorded.
        """
        by_name = {i.name: i for i in self._module.instructions()}
        reported: set[HloInstruction] = set()
        for name, message in found_by_mlir:
            instruction = by_name.get(name)
            if instruction is None:
                self.report_module(codes.UNVERIFIED, message)
            elif instruction not in reported:
                reported.add(instruction)
                broken = _broken_rule(instruction) or self._verdict_at(instruction)
                self.report(instruction, codes.MALFORMED if broken else codes.UNVERIFIED, broken or message)

    def _verdict_at(self, instruction: HloInstruction) -> str:
        """Return the finding of verification at the instruction's line: some rules look at several instructions."""
        source, start = self._module.source, instruction.offset
        if source is None or start < 0:
            return ""
        return self._verdicts.get(at(source, start, start + len(instruction.name), codes.UNVERIFIED, "").line, "")

    @functools.cached_property
    def _verdicts(self) -> dict[int, str]:
        """The first error of HLO's verification on each line."""
        errors = [d for d in verify(self._module) if d.severity == "error"]
        return {d.line: f"{d.message} [{d.code}]" for d in reversed(errors)}


def _broken_rule(instruction: HloInstruction) -> str:
    """Return the objection of the operation's own rule to the instruction; '' if there is none."""
    try:
        inferred = OPS[instruction.opcode].infer_instruction(instruction)
        if not instruction.shape.agrees(inferred):
            right, written = inferred.text(False), instruction.shape.text(False)
            return f"{instruction.opcode} gives {right}, but {written} is written"
    except ConstraintError as error:
        return str(error)
    except MISREADINGS:
        pass
    return ""
