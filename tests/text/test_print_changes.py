"""Changed modules printed over texts that people laid out."""

from __future__ import annotations

import difflib

import pytest

import hlotool
from hlotool.ir import HloModule
from hlotool.passes import PASSES
from hlotool.text import print_changes, print_module

TEXT = """// A module of ours
HloModule   hand

/* sums */
add   {
  x = f32[] parameter(0)   // left
  y = f32[] parameter(1)
  ROOT s = f32[]   add(x, y)
}

unused { ROOT q = f32[] parameter(0)
}

ENTRY main {
  a = f32[4] parameter(0)   // first
  start = s32[1] parameter(1)

  // never used
  dead = f32[4] negate(a)  // for nothing
  zero = f32[] constant(0)
  d = f32[2] dynamic-slice(a, start),
      dynamic_slice_sizes={2}     // taken
  ROOT r = f32[] reduce(d, zero),
       dimensions={0}, to_apply=add
}
"""


def changed_lines(module: HloModule, text: str = TEXT) -> list[str]:
    rows = difflib.ndiff(text.splitlines(), print_changes(module).splitlines())
    return [row for row in rows if row[0] in "+-"]


def test_a_module_that_is_as_it_was_read_keeps_its_text() -> None:
    assert print_changes(hlotool.read(TEXT)) == TEXT


def test_removed_statements_and_computations_take_their_lines_along() -> None:
    assert changed_lines(PASSES["dce"](hlotool.read(TEXT))) == [
        "- unused { ROOT q = f32[] parameter(0)", "- }", "- ",
        "-   dead = f32[4] negate(a)  // for nothing"]


def test_added_and_replaced_statements_stand_where_they_belong() -> None:
    changed = print_changes(PASSES["legalize"](hlotool.read(TEXT), scalar_starts=True))
    assert changed == TEXT.replace(
        "  d = f32[2] dynamic-slice(a, start),\n      dynamic_slice_sizes={2}",
        "  slice = s32[1] slice(start), slice={[0:1]}\n  reshape = s32[] reshape(slice)\n"
        "  d = f32[2] dynamic-slice(a, reshape), dynamic_slice_sizes={2}")


def test_names_keep_their_signs_and_operands_their_shapes() -> None:
    text = "HloModule m\nENTRY %e {\n %a = f32[2] parameter(0)\n\n ROOT %b = f32[2] negate(f32[2] %a) }\n"
    module = hlotool.read(text)
    module.entry.root.opcode = "abs"
    assert print_changes(module) == text.replace("negate", "abs")


def test_a_signature_follows_the_root() -> None:
    text = ("HloModule m\n\nENTRY e   (a: f32[2]) -> f32[1,2] {\n    a = f32[2] parameter(0)\n"
            "    ROOT b = f32[1,2] reshape(a)\n}\n")
    module = hlotool.read(text)
    module.entry.root = module.entry["a"]
    assert print_changes(module) == (
        "HloModule m\n\nENTRY e (a: f32[2]) -> f32[2] {\n    ROOT a = f32[2] parameter(0)\n"
        "    b = f32[1,2] reshape(a)\n}\n")


@pytest.mark.parametrize("text", [
    "HloModule m:\n\nENTRY   e {\n  ROOT a = f32[2] parameter(0)\n}\n",
    print_module(hlotool.read(TEXT))], ids=["an earlier year", "a printer"])
def test_texts_that_people_did_not_lay_out_are_printed(text: str) -> None:
    module = hlotool.read(text)
    assert print_changes(module) == print_module(module)


def test_statements_in_another_order_are_printed_whole() -> None:
    module = hlotool.read(TEXT)
    entry = module.entry
    entry.instructions[0], entry.instructions[1] = entry.instructions[1], entry.instructions[0]
    assert print_changes(module) == print_module(module)
