"""Fixes are made only where the text is no worse after them, however many there are; editors offer no others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import hlotool
from hlotool.diagnostics import Diagnostic, Edit, Fix, Severity
from hlotool.ir import Position
from hlotool.linting import Settings, compatible
from hlotool.linting.fixes import fix
from hlotool.linting.sound_fixes import Faults, Trials, edited, faults, faults_of_file


def module(count: int) -> str:
    rows = "\n".join(f"  v{i} = f32[8] negate(x)" for i in range(count))
    return f"HloModule m\n\nENTRY e {{\n  x = f32[8] parameter(0)\n{rows}\n  ROOT r = f32[8] cosine(x)\n}}\n"


def rewrites(count: int, bad: set[int]) -> list[tuple[Diagnostic, Fix]]:
    """For each statement of `module` one fix: a sine in its place, of another shape where the fix is a bad one."""
    found = []
    for i in range(count):
        line = 5 + i
        start = Position(line, len(f"  v{i} = ") + 1)
        end = Position(line, start.column + len("f32[8] negate"))
        found.append((Diagnostic("W999", f"v{i}", line=line, column=1),
                      Fix("m", start, end, f"f32[{9 if i in bad else 8}] sine")))
    return found


@pytest.mark.parametrize("bad", [set(), {3}, {0, 1, 2, 3}, set(range(300)), set(range(0, 300, 2)), {299}])
def test_what_is_sound_is_made_in_few_trials(bad: set[int]) -> None:
    text, trials = module(300), Trials()
    good = trials.sound(text, compatible(text, rewrites(300, bad)))
    assert not bad & {int(d.message[1:]) for d, _ in good}
    assert len(good) == 300 - len(bad) and trials.left >= 0
    assert not faults(edited(text, (c for _, changes in good for c in changes))).found


def test_every_fix_is_tried_where_there_are_few() -> None:
    text, trials = module(12), Trials()
    chosen = compatible(text, rewrites(12, {1, 5, 6}))
    assert [d.message for d, _ in trials.sound(text, chosen)] == [f"v{i}" for i in range(12) if i not in (1, 5, 6)]
    assert trials.left > 80


def test_errors_far_from_the_fix_that_made_them() -> None:
    """Names that go: their users have the errors."""
    text = module(20).replace("cosine(x)", "cosine(v4)").replace("v9 = f32[8] negate(x)", "v9 = f32[8] negate(v2)")
    wanted = [(Diagnostic("W999", f"v{i}", line=5 + i), Fix("m", Position(5 + i, 1), Position(6 + i, 1), ""))
              for i in range(9)]
    good = Trials().sound(text, compatible(text, wanted))
    assert [d.message for d, _ in good] == [f"v{i}" for i in (0, 1, 3, 5, 6, 7, 8)]


def test_no_more_trials_than_there_are() -> None:
    text, asked = module(40), list[str]()

    def judged(new: str, filename: str) -> Faults:
        asked.append(new)
        return Faults(True, () if new == text else (Diagnostic("V101", "anything"),))

    assert Trials(left=7, faults_of=judged).sound(text, compatible(text, rewrites(40, set()))) == []
    assert len(asked) == 8


@pytest.mark.parametrize(("before", "after", "is_fine"), [
    ((True, "AB"), (True, "AB"), True), ((True, "AB"), (True, "A"), True), ((True, "AB"), (True, "AC"), False),
    ((True, "A"), (True, "AA"), False), ((True, ""), (False, ""), False), ((True, "A"), (False, "A"), False),
    ((False, "AB"), (True, "CD"), True), ((False, "AB"), (True, "CDE"), False), ((False, "AB"), (False, "AB"), False),
    ((False, "AB"), (False, "C"), True), ((False, "A"), (True, ""), True)])
def test_what_is_worse(before: tuple[bool, str], after: tuple[bool, str], is_fine: bool) -> None:
    made = [Faults(is_read, tuple(Diagnostic(c, c) for c in codes)) for is_read, codes in (after, before)]
    assert made[0].is_no_worse_than(made[1]) is is_fine


def test_comments_beside_what_is_removed() -> None:
    text = ("HloModule m\n\nENTRY e {\n  x = f32[2] parameter(0)\n  // before\n  dead = f32[2] tanh(x)\n"
            "  // after\n  /* and */ ROOT y = f32[2] negate(x)\n}\n")
    assert fix(text).text == text.replace("  dead = f32[2] tanh(x)\n", "")
    inside = text.replace("tanh(x)", "tanh(x /* mine */)")
    assert fix(inside).text == inside


ROOT = Path(__file__).resolve().parents[2]


def documents() -> list[Path]:
    return sorted((ROOT / "samples" / "ops").glob("*.hlo"))[::6]


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.stem)
def test_what_an_editor_offers_makes_no_errors(path: Path) -> None:
    pytest.importorskip("lsprotocol")
    from hlotool.serve.lsp.offered_fixes import OfferedFixes

    for text in path.read_text().split("// -----"):
        found = hlotool.lint(text, config=Settings(select=("ALL",)))
        offered, before = OfferedFixes(text, "m.hlo", found), faults_of_file(text)
        for finding in found:
            for one in finding.fixes[:1]:
                if offered.is_sound(finding, one):
                    assert faults_of_file(made(text, one.edits)).is_no_worse_than(before), (finding, one)
        if offered.together:
            assert faults_of_file(made(text, offered.together)).is_no_worse_than(before)


def made(text: str, edits: tuple[Edit, ...] | list[Edit]) -> str:
    from hlotool.ir import Source

    source = Source(text)
    return edited(text, ((source.offset(e.start) or 0, source.offset(e.end) or 0, e.replacement) for e in edits))


def test_what_an_editor_does_not_offer() -> None:
    pytest.importorskip("lsprotocol")
    from hlotool.serve.lsp.offered_fixes import OfferedFixes

    text = module(4).replace("v1 = f32[8] negate(x)", "v1 = f32[8] negate(x /* why */)")
    wanted = rewrites(4, {2})
    gone = Fix("m", Position(6, 1), Position(7, 1), "")
    found = [*(Diagnostic(d.code, d.message, Severity.WARNING, d.line, fixes=(f,)) for d, f in wanted),
             Diagnostic("W998", "loses a comment", Severity.WARNING, 6, fixes=(gone,))]
    offered = OfferedFixes(text.replace("\n", "\r\n"), "m.hlo", found)
    assert [offered.is_sound(d, d.fixes[0]) for d in found] == [True, True, False, True, False]
    assert Counter(e.replacement for e in offered.together) == {"f32[8] sine": 3}
    assert OfferedFixes(text, "m.hlo", found[:1]).together == []
