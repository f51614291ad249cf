"""Findings while a text is typed: what is told at once is right, and the look at the whole text settles the rest."""

from __future__ import annotations

import random

import pytest
from lsprotocol import types as lsp
from pygls.workspace import PositionCodec

from hlotool.diagnostics import Diagnostic
from hlotool.linting import Settings
from hlotool.passes.lints import RULES
from hlotool.passes.verify import InstructionChecks
from hlotool.serve.lsp.document import Document
from hlotool.serve.lsp.following import Following
from hlotool.serve.lsp.open_text import OpenText
from hlotool.serve.lsp.text_lines import TextChange

TEXT = """HloModule typed

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

helper {
  p = f32[4,8] parameter(0)
  zero = f32[] constant(0)
  ROOT total = f32[4] reduce(p, zero), dimensions={1}, to_apply=sum
}

ENTRY main {
  x = f32[4,8] parameter(0)
  twice = f32[4,8] add(x, x)
  same = f32[4,8] transpose(twice), dimensions={0,1}
  wide = f64[4,8] convert(same)
  back = f32[4,8] convert(wide)
  called = f32[4] call(back), to_apply=helper
  other = f32[4] call(twice), to_apply=helper
  shown = f32[4] all-reduce(other), channel_id=1, replica_groups={}, to_apply=sum
  again = f32[4] all-reduce(shown), channel_id=1, replica_groups={}, to_apply=sum
  ROOT out = f32[4] add(called, again)
}
"""
#: changes that leave the text readable, and one that does not
CHANGES = [("f32[4,8]", "f32[8,4]"), ("f32[4]", "f32[5]"), ("f32", "bf16"), ("add", "subtract"), ("add", "ad"),
           ("dimensions={1}", "dimensions={0}"), ("dimensions={0,1}", "dimensions={1,0}"),
           ("to_apply=sum", "to_apply=helper"), ("channel_id=1", "channel_id=2"),
           ("(x, x)", "(x)"), ("(back)", "(twice)"), ("= f32", "= f32[2] "),
           ("constant(0)", "constant(1)"), ("transpose", "negate"), ("  ROOT", "\n  // a remark\n  ROOT"), (", ", ",")]


class Typed:
    """A text that is typed, and what is known of it."""

    def __init__(self, text: str = TEXT, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.document = Document(text, "typed.hlo")
        assert len(self.document.parts) == 1
        self.following = Following(self.document.parts[0], self.settings)
        assert self.following.settle(self.document.findings(self.settings))

    def type(self, change: TextChange) -> bool:
        """Whether a change could be followed."""
        found = self.document.changed([change], self.document.lines.changed(change))
        if found is None:
            return False
        self.document = found[0]
        for changed in found[1]:
            self.following.follow(changed)
        return True

    def fresh(self) -> list[Diagnostic]:
        return Document(self.document.text, "typed.hlo").findings(self.settings)


def replaced(chance: random.Random, text: str) -> TextChange:
    """A change of one place, forwards or backwards."""
    pairs = [(old, new) for pair in CHANGES for old, new in (pair, pair[::-1]) if old in text]
    old, new = chance.choice(pairs)
    at = chance.choice([n for n in range(len(text)) if text.startswith(old, n)])
    return TextChange(at, at + len(old), new)


def own(text: str) -> list[Diagnostic]:
    """What instructions' own rules say about a text."""
    return InstructionChecks(Document(text, "typed.hlo").parts[0].module).findings()


@pytest.mark.parametrize("seed", range(4))
def test_what_is_told_at_once_is_right_and_the_rest_is_settled(seed: int) -> None:
    chance, checked, with_errors, whole = random.Random(seed), 0, 0, 0
    for _ in range(25):
        typed = Typed()
        for _ in range(8):
            if not typed.type(replaced(chance, typed.document.text)):
                whole += 1
                break
            at_once, fresh = typed.following.findings(), typed.fresh()
            if typed.document.parts[0].errors:
                assert at_once == fresh
                with_errors += 1
            else:
                wanted = own(typed.document.text)
                assert [d for d in at_once if d in wanted] == sorted(wanted, key=lambda d: (d.line, d.column))
                checked += 1
            if chance.random() < 0.3:
                assert typed.following.settle(fresh)
                assert typed.following.findings() == fresh
    assert checked > 20 and with_errors > 20


def test_rules_speak_again_when_a_text_has_no_errors_any_more() -> None:
    typed = Typed()
    before = typed.following.findings()
    lints = [d for d in before if d.code in RULES]
    assert lints
    at = TEXT.index("called = f32[4]") + len("called = f32[")
    assert typed.type(TextChange(at, at + 1, "5"))
    wrong = typed.following.findings()
    assert [d.code for d in wrong if d.code not in RULES] and not [d for d in wrong if d.code in RULES]
    assert typed.type(TextChange(at, at + 1, "4"))
    right = typed.following.findings()
    # What the rules said about the changed line and about what uses it is left to the look at the whole text.
    touched = {n for n, line in enumerate(TEXT.split("\n"), 1) if "called" in line}
    assert right == [d for d in before if d.line not in touched]


def test_findings_move_with_their_lines() -> None:
    typed = Typed()
    before = {(d.code, d.line) for d in typed.following.findings() if d.line > 22}
    assert before and typed.type(TextChange(at := TEXT.index("  twice = f32"), at, "\n\n"))
    assert before <= {(d.code, d.line - 2) for d in typed.following.findings()}


def test_callers_are_looked_at_again() -> None:
    changes = [("ROOT total = f32[4] reduce", "ROOT total = f32[8] reduce"), ("dimensions={1}", "dimensions={0}")]
    typed, text = Typed(), TEXT
    for before, after in changes:
        text = text.replace(before, after)
        at = typed.document.text.index(before)
        assert typed.type(TextChange(at, at + len(before), after))
    assert typed.document.text == text
    assert len(typed.fresh()) >= 2
    assert [d.line for d in typed.following.findings() if d.severity == "error"] \
        == [d.line for d in typed.fresh() if d.severity == "error"]


def test_settings_and_comments_hold_at_once() -> None:
    at = TEXT.index("f32[4,8] add(x, x)")
    quiet = TEXT.replace("add(x, x)", "add(x, x) // hlolint: disable=V103")
    for text, settings in ((quiet, Settings()), (TEXT, Settings(never=frozenset({"V103"})))):
        typed = Typed(text, settings)
        assert typed.type(TextChange(at, at + len("f32[4,8]"), "f32[4,9]"))
        assert [d.code for d in typed.following.findings() if d.line == 17] == \
            [d.code for d in typed.fresh() if d.line == 17]


def test_what_is_out_of_step_is_seen() -> None:
    typed = Typed()
    wrong = TEXT.replace("add(x, x)", "f32[(x, x)")
    at = TEXT.index("add(x, x)")
    assert typed.type(TextChange(at, at + 3, "f32["))
    assert typed.following.settle(Document(wrong, "typed.hlo").findings())
    assert not typed.following.settle([])


@pytest.mark.parametrize(("place", "result"), [
    ((0, 1), "a!b\ncd\n"), ((0, 9), "ab!\ncd\n"), ((1, 2), "ab\ncd!\n"), ((2, 0), "ab\ncd\n!"), ((2, 7), "ab\ncd\n!"),
    ((9, 0), "ab\ncd\n!")])
def test_a_change_behind_a_line_or_the_text_is_at_its_end(place: tuple[int, int], result: str) -> None:
    opened = OpenText("file:///m.hlo", "ab\ncd\n", 0, "hlo", PositionCodec())
    at = lsp.Position(*place)
    opened.apply_change(lsp.TextDocumentContentChangePartial(lsp.Range(at, at), "!"))
    assert opened.source == result
