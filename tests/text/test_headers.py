"""Headers of computations: exactly those are read that XLA reads, and mistakes are located."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.diagnostics import HloError
from hlotool.text import PrintOptions, print_module

BODY = """ {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[4] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=%c
}
"""
#: what stands between the parentheses
READ = ["", " ", "a: f32[], b: f32[]", "x: s32[3]", "a: f32[], a: f32[]", "a:f32[],b:f32[]", "a f32[], b f32[]",
        "%a f32[], %b f32[]", "f32: f32[], ROOT: f32[], true: s32[2]{0}", "a.1-x: f32[], b_: f32[], _: f32[]",
        "a: (f32[], s32[2]), b: f32[]", "a: (f32[], /*index=1*/(s32[2])), b: ((f32[]), f32[])", "a: f32[2]{0:T(8)S(1)}",
        "/*first*/ a /*x*/ f32[], /*index=1*/b: /*x*/ f32[] // end\n", "a(f32[])", "a: (), b: token[]", "a: f32[<=3]",
        "a: f32[2]{1}"]
#: what is refused, the code, the text that is marked
REFUSED = [
    ("a b: f32[]", "P025", "b:"), ("1: f32[]", "P025", "1:"), ("%a: f32[]", "P025", "%a:"),
    ("f32[], f32[]", "P013", "f32"), ("a, b", "P025", ","), ("a: f32[],", "P025", ")"), (",a: f32[]", "P025", ","),
    ("a: f32[] b: f32[]", "P025", "b: f32[]"), ("a: f32, b: f32[]", "P025", "f32"),
    ("a: foo[], b: f32[]", "P102", "foo"), ("a : f32[]", "P025", ":"), ("a=f32[]", "P025", "=f32[]"),
    ("'a': f32[]", "P025", "'a':"), ("a->b: f32[]", "P025", "->b:"), ("-a: f32[]", "P025", "-a:"),
    ("(a: f32[])", "P025", "("), ("a: f32[], (b: f32[])", "P025", "("), ("{a: f32[]}", "P025", "{a:"),
    ("...", "P025", "..."), ("a: f32[x]", "P101", "x"), ("a: f32[-1]", "P101", "-1"),
    ("a: f32[2]] b: f32[]", "P025", "] b: f32[]"), ("ROOT f32[]", "P013", "ROOT"), ("inf f32[]", "P013", "inf"),
    ("\u00e9: f32[]", "P025", "\u00e9:"), ("a: f32[]) (b: f32[]", "P025", ") (b: f32[]"),
    ("a: f32[1]{0", "P001", ")")]


def text(parameters: str) -> str:
    return f"HloModule m\n\n%c ({parameters}) -> f32[]{BODY}"


def is_read_by_xla(hlo: str) -> bool:
    from xla_library import xla_hlo

    try:
        xla_hlo.hlo_module_from_text(hlo)
    except Exception:  # of jaxlib's making
        return False
    return True


@pytest.mark.parametrize("parameters", READ)
def test_it_is_read(parameters: str) -> None:
    assert is_read_by_xla(text(parameters))
    assert str(hlotool.parse(text(parameters))) == str(hlotool.parse(text("a: f32[], b: f32[]")))


@pytest.mark.parametrize(("parameters", "code", "marked"), REFUSED)
def test_it_is_refused_at_its_place(parameters: str, code: str, marked: str) -> None:
    source = text(parameters)
    assert not is_read_by_xla(source)
    with pytest.raises(HloError) as caught:
        hlotool.parse(source)
    first = caught.value.diagnostics[0]
    lines = source.splitlines()
    assert (first.code, first.line, lines[first.line - 1][first.column - 1:first.end_column - 1]) == (code, 3, marked)


def test_what_is_wrong_in_a_header_hides_nothing_below() -> None:
    with pytest.raises(HloError) as caught:
        hlotool.parse(text("a b: f32[], 1: f32[], c: foo[]").replace("add(a, b)", "add(a, nothing)"))
    assert [(d.code, d.line) for d in caught.value.diagnostics] == [("P025", 3), ("P025", 3), ("P102", 3), ("P011", 6)]


@pytest.mark.parametrize("name", ["f32", "u8", "ROOT", "true", "inf", "maximal"])
@pytest.mark.parametrize("at", ["HloModule {}\n\nc {{", "HloModule m\n\n{} {{", "HloModule m\n\nENTRY {} {{"])
def test_words_of_the_language_are_names_behind_a_sign_alone(name: str, at: str) -> None:
    body = "\n  ROOT a = f32[] parameter(0)\n}\n"
    signed, bare = at.format(f"%{name}") + body, at.format(name) + body
    assert is_read_by_xla(signed) and not is_read_by_xla(bare)
    hlotool.parse(signed)
    with pytest.raises(HloError) as caught:
        hlotool.parse(bare)
    assert [d.code for d in caught.value.diagnostics] == ["P013"] and name in caught.value.diagnostics[0].message


@pytest.mark.parametrize("name", ["token", "unknown", "s1", "u1", "s2", "f8e4m3fn", "manual", "shard_as"])
@pytest.mark.parametrize("at", ["HloModule {}\n\nc {{\n  ROOT a", "HloModule m\n\n{} {{\n  ROOT a",
                                "HloModule m\n\nENTRY {} {{\n  ROOT a", "HloModule m\n\nc {{\n  ROOT {}"])
def test_words_that_were_names_once_are_noted(name: str, at: str) -> None:
    text = at.format(name) + " = f32[] parameter(0)\n}\n"
    assert not is_read_by_xla(text)
    module = hlotool.parse(text)
    assert [(d.code, str(d.severity)) for d in module.notes] == [("P090", "info")] and name in module.notes[0].message
    assert hlotool.parse(str(module)).entry.root.opcode == "parameter"


@pytest.mark.parametrize("before", ["% c {", "%/*x*/c {", "ENTRY % c {"])
def test_a_sign_touches_its_name(before: str) -> None:
    hlo = f"HloModule m\n{before}\n  ROOT a = f32[] parameter(0)\n}}\n"
    assert not is_read_by_xla(hlo)
    with pytest.raises(HloError):
        hlotool.parse(hlo)


@pytest.mark.parametrize("percent", [True, False])
def test_names_that_are_words_are_printed_as_they_are_read(percent: bool) -> None:
    module = hlotool.parse("HloModule m\n%f32 (true: s32[]) -> s32[] { ROOT %true = s32[] parameter(0) }\n"
                           "ENTRY %ROOT { p = s32[] parameter(0) ROOT c = s32[] call(p), to_apply=%f32 }")
    printed = print_module(module, PrintOptions(percent=percent))
    assert is_read_by_xla(printed)
    assert str(hlotool.parse(printed)) == str(module)


def test_a_comment_may_touch_the_modules_name() -> None:
    for comment in ("/*x*/", "//x"):
        hlo = f"HloModule m{comment}\nENTRY e {{\n  ROOT a = f32[] parameter(0)\n}}\n"
        assert is_read_by_xla(hlo) and hlotool.parse(hlo).name == "m"


def test_what_follows_a_module_without_a_name_is_no_name() -> None:
    module = hlotool.parse("HloModule\nENTRY e {\n  ROOT a = f32[] parameter(0)\n}\n\n"
                           "c {\n  ROOT b = s32[] parameter(0)\n}\n")
    assert (module.name, module.entry.name) == ("module_e", "e")
    assert "V265" in {d.code for d in hlotool.verify(module)}


@pytest.mark.parametrize("name", ["ENTRY", "f32", "true", "plain"])
def test_a_module_that_is_called_a_word_of_the_language_keeps_its_sign(name):
    module = hlotool.parse(f"HloModule %{name}\nENTRY e {{ p = f32[] parameter(0) }}")
    assert module.name == name
    for percent in (True, False):
        assert hlotool.parse(print_module(module, PrintOptions(percent=percent))).name == name
