"""Ordinary JAX programs drawn from a seed, and models of Flax, Equinox and Optax where these are installed.

A drawn program is two to four blocks on an array of 4 by 8, with a loss behind them: as it is, with its gradient, or
with an optimiser, in a type of 8, 16 or 32 bits. The same seed is the same program.

    python tests/drawn_programs.py FOLDER NAME [FOLDER NAME ...]     compiles programs by name or number
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import training_steps
from jax import lax
from training_steps import OPTIMISERS, conv, norm, through_f8, trained

#: name -> parameters (shapes by name), and the function of these and of an array of 4 by 8
BLOCKS: dict[str, tuple[dict[str, tuple[int, ...]], Callable[..., Any]]] = {}


def block(**parameters: tuple[int, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a block by its parameters' dimensions."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        BLOCKS[function.__name__] = parameters, function
        return function

    return declare


@block(w=(8, 8), b=(8,))
def dense(p, x):
    return jax.nn.gelu(x @ p["w"] + p["b"])


@block(w=(8, 16), v=(16, 8))
def gated(p, x):
    one, two = jnp.split(x @ p["w"], 2, -1)
    return (jax.nn.silu(one) * two) @ p["v"][:8]


@block(q=(8, 8), k=(8, 8), v=(8, 8))
def attention(p, x):
    q, k, v = ((x @ p[n]).reshape(4, 2, 4) for n in "qkv")
    scores = jnp.einsum("qhd,khd->hqk", q, k) * 0.5
    scores = jnp.where(jnp.tril(jnp.ones((4, 4), bool)), scores, -1e4)
    return x + jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores), v).reshape(4, 8)


@block(k=(3, 8, 8))
def convolved(p, x):
    return lax.conv_general_dilated(x[None], p["k"], (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))[0]


@block(k=(3, 3, 2, 2))
def image(p, x):
    h = jax.nn.relu(conv(x.reshape(1, 4, 4, 2), p["k"]))
    return (h + lax.reduce_window(h, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME") / 9).reshape(4, 8)


@block(w=(8, 8), u=(8, 8))
def recurrent(p, x):
    return lax.scan(lambda h, t: (jnp.tanh(t @ p["w"] + h @ p["u"]),) * 2, jnp.zeros_like(x[0]), x)[1]


@block(w=(8, 24), u=(8, 24))
def gru(p, x):
    def cell(h, t):
        r, z, n = jnp.split(t @ p["w"], 3, -1)
        a, b, c = jnp.split(h @ p["u"], 3, -1)
        z = jax.nn.sigmoid(z + b)
        h = (1 - z) * jnp.tanh(n + jax.nn.sigmoid(r + a) * c) + z * h
        return h, h

    return lax.scan(cell, x[0], x, reverse=True)[1]


@block(s=(8,))
def layer_norm(p, x):
    return norm(x, p["s"])


@block(s=(8,))
def root_norm(p, x):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-3) * p["s"]


@block(s=(8,), b=(8,))
def batch_norm(p, x):
    return (x - x.mean(0)) * lax.rsqrt(x.var(0) + 1e-2) * p["s"] + p["b"]


@block()
def group_norm(p, x):
    h = x.reshape(4, 2, 4)
    return ((h - h.mean(-1, keepdims=True)) / (h.std(-1, keepdims=True) + 0.1)).reshape(4, 8)


@block()
def softmax(p, x):
    return jax.nn.softmax(x, 0) + jax.nn.log_softmax(x) / 8


@block()
def fourier(p, x):
    h = jnp.fft.rfft(x.astype(jnp.float32), axis=-1)
    return jnp.fft.irfft(h * jnp.arange(1, 6), 8, axis=-1).astype(x.dtype) / 4


@block()
def spectrum(p, x):
    return (jnp.abs(jnp.fft.fft2(x.astype(jnp.complex64))) / 8).astype(x.dtype)


@block()
def ordered(p, x):
    return jnp.sort(x, -1) - x


@block()
def permuted(p, x):
    return jnp.take_along_axis(x, jnp.argsort(x, 0), 0) + x[::-1]


@block(w=(8,))
def best(p, x):
    values, places = lax.top_k(x, 3)
    return x + (jax.nn.one_hot(places, 8, dtype=x.dtype) * values[..., None]).sum(1) * p["w"]


@block()
def cumulative(p, x):
    return jnp.cumsum(x, 0) / 4 + lax.cummax(x, 1)


@block()
def log_cumulative(p, x):
    return lax.cumlogsumexp(x, axis=1, reverse=True) - x


@block()
def randomly_dropped(p, x):
    return jnp.where(jax.random.bernoulli(jax.random.key(3), 0.7, x.shape), x / 0.7, 0)


@block()
def noisy(p, x):
    return x + 0.1 * jax.random.normal(jax.random.key(5), x.shape, x.dtype)


@block(e=(6, 8))
def embedded(p, x):
    return x + p["e"][jnp.argmax(x, -1) % 6]


@block()
def scattered(p, x):
    keys = (jnp.abs(x[:, 0]) * 4).astype(jnp.int32) % 4
    return x + jnp.zeros_like(x).at[keys].add(x * 0.5)


@block()
def segments(p, x):
    return x - jax.ops.segment_max(x, jnp.array([0, 0, 1, 1]), 2)[jnp.array([0, 0, 1, 1])] / 2


@block()
def updated(p, x):
    at = jnp.argmin(x[0]) % 3
    return lax.dynamic_update_slice(x, lax.dynamic_slice(x, (at, 1), (2, 4)) * 2, (1, at))


@block()
def halved(p, x):
    return lax.while_loop(lambda s: (jnp.abs(s[1]).max() > 0.4) & (s[0] < 9), lambda s: (s[0] + 1, s[1] * 0.5),
                          (0, lax.stop_gradient(x)))[1] + x


@block(w=(8, 8))
def fixed_point(p, x):
    return lax.fori_loop(0, 5, lambda i, h: jnp.tanh(h @ p["w"] * 0.25 + x + i / 8), jnp.zeros_like(x))


@block()
def newton(p, x):
    a = jnp.abs(x) + 0.5
    return lax.scan(lambda r, _: (0.5 * (r + a / r), None), a, None, length=4)[0]


@block(w=(8, 8))
def branching(p, x):
    return lax.cond(x.sum() > 0, lambda h: jnp.tanh(h @ p["w"]), lambda h: jax.nn.relu(h) - h[::-1] / 2, x)


@block()
def switched(p, x):
    return lax.switch(jnp.argmax(x[0, :3]), [jnp.sin, jnp.cos, lambda h: h * h], x)


@jax.custom_jvp
def clipped(x):
    return jnp.clip(x, -1, 1)


@clipped.defjvp
def _(given, changes):
    return clipped(*given), changes[0] * jnp.where(jnp.abs(given[0]) < 2, 1, 0.125).astype(changes[0].dtype)


@block()
def straight_through(p, x):
    return clipped(x) * 2 - x / 4


@jax.custom_vjp
def scaled_back(x):
    return x


scaled_back.defvjp(lambda x: (x, x), lambda x, g: (g / (1 + jnp.abs(x)),))


@block(w=(8, 8))
def custom_gradient(p, x):
    return scaled_back(x @ p["w"])


@block(w=(8, 8))
def in_8_bits(p, x):
    return through_f8(x) @ through_f8(p["w"])


@block()
def quantised(p, x):
    scale = jnp.abs(x).max() / 127 + 1e-3
    whole = jnp.round(lax.stop_gradient(x) / scale).astype(jnp.int8)
    return x + (whole.astype(jnp.int32) @ whole.T.astype(jnp.int32) >> 9).astype(x.dtype) @ x * 1e-2


@block()
def hashed(p, x):
    bits = lax.bitcast_convert_type(lax.stop_gradient(x).astype(jnp.float32), jnp.uint32)
    return x + ((bits * jnp.uint32(2654435761)) >> 28).astype(x.dtype) / 16


@block()
def factored(p, x):
    a = x.astype(jnp.float32)
    lower = jnp.linalg.cholesky(a @ a.T + 4 * jnp.eye(4))
    return lax.linalg.triangular_solve(lower, a, left_side=True, lower=True).astype(x.dtype)


@block()
def solved(p, x):
    a = x.astype(jnp.float32)
    return jnp.linalg.solve(a @ a.T / 8 + 2 * jnp.eye(4), a).astype(x.dtype)


@block()
def powers(p, x):
    a = x[:, :4] / 4
    return jnp.concatenate([jnp.linalg.matrix_power(a, 3) + a, x[:, 4:] ** 3 / 8], 1)


@block()
def special(p, x):
    return lax.erf(x) + jnp.log1p(jnp.abs(x)) - jnp.expm1(x / 4) + jnp.arctan2(x, 1 + x * x) + jnp.cbrt(x)


@block()
def padded(p, x):
    h = jnp.pad(x, ((1, 1), (2, 0)), constant_values=0.5)[:, ::-1]
    return h[1:5, :8] + jnp.roll(h, 1, 0)[2:6, 2:] / 2


@block()
def pooled(p, x):
    h = lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 2), "SAME")
    return jnp.repeat(h, 2, 1) - x


@block()
def scanned(p, x):
    decay = jax.nn.sigmoid(x)
    return lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (decay, x))[1]


@block()
def distances(p, x):
    away = ((x[:, None] - x[None]) ** 2).sum(-1)
    return (jnp.exp(-away / 4) @ x) / 4


@block()
def turned(p, x):
    z = (x[:, :4] + 1j * x[:, 4:]).astype(jnp.complex64) * jnp.exp(1j * jnp.arange(4) / 2)
    return jnp.concatenate([z.real, z.imag], -1).astype(x.dtype)


@block()
def transposed(p, x):
    return (x.reshape(2, 2, 2, 4).transpose(2, 0, 1, 3).reshape(4, 8) - x.T.reshape(4, 8)) / 2


@block()
def mapped(p, x):
    return lax.map(lambda r: jnp.where(r > r.mean(), r - r.min(), r * 0.5), x)


@block(w=(8, 8))
def checkpointed(p, x):
    return x + jax.checkpoint(lambda h: jnp.sin(h @ p["w"]) * h)(x)


#: the loss of an array of 4 by 8 and the wanted one
LOSSES: dict[str, Callable[..., Any]] = {
    "squares": lambda h, y: ((h - y) ** 2).mean(),
    "huber": lambda h, y: jnp.where(abs(h - y) < 1, 0.5 * (h - y) ** 2, abs(h - y) - 0.5).mean(),
    "entropy": lambda h, y: training_steps.cross_entropy(h, jnp.argmax(y, -1)),
    "cosine": lambda h, y: 1 - ((h * y).sum(-1) / (jnp.linalg.norm(h, axis=-1) * jnp.linalg.norm(y, axis=-1) + 0.1)
                                ).mean(),
    "hinge": lambda h, y: jax.nn.relu(1 - h * jnp.sign(y)).mean(),
    "divergence": lambda h, y: (jax.nn.softmax(y) * (jax.nn.log_softmax(y) - jax.nn.log_softmax(h))).sum(-1).mean(),
}
PRECISIONS = ("f32", "f32", "bf16", "mixed", "scaled", "f16", "f8")


def drawn(seed: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the program of a seed, and its arguments."""
    generator = random.Random(seed)
    chosen = generator.sample(sorted(BLOCKS), generator.randint(2, 4))
    loss, precision = LOSSES[generator.choice(sorted(LOSSES))], generator.choice(PRECISIONS)
    shapes = {f"{n}{name}": dims for n, b in enumerate(chosen) for name, dims in BLOCKS[b][0].items()}
    if not shapes:
        shapes = {"scale": (8,)}

    def made(p, x):
        x = x * p["scale"] if "scale" in p else x
        for n, b in enumerate(chosen):
            x = BLOCKS[b][1]({name: p[f"{n}{name}"] for name in BLOCKS[b][0]}, x).astype(x.dtype)
        return x

    ends = lambda p, x, y: loss(made(p, x), y)  # noqa: E731
    function, held, inner = trained(ends, OPTIMISERS[generator.choice(sorted(OPTIMISERS))], precision)
    numbers = np.random.default_rng(seed)

    def array(dims, kind):
        return jnp.asarray(numbers.normal(size=dims).astype("f4") / 2, kind)

    parameters = {n: array(d, held) for n, d in shapes.items()}
    x, y = array((4, 8), inner), array((4, 8), inner)
    way = generator.choice(("forward", "gradient", "optimised", "optimised"))
    if way == "forward":
        return (lambda p, x, y: made({n: v.astype(x.dtype) for n, v in p.items()}, x)), (parameters, x, y)
    if way == "gradient":
        return jax.value_and_grad(lambda p, x, y: ends({n: v.astype(x.dtype) for n, v in p.items()}, x, y).astype(
            jnp.float32), argnums=(0, 1)), (parameters, x, y)
    first, second = ({n: abs(array(d, held)) for n, d in shapes.items()} for _ in range(2))
    return function, (parameters, first, second, x, y)


#: "library model optimiser type", of libraries that are installed
_HAS = {name: importlib.util.find_spec(name) is not None for name in ("flax", "optax", "equinox")}
_MODELS = [f"{library} {model}" for library, models in (("flax", "convnet attention lstm normed"),
                                                        ("equinox", "mlp gru conv attention"))
           for model in models.split() if _HAS["optax"] and _HAS[library]]
_RULES = ("adamw bfloat16", "lion float32", "adafactor float16", "sgd bfloat16")
LIBRARY = [f"{m} {_RULES[(n + turn) % 4]}" for turn in range(4) for n, m in enumerate(_MODELS)]


def of_library(name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a training step of a model of Flax or Equinox by Optax."""
    import optax

    library, model, optimiser, kind = name.split()
    dtype, inputs = jnp.dtype(kind), jnp.asarray(np.random.default_rng(1).normal(size=(4, 6)) / 2, kind)
    apply, weights = (_of_flax if library == "flax" else _of_equinox)(model, inputs)
    weights = jax.tree.map(lambda w: w.astype(dtype), weights)
    steps = {"adamw": optax.adamw(1e-2), "lion": optax.lion(1e-2), "adafactor": optax.adafactor(1e-2),
             "sgd": optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(optax.cosine_decay_schedule(0.1, 100), 0.9))}
    rule = steps[optimiser]

    def step(weights, state, x, y):
        def loss(w):
            return optax.softmax_cross_entropy_with_integer_labels(apply(w, x).astype(jnp.float32), y % 3).mean()

        value, change = jax.value_and_grad(loss)(weights)
        change, state = rule.update(change, state, weights)
        return optax.apply_updates(weights, change), state, value

    return step, (weights, rule.init(weights), inputs, jnp.arange(4))


def _of_flax(model: str, x: Any) -> tuple[Callable[..., Any], Any]:
    from flax import linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            if model == "convnet":
                x = nn.avg_pool(nn.relu(nn.Conv(4, (3,))(x[..., None])), (2,), (2,)).reshape(4, -1)
            if model == "attention":
                x = nn.MultiHeadDotProductAttention(2)(nn.Embed(9, 6)(jnp.argsort(x)) + x[..., None]).mean(1)
            if model == "lstm":
                x = nn.RNN(nn.LSTMCell(5))(x.reshape(4, 3, 2))[:, -1]
            if model == "normed":
                x = nn.GroupNorm(2)(nn.RMSNorm()(nn.gelu(nn.Dense(8)(nn.LayerNorm()(x)))))
            return nn.Dense(3)(x)

    net = Net()
    return net.apply, net.init(jax.random.key(0), x)


def _of_equinox(model: str, x: Any) -> tuple[Callable[..., Any], Any]:
    import equinox as eqx

    one, two = jax.random.split(jax.random.key(0))
    last = eqx.nn.Linear(6, 3, key=two)
    layers: dict[str, Callable[[], tuple[Any, Callable[..., Any]]]] = {
        "mlp": lambda: (eqx.nn.MLP(6, 6, 8, 2, key=one), lambda m, r: m(r)),
        "gru": lambda: (eqx.nn.GRUCell(2, 6, key=one), lambda m, r: lax.scan(
            lambda h, t: (m(t, h), None), jnp.zeros(6, r.dtype), r.reshape(3, 2))[0]),
        "conv": lambda: (eqx.nn.Conv1d(1, 1, 3, padding=1, key=one), lambda m, r: jax.nn.relu(m(r[None])[0])),
        "attention": lambda: (eqx.nn.MultiheadAttention(2, 2, key=one), lambda m, r: m(
            *(r.reshape(3, 2),) * 3).reshape(6)),
    }
    made, call = layers[model]()
    weights, fixed = eqx.partition((made, last), eqx.is_inexact_array)

    def apply(w, x):
        layer, end = eqx.combine(w, fixed)
        return jax.vmap(lambda r: end(call(layer, r)))(x)

    return apply, weights


def name_of(number: int) -> str:
    """Return the name of a program by its number: a training step, two drawn ones, a model of a library, and again."""
    turn, steps = number // 4, list(training_steps.STEPS)
    library = LIBRARY[turn % len(LIBRARY)] if LIBRARY else f"drawn {1000 + number}"
    return (steps[(turn * 7) % len(steps)], f"drawn {number}", library, f"drawn {number}")[number % 4]


def program(name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a program and its arguments by its name."""
    if name in training_steps.STEPS:
        return training_steps.step(name)
    return drawn(int(name.split()[1])) if name.startswith("drawn") else of_library(name)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    for _folder, _name in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        _name = name_of(int(_name)) if _name.isdecimal() else _name
        print(_name)
        if not Path(_folder).exists():
            _function, _arguments = program(_name)

            def step(*given, _function=_function):
                return _function(*given)

            jax.jit(step).lower(*_arguments).compile({
                "xla_dump_to": _folder, "xla_dump_hlo_as_text": True, "xla_dump_hlo_pass_re": ".*"})
