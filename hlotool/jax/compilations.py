"""Findings about the modules that JAX compiles, at the lines of the Python program.

    with hlotool.jax.lint_compilations() as found:
        step(parameters, batch)                     # compiled here, reported here
    assert not found.diagnostics
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from hlotool.diagnostics import Diagnostic, HloError, Note, Severity, define
from hlotool.ir import HloModule, Source
from hlotool.linting import FAIL_ON, Settings, lint

NO_HOOK = define("J001", "no-hook", "this version of JAX does not compile through the function that is listened to")
NOT_LINTED = define("J002", "not-linted", "a compiled module that could not be looked at")

#: is given the findings of each module that has any
Report: TypeAlias = Callable[[Sequence[Diagnostic]], None]
#: what jax.jit calls for every module that it has not compiled yet
_HOOK = "compile_or_get_cached"


def lint_compilations(config: Settings | Mapping[str, Any] | str | Path | None = None, *, report: Report | None = None,
                      optimized: bool = False, fail_on: str = "never") -> Compilations:
    """Lint every module that JAX compiles from now on, until the result is left as a context or stopped.

    `config` is as for hlotool.linting. Findings go to `report` (default: frames on standard error), at the line of the
    program that they come from; `optimized` looks at what XLA makes of a module, too. Findings as bad as `fail_on`
    ("error", "warning", "info") are raised as HloError where the program is compiled. Raises HloError (J001) where
    JAX cannot be listened to.
    """
    if fail_on not in FAIL_ON:
        raise HloError([Diagnostic(NO_HOOK, f"fail_on is {fail_on!r}; it is one of {', '.join(FAIL_ON)}")])
    return Compilations(config, report or print_frames, optimized, FAIL_ON[fail_on])


class Compilations:
    """What was found in the modules that JAX compiled; a context that ends the listening."""

    def __init__(self, config: Settings | Mapping[str, Any] | str | Path | None, report: Report, optimized: bool,
                 fail_on: Sequence[Severity]) -> None:
        self.diagnostics: list[Diagnostic] = []
        #: names of the modules that were looked at
        self.modules: list[str] = []
        self._config, self._report, self._optimized, self._fail_on = config, report, optimized, fail_on
        self._compiler = _compiler()
        self._original: Callable[..., Any] = getattr(self._compiler, _HOOK)
        setattr(self._compiler, _HOOK, self._compile)

    def stop(self) -> None:
        """Listen no more."""
        if getattr(self._compiler, _HOOK) == self._compile:
            setattr(self._compiler, _HOOK, self._original)

    def __enter__(self) -> Compilations:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 where: TracebackType | None) -> None:
        self.stop()

    def _compile(self, *args: Any, **kwargs: Any) -> Any:
        from jax.extend.mlir import ir

        for program in (a for a in (*args, *kwargs.values()) if isinstance(a, ir.Module)):
            self._look_at(partial(_from_stablehlo, program))
        executable = self._original(*args, **kwargs)
        for module in executable.hlo_modules() if self._optimized else ():
            self._look_at(partial(_from_text, module.to_string()))
        return executable

    def _look_at(self, made: Callable[[], HloModule]) -> None:
        found: list[Diagnostic] = []
        try:
            module = made()
            self.modules.append(module.name)
            found = list(_at_program(lint(module, config=self._config), module.name))
        except HloError as error:
            found = [replace(d, severity=Severity.INFO) for d in error.diagnostics]
        except Exception as error:  # whatever it is, the program must still be compiled
            found = [Diagnostic(NOT_LINTED, f"a bug in hlotool, please report it: {type(error).__name__}: {error}",
                                Severity.INFO, filename="<jax>")]
        if not found:
            return
        self.diagnostics += found
        self._report(found)
        if failing := [d for d in found if d.severity in self._fail_on]:
            raise HloError(failing)


def _compiler() -> Any:
    """The module of JAX that compiles. Raises HloError where it is another one than today's."""
    try:
        from jax._src import compiler
    except ImportError as error:
        raise HloError([_no_hook()]) from error
    if not callable(getattr(compiler, _HOOK, None)):
        raise HloError([_no_hook()])
    return compiler


def _no_hook() -> Diagnostic:
    return Diagnostic(NO_HOOK, f"this version of JAX has no function {_HOOK} that hlotool could listen to",
                      filename="<jax>", help="set --xla_dump_to in XLA_FLAGS and lint that folder: hlo-lint FOLDER")


def _from_stablehlo(program: Any) -> HloModule:
    """The module of a program in memory, with text, so that places in it can be shown."""
    from hlotool.mlir import from_stablehlo

    # Its operations are changed by compiling; a copy as text keeps the locations.
    return _from_text(str(from_stablehlo(program.operation.get_asm(enable_debug_info=True), isolate=False)))


def _from_text(text: str) -> HloModule:
    from hlotool.passes.read import parse

    return parse(text, "<jax>")


def _at_program(found: Sequence[Diagnostic], module: str) -> Iterator[Diagnostic]:
    """Each finding at the line of the program; equal ones of one line are one."""
    seen: set[tuple[str, str, int, str]] = set()
    for diagnostic in found:
        origin = diagnostic.origin
        if origin is None or not origin.file or not origin.line:
            yield replace(diagnostic, filename=f"<{module}>")
            continue
        key = (diagnostic.code, origin.file, origin.line, origin.op_name)
        if key in seen:
            continue
        seen.add(key)
        line = linecache.getline(origin.file, origin.line).rstrip()
        start = len(line) - len(line.lstrip()) + 1
        what = f" as {origin.op_name}" if origin.op_name else ""
        notes = (Note(f"compiled in {module}{what}"), *(Note(n.message) for n in diagnostic.notes))
        yield replace(diagnostic, filename=origin.file, line=origin.line, column=start, end_line=origin.line,
                      end_column=max(start + 1, len(line) + 1), origin=None, notes=notes, fixes=())


def print_frames(found: Sequence[Diagnostic]) -> None:
    """Frames on standard error, with the lines of the program."""
    from hlotool.diagnostics.render import Renderer, in_order

    files = {d.filename for d in found if not d.filename.startswith("<")}
    sources = {file: Source("".join(linecache.getlines(file)), file) for file in files}
    draw = Renderer(sources, color=sys.stderr.isatty())
    print("\n\n".join(map(draw.frame, in_order(found))) + "\n", file=sys.stderr)
