"""Calls of GPUs' libraries of linear algebra, as JAX lowers programs for them: on the reference, as loops on CPUs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hlotool

_RANDOM = np.random.default_rng(4)
_SQUARE, _TALL, _WIDE = (_RANDOM.normal(size=s).astype(np.float32) for s in ((4, 4), (5, 3), (3, 5)))
_COMPLEX = (_SQUARE + 1j * _RANDOM.normal(size=(4, 4))).astype(np.complex64)
_MANY = _RANDOM.normal(size=(2, 3, 3)).astype(np.float32)


def _symmetric(a: Any) -> Any:
    return a + jnp.swapaxes(a, -1, -2).conj()


def _definite(a: Any) -> Any:
    return a @ jnp.swapaxes(a, -1, -2).conj() + jnp.eye(a.shape[-1], dtype=a.dtype)


def _of_eigenvectors(a: Any) -> Any:
    values, vectors = jnp.linalg.eigh(_symmetric(a))
    return values, (vectors * values[..., None, :]) @ jnp.swapaxes(vectors, -1, -2).conj()


def _of_singular_vectors(a: Any, full: bool = False) -> Any:
    u, s, vt = jnp.linalg.svd(a, full_matrices=full)
    k = s.shape[-1]
    return s, (u[..., :k] * s[..., None, :]) @ vt[..., :k, :]


def _tridiagonal(a: Any) -> Any:
    return jax.lax.linalg.tridiagonal_solve(a[0].at[0].set(0), a[1] + 4, a[2].at[-1].set(0), a[:, :2])


def _by_qr(a: Any) -> Any:
    u, s, vt = jax.lax.linalg.svd(a, full_matrices=False, algorithm=jax.lax.linalg.SvdAlgorithm.QR)
    return s, (u * s) @ vt


_PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "cholesky": (lambda a: jnp.linalg.cholesky(_definite(a)), _SQUARE),
    "cholesky of complex numbers": (lambda a: jnp.linalg.cholesky(_definite(a)), _COMPLEX),
    "cholesky of several": (lambda a: jnp.linalg.cholesky(_definite(a)), _MANY),
    "lu": (jax.lax.linalg.lu, _SQUARE), "lu of a tall matrix": (jax.lax.linalg.lu, _TALL),
    "solve": (lambda a: jnp.linalg.solve(a, a[:, :2] + 1), _SQUARE),
    "qr": (jnp.linalg.qr, _TALL),
    "eigh": (_of_eigenvectors, _SQUARE),
    "eigh of complex numbers": (_of_eigenvectors, _COMPLEX),
    "svd": (_of_singular_vectors, _TALL),
    "svd of a wide matrix": (_of_singular_vectors, _WIDE),
    "svd in full": (lambda a: _of_singular_vectors(a, True), _TALL),
    "singular values by QR": (lambda a: jax.lax.linalg.svd(
        a, compute_uv=False, algorithm=jax.lax.linalg.SvdAlgorithm.QR), _WIDE),
    "svd of a wide matrix by QR": (_by_qr, _WIDE),
    "svd of a tall matrix by QR": (_by_qr, _TALL),
    "three diagonals": (_tridiagonal, _SQUARE),
}


def _lowered(function: Callable[[Any], Any], argument: Any, platform: str) -> hlotool.HloModule:
    text = jax.jit(function).trace(argument).lower(lowering_platforms=(platform,)).as_text()
    return hlotool.from_stablehlo(text)


@pytest.mark.parametrize("name", _PROGRAMS)
@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
def test_a_program_for_gpus_gives_what_it_gives_on_a_cpu(name: str, executor: str) -> None:
    function, argument = _PROGRAMS[name]
    module = _lowered(function, argument, "cuda")
    targets = {str(i.attributes.get("custom_call_target")) for i in module.instructions() if i.opcode == "custom-call"}
    assert any(target.startswith("cu") for target in targets)
    wanted = jax.tree.leaves(jax.jit(function)(argument))
    for given, right in zip(hlotool.execute(module, [argument], executor=executor), wanted, strict=True):
        np.testing.assert_allclose(given, right, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("name", _PROGRAMS)
def test_lifting_leaves_no_call_of_a_library(name: str) -> None:
    module = _lowered(*_PROGRAMS[name], "cuda")
    assert "custom_call" not in str(hlotool.to_stablehlo(module))
