"""Call graphs with few computations and very many paths: each computation is walked once, or the work is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import hlotool
from hlotool.linting import Settings

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


def codes(work: Callable[[], object]) -> list[str]:
    """The codes of what a call is refused with; a refusal is the only end that it may have."""
    with pytest.raises(hlotool.HloError) as refused:
        work()
    return [d.code for d in refused.value.diagnostics]


def test_functions_are_written_once_each() -> None:
    assert str(hlotool.to_stablehlo(hlotool.parse(CALLS))).count("func.func") == DEPTH + 1


def test_what_is_written_out_at_each_call_has_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlotool.stablehlo.exporter._MOST_BESIDE", 500)
    for text in (FUSIONS, CONDITIONALS):
        assert codes(lambda text=text: hlotool.to_stablehlo(hlotool.parse(text))) == ["X107"]
    small = doubling("fusion({x}), kind=kLoop, calls={c}", LEAF, depth=4)
    assert str(hlotool.to_stablehlo(hlotool.parse(small))).count("stablehlo.negate") == 8


def test_a_long_chain_of_calls_is_no_recursion() -> None:
    rows = [f"g{n} {{ a = f32[] parameter(0)  ROOT s = f32[] call(a), to_apply=g{n - 1} }}" for n in range(1, 1500)]
    text = "\n".join(["HloModule m", "g0 { ROOT a = f32[] parameter(0) }", *rows,
                      "ENTRY e { x = f32[] parameter(0)  ROOT r = f32[] call(x), to_apply=g1499 }"])
    assert hlotool.lint(text) == []
    assert str(hlotool.to_stablehlo(hlotool.parse(text))).count("func.func") == 1501


def test_tuples_that_double_are_refused_where_they_grow_too_large() -> None:
    rows = "\n".join(f"  x{n} = tuple(x{n - 1}, x{n - 1})" for n in range(1, 40))
    text = f"ENTRY e {{\n  x0 = f32[] parameter(0)\n{rows}\n  ROOT r = tuple(x39)\n}}\n"
    assert codes(lambda: hlotool.parse(text)) == ["tuple-size"]
    inner = hlotool.Shape.array("f32")
    for _ in range(60):
        inner = hlotool.Shape.tuple(inner, inner)
    assert inner.leaf_count == 2 ** 60


def test_sizes_beyond_64_bits_are_refused() -> None:
    text = """ENTRY e {
      x = f32[9223372036854775807] parameter(0)
      ROOT y = concatenate(x, x), dimensions={0}
    }"""
    assert codes(lambda: hlotool.parse(text)) == ["concatenate-size"]


def test_groups_without_number_are_not_written_out() -> None:
    """`[n,n]<=[n*n]` is short however many devices it names."""
    text = """add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
    ENTRY e {
      x = f32[2] parameter(0)
      ROOT r = f32[2] all-reduce(x), replica_groups=[1000000000,1000000000]<=[1000000000000000000], to_apply=add
    }"""
    assert hlotool.lint(text) == []
    assert codes(lambda: hlotool.to_stablehlo(hlotool.parse(text))) == ["X105"]
    of_mesh = text.replace("[1000000000,1000000000]<=[1000000000000000000]", "mesh['x'=1000000000,'y'=1000000000]{'x'}")
    assert "V220" in [d.code for d in hlotool.lint(of_mesh)]


def test_loops_may_be_nested_deeper_than_calls_of_python() -> None:
    depth = 400
    bodies = "".join(
        f"k{n} {{ s = s32[] parameter(0)  ROOT t = pred[] constant(false) }}\n"
        f"b{n} {{ s = s32[] parameter(0)  " + (f"w = s32[] while(s), condition=k{n - 1}, body=b{n - 1}  " if n else "")
        + f"ROOT t = s32[] negate({'w' if n else 's'}) }}\n" for n in range(depth))
    module = hlotool.parse(f"HloModule m\n{bodies}ENTRY e {{ p = s32[] parameter(0)\n"
                           f"  ROOT w = s32[] while(p), condition=k{depth - 1}, body=b{depth - 1} }}")
    found = hlotool.lint(module, config=Settings(select=("ALL",)))
    assert not [d for d in found if d.severity is hlotool.Severity.ERROR]
