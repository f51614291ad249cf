"""What the child process of an executor does: it computes, it reads texts, and it says what stands behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.execution.arguments import arguments_for
from hlotool.execution.executor import Executor, PerDevice, Results
from hlotool.execution.program import Program, fitted


def ready(executor: Executor) -> None:
    """Import what the executor needs and start its runtime, so that no module pays for it."""
    program = _program("HloModule ready\nENTRY e { a = f32[1] parameter(0)  ROOT b = f32[1] negate(a) }", "ready")
    executor.compute(executor.prepare(program), [[arguments_for(program)]], ())


def facts(executor: Executor) -> dict[str, str]:
    """What stands behind the executor."""
    return executor.facts()


def compute(executor: Executor, work: Any, argument_sets: Sequence[PerDevice], infeed: PerDevice) -> Results:
    """The results for each set of arguments of what the executor prepared."""
    return executor.compute(work, argument_sets, infeed)


def compute_text(executor: Executor, text: str, filename: str, arguments: PerDevice,
                 infeed: PerDevice) -> list[list[Any]]:
    """Read a text, lift it where the executor asks for that, and run it: leaves by device."""
    program = _program(text, filename)
    given = fitted_rows(program, arguments)
    return executor.compute(executor.prepare(program), [given], infeed)[0]


def text_arguments(executor: Executor, text: str, filename: str, kind: str, seed: int) -> list[list[Any]]:
    """Make arguments for a text; each device draws numbers of its own."""
    program = _program(text, filename)
    return [arguments_for(program, seed + device, kind) for device in range(program.devices)]


def text_findings(executor: Executor, text: str, filename: str, legalize: bool) -> list[Diagnostic]:
    """Read and verify a text: its errors."""
    from hlotool.passes.legalize import legalized
    from hlotool.passes.read import parse
    from hlotool.passes.verify import verify

    try:
        module = parse(text, filename)
        found = verify(legalized(module) if legalize else module)
    except HloError as error:
        found = error.diagnostics
    return sorted((d for d in found if d.severity is Severity.ERROR), key=lambda d: (d.line, d.column))


def fitted_rows(program: Program, arguments: PerDevice) -> list[list[Any]]:
    """The arguments of every device as arrays that fit. Raises HloError."""
    from hlotool.execution.codes import ARGUMENTS

    if len(arguments) != program.devices:
        raise HloError([Diagnostic(ARGUMENTS, f"the module runs on {program.devices} devices, arguments are given for "
                                              f"{len(arguments)}")])
    return [fitted(program, row) for row in arguments]


def _program(text: str, filename: str) -> Program:
    from hlotool.passes.read import parse

    return Program(parse(text, filename))
