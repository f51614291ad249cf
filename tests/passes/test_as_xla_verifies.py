"""Modules like those that XLA's parser and verifier are tested with: what they refuse is refused, under which code."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.diagnostics import HloError, Severity

_STATE = "((f32[9]), f32[8], u32[])"
_WRAPPED = 'w { p = f32[9] parameter(0)\n ROOT c = f32[8] custom-call(p), custom_call_target="t" }\n\n'
_OTHER = _WRAPPED.replace("w {", "v {")
_START = f"p = f32[9] parameter(0); s = {_STATE} async-start(p), calls=w; "
_SUGAR = f'p = f32[9] parameter(0); s = {_STATE} custom-call-start(p), custom_call_target="t"; '
_THREAD = "b { x = s32[] parameter(0)\n ROOT y = s32[] add(x, x) }\n\n" \
          "c { x = s32[] parameter(0)\n k = s32[] constant(5)\n ROOT y = pred[] compare(k, x), direction=GT }"
_LOOP = "k = s32[] constant(0); ROOT r = s32[] while(k), condition=c, body=b"
_BRANCHES = "t { x = f32[4] parameter(0)\n ROOT y = f32[4] ceil(x) }\n\n" \
            "f { x = f32[4] parameter(0)\n ROOT y = f32[4] floor(x) }\n\n"
_PAIR = "p = (f32[], f32[]) parameter(0); a = f32[] get-tuple-element(p), index=0; b = f32[] get-tuple-element(p), " \
        "index=1; ROOT o = (f32[], f32[]) tuple(a, b)"
_LAYOUTS = "entry_computation_layout={(f32[4,4]{1,0})->f32[4,4]{1,0}}"

#: code ("" where it holds), profile, attributes of the header, computations before the entry, lines of the entry
_ROWS: list[tuple[str, str, str, str, str]] = [
    ("", "", "", _WRAPPED, _START + "ROOT d = f32[8] async-done(s)"),
    ("", "", "", "", _SUGAR + f"u = {_STATE} custom-call-update(s); ROOT d = f32[8] custom-call-done(u)"),
    ("", "", "", "", _SUGAR + 'ROOT d = f32[8] custom-call-done(s), custom_call_target="t"'),
    ("V207", "", "", "", _SUGAR + 'ROOT d = f32[8] custom-call-done(s), custom_call_target="other"'),
    ("V201", "", "", "", _SUGAR + 'ROOT d = f32[8] custom-call-done(s), async_execution_thread="elsewhere"'),
    ("V201", "", "", "", _SUGAR + f'u = {_STATE} custom-call-update(s), async_execution_thread="elsewhere"; '
     "ROOT d = f32[8] custom-call-done(u)"),
    ("V207", "", "", "", _SUGAR + "ROOT d = f32[8] add-done(s)"),
    ("V208", "", "", "", f'p = f32[9] parameter(0); ROOT s = {_STATE} custom-call-start(p), custom_call_target="t"'),
    ("V208", "", "", "", _SUGAR + f"ROOT u = {_STATE} custom-call-update(s)"),
    ("V208", "", "", _WRAPPED, _START + "d = f32[8] async-done(s); ROOT e = f32[8] async-done(s)"),
    ("V207", "", "", _WRAPPED + _OTHER, _START + "ROOT d = f32[8] async-done(s), calls=v"),
    ("V207", "", "", _WRAPPED + _OTHER, _START + f"u = {_STATE} async-update(s), calls=v; "
     "ROOT d = f32[8] async-done(u)"),
    ("V201", "", "", _THREAD + ', execution_thread="elsewhere"\n\n', _LOOP),
    ("", "", "", _THREAD + "\n\n", _LOOP),
    ("conditional-c1", "", "", _BRANCHES, "p = f32[4] parameter(0); i = s32[] parameter(1); "
     "ROOT r = f32[4] conditional(i, p, p), true_computation=t, false_computation=f"),
    ("", "", "", _BRANCHES, "p = f32[4] parameter(0); i = s32[] parameter(1); "
     "ROOT r = f32[4] conditional(i, p, p), branch_computations={t, f}"),
    ("conditional-c2", "", "", _BRANCHES, "p = f32[4] parameter(0); i = s32[2] parameter(1); "
     "ROOT r = f32[4] conditional(i, p, p), branch_computations={t, f}"),
    ("", "", "input_output_alias={ {0}: (0, {0}, must-alias), {1}: (0, {1}) }", "", _PAIR),
    ("P002", "", "input_output_alias={ {0 : (0, {0}), {1}: (0, {1}) }", "", _PAIR),
    ("P120", "", "input_output_alias={ {0}: (0, {0}, bad-alias) }", "", _PAIR),
    ("", "unoptimized", _LAYOUTS, "", "p = f32[4,4]{0,1} parameter(0); ROOT n = f32[4,4]{1,0} copy(p)"),
    ("V109", "scheduled", _LAYOUTS, "", "p = f32[4,4]{0,1} parameter(0); ROOT n = f32[4,4]{1,0} copy(p)"),
    ("V109", "scheduled", _LAYOUTS, "", "p = f32[4,4]{1,0} parameter(0); ROOT n = f32[4,4]{0,1} copy(p)"),
]


def _codes(text: str, profile: str) -> list[str]:
    try:
        found = hlotool.verify(hlotool.parse(text), profile or "unoptimized")
    except HloError as error:
        found = error.diagnostics
    return [d.code for d in found if d.severity is Severity.ERROR]


@pytest.mark.parametrize(("code", "profile", "header", "before", "lines"), _ROWS)
def test_modules_are_judged_as_xla_judges(code: str, profile: str, header: str, before: str, lines: str) -> None:
    body = "\n".join(f"  {line}" for line in lines.split("; "))
    text = f"HloModule m{', ' * bool(header)}{header}\n\n{before}ENTRY main {{\n{body}\n}}\n"
    found = _codes(text, profile)
    assert (found[:1] == [code]) if code else not found, text


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_end_as_any_system_ends_them(ending: str) -> None:
    text = ending.join(["HloModule endings:", "// of lines", "ENTRY e {", "// of a comment",
                        "ROOT a = f32[1]{0} constant({12345}) // behind it", "}"])
    assert _codes(text, "") == []


@pytest.mark.parametrize("text", ["", " ", "1 : i32", "{n = }"])
def test_attributes_of_composites_that_are_none_do_not_end_the_process(text: str) -> None:
    """MLIR itself ends over an empty text."""
    module = hlotool.parse("HloModule m\n\nc { ROOT a = f32[] parameter(0) }\n\nENTRY e {\n  p = f32[] parameter(0)\n"
                           "  ROOT r = f32[] call(p), to_apply=c, is_composite=true, frontend_attributes={"
                           f'composite.attributes="{text}",composite.name="foo.bar",composite.version="1"}}\n}}\n')
    with pytest.raises(HloError):
        hlotool.to_stablehlo(module)


def test_tokens_are_copied() -> None:
    assert _codes("HloModule m\n\nENTRY e {\n  t = token[] after-all()\n  ROOT r = token[] copy(t)\n}\n", "") == []
