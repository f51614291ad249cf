"""hlotool.diff: modules matched by structure, and the command."""

import json

import pytest

import hlotool
from hlotool.cli.main import main
from hlotool.passes.edit import clone_module
from hlotool.passes.equality import Aspects, Structure

MODEL = """HloModule model

sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
largest { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] maximum(a, b) }

ENTRY main {
  x = f32[2,4] parameter(0)
  w = f32[4,4] parameter(1)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  y = f32[2,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  top = f32[2] reduce(y, low), dimensions={1}, to_apply=largest
  tops = f32[2,4] broadcast(top), dimensions={0}
  d = f32[2,4] subtract(y, tops)
  e = f32[2,4] exponential(d)
  total = f32[2] reduce(e, zero), dimensions={1}, to_apply=sum
  totals = f32[2,4] broadcast(total), dimensions={0}
  ROOT r = f32[2,4] divide(e, totals)
}
"""


def changed(old, new):
    assert old in MODEL
    return hlotool.diff(MODEL, MODEL.replace(old, new))


def kinds(found):
    return sorted(c.kind for c in found.changes)


def parts(found):
    return {(p.name, p.left, p.right) for c in found.changes for p in c.parts}


def test_names_and_order_count_for_nothing():
    other = MODEL.replace("sum", "plus").replace("tops", "t").replace("  zero = f32[] constant(0)\n", "", 1).replace(
        "  x = f32[2,4]", "  zero = f32[] constant(0)\n  x = f32[2,4]")
    found = hlotool.diff(MODEL, other)
    assert found and found.is_equal and found.matched == 18
    assert not hlotool.diff(MODEL, other, names=True)


def test_an_opcode_in_a_called_computation():
    found = changed("ROOT s = f32[] add(a, b)", "ROOT s = f32[] multiply(a, b)")
    assert kinds(found) == ["changed"] and parts(found) == {("opcode", "add", "multiply")}
    assert found.changes[0].left_computation.name == "sum"


def test_an_opcode_between_two_matched_ends():
    assert parts(changed("exponential(d)", "tanh(d)")) == {("opcode", "exponential", "tanh")}


def test_an_attribute_and_a_shape():
    found = changed("low = f32[] constant(-inf)", "low = f32[] constant(0.5)")
    assert parts(found) == {("literal", "-inf", "0.5")}
    found = changed("tops = f32[2,4] broadcast(top), dimensions={0}", "tops = f32[2,4] broadcast(low), dimensions={}")
    assert {name for name, *_ in parts(found)} == {"dimensions", "operand 0"}


def test_swapped_operands():
    assert parts(changed("subtract(y, tops)", "subtract(tops, y)")) == {
        ("operand 0", "%y", "%tops"), ("operand 1", "%tops", "%y")}


def test_an_instruction_in_between():
    found = changed("  e = f32[2,4] exponential(d)", "  n = f32[2,4] negate(d)\n  e = f32[2,4] exponential(n)")
    assert kinds(found) == ["added", "changed"]
    [added] = [c for c in found.changes if c.kind == "added"]
    assert added.right.name == "n" and parts(found) == {("operand 0", "%d", "%n")}


def test_callees_that_change_places():
    found = hlotool.diff(MODEL, MODEL.replace("to_apply=sum", "to_apply=largest", 1))
    assert kinds(found) == ["changed", "removed computation"] and ("to_apply", "%sum", "%largest") in parts(found)


def test_dead_and_repeated_instructions_are_no_difference():
    found = changed("  ROOT r", "  dead = f32[2,4] negate(y)\n  again = f32[2,4] exponential(d)\n  ROOT r")
    assert found.is_equal and found.matched == 18


def test_random_numbers_are_drawn_as_often_as_written():
    one = """ENTRY e { z = f32[] constant(0)  o = f32[] constant(1)  a = f32[2] rng(z, o), distribution=rng_uniform
              b = f32[2] rng(z, o), distribution=rng_uniform  ROOT s = f32[2] add(a, b) }"""
    assert not hlotool.diff(one, one.replace("add(a, b)", "add(a, a)"))


def test_defaults_are_as_good_as_absent():
    one = "ENTRY e { x = f32[4] parameter(0)  ROOT s = f32[4] sort(x), dimensions={0}, to_apply=lt }"
    lt = "lt { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }\n"
    assert hlotool.diff(lt + one, lt + one.replace("to_apply", "is_stable=false, to_apply"))
    assert not hlotool.diff(lt + one, lt + one.replace("to_apply", "is_stable=true, to_apply"))


def test_layouts_and_ignored_attributes():
    one = "ENTRY e { x = f32[2,2]{1,0} parameter(0)  ROOT y = f32[2,2]{1,0} negate(x), backend_config=\"a\" }"
    assert hlotool.diff(one, one.replace("{1,0} neg", "{0,1} neg"))
    assert not hlotool.diff(one, one.replace("{1,0} neg", "{0,1} neg"), layouts=True)
    other = one.replace('"a"', '"b"')
    assert not hlotool.diff(one, other) and hlotool.diff(one, other, ignore=["backend_config"])


def test_headers():
    found = hlotool.diff(MODEL, MODEL.replace("HloModule model", "HloModule other, replica_count=2"))
    assert [(p.name, p.left, p.right) for p in found.header] == [("replica_count", "", "2")] and not found.changes


def test_control_dependencies():
    one = "ENTRY e { x = f32[] parameter(0)  a = f32[] negate(x)  ROOT b = f32[] exponential(x) }"
    found = hlotool.diff(one, one.replace("exponential(x)", "exponential(x), control-predecessors={a}"))
    assert parts(found) == {("control-predecessors", "", "%a")}


@pytest.mark.parametrize("opcode, other", [("add", "multiply"), ("negate", "abs"), ("exponential", "tanh")])
def test_every_single_change_is_found_where_it_is(opcode, other):
    """Whichever instruction of a chain changes, the structure differs, and the report is that one place."""
    rows = ["v0 = f32[3] parameter(0)", "w = f32[3] parameter(1)"]
    for n in range(1, 30):
        operands = (f"v{n - 1}", "w") if n % 3 == 0 else (f"v{n - 1}",)
        name = ("add", "negate", "exponential")[n % 3]
        rows.append(f"v{n} = f32[3] {name}({', '.join(operands)})")
    text = "ENTRY e {\n" + "\n".join(rows) + "\n}"
    module = hlotool.parse(text)
    for number, instruction in enumerate(module.entry.instructions):
        if instruction.opcode == opcode:
            copy = clone_module(module)
            copy.entry.instructions[number].opcode = other
            structure = Structure(Aspects())
            structure.add(module)
            structure.add(copy)
            assert structure.computations[module.entry] != structure.computations[copy.entry]
            found = hlotool.diff(module, copy)
            assert parts(found) == {("opcode", opcode, other)}
            assert [c.left.name for c in found.changes] == [instruction.name]


def test_command(tmp_path, capsys):
    (tmp_path / "a.hlo").write_text(MODEL)
    (tmp_path / "b.hlo").write_text(MODEL.replace("exponential(d)", "tanh(d)"))
    a, b = str(tmp_path / "a.hlo"), str(tmp_path / "b.hlo")
    assert main(["diff", a, a]) == 0
    assert main(["diff", a, b]) == 1
    assert "opcode: exponential -> tanh" in capsys.readouterr().out
    assert main(["diff", a, b, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["changes"][0]["left"]["line"] == 15 and not report["equal"]
    assert main(["diff", a, b, "--color", "always"]) == 1
    assert "\x1b[33m" in capsys.readouterr().out
    assert main(["diff", a, str(tmp_path / "none.hlo")]) == 2
    assert main(["diff", a]) == 2
    assert main(["diff", a, b, "--passes=nothing"]) == 2


def test_command_across_forms(tmp_path, capsys):
    (tmp_path / "a.hlo").write_text(MODEL)
    assert main(["convert", str(tmp_path / "a.hlo"), "-o", str(tmp_path / "a.mlir")]) == 0
    assert main(["diff", str(tmp_path / "a.hlo"), str(tmp_path / "a.mlir")]) == 0
    assert main(["diff", str(tmp_path / "a.mlir"), str(tmp_path / "a.mlir")]) == 0


@pytest.mark.parametrize(("left", "right", "is_same"), [
    ("f32[2147483647] constant(0)", "f32[2147483647] constant(0)", True),  # eight gigabytes, if it were written out
    ("f32[2147483647] constant(0)", "f32[2147483646] constant(0)", False),
    ("f32[3] constant({1,1,1})", "f32[3] constant({1,1,1.0})", True),
    ("f32[3] constant({1,1,1})", "f32[3] constant({1,1,2})", False),
    ("f32[2] constant({0,0})", "f32[2] constant(0)", True),
    ("f32[2] constant({0,-0})", "f32[2] constant(0)", False),
    ("s8[0] constant({})", "s8[0] constant({})", True),
])
def test_literals_are_told_by_their_bits(left: str, right: str, is_same: bool) -> None:
    one, other = (f"HloModule m\n\nENTRY e {{\n  ROOT c = {of}\n}}\n" for of in (left, right))
    assert (not hlotool.diff(one, other).changes) == is_same


def test_sets_of_control_predecessors_have_no_order() -> None:
    text = ("HloModule m\n\nENTRY e {\n  x = f32[] parameter(0)\n  a = f32[] sine(x)\n  b = f32[] cosine(x)\n"
            "  ROOT r = f32[] tanh(x), control-predecessors={a, b}\n}\n")
    assert not hlotool.diff(text, text.replace("{a, b}", "{b, a}")).changes
    assert hlotool.diff(text, text.replace("{a, b}", "{a}")).changes


@pytest.mark.parametrize("opcode", ["infeed", "rng-get-and-update-state"])
def test_a_repeated_effect_is_a_difference(opcode):
    """Reading twice is not reading once, though both instructions look alike."""
    row = {"infeed": "((f32[2], token[])) infeed(t)",
           "rng-get-and-update-state": "(u64[2]) rng-get-and-update-state(), delta=1"}[opcode]
    shape, call = row[1:].split(") ", 1)
    text = "ENTRY e {{ t = token[] after-all()  a = {0} {1}  {2}  ROOT r = ({0}, {0}) tuple(a, {3}) }}"
    twice = text.format(shape, call, f"b = {shape} {call}", "b")
    once = text.format(shape, call, "", "a")
    assert hlotool.diff(twice, twice) and not hlotool.diff(twice, once)
