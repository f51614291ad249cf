"""JAX programs of every parallelism, partitioned by XLA over simulated devices of the CPU.

    python tests/parallel_programs.py FOLDER [NAME ...]

writes for each program NAME.lowered.hlo (as JAX lowers it), NAME.whole.hlo (with shardings, before XLA's partitioner),
NAME.part.hlo (after it) and NAME.optimized.hlo (as the compiler leaves it). It is a process of its own, because the
number of devices is fixed when JAX starts.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any

#: devices that are simulated
DEVICES = 8
#: name -> function that takes a mesh maker and returns the jitted function and its arguments' dimensions
PROGRAMS: dict[str, Callable[[], tuple[Any, Sequence[Any]]]] = {}
#: axes of meshes by name
MESHES = {"d8": (("data", 8),), "d4": (("data", 4),), "d2t4": (("data", 2), ("model", 4)),
          "d4t2": (("data", 4), ("model", 2)), "p2d2t2": (("pipe", 2), ("data", 2), ("model", 2)),
          "p4": (("pipe", 4),), "p8": (("pipe", 8),), "e4": (("expert", 4),), "e8": (("expert", 8),),
          "s8": (("seq", 8),), "s4": (("seq", 4),), "d2s4": (("data", 2), ("seq", 4))}


def on(*meshes: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a program: a function of a mesh that returns the function, its arguments and keywords of jax.jit."""

    def declare(make: Callable[..., Any]) -> Callable[..., Any]:
        for mesh in meshes:
            PROGRAMS[f"{make.__name__}.{mesh}"] = lambda make=make, mesh=mesh: make(mesh_named(mesh))
        return make

    return declare


def mesh_named(name: str) -> Any:
    """Return a mesh of the first devices."""
    import jax
    import numpy as np

    axes = MESHES[name]
    sizes = tuple(size for _, size in axes)
    return jax.sharding.Mesh(np.array(jax.devices()[:int(np.prod(sizes))]).reshape(sizes), tuple(a for a, _ in axes))


def of(*dims: int, dtype: str = "float32") -> Any:
    """Return an example argument."""
    import jax

    return jax.ShapeDtypeStruct(dims, dtype)


def jitted(mesh: Any, function: Any, inputs: Any, outputs: Any) -> Any:
    """Return a function with shardings of its arguments and results, given as specifications."""
    import jax

    def named(specs: Any) -> Any:
        return jax.tree.map(lambda s: jax.sharding.NamedSharding(mesh, s), specs,
                            is_leaf=lambda s: isinstance(s, jax.sharding.PartitionSpec))

    return jax.jit(function, in_shardings=named(inputs), out_shardings=named(outputs))


def spec(*axes: Any) -> Any:
    """Return a specification: for each dimension an axis, several, or None."""
    import jax

    return jax.sharding.PartitionSpec(*axes)


def mapped(mesh: Any, body: Any, inputs: Any, outputs: Any, **more: Any) -> Any:
    """Return a function that is partitioned by hand."""
    import jax

    return jax.shard_map(body, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False, **more)


def _mlp(w: Any, x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.tanh(x @ w["up"]) @ w["down"]


def _step(w: Any, x: Any, y: Any) -> Any:
    """Return a step of gradient descent."""
    import jax

    value, grads = jax.value_and_grad(lambda w: ((_mlp(w, x) - y) ** 2).mean())(w)
    return jax.tree.map(lambda p, g: p - 0.1 * g, w, grads), value


_WEIGHTS = {"up": (8, 16), "down": (16, 8)}


def _weights() -> Any:
    return {name: of(*dims) for name, dims in _WEIGHTS.items()}


# data parallelism


@on("d8", "d4", "d4t2")
def data_step(mesh):
    whole = {"up": spec(), "down": spec()}
    return jitted(mesh, _step, (whole, spec("data"), spec("data")), (whole, spec())), (
        _weights(), of(16, 8), of(16, 8))


@on("d8")
def data_uneven(mesh):
    import jax.numpy as jnp

    return jitted(mesh, lambda x: (jnp.sin(x) * 2, x.sum(0), x.max()), (spec(),), (spec(), spec(), spec())), (
        of(13, 5),)


@on("d4", "d2t4")
def data_norm(mesh):
    """Batch norm over the whole batch."""
    def run(x, s):
        centred = x - x.mean(0)
        return centred * (centred**2).mean(0) * s

    return jitted(mesh, run, (spec("data"), spec()), spec("data")), (of(8, 6), of(6))


@on("d4", "d8")
def data_mapped(mesh):
    """The same step by hand: gradients are averaged over the devices."""
    import jax
    from jax import lax

    def body(w, x, y):
        value, grads = jax.value_and_grad(lambda w: ((_mlp(w, x) - y) ** 2).mean())(w)
        grads = jax.tree.map(lambda g: lax.pmean(g, "data"), grads)
        return jax.tree.map(lambda p, g: p - 0.1 * g, w, grads), lax.pmean(value, "data")

    whole = {"up": spec(), "down": spec()}
    run = mapped(mesh, body, (whole, spec("data"), spec("data")), (whole, spec()))
    return jitted(mesh, run, (whole, spec("data"), spec("data")), (whole, spec())), (_weights(), of(16, 8), of(16, 8))


@on("d4")
def data_accumulated(mesh):
    """Micro-batches whose gradients are added up in a loop."""
    import jax
    from jax import lax

    def run(w, xs, ys):
        def one(total, batch):
            grads = jax.grad(lambda w: ((_mlp(w, batch[0]) - batch[1]) ** 2).mean())(w)
            return jax.tree.map(lambda a, b: a + b, total, grads), None

        total, _ = lax.scan(one, jax.tree.map(lambda p: p * 0, w), (xs, ys))
        return jax.tree.map(lambda p, g: p - 0.1 * g / 3, w, total)

    whole = {"up": spec(), "down": spec()}
    batches = spec(None, "data")
    return jitted(mesh, run, (whole, batches, batches), whole), (_weights(), of(3, 8, 8), of(3, 8, 8))


# tensor parallelism

_TENSOR = {"up": (None, "model"), "down": ("model", None)}


@on("d2t4", "d4t2", "p2d2t2")
def tensor_step(mesh):
    split = {name: spec(*axes) for name, axes in _TENSOR.items()}
    return jitted(mesh, _step, (split, spec("data"), spec("data")), (split, spec())), (
        _weights(), of(16, 8), of(16, 8))


@on("d2t4", "d4t2")
def tensor_other_way(mesh):
    """Weights split along the other dimensions."""
    split = {"up": spec("model", None), "down": spec(None, "model")}
    return jitted(mesh, _step, (split, spec("data"), spec("data")), (split, spec())), (
        _weights(), of(16, 8), of(16, 8))


@on("d2t4")
def tensor_by_hand(mesh):
    import jax.numpy as jnp
    from jax import lax

    def body(w, x):
        return lax.psum(jnp.tanh(x @ w["up"]) @ w["down"], "model")

    split = {name: spec(*axes) for name, axes in _TENSOR.items()}
    return jitted(mesh, mapped(mesh, body, (split, spec("data")), spec("data")), (split, spec("data")),
                  spec("data")), (_weights(), of(8, 8))


@on("d2t4", "p2d2t2")
def attention_heads(mesh):
    import jax
    import jax.numpy as jnp

    def run(x, q, k, v, o):
        heads = [jnp.einsum("bsd,dhe->bhse", x, w) for w in (q, k, v)]
        scores = jax.nn.softmax(jnp.einsum("bhse,bhte->bhst", heads[0], heads[1]) / 2)
        return jnp.einsum("bhst,bhte,hed->bsd", scores, heads[2], o)

    by_head = spec(None, "model", None)
    return jitted(mesh, run, (spec("data"), by_head, by_head, by_head, spec("model")), spec("data")), (
        of(4, 3, 8), of(8, 4, 2), of(8, 4, 2), of(8, 4, 2), of(4, 2, 8))


@on("d2t4", "d4t2")
def vocabulary(mesh):
    """An embedding and a cross entropy whose vocabulary is split."""
    import jax
    import jax.numpy as jnp

    def run(table, ids):
        h = table[ids]
        logits = h @ table.T
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), ids[..., None], -1).mean()

    return jitted(mesh, run, (spec("model", None), spec("data")), spec()), (of(16, 8), of(8, dtype="int32"))


@on("d4", "d2t4")
def scattered(mesh):
    def run(table, ids, rows):
        return table.at[ids].add(rows), table.at[ids].set(rows)

    return jitted(mesh, run, (spec("data"), spec(), spec()), (spec("data"), spec("data"))), (
        of(16, 4), of(6, dtype="int32"), of(6, 4))


# sequence parallelism


@on("s4", "s8")
def sequence_attention(mesh):
    import jax
    import jax.numpy as jnp

    def run(q, k, v):
        s = q.shape[0]
        scores = jnp.where(jnp.tril(jnp.ones((s, s), bool)), q @ k.T / 2, -1e9)
        return jax.nn.softmax(scores) @ v

    return jitted(mesh, run, (spec("seq"),) * 3, spec("seq")), (of(16, 4),) * 3


@on("s4", "s8")
def ring_attention(mesh):
    """Keys and values go around a ring of devices."""
    import jax.numpy as jnp
    from jax import lax

    count = mesh.shape["seq"]

    def body(q, k, v):
        def turn(state, _):
            k, v, top, bottom = state
            weight = jnp.exp(jnp.minimum(q @ k.T, 3.0))
            pairs = [(i, (i + 1) % count) for i in range(count)]
            return (lax.ppermute(k, "seq", pairs), lax.ppermute(v, "seq", pairs), top + weight @ v,
                    bottom + weight.sum(-1, keepdims=True)), None

        (_, _, top, bottom), _ = lax.scan(turn, (k, v, v * 0, v[:, :1] * 0), None, length=count)
        return top / bottom

    run = mapped(mesh, body, (spec("seq"),) * 3, spec("seq"))
    return jitted(mesh, run, (spec("seq"),) * 3, spec("seq")), (of(16, 4),) * 3


@on("s4", "s8")
def halo(mesh):
    """A stencil over a split dimension."""
    import jax.numpy as jnp

    return jitted(mesh, lambda x: jnp.roll(x, 1, 0) + x - jnp.roll(x, -2, 0), (spec("seq"),), spec("seq")), (
        of(16, 3),)


@on("s4", "s8")
def convolution(mesh):
    from jax import lax

    def run(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    return jitted(mesh, run, (spec(None, "seq"), spec()), spec(None, "seq")), (of(2, 16, 4, 3), of(3, 3, 3, 2))


@on("d2s4")
def ulysses(mesh):
    """All-to-all between a split of the sequence and one of the heads."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def body(x, w):
        h = lax.all_to_all(jnp.einsum("bsd,dhe->bshe", x, w), "seq", 2, 1, tiled=True)
        scores = jax.nn.softmax(jnp.einsum("bshe,bthe->bhst", h, h) / 2)
        return lax.all_to_all(jnp.einsum("bhst,bthe->bshe", scores, h), "seq", 1, 2, tiled=True)

    part = spec("data", "seq")
    return jitted(mesh, mapped(mesh, body, (part, spec()), part), (part, spec()), part), (of(2, 8, 6), of(6, 4, 2))


@on("s4")
def cumulative(mesh):
    import jax.numpy as jnp

    return jitted(mesh, lambda x: (jnp.cumsum(x, 0), jnp.sort(x, 0), jnp.flip(x, 0)), (spec("seq"),), spec("seq")), (
        of(8, 3),)


# pipelines


@on("p4", "p8")
def pipeline(mesh):
    """Stages on devices; micro-batches go from one to the next by collective-permute."""
    import jax.numpy as jnp
    from jax import lax

    count = mesh.shape["pipe"]

    def body(w, xs):
        place, w = lax.axis_index("pipe"), w[0]

        def tick(state, at):
            held, out = state
            given = jnp.where(place == 0, xs[jnp.minimum(at, xs.shape[0] - 1)], held)
            made = jnp.tanh(given @ w)
            here = jnp.clip(at - count + 1, 0, xs.shape[0] - 1)
            is_last = (place == count - 1) & (at >= count - 1)
            out = lax.dynamic_update_index_in_dim(out, jnp.where(is_last, made, out[here]), here, 0)
            return (lax.ppermute(made, "pipe", [(i, i + 1) for i in range(count - 1)]), out), None

        (_, out), _ = lax.scan(tick, (xs[0] * 0, xs * 0), jnp.arange(xs.shape[0] + count - 1))
        return lax.psum(jnp.where(place == count - 1, out, 0), "pipe")

    run = mapped(mesh, body, (spec("pipe"), spec()), spec())
    return jitted(mesh, run, (spec("pipe"), spec()), spec()), (of(count, 4, 4), of(3, 2, 4))


@on("p2d2t2")
def pipeline_with_tensors(mesh):
    import jax.numpy as jnp
    from jax import lax

    def body(up, down, x):
        place, h = lax.axis_index("pipe"), x
        for stage in range(2):
            made = h + lax.psum(jnp.tanh(h @ up[0]) @ down[0], "model")
            h = lax.ppermute(made, "pipe", [(0, 1), (1, 0)]) if stage == 0 else made
        return lax.psum(jnp.where(place == 1, h, 0), "pipe")

    specs = spec("pipe", None, "model"), spec("pipe", "model"), spec("data")
    return jitted(mesh, mapped(mesh, body, specs, spec("data")), specs, spec("data")), (
        of(2, 4, 6), of(2, 6, 4), of(4, 4))


@on("p4")
def rolled_stages(mesh):
    """The same by vmap over stages and a roll, as GSPMD writes pipelines."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def run(w, xs):
        def tick(state, x):
            state = jnp.roll(state, 1, 0).at[0].set(x)
            state = jax.vmap(lambda w, h: jnp.tanh(h @ w))(w, state)
            return state, state[-1]

        return lax.scan(tick, jnp.zeros((4, 2, 4)), xs)[1]

    return jitted(mesh, run, (spec("pipe"), spec()), spec()), (of(4, 4, 4), of(6, 2, 4))


# experts


@on("e4", "e8")
def experts_by_hand(mesh):
    """Tokens go to their experts by all-to-all, and come back."""
    import jax.numpy as jnp
    from jax import lax

    def body(w, x):
        sent = lax.all_to_all(x, "expert", 1, 0, tiled=True)
        made = jnp.tanh(jnp.einsum("bed,edf->bef", sent, w))
        return lax.all_to_all(made, "expert", 0, 1, tiled=True)

    count = mesh.shape["expert"]
    run = mapped(mesh, body, (spec("expert"), spec("expert")), spec("expert"))
    return jitted(mesh, run, (spec("expert"), spec("expert")), spec("expert")), (
        of(count, 4, 4), of(count * 2, count, 4))


@on("e4", "e8")
def experts(mesh):
    import jax
    import jax.numpy as jnp

    def run(x, gate, w):
        chosen = jax.nn.one_hot(jnp.argmax(x @ gate, -1), w.shape[0])
        sent = jnp.einsum("te,td->etd", chosen, x)
        made = jnp.einsum("etd,edf->etf", sent, w)
        return jnp.einsum("etf,te->tf", made, chosen)

    count = mesh.shape["expert"]
    return jitted(mesh, run, (spec("expert"), spec(), spec("expert")), spec("expert")), (
        of(16, 4), of(4, count), of(count, 4, 4))


# FSDP


@on("d4", "d8", "d4t2")
def fsdp_step(mesh):
    split = {"up": spec("data", None), "down": spec("data", None)}
    return jitted(mesh, _step, (split, spec("data"), spec("data")), (split, spec())), (
        _weights(), of(16, 8), of(16, 8))


@on("d4", "d8")
def fsdp_by_hand(mesh):
    import jax
    import jax.numpy as jnp
    from jax import lax

    def body(w, x, y):
        def loss(w):
            whole = jax.tree.map(lambda p: lax.all_gather(p, "data", tiled=True), w)
            return ((_mlp(whole, x) - y) ** 2).sum()

        value, grads = jax.value_and_grad(loss)(w)
        return jax.tree.map(lambda p, g: p - 0.01 * g, w, grads), lax.psum(value, "data") + jnp.zeros(())

    split = {"up": spec("data"), "down": spec("data")}
    run = mapped(mesh, body, (split, spec("data"), spec("data")), (split, spec()))
    return jitted(mesh, run, (split, spec("data"), spec("data")), (split, spec())), (
        _weights(), of(16, 8), of(16, 8))


@on("d2t4")
def fsdp_and_tensor(mesh):
    split = {"up": spec("data", "model"), "down": spec("model", "data")}
    return jitted(mesh, _step, (split, spec("data"), spec("data")), (split, spec())), (
        _weights(), of(16, 8), of(16, 8))


# changes of sharding, collectives by hand, manual regions within automatic programs


@on("d2t4", "d4t2", "p2d2t2")
def resharded(mesh):
    from jax import lax

    def run(x):
        import jax

        put = lambda v, *axes: lax.with_sharding_constraint(v, jax.sharding.NamedSharding(mesh, spec(*axes)))  # noqa: E731
        return put(put(put(x * 2, "model", "data") + 1, None, ("data", "model")) * 3, ("model", "data"), None)

    return jitted(mesh, run, (spec("data", "model"),), spec(("model", "data"), None)), (of(16, 16),)


@on("d2t4", "d4t2")
def transposed(mesh):
    return jitted(mesh, lambda x, y: (x.T @ y, x.reshape(4, 4, 8).sum(1)), (spec("data", "model"), spec("data")),
                  (spec("model"), spec(None, "model"))), (of(16, 8), of(16, 4))


@on("d2t4")
def every_collective(mesh):
    import jax.numpy as jnp
    from jax import lax

    def body(x, w):
        partial = x @ w
        scattered = lax.psum_scatter(partial, "model", scatter_dimension=1, tiled=True)
        gathered = lax.all_gather(scattered, "model", axis=1, tiled=True)
        swapped = lax.all_to_all(x, "data", split_axis=1, concat_axis=0, tiled=True)
        shifted = lax.ppermute(x, "data", [(0, 1), (1, 0)])
        place = lax.axis_index("data") * 4 + lax.axis_index("model")
        return (lax.psum(partial, "model"), gathered, swapped, shifted * place.astype(jnp.float32),
                lax.pmax(jnp.max(x), ("data", "model")))

    given = spec("data", "model"), spec("model")
    made = spec("data"), spec("data"), spec("data", "model"), spec("data", "model"), spec()
    return jitted(mesh, mapped(mesh, body, given, made), given, made), (of(8, 16), of(16, 12))


@on("d2t4", "d4t2")
def partly_manual(mesh):
    """A region that is manual over one axis, and left to the partitioner over the other."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def body(x, w):
        return lax.psum(jnp.tanh(x @ w), "data")

    def run(x, w):
        return mapped(mesh, body, (spec("data"), spec()), spec(), axis_names={"data"})(jnp.sin(x), w) * 2

    del jax
    return jitted(mesh, run, (spec("data"), spec(None, "model")), spec(None, "model")), (of(8, 4), of(4, 8))


@on("d4", "d2t4")
def loop_of_layers(mesh):
    import jax.numpy as jnp
    from jax import lax

    def run(w, x):
        return lax.scan(lambda h, w: (jnp.tanh(h @ w) + h, h.sum()), x, w)

    return jitted(mesh, run, (spec(), spec("data")), (spec("data"), spec())), (of(3, 8, 8), of(8, 8))


@on("d4", "d2t4")
def counted_loop(mesh):
    """A loop whose end depends on a value of all devices."""
    import jax.numpy as jnp
    from jax import lax

    def run(x):
        return lax.while_loop(lambda s: (jnp.abs(s[1]).max() > 0.1) & (s[0] < 30), lambda s: (s[0] + 1, s[1] * 0.5),
                              (jnp.int32(0), x))

    return jitted(mesh, run, (spec("data"),), (spec(), spec("data"))), (of(8, 4),)


@on("d4", "d2t4")
def chosen_branch(mesh):
    import jax.numpy as jnp
    from jax import lax

    def run(x, w):
        return lax.cond(x.sum() > 0, lambda: jnp.tanh(x @ w), lambda: x @ w - 1)

    return jitted(mesh, run, (spec("data"), spec()), spec("data")), (of(8, 8), of(8, 8))


@on("d4", "d2t4")
def half_precision(mesh):
    import jax.numpy as jnp

    def run(w, x):
        return jnp.dot(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16),
                       preferred_element_type=jnp.float32).sum(0), x.astype(jnp.bfloat16).sum(0)

    return jitted(mesh, run, (spec(), spec("data")), (spec(), spec())), (of(8, 4), of(16, 8))


@on("d4", "d2t4", "d8")
def integers(mesh):
    import jax.numpy as jnp

    def run(x):
        return x.sum(0), jnp.argmax(x, 0), jnp.cumsum(x, 0), x.min()

    return jitted(mesh, run, (spec("data"),), (spec(), spec(), spec("data"), spec())), (of(16, 4, dtype="int32"),)


@on("d4", "d2t4")
def sliced(mesh):
    from jax import lax

    def run(x, at):
        return (x[3:11], x[::2], lax.dynamic_slice(x, (at, 0), (4, 3)),
                lax.dynamic_update_slice(x, x[:2] * 2, (at, 0)))

    return jitted(mesh, run, (spec("data"), spec()), (spec("data"), spec("data"), spec(), spec("data"))), (
        of(16, 3), of(dtype="int32"))


@on("d4", "d2t4")
def padded(mesh):
    import jax.numpy as jnp

    def run(x):
        wide = jnp.pad(x, ((1, 2), (0, 1)))
        return (wide * wide).sum(), wide.prod(0), jnp.concatenate([x, x * 2])[1:-2].max(0)

    return jitted(mesh, run, (spec("data"),), (spec(), spec(), spec())), (of(8, 3),)


def dumped(function: Any, arguments: Sequence[Any]) -> dict[str, str]:
    """Return the program before and after XLA's partitioner, as JAX lowers it, and as the compiler leaves it."""
    from jaxlib import _hlo

    lowered = function.trace(*arguments).lower()
    found = {"lowered": lowered.compiler_ir(dialect="hlo").as_hlo_text(print_large_constants=True)}
    with tempfile.TemporaryDirectory() as dumps:
        compiled = lowered.compile(compiler_options={"xla_dump_to": dumps, "xla_dump_hlo_pass_re": "spmd.*|shardy.*",
                                                     "xla_dump_hlo_as_text": True,
                                                     "xla_dump_large_constants": True})
        for path in sorted(pathlib.Path(dumps).iterdir()):
            for which in ("before", "after"):
                if f"{which}_spmd-partitioning" in path.name:
                    found[which] = path.read_text()
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    return found | {"optimized": compiled.runtime_executable().hlo_modules()[0].to_string(options)}


def write(name: str, folder: pathlib.Path) -> None:
    """Write the forms of a program."""
    found = dumped(*PROGRAMS[name]())
    for which, kind in (("lowered", "lowered"), ("before", "whole"), ("after", "part"), ("optimized", "optimized")):
        if which in found:
            (folder / f"{name}.{kind}.hlo").write_text(found[which])


def write_each(write_one: Callable[[str, pathlib.Path], None], names: Iterable[str]) -> None:
    """Do what a script of this kind does: write the programs that its arguments name, or all, and print failures."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    for wanted in sys.argv[2:] or names:
        try:
            write_one(wanted, pathlib.Path(sys.argv[1]))
        except Exception as error:
            print(wanted, type(error).__name__, str(error)[:300])


def written_by(script: str, folder: pathlib.Path, names: Iterable[str]) -> pathlib.Path:
    """Let a process with simulated devices run such a script; return the folder with the programs that it writes."""
    said = subprocess.run([sys.executable, script, str(folder), *names], capture_output=True, text=True, check=True)
    assert not said.stdout, said.stdout
    return folder


if __name__ == "__main__":
    write_each(write, PROGRAMS)
