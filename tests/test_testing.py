"""Assertions that users' tests make."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hlotool.stablehlo import from_stablehlo, with_readable_kernels
from hlotool.testing import assert_same, assert_same_hlo

X = np.ones((4, 4), "f4")


def test_programs_that_compute_something_else() -> None:
    assert_same(jax.jit(lambda x: x + x).lower(X), jax.jit(lambda x: 2 * x).lower(X), time_budget=1)
    with pytest.raises(AssertionError, match="differ"):
        assert_same(jax.jit(lambda x: x + x).lower(X), jax.jit(lambda x: 3 * x).lower(X), time_budget=1)


def test_a_golden_is_written_and_held(tmp_path: Path) -> None:
    golden = tmp_path / "new" / "step.hlo"
    with pytest.raises(AssertionError, match="does not exist"):
        assert_same_hlo(jax.jit(lambda x: jnp.tanh(x @ x)).lower(X), golden)
    assert_same_hlo(jax.jit(lambda x: jnp.tanh(x @ x)).lower(X), golden, update=True)
    text = golden.read_text()
    assert "metadata" not in text and __file__ not in text

    def other_name_and_line(argument):
        product = argument @ argument
        return jnp.tanh(product)

    assert_same_hlo(jax.jit(other_name_and_line).lower(X), golden)
    with pytest.raises(AssertionError, match=r"sine.*\n(.*\n)*.*HLOTOOL_UPDATE=1"):
        assert_same_hlo(jax.jit(lambda x: jnp.sin(x @ x)).lower(X), golden)
    assert golden.read_text() == text


def test_the_environment_lets_goldens_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golden = tmp_path / "step.hlo"
    monkeypatch.setenv("HLOTOOL_UPDATE", "1")
    assert_same_hlo(jax.jit(jnp.sin).lower(X), golden)
    assert_same_hlo(jax.jit(jnp.cos).lower(X), golden)
    monkeypatch.setenv("HLOTOOL_UPDATE", "0")
    assert_same_hlo(jax.jit(jnp.cos).lower(X), golden)
    with pytest.raises(AssertionError):
        assert_same_hlo(jax.jit(jnp.sin).lower(X), golden)


def kernel_program(scale: float, padding: str = ""):
    """A program with a kernel of Mosaic for TPUs; `padding` moves it to another line."""
    source = f"""{padding}
from jax.experimental import pallas as pl
import jax, jax.numpy as jnp
def kernel(x, o):
    o[...] = x[...] * {scale}
def program(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(x)
"""
    names: dict = {}
    exec(compile(source, f"/somewhere/{len(padding)}/kernel.py", "exec"), names)
    return jax.export.export(jax.jit(names["program"]), platforms=["tpu"])(jnp.ones((8, 128)))


def test_kernels_are_compared_as_text(tmp_path: Path) -> None:
    golden = tmp_path / "kernel.hlo"
    assert_same_hlo(kernel_program(2.0), golden, update=True)
    assert "arith.mulf" in golden.read_text() and "/somewhere" not in golden.read_text()
    assert_same_hlo(kernel_program(2.0, "\n\n\n"), golden)
    with pytest.raises(AssertionError, match="backend_config"):
        assert_same_hlo(kernel_program(3.0), golden)


def test_what_is_no_kernel_stays() -> None:
    text = ('HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT c = f32[2] custom-call(x), custom_call_target="f", '
            'backend_config="TUzvUgnot base64 at all{\\"a\\": \\"TUzvUgAA\\"}" }')
    import hlotool

    module = hlotool.parse(text)
    assert str(with_readable_kernels(module)) == str(module)
    assert from_stablehlo(hlotool.to_stablehlo(module)) is not None
