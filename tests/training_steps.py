"""Training steps in plain JAX at bf16, f16 and f8: what compilers make of them is honest, and rounds in many places.

`STEPS` has a model, an optimiser and a precision each; `step(name)` gives the jitted function and its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

#: name -> parameters (shapes by name), inputs (as in jax_programs.argument, floats in the step's type), and the loss
MODELS: dict[str, tuple[dict[str, tuple[int, ...]], tuple[str, ...], Callable[..., Any]]] = {}


def model(inputs: str, **parameters: tuple[int, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a model: its inputs as `x 4 8, i 4` (x: a float, i: s32 from 0 to 7), and its parameters' dimensions."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        MODELS[function.__name__] = parameters, tuple(map(str.strip, inputs.split(","))), function
        return function

    return declare


def norm(x, scale):
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * scale


def cross_entropy(logits, labels):
    logs = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.take_along_axis(logs, (labels % logits.shape[-1])[..., None], -1).mean()


def conv(x, w, stride=1, padding="SAME"):
    return lax.conv_general_dilated(x, w, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


@model("x 4 8, x 4 3", w=(8, 16), b=(16,), v=(16, 3))
def mlp(p, x, y):
    return ((jax.nn.gelu(x @ p["w"] + p["b"]) @ p["v"] - y) ** 2).mean()


@model("x 4 8, i 4", w=(8, 16), s=(16,), v=(16, 8))
def normed(p, x, y):
    return cross_entropy(norm(x @ p["w"], p["s"]) @ p["v"], y)


@model("x 2 8 8 3, i 2", k=(3, 3, 3, 4), l=(3, 3, 4, 8), w=(8, 8))
def convnet(p, x, y):
    h = jax.nn.relu(conv(x, p["k"]))
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return cross_entropy(jax.nn.relu(conv(h, p["l"], 2)).mean((1, 2)) @ p["w"], y)


@model("x 2 6 8, x 2 6 8", q=(8, 8), k=(8, 8), v=(8, 8), o=(8, 8))
def attention(p, x, y):
    q, k, v = (x @ p[n] for n in "qkv")
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / 8 ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), scores, -1e4)
    return ((jax.nn.softmax(scores) @ v @ p["o"] - y) ** 2).mean()


@model("i 2 6, i 2 6", e=(8, 8), s=(8,), q=(2, 8, 4), k=(2, 8, 4), v=(2, 8, 4), o=(2, 4, 8), t=(8,), w=(8, 16),
       u=(16, 8))
def transformer(p, x, y):
    h = p["e"][x]
    n = norm(h, p["s"])
    q, k, v = (jnp.einsum("btd,hde->bhte", n, p[i]) for i in "qkv")
    scores = jnp.einsum("bhqe,bhke->bhqk", q, k) * 0.5
    scores = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), scores, -1e4)
    h = h + jnp.einsum("bhqk,bhke,hed->bqd", jax.nn.softmax(scores), v, p["o"])
    h = h + jax.nn.silu(norm(h, p["t"]) @ p["w"]) @ p["u"]
    return cross_entropy(h @ p["e"].T, y)


@model("x 5 2 4, x 2 8", w=(4, 8), u=(8, 8), b=(8,))
def recurrent(p, x, y):
    h, _ = lax.scan(lambda h, t: (jnp.tanh(t @ p["w"] + h @ p["u"] + p["b"]), None), jnp.zeros_like(y), x)
    return ((h - y) ** 2).mean()


@model("x 5 2 4, x 2 4", w=(4, 16), u=(4, 16), b=(16,))
def lstm(p, x, y):
    def cell(state, t):
        h, c = state
        i, f, g, o = jnp.split(t @ p["w"] + h @ p["u"] + p["b"], 4, -1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), h

    (h, _), seen = lax.scan(cell, (jnp.zeros_like(y), jnp.zeros_like(y)), x)
    return ((h - y) ** 2).mean() + (seen ** 2).mean()


@model("x 6 2 4, x 2 4", w=(4, 8), u=(4, 8), c=(4, 4), d=(4, 4))
def gru(p, x, y):
    def cell(h, t):
        r, z = jnp.split(jax.nn.sigmoid(t @ p["w"] + h @ p["u"]), 2, -1)
        return z * h + (1 - z) * jnp.tanh(t @ p["c"] + (r * h) @ p["d"]), None

    h, _ = lax.scan(cell, y, x)
    return jnp.abs(h - y).mean()


@model("i 4 3, i 4", e=(8, 6), w=(6, 8))
def embedding(p, x, y):
    return cross_entropy(p["e"][x].sum(1) @ p["w"], y)


@model("x 6 4, x 6 4", g=(4, 3), w=(3, 4, 8), v=(3, 8, 4))
def experts(p, x, y):
    gates = jax.nn.softmax(x @ p["g"])
    best, chosen = lax.top_k(gates, 2)
    weights = (jax.nn.one_hot(chosen, 3, dtype=x.dtype) * (best / best.sum(-1, keepdims=True))[..., None]).sum(1)
    made = jnp.einsum("neh,ehd->ned", jax.nn.relu(jnp.einsum("nd,edh->neh", x, p["w"])), p["v"])
    return ((jnp.einsum("ne,ned->nd", weights, made) - y) ** 2).mean() + (gates.mean(0) ** 2).sum() * 3


@model("x 4 8, x 4 2", w=(8, 4), v=(2, 8))
def variational(p, x, noise):
    mean, spread = jnp.split(x @ p["w"], 2, -1)
    z = mean + jnp.exp(spread / 2) * noise
    away = -0.5 * (1 + spread - mean ** 2 - jnp.exp(spread)).sum(-1).mean()
    logits = z @ p["v"]
    return (jnp.logaddexp(0, logits) - logits * jax.nn.sigmoid(x)).sum(-1).mean() + 0.1 * away


@model("x 4 8, x 4 4", g=(4, 8), d=(8, 8), e=(8, 1))
def adversarial(p, real, noise):
    def score(x):
        return (jax.nn.leaky_relu(x @ p["d"], 0.2) @ p["e"])[:, 0]

    made = jnp.tanh(noise @ p["g"])
    critic = jax.nn.softplus(-score(real)).mean() + jax.nn.softplus(score(lax.stop_gradient(made))).mean()
    return critic + jax.nn.softplus(-score(made)).mean()


@model("x 2 4 4 4, x 2, x 2 4 4 4", k=(3, 3, 4, 8), t=(8, 8), l=(3, 3, 8, 8), u=(3, 3, 8, 4))
def diffusion(p, x, time, noise):
    waves = time[:, None] * jnp.exp2(-jnp.arange(4, dtype=x.dtype))
    h = jax.nn.silu(conv(x, p["k"]) + (jnp.concatenate([jnp.sin(waves), jnp.cos(waves)], -1) @ p["t"])[:, None, None])
    low = jax.nn.silu(conv(h, p["l"], 2))
    h = h + jnp.repeat(jnp.repeat(low, 2, 1), 2, 2)
    return ((conv(h, p["u"]) - noise) ** 2).mean()


@model("x 8 4, i 8", w=(4, 6), s=(6,), b=(6,), v=(6, 8))
def batch_normed(p, x, y):
    h = x @ p["w"]
    h = (h - h.mean(0)) / jnp.sqrt(h.var(0) + 1e-3) * p["s"] + p["b"]
    return cross_entropy(jax.nn.relu(h) @ p["v"], y)


@model("x 2 4 4 8, x 2 4 4 8", k=(3, 3, 8, 8), s=(8,))
def group_normed(p, x, y):
    h = conv(x, p["k"]).reshape(2, 4, 4, 2, 4)
    h = (h - h.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(h.var((1, 2, 4), keepdims=True) + 1e-4)
    return jnp.abs(x + jax.nn.silu(h.reshape(x.shape) * p["s"]) - y).mean()


@model("x 2 6 8, x 2 6 8", s=(8,), q=(8, 8), k=(8, 8), g=(8, 8), u=(8, 8), d=(8, 8))
def rotary(p, x, y):
    n = x * lax.rsqrt((x.astype(jnp.float32) ** 2).mean(-1, keepdims=True) + 1e-6).astype(x.dtype) * p["s"]
    angles = jnp.arange(6.)[:, None] * 0.1 ** jnp.arange(4.)
    sin, cos = (f(angles).astype(x.dtype) for f in (jnp.sin, jnp.cos))

    def turned(a):
        one, two = jnp.split(a, 2, -1)
        return jnp.concatenate([one * cos - two * sin, one * sin + two * cos], -1)

    weights = jax.nn.softmax(jnp.einsum("btd,bsd->bts", turned(n @ p["q"]), turned(n @ p["k"])).astype(jnp.float32))
    h = weights.astype(x.dtype) @ n
    return (((jax.nn.silu(h @ p["g"]) * (h @ p["u"])) @ p["d"] - y) ** 2).mean()


@model("x 2 6 6 4, i 2", d=(3, 3, 1, 4), k=(1, 1, 4, 8), w=(8, 8))
def separable(p, x, y):
    h = lax.conv_general_dilated(x, p["d"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                 feature_group_count=4)
    return cross_entropy(jax.nn.relu6(conv(jax.nn.hard_swish(h), p["k"])).max((1, 2)) @ p["w"], y)


@model("x 8 2 4, x 8 2 4", a=(4,), b=(4,), c=(4,))
def state_space(p, x, y):
    decay = jnp.broadcast_to(jax.nn.sigmoid(p["a"]), x.shape)

    def joined(one, two):
        return one[0] * two[0], two[0] * one[1] + two[1]

    _, h = lax.associative_scan(joined, (decay, x * p["b"]))
    return ((h * p["c"] - y) ** 2).mean()


@model("x 4 6, x 4 6", w=(6, 8), v=(6, 8))
def contrastive(p, x, y):
    a, b = x @ p["w"], y @ p["v"]
    a, b = (m / (jnp.linalg.norm(m, axis=-1, keepdims=True) + 1e-3) for m in (a, b))
    return cross_entropy(a @ b.T * 10, jnp.arange(4))


@model("x 5 4, i 8, i 8, i 5", w=(4, 8), v=(8, 8))
def graph(p, x, senders, receivers, y):
    h = jax.nn.relu(x @ p["w"])
    sums = jax.ops.segment_sum(h[senders % 5], receivers % 5, 5)
    return cross_entropy((h + sums) @ p["v"], y)


@model("x 4 6, x 4", w=(6, 9))
def mixture(p, x, y):
    logits, means, scales = jnp.split(x @ p["w"], 3, -1)
    scales = jax.nn.softplus(scales) + 0.1
    logs = -0.5 * ((y[:, None] - means) / scales) ** 2 - jnp.log(scales)
    return -jax.nn.logsumexp(jax.nn.log_softmax(logits) + logs, -1).mean()


@model("x 5 4, i 5", w=(4, 3), t=(3, 3))
def random_field(p, x, y):
    scores, y = x @ p["w"], y % 3
    last, _ = lax.scan(lambda a, s: (jax.nn.logsumexp(a[:, None] + p["t"], 0) + s, None), scores[0], scores[1:])
    return jax.nn.logsumexp(last) - scores[jnp.arange(5), y].sum() - p["t"][y[:-1], y[1:]].sum()


@model("x 4 6, x 4 6, x", w=(6, 6), v=(6, 6))
def branching(p, x, y, gate):
    h = lax.cond(gate > 0, lambda h: jnp.tanh(h @ p["w"]), lambda h: jax.nn.relu(h @ p["v"]), x)
    return ((h - y) ** 2).mean()


@model("x 4 6, x 4 6", w=(6, 6), b=(6,))
def equilibrium(p, x, y):
    h = lax.fori_loop(0, 4, lambda _, h: jnp.tanh(h @ p["w"] * 0.3 + x + p["b"]), jnp.zeros_like(x))
    return ((h - y) ** 2).mean()


@model("x 4 6, x 4 6", w=(6, 6), v=(6, 6))
def rematerialised(p, x, y):
    def block(h, w):
        return h + jax.nn.gelu(h @ w)

    return jnp.log(jnp.cosh(jax.checkpoint(block)(jax.checkpoint(block)(x, p["w"]), p["v"]) - y)).mean()


@model("x 4 8, i 4", w=(8, 8), v=(8, 8))
def dropped(p, x, y):
    kept = jax.random.bernoulli(jax.random.key(7), 0.5, (4, 8))
    return cross_entropy(jnp.where(kept, jax.nn.elu(x @ p["w"]) * 2, 0) @ p["v"], y)


@model("x 4 8, x 4 4", w=(8, 4))
def quantised(p, x, y):
    scale = jnp.abs(p["w"]).max() / 7
    rounded = p["w"] + lax.stop_gradient(jnp.round(p["w"] / scale) * scale - p["w"])
    return ((x @ rounded - y) ** 2).mean()


@model("x 6 8, x 6 4", w=(8, 4))
def robust(p, x, y):
    away = jnp.sort(jnp.abs(x @ p["w"] - y).mean(-1))
    return jnp.where(away < 1, 0.5 * away ** 2, away - 0.5)[:4].mean() + jnp.cumsum(away)[-1] * 0.1


@model("x 2 12 4, x 2 12 4", k=(3, 4, 8), l=(3, 8, 4))
def wave(p, x, y):
    def causal(x, k, rate):
        return lax.conv_general_dilated(x, k, (1,), [(2 * rate, 0)], rhs_dilation=(rate,),
                                        dimension_numbers=("NWC", "WIO", "NWC"))

    return ((causal(jnp.tanh(causal(x, p["k"], 1)), p["l"], 2) - y) ** 2).mean()


@model("x 4 8, x 4 8, i", w=(8, 8))
def windowed(p, x, y, start):
    part = lax.dynamic_slice(x, (0, start), (4, 4))
    h = lax.dynamic_update_slice(x @ p["w"], part * 2, (0, start))
    return (jnp.pad(h - y, ((0, 0), (1, 1)))[:, ::2] ** 2).mean()


@model("x 2 6 4, x 2 6 4", q=(4, 4), k=(4, 4), v=(4, 4))
def linear_attention(p, x, y):
    q, k = (jax.nn.elu(x @ p[n]) + 1 for n in "qk")
    states = jnp.cumsum(jnp.einsum("btd,bte->btde", k, x @ p["v"]), 1)
    held = jnp.einsum("btd,btd->bt", q, jnp.cumsum(k, 1))[..., None] + 1e-3
    return ((jnp.einsum("btd,btde->bte", q, states) / held - y) ** 2).mean()


@model("x 2 4 4 3, x 2 8 8 2", k=(3, 3, 2, 3), b=(2,))
def transposed(p, x, y):
    h = lax.conv_transpose(x, p["k"].transpose(0, 1, 3, 2), (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return ((jax.nn.sigmoid(h + p["b"]) - y) ** 2).mean() + jnp.abs(h[:, 1:] - h[:, :-1]).mean()


#: parameters, gradients and what is remembered of each -> the same afterwards; the arithmetic is that of their type
def sgd(p, g, m, v):
    return p - 0.1 * g, m, v


def momentum(p, g, m, v):
    m = 0.9 * m + g
    return p - 0.1 * (g + 0.9 * m), m, v


def adam(p, g, m, v):
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return p - 1e-2 * (m / 0.1) / (jnp.sqrt(v / 0.01) + 1e-4), m, v


def adamw(p, g, m, v):
    new, m, v = adam(p, g, m, v)
    return new - 1e-3 * p, m, v


def lamb(p, g, m, v):
    new, m, v = adam(p, g, m, v)
    ratio = jnp.linalg.norm(p) / (jnp.linalg.norm(new - p) + 1e-3)
    return p + 0.1 * jnp.clip(ratio, 0, 5) * (new - p), m, v


def adafactor(p, g, m, v):
    if p.ndim != 2:
        return adam(p, g, m, v)
    v = 0.9 * v + 0.1 * (g * g + 1e-4)
    rows, columns = v.mean(1, keepdims=True), v.mean(0, keepdims=True)
    step = g / jnp.sqrt(rows * columns / rows.mean() + 1e-4)
    return p - 1e-2 * step / jnp.maximum(1, jnp.sqrt((step * step).mean())), m, v


def lion(p, g, m, v):
    return p - 1e-2 * (jnp.sign(0.9 * m + 0.1 * g) + 0.01 * p), 0.99 * m + 0.01 * g, v


def rmsprop(p, g, m, v):
    v = 0.9 * v + 0.1 * g * g
    m = 0.9 * m + g * lax.rsqrt(v + 1e-3)
    return p - 1e-2 * m, m, v


OPTIMISERS = {f.__name__: f for f in (sgd, momentum, adam, adamw, lamb, adafactor, lion, rmsprop)}


def to_f8(x, kind):
    """Return an array rounded to a type of 8 bits by a scale of its own."""
    scale = jnp.maximum(jnp.abs(x).max(), 1e-3) / float(jnp.finfo(kind).max)
    return (x / scale).astype(kind).astype(x.dtype) * scale


@jax.custom_vjp
def through_f8(x):
    return to_f8(x, jnp.float8_e4m3fn)


through_f8.defvjp(lambda x: (through_f8(x), None), lambda _, g: (to_f8(g, jnp.float8_e5m2),))


def trained(loss, optimiser, precision):
    """Return a training step: f(parameters, both memories of each, *inputs) -> the same, and the loss.

    bf16     everything in that type
    mixed    parameters in f32, the model in bf16
    scaled   parameters in f32, the model in f16, its loss scaled; a step with infinite gradients is left out
    f16      everything in that type, gradients clipped
    f8       bf16, with parameters and their gradients in f8e4m3fn and f8e5m2
    """
    held = {"bf16": jnp.bfloat16, "f8": jnp.bfloat16, "f16": jnp.float16}.get(precision, jnp.float32)
    inner = {"mixed": jnp.bfloat16, "scaled": jnp.float16}.get(precision, held)

    def losses(parameters, scale, inputs):
        p = {n: v.astype(inner) for n, v in parameters.items()}
        if precision == "f8":
            p = {n: through_f8(v) for n, v in p.items()}
        return loss(p, *inputs).astype(jnp.float32) * scale

    def step(parameters, firsts, seconds, *inputs):
        scale = 64.0 if precision == "scaled" else 1.0
        value, g = jax.value_and_grad(losses)(parameters, scale, inputs)
        g = {n: d / scale for n, d in g.items()}
        if precision == "f16":
            size = jnp.sqrt(sum((d.astype(jnp.float32) ** 2).sum() for d in g.values()))
            g = {n: (d * jnp.minimum(1, 1 / (size + 1e-3))).astype(d.dtype) for n, d in g.items()}
        made = {n: optimiser(parameters[n], g[n], firsts[n], seconds[n]) for n in parameters}
        new = [{n: m[k].astype(held) for n, m in made.items()} for k in range(3)]
        if precision == "scaled":
            fine = jnp.all(jnp.stack([jnp.isfinite(d).all() for d in g.values()]))
            new = jax.tree.map(lambda a, b: jnp.where(fine, a, b), new, [parameters, firsts, seconds])
        return (*new, value / scale)

    return step, held, inner


#: name -> model, optimiser, precision
STEPS = {}
for _number, _name in enumerate(MODELS):
    for _precision in (("bf16", "mixed", "scaled", "f16", "f8")[_number % 5], ("f8", "bf16", "f16", "mixed", "scaled")[
            _number % 5]):
        _optimiser = list(OPTIMISERS)[(_number + len(STEPS) // 5) % len(OPTIMISERS)]
        STEPS[f"{_name}_{_precision}_{_optimiser}"] = _name, _optimiser, _precision


def step(name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a step's function and its arguments."""
    chosen, optimiser, precision = STEPS[name]
    parameters, inputs, loss = MODELS[chosen]
    function, held, inner = trained(loss, OPTIMISERS[optimiser], precision)
    random = np.random.default_rng(0)

    def array(dims, kind=held):
        return jnp.asarray(random.normal(size=dims).astype("f4") / 2, kind)

    def given(text):
        letter, *dims = text.split()
        shape = tuple(map(int, dims))
        return jnp.asarray(random.integers(0, 8, shape).astype("i4")) if letter == "i" else array(shape, inner)

    first, second = ({n: abs(array(d)) for n, d in parameters.items()} for _ in range(2))
    return function, ({n: array(d) for n, d in parameters.items()}, first, second, *map(given, inputs))


if __name__ == "__main__":
    import os
    import sys

    for _folder, _wanted in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        if _wanted not in os.listdir(_folder):
            _function, _arguments = step(_wanted)
            jax.jit(_function).lower(*_arguments).compile(
                {"xla_dump_to": f"{_folder}/{_wanted}", "xla_dump_hlo_as_text": True, "xla_dump_hlo_pass_re": ".*"})
