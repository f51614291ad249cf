"""A call of a JAX function from all sides, and passes over what JAX compiles."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hlotool
import hlotool.jax
from hlotool.passes import PASSES

HERE = str(Path(__file__))
LINE = "return jnp.log(jnp.tanh(x @ w)).sum()"


def step(w, x):
    return jnp.log(jnp.tanh(x @ w)).sum()


def test_nan_is_named_at_the_line_of_the_program() -> None:
    found = hlotool.jax.check(step, np.ones((4, 4), "f4"), -np.ones((2, 4), "f4"), seconds=1)
    assert found.values == "nan" and not found.is_good
    (nan,) = [d for d in found.diagnostics if d.code == "E130"]
    assert nan.filename == HERE and LINE in Path(HERE).read_text().splitlines()[nan.line - 1]
    assert "makes NaN" in str(found) and LINE in str(found)


def test_a_good_call_is_good() -> None:
    found = hlotool.jax.check(lambda x: jnp.sin(x) * 2, np.ones(4, "f4"), seconds=1)
    assert found.is_good and found.verdict == "agree" and found.optimized is not None
    assert "0 findings; the optimised program computes the same" in str(found)


def test_what_xla_gets_wrong_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that makes a cosine of a sine."""
    from hlotool.jax import checked_call

    original = checked_call.module_of_text
    monkeypatch.setattr(checked_call, "module_of_text", lambda text: original(text.replace(" sine(", " cosine(")))
    found = hlotool.jax.check(lambda x: jnp.sin(x) * 2, np.ones(4, "f4"), seconds=1)
    assert found.verdict == "differ" and not found.is_good
    assert len(found.comparisons) == 1  # its own arguments show it


def test_static_arguments_and_keywords() -> None:
    def power(x, n, *, scale):
        return x ** n * scale

    found = hlotool.jax.check(power, np.float32(2), 3, static_argnums=(1,), scale=np.float32(0.5), seconds=1)
    assert found.verdict == "agree" and len(found.module.entry.parameters()) == 2


def cosines(module: hlotool.HloModule) -> hlotool.HloModule:
    for instruction in module.find_all("sine"):
        instruction.opcode = "cosine"
    return module


def test_a_pass_changes_what_is_compiled() -> None:
    with hlotool.jax.rewriting(cosines) as done:
        assert jax.jit(lambda x: jnp.sin(x) + 1)(0.0) == 2.0
    assert [len(after.find_all("cosine")) for _, after in done.modules if "add" in str(after)] == [1]
    assert jax.jit(lambda x: jnp.sin(x) + 2)(0.0) == 2.0


def test_our_own_passes_and_programs_with_donation_and_tuples() -> None:
    step = jax.jit(lambda state, x: ({"w": state["w"] + x, "n": state["n"] + 1}, x.T.T), donate_argnums=0)
    with hlotool.jax.rewriting(PASSES["dce"]) as done:
        state, x = step({"w": jnp.ones((2, 3)), "n": 0}, jnp.full((2, 3), 2.0))
    assert done.modules and (state["w"] == 3).all() and state["n"] == 1 and (x == 2).all()


@pytest.mark.parametrize(("broken", "said"), [
    (lambda module: hlotool.parse("HloModule a\nENTRY e { ROOT x = f32[] constant(1) }"), "other arguments or results"),
    (lambda module: hlotool.parse("HloModule a\nENTRY e { x = f32[2] parameter(0) ROOT y = f32[3] negate(x) }"),
     "negate")])
def test_a_pass_that_breaks_a_module_is_told_where_it_compiles(broken, said: str) -> None:
    with hlotool.jax.rewriting(broken), pytest.raises(hlotool.HloError) as error:
        jax.jit(lambda x: x * 5 + 1)(1.0)
    assert error.value.diagnostics[0].code == "J003" and said in str(error.value)
    assert jax.jit(lambda x: x * 5 + 1)(1.0) == 6
