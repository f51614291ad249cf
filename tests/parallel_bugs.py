"""Bugs of parallel training: JAX programs, the same partitioned by hand, and the latter with one bug of each kind.

    python tests/parallel_bugs.py FOLDER [NAME ...]

writes for each program NAME.whole.hlo, NAME.right.hlo and NAME.wrong.hlo. The line of this file that makes the bug ends
in `# bug`; it is the line that a search has to name. Source of the kinds: reports of bugs in training frameworks.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from parallel_programs import dumped, jitted, mapped, mesh_named, of, spec, write_each

#: name -> function that takes True for the bug and returns both jitted functions, and the arguments
BUGS: dict[str, Callable[[bool], tuple[Any, Any, Sequence[Any]]]] = {}


def bug(mesh: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a program: a function of a mesh and the bug, which returns the whole one, its part, specs, arguments."""

    def declare(make: Callable[..., Any]) -> Callable[..., Any]:
        def pair(is_wrong: bool) -> tuple[Any, Any, Sequence[Any]]:
            on = mesh_named(mesh)
            whole, body, inputs, outputs, arguments = make(on, is_wrong)
            return (jitted(on, whole, inputs, outputs), jitted(on, mapped(on, body, inputs, outputs), inputs, outputs),
                    arguments)

        BUGS[make.__name__] = pair
        return make

    return declare


def _loss(w: Any, x: Any, y: Any) -> Any:
    import jax.numpy as jnp

    return ((jnp.tanh(x @ w) - y) ** 2).mean()


def _step_specs() -> tuple[Any, Any]:
    return (spec(), spec("data"), spec("data")), (spec(), spec())


def _step(w: Any, x: Any, y: Any) -> Any:
    import jax

    value, grad = jax.value_and_grad(_loss)(w, x, y)
    return w - 0.5 * grad, value


def _step_arguments() -> tuple[Any, ...]:
    return of(8, 4), of(16, 8), of(16, 4)


@bug("d4")
def loss_scale(mesh, is_wrong):
    """The losses of the devices are added up and not averaged."""
    import jax
    from jax import lax

    def body(w, x, y):
        value, grad = jax.value_and_grad(_loss)(w, x, y)
        grad = lax.psum(grad, "data") / 4
        if is_wrong:
            return w - 0.5 * grad, lax.psum(value, "data")  # bug
        return w - 0.5 * grad, lax.psum(value, "data") / 4

    return _step, body, *_step_specs(), _step_arguments()


@bug("d4")
def missing_all_reduce(mesh, is_wrong):
    """The gradient of a weight is that of the own batch."""
    import jax.numpy as jnp
    from jax import lax

    def body(w, x, y):
        h = jnp.tanh(x @ w)
        value = lax.psum(((h - y) ** 2).sum(), "data") / 64
        d = 2 * (h - y) * (1 - h * h) / 64
        grad = x.T @ d  # bug
        if not is_wrong:
            grad = lax.psum(grad, "data")
        return w - 0.5 * grad, value

    return _step, body, *_step_specs(), _step_arguments()


@bug("d4")
def missing_mean(mesh, is_wrong):
    """The same, of a gradient of the own batch's mean."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def own(w, x, y):
        return ((jnp.tanh(x @ w) - y) ** 2).mean()  # bug

    def body(w, x, y):
        value, grad = jax.value_and_grad(own)(w, x, y)
        if not is_wrong:
            grad = lax.pmean(grad, "data")
        return w - 0.5 * grad, lax.pmean(value, "data")

    return _step, body, *_step_specs(), _step_arguments()


def _two_layers() -> tuple[Any, ...]:
    return (spec(None, "model"), spec("model", None), spec("data")), spec("data"), (of(8, 16), of(16, 8), of(8, 8))


def _mlp(up: Any, down: Any, x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.tanh(jnp.tanh(x @ up) @ down)


@bug("d2t4")
def wrong_group(mesh, is_wrong):
    """Partial sums of a layer are added up over the other axis."""
    import jax.numpy as jnp
    from jax import lax

    def body(up, down, x):
        partial = jnp.tanh(x @ up) @ down
        return jnp.tanh(lax.psum(partial, "data" if is_wrong else "model"))  # bug

    return _mlp, body, *_two_layers()


@bug("d2t4")
def all_devices(mesh, is_wrong):
    """Partial sums of a layer are added up over all devices."""
    import jax.numpy as jnp
    from jax import lax

    def body(up, down, x):
        partial = jnp.tanh(x @ up) @ down
        return jnp.tanh(lax.psum(partial, ("data", "model") if is_wrong else "model"))  # bug

    return _mlp, body, *_two_layers()


@bug("d2t4")
def wrong_reduction(mesh, is_wrong):
    """The largest partial sum is taken."""
    import jax.numpy as jnp
    from jax import lax

    def body(up, down, x):
        partial = jnp.tanh(x @ up) @ down
        return jnp.tanh((lax.pmax if is_wrong else lax.psum)(partial, "model"))  # bug

    return _mlp, body, *_two_layers()


def _looked_up(table: Any, ids: Any) -> Any:
    import jax.numpy as jnp

    return jnp.sin(table[jnp.clip(ids, 0, 15)])


@bug("d2t4")
def embedding_offset(mesh, is_wrong):
    """The first row of a device's part of the table is computed with the size of an unpadded part."""
    import jax.numpy as jnp
    from jax import lax

    def body(table, ids):
        rows = table.shape[0]
        first = lax.axis_index("model") * (rows - 1 if is_wrong else rows)  # bug
        local = jnp.clip(ids, 0, 15) - first
        is_mine = (local >= 0) & (local < rows)
        found = jnp.where(is_mine[:, None], table[jnp.clip(local, 0, rows - 1)], 0)
        return jnp.sin(lax.psum(found, "model"))

    return _looked_up, body, (spec("model"), spec("data")), spec("data"), (of(16, 4), of(8, dtype="int32"))


@bug("d2t4")
def embedding_mask(mesh, is_wrong):
    """Rows that another device has are taken from the end of the own table."""
    import jax.numpy as jnp
    from jax import lax

    def body(table, ids):
        rows = table.shape[0]
        local = jnp.clip(ids, 0, 15) - lax.axis_index("model") * rows
        is_mine = (local >= 0) & (local <= rows if is_wrong else local < rows)  # bug
        found = jnp.where(is_mine[:, None], table[jnp.clip(local, 0, rows - 1)], 0)
        return jnp.sin(lax.psum(found, "model"))

    return _looked_up, body, (spec("model"), spec("data")), spec("data"), (of(16, 4), of(8, dtype="int32"))


@bug("s4")
def rotary_positions(mesh, is_wrong):
    """Positions of a split sequence begin with 0 on each device."""
    import jax.numpy as jnp
    from jax import lax

    def turned(x, at):
        angle = at[:, None] * jnp.array([1.0, 0.1])
        a, b = x[:, :2], x[:, 2:]
        return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)

    def whole(q, k):
        at = jnp.arange(16, dtype=jnp.float32)
        return turned(q, at) @ turned(k, at).T

    def body(q, k):
        at = jnp.arange(4, dtype=jnp.float32)  # bug
        if not is_wrong:
            at = at + lax.axis_index("seq") * 4
        keys = lax.all_gather(turned(k, at), "seq", tiled=True)
        return turned(q, at) @ keys.T

    return whole, body, (spec("seq"), spec("seq")), spec("seq"), (of(16, 4), of(16, 4))


@bug("s4")
def rotary_slice(mesh, is_wrong):
    """Each device takes the angles of its neighbour out of the table."""
    import jax.numpy as jnp
    from jax import lax

    def whole(q, table):
        return jnp.tanh(q * jnp.sin(table))

    def body(q, table):
        place = lax.axis_index("seq")
        own = (place + 1) % 4 if is_wrong else place  # bug
        angles = lax.dynamic_slice_in_dim(jnp.sin(table), own * 4, 4)  # bug
        return jnp.tanh(q * angles)

    return whole, body, (spec("seq"), spec()), spec("seq"), (of(16, 4), of(16, 4))


@bug("d2t4")
def auxiliary_loss(mesh, is_wrong):
    """An auxiliary loss of all devices of an axis is added as often as there are devices."""
    import jax.numpy as jnp
    from jax import lax

    def whole(x, gate):
        p = jnp.tanh(x @ gate)
        return (p**2).mean() + 0.01 * jnp.abs(p).mean()

    def body(x, gate):
        p = jnp.tanh(x @ gate)
        main = lax.psum((p**2).sum(), ("data", "model")) / 64
        extra = lax.psum(jnp.abs(p).sum(), ("data", "model"))  # bug
        if not is_wrong:
            extra = extra / 64
        return main + 0.01 * extra  # bug

    return whole, body, (spec("data"), spec(None, "model")), spec(), (of(8, 4), of(4, 8))


@bug("d4")
def auxiliary_factor(mesh, is_wrong):
    """The factor of an auxiliary loss is missing."""
    import jax.numpy as jnp
    from jax import lax

    def whole(x, gate):
        p = jnp.tanh(x @ gate)
        return (p**2).mean() + 0.01 * jnp.abs(p).mean()

    def body(x, gate):
        p = jnp.tanh(x @ gate)
        main = lax.pmean((p**2).mean(), "data")
        extra = lax.pmean(jnp.abs(p).mean(), "data")  # bug
        if not is_wrong:
            extra = extra * 0.01
        return main + extra  # bug

    return whole, body, (spec("data"), spec()), spec(), (of(8, 4), of(4, 8))


@bug("d4")
def gathered_dimension(mesh, is_wrong):
    """A square weight is gathered along the other dimension."""
    import jax.numpy as jnp
    from jax import lax

    def whole(x, w):
        return jnp.tanh(x @ w.reshape(8, 8))

    def body(x, w):
        full = lax.all_gather(w, "data", axis=1 if is_wrong else 0, tiled=True)  # bug
        return jnp.tanh(x @ full.reshape(8, 8))

    return whole, body, (spec("data"), spec("data")), spec("data"), (of(8, 8), of(16, 4))


@bug("s4")
def exchanged_dimensions(mesh, is_wrong):
    """An all-to-all that splits the dimension of features and not that of heads."""
    import jax.numpy as jnp
    from jax import lax

    def whole(x):
        return jnp.cumsum(jnp.tanh(x), 0)

    def body(x):
        h = lax.all_to_all(jnp.tanh(x), "seq", 2 if is_wrong else 1, 0, tiled=True)  # bug
        h = h.reshape(16, 1, 4)  # bug
        return lax.all_to_all(jnp.cumsum(h, 0), "seq", 0, 1, tiled=True)

    return whole, body, (spec("seq"),), spec("seq"), (of(16, 4, 4),)


@bug("d2t4")
def strided_split(mesh, is_wrong):
    """Each device takes every fourth row of what is split into runs of rows."""
    import jax.numpy as jnp
    from jax import lax

    def whole(x, w):
        return jnp.tanh(x @ jnp.sin(w))

    def body(x, w):
        place = lax.axis_index("model")
        rows = jnp.sin(w).reshape((2, 4, 8) if is_wrong else (4, 2, 8))
        own = lax.dynamic_index_in_dim(rows, place, 1 if is_wrong else 0, False)  # bug
        part = lax.dynamic_slice_in_dim(x, place * 2, 2, 1)
        return jnp.tanh(lax.psum(part @ own, "model"))

    return whole, body, (spec("data"), spec()), spec("data"), (of(8, 8), of(8, 8))


@bug("d2t4")
def fused_split(mesh, is_wrong):
    """A fused weight, split over devices, is divided on each device as if it were the whole one."""
    import jax.numpy as jnp
    from jax import lax

    def whole(x, w):
        gate, up = jnp.split(x @ w, 2, 1)
        return jnp.tanh(gate) * up

    def body(x, w):
        h = x @ w
        if is_wrong:
            gate, up = jnp.split(h, 2, 1)  # bug
        else:
            h = lax.all_gather(h, "model", axis=1, tiled=True)
            gate, up = (lax.dynamic_slice_in_dim(p, lax.axis_index("model") * 2, 2, 1) for p in jnp.split(h, 2, 1))
        return jnp.tanh(gate) * up

    return whole, body, (spec("data"), spec(None, "model")), spec("data", "model"), (of(8, 4), of(4, 16))


@bug("d2t4")
def repeated_bias(mesh, is_wrong):
    """A bias is added to each partial sum."""
    import jax.numpy as jnp
    from jax import lax

    def whole(x, w, b):
        return jnp.tanh(jnp.tanh(x) @ w + b)

    def body(x, w, b):
        partial = jnp.tanh(x) @ w
        if is_wrong:
            return jnp.tanh(lax.psum(partial + b, "model"))  # bug
        return jnp.tanh(lax.psum(partial, "model") + b)

    return whole, body, (spec("data", "model"), spec("model"), spec()), spec("data"), (of(8, 8), of(8, 4), of(4))


@bug("d2t4")
def repeated_residual(mesh, is_wrong):
    """A residual connection is added to each partial sum."""
    import jax.numpy as jnp
    from jax import lax

    def whole(x, up, down):
        return jnp.tanh(x + jnp.tanh(x @ up) @ down)

    def body(x, up, down):
        partial = jnp.tanh(x @ up) @ down
        if is_wrong:
            return jnp.tanh(lax.psum(x + partial, "model"))  # bug
        return jnp.tanh(x + lax.psum(partial, "model"))

    return whole, body, (spec("data"), spec(None, "model"), spec("model")), spec("data"), (
        of(8, 4), of(4, 8), of(8, 4))


def _stages(w: Any, x: Any) -> Any:
    import jax.numpy as jnp

    for stage in range(4):
        x = jnp.tanh(x @ w[stage])
    return x


def _pipelined(mesh: Any, pairs: Any, ticks: int, last: int, first: int = 0) -> tuple[Any, ...]:
    import jax.numpy as jnp
    from jax import lax

    def body(w, x):
        place, h = lax.axis_index("pipe"), x
        for tick in range(ticks):
            made = jnp.tanh(h @ w[0])
            h = lax.ppermute(made, "pipe", pairs) if tick < ticks - 1 else made  # bug
        return lax.psum(jnp.where(place == last, h, 0), "pipe")

    return _stages, body, (spec("pipe"), spec()), spec(), (of(4, 4, 4), of(2, 4))


@bug("p4")
def stage_order(mesh, is_wrong):
    """Values go from stages to the wrong ones."""
    return _pipelined(mesh, [(0, 2), (2, 1), (1, 3), (3, 0)] if is_wrong else [(0, 1), (1, 2), (2, 3), (3, 0)], 4, 3)


@bug("p4")
def missing_stage(mesh, is_wrong):
    """The result is taken from the last stage but one."""
    import jax.numpy as jnp
    from jax import lax

    def body(w, x):
        place, h = lax.axis_index("pipe"), x
        for _ in range(3):
            h = lax.ppermute(jnp.tanh(h @ w[0]), "pipe", [(0, 1), (1, 2), (2, 3), (3, 0)])
        if not is_wrong:
            h = jnp.tanh(h @ w[0])
        return lax.psum(jnp.where(place == 3, h, 0), "pipe")  # bug

    return _stages, body, (spec("pipe"), spec()), spec(), (of(4, 4, 4), of(2, 4))


@bug("p4")
def stage_in_a_loop(mesh, is_wrong):
    """Values go the other way around, in a loop."""
    import jax.numpy as jnp
    from jax import lax

    def body(w, x):
        place = lax.axis_index("pipe")
        pairs = [(i, (i - 1 if is_wrong else i + 1) % 4) for i in range(4)]

        def tick(h, _):
            return lax.ppermute(jnp.tanh(h @ w[0]), "pipe", pairs), None  # bug

        h, _ = lax.scan(tick, x, None, length=4)
        return lax.psum(jnp.where(place == 0, h, 0), "pipe")

    return _stages, body, (spec("pipe"), spec()), spec(), (of(4, 4, 4), of(2, 4))


def _expert(w: Any, x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.tanh(jnp.einsum("ebd,edf->ebf", x, w))


@bug("e4")
def expert_rank(mesh, is_wrong):
    """Tokens are sent to the device of another expert's weights."""
    import jax.numpy as jnp
    from jax import lax

    def body(w, x):
        place = lax.axis_index("expert")
        own = (place + 1) % 4 if is_wrong else place  # bug
        w = lax.dynamic_slice_in_dim(jnp.sin(w), own, 1)  # bug
        sent = lax.all_to_all(x, "expert", 0, 1, tiled=True)
        return lax.all_to_all(jnp.tanh(jnp.einsum("ebd,edf->ebf", sent, w)), "expert", 1, 0, tiled=True)

    def whole(w, x):
        return _expert(jnp.sin(w), x)

    return whole, body, (spec(), spec(None, "expert")), spec(None, "expert"), (of(4, 4, 4), of(4, 8, 4))


@bug("e8")
def expert_group(mesh, is_wrong):
    """Tokens are sent among each four devices, and experts are on eight."""
    import jax.numpy as jnp
    from jax import lax

    groups = [[0, 2, 1, 3, 4, 5, 6, 7]] if is_wrong else [[0, 1, 2, 3, 4, 5, 6, 7]]

    def body(w, x):
        sent = lax.all_to_all(x, "expert", 0, 1, tiled=True, axis_index_groups=groups)  # bug
        return lax.all_to_all(jnp.tanh(jnp.einsum("ebd,edf->ebf", sent, w)), "expert", 1, 0, tiled=True)

    return _expert, body, (spec("expert"), spec(None, "expert")), spec(None, "expert"), (of(8, 4, 4), of(8, 8, 4))


def _accumulated(w: Any, xs: Any, ys: Any) -> Any:
    import jax

    total = sum(jax.grad(_loss)(w, xs[n], ys[n]) for n in range(3))
    return w - 0.5 * total / 3


@bug("d4")
def accumulation(mesh, is_wrong):
    """Gradients of three micro-batches are divided by the number of devices, too, which the mean has done."""
    import jax
    from jax import lax

    def body(w, xs, ys):
        total = sum(jax.grad(_loss)(w, xs[n], ys[n]) for n in range(3))
        total = lax.pmean(total, "data")
        return w - 0.5 * (total / (12 if is_wrong else 3))  # bug

    return _accumulated, body, (spec(), spec(None, "data"), spec(None, "data")), spec(), (
        of(8, 4), of(3, 8, 8), of(3, 8, 4))


@bug("d4")
def accumulation_in_a_loop(mesh, is_wrong):
    """The sum of the micro-batches' gradients is not divided."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def body(w, xs, ys):
        def one(total, batch):
            return total + jax.grad(_loss)(w, *batch), None

        total, _ = lax.scan(one, jnp.zeros_like(w), (xs, ys))
        total = lax.pmean(total, "data")
        return w - 0.5 * (total / (2 if is_wrong else 3))  # bug

    return _accumulated, body, (spec(), spec(None, "data"), spec(None, "data")), spec(), (
        of(8, 4), of(3, 8, 8), of(3, 8, 4))


@bug("d4")
def stale_shard(mesh, is_wrong):
    """One device keeps its old part of a weight."""
    import jax.numpy as jnp
    from jax import lax

    def whole(w, g):
        return w - 0.5 * jnp.tanh(g)

    def body(w, g):
        new = w - 0.5 * jnp.tanh(g)
        if is_wrong:
            new = jnp.where(lax.axis_index("data") == 2, w, new)  # bug
        return new

    return whole, body, (spec("data"), spec("data")), spec("data"), (of(8, 4), of(8, 4))


@bug("d4")
def stale_gather(mesh, is_wrong):
    """Weights are gathered before they are updated."""
    import jax.numpy as jnp
    from jax import lax

    def whole(w, g, x):
        new = w - 0.5 * jnp.tanh(g)
        return new, x @ new

    def body(w, g, x):
        new = w - 0.5 * jnp.tanh(g)
        full = lax.all_gather(w if is_wrong else new, "data", tiled=True)  # bug
        return new, x @ full

    rows = spec("data")
    return whole, body, (rows, rows, rows), (rows, rows), (of(8, 4), of(8, 4), of(8, 8))


def write(name: str, folder: pathlib.Path) -> None:
    """Write the whole program, and both forms of its parts."""
    for is_wrong, kind in ((False, "right"), (True, "wrong")):
        whole, part, arguments = BUGS[name](is_wrong)
        if not is_wrong:
            (folder / f"{name}.whole.hlo").write_text(dumped(whole, arguments)["before"])
        (folder / f"{name}.{kind}.hlo").write_text(dumped(part, arguments)["after"])


if __name__ == "__main__":
    write_each(write, BUGS)
