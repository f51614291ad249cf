"""Writes the sample folders of dumps: `python samples/dumps/dump.py`, with JAX installed.

`scaled_softmax` is what XLA's CPU compiler dumps between the passes of a small program, without the passes that change
nothing. `scaled_softmax_wrong` is the same with a fault that a person put in: from the first dump after
`algsimp` on, the row's largest element is no longer subtracted, but its square.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
FOUND = tempfile.mkdtemp()
os.environ["XLA_FLAGS"] = f"--xla_dump_to={FOUND} --xla_dump_hlo_pass_re=.* --xla_cpu_max_isa=AVX2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402 - the flags are read when it is loaded
import jax.numpy as jnp  # noqa: E402

#: the dumps that are kept: the first, the last, and those after passes that change this program
KEPT = re.compile(r"before_optimizations|after_(algsimp|reshape-mover|layout-assignment|fusion|dot_decomposer|"
                  r"adding_special-case_copies)\b|cpu_after_optimizations\.txt$")
#: what the fault changes
FAULT = re.compile(r"(?P<name>%\S+) = (?P<shape>f32\[\S+) subtract\((?P<left>%[\w.\-]+), (?P<right>%[\w.\-]+)\)")


def scaled_softmax(x: jax.Array, w: jax.Array) -> jax.Array:
    """Rows of a product, scaled, as probabilities."""
    return jax.nn.softmax(x @ w / 8.0, axis=-1) * 2.0


def main() -> None:
    """Write both folders."""
    jax.jit(scaled_softmax).lower(jnp.zeros((4, 8)), jnp.zeros((8, 6))).compile()
    good, wrong = FOLDER / "scaled_softmax", FOLDER / "scaled_softmax_wrong"
    for folder in (good, wrong):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    is_broken = False
    for path in sorted(pathlib.Path(FOUND).glob("*scaled_softmax*.txt"), key=order):
        if not KEPT.search(path.name):
            continue
        text = path.read_text().replace(str(FOLDER), "samples/dumps")
        (good / path.name).write_text(text)
        is_broken |= ".after_algsimp" in path.name
        (wrong / path.name).write_text(broken(text) if is_broken else text)
    shutil.rmtree(FOUND)


def order(path: pathlib.Path) -> tuple[int, str]:
    """Dumps in the order of passes."""
    stages = 0 if "before_optimizations" in path.name else 2 if "cpu_after_optimizations" in path.name else 1
    return stages, path.name


def broken(text: str) -> str:
    """A dump with the fault."""
    return FAULT.sub(lambda m: (
        f"{m['name']}.square = {m['shape']} multiply({m['right']}, {m['right']})\n"
        f"  {m['name']} = {m['shape']} subtract({m['left']}, {m['name']}.square)"), text, count=1)


if __name__ == "__main__":
    main()
