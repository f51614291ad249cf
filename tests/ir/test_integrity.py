"""Modules that were made or changed: verification says what is broken, and printing refuses what would be another."""

from __future__ import annotations

import pathlib

import pytest

import hlotool
from hlotool.ir import (
    Attributes,
    BackendConfig,
    HloComputation,
    HloInstruction,
    Layout,
    Literal,
    Metadata,
    Raw,
    Shape,
    Sharding,
    flaws,
    is_sound,
)
from hlotool.text import TABLE_NAMES

TEXT = """HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0)  y = f32[4] negate(x)  z = f32[] constant(0)
          r = f32[] reduce(y, z), dimensions={0}, to_apply=sum
          ROOT t = (f32[4], f32[]) tuple(y, r) }
"""


def lone(x):
    return HloInstruction("lone", "negate", x.shape, (x,))


def with_attribute(instruction, name, value):
    instruction.attributes = Attributes({**instruction.attributes, name: value})


BREAKS = {
    "a root that is not listed": lambda m, c, i: setattr(c, "root", lone(i["x"])),
    "two instructions of one name": lambda m, c, i: setattr(i["y"], "name", "x"),
    "two computations of one name": lambda m, c, i: setattr(m.computations[0], "name", "e"),
    "users before operands": lambda m, c, i: c.instructions.reverse(),
    "an entry outside of the module": lambda m, c, i: setattr(m, "entry", HloComputation("o", [i["x"]], i["x"])),
    "no entry": lambda m, c, i: setattr(m, "entry", None),
    "an instruction listed twice": lambda m, c, i: c.instructions.insert(2, i["y"]),
    "a list of two computations": lambda m, c, i: m.computations.append(HloComputation("o", c.instructions, c.root)),
    "a name with spaces": lambda m, c, i: setattr(i["y"], "name", "a b"),
    "a name that escapes": lambda m, c, i: setattr(i["y"], "name", "y\x1b[31m"),
    "a name that begins with a digit": lambda m, c, i: setattr(i["y"], "name", "1y"),
    "a name that is a type": lambda m, c, i: setattr(i["y"], "name", "f32"),
    "a name with a comment": lambda m, c, i: setattr(c, "name", "e/*f*/"),
    "a name of other letters": lambda m, c, i: setattr(m.computations[0], "name", "\u00e9"),
    "a module's name with a percent sign": lambda m, c, i: setattr(m, "name", "%m"),
    "an attribute's name that is none": lambda m, c, i: with_attribute(i["y"], "a,b", Raw("1")),
    "an attribute of another type": lambda m, c, i: with_attribute(i["y"], "window", 1),
    "a truth value for a number": lambda m, c, i: with_attribute(i["x"], "parameter_number", True),
    "an unknown attribute that is no text": lambda m, c, i: with_attribute(i["y"], "mine", 1),
    "a word for sizes": lambda m, c, i: with_attribute(i["r"], "slice_sizes", "a b"),
    "text for numbers": lambda m, c, i: with_attribute(i["r"], "dimensions", Raw("{0}")),
    "text that ends elsewhere": lambda m, c, i: with_attribute(i["y"], "origin", Raw("}")),
    "text that is a comment": lambda m, c, i: with_attribute(i["y"], "origin", Raw("// x")),
    "a parameter without a number": lambda m, c, i: setattr(i["x"], "attributes", Attributes()),
    "a control predecessor that is none": lambda m, c, i: with_attribute(i["y"], "control-predecessors", 1),
    "an empty name": lambda m, c, i: setattr(i["y"], "name", ""),
    "a name that is no string": lambda m, c, i: setattr(i["y"], "name", 7),
    "a module's name of two lines": lambda m, c, i: setattr(m, "name", "a\nb"),
    "a removed control predecessor": lambda m, c, i: with_attribute(i["r"], "control-predecessors", (lone(i["x"]),)),
    "dimensions as text": lambda m, c, i: with_attribute(i["r"], "dimensions", "0"),
    "dimensions as a list": lambda m, c, i: with_attribute(i["r"], "dimensions", [0]),
    "dimensions of floats": lambda m, c, i: with_attribute(i["r"], "dimensions", (0.0,)),
    "a computation's name": lambda m, c, i: with_attribute(i["r"], "to_apply", "sum"),
    "a number as a literal": lambda m, c, i: with_attribute(i["z"], "literal", 5),
    "a parameter number as text": lambda m, c, i: with_attribute(i["x"], "parameter_number", "0"),
    "no operands": lambda m, c, i: setattr(i["y"], "operands", None),
    "names as operands": lambda m, c, i: setattr(i["y"], "operands", ("x",)),
    "no opcode": lambda m, c, i: setattr(i["y"], "opcode", None),
    "two words as an opcode": lambda m, c, i: setattr(i["y"], "opcode", "no op"),
    "metadata as text": lambda m, c, i: setattr(i["x"], "metadata", "here"),
    "attributes as text": lambda m, c, i: setattr(i["y"], "attributes", "none"),
}


def broken(change):
    module = hlotool.parse(TEXT)
    change(module, module.entry, {i.name: i for i in module.entry.instructions})
    return module


@pytest.mark.parametrize("case", BREAKS)
def test_what_is_broken_is_said_and_not_written(case):
    module = broken(BREAKS[case])
    found = hlotool.verify(module)
    assert found and {d.code for d in found} == {"V116"}
    with pytest.raises(hlotool.HloError) as caught:
        str(module)
    assert {d.code for d in caught.value.diagnostics} == {"R107"}


def test_a_shape_that_is_missing_is_an_error_that_text_can_hold():
    module = broken(lambda m, c, i: setattr(i["y"], "shape", None))
    assert [d.code for d in hlotool.verify(module)] == ["V116"]
    assert "y = negate(" in str(module).replace("%", "")


def test_an_operand_of_another_computation_is_not_written():
    module = broken(lambda m, c, i: setattr(i["y"], "operands", (m.computations[0].instructions[0],)))
    assert "V105" in [d.code for d in hlotool.verify(module)]
    with pytest.raises(hlotool.HloError):
        str(module)


def test_the_parts_of_an_operand_that_is_not_listed_do_not_end_verification():
    module = hlotool.parse(TEXT)
    x = module.entry.instructions.pop(0)
    x.shape, x.attributes = "f32[4]", Attributes({"parameter_number": b"0", "control-predecessors": ("a",)})
    assert {d.code for d in hlotool.verify(module)} == {"V105"}


def test_a_computation_of_nothing_is_not_written():
    module = broken(lambda m, c, i: m.computations.append(HloComputation("nothing")))
    assert [d.code for d in hlotool.verify(module)] == ["V115"]
    with pytest.raises(hlotool.HloError):
        str(module)


@pytest.mark.parametrize("case", ["operands", "predecessors"])
def test_circles_are_told_as_circles(case):
    def close(m, c, i):
        if case == "operands":
            i["y"].operands = (i["r"],)
        else:
            with_attribute(i["y"], "control-predecessors", (i["y"],))

    assert [d.code for d in hlotool.verify(broken(close))] == ["V106"]


def call_of_nothing_listed(m, c, i):
    m.computations.pop(0)


def recursion(m, c, i):
    with_attribute(i["r"], "to_apply", c)


def predecessor_behind(m, c, i):
    with_attribute(i["y"], "control-predecessors", (i["z"],))


def shared_tuple(m, c, i):
    # The parameter's number is an object that is right as dimensions.
    with_attribute(i["x"], "parameter_number", i["r"].attributes["dimensions"])


@pytest.mark.parametrize(("change", "code"), [(call_of_nothing_listed, "V216"), (recursion, "V108"),
                                              (predecessor_behind, "V116"), (shared_tuple, "V116")])
def test_calls_and_orders_that_text_cannot_hold_are_said_and_not_written(change, code):
    module = broken(change)
    assert code in {d.code for d in hlotool.verify(module)}
    with pytest.raises(hlotool.HloError) as caught:
        str(module)
    assert {d.code for d in caught.value.diagnostics} == {"R107"}


def test_a_parameter_of_an_unlisted_computation_may_lack_all_its_parts():
    module = broken(call_of_nothing_listed)
    callee = module.entry["r"].attributes["to_apply"]
    callee.instructions[0].attributes = Attributes()
    callee.instructions[1].shape = "f32[]"
    assert {d.code for d in hlotool.verify(module)} == {"V216"}


def test_attributes_shared_by_a_parameter_and_another_are_written_for_each():
    module = hlotool.parse("ENTRY e { ROOT p = f32[] parameter(0) }")
    shared = module.entry.root.attributes
    module.entry.instructions.insert(0, HloInstruction("q", "negate", module.entry.root.shape, (), shared))
    assert "p = f32[] parameter(0)\n" in str(module)


def test_a_whole_number_is_written_as_the_float_that_it_is_read_as():
    module = broken(lambda m, c, i: None)
    for value in (3, 2**40):
        with_attribute(module.entry["y"], "epsilon", value)
        assert str(hlotool.parse(str(module))) == str(module)
    with_attribute(module.entry["y"], "epsilon", 2**60 + 1)
    assert {d.code for d in hlotool.verify(module)} == {"V116"}


@pytest.mark.parametrize("path", sorted((pathlib.Path(__file__).parents[2] / "samples" / "models").glob("*.hlo")),
                         ids=lambda p: p.stem)
def test_what_is_read_is_sound(path):
    module = hlotool.parse(path.read_text("utf-8"))
    assert is_sound(module)
    assert list(flaws(module)) == []


def metadata(text):
    return lambda m, c, i: setattr(i["x"], "metadata", Metadata(text))


DEEP = {
    "a header's value of another type": lambda m, c, i: setattr(m, "attributes", Attributes(num_partitions="x")),
    "a header's name that is none": lambda m, c, i: setattr(m, "attributes", Attributes({"a b": Raw("1")})),
    "a header's raw value that ends elsewhere": lambda m, c, i: setattr(m, "attributes", Attributes(origin=Raw("}"))),
    "no attributes of the header": lambda m, c, i: setattr(m, "attributes", None),
    "attributes of a computation as a list": lambda m, c, i: setattr(c, "attributes", []),
    "a computation's thread as a number": lambda m, c, i: setattr(c, "attributes", Attributes(execution_thread=1)),
    "tables as a list": lambda m, c, i: setattr(m, "tables", []),
    "one table of four": lambda m, c, i: setattr(m, "tables", {"FileNames": ('1 "a"',)}),
    "rows that are none": lambda m, c, i: setattr(m, "tables", dict.fromkeys(TABLE_NAMES, ("evil",))),
    "a root that is a list": lambda m, c, i: setattr(c, "root", []),
    "a name that is a dict": lambda m, c, i: setattr(i["y"], "name", {}),
    "an opcode that is a list": lambda m, c, i: setattr(i["y"], "opcode", []),
    "metadata and an attribute behind it": metadata('{op_name="a"}, evil=1'),
    "metadata without braces": metadata('op_name="a"'),
    "metadata of an unknown field": metadata('{foo="a"}'),
    "a line that is no number": metadata("{source_line=x}"),
    "a name and metadata": lambda m, c, i: (setattr(i["x"], "metadata", 3), setattr(i["x"], "name", "a b")),
    "a configuration that ends elsewhere": lambda m, c, i: with_attribute(i["y"], "backend_config", BackendConfig("}")),
    "a sharding of no kind": lambda m, c, i: with_attribute(i["y"], "sharding", Sharding("evil")),
    "a sharding without a mesh": lambda m, c, i: with_attribute(i["y"], "sharding", Sharding("named")),
    "a word that is two": lambda m, c, i: with_attribute(i["y"], "direction", "a b"),
    "a number of many digits": lambda m, c, i: with_attribute(i["x"], "parameter_number", 10**400),
    "a literal without values": lambda m, c, i: with_attribute(i["z"], "literal", Literal(Shape("f32"))),
    "a scalar without its value": lambda m, c, i: with_attribute(
        i["z"], "literal", Literal(Shape("f32"), text="{...}", is_elided=True)),
    "a literal that is text only": lambda m, c, i: with_attribute(i["z"], "literal", Literal(Shape("f32"), text="1")),
    "a shape of no type": lambda m, c, i: setattr(i["y"], "shape", Shape("evil")),
    "more flags than dimensions": lambda m, c, i: setattr(i["y"], "shape", Shape("f32", (4,), None, (True, True))),
    "a buffer of nothing": lambda m, c, i: setattr(i["y"], "shape", Shape("buffer")),
    "a layout that ends elsewhere": lambda m, c, i: setattr(
        i["y"], "shape", Shape("f32", (4,), Layout((0,), dim_level_types=("D,}",)))),
}


@pytest.mark.parametrize("case", DEEP)
def test_what_is_broken_inside_is_said_and_not_written(case):
    module = broken(DEEP[case])
    # A word that no attribute of that name knows breaks a rule of its own, and so does an attribute of no header.
    own = {"a word that is two", "a header's raw value that ends elsewhere"}
    assert {d.code for d in hlotool.verify(module)} == {"V116", *(["V102"] if case in own else [])}
    with pytest.raises(hlotool.HloError) as caught:
        str(module)
    assert {d.code for d in caught.value.diagnostics} == {"R107"}


def test_metadata_of_another_type_is_not_made():
    with pytest.raises(TypeError):
        Metadata(3)


@pytest.mark.parametrize("name", ["f32", "pred"])
def test_words_of_the_language_are_no_names(name: str) -> None:
    module = hlotool.parse("HloModule m\nENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] negate(x) }")
    assert is_sound(module)
    module.entry.root.name = name
    assert not is_sound(module)


def test_what_depends_on_its_own_result_is_not_written() -> None:
    module = hlotool.parse("ENTRY e { x = f32[2] parameter(0)  a = f32[2] negate(x)  ROOT b = f32[2] negate(a) }")
    a = module.entry.root.operands[0]
    a.operands = (module.entry.root,)
    with pytest.raises(hlotool.HloError, match=r"cannot be written: [ab] depends on its own result"):
        hlotool.print_module(module)
