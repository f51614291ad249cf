"""Programs of JAX's libraries: numerics, linear algebra, random numbers, networks, optimisers, solvers, samplers.

A library that is not installed has no programs here; nightly tests say how many libraries there were.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax

# Equinox then answers an error with NaN, where it would call back into this process.
os.environ.setdefault("EQX_ON_ERROR", "nan")

#: "library name" -> function and the shapes of its arguments (f 2 3: f32[2,3])
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {}
_ROOT = np.eye(4, dtype=np.float32) * 4


def _has(library: str) -> bool:
    try:
        importlib.import_module(library)
    except ImportError:
        return False
    return True


def _add(library: str, *shapes: str, **functions: Callable[..., Any]) -> None:
    """Programs of a library that take arguments of the same shapes."""
    PROGRAMS.update({f"{library} {name}": (function, shapes) for name, function in functions.items()})


_add("jax.numpy", "f 4 6", sort=lambda x: jnp.sort(x, 1), argsort=jnp.argsort, cumsum=lambda x: jnp.cumsum(x, 0),
     median=lambda x: jnp.median(x, 0), percentile=lambda x: jnp.percentile(x, 30), unwrap=jnp.unwrap,
     interp=lambda x: jnp.interp(x, jnp.arange(5.0), jnp.arange(5.0) ** 2), gradient=lambda x: jnp.gradient(x, axis=1),
     histogram=lambda x: jnp.histogram(x, bins=4, range=(-2, 2))[0], where=lambda x: jnp.where(x > 0, x, -x).sum(),
     einsum=lambda x: jnp.einsum("ij,kj->ik", x, x), convolve=lambda x: jnp.convolve(x[0], x[1]),
     take=lambda x: jnp.take(x, jnp.array([3, 0, -1]), axis=0), roll=lambda x: jnp.roll(x, 2, 1),
     polyval=lambda x: jnp.polyval(x[0], x[1]), cross=lambda x: jnp.cross(x[:, :3], x[:, 3:]))
_add("jax.numpy.fft", "f 4 6", fft=jnp.fft.fft, rfft2=jnp.fft.rfft2, irfft=jnp.fft.irfft)
_add("jax.numpy.linalg", "f 4 4", solve=lambda a: jnp.linalg.solve(a + _ROOT, a), det=jnp.linalg.det,
     inverse=lambda a: jnp.linalg.inv(a + _ROOT), cholesky=lambda a: jnp.linalg.cholesky(a @ a.T + _ROOT),
     eigenvalues=lambda a: jnp.linalg.eigvalsh(a + a.T), singular=lambda a: jnp.linalg.svd(a, compute_uv=False),
     least_squares=lambda a: jnp.linalg.lstsq(a + _ROOT, a[0])[0], power=lambda a: jnp.linalg.matrix_power(a, 3),
     any_eigenvalues=lambda a: jnp.sort_complex(jnp.linalg.eigvals(a)),
     qr=lambda a: jnp.linalg.qr(a + _ROOT), pseudoinverse=lambda a: jnp.linalg.pinv(a + _ROOT))
_add("jax.scipy", "f 4 4", lu=lambda a: jsp.linalg.lu(a + _ROOT), exponential=lambda a: jsp.linalg.expm(a / 4),
     triangular=lambda a: jsp.linalg.solve_triangular(a + _ROOT, a, lower=True), gammaln=lambda a: jsp.special.gammaln(
         abs(a) + 1), betainc=lambda a: jsp.special.betainc(2.0, 3.0, jax.nn.sigmoid(a)), erfinv=lambda a: (
         jsp.special.erfinv(jnp.tanh(a))), normal=jsp.stats.norm.logcdf, conv=lambda a: jsp.signal.convolve2d(a, a),
     schur=lambda a: abs(jsp.linalg.schur(a)[0].diagonal()),
     cho_solve=lambda a: jsp.linalg.cho_solve(jsp.linalg.cho_factor(a @ a.T + _ROOT), a))
_add("jax.nn", "f 4 6", gelu=jax.nn.gelu, softmax=jax.nn.softmax, log_softmax=jax.nn.log_softmax, selu=jax.nn.selu,
     standardize=jax.nn.standardize, one_hot=lambda x: jax.nn.one_hot(jnp.argmax(x, 1), 6),
     attention=lambda x: jax.nn.dot_product_attention(*(x.reshape(1, 4, 2, 3),) * 3, is_causal=True))
_add("jax.random", "f 3", normal=lambda x: jax.random.normal(jax.random.key(0), (3,)) + x, gumbel=lambda x: (
    jax.random.gumbel(jax.random.key(1), (3,)) * x), permutation=lambda x: jax.random.permutation(
        jax.random.key(2), x), randint=lambda x: jax.random.randint(jax.random.key(3), (3,), 0, 9) + x,
    categorical=lambda x: jax.random.categorical(jax.random.key(4), x, shape=(5,)))
_add("jax.lax", "f 4 6", scan=lambda x: lax.scan(lambda c, r: (c + r, c * r), x[0], x), top_k=lambda x: lax.top_k(x, 2),
     while_=lambda x: lax.while_loop(lambda s: s.sum() < 50, lambda s: s * s + 1, x), cond=lambda x: lax.cond(
         x[0, 0] > 0, jnp.sin, jnp.cos, x), switch=lambda x: lax.switch(jnp.argmax(x[0]) % 3, [
             jnp.sin, jnp.cos, jnp.tan], x), associative=lambda x: lax.associative_scan(jnp.maximum, x),
     dynamic=lambda x: lax.dynamic_update_slice(x, x[:2, :2], (jnp.argmax(x[0]), 1)),
     reduce=lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 2), "SAME"),
     cumulative=lambda x: (lax.cumlogsumexp(x, axis=1, reverse=True), lax.cummax(x)), pad=lambda x: lax.pad(
         x, np.float32(1), ((1, -1, 2), (-2, 3, 0))), precision=lambda x: lax.reduce_precision(x, 5, 7),
     composite=lax.composite(lambda y: jnp.sin(y) * 2, "house.wave"),
     barrier=lambda x: lax.optimization_barrier((x, x * 2))[1],
     platform=lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos))


def _declare_networks() -> None:
    if _has("flax"):
        from flax import linen

        class Net(linen.Module):
            @linen.compact
            def __call__(self, x):
                x = linen.LayerNorm()(linen.Dense(8)(x))
                return linen.Dense(2)(linen.relu(linen.Conv(3, (3,))(x[..., None]).reshape(x.shape[0], -1)))

        net = Net()
        weights = net.init(jax.random.key(0), jnp.ones((4, 6)))
        cell = linen.LSTMCell(5)
        carry = cell.initialize_carry(jax.random.key(0), (4, 6))
        own = cell.init(jax.random.key(1), carry, jnp.ones((4, 6)))
        _add("flax", "f 4 6", forward=lambda x: net.apply(weights, x), lstm=lambda x: cell.apply(own, carry, x)[1],
             gradient=lambda x: jax.grad(lambda w: (net.apply(w, x) ** 2).sum())(weights))
    if _has("equinox"):
        import equinox

        mlp = equinox.nn.MLP(6, 2, 8, 2, key=jax.random.key(0))
        gru = equinox.nn.GRUCell(6, 5, key=jax.random.key(1))
        _add("equinox", "f 4 6", mlp=jax.vmap(mlp), gru=lambda x: lax.scan(
            lambda h, r: (gru(r, h),) * 2, jnp.zeros(5), x)[0])
    if _has("haiku"):
        import haiku

        def forward(x):
            return haiku.nets.MLP([8, 3])(x)

        model = haiku.without_apply_rng(haiku.transform(forward))
        given = model.init(jax.random.key(0), jnp.ones((4, 6)))
        _add("haiku", "f 4 6", mlp=lambda x: model.apply(given, x))


def _declare_solvers() -> None:
    def loss(x):
        return ((x - 1) ** 2).sum() + (x[1:] * x[:-1]).sum()

    if _has("optax"):
        import optax

        def step(optimiser):
            def run(x):
                updates, _ = optimiser.update(jax.grad(loss)(x), optimiser.init(x), x)
                return optax.apply_updates(x, updates)

            return run

        _add("optax", "f 6", adam=step(optax.adam(0.1)), lion=step(optax.lion(0.1)), sgd=step(optax.chain(
            optax.clip_by_global_norm(1.0), optax.sgd(0.1, 0.9, nesterov=True))), adafactor=step(optax.adafactor(0.1)),
            ctc=lambda x: optax.sigmoid_binary_cross_entropy(x, (x > 0) * 1.0))
    if _has("jaxopt"):
        import jaxopt

        _add("jaxopt", "f 6", descent=lambda x: jaxopt.GradientDescent(loss, maxiter=5).run(x).params,
             projection=jaxopt.projection.projection_simplex)
    if _has("lineax"):
        import lineax

        _add("lineax", "f 4 4", lu=lambda a: lineax.linear_solve(lineax.MatrixLinearOperator(a + _ROOT), a[0]).value)
    if _has("optimistix"):
        import optimistix

        _add("optimistix", "f 6", newton=lambda x: optimistix.root_find(
            lambda y, a: y**3 + y - a, optimistix.Newton(1e-5, 1e-5), x, x).value)
    if _has("diffrax"):
        import diffrax

        _add("diffrax", "f 6", euler=lambda x: diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, a: -y), diffrax.Tsit5(), 0.0, 1.0, 0.25, x).ys)
    if _has("numpyro"):
        from numpyro import distributions

        _add("numpyro", "f 6", density=lambda x: distributions.StudentT(3.0).log_prob(x), sample=lambda x: (
            distributions.Gamma(2.0).sample(jax.random.key(0), (6,)) + x))
    if _has("distrax"):
        import distrax

        _add("distrax", "f 6", density=lambda x: distrax.Normal(x, 1.0).log_prob(0.5))
    if _has("blackjax"):
        import blackjax

        sampler = blackjax.hmc(lambda x: -loss(x), 1e-2, jnp.ones(6), 3)
        _add("blackjax", "f 6", hmc=lambda x: sampler.step(jax.random.key(0), sampler.init(x))[0].position)
    if _has("chex"):
        import chex

        @chex.dataclass
        class State:
            x: Any
            y: Any

        _add("chex", "f 6", state=lambda x: State(x=x, y=jnp.cumsum(x)))


if os.environ.get("HLOTOOL_NIGHTLY"):  # importing all of them takes half a minute
    _declare_networks()
    _declare_solvers()
