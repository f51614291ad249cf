"""Listening to what JAX compiles: findings at the lines of the program, nothing broken by the listening."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hlotool.jax
from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.jax.checked_call import CheckedCall
from hlotool.verdict import Comparison

HERE = pathlib.Path(__file__)
X = np.ones((4, 3), np.float32)


def there_and_back(x: Any) -> Any:
    return x.T.T + 1  # two transposes


LINE = there_and_back.__code__.co_firstlineno + 1


def fresh(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function, to be compiled anew."""
    def called(x: Any) -> Any:
        return function(x)

    return jax.jit(called)


def test_findings_stand_at_the_line_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    with hlotool.jax.lint_compilations({"select": ["W1"]}) as found:
        assert fresh(there_and_back)(X).shape == (4, 3)
    assert {(pathlib.Path(d.filename).name, d.line) for d in found.diagnostics} == {(HERE.name, LINE)}
    err = capsys.readouterr().err
    assert f"{LINE} |     return x.T.T + 1  # two transposes" in err and "compiled in jit_called" in err
    assert any("transpose" in d.message for d in found.diagnostics) and len(found.modules) >= 1


def test_the_listening_ends() -> None:
    from jax._src import compiler

    before = compiler.compile_or_get_cached
    listening = hlotool.jax.lint_compilations({"select": ["W1"]}, report=lambda found: None)
    assert compiler.compile_or_get_cached != before
    listening.stop()
    fresh(there_and_back)(X)
    assert compiler.compile_or_get_cached == before and listening.diagnostics == []


def test_findings_can_fail_the_compilation() -> None:
    silent: list[Diagnostic] = []
    with hlotool.jax.lint_compilations({"select": ["W1"]}, report=silent.extend, fail_on="warning") as found, \
            pytest.raises(HloError, match="transpose"):
        fresh(there_and_back)(X)
    assert silent == found.diagnostics != []
    with pytest.raises(HloError, match="fail_on is 'eror'"):
        hlotool.jax.lint_compilations(fail_on="eror")


def test_optimised_modules_are_looked_at_too() -> None:
    with hlotool.jax.lint_compilations(report=lambda found: None, optimized=True) as found:
        fresh(lambda x: jnp.tanh(x) @ x.T)(X)
    assert len(found.modules) == 2 * len(set(found.modules))


def test_what_goes_wrong_in_the_listening_breaks_no_program(monkeypatch: pytest.MonkeyPatch,
                                                            capsys: pytest.CaptureFixture[str]) -> None:
    from hlotool.jax import compilations

    def fails(program: Any) -> Any:
        raise KeyError("oops")

    monkeypatch.setattr(compilations, "module_of", fails)
    with hlotool.jax.lint_compilations() as found:
        assert float(fresh(there_and_back)(X)[0, 0]) == 2
    assert [d.code for d in found.diagnostics][:1] == ["J002"] and "KeyError" in capsys.readouterr().err


def test_another_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    from jax._src import compiler

    monkeypatch.delattr(compiler, "compile_or_get_cached")
    with pytest.raises(HloError) as caught:
        hlotool.jax.lint_compilations()
    assert [d.code for d in caught.value.diagnostics] == ["J001"]


def test_importing_it_loads_no_jax() -> None:
    import subprocess

    code = "import sys, hlotool.jax; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(("severity", "is_good"), [
    (Severity.INFO, True), (Severity.WARNING, False), (Severity.ERROR, False), (None, True)])
def test_notes_do_not_make_a_call_a_bad_one(severity: Severity | None, is_good: bool) -> None:
    module = hlotool.parse("HloModule m\n\nENTRY e {\n  ROOT c = f32[] constant(1)\n}\n")
    found = [] if severity is None else [Diagnostic("W101", "said", severity=severity)]
    agreed = Comparison("a", "b", ("reference",), inputs=["plain"])
    assert agreed.verdict == "agree"
    assert CheckedCall(module, module, found, [agreed]).is_good == is_good
