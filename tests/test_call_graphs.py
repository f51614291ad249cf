"""Call graphs with few computations and very many paths: each computation is walked once, or the work is refused."""

from __future__ import annotations

import hlotool

DEPTH = 60


def doubling(call: str, first: str, shape: str = "f32[2]", depth: int = DEPTH) -> str:
    """Computations that each call the one before twice: 2^depth paths. `call` has {x}, an operand, and {c}."""
    rows = ["HloModule m", f"c0 {{ {first} }}"]
    for n in range(1, depth):
        one, two = (call.format(x=x, c=f"c{n - 1}") for x in ("a", "b"))
        rows.append(f"c{n} {{ a = {shape} parameter(0)  p = pred[] constant(true)  b = {shape} {one}  "
                    f"ROOT s = {shape} {two} }}")
    last = call.format(x="x", c=f"c{depth - 1}")
    rows.append(f"ENTRY e {{ x = {shape} parameter(0)  p = pred[] constant(true)  ROOT r = {shape} {last} }}")
    return "\n".join(rows)


LEAF = "a = f32[2] parameter(0) ROOT n = f32[2] negate(a)"
CALLS = doubling("call({x}), to_apply={c}", LEAF)
FUSIONS = doubling("fusion({x}), kind=kLoop, calls={c}", LEAF)
CONDITIONALS = doubling("conditional(p, {x}, {x}), true_computation={c}, false_computation={c}", LEAF)


def test_verifying_walks_each_computation_once() -> None:
    for text in (CALLS, FUSIONS, CONDITIONALS):
        module = hlotool.parse(text)
        assert all(d.code for d in hlotool.verify(module))
        assert hlotool.diff(module, module).is_equal
        hlotool.lint(text)
        assert hlotool.parse(str(module)).entry.name == "e"
