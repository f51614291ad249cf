"""The rows of elementwise operations, all of a type in one module, against PJRT's CPU client."""

from __future__ import annotations

import numpy as np
import pytest
from cases import check_close

from hlotool.execution import execute
from hlotool.ir import DTYPES, Shape
from hlotool.ops import OPS, ConstraintError


def sample_values(element: str, count: int, seed: int) -> np.ndarray:
    """Edge values first, then random ones."""
    kind, generator = DTYPES[element], np.random.default_rng(seed)
    if kind.family == "pred":
        return generator.integers(0, 2, count).astype(bool)
    if kind.is_integral:
        edges = [0, 1, -1, 7, -(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1]
        return np.array([*edges, *generator.integers(-60, 60, count - len(edges))]).astype(kind.numpy)
    edges = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, np.inf, -np.inf, np.nan]
    if kind.is_complex:
        return (generator.normal(size=count) + 1j * generator.normal(size=count)).astype(kind.numpy)
    return np.array([*edges, *generator.normal(size=count - len(edges)) * 3]).astype(kind.numpy)


@pytest.mark.parametrize("element", ["f32", "bf16", "f64", "s32", "u8", "pred"])
def test_rows_agree_with_pjrt(element: str) -> None:
    """Every row of elementwise.py that takes the type, in one module, on PJRT's CPU client and in NumPy."""
    count, shape = 40, Shape.array(element, (40,))
    rows, lines = [], [f"x = {shape} parameter(0)", f"y = {shape} parameter(1)"]
    for opcode, record in OPS.items():
        if record.evaluate.__module__ != "hlotool.ops.elementwise":
            continue
        try:
            result = record.infer(*[shape] * len(record.operands), declared=None)
        except ConstraintError:
            continue
        lines.append(f"r{len(rows)} = {result} {opcode}({', '.join('xy'[:len(record.operands)])})")
        rows.append(record)
    names = ", ".join(f"r{i}" for i in range(len(rows)))
    text = "ENTRY main {\n" + "\n".join(lines) + f"\nROOT t = tuple({names})\n}}"
    arguments = [sample_values(element, count, 1), np.abs(sample_values(element, count, 2))]
    if DTYPES[element].is_integral:
        # XLA's CPU backend looks at six bits of an integer power's exponent; the specification wraps.
        arguments[1] = arguments[1] % np.asarray(50, arguments[1].dtype)
    ours, theirs = (execute(text, arguments, executor=name) for name in ("reference", "pjrt:cpu"))
    assert len(rows) > 5
    for record, mine, other in zip(rows, ours, theirs, strict=True):
        try:
            check_close(np.asarray(other), np.asarray(mine), record.ulps)
        except AssertionError as error:
            raise AssertionError(f"{record.opcode} of {element}: {error}") from error


@pytest.mark.parametrize(("ulps", "opcodes"), [
    (1, "abs divide"), (2, "sqrt"),
    (4, "acos acosh asin asinh cbrt cosine exponential exponential-minus-one log log-plus-one rsqrt sign sine"),
    (8, "atan2 erf logistic power tan tanh"), (32, "cosh sinh"), (128, "atanh")])
def test_how_far_an_executor_may_be_off(ulps: int, opcodes: str) -> None:
    """Units in the last place that verdicts allow one operation: more would hide faults, fewer would make some up."""
    assert {name: OPS[name].ulps for name in opcodes.split()} == dict.fromkeys(opcodes.split(), ulps)
