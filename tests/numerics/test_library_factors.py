"""Factors of LAPACK: what rounds in them, and what a library leaves open, is not called wrong; a fault is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
import pytest

import hlotool
from hlotool.execution import Program
from hlotool.numerics import Draws, Evidence, Kind, sample_program

HONEST: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "eigenvectors": (lambda a: jnp.linalg.eigh(a + a.T), (4, 4)),
    "their products": (lambda a: jnp.linalg.eigh(a + a.T)[1].T @ a, (4, 4)),
    "batches": (lambda a: jnp.linalg.eigh(a + a.swapaxes(-1, -2)), (2, 3, 3)),
    "singular vectors": (jnp.linalg.svd, (5, 3)),
    "pseudoinverse": (jnp.linalg.pinv, (4, 3)),
    "reflections": (lambda a: jax.nn.relu(jnp.linalg.qr(a)[0]), (5, 3)),
    "wide matrices": (jnp.linalg.qr, (3, 5)),
    "real Schur form": (jsl.schur, (4, 4)),
    "complex Schur form": (lambda a: jsl.schur(a, output="complex"), (4, 4)),
    "eigenvectors of any matrix": (jnp.linalg.eig, (4, 4)),
    "quotients of singular values": (jnp.linalg.cond, (3, 3)),
    "gradients of inverses": (jax.grad(lambda a: jnp.linalg.inv(a).sum()), (3, 3)),
    "tridiagonal systems": (lambda a: jax.lax.linalg.tridiagonal_solve(a[0], a[1], a[2], a[3:].T), (5, 5)),
    "transforms": (lambda a: jax.scipy.signal.fftconvolve(a, a[:5]), (16,)),
    "Hessenberg form": (lambda a: jsl.hessenberg(a, calc_q=True), (4, 4)),
}


def text_of(function: Callable[..., Any], dims: tuple[int, ...]) -> str:
    text: str = jax.jit(function).lower(jax.ShapeDtypeStruct(dims, "float32")).as_text("hlo")
    return text


@pytest.mark.parametrize("name", HONEST)
def test_honest_factors_are_not_called_wrong(name: str) -> None:
    found = hlotool.compare(text_of(*HONEST[name]), executors=("pjrt:cpu",))
    assert not found.findings, found
    assert found.compared >= 40


def test_the_other_direction_of_a_vector_is_left_open() -> None:
    program = Program(hlotool.parse(text_of(*HONEST["eigenvectors"])))
    arguments = [[np.random.default_rng(1).normal(size=(4, 4)).astype(np.float32)]]
    evidence = Evidence(program, arguments)
    values, vectors = evidence.reference[0]
    assert evidence.judge(vectors * np.float32([1, -1, 1, -1]), result=1).kind is Kind.OPEN
    assert evidence.judge(vectors, result=1).kind is Kind.EQUAL
    assert evidence.judge(values * np.float32(1.01)).kind is Kind.WRONG


def test_factors_with_other_signs_are_factors_still() -> None:
    program = Program(hlotool.parse(text_of(lambda a: (jnp.linalg.svd(a, full_matrices=False), jsl.schur(a)), (4, 4))))
    matrix = np.random.default_rng(2).normal(size=(4, 4)).astype(np.float32)
    signs = set()
    for seed in range(8):
        left, values, right, form, unitary = sample_program(program, [[matrix]], (Draws.CHOICES, seed))[0]
        signs.add(tuple(np.sign(left[0])))
        np.testing.assert_allclose(left * values @ right, matrix, atol=1e-5)
        np.testing.assert_allclose(unitary @ form @ unitary.T, matrix, atol=1e-5)
    assert len(signs) > 1


@pytest.mark.parametrize("other", [
    lambda a: jnp.linalg.eigh(a + a.T + 1e-3 * jnp.eye(4))[0], lambda a: -jnp.linalg.eigh(-a - a.T)[0]])
def test_other_values_are_wrong(other: Callable[..., Any]) -> None:
    found = hlotool.compare(text_of(lambda a: jnp.linalg.eigh(a + a.T)[0], (4, 4)), text_of(other, (4, 4)))
    assert found.findings
