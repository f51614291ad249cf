"""Folds: nothing is lost, few boxes at a time, scopes, layers, ranges."""

from __future__ import annotations

import pathlib

import pytest
from test_view_in_browser import SCOPED, large_text

import hlotool
from hlotool.ir import HloInstruction
from hlotool.view import Fold, as_dot, fold_computation, opened
from hlotool.view.folding import MOST_BOXES, _times, scope_of

ROOT = pathlib.Path(__file__).parents[2]
MODELS = sorted((ROOT / "samples" / "models").glob("*.hlo"))
DUMPS = sorted((ROOT.parent / "shared" / "corpus" / "modules").glob("*benchmarks_hlo*"))


def outline(fold: Fold) -> list[object]:
    return [[i.label, outline(i)] if isinstance(i, Fold) else i.name for i in fold.items]


@pytest.mark.parametrize("path", [*MODELS, *DUMPS], ids=lambda p: p.name[-40:])
def test_every_instruction_is_in_one_place_and_no_fold_shows_many(path: pathlib.Path) -> None:
    if path.stat().st_size > 1_000_000:
        pytest.skip("the large ones are folded by the nightly test of pages")
    for computation in hlotool.read(str(path)):
        tree = fold_computation(computation)
        found = list(tree.instructions())
        assert len(found) == len(set(found)) == len(computation.instructions)
        assert set(found) == set(computation.instructions)
        for fold in tree.folds():
            assert 1 <= len(fold.items) <= max(MOST_BOXES, 24)


def test_scopes_that_differ_in_a_number_are_layers() -> None:
    tree = fold_computation(hlotool.parse(SCOPED).entry)
    _, layers, _ = outline(tree)
    assert isinstance(layers, list)
    assert layers[0] == "jit(f)/block_{0…7} ×8"
    assert layers[1][3] == ["block_3", [f"exponential.3.{n}" for n in range(6)]]


def test_instructions_without_a_scope_stand_where_they_are_used() -> None:
    more = "%two = f32[4] constant({2,2,2,2})\n%more = f32[4] multiply(%two, %x), " \
        'metadata={op_name="jit(f)/block_3/m"}\n'
    text = SCOPED.replace("  ROOT %last", f"{more}  ROOT %last")
    tree = fold_computation(hlotool.parse(text).entry)
    block = next(f for f in tree.folds() if f.label == "block_3")
    assert [i.name for i in block.items if isinstance(i, HloInstruction)][-2:] == ["two", "more"]


def test_a_fold_tells_what_it_does() -> None:
    text = """ENTRY e { x = f32[4,4] parameter(0)  c = f32[] constant(1)  a = f32[4,4] add(x, x)  b = f32[4,4] add(a, x)
      d = f32[4,4] dot(b, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}  m = f32[4,4] multiply(d, a)
      n = f32[4,4] copy(m)  k = f32[4,4] copy(n)  l = f32[4,4] copy(k)  ROOT r = f32[16] reshape(l) }"""
    assert fold_computation(hlotool.parse(text).entry).work() == "1 dot, 2 add"
    assert fold_computation(hlotool.parse("ENTRY e { ROOT x = f32[] parameter(0) }").entry).work() == ""
    odd = 'ENTRY e { x = f32[] parameter(0)  ROOT y = f32[] custom-call(x), custom_call_target="t" }'
    assert fold_computation(hlotool.parse(odd).entry).work() == "1 custom-call"


def test_stretches_that_repeat_are_layers_without_any_name() -> None:
    opcodes = ("add", "multiply", "subtract", "maximum", "minimum")
    body, last = [], "x"
    for n in range(200):
        body.append(f"%v{n} = f32[4] {opcodes[n % 5]}(%{last}, %x)")
        last = f"v{n}"
    text = "ENTRY e { %x = f32[4] parameter(0)\n" + "\n".join(body) + f"\nROOT r = f32[4] negate(%{last}) }}"
    tree = fold_computation(hlotool.parse(text).entry)
    layers = next(f for f in tree.folds() if f.kind == "layers")
    assert layers.label == "5 instructions ×40"
    assert [i.name for i in layers.items[1].items] == ["v5", "v6", "v7", "v8", "v9"]  # type: ignore[union-attr]


def test_a_long_row_without_order_is_cut_into_ranges_of_ranges() -> None:
    import random

    pick = random.Random(1)
    body = "\n".join(f"%v{n} = f32[4] {pick.choice(('add', 'multiply', 'maximum', 'minimum'))}(%x, %x)"
                     for n in range(5000))
    tree = fold_computation(hlotool.parse(f"ENTRY e {{ %x = f32[4] parameter(0)\n{body}\n}}").entry)
    assert {f.kind for f in tree.folds()} >= {"computation", "range"}
    assert max(len(f.items) for f in tree.folds()) <= MOST_BOXES
    assert tree.count() == 5001


def test_scopes_without_end_are_cut_so_that_the_tree_can_be_walked() -> None:
    name = "/".join(f"s{n}" for n in range(3000))
    body = "\n".join(f'%v{n} = f32[4] negate(%x), metadata={{op_name="{name}/{n % 3}/neg"}}' for n in range(60))
    module = hlotool.parse(f"ENTRY e {{ %x = f32[4] parameter(0)\n{body}\n}}")
    tree = fold_computation(module.entry)
    assert tree.count() == 61
    assert as_dot(module, None).count(" [label=") == 61


@pytest.mark.parametrize(("words", "period", "times"), [
    ("abcabcabcx", 3, [3, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1]), ("aaaa", 1, [4, 3, 2, 1, 1]), ("ab", 3, [1, 1, 1]),
    ("", 1, [1])])
def test_how_often_stretches_follow_upon_themselves(words: str, period: int, times: list[int]) -> None:
    assert _times(list(words), period) == times


def test_names_of_scopes() -> None:
    assert scope_of("jit(f)/transpose(jvp(a/b))/dot") == ("jit(f)", "transpose(jvp(a/b))")
    assert scope_of("state['a/b'][0]") == ()
    assert scope_of("((((/x") == ()
    assert scope_of("a//b/") == ("a", "b")


def test_opened_keeps_within_what_is_asked() -> None:
    tree = fold_computation(hlotool.parse(large_text(3000)).entry)
    for most in (10, 50, 400):
        chosen = opened(tree, most)
        boxes = sum(len(f.items) for f in chosen)
        assert boxes <= max(most, len(tree.items))


@pytest.mark.parametrize(("count", "is_gathered"), [(8, False), (9, True)])
def test_many_parameters_are_one_box(count: int, is_gathered: bool) -> None:
    lines = [f"p{n} = f32[2] parameter({n})" for n in range(count)]
    lines += [f"n{n} = f32[2] negate(p{n % count})" for n in range(20)]
    module = hlotool.parse("HloModule m\nENTRY e {\n" + "\n".join(lines) + "\nROOT r = f32[2] add(n0, n1)\n}\n")
    assert any(f.kind == "parameters" for f in fold_computation(module.entry).folds()) is is_gathered
