"""Nightly: programs of JAX's libraries, before and after optimisation and as StableHLO, through every step.

Each is read, printed, linted, lifted, run as JAX runs it, and brought back. A few run every time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool import from_stablehlo, to_stablehlo
from hlotool.ir import HloModule
from hlotool.passes.equality import CONVERSIONS, SIMPLIFICATIONS, same_up_to
from hlotool.stablehlo import LiftOptions

NIGHTLY = bool(os.environ.get("HLOTOOL_NIGHTLY"))
#: what runs every time: no other library than JAX itself
QUICK = ("jax.numpy.linalg solve", "jax.lax scan", "jax.nn attention")

#: programs whose loops carry equal values, in another order: nothing tells which is which
_NOT_THE_SAME = frozenset({"diffrax euler"})


def _names() -> Iterable[str]:
    if not NIGHTLY:
        return QUICK
    import jax_library_programs

    return sorted(jax_library_programs.PROGRAMS)


def _program(name: str) -> tuple[Callable[..., Any], list[np.ndarray]]:
    import jax_library_programs

    function, shapes = jax_library_programs.PROGRAMS[name]
    random = np.random.default_rng(3)
    return function, [random.normal(size=tuple(map(int, s.split()[1:]))).astype(np.float32) for s in shapes]


def _checked(module: HloModule, what: str) -> HloModule:
    """The module, read again from its own text, without an error that lint sees."""
    text = str(module)
    again = hlotool.parse(text)
    assert str(again) == text, what
    errors = [d for d in hlotool.lint(text) if d.severity == "error"]
    assert not errors, (what, errors[:3])
    return again


def _agrees(found: list[np.ndarray], expected: list[np.ndarray], what: str) -> None:
    assert len(found) == len(expected), what
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), what
        np.testing.assert_allclose(ours, theirs, 5e-4, 5e-5, err_msg=what)


def _text(module: Any) -> str:
    """The dump of XLA's module, with every constant whole."""
    from xla_library import xla_hlo

    options = xla_hlo.HloPrintOptions()
    options.print_large_constants = True
    return str(module.to_string(options))


@pytest.mark.parametrize("name", _names())
def test_a_program_goes_every_way(name: str) -> None:
    import jax

    function, arguments = _program(name)
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    compiled = lowered.compile()
    expected = list(map(np.asarray, jax.tree.leaves(compiled(*arguments))))
    source = lowered.compiler_ir("stablehlo").operation.get_asm(large_elements_limit=None)
    (optimised,) = compiled.runtime_executable().hlo_modules()
    forms = {"before": lambda: hlotool.parse(_text(lowered.compiler_ir("hlo").as_hlo_module())),
             "after": lambda: hlotool.parse(_text(optimised)), "mlir": lambda: from_stablehlo(source)}
    same = same_up_to(forms["before"](), forms["mlir"](), is_converted=True)
    assert name in _NOT_THE_SAME or (same is not None and {*SIMPLIFICATIONS, *CONVERSIONS}.issuperset(same)), name
    for form, read in forms.items():
        what = f"{name}, {form}"
        module = _checked(read(), what)
        program = to_stablehlo(module)
        assert {o.split(".")[0] for o in _operations(program)} <= {"builtin", "func", "stablehlo", "chlo", "sdy"}, what
        _agrees(hlotool.execute(module, arguments, executor="pjrt:cpu"), expected, what)
        # Calls of libraries become loops, which come back as such; the others are the same program.
        whole = to_stablehlo(module, options=LiftOptions(library=False))
        assert form == "after" or same_up_to(module, from_stablehlo(whole)) is not None, f"{what}, back"
        back = _checked(from_stablehlo(program), f"{what}, back")
        _agrees(hlotool.execute(back, arguments, executor="pjrt:cpu"), expected, f"{what}, back")


def _operations(program: Any) -> set[str]:
    from hlotool.stablehlo.expansion import operation_names

    return operation_names(program)


@pytest.mark.skipif(not NIGHTLY, reason="nightly: HLOTOOL_NIGHTLY is not set")
def test_there_are_programs_of_many_libraries() -> None:
    import jax_library_programs

    names = list(jax_library_programs.PROGRAMS)
    assert len(names) >= 60
    assert len({n.split()[0] for n in names}) >= 10
