"""Layouts and configurations that decide what is computed: programs that differ only there are not equal."""

import pytest

import hlotool
from hlotool.cli.main import main
from hlotool.passes.equality import Numbering, diff, same_up_to
from hlotool.passes.read import parse
from hlotool.stablehlo import from_stablehlo, to_stablehlo


def square(bitcast, given="{1,0}"):
    return parse(f"""HloModule m
        ENTRY e {{ x = f32[3,3]{given} parameter(0)  b = f32[3,3]{bitcast} bitcast(x)
          ROOT y = f32[3,3]{bitcast} negate(b) }}""")


def call(config, quoted=True):
    text = '"' + config.replace('"', r"\"") + '"' if quoted else config
    version = "" if quoted else ", api_version=API_VERSION_TYPED_FFI"
    return parse(f"""HloModule m
        ENTRY e {{ x = f32[3] parameter(0)
          ROOT y = f32[3] custom-call(x), custom_call_target="f"{version}, backend_config={text} }}""")


def is_one_expression(*modules):
    numbering = Numbering()
    one, other = map(numbering.module, modules)
    return one == other


PAIRS = {
    "a bitcast that is a transpose": (square("{0,1}"), square("{1,0}")),
    "a bitcast of other layouts": (
        parse("ENTRY e { x = f32[2,3,4]{2,1,0} parameter(0)  ROOT y = f32[24] bitcast(x) }"),
        parse("ENTRY e { x = f32[2,3,4]{1,2,0} parameter(0)  ROOT y = f32[24] bitcast(x) }")),
    "tiles": (
        parse("ENTRY e { x = bf16[16,128]{1,0:T(8,128)} parameter(0)\n"
              "ROOT y = bf16[16,128]{1,0:T(16,128)} bitcast(x) }"),
        parse("ENTRY e { x = bf16[16,128]{1,0:T(8,128)} parameter(0)\n"
              "ROOT y = bf16[16,128]{1,0:T(8,128)} bitcast(x) }")),
    "a bitcast of cut dimensions": (
        parse("ENTRY e { x = f32[4,6]{1,0} parameter(0)  ROOT y = f32[8,3]{1,0} bitcast(x) }"),
        parse("ENTRY e { x = f32[4,6]{0,1} parameter(0)  ROOT y = f32[8,3]{1,0} bitcast(x) }")),
    "what a library is told": (call("1"), call("2")),
    "what a typed library is told": (call('{a = 1 : i32, b = "x, y"}', False), call('{a = 1 : i32, b = "x,y"}', False)),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_they_differ(pair):
    assert not diff(*pair)
    assert same_up_to(*pair) is None
    assert not is_one_expression(*pair)
    assert diff(pair[0], pair[0]) and is_one_expression(pair[0], pair[0])


def test_layouts_of_a_library_call():
    one, other = (parse(f"""ENTRY e {{ x = f32[3,3]{layout} parameter(0)
        ROOT y = f32[3,3]{{1,0}} custom-call(x), custom_call_target="f" }}""") for layout in ("{1,0}", "{0,1}"))
    assert not diff(one, other)


def test_other_layouts_of_the_same_meaning_are_no_difference():
    """Both bitcasts give their operand; then both are its transpose."""
    assert diff(square("{0,1}", "{0,1}"), square("{1,0}")) and is_one_expression(square("{0,1}", "{0,1}"), square(""))
    assert diff(square("{0,1}"), square("{1,0}", "{0,1}"))


def test_the_same_dictionary_in_another_order():
    assert is_one_expression(call('{a = 1 : i32, b = "x, y"}', False), call('{b = "x, y", a = 1:i32}', False))
    assert is_one_expression(call("", True), parse("""ENTRY e { x = f32[3] parameter(0)
        ROOT y = f32[3] custom-call(x), custom_call_target="f" }"""))


@pytest.mark.parametrize("module", [
    square("{0,1}"), square("{1,0}"), call('{"b":1, "a":2}'), call('{b = "x, y", a = 1 : i32}', False),
    parse("ENTRY e { x = f32[2,3]{1,0} parameter(0)  ROOT y = f32[6]{0} bitcast(x) }"),
    parse("ENTRY e { x = f32[2,3]{0,1} parameter(0)  ROOT y = f32[3,2]{0,1} bitcast(x) }"),
    parse("ENTRY e { x = f32[2,1,3]{0,1,2} parameter(0)  ROOT y = f32[3,2]{1,0} bitcast(x) }")])
def test_a_round_trip_keeps_them(module):
    """A bitcast comes back as the transposes and reshapes that it is; a library is told the same."""
    assert is_one_expression(module, from_stablehlo(to_stablehlo(module)))
    assert same_up_to(module, from_stablehlo(to_stablehlo(module))) is not None


def test_the_report_says_which_layouts(tmp_path, capsys):
    for name, module in zip("ab", PAIRS["a bitcast that is a transpose"], strict=True):
        (tmp_path / name).write_text(hlotool.print_module(module))
    assert main(["diff", str(tmp_path / "a"), str(tmp_path / "b")]) == 1
    assert "layouts: f32[3,3]{1,0} to f32[3,3]{0,1} -> f32[3,3]{1,0} to f32[3,3]{1,0}" in capsys.readouterr().out
