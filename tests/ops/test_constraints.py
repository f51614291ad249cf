"""Labels of constraints: docstrings declare them, rules raise them, bad samples show them; the three sets are one."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from cases import load_ops

import hlotool
from hlotool.ir import HloComputation, HloInstruction, HloModule, Literal, Shape
from hlotool.ops import OPS

CASES = load_ops()
DECLARED = {label for record in OPS.values() for label in record.constraints}

_F = "x = f32[2] parameter(0)"
#: constraints that no text can break, for its syntax refuses the value: the code that it gives there, a text that
#: does, and attributes that break the constraint where a module is built
SYNTAX: dict[str, tuple[str, str, dict[str, object]]] = {
    "compare-c4": ("P123", f"{_F} ROOT r = pred[2] compare(x, x), direction=EQUAL", {"direction": "EQUAL"}),
    "convolution-c6": ("P120", "x = f32[1,1] parameter(0) ROOT r = f32[1,1] convolution(x, x), dim_labels=bb_io->bf",
                       {"dim_labels": "bb_io->bf"}),
    "triangular-solve-c6": (
        "P123", "x = f32[1,1] parameter(0) ROOT r = f32[1,1] triangular-solve(x, x), left_side=true, lower=true, "
        "transpose_a=TRANSPOSED", {"transpose_a": "TRANSPOSED", "left_side": True, "lower": True}),
    "fft-c1": ("P123", "x = c64[2] parameter(0) ROOT r = c64[2] fft(x), fft_type=DFT, fft_length={2}",
               {"fft_type": "DFT", "fft_length": (2,)}),
    "rng-c1": ("P123", "x = f32[] parameter(0) ROOT r = f32[2] rng(x, x), distribution=rng_even",
               {"distribution": "rng_even"}),
    "fusion-c1": ("P123", f"{_F} ROOT r = f32[2] fusion(x), kind=kFast, calls=f", {"kind": "kFast"}),
    "custom-call-c5": ("P123", f'{_F} ROOT r = f32[2] custom-call(x), custom_call_target="t", api_version=NEW',
                       {"custom_call_target": "t", "api_version": "NEW"}),
    "domain-c1": ("P121", f'{_F} ROOT r = f32[2] domain(x), domain={{kind="place", entry={{replicated}}, '
                          'exit={replicated}}', {}),
    "parameter-c2": ("P015", "ROOT r = parameter(0)", {}),
    "constant-c1": ("P111", "ROOT r = f32[2] constant({1, 2, 3})", {}),
}


def test_bad_samples_show_every_constraint() -> None:
    shown = {code for case in CASES for code in case.errors}
    assert sorted(DECLARED - shown - set(SYNTAX)) == []
    assert sorted(set(SYNTAX) & shown) == [] and set(SYNTAX) <= DECLARED


def test_rules_raise_only_what_is_declared() -> None:
    """Labels written out in the shape rules; those of families are made of the opcode."""
    raised = set()
    for module in {inspect.getmodule(record.evaluate) for record in OPS.values()}:
        assert module is not None
        raised |= set(re.findall(r'"([a-z][a-z0-9\-]*-c\d+)"', inspect.getsource(module)))
    assert len(raised) > 200
    assert sorted(raised - DECLARED) == []


def test_constraints_are_numbered_from_one() -> None:
    for opcode, record in OPS.items():
        assert list(record.constraints) == [f"{opcode}-c{n + 1}" for n in range(len(record.constraints))]


@pytest.mark.parametrize("opcode", list(OPS))
def test_operation_has_good_and_bad_samples(opcode: str) -> None:
    own = [case for case in CASES if case.path.stem == opcode]
    good = [case for case in own if not case.is_bad]
    assert good and len(good) < len(own), opcode
    assert [case.id for case in good if not any(key == "expect" for key, _, _ in case.directives)] == []


@pytest.mark.parametrize("label", SYNTAX)
def test_syntax_refuses_it_at_its_place(label: str) -> None:
    code, body, _ = SYNTAX[label]
    text = f"f {{ ROOT a = f32[2] parameter(0) }}\nENTRY e {{\n{body}\n}}\n"
    found = [d for d in hlotool.lint(text) if d.severity == "error"]
    assert [(d.code, d.line) for d in found] == [(code, 3)], found
    assert found[0].column > 1 and found[0].message


@pytest.mark.parametrize("label", [name for name, (_, _, given) in SYNTAX.items() if given])
def test_rule_refuses_it_in_built_modules(label: str) -> None:
    from hlotool.ir import ConvolutionDimensions

    opcode = label[:label.rindex("-c")]
    attributes = dict(SYNTAX[label][2])
    shape = Shape.array("c64" if opcode == "fft" else "f32", (1, 1) if opcode != "rng" else ())
    entry = HloComputation("e", [HloInstruction("x", "parameter", shape, (), {"parameter_number": 0})])
    if opcode == "fusion":
        inner = HloInstruction("p", "parameter", shape, (), {"parameter_number": 0})
        attributes["calls"] = HloComputation("f", [inner], inner)
    if opcode == "convolution":
        attributes["dim_labels"] = ConvolutionDimensions("bb", "io", "bf")
    x = entry.instructions[0]
    count = len(OPS[opcode].operands) - OPS[opcode].is_variadic or 1
    entry.instructions.append(HloInstruction("r", opcode, shape, (x,) * count, attributes))
    entry.root = entry.instructions[-1]
    module = HloModule("m", [*(c for c in (attributes.get("calls"),) if isinstance(c, HloComputation)), entry])
    module.entry = entry
    assert label in {d.code for d in hlotool.verify(module)}


def test_a_constant_is_what_its_literal_is() -> None:
    literal = Literal(Shape.array("f32", (3,)), np.zeros(3, np.float32))
    constant = HloInstruction("r", "constant", Shape.array("f32", (2,)), (), {"literal": literal})
    entry = HloComputation("e", [constant], constant)
    module = HloModule("m", [entry])
    module.entry = entry
    assert "constant-c1" in {d.code for d in hlotool.verify(module)}
