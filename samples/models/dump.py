"""Writes the sample modules of this folder: `python samples/models/dump.py [NAME ...]`, with JAX installed.

Each program becomes `NAME.hlo`, as JAX lowers it, and `NAME.optimized.hlo`, as XLA's CPU compiler leaves it.
The same versions of JAX and jaxlib write the same bytes.
"""

from __future__ import annotations

import itertools
import os
import pathlib
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

# The devices of the sharded program, and a code generator that does not depend on the machine's instruction sets.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4 --xla_cpu_max_isa=AVX2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import _hlo

FOLDER = pathlib.Path(__file__).resolve().parent
CHECKOUT = FOLDER.parents[1]

Array = jax.Array
#: name -> function, example arguments (only shapes and types matter), keywords of jax.jit
Program = tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]
PROGRAMS: dict[str, Callable[[], Program]] = {}
#: the platform that a lowered form is for, where it is not the CPU
LOWERED_FOR = {"linear_algebra": "tpu"}


def program(make: Callable[[], Program]) -> Callable[[], Program]:
    """Adds a program under its function's name."""
    PROGRAMS[make.__name__] = make
    return make


def of(*dims: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    """An example argument."""
    return jax.ShapeDtypeStruct(dims, dtype)


@program
def mlp_train_step() -> Program:
    """Forward, cross entropy, gradients and SGD with momentum; parameters and state are donated."""
    def loss(params: list[dict[str, Array]], x: Array, labels: Array) -> Array:
        for layer in params[:-1]:
            x = jax.nn.gelu(x @ layer["w"] + layer["b"])
        logits = x @ params[-1]["w"] + params[-1]["b"]
        one_hot = jax.nn.one_hot(labels, logits.shape[-1])
        return -jnp.mean(jnp.sum(one_hot * jax.nn.log_softmax(logits), axis=-1))

    def step(params: Any, velocity: Any, x: Array, labels: Array) -> Any:
        value, gradients = jax.value_and_grad(loss)(params, x, labels)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
        return jax.tree.map(lambda p, v: p - 0.01 * v, params, velocity), velocity, value

    sizes = (16, 32, 32, 10)
    params = [{"w": of(m, n), "b": of(n)} for m, n in itertools.pairwise(sizes)]
    return step, (params, params, of(8, 16), of(8, dtype=jnp.int32)), {"donate_argnums": (0, 1)}


@program
def attention_kv_cache() -> Program:
    """One decoding step of grouped-query attention: RoPE, an update of the cache in place, masked softmax."""
    batch, heads, groups, width, length = 2, 4, 2, 8, 16
    model = heads * width

    def rope(x: Array, position: Array) -> Array:
        frequency = 10000.0 ** (-jnp.arange(width // 2, dtype=jnp.float32) / (width // 2))
        angle = position.astype(jnp.float32) * frequency
        low, high = jnp.split(x, 2, axis=-1)
        sin, cos = jnp.sin(angle), jnp.cos(angle)
        return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)

    def step(x: Array, weights: dict[str, Array], keys: Array, values: Array, position: Array) -> Any:
        query = rope((x @ weights["q"]).reshape(batch, 1, heads, width), position)
        key = rope((x @ weights["k"]).reshape(batch, 1, groups, width), position)
        value = (x @ weights["v"]).reshape(batch, 1, groups, width)
        keys = lax.dynamic_update_slice(keys, key, (0, position, 0, 0))
        values = lax.dynamic_update_slice(values, value, (0, position, 0, 0))
        query = query.reshape(batch, 1, groups, heads // groups, width)
        scores = jnp.einsum("bqghd,bkgd->bghqk", query, keys) / width**0.5
        scores = jnp.where(jnp.arange(length) <= position, scores, -jnp.inf)
        mixed = jnp.einsum("bghqk,bkgd->bqghd", jax.nn.softmax(scores, axis=-1), values)
        return mixed.reshape(batch, 1, model) @ weights["o"], keys, values

    weights = {"q": of(model, model), "k": of(model, groups * width), "v": of(model, groups * width),
               "o": of(model, model)}
    cache = of(batch, length, groups, width)
    return step, (of(batch, 1, model), weights, cache, cache, of(dtype=jnp.int32)), {"donate_argnums": (2, 3)}


@program
def resnet_forward() -> Program:
    """A stem, two residual blocks (the second one strided), pooling and a classifier; batch norm as in inference."""
    def convolve(x: Array, kernel: Array, stride: int = 1) -> Array:
        return lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def batch_norm(x: Array, state: dict[str, Array]) -> Array:
        return (x - state["mean"]) * lax.rsqrt(state["variance"] + 1e-5) * state["scale"] + state["offset"]

    def block(x: Array, p: dict[str, Any], stride: int) -> Array:
        y = jax.nn.relu(batch_norm(convolve(x, p["conv1"], stride), p["norm1"]))
        y = batch_norm(convolve(y, p["conv2"]), p["norm2"])
        shortcut = batch_norm(convolve(x, p["project"], stride), p["norm3"]) if "project" in p else x
        return jax.nn.relu(y + shortcut)

    def forward(x: Array, p: dict[str, Any]) -> Array:
        x = jax.nn.relu(batch_norm(convolve(x, p["stem"], 2), p["norm"]))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        x = block(block(x, p["block1"], 1), p["block2"], 2)
        return jax.nn.softmax(jnp.mean(x, axis=(1, 2)) @ p["classifier"])

    def norm(channels: int) -> dict[str, Any]:
        return {name: of(channels) for name in ("mean", "variance", "scale", "offset")}

    params = {"stem": of(3, 3, 3, 8), "norm": norm(8), "classifier": of(16, 10),
              "block1": {"conv1": of(3, 3, 8, 8), "norm1": norm(8), "conv2": of(3, 3, 8, 8), "norm2": norm(8)},
              "block2": {"conv1": of(3, 3, 8, 16), "norm1": norm(16), "conv2": of(3, 3, 16, 16), "norm2": norm(16),
                         "project": of(1, 1, 8, 16), "norm3": norm(16)}}
    return forward, (of(2, 32, 32, 3), params), {}


@program
def rnn_scan() -> Program:
    """A GRU over a sequence by `lax.scan`, then a data-dependent `while_loop` and a `cond`."""
    def cell(p: dict[str, Array], h: Array, x: Array) -> tuple[Array, Array]:
        z = jax.nn.sigmoid(x @ p["wz"] + h @ p["uz"])
        r = jax.nn.sigmoid(x @ p["wr"] + h @ p["ur"])
        candidate = jnp.tanh(x @ p["wh"] + (r * h) @ p["uh"])
        h = (1 - z) * h + z * candidate
        return h, h.sum(axis=-1)

    def run(p: dict[str, Array], h: Array, xs: Array) -> Any:
        h, sums = lax.scan(lambda h, x: cell(p, h, x), h, xs)
        halvings, h = lax.while_loop(lambda s: (jnp.max(jnp.abs(s[1])) > 0.125) & (s[0] < 20),
                                     lambda s: (s[0] + 1, s[1] * 0.5), (jnp.int32(0), h))
        h = lax.cond(halvings % 2 == 0, lambda v: v + 1.0, lambda v: -v, h)
        return h, sums, halvings

    p = {"wz": of(6, 8), "wr": of(6, 8), "wh": of(6, 8), "uz": of(8, 8), "ur": of(8, 8), "uh": of(8, 8)}
    return run, (p, of(3, 8), of(10, 3, 6)), {}


@program
def sort_topk_gather_scatter() -> Program:
    """Sorting by key, top-k, embedding look-up, segment sums, and updates at computed places."""
    def run(scores: Array, table: Array, ids: Array, updates: Array) -> Any:
        order, ranked = lax.sort((scores, lax.broadcasted_iota(jnp.int32, scores.shape, 1)), dimension=1, num_keys=1)
        best, where = lax.top_k(scores, 3)
        rows = table[ids]
        counts = jnp.zeros(table.shape[0], jnp.int32).at[ids].add(1)
        sums = jax.ops.segment_sum(updates, ids, num_segments=table.shape[0])
        highest = jnp.full_like(table, -jnp.inf).at[ids].max(updates)
        picked = jnp.take_along_axis(scores, where[:, ::-1], axis=1)
        window = lax.dynamic_slice(table, (ids[0], jnp.int32(1)), (2, 3))
        return order, ranked, best, rows, counts, sums, highest, picked, window, jnp.argmax(scores, axis=1)

    return run, (of(4, 12), of(10, 6), of(7, dtype=jnp.int32), of(7, 6)), {}


@program
def fft_complex() -> Program:
    """Convolution by real FFT, a complex FFT in two dimensions, polar form, and complex arithmetic."""
    def run(signal: Array, kernel: Array, plane: Array) -> Any:
        filtered = jnp.fft.irfft(jnp.fft.rfft(signal) * jnp.fft.rfft(kernel), n=signal.shape[-1])
        spectrum = jnp.fft.fft2(plane)
        phase = jnp.exp(1j * jnp.angle(spectrum))
        restored = jnp.fft.ifft2(jnp.abs(spectrum) * phase)
        product = jnp.conj(plane) @ plane.T
        return filtered, spectrum.real, spectrum.imag, restored, jnp.sqrt(product), jnp.log(phase)

    return run, (of(2, 32), of(32), of(4, 8, dtype=jnp.complex64)), {}


@program
def linear_algebra() -> Program:
    """Regression by normal equations: Cholesky, triangular solves from both sides, log determinant.

    JAX lowers these to LAPACK calls for the CPU, so the lowered form is that for another platform (see LOWERED_FOR).
    """
    def run(x: Array, y: Array) -> Any:
        gram = jnp.einsum("bni,bnj->bij", x, x) + 0.1 * jnp.eye(x.shape[-1])
        factor = lax.linalg.cholesky(gram, symmetrize_input=False)
        right = jnp.einsum("bni,bnk->bik", x, y)
        half = lax.linalg.triangular_solve(factor, right, left_side=True, lower=True)
        weights = lax.linalg.triangular_solve(factor, half, left_side=True, lower=True, transpose_a=True)
        inverse = lax.linalg.triangular_solve(factor, jnp.broadcast_to(jnp.eye(x.shape[-1]), gram.shape), lower=True)
        log_det = 2 * jnp.sum(jnp.log(jnp.diagonal(factor, axis1=1, axis2=2)), axis=-1)
        return weights, inverse, log_det, y - jnp.einsum("bni,bik->bnk", x, weights)

    return run, (of(3, 20, 5), of(3, 20, 2)), {}


@program
def sharded_collectives() -> Program:
    """A layer split over 2 x 2 devices by `shard_map`, with each kind of collective."""
    mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("data", "model"))
    spec = PartitionSpec

    def body(x: Array, w: Array) -> Any:
        partial = x @ w
        summed = lax.psum(partial, "model")
        scattered = lax.psum_scatter(partial, "model", scatter_dimension=1, tiled=True)
        whole = lax.all_gather(scattered, "model", axis=1, tiled=True)
        swapped = lax.all_to_all(x, "data", split_axis=1, concat_axis=0, tiled=True)
        shifted = lax.ppermute(x, "data", [(0, 1), (1, 0)])
        largest = lax.pmax(jnp.max(x), ("data", "model"))
        place = lax.axis_index("data") * 2 + lax.axis_index("model")
        return summed, whole - summed, swapped, shifted * place.astype(jnp.float32), largest

    outputs = (spec("data"), spec("data"), spec("data", "model"), spec("data", "model"), spec())
    run = jax.shard_map(body, mesh=mesh, in_specs=(spec("data", "model"), spec("model")), out_specs=outputs,
                        check_vma=False)
    shardings = (NamedSharding(mesh, spec("data", "model")), NamedSharding(mesh, spec("model")))
    return run, (of(8, 16), of(16, 12)), {"in_shardings": shardings}


def mapped(body: Callable[..., Any], axes: dict[str, int], inputs: Any, outputs: Any) -> Callable[..., Any]:
    """Return a function that four devices run together, each on its parts of the arguments."""
    mesh = Mesh(np.array(jax.devices()[:4]).reshape(tuple(axes.values())), tuple(axes))
    return jax.shard_map(body, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False)


@program
def data_parallel_step() -> Program:
    """A step of gradient descent, each of four devices with its part of the batch; gradients are averaged."""
    def body(w: dict[str, Array], x: Array, y: Array) -> Any:
        def loss(w: dict[str, Array]) -> Array:
            return jnp.mean((jnp.tanh(x @ w["up"]) @ w["down"] - y) ** 2)

        value, gradients = lax.pmean(jax.value_and_grad(loss)(w), "data")
        return jax.tree.map(lambda p, g: p - 0.1 * g, w, gradients), value

    spec = PartitionSpec
    run = mapped(body, {"data": 4}, (spec(), spec("data"), spec("data")), (spec(), spec()))
    return run, ({"up": of(8, 16), "down": of(16, 4)}, of(16, 8), of(16, 4)), {}


@program
def tensor_parallel_block() -> Program:
    """Attention heads and the columns of a feed-forward layer split over devices, as is the batch; two all-reduces."""
    def body(x: Array, qkv: Array, out: Array, up: Array, down: Array) -> Array:
        q, k, v = jnp.einsum("bsd,tdhe->tbhse", x, qkv)
        weight = jax.nn.softmax(jnp.einsum("bhse,bhte->bhst", q, k) / 2)
        x = x + lax.psum(jnp.einsum("bhst,bhte,hed->bsd", weight, v, out), "model")
        return x + lax.psum(jax.nn.gelu(x @ up) @ down, "model")

    spec = PartitionSpec
    inputs = (spec("data"), spec(None, None, "model"), spec("model"), spec(None, "model"), spec("model"))
    run = mapped(body, {"data": 2, "model": 2}, inputs, spec("data"))
    return run, (of(4, 6, 8), of(3, 8, 2, 4), of(2, 4, 8), of(8, 16), of(16, 8)), {}


@program
def pipeline_stages() -> Program:
    """Four stages on four devices; micro-batches go from one to the next by collective-permute."""
    def body(w: Array, batches: Array) -> Array:
        stage, held, done = lax.axis_index("stage"), batches[0] * 0, []
        for tick in range(6):
            made = jnp.tanh(jnp.where(stage == 0, batches[min(tick, 2)], held) @ w[0])
            held = lax.ppermute(made, "stage", [(0, 1), (1, 2), (2, 3)])
            done.append(made)
        return lax.psum(jnp.where(stage == 3, jnp.stack(done[3:]), 0), "stage")

    spec = PartitionSpec
    return mapped(body, {"stage": 4}, (spec("stage"), spec()), spec()), (of(4, 8, 8), of(3, 2, 8)), {}


@program
def mixture_of_experts() -> Program:
    """Four experts on four devices: tokens go to theirs by all-to-all, and come back weighted by the gate."""
    def body(x: Array, gate: Array, up: Array, down: Array) -> Array:
        share = jax.nn.softmax(x @ gate)
        chosen = jax.nn.one_hot(jnp.argmax(share, -1), 4)
        sent = lax.all_to_all(jnp.einsum("te,td->etd", chosen, x), "expert", 0, 0, tiled=True)
        made = jax.nn.relu(sent @ up[0]) @ down[0]
        back = lax.all_to_all(made, "expert", 0, 0, tiled=True)
        return jnp.einsum("etd,te->td", back, chosen * share)

    spec = PartitionSpec
    run = mapped(body, {"expert": 4}, (spec("expert"), spec(), spec("expert"), spec("expert")), spec("expert"))
    return run, (of(16, 8), of(8, 4), of(4, 8, 16), of(4, 16, 8)), {}


@program
def bf16_mixed_precision() -> Program:
    """A feed-forward block in bf16 with layer norm and accumulation in f32, gradients cast back for f32 weights."""
    def loss(weights: dict[str, Array], x: Array) -> Array:
        x = x.astype(jnp.float32)
        mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
        normal = ((x - mean) * lax.rsqrt(variance + 1e-6) * weights["scale"]).astype(jnp.bfloat16)
        up = jnp.dot(normal, weights["up"].astype(jnp.bfloat16), preferred_element_type=jnp.float32)
        gate = jax.nn.silu(up).astype(jnp.bfloat16)
        down = jnp.dot(gate, weights["down"].astype(jnp.bfloat16), preferred_element_type=jnp.float32)
        return jnp.mean(jnp.square(x + down))

    def step(weights: dict[str, Array], x: Array) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, x)
        return value.astype(jnp.bfloat16), jax.tree.map(lambda w, g: w - 1e-3 * g, weights, gradients)

    return step, ({"scale": of(16), "up": of(16, 32), "down": of(32, 16)}, of(4, 16, dtype=jnp.bfloat16)), {}


@program
def int8_quantized_matmul() -> Program:
    """Dynamic quantisation of activations, s8 x s8 -> s32, rescaling; and weights packed as two s4 in a byte."""
    def run(x: Array, weight: Array, scale: Array, packed: Array) -> Any:
        step = jnp.maximum(jnp.max(jnp.abs(x), axis=-1, keepdims=True), 1e-8) / 127.0
        quantized = jnp.clip(jnp.round(x / step), -127, 127).astype(jnp.int8)
        product = lax.dot_general(quantized, weight, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
        low = lax.shift_right_arithmetic(lax.shift_left(packed, jnp.int8(4)), jnp.int8(4))
        high = lax.shift_right_arithmetic(packed, jnp.int8(4))
        unpacked = jnp.stack([low, high], axis=1).reshape(-1, packed.shape[1])
        second = lax.dot_general(quantized, unpacked, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
        return product.astype(jnp.float32) * step * scale, second, jnp.sum(quantized.astype(jnp.uint8) & 15)

    return run, (of(6, 16), of(16, 8, dtype=jnp.int8), of(8), of(8, 8, dtype=jnp.int8)), {}


def relative(text: str) -> str:
    """The text with paths of this checkout made relative to it, and those of installed packages to site-packages."""
    text = text.replace(f"{CHECKOUT}/", "")
    return re.sub(r'"[^"\n]*/site-packages/([^"\n]*)"', r'"\1"', text)


def write(name: str) -> None:
    """Writes both files of a program."""
    function, arguments, keywords = PROGRAMS[name]()
    traced = jax.jit(function, **keywords).trace(*arguments)
    lowered = traced.lower(lowering_platforms=(LOWERED_FOR.get(name, "cpu"),)).compiler_ir(dialect="hlo")
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    optimized = traced.lower().compile().runtime_executable().hlo_modules()[0]
    for suffix, text in ((".hlo", lowered.as_hlo_text(print_large_constants=True)),
                         (".optimized.hlo", optimized.to_string(options))):
        (FOLDER / f"{name}{suffix}").write_text(relative(text).rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    for wanted in sys.argv[1:] or PROGRAMS:
        write(wanted)
