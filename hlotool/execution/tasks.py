"""Tasks of an executor's child process: it computes, it reads texts, and it tells its platform."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.execution.arguments import arguments_for
from hlotool.execution.executor import Executor, PerDevice, Results, refused, task_path
from hlotool.execution.merged_programs import Companions, is_mergeable, merged, parted
from hlotool.execution.program import Program, fitted, require_rows
from hlotool.process import Refusal

#: the number of a row, its program, and the arguments of each device
_Member: TypeAlias = tuple[int, Program, list[list[Any]]]


#: by executor: what this process found out about programs that are compiled together
_COMPANIONS: dict[str, Companions] = {}


def ready(executor: Executor) -> None:
    """Import what the executor needs and start its runtime, so that no module pays for it."""
    text = "HloModule ready\nENTRY e { a = f32[1] parameter(0)  ROOT b = f32[1] negate(a) }"
    program = program_of_text(text, "ready")
    executor.compute(executor.prepare(program), [[arguments_for(program)]], ())


def facts(executor: Executor) -> dict[str, str]:
    """Return the executor's platform, device and version."""
    return executor.facts()


def compute(executor: Executor, work: Any, argument_sets: Sequence[PerDevice], infeed: PerDevice) -> Results:
    """The results for each set of arguments of what the executor prepared."""
    return executor.compute(work, argument_sets, infeed)


def compute_text(executor: Executor, text: str, filename: str, arguments: PerDevice,
                 infeed: PerDevice) -> list[list[Any]]:
    """Read a text, lift it where the executor asks for that, and run it: leaves by device."""
    return _compute(executor, *_read(text, filename, arguments), infeed)


def each(executor: Executor, task: str, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return what a task gives for each row: (True, value), or (False, diagnostics) of one that fails."""
    if task == "compute_text" and executor.compiles_together:
        return compute_texts(executor, rows)
    room, _, name = task_path(task).partition(":")
    work = getattr(importlib.import_module(room), name)
    return [_answer(executor, row[1], work, executor, *row) for row in rows]


def compute_texts(executor: Executor, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """`compute_text` of each row, programs that may be merged compiled together."""
    found: list[Any] = [None] * len(rows)
    together: list[_Member] = []
    for number, (text, filename, arguments, infeed) in enumerate(rows):
        is_good, read = _answer(executor, filename, _read, text, filename, arguments)
        if not is_good:
            found[number] = False, read
        elif not infeed and is_mergeable(read[0]):
            together.append((number, *read))
        else:
            found[number] = _answer(executor, filename, _compute, executor, *read, infeed)
    companions = _COMPANIONS.setdefault(executor.name, Companions())
    for group in companions.groups([program for _, program, _ in together]):
        _compute_merged(executor, [together[n] for n in group], rows, found)
    return found


def _read(text: str, filename: str, arguments: PerDevice) -> tuple[Program, list[list[Any]]]:
    program = program_of_text(text, filename)
    return program, fitted_rows(program, arguments)


def _compute(executor: Executor, program: Program, given: PerDevice, infeed: PerDevice) -> list[list[Any]]:
    return executor.compute(executor.prepare(program), [given], infeed)[0]


def _compute_merged(executor: Executor, members: list[_Member], rows: Sequence[tuple[Any, ...]],
                    found: list[Any]) -> None:
    """Put the values of programs into `found`; where all at once are refused, of each half."""
    programs = [program for _, program, _ in members]
    whole = merged(programs) if len(members) > 1 else programs[0]
    given = [[value for _, _, own in members for value in own[device]] for device in range(programs[0].devices)]
    is_good, values = _answer(executor, rows[members[0][0]][1], _compute, executor, whole, given, ())
    if is_good or len(members) == 1:
        _COMPANIONS[executor.name].note(whole, is_good)
    if len(members) == 1:
        found[members[0][0]] = is_good, values
    elif is_good:
        for (number, _, _), own in zip(members, parted(programs, values), strict=True):
            found[number] = True, own
    else:
        middle = len(members) // 2
        _compute_merged(executor, members[:middle], rows, found)
        _compute_merged(executor, members[middle:], rows, found)


def _answer(executor: Executor, filename: str, work: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
    """(True, what the work gives), or (False, why it gives nothing)."""
    try:
        return True, work(*arguments)
    except HloError as error:
        return False, error.diagnostics
    except Refusal as error:
        return False, [refused(executor.name, error, filename)]


def text_arguments(executor: Executor, text: str, filename: str, kind: str, seed: int) -> list[list[Any]]:
    """Make arguments for a text; each device draws numbers of its own."""
    program = program_of_text(text, filename)
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
    require_rows(program, arguments)
    return [fitted(program, row) for row in arguments]


def program_of_text(text: str, filename: str) -> Program:
    """Read a text as a program. Raises HloError."""
    from hlotool.passes.read import parse

    return Program(parse(text, filename))
