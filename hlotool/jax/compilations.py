"""Findings about the modules that JAX compiles, at the lines of the Python program.

    with hlotool.jax.lint_compilations() as found:
        step(parameters, batch)                     # compiled here, reported here
    assert not found.diagnostics
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from hlotool.diagnostics import Diagnostic, HloError, Severity, define
from hlotool.ir import HloModule
from hlotool.jax.compiler_hook import NO_HOOK, CompilerHook
from hlotool.jax.program_lines import at_program, module_of, module_of_text, print_frames
from hlotool.linting import FAIL_ON, Settings, lint

NOT_LINTED = define("J002", "not-linted", "a compiled module that could not be looked at")

#: is given the findings of each module that has any
Report: TypeAlias = Callable[[Sequence[Diagnostic]], None]


def lint_compilations(config: Settings | Mapping[str, Any] | str | Path | None = None, *, report: Report | None = None,
                      optimized: bool = False, fail_on: str = "never") -> Compilations:
    """Lint every module that JAX compiles from now on, until the result is left as a context or stopped.

    `config` is as for hlotool.linting. Findings go to `report` (default: frames on standard error), at the line of the
    program that they come from; `optimized` looks at what XLA makes of a module, too. Findings as bad as `fail_on`
    ("error", "warning", "info") are raised as HloError where the program is compiled. Raises HloError (J001) where
    JAX cannot be listened to.
    """
    if fail_on not in FAIL_ON:
        raise HloError.of(NO_HOOK, f"fail_on is {fail_on!r}; it is one of {', '.join(FAIL_ON)}")
    return Compilations(config, report or print_frames, optimized, FAIL_ON[fail_on])


class Compilations(CompilerHook):
    """The findings in modules that JAX compiled; a context that ends the listening."""

    def __init__(self, config: Settings | Mapping[str, Any] | str | Path | None, report: Report, optimized: bool,
                 fail_on: Sequence[Severity]) -> None:
        self.diagnostics: list[Diagnostic] = []
        #: names of the modules that were looked at
        self.modules: list[str] = []
        self._config, self._report, self._optimized, self._fail_on = config, report, optimized, fail_on
        super().__init__()

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        from jax.extend.mlir import ir

        for program in (a for a in (*args, *kwargs.values()) if isinstance(a, ir.Module)):
            self._look_at(partial(module_of, program))
        executable = self.original(*args, **kwargs)
        for module in executable.hlo_modules() if self._optimized else ():
            self._look_at(partial(module_of_text, module.to_string()))
        return executable

    def _look_at(self, made: Callable[[], HloModule]) -> None:
        found: list[Diagnostic] = []
        try:
            module = made()
            self.modules.append(module.name)
            found = list(at_program(lint(module, config=self._config), module.name))
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
