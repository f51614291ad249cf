"""Formatting keeps every comment, its order and its place, or refuses the text."""

from __future__ import annotations

import pathlib
import random
import re

import pytest

import hlotool
from hlotool.cli import main
from hlotool.diagnostics import HloError
from hlotool.passes.formatting import format_text
from hlotool.text import PrintOptions, comments_in

SAMPLES = pathlib.Path(__file__).parents[2] / "hlotool" / "samples"
TEXT = """// license

// of the module
HloModule m, is_scheduled=true // head

// before f

// of f
f { // opens
  // first
  a = f32[] parameter(0) // of a

  /* two
     lines */
  b = f32[] parameter(1)   /* one */ // two
  ROOT c = f32[] add(a, // inside
     b)
  // last

} // closes
ENTRY e {
  x=f32[] parameter(0), metadata={op_name="// none"}


  y=f32[] parameter(1)
  ROOT z = f32[] call(x,y), to_apply=f // hlolint: disable=W1 reason=x
}

// the end
"""
FORMATTED = """// license

// of the module
HloModule m, is_scheduled=true  // head

// before f

// of f
%f (a: f32[], b: f32[]) -> f32[] {  // opens
  // first
  %a = f32[] parameter(0)  // of a

  /* two
     lines */
  %b = f32[] parameter(1)  /* one */  // two
  ROOT c = f32[] add(a, // inside
     b)
  // last
}  // closes

ENTRY %e (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0), metadata={op_name="// none"}

  %y = f32[] parameter(1)
  ROOT %z = f32[] call(%x, %y), to_apply=%f  // hlolint: disable=W1 reason=x
}

// the end
"""


def test_comments_and_empty_lines_stay_where_they_are() -> None:
    assert format_text(TEXT) == (FORMATTED, 1)
    assert format_text(FORMATTED) == (FORMATTED, 0)


def test_several_modules_keep_what_stands_between_them() -> None:
    text = f"{TEXT}\n// ----- second, of two\n// error: [x-c1]\n{TEXT.replace('HloModule m', 'HloModule n')}"
    found, changes = format_text(text)
    assert changes == 2 and comments_in(found) == comments_in(text) and "\n// ----- second, of two\n" in found
    assert format_text(found) == (found, 0)


@pytest.mark.parametrize("text", [
    "HloModule m\nENTRY e { x = f32[] parameter(0)  ROOT y = f32[] negate(f32[] tanh(x)) /* c */ }",
    "HloModule m\nENTRY e { // c\n ROOT y = f32[] call(), to_apply={ ROOT c = f32[] constant(1) } }",
    "// c\nf32[] negate(f32[] x)",
    "HloModule m\nENTRY e { ROOT y = f32[] call(), to_apply=f }\n// c\nf { /* d */ ROOT c = f32[] constant(1) }"])
def test_what_cannot_be_placed_is_refused_or_kept(text: str) -> None:
    try:
        found, _ = format_text(text)
    except HloError as error:
        assert {d.code for d in error.diagnostics} == {"P030"}
    else:
        assert comments_in(found) == comments_in(text) != []


def test_inside_comments_refuse_other_options() -> None:
    with pytest.raises(HloError) as caught:
        format_text(TEXT, options=PrintOptions(canonical=True))
    assert caught.value.diagnostics[0].code == "P030"
    outside = TEXT.replace("// inside", "")
    assert comments_in(format_text(outside, options=PrintOptions(percent=False))[0]) == comments_in(outside)


def test_lines_of_a_log_are_refused() -> None:
    logged = "".join(f"I0521 12:04:45.883483 1509 file.cc:186] {line}\n" for line in FORMATTED.splitlines())
    with pytest.raises(HloError) as caught:
        format_text(logged)
    assert caught.value.diagnostics[0].code == "P030"


#: where a comment may be put: behind a line, at a comma or bracket outside of strings
_GAP = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|(\n|, (?!metadata)|(?<=[(,]) ?|(?<=\{)\n|(?= \w+=))', re.S)


def with_comments(text: str, dice: random.Random, number: int) -> str:
    """A text with comments put into some of its gaps."""
    gaps = [m for m in _GAP.finditer(text) if m[1] is not None]
    for found in sorted(dice.sample(gaps, min(number, len(gaps))), key=lambda m: -m.start()):
        word = f"c{dice.randrange(1000)}"
        made = dice.choice([f" /* {word} */ ", f" // {word}\n", f"\n// {word}\n\n", f"\n/* {word}\n */\n"])
        text = text[:found.end()] + made + text[found.end():]
    return text


FILES = sorted([*(SAMPLES / "models").glob("*.hlo"), *(SAMPLES / "ops").glob("*.hlo")])


@pytest.mark.parametrize("seed", range(6))
def test_no_comment_is_ever_lost(seed: int) -> None:
    dice = random.Random(seed)
    kept = refused = 0
    for file in dice.sample([f for f in FILES if f.stat().st_size < 40_000], 25):
        text = with_comments(file.read_text(), dice, dice.choice([1, 2, 8]))
        try:
            before = [str(m) for m in modules(text)]
        except HloError:  # a comment in a place where XLA's lexer knows none
            continue
        try:
            found, _ = format_text(text)
        except HloError as error:
            assert {d.code for d in error.diagnostics} == {"P030"}, file
            refused += 1
            continue
        kept += 1
        assert comments_in(found) == comments_in(text), file
        assert [str(m) for m in modules(found)] == before, file
        assert format_text(found) == (found, 0), file
    assert kept > 2 * refused


def modules(text: str) -> list[hlotool.HloModule]:
    from hlotool.text.input_files import split_modules

    return [hlotool.parse(source.text) for source in split_modules(text)]


@pytest.mark.parametrize(("options", "code", "is_written"), [
    (["--write", "--check"], 1, False), (["--write", "--diff"], 0, False), (["--write"], 0, True),
    (["--check"], 1, False)])
def test_what_is_to_be_checked_is_not_written(tmp_path, options, code, is_written) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(before := "HloModule m\nENTRY e { ROOT x = f32[2] parameter(0) }\n")
    assert main(["fmt", str(path), *options]) == code
    assert (path.read_text() != before) is is_written
