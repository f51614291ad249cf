"""The elementwise, movement, indexing and contraction operations: their samples, their constraints, the documents."""

from __future__ import annotations

import numpy as np
import pytest
from cases import Case, load_ops

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import execute, ulp_distance
from hlotool.ops import OPS

FAMILIES = {f"hlotool.ops.{name}" for name in (
    "elementwise", "choice", "conversion", "movement", "indexing", "gathering", "contraction", "convolution")}
OPCODES = {opcode for opcode, record in OPS.items() if record.evaluate.__module__ in FAMILIES}
CASES = load_ops(OPCODES)
GOOD = [c for c in CASES if not c.is_bad]
BAD = [c for c in CASES if c.is_bad]

#: constraints that no text can violate, because its syntax refuses the value already
REFUSED_BY_SYNTAX = {
    "compare-c4": "an unknown direction is P123", "convolution-c6": "malformed dim_labels are P120",
}


def check_close(found: np.ndarray, expected: np.ndarray, ulps: float) -> None:
    """Equal within a number of units in the last place; NaN equals NaN, and zeros keep their signs."""
    assert found.shape == expected.shape and found.dtype == expected.dtype
    if expected.dtype.kind in "iub" or expected.dtype.name.startswith(("int", "uint")):
        np.testing.assert_array_equal(found, expected)
        return
    distance = np.max(ulp_distance(found, expected), initial=0)
    assert distance <= ulps, f"{found} is {distance} ulps from {expected}"


@pytest.mark.parametrize("case", GOOD, ids=lambda c: c.id)
def test_good_sample(case: Case) -> None:
    module = hlotool.parse(case.text)
    assert [d for d in hlotool.verify(module) if d.severity == "error"] == []
    record = OPS[case.path.stem]
    found = execute(module, case.inputs(), executor="reference")
    for value, expected in zip(found, case.expected(), strict=True):
        check_close(np.asarray(value), expected, max(1, record.ulps))


@pytest.mark.parametrize("case", BAD, ids=lambda c: c.id)
def test_bad_sample(case: Case) -> None:
    found = [d for d in hlotool.lint(case.text) if d.severity == "error"]
    assert [d.code for d in found] == case.errors, case.text
    assert all(d.line > 0 and d.message for d in found)


def test_every_operation_has_samples() -> None:
    good, bad = ({c.path.stem for c in cases} for cases in (GOOD, BAD))
    assert sorted(OPCODES - good) == []
    assert sorted(OPCODES - bad) == []


def test_every_constraint_has_a_bad_sample() -> None:
    shown = {code for c in BAD for code in c.errors}
    declared = {label for opcode in OPCODES for label in OPS[opcode].constraints}
    assert sorted(declared - shown - set(REFUSED_BY_SYNTAX)) == []
    assert sorted(set(REFUSED_BY_SYNTAX) - declared) == []


@pytest.mark.parametrize("label", sorted(REFUSED_BY_SYNTAX))
def test_syntax_refuses(label: str) -> None:
    text = {
        "compare-c4": "ENTRY e { x = f32[2] parameter(0) ROOT r = pred[2] compare(x, x), direction=EQUAL }",
        "convolution-c6": "ENTRY e { x = f32[1,3,1] parameter(0) y = f32[2,1,1] parameter(1) "
                          "ROOT r = f32[1,2,1] convolution(x, y), window={size=2}, dim_labels=b0b_0io->b0f }",
    }[label]
    with pytest.raises(HloError):
        hlotool.parse(text)
