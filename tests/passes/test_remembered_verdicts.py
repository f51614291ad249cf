"""What is remembered of one module is said of another one only where the rule would say the same."""

from __future__ import annotations

import pathlib

import pytest

import hlotool
from hlotool.ir import HloInstruction, HloModule
from hlotool.passes.verify import Signatures, verifier, verify

SAMPLES = sorted((pathlib.Path(__file__).parents[2] / "samples").rglob("*.hlo"))

RIGHT = """HloModule m, num_partitions={count}

{name} {{
  a = f32[] parameter(0)
  b = {b} parameter(1)
  ROOT c = {c} {fold}(a, b)
}}

ENTRY e {{
  x = f32[8,4] parameter(0), sharding={{devices=[2,1]<=[2]}}
  z = f32[] constant(0)
  ROOT r = f32[{size}] reduce(x, z), dimensions={{{dimension}}}, to_apply={name}
}}
"""


def text(**changed: object) -> str:
    """The module with some of its parts changed."""
    parts = {"count": 2, "name": "sum", "b": "f32[]", "c": "f32[]", "fold": "add", "size": 4, "dimension": 0}
    return RIGHT.format(**{**parts, **changed})


def codes(module: HloModule) -> list[str]:
    return [d.code for d in verify(module)]


@pytest.mark.parametrize("changed", [{"count": 4}, {"c": "f32[1]"}, {"b": "f32[2]"}, {"size": 8}, {"dimension": 2},
                                     {"fold": "compare"}, {"fold": "nothing"}])
def test_a_wrong_module_after_a_right_one(changed: dict[str, object]) -> None:
    assert not codes(hlotool.parse(text()))
    alone = codes(hlotool.parse(text(**changed)))
    verifier._RIGHT.clear()
    assert alone and alone == codes(hlotool.parse(text(**changed)))
    assert not codes(hlotool.parse(text(name="total")))


def test_keys_of_equal_instructions_are_equal_across_modules() -> None:
    def key(module: HloModule) -> object:
        signatures, root = Signatures(), module.entry.root
        assert isinstance(root, HloInstruction)
        return signatures.instruction(root), signatures.is_general(root)

    first, second = key(hlotool.parse(text())), key(hlotool.parse(text(name="total")))
    assert first == second and first[1] is True  # type: ignore[index]
    assert key(hlotool.parse(text(fold="maximum"))) != first


def test_keys_that_name_objects_are_of_one_module() -> None:
    many = "  ".join(f"n{i} = f32[] negate({f'n{i - 1}' if i else 'x'})" for i in range(16))
    module = hlotool.parse(f"""big {{ x = f32[] parameter(0)  {many}  ROOT r = f32[] negate(n15) }}
        ENTRY e {{ p = f32[] parameter(0)  c = f32[] call(p), to_apply=big  ROOT n = f32[] negate(c) }}""")
    signatures = Signatures()
    _, call, negate = module.entry.instructions
    assert signatures.instruction(call) != signatures.instruction(negate)
    assert not signatures.is_general(call) and signatures.is_general(negate)


def test_keys_of_constants_hold_the_shapes_of_their_literals() -> None:
    module = hlotool.parse("""ENTRY e { a = f32[2] constant({1, 2})  b = f32[2] constant({3, 4})
        c = f32[2] constant({5, 6})  ROOT r = (f32[2], f32[2], f32[2]) tuple(a, b, c) }""")
    a, b, c, _ = module.entry.instructions
    keys = [Signatures().instruction(i) for i in (a, b)]
    assert keys[0] == keys[1] and not codes(module)
    c.attributes = hlotool.parse("ENTRY e { ROOT c = f32[3] constant({5, 6, 7}) }").entry.root.attributes
    assert Signatures().instruction(c) != keys[0] and codes(module) == ["constant-c1"]


def test_true_is_not_one() -> None:
    sort = """l { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT p = pred[] compare(a, b), direction=LT }
              ENTRY e { x = f32[2] parameter(0)  ROOT s = f32[2] sort(x), dimensions={0}, to_apply=l }"""
    one, true = hlotool.parse(sort), hlotool.parse(sort)
    for module, value in ((one, 1), (true, True)):
        root = module.entry.root
        assert root is not None
        root.attributes = type(root.attributes)({**root.attributes, "is_stable": value})
    keys = [Signatures().instruction(m.entry.root) for m in (one, true) if m.entry.root is not None]
    assert keys[0] != keys[1]


def test_every_sample_is_judged_alike_with_and_without_memory() -> None:
    def judged() -> list[list[tuple[str, int]]]:
        return [[(d.code, d.line) for d in hlotool.lint(path.read_text())] for path in SAMPLES[::5]]

    remembered = judged()
    assert judged() == remembered
    verifier._RIGHT.clear()
    assert judged() == remembered
