"""Costs and memory of JAX programs against XLA's own analyses of what it compiled; differences have known causes."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import pytest

import hlotool
from hlotool.passes.cost import module_cost, peak_memory

sys.path[:0] = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parents[1] / "benchmarks")]

from bench_cost import NONE, REASONS, compared  # noqa: E402
from jax_programs import PROGRAMS  # noqa: E402

MANUAL = pathlib.Path(hlotool.__file__).parent / "docs" / "costs.md"


@pytest.mark.parametrize("name", PROGRAMS)
def test_costs_differ_from_xlas_for_known_reasons_only(name: str) -> None:
    found = compared(name)
    assert found.causes.keys() <= REASONS.keys()
    assert sum(found.causes.values(), found.theirs) == found.ours
    # What is counted as XLA counts it: everything but traffic in all programs without loops, sorts and library calls.
    if not found.causes.keys() & {"loops", "branches", "library", "sort", "fft", "bitcast-convert"}:
        assert (found.ours.flops, found.ours.functions) == (found.theirs.flops, found.theirs.functions)
    assert found.causes.get("unexplained", NONE) == NONE
    assert found.memory.total == pytest.approx(found.their_memory, rel=0.05)


def test_the_manual_has_every_program_and_every_reason() -> None:
    text = " ".join(MANUAL.read_text("utf-8").split())
    assert [name for name in PROGRAMS if f"| {name} |" not in text] == []
    assert [reason for reason in REASONS.values() if reason not in text] == []


def _memory(function: Any, *arguments: Any, donated: tuple[int, ...] = ()) -> tuple[int, int]:
    import jax

    compiled = jax.jit(function, donate_argnums=donated).lower(*arguments).compile()
    theirs: Any = compiled.memory_analysis()
    return peak_memory(hlotool.parse(compiled.as_text())).temporaries, theirs.temp_size_in_bytes


def test_loops_in_loops_and_branches_need_what_the_compiler_gave_them() -> None:
    import jax
    import jax.numpy as jnp
    from jax import lax

    def nested(x: Any) -> Any:
        def inner(_: Any, c: Any) -> Any:
            return lax.scan(lambda d, _: (jnp.sin(d @ d), d.sum()), c, None, length=4)[0]

        return lax.fori_loop(0, 3, inner, x)

    def branching(x: Any, i: Any) -> Any:
        return lax.switch(i, [lambda y: y @ y @ y, jnp.sort, lambda y: jax.nn.softmax(y @ y)], x).sum()

    x = jnp.ones((32, 32))
    for ours, theirs in (_memory(nested, x), _memory(nested, x, donated=(0,)), _memory(branching, x, 1)):
        assert ours == pytest.approx(theirs, rel=0.05)


def test_library_calls_in_their_operands_memory_and_nested_branches_need_what_the_compiler_gave_them() -> None:
    import jax
    import jax.numpy as jnp
    from jax import lax

    x = jnp.ones((32, 32))
    programs = [lambda a: lax.linalg.triangular_solve(a, a, lower=True), jnp.linalg.svd, jax.scipy.linalg.expm,
                lambda a: lax.top_k(a[0], 5), lambda a: a.at[3].set(1.0).at[:, 5].add(2.0)]
    for number, program in enumerate(programs):
        ours, theirs = _memory(program, x)
        assert ours == pytest.approx(theirs, rel=0.05), number


def test_a_scan_of_100_costs_100_times_its_step() -> None:
    import jax
    import jax.numpy as jnp

    def step(c: Any, _: Any) -> tuple[Any, None]:
        return jnp.tanh(c @ c), None

    x = jnp.ones((8, 8))
    flops = {}
    for length, unroll in ((100, 1), (100, 100)):
        def program(x: Any, length: int = length, unroll: int = unroll) -> Any:
            return jax.lax.scan(step, x, None, length=length, unroll=unroll)[0]

        cost = module_cost(hlotool.parse(jax.jit(program).lower(x).compile().as_text()))
        assert not cost.unknown_loops
        flops[unroll] = cost.total
    # The counter of the loop: 100 additions, 101 comparisons.
    assert flops[1].flops == flops[100].flops + 201
    assert flops[1].transcendentals == flops[100].transcendentals == 100 * 64
