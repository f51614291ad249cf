"""Which shapes agree, which trees of origins fit a shape: both sides of each condition."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.diagnostics import HloError
from hlotool.ir import Shape
from hlotool.passes.verify.profile_checks import fits_origin


def shape(text: str) -> Shape:
    return hlotool.parse(f"ENTRY e {{ ROOT x = {text} parameter(0) }}").entry.root.shape


@pytest.mark.parametrize(("written", "inferred", "do_agree"), [
    ("f32[2]", "f32[2]", True), ("f32[2]", "f32[3]", False), ("f32[2]", "f64[2]", False), ("f32[2]", "f32[2,1]", False),
    ("f32[2]", "f32[?]", True), ("f32[?]", "f32[7]", True), ("f32[?,3]", "f32[2,3]", True),
    ("f32[?,3]", "f32[2,4]", False), ("f32[2,?]", "f32[3,?]", False), ("f32[<=2]", "f32[2]", True),
    ("f32[2,3]{0,1}", "f32[2,3]{1,0}", True), ("(f32[2])", "(f32[2])", True), ("(f32[?])", "(f32[2])", True),
    ("(f32[?], s32[])", "(f32[2], s32[])", True), ("(f32[?], s32[])", "(f32[2], u32[])", False),
    ("(f32[?])", "(f32[2], f32[2])", False), ("(f32[?], (s8[?]))", "(f32[2], (s8[4]))", True),
    ("(f32[?], (s8[?]))", "(f32[2], (s4[4]))", False), ("f32[2]", "(f32[2])", False), ("token[]", "token[]", True),
    ("token[]", "f32[]", False), ("()", "()", True)])
def test_which_shapes_agree(written: str, inferred: str, do_agree: bool) -> None:
    assert shape(written).agrees(shape(inferred)) is do_agree
    assert shape(inferred).agrees(shape(written)) is do_agree


@pytest.mark.parametrize(("text", "given", "fits"), [
    ('{{"a"}}', "f32[2]", True), ('{({"a"}, {"b"})}', "(f32[2], s32[])", True),
    ('{({"a"}, {"b"})}', "(f32[2], s32[], s32[])", False), ('{({"a"}, {"b"})}', "f32[2]", False),
    ('{({"a"}, ({"b"}))}', "(f32[2], (s32[]))", True), ('{({"a"}, ({"b"}))}', "(f32[2], s32[])", False),
    ('{({"a"}, {"b"})}', "((f32[2]), s32[])", False), ('{({"a" {0}}, {})}', "(f32[2], s32[])", True),
    ("{[synthetic_call]}", "(f32[2], s32[])", True), ("", "(f32[2])", True), ("{", "(f32[2])", True),
    ('{"a"}', "(f32[2])", True)])
def test_which_trees_of_origins_fit(text: str, given: str, fits: bool) -> None:
    assert fits_origin(text, shape(given)) is fits


def test_headers_are_held_against_shapes_that_are_inferred() -> None:
    text = """HloModule m
both (a: s32[], b: s32[]) -> (s32[], f32[]) {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT t = tuple(a, b)
}
ENTRY e (x: s32[4]) -> s32[5] {
  x = s32[4] parameter(0)
  ROOT r = negate(x)
}
"""
    with pytest.raises(HloError) as caught:
        hlotool.parse(text)
    assert [(d.code, d.line, d.column) for d in caught.value.diagnostics] == [("P028", 2, 30), ("P028", 7, 24)]
    hlotool.parse(text.replace("(s32[], f32[])", "(s32[], s32[])").replace("s32[5]", "s32[4]{0}"))


@pytest.mark.parametrize(("declared", "rooted", "fits"), [("f32[?]", "f32[3]", True), ("f32[3]", "f32[?]", True),
                                                         ("f32[?,2]", "f32[3,2]", True), ("f32[?]", "f32[3,2]", False)])
def test_an_open_size_in_a_header_fits_every_size(declared: str, rooted: str, fits: bool) -> None:
    from xla_library import xla_hlo

    text = f"HloModule m\n\nENTRY e (p: {rooted}) -> {declared} {{\n  ROOT p = {rooted} parameter(0)\n}}\n"
    if fits:
        xla_hlo.hlo_module_from_text(text)
        assert not hlotool.verify(hlotool.parse(text))
        assert not hlotool.verify(hlotool.parse(text.replace(
            "HloModule m", f"HloModule m, entry_computation_layout={{({declared})->{declared}}}")))
        return
    for read in (hlotool.parse, xla_hlo.hlo_module_from_text):
        with pytest.raises((HloError, ValueError, RuntimeError)):
            read(text)
