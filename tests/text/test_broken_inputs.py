"""Twelve mistakes that people make: one report each, notes and lints included, at the place, with advice."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.diagnostics import HloError

MODULE = """HloModule m

ENTRY main {
  a = f32[2,3] parameter(0)
  b = f32[3,4] parameter(1)
  d = f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[2,4] exponential(d)
  r = f32[8] reshape(e)
  ROOT t = (f32[2,4], f32[8]) tuple(e, r)
}
"""


@pytest.mark.parametrize(("old", "new", "code", "line", "mark", "advice"), [
    ("exponential(d)", "exponential(d", "P001", 7, "d", "add ')'"),
    ("exponential(", "exponentail(", "V101", 7, "exponentail", "did you mean exponential?"),
    ("exponential(d)", "exponential(dd)", "P011", 7, "dd", "it defines a, b, d, "),
    ("lhs_contracting_dims", "lhs_contracting_dim", "V102", 6, "lhs_contracting_dim",
     "did you mean lhs_contracting_dims?"),
    ("rhs_contracting_dims={0}", "rhs_contracting_dims={1}", "dot-c5", 6, "rhs_contracting_dims={1}",
     "dimension 0 of rhs has size 3"),
    ("a = f32[2,3]", "a = float32[2,3]", "P102", 4, "float32", "did you mean f32?"),
    ("  r = ", "  e = f32[2,4] negate(d)\n  r = ", "P010", 8, "e", "rename one of them"),
    (" tuple(e, r)\n}\n", " tuple(e, ", "P002", 9, ", ", "truncated"),
    ("  d = ", "  k = f32[2,2] constant({{1,2},{3}})\n  d = ", "P111", 6, "}", "add 1 more"),
    ("HloModule", "Here is my dump:\n\nHloModule", "P004", 1, "Here is my dump:", "remove it"),
    ("  d = ", "  k = s8[2] constant({1, 300})\n  d = ", "P112", 6, "300", "s16 holds it"),
    ("parameter(1)", "parameter(2)", "V107", 5, "b = f32[3,4] parameter(2)", "number the parameters from 0 to 1"),
], ids=["bracket", "opcode", "operand", "attribute", "sizes", "type", "name", "truncated", "ragged", "prose", "range",
        "parameters"])
def test_one_report_at_the_place_with_advice(old: str, new: str, code: str, line: int, mark: str, advice: str) -> None:
    assert old in MODULE and hlotool.lint(MODULE) == []
    text = MODULE.replace(old, new, 1)
    (found,) = hlotool.lint(text)
    row = text.split("\n")[found.line - 1]
    assert (found.code, found.severity, found.line) == (code, "error", line)
    assert row[found.column - 1:found.end_column - 1] == mark
    assert advice in f"{found.message}; {found.help}"


@pytest.mark.parametrize("attribute", ["control-predecessors={a}", "to_apply=add", "calls=add", "body=add",
                                       "branch_computations={add, add}", "to_apply={ ROOT c = f32[] constant(1) }"])
@pytest.mark.parametrize("place", ["HloModule m", "}"])
def test_a_header_names_nothing_that_would_be_lost(place: str, attribute: str) -> None:
    text = "HloModule m\n\nadd {\n  a = f32[] parameter(0)\n  ROOT r = f32[] negate(a)\n}\n\n" \
           "ENTRY e {\n  x = f32[] parameter(0)\n  ROOT y = f32[] call(x), to_apply=add\n}\n"
    assert hlotool.parse(text)
    with pytest.raises(hlotool.HloError) as caught:
        hlotool.parse(text.replace(place, f"{place}, {attribute}", 1))
    assert [d.code for d in caught.value.diagnostics] == ["P120"]
    assert "belongs behind an instruction" in caught.value.diagnostics[0].message


@pytest.mark.parametrize("value", ["a\x01b", "{a\x7fb}", "{x={y\x85}}", "\x1b"])
@pytest.mark.parametrize("name", ["unheard_of", "origin", "backend_config", "sharding"])
def test_control_characters_stand_in_strings_only(name: str, value: str) -> None:
    with pytest.raises(hlotool.HloError):
        hlotool.parse(f"ENTRY e {{\n  x = f32[] parameter(0), {name}={value}\n}}")


def test_control_characters_in_strings_and_comments_are_read() -> None:
    module = hlotool.parse('ENTRY e {\n  x = f32[] parameter(0), unheard_of={k="a\x01b"/*\x02*/}\n}')
    again = hlotool.parse(str(module))
    assert '{k="a\\001b"' in str(module) and str(again) == str(module)


_CALLER = """HloModule m

branch { a = f32[] parameter(0)  ROOT s = f32[] negate(a) }

ENTRY %e (x: f32[], z: s32[]) -> f32[4] {
  %x = f32[] parameter(0)
  %z = s32[] parameter(1)
  ROOT %r = f32[4] conditional(%z, %x, %x), branch_computations={%branch, %brnch}, is_stable=true
}
"""


@pytest.mark.parametrize("cut", ["parameter(0)\n  %z", "parameter(1)\n", "{%branch, %br", "is_stable=tr"])
def test_what_follows_from_the_end_of_a_text_is_not_told(cut: str) -> None:
    text = _CALLER[:_CALLER.index(cut) + len(cut)]
    with pytest.raises(HloError) as caught:
        hlotool.parse(text.replace("%brnch}", "%branch}"))
    assert {d.code for d in caught.value.diagnostics} == {"P002"}


def test_an_unknown_computation_in_a_list_has_its_place_and_its_fix() -> None:
    text = _CALLER.replace("f32[4]", "f32[]").replace(", is_stable=true", "")
    with pytest.raises(HloError) as caught:
        hlotool.parse(text)
    (found,) = caught.value.diagnostics
    assert (found.code, found.line, text.split("\n")[7][found.column - 1:]) == ("P023", 8, "brnch}")
    (edit,) = found.fixes[0].edits
    assert (edit.start.column, edit.end.column, edit.replacement) == (found.column, found.column + 5, "branch")
