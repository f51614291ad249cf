"""Finding one's way in a module: names, opcodes, users, callers; what objects look like at the prompt."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.ir import BackendConfig, HloInstruction, Literal, Shape

TEXT = """HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0), metadata={op_name="x"}  z = f32[] constant(2.5)  y = f32[4] add(x, x)
          ROOT r = f32[] reduce(y, z), dimensions={0}, to_apply=sum }
"""
MODULE = hlotool.parse(TEXT)


def test_names_lead_to_computations_and_instructions():
    assert MODULE["e"] is MODULE.entry
    assert MODULE["e"]["r"] is MODULE.entry.root
    assert [c.name for c in MODULE] == ["sum", "e"]
    assert [i.name for i in MODULE["sum"]] == ["a", "b", "s"]
    with pytest.raises(KeyError):
        MODULE["nothing"]
    with pytest.raises(KeyError):
        MODULE["e"]["nothing"]


def test_instructions_are_found_by_opcode():
    assert [i.name for i in MODULE.find_all("add")] == ["s", "y"]
    assert [i.name for i in MODULE.entry.find_all("add", "constant")] == ["z", "y"]
    assert MODULE.find_all("dot") == []


def test_users_callers_and_parents():
    users = MODULE.entry.users()
    assert [u.name for u in users[MODULE["e"]["x"]]] == ["y", "y"]
    assert MODULE.entry.root not in users
    assert [i.name for i in MODULE.callers()[MODULE["sum"]]] == ["r"]
    assert MODULE.callers()[MODULE.entry] == []
    assert MODULE.parents()[MODULE["sum"]["s"]] is MODULE["sum"]


def test_objects_are_short_at_the_prompt():
    assert repr(MODULE) == "<HloModule m: 2 computations, 7 instructions>"
    assert repr(MODULE["e"]["x"]) == "<x = f32[4] parameter(0)>"
    assert repr(MODULE["e"]["z"]) == "<z = f32[] constant(2.5)>"
    assert repr(MODULE["e"]["y"]) == "<y = f32[4] add(x, x)>"
    assert repr(MODULE["e"]["x"].metadata) == '<metadata {op_name="x"}>'
    big = Literal(Shape.array("f32", (1000,)), text="{...}", is_elided=True)
    assert len(repr(big)) < 40
    assert repr(HloInstruction("c", "constant", Shape.array("f32"))) == "<c = f32[] constant(None)>"


@pytest.mark.parametrize(("text", "size"), [
    ("f32[2,3]", 24), ("s4[8]", 8), ("s4[7]{0:E(4)}", 4), ("pred[5]", 5), ("(f32[2], (u8[3], token[]))", 11),
    ("bf16[<=4]", 8), ("f32[?,3]", 12), ("c128[]", 16)])
def test_bytes_of_shapes(text, size):
    module = hlotool.parse(f"HloModule m\nENTRY e {{ ROOT x = {text} parameter(0) }}")
    assert module.entry.root.shape.nbytes == size


def test_configurations_are_json():
    assert BackendConfig('{"a": [1]}').json == {"a": [1]}
    with pytest.raises(ValueError):
        BackendConfig("opaque").json  # noqa: B018
