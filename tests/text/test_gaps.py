"""Blanks, line feeds and comments between tokens: XLA's parser and ours read the same texts, as the same modules."""

from __future__ import annotations

import random
import re

import pytest
from xla_library import xla_hlo

import hlotool
from hlotool.diagnostics import HloError, Severity
from hlotool.ir import sanitized_name

MODULE = """HloModule m, is_scheduled=true

add (a: f32[], b: f32[]) -> f32[] {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b), metadata={op_name="sum" source_line=3}
}

ENTRY %main (x: f32[2,3], y: (f32[2], s32[])) -> (f32[2], s32[]) {
  %x = f32[2,3]{1,0} parameter(0), sharding={replicated}
  %y = (f32[2]{0}, s32[]) parameter(1)
  %z = f32[] constant(-1.5)
  %r = f32[2]{0} reduce(%x, %z), dimensions={1}, to_apply=add, control-predecessors={%z}
  %n = s32[] get-tuple-element(%y), index=1
  ROOT %t = (f32[2]{0}, s32[]) tuple(%r, %n)
}
"""
#: a field of metadata and its value are one token here: between them only XLA takes a blank
_TOKEN = re.compile(r'[a-z_]+=(?:"[^"]*"|3)|\s+|%?[A-Za-z_][\w.\-]*=?|-?\d[\w.]*|->|.')
_GAPS = (" ", "\n", "\t", "/*c*/", " // c\n", " /* a\n b */ ")
#: a place of the module, and the same place written in another way
SAME = [
    ("parameter(0), sharding", "parameter(0)\n, sharding"),
    ("add(a, b), metadata", "add(a, b) // the sum\n  // of both\n  , metadata"),
    ("constant(-1.5)\n", "constant(-1.5) /* two\n lines */\n"),
    ("dimensions={1}, to_apply", "dimensions={1} /* two\n lines */, to_apply"),
    ("-> f32[] {", "-> f32[] { // a comment"),
    ("-> (f32[2], s32[]) {\n", "-> (f32[2], s32[]) {"),
    ("-> f32[] {\n", "-> f32[]{"),
]


def xla_reads(text: str) -> str:
    """Return the module as XLA prints it; "" where its parser refuses the text."""
    try:
        return str(xla_hlo.hlo_module_from_text(text).to_string())
    except Exception:  # of jaxlib's making
        return ""


@pytest.mark.parametrize(("plain", "gap"), SAME)
def test_gaps_change_nothing(plain: str, gap: str) -> None:
    text = MODULE.replace(plain, gap)
    assert text != MODULE and xla_reads(text) == xla_reads(MODULE)
    assert str(hlotool.parse(text)) == str(hlotool.parse(MODULE))


@pytest.mark.parametrize(("plain", "gap"), [("index=1", "index =1"), ("is_scheduled=", "is_scheduled/**/="),
                                            ("HloModule m, is_scheduled=true", "")])
def test_what_xla_does_not_read_is_warned_of(plain: str, gap: str) -> None:
    text = MODULE.replace(plain, gap)
    assert not xla_reads(text)
    assert [d.code for d in hlotool.parse(text).notes] == ["P033"]


@pytest.mark.parametrize(("name", "is_read"), [("__x", False), ("__xla", False), ("___xla_x", False), ("__xla_x", True),
                                               ("_x", True), ("x__", True)])
def test_names_that_backends_keep(name: str, is_read: bool) -> None:
    text = MODULE.replace("%r", f"%{name}")
    assert bool(xla_reads(text)) is is_read
    assert [d.code for d in hlotool.parse(text).notes] == ["P033"] * (not is_read)
    assert xla_reads(MODULE.replace("%r", f"%{sanitized_name(name)}"))


@pytest.mark.parametrize("gap", [" ", "\n", "/**/"])
def test_a_sign_touches_the_name_in_lists_too(gap: str) -> None:
    text = MODULE.replace("{%z}", f"{{%{gap}z}}")
    assert not xla_reads(text)
    with pytest.raises(HloError):
        hlotool.parse(text)


def test_a_text_may_begin_with_a_commented_computation() -> None:
    text = "a /* no HloModule */ {\n  ROOT x = f32[] parameter(0)\n}\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"
    assert xla_reads(text) and [c.name for c in hlotool.parse(text).computations] == ["a", "e"]


def test_gaps_that_are_drawn() -> None:
    dice, tokens, wanted, wrong = random.Random(5), _TOKEN.findall(MODULE), xla_reads(MODULE), []
    for _ in range(250):
        at, gap = dice.randrange(1, len(tokens)), dice.choice(_GAPS)
        text = "".join([*tokens[:at], gap, *tokens[at + tokens[at].isspace() * dice.randrange(2):]])
        read = xla_reads(text)
        try:
            module = hlotool.parse(text)
        except HloError as error:
            wrong += [str(error)] * bool(read)
            continue
        is_clean = all(d.severity is Severity.INFO for d in module.notes)
        if (is_clean and xla_reads(str(module)) != read) or (read and read != wanted and str(module) == str(MODULE)):
            wrong.append(text)
    assert not wrong, wrong[:3]
