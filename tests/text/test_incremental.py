"""A text that was read again after changes is what reading all of it gives: instructions, places, errors."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from hlotool.ir import HloModule, Source
from hlotool.text import Reading, parse_recovering, read_for_changes, reread

TEXT = """HloModule followed, entry_computation_layout={(f32[4,8]{1,0}, s32[])->(f32[4]{0}, s32[])}

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

%body.1 (p: (s32[], f32[4])) -> (s32[], f32[4]) {
  %p = (s32[], f32[4]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1) /* by one */
  %next = s32[] add(%i, %one), metadata={op_name="jit(f)/while/body/add" source_file="a.py" source_line=7}
  %x = f32[4]{0} get-tuple-element(%p), index=1 // a comment
  // one on a line of its own
  %y = f32[4]{0} negate(%x)
  %z = f32[4]{0} custom-call(%y,
    /*index=1*/%x), custom_call_target="f",
    backend_config={"a": {"b": "}"}}
  ROOT %t = (s32[], f32[4]{0}) tuple(%next, %z), control-predecessors={%y}
}

%condition.1 (p: (s32[], f32[4])) -> pred[] {
  %p = (s32[], f32[4]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %ten = s32[] constant(10)
  ROOT %c = pred[] compare(%i, %ten), direction=LT
}

ENTRY main {
  data = f32[4,8] parameter(0)
  start = s32[] parameter(1)
  zero = f32[] constant(0)
  total = f32[4] reduce(data, zero), dimensions={1}, to_apply=sum
  state = (s32[], f32[4]) tuple(start, total)
  loop = (s32[], f32[4]) while(state), condition=%condition.1, body=%body.1
  count = s32[] get-tuple-element(loop), index=0
  value = f32[4] get-tuple-element(loop), index=1
  ROOT out = (f32[4], s32[]) tuple(value, count)
}
"""
PIECES = [*"abx01(){}[],=%./*\"\n ", "f32[2]", "ROOT ", "add(", "/*", "*/", "//", "x = f32[] constant(0)\n", "y", "%p",
          "zz", "parameter", "negate", "to_apply=sum", ", index=0", "control-predecessors={%x}"]


def as_rows(module: HloModule, errors: list[Any]) -> list[Any]:
    """All that a text says, with its places."""
    rows: list[Any] = [(d.code, d.line, d.column, d.end_line, d.end_column, d.message) for d in errors]
    rows.append((module.name, sorted(map(str, module.attributes.items()))))
    for c in module.computations:
        rows.append((c.name, c.offset, c.root.offset if c.root is not None else None))
        rows += [(i.name, i.opcode, str(i.shape), i.offset, [(o.name, o.offset) for o in i.operands],
                  sorted(map(str, i.attributes.items())), str(i.metadata)) for i in c.instructions]
    return rows


def edit(chance: random.Random, text: str, around: int) -> tuple[int, int, str]:
    """A small change near a place: letters, words and lines come, go and are replaced."""
    start = min(len(text) - 1, max(0, around + chance.randrange(-150, 150)))
    line, behind = text.rfind("\n", 0, start) + 1, text.find("\n", start) + 1 or len(text)
    kind = chance.random()
    if kind < 0.35:
        return start, start, chance.choice(PIECES)
    if kind < 0.65:
        return start, min(len(text), start + chance.choice((1, 1, 2, 5))), ""
    if kind < 0.75:
        return line, behind, ""
    if kind < 0.85:
        return behind, behind, text[line:behind]
    return start, min(len(text), start + chance.randrange(1, 9)), chance.choice(PIECES)


def followed(text: str, seed: int, sessions: int, keys: int, behind: int | None = None) -> Counter[str]:
    """Type into a text and compare after each key; gives how often it was followed and how often it was read whole.

    Edits are in front of a place, where one is given.
    """
    chance, seen = random.Random(seed), Counter[str]()
    for _ in range(sessions):
        reading = read_for_changes(Source(text))
        around, made = chance.randrange(behind or len(text)), []
        for _ in range(keys):
            made.append(edit(chance, reading.source.text, around))
            start, end, piece = made[-1]
            new = reading.source.text[:start] + piece + reading.source.text[end:]
            if reread(reading, start, end, piece) is None:
                seen["whole"] += 1
                break
            assert reading.source.text == new and reading.source.line_starts() == Source(new).line_starts()
            module, errors = parse_recovering(Source(new))
            assert as_rows(reading.module, reading.errors) == as_rows(module, errors), made
            seen["followed with errors" if errors else "followed"] += 1
    return seen


@pytest.mark.parametrize("seed", range(4))
def test_a_header_is_followed(seed: int) -> None:
    header = ("HloModule followed, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, /* one */ "
              "entry_computation_layout={(f32[4,8]{1,0}, s32[])->(f32[4]{0}, s32[])}, frontend_attributes={a=\"b\"}")
    text = header + TEXT[TEXT.index("\n"):]
    seen = followed(text, seed, sessions=200, keys=6, behind=len(header) - 20)
    assert seen["followed with errors"] > 20 and seen["followed"] > 20


@pytest.mark.parametrize("seed", range(4))
def test_what_is_followed_is_what_is_read(seed: int) -> None:
    seen = followed(TEXT, seed, sessions=60, keys=15)
    assert seen["followed with errors"] > 100 and seen["followed"] > 5 and seen["whole"] > 10


def change(before: str, after: str, text: str = TEXT) -> tuple[Reading, Any]:
    """Read, and replace the one place of some words."""
    assert text.count(before) == 1
    reading = read_for_changes(Source(text))
    return reading, reread(reading, at := text.index(before), at + len(before), after)


def test_only_what_a_change_concerns_is_read_again() -> None:
    reading, changed = change("%y = f32[4]{0} negate(%x)", "%y = f32[4]{0} sqrt(%x)")
    names = [i.name for i in changed.instructions]
    assert changed.computation.name == "body.1" and names == ["y", "z", "t"] and not reading.errors
    assert (changed.first, changed.behind, changed.added) == (16, 17, 0)
    assert [i.opcode for i in changed.computation.instructions][-3:] == ["sqrt", "custom-call", "tuple"]


def test_users_of_a_name_that_is_gone_are_errors_and_come_back() -> None:
    reading, _ = change("%next = ", "%nexx = ")
    assert [d.code for d in reading.errors] == ["P011"] and "next" in reading.errors[0].message
    at = reading.source.text.index("nexx")
    assert reread(reading, at, at + 4, "next") is not None and not reading.errors
    assert reading.source.text == TEXT


def test_errors_of_a_header_stay_when_its_body_changes() -> None:
    text = TEXT.replace("(p: (s32[], f32[4])) -> pred[]", "(p q: (s32[], f32[4])) -> pred[]")
    reading, _ = change("constant(10)", "constant(11)", text)
    assert [d.code for d in reading.errors] == ["P025"]


def test_places_behind_a_change_move() -> None:
    reading, changed = change("  %one = ", "\n\n  %one = ")
    assert changed.added == 2
    for computation in reading.module.computations:
        for instruction in computation.instructions:
            assert reading.source.text.startswith(("ROOT", "%", instruction.name), instruction.offset)


@pytest.mark.parametrize(("before", "after"), [
    ("ENTRY main {", "ENTRY mainx {"), ("  ROOT %c = pred[] compare(%i, %ten), direction=LT\n}", "  ROOT"),
    ("  %y =", "  } %y ="), ("  %y =", "\r\n  %y ="), ("  %y =", "}\n\nnew {\n  %y ="),
    ("to_apply=sum\n", "to_apply={ q = f32[] parameter(0) r = f32[] parameter(1) ROOT u = f32[] add(q, r) }\n"),
    ("%y = f32[4]{0} negate(%x)", "%y = negate(%x)"), ("negate(%x)", "negate(f32[4] abs(%x))"),
    ("// one on a line of its own", "// -----")])
def test_what_may_reach_further_is_read_whole(before: str, after: str) -> None:
    assert change(before, after)[1] is None


@pytest.mark.parametrize("text", [
    "ENTRY e { x = f32[2] parameter(0)  ROOT y = negate(x) }", TEXT.replace("\n", "\r\n"), "", "f32[2] add(x, y)",
    TEXT.replace("to_apply=sum", "to_apply=unknown")])
def test_texts_that_are_not_followed(text: str) -> None:
    reading = read_for_changes(Source(text))
    assert not reading.is_plain and reread(reading, 0, 0, " ") is None
