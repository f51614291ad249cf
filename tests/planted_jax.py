"""JAX programs of loops, branches, calls and reducers with one fault: what `isolate` names, what `reduce` leaves.

    python tests/planted_jax.py blame [--programs a,b] [--seed N] [--count N]     names, per case; lies are shown
    python tests/planted_jax.py reduce                                           sizes, per case

A case is a pair (planted_pairs.py): the program before optimisation, and it or its optimised form with the fault.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import planted_pairs
from jax import lax

import hlotool
from hlotool.blame import blame_pair
from hlotool.execution import Program

#: name -> function and its arguments
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
WAYS = ("same", "renamed", "optimised")


def program(*arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a program: its arguments are shapes of f32, or arrays."""
    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        generator = np.random.default_rng(len(PROGRAMS))
        PROGRAMS[function.__name__] = function, tuple(
            generator.normal(size=a).astype(np.float32) if isinstance(a, tuple) else a for a in arguments)
        return function

    return declare


@program((4,), (4, 4))
def runge_kutta(y, a):
    def slope(y):
        return jnp.tanh(a @ y) - 0.5 * y

    def step(y, _):
        k1 = slope(y)
        k2 = slope(y + 0.05 * k1)
        k3 = slope(y + 0.05 * k2)
        k4 = slope(y + 0.1 * k3)
        return y + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4), y.max()

    return lax.scan(step, y, None, length=6)


@program((3,), (5, 2), (3, 3), (2, 3))
def kalman(x, observed, f, h):
    def step(state, z):
        x, p = state
        x, p = f @ x * 0.3, f @ p @ f.T * 0.1 + 0.1 * jnp.eye(3)
        s = h @ p @ h.T + 0.5 * jnp.eye(2)
        inverse = jnp.array([[s[1, 1], -s[0, 1]], [-s[1, 0], s[0, 0]]]) / (s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0])
        gain = p @ h.T @ inverse
        return (x + gain @ (z - h @ x), (jnp.eye(3) - gain @ h) @ p), x

    return lax.scan(step, (x, jnp.eye(3)), observed)


@program((12, 2), (3, 2))
def k_means(points, centres):
    def step(_, centres):
        distance = ((points[:, None] - centres[None]) ** 2).sum(-1)
        nearest = distance.argmin(1)
        total = jnp.zeros_like(centres).at[nearest].add(points)
        number = jnp.zeros(3).at[nearest].add(1.0)
        return jnp.where(number[:, None] > 0, total / jnp.maximum(number, 1)[:, None], centres)

    return lax.fori_loop(0, 4, step, centres)


@program((5, 5), (5,))
def conjugate_gradient(a, b):
    a = a @ a.T + 5 * jnp.eye(5)

    def go(state):
        return (state[3] < 4) & (state[2] @ state[2] > 1e-9)

    def step(state):
        x, r, p, n = state[0], state[1], state[2], state[3]
        q = a @ p
        alpha = (r @ r) / (p @ q)
        new = r - alpha * q
        return x + alpha * p, new, new + (new @ new) / (r @ r) * p, n + 1

    return lax.while_loop(go, step, (jnp.zeros(5), b, b, 0))


@program((6, 4), (4, 4))
def viterbi(emitted, transition):
    def step(score, e):
        every = score[:, None] + transition
        return every.max(0) + e, every.argmax(0)

    score, back = lax.scan(step, emitted[0], emitted[1:])
    return score, lax.scan(lambda at, row: (row[at], at), score.argmax(), back, reverse=True)


@program((2, 8), (5, 8), (8, 8))
def cached_attention(x, cache, w):
    def step(state, t):
        x, cache = state
        cache = lax.dynamic_update_slice(cache, (x[:1] @ w), (t, 0))
        weight = jax.nn.softmax(jnp.where(jnp.arange(5) <= t, x @ cache.T * 0.35, -1e9))
        return (jnp.tanh(weight @ cache + x), cache), weight.sum(0)

    return lax.scan(step, (x, cache), jnp.arange(4))


@program((2, 6, 6, 2), (3, 3, 2, 3))
def pooled_gradient(x, w):
    def loss(w):
        y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return (jax.nn.gelu(y) ** 2).mean()

    return jax.value_and_grad(loss)(w)


@program((7,), np.int32(2))
def switched(x, which):
    def body(n, state):
        return lax.switch((which + n) % 3, [lambda s: jnp.sin(s) * 1.5, lambda s: s - s.mean(),
                                            lambda s: jnp.cumsum(s) * 0.25], state)

    return lax.fori_loop(0, 5, body, x)


@program((24,), np.int32([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4]))
def histogram(x, keys):
    order = jnp.argsort(keys)
    sums = jax.ops.segment_sum(x, keys % 5, 5)
    top, where = lax.top_k(x, 4)
    return sums, x[order], top, where, jnp.bincount(keys, length=10), jnp.cumsum(jnp.sort(x))[::3]


@program(np.int32([1, 2, 3, 2, 4, 1]), np.int32([2, 2, 3, 4, 1]))
def edit_distance(one, other):
    def row(before, letter):
        def cell(left, at):
            up, diagonal, o = at
            best = jnp.minimum(jnp.minimum(left, up) + 1, diagonal + (o != letter))
            return best, best

        _, cells = lax.scan(cell, before[0] + 1, (before[1:], before[:-1], other))
        return jnp.concatenate([before[:1] + 1, cells]), cells[-1]

    return lax.scan(row, jnp.arange(6), one)


@program((4, 6), (6,), (6,), (6, 3))
def normed_layer(x, scale, shift, w):
    def loss(scale, w):
        normal = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift
        logits = jax.nn.silu(normal) @ w
        return -jax.nn.log_softmax(logits)[jnp.arange(4), jnp.arange(4) % 3].mean()

    return jax.grad(loss, (0, 1))(scale, w)


@program((3, 4), (9, 3), (7, 8))
def gated_recurrence(h, xs, w):
    def step(h, x):
        both = jnp.concatenate([jnp.broadcast_to(x, (3, 3)), h], 1) @ w
        gate, new = jax.nn.sigmoid(both[:, :4]), jnp.tanh(both[:, 4:])
        return gate * h + (1 - gate) * new, (h ** 2).sum()

    return jax.value_and_grad(lambda w0: lax.scan(step, h * w0, xs)[1].mean())(0.5)


@program((16,), np.uint32(7))
def random_walk(x, seed):
    def step(_, state):
        x, bits = state
        bits = (bits * np.uint32(1664525) + np.uint32(1013904223)) ^ (bits >> 13)
        shift = (bits >> 24).astype(jnp.int32) % 16
        return jnp.where(bits % 3 == 0, jnp.roll(x, 1) * 0.9, x + lax.dynamic_slice(x, (shift,), (1,))), bits

    return lax.fori_loop(0, 9, step, (x, seed))


@program((5, 4), (4, 4))
def bf16_block(x, w):
    def layer(x, w):
        y = (x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)).astype(jnp.float32)
        return x + jax.nn.relu(y) * 0.5

    return lax.fori_loop(0, 3, lambda n, x: layer(x, w * (n + 1)), x).astype(jnp.bfloat16), jnp.triu(w) @ w


def pair_of(name: str) -> tuple[Program, Program, list[list[np.ndarray]]]:
    """Return a program before and after optimisation, and its arguments."""
    function, arguments = PROGRAMS[name]
    lowered = jax.jit(function).lower(*arguments)
    before = Program(hlotool.parse(lowered.compiler_ir(dialect="hlo").as_hlo_text(), f"{name}.hlo"))
    after = Program(hlotool.parse(lowered.compile().as_text(), f"{name}.optimised.hlo"))
    return before, after, [[np.asarray(a) for a in arguments]]


def cases(names: list[str], seed: int, count: int, ways: tuple[str, ...] = WAYS) -> Iterator[planted_pairs.Planted]:
    """Yield `count` planted pairs of each program in each way."""
    for name in names:
        before, after, rows = pair_of(name)
        for number, way in enumerate(ways):
            base = after if way == "optimised" else before
            yield from planted_pairs.planted(name, before, base, rows, way, count, seed + number)


def blamed(names: list[str], seed: int, count: int, ways: tuple[str, ...]) -> Counter[str]:
    """Print what is named of each case, and count."""
    met: Counter[str] = Counter()
    for case in cases(names, seed, count, ways):
        begun = time.process_time()
        found = blame_pair(case.left, case.right, case.rows)
        said = "no difference" if found is None else str(found)
        named = found.place.instruction.name if found is not None and found.place is not None else None
        kind = ("undecided" if named is None else "named" if named in case.wanted else "holds it"
                if named in case.enclosing else "LIE")
        met[f"{case.way}: {kind}"] += 1
        met[kind] += 1
        print(f"{case.name:20} {case.way:10} {case.kind:12} {kind:10} {time.process_time() - begun:5.1f} s  "
              f"wanted {sorted(case.wanted)}; {said}{'; ' + found.edit if found is not None and found.edit else ''}",
              flush=True)
    return met


def reduced(names: list[str], seed: int, count: int, ways: tuple[str, ...]) -> Counter[str]:
    """Print the sizes that are reached, and count those of 8 instructions of both modules, and of each."""
    from hlotool.reduction import Candidate, ReduceOptions, pair_test, reduce_candidate

    met: Counter[str] = Counter()
    for case in cases(names, seed, count, ways):
        begun, original = time.monotonic(), Candidate(case.left.module, case.rows, case.right.module)
        try:
            found = reduce_candidate(original, pair_test(30.0), ReduceOptions(jobs=1, time_limit=120))
        except hlotool.HloError as error:
            print(f"{case.name:20} {case.way:10} {case.kind:12} {error.diagnostics[0].message[:90]}", flush=True)
            met["not shown"] += 1
            continue
        size = found.candidate.size
        met["at most 8 of both" if size <= 8 else "at most 8 of each" if size <= 16 else "more"] += 1
        print(f"{case.name:20} {case.way:10} {case.kind:12} {original.size:5} -> {size:4}  "
              f"{time.monotonic() - begun:4.0f} s", flush=True)
    return met


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", choices=("blame", "reduce"))
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=2)
    args = parser.parse_args()
    bench = blamed if args.bench == "blame" else reduced
    with np.errstate(all="ignore"):
        print(dict(bench(args.programs.split(","), args.seed, args.count, tuple(args.ways.split(",")))))
