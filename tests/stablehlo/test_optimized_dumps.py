"""What XLA's CPU compiler made of programs, lifted, gives what the programs give."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.execution import Program, arguments_for, run_program
from hlotool.numerics import Evidence, judge_results

MODELS = Path(__file__).parents[2] / "samples" / "models"


@pytest.fixture(scope="module")
def programs():
    pytest.importorskip("jax")
    import jax_programs

    return jax_programs


def names() -> list[str]:
    """The programs, read without importing JAX."""
    source = (Path(__file__).parents[1] / "jax_programs.py").read_text()
    return re.findall(r"^@program\(.*\)\ndef (\w+)", source, re.M)


def chosen(names: Iterable[str], quick: Iterable[str]) -> list[Any]:
    """The names; all but the quick ones are left to nightly runs, which set HLOTOOL_NIGHTLY."""
    nightly = pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="nightly: HLOTOOL_NIGHTLY is not set")
    return [pytest.param(name, marks=() if name in quick else nightly) for name in names]


#: what has loops, sorts, library calls, gradients: one of each in every run
QUICK = {"convolution_gradients", "recurrence", "sorting", "linear_algebra", "half_precision"}
QUICK_SAMPLES = {"int8_quantized_matmul", "sort_topk_gather_scatter"}


def optimised_text(compiled) -> str:
    """The dump with every constant whole."""
    from xla_library import xla_hlo

    options = xla_hlo.HloPrintOptions()
    options.print_large_constants = True
    (module,) = compiled.runtime_executable().hlo_modules()
    return module.to_string(options)


@pytest.mark.parametrize("name", chosen(names(), QUICK))
def test_jax_programs(programs, name: str) -> None:
    import jax

    function, described = programs.PROGRAMS[name]
    arguments = [programs.argument(text, seed) for seed, text in enumerate(described)]
    compiled = jax.jit(function).lower(*arguments).compile()
    expected = list(map(np.asarray, jax.tree.leaves(compiled(*arguments))))
    module = hlotool.parse(optimised_text(compiled))
    assert module.attributes["is_scheduled"]
    found = hlotool.execute(module, arguments)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        if theirs.dtype.kind in "biu":
            np.testing.assert_array_equal(ours, theirs)
        else:
            wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
            tolerance = 2e-2 if theirs.dtype.itemsize == 2 else 2e-5
            np.testing.assert_allclose(ours.astype(wide), theirs.astype(wide), tolerance, tolerance)


SAMPLES = sorted(p.name.split(".")[0] for p in MODELS.glob("*.optimized.hlo"))


@pytest.mark.parametrize("name", chosen(SAMPLES, QUICK_SAMPLES))
def test_samples(name: str) -> None:
    """The optimised module of each sample is lifted whole, and equals the sample."""
    original, optimised = (Program(hlotool.parse((MODELS / f"{name}{form}.hlo").read_text()))
                           for form in ("", ".optimized"))
    given = [arguments_for(original, seed, "random") for seed in range(original.devices)]
    if optimised.devices != original.devices:
        pytest.skip("the optimised module is one device's share of the work")
    expected, found = run_program(original, given), run_program(optimised, given)
    judged = judge_results(found, Evidence(original, given), expected)
    assert not [j for j in judged if j.judgement.is_wrong]
