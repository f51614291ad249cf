"""Names, keys and values of a file are data: none becomes HLO text, Python code or a computation of its own."""

from __future__ import annotations

import ast

import pytest

import hlotool
from hlotool.builder import run_python, to_python
from hlotool.diagnostics import HloError
from hlotool.ir import Attributes, Raw
from hlotool.text import check_writable, is_one_value

PROGRAM = """module @m attributes {HEADER} {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %arg0 {hlotool.lost = {LOST}} : tensor<2xf32>
    %1 = stablehlo.custom_call @TARGET(%0) {hlotool.lost = {OPAQUE}} : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
"""


def program(header: str = "", lost: str = "", opaque: str = "", target: str = "hlotool.opaque") -> str:
    filled = PROGRAM.replace("HEADER", header).replace("LOST", lost).replace("OPAQUE", opaque)
    return filled.replace("TARGET", target)


KEYS = ("z=__import__('os').system('true'),w", r"a}\0AENTRY evil", r"x\0A evil = f32[] parameter(7)\0A", "b c", "1",
        "x,y", r"metadata={}, evil", "%evil", r"x\22", "ROOT evil =")
VALUES = ("1, evil=2", r"1\0A evil = f32[] parameter(1)", "{", "}", "1)", r"\22", "", " ", "/*", "// evil",
          r"{}\0A}\0AENTRY evil {", r"{a\22}", "{a'}", r"{a\0A\22\0A}")


@pytest.mark.parametrize("key", KEYS)
def test_keys_are_no_text(key: str) -> None:
    text = program(f'hlotool.header = {{"{key}" = "1"}}', f'"{key}" = "1"', f'opcode = "a", "{key}" = "1"')
    _reads_as_it_is_written(hlotool.from_stablehlo(text))


@pytest.mark.parametrize("value", VALUES)
def test_values_are_no_text(value: str) -> None:
    text = program(f'hlotool.header = {{x = "{value}", is_scheduled = "{value}"}}',
                   f'x = "{value}", origin = "{value}", shape = "{value}", sharding = "{value}", to_apply = "{value}"',
                   f'opcode = "a{value}", direction = "{value}", to_apply = "@{value}"')
    _reads_as_it_is_written(hlotool.from_stablehlo(text))


@pytest.mark.parametrize("attribute", ["5 : i32", "[1]", '"x"', "{a = 5 : i32}", "unit",
                                       "{opcode = 5 : i32, shape = [1]}"])
def test_attributes_of_other_types(attribute: str) -> None:
    text = program(f"hlotool.header = {attribute}, hlotool.tables = {attribute}").replace(
        "hlotool.lost = {}", f"hlotool.lost = {attribute}")
    _reads_as_it_is_written(hlotool.from_stablehlo(text))


def test_rows_of_tables_are_rows() -> None:
    rows = r'hlotool.tables = {FileNames = ["1 \22a\22\0A evil = f32[] parameter(0)"], FunctionNames = []}'
    module = hlotool.from_stablehlo(program(rows))
    assert not module.tables
    _reads_as_it_is_written(module)


def test_elided_calls_take_no_parameter_away() -> None:
    module = hlotool.from_stablehlo(program(target="hlotool.elided").replace("(%0)", "(%arg0)"))
    assert [p.name for p in module.entry.parameters()] == ["Arg_0"]
    _reads_as_it_is_written(module)


@pytest.mark.parametrize("type_", ["tensor<f32>", "!stablehlo.token"])
def test_only_arrays_with_dimensions_are_elided(type_: str) -> None:
    module = hlotool.from_stablehlo(f"func.func @main() -> {type_} {{\n"
                                    f"%0 = stablehlo.custom_call @hlotool.elided() : () -> {type_}\n"
                                    f"return %0 : {type_}\n}}")
    assert module.entry.root.opcode == "custom-call"
    assert str(hlotool.parse(str(module))) == str(module)


def test_a_frontend_key_that_breaks_out_is_refused() -> None:
    with pytest.raises(HloError) as caught:
        hlotool.from_stablehlo(program(r'mhlo.frontend_attributes = {"a=\22b\22}\0AENTRY evil" = "c"}'))
    assert {d.code for d in caught.value.diagnostics} == {"R106"}


def _reads_as_it_is_written(module: hlotool.HloModule) -> None:
    text = str(module)
    again = hlotool.parse(text)
    assert str(again) == text
    assert [c.name for c in again.computations] == ["main"]
    assert len(list(again.instructions())) == len(list(module.instructions())) == 3
    code = to_python(module)
    assert {n.id for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Name)} <= {
        "XlaBuilder", "b", "build", "print", "__name__", *(i.name.replace("-", "_").replace(".", "_")
                                                           for i in module.instructions())}
    assert str(run_python(code, "m")) == text


NAMES = ("a b", "a\nb", "a'", 'a"', "a=b", "a(", "", "1a", "a,b", "é\x1b")


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_none(name: str) -> None:
    def changed(change):
        module = hlotool.parse("HloModule m\nENTRY e { x = f32[] parameter(0)  ROOT y = f32[] negate(x) }")
        change(module)
        with pytest.raises(HloError):
            check_writable(module)
        code = to_python(module)
        ast.parse(code)
        assert name not in ("x", "y")

    changed(lambda m: setattr(m.entry.root, "name", name))
    changed(lambda m: setattr(m.entry, "name", name))
    changed(lambda m: setattr(m.entry.root, "attributes", Attributes({name: Raw("1")})))
    changed(lambda m: setattr(m, "attributes", Attributes({name: Raw("1")})))


def test_one_value() -> None:
    assert all(is_one_value("x", t) for t in ("1", "{a={b}}", '"a, b=c"', "[1]<=[2]", "a->b", "(s32[], f32[2])"))
    assert not any(is_one_value("x", t) for t in ("1,2", "1 2", "1, y=2", "{", "{}}", '"', "1\n", "a/*", "", "a // b"))


@pytest.mark.parametrize("code", [
    "def build():\n    __import__('os')\n", "import os\ndef build(): return b.build()", "def build(): return open('x')",
    "def build(): return b.__class__", "def build(): return (lambda: 1)()", "def build(): return [x for x in y]",
    "def build(: pass", "@b.x\ndef build(): pass", "def build(): return 'a'.format(1)", "def build(): return b.x.y()"])
def test_code_that_is_more_than_calls_is_not_run(code: str) -> None:
    with pytest.raises(HloError) as caught:
        run_python(code, "m")
    assert caught.value.diagnostics[0].code == "B301"


ORDER = """module @m {
  func.func @main() -> tensor<f32> {
    %a = stablehlo.constant {hlotool.lost = {"control-predecessors" = "{%q}"}} dense<1.0> : tensor<f32> loc("a")
    %q = stablehlo.constant {hlotool.lost = {"control-predecessors" = "{AFTER}"}} dense<2.0> : tensor<f32> loc("q")
    %s = stablehlo.add %a, %q : tensor<f32>
    return %s : tensor<f32>
  }
}
"""


def test_what_waits_stands_behind_what_it_waits_for() -> None:
    module = hlotool.from_stablehlo(ORDER.replace("AFTER", "%none"))
    assert [i.name for i in module.entry.instructions][:2] == ["q", "a"]
    assert [p.name for p in module.entry.instructions[1].control_predecessors()] == ["q"]
    _reads_as_it_is_written(module)


def test_a_circle_of_waiting_is_refused() -> None:
    with pytest.raises(HloError) as caught:
        hlotool.from_stablehlo(ORDER.replace("AFTER", "%a"))
    assert "control predecessors" in str(caught.value) and caught.value.diagnostics[0].code == "X203"


def test_an_order_of_a_computation_is_no_python() -> None:
    module = hlotool.parse("c {\n  ROOT a = f32[] parameter(0)\n}\n\n"
                           "ENTRY e {\n  x = f32[] parameter(0)\n  ROOT r = f32[] call(x), to_apply=c\n}\n")
    called = module.computations[0]
    called.attributes = Attributes({"control-predecessors": (called.root,)})
    with pytest.raises(HloError) as caught:
        to_python(module)
    assert caught.value.diagnostics[0].code == "B002"


@pytest.mark.parametrize("name", ["num_partitions", "replica_count"])
def test_counts_beyond_what_a_program_holds(name: str) -> None:
    text = "HloModule m, NAME=COUNT\n\nENTRY e {\n  x = f32[] parameter(0)\n  ROOT r = f32[] negate(x)\n}\n"
    with pytest.raises(HloError) as caught:
        hlotool.to_stablehlo(hlotool.parse(text.replace("NAME", name).replace("COUNT", str(2**63 - 1))))
    assert name in str(caught.value)
    hlotool.to_stablehlo(hlotool.parse(text.replace("NAME", name).replace("COUNT", str(2**31 - 1))))
