"""One mistake in a module is one report, at the place of the mistake, with the advice that helps."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlotool
from hlotool.diagnostics import Diagnostic, HloError

MODELS = sorted((Path(__file__).parents[2] / "samples" / "models").glob("*.hlo"))

MODULE = """HloModule m

add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

ENTRY main {
  a = f32[2,3] parameter(0)
  b = f32[3,4] parameter(1)
  z = f32[] constant(0)
  d = f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="x/d" source_line=3}
  e = f32[2,4] exponential(d)
  r = f32[2] reduce(e, z), dimensions={1}, to_apply=add
  ROOT t = (f32[2,4], f32[2]) tuple(d, r)
}
"""


def findings(text: str) -> list[Diagnostic]:
    return [d for d in hlotool.lint(text) if d.severity == "error"]


def marked(text: str, found: Diagnostic) -> str:
    """What the range of a diagnostic covers of its first line."""
    line = text.split("\n")[found.line - 1]
    return line[found.column - 1:found.end_column - 1 if found.end_line == found.line else None]


@pytest.mark.parametrize(("old", "new", "code", "line", "mark", "words"), [
    ("exponential(d)", "exponential(d", "P001", 14, "d", "add ')'"),
    ("dot(a, b)", "dot(a, b", "P001", 13, "b", "before the attribute lhs_contracting_dims"),
    ("dimensions={1}", "dimensions={1", "P001", 15, "1", "before the attribute to_apply"),
    ("source_line=3}", "source_line=3", "P001", 13, "3", "add '}'"),
    ("e = f32[2,4]", "e = f32[2,4", "P001", 14, "4", "after the sizes"),
    ("add(p, q)\n}", "add(p, q)\n", "P001", 9, "ENTRY main", "end of the computation add"),
    ("tuple(d, r)\n}", "tuple(d, r)\n", "P002", 16, ")", "inside of the computation main"),
    ("e = f32", "e f32", "P003", 14, "e f32[2,4] exponential(d)", "name = shape opcode(operands)"),
    ("e = f32", "e : f32", "P003", 14, "e : f32[2,4] exponential(d)", "name = shape opcode(operands)"),
    ("ROOT t = ", "ROOT t ", "P003", 16, "t (f32[2,4], f32[2]) tuple(d, r)", "name = shape"),
    ("exponential(", "exponental(", "V101", 14, "exponental", "did you mean exponential?"),
    ("exponential(d)", "exponential(dd)", "P011", 14, "dd", "no instruction dd"),
    ("dimensions=", "dimension=", "V102", 15, "dimension", "did you mean dimensions?"),
    ("b = f32[3,4]", "b = float32[3,4]", "P102", 11, "float32", "did you mean f32?"),
    ("tuple(d, r)", "tuple(d, r), sharding={replicatd}", "P121", 16, "replicatd", "did you mean replicated?"),
    ("  e = f32[2,4] exponential(d)", "  e = f32[2,4] exponential(d)\n  e = f32[2,4] negate(d)", "P010", 15, "e",
     "used twice"),
    ("constant(0)", "constant(0)\n  k = f32[2,2] constant({{1,2},{3}})", "P111", 13, "}", "row [1] has 1"),
    ("constant(0)", "constant(0)\n  k = s8[2] constant({1, 300})", "P112", 13, "300", "-128 to 127"),
    ("HloModule m", "Hi, here is my dump:\n\nHloModule m", "P004", 1, "Hi, here is my dump:", "remove it"),
    ("HloModule m", "HLOModule m", "P004", 1, "HLOModule m", "HloModule"),
    ("tuple(d, r)\n}\n", "tuple(d, r)\n}\n\nIt's slow, I don't know why (#12).\n", "P004", 19,
     "It's slow, I don't know why (#12).", "expected a computation"),
    ("exponential(d)", "exponential(d),", "P005", 14, ",", "remove it"),
    ("dot(a, b)", "dot(a,, b)", "P003", 13, ",", "operand is missing"),
    ("f32[2,3] p", "f32[2,,3] p", "P101", 10, ",", "expected a number"),
    ('op_name="x/d"', 'op_name="x/d', "P006", 13, '"x/d source_line=3}', 'add "'),
    ('op_name="x/d"', "op_name=\u201cx/d\u201d", "P122", 13, "\u201cx/d\u201d", 'write "'),
    ('op_name="x/d"', "op_name=\udc93x/d\udc94", "P122", 13, "\udc93x/d\udc94", 'write "'),
    ("exponential(d)", "exponential(%)", "P003", 14, "%", "expected an operand"),
    ("  e = ", "  %\n  e = ", "P003", 14, "%", "name = shape"),
    ("ENTRY main {", "k = f32[] constant(1)\n\nENTRY main {", "P003", 9, "k = f32[] constant(1)", "outside"),
    ("ENTRY main {", "HloModule n\n\nENTRY main {", "P027", 9, "HloModule", "second module"),
    ("to_apply=add", "to_apply=adder", "P023", 15, "adder", "did you mean add?"),
    ("exponential(d)", "exponential(d]", "P001", 14, "]", "expected ')'"),
    ("dimensions={1}", "dimensions={1)", "P001", 15, ")", "expected '}'"),
    ("dimensions={1}", "dimensions={1}}", "P003", 15, "}", "closes nothing"),
    ("dimensions={1}", "dimensions={\u20141}", "P120", 15, "\u2014", "write -"),
    ("ENTRY main {", "ENTRY main", "P025", 9, "n", "add '{'"),
    ("add {", "add", "P025", 3, "d", "add '{'"),
    ("ENTRY", "ENTYR", "P025", 9, "ENTYR", "did you mean ENTRY?"),
    ("ENTRY main {", "ENTRY main (a: f32[2,3], b: f32[3,4]) {", "P025", 9, " (a: f32[2,3], b: f32[3,4]) ", "'->'"),
    ("  e = ", "  /* e = ", "P002", 14, "/*", "comment"),
    ("exponential(d)", "exponential(...)", "P003", 14, "...", "dump the module"),
])
def test_one_mistake(old: str, new: str, code: str, line: int, mark: str, words: str) -> None:
    assert MODULE.count(old) >= 1
    text = MODULE.replace(old, new, 1)
    (found,) = findings(text)
    assert (found.code, found.line, marked(text, found)) == (code, line, mark)
    assert words in f"{found.message}; {found.help}"


def test_the_module_itself_is_in_order_with_tabs_too() -> None:
    assert findings(MODULE) == findings(MODULE.replace("  ", "\t").replace(" = ", "\t=\t")) == []


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.name)
def test_one_missing_sign_in_a_model_is_one_report(path: Path) -> None:
    lines = path.read_text().split("\n")
    places = [n for n, line in enumerate(lines) if " = " in line and line.startswith("  ") and ")" in line]
    for number in places[:: max(1, len(places) // 8)]:
        line = lines[number]
        for broken in (line.replace(" = ", " ", 1), line.replace("]", "", 1), line.replace(")", "]", 1),
                       *([line.replace("), ", ", ", 1)] if line.count(")") == 1 and "), " in line else [])):
            text = "\n".join([*lines[:number], broken, *lines[number + 1:]])
            found = findings(text)
            assert len(found) == 1, (broken, found)
            assert found[0].line == number + 1, (broken, found)


def test_fixes_mend_the_text() -> None:
    for old, new in (("exponential(d)", "exponential(d"), ("dimensions={1}", "dimensions={1"),
                     ("e = f32[2,4]", "e = f32[2,4"), ("to_apply=add", "to_apply=adder")):
        text = MODULE.replace(old, new, 1)
        (found,) = findings(text)
        (fix,) = found.fixes
        rows = text.split("\n")
        row = rows[fix.start.line - 1]
        rows[fix.start.line - 1] = row[:fix.start.column - 1] + fix.replacement + row[fix.end.column - 1:]
        assert "\n".join(rows) == MODULE


@pytest.mark.parametrize("text", ["hello", "This is a letter.\nIt has two lines.", '{"a": 1}', "// a comment\nhello\n"])
def test_a_text_that_is_no_hlo_is_said_to_be_none(text: str) -> None:
    with pytest.raises(HloError) as found:
        hlotool.parse(text)
    (said,) = found.value.diagnostics
    assert said.code == "P024" and said.message.startswith("the text is no HLO")
