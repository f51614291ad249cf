"""Verification of modules and inference of shapes: each structural code with a bad text and its good neighbour."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.diagnostics import HloError
from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape

BODY = "ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT r = f32[2] negate(x)\n}\n"

#: code, line and text of the fault; the same text mended
FAULTS = [
    ("V101", 3, BODY.replace("negate", "nagate"), BODY),
    ("V102", 3, BODY.replace("(x)", "(x), dimensions={0}"), BODY),
    ("V103", 3, BODY.replace("ROOT r = f32[2]", "ROOT r = f32[3]"), BODY),
    ("V107", 2, BODY.replace("parameter(0)", "parameter(1)"), BODY),
    ("V109", 3, "HloModule m, entry_computation_layout={(f32[3]{0})->f32[2]{0}}\n" + BODY,
     "HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n" + BODY),
    ("V109", 1, "HloModule m, entry_computation_layout={()->f32[2]{0}}\n" + BODY, BODY),
    ("V110", 1, "HloModule m, input_output_alias={ {}: (1, {}, may-alias) }\n" + BODY,
     "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n" + BODY),
    ("V111", 1, "HloModule m, buffer_donor={ (0, {1}) }\n" + BODY, "HloModule m, buffer_donor={ (0, {}) }\n" + BODY),
    ("V113", 2, BODY.replace("f32[2] parameter", "f32[2]{1} parameter"), BODY),
    ("V114", 3, BODY.replace("(x)", "(x), sharding={devices=[2]0,0}"),
     BODY.replace("(x)", "(x), sharding={devices=[2]0,1}")),
    ("V114", 3, BODY.replace("(x)", "(x), sharding={devices=[2,2]<=[4]}"), BODY),
    ("negate-operands", 3, BODY.replace("(x)", "(x, x)"), BODY),
]


def errors(text: str) -> list[tuple[str, int]]:
    return [(d.code, d.line) for d in hlotool.lint(text) if d.severity == "error"]


@pytest.mark.parametrize(("code", "line", "bad", "good"), FAULTS, ids=lambda v: "" if "\n" in str(v) else str(v))
def test_fault(code: str, line: int, bad: str, good: str) -> None:
    assert errors(bad) == [(code, line)]
    assert errors(good) == []


def test_one_fault_is_reported_once() -> None:
    """What uses a wrong value, and who calls its computation, is not reported again."""
    text = """
f {
  a = f32[2] parameter(0)
  b = f32[3] exponential(a)
  ROOT c = f32[4] add(b, b)
}
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[4] call(x), to_apply=f
  z = f32[2] slice(x), slice={[0:3]}
  ROOT t = (f32[4], f32[2]) tuple(y, z)
}
"""
    assert errors(text) == [("V103", 4), ("slice-c3", 10)]


def test_messages_name_values_and_point() -> None:
    found = hlotool.lint(BODY.replace("ROOT r = f32[2]", "ROOT r = f32[3]"))[0]
    assert found.message == "negate gives f32[2], but f32[3] is written"
    assert (found.line, found.column, found.end_column) == (3, 12, 18)
    found = hlotool.lint(BODY.replace("(x)", "(x), dimension={0}"))[0]
    assert (found.line, found.column) == (3, 30)
    found = hlotool.lint(BODY.replace("negate", "negat"))[0]
    assert found.help == "did you mean negate?"


def test_built_modules_are_verified_too() -> None:
    """Faults that no text can hold: operands of other computations, cycles, recursion, no instructions."""
    shape = Shape.array("f32", (2,))
    stranger = HloInstruction("s", "parameter", shape)
    ring = HloInstruction("r", "negate", shape)
    ring.operands = (ring,)
    odd = HloInstruction("n", "negate", shape, (stranger,))
    module = HloModule("m", [HloComputation("e", [ring, odd], odd), HloComputation("empty", [])])
    module.entry = module.computations[0]
    assert {"V105", "V106", "V115"} <= {d.code for d in hlotool.verify(module)}


def test_recursion() -> None:
    module = hlotool.parse("f { a = f32[] parameter(0) ROOT b = f32[] negate(a) }\n"
                           "ENTRY e { x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=f }")
    module.computations[0].root.attributes = module.entry.root.attributes
    module.computations[0].root.opcode = "call"
    assert "V108" in {d.code for d in hlotool.verify(module)}


def test_profiles() -> None:
    with pytest.raises(ValueError, match="profile is 'loose'"):
        hlotool.verify(hlotool.parse(BODY), profile="loose")


@pytest.mark.parametrize(("line", "shape"), [
    ("add(x, x)", "f32[4,<=6]{1,0}"), ("dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}", "f32[4,4]"),
    ("compare(x, x), direction=EQ", "pred[4,<=6]{1,0}"), ("transpose(x), dimensions={1,0}", "f32[<=6,4]{0,1}"),
    ("concatenate(x, x), dimensions={1}", "f32[4,<=12]"), ("tuple(x, x)", "(f32[4,<=6]{1,0}, f32[4,<=6]{1,0})"),
    ("get-dimension-size(x), dimensions={1}", "s32[]"),
])
def test_shapes_are_inferred(line: str, shape: str) -> None:
    module = hlotool.parse(f"ENTRY e {{ x = f32[4,<=6]{{1,0}} parameter(0) ROOT r = {line} }}")
    assert str(module.entry.root.shape) == shape


@pytest.mark.parametrize("line", ["convert(x)", "reshape(x)", "bitcast(x)", "broadcast(x), dimensions={0}"])
def test_shapes_that_must_be_written(line: str) -> None:
    with pytest.raises(HloError) as caught:
        hlotool.parse(f"ENTRY e {{\n  x = f32[4] parameter(0)\n  y = {line}\n  ROOT z = negate(y)\n}}")
    assert [(d.code, d.line) for d in caught.value.diagnostics] == [("V104", 3)]
