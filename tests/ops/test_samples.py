"""Every operation has a sample file, and every case of every file holds: values on the reference, codes of what is bad.

Operations and files find each other by name; nothing here lists them.
"""

from __future__ import annotations

import numpy as np
import pytest
from cases import SAMPLES, Case, check_close, load_ops

import hlotool
from hlotool.execution.evaluate import evaluate_program
from hlotool.execution.program import Program
from hlotool.ops import OPS

CASES = load_ops(set(OPS))
GOOD = [c for c in CASES if not c.is_bad]
BAD = [c for c in CASES if c.is_bad]


def test_operations_and_files_are_the_same() -> None:
    assert {p.stem for p in (SAMPLES / "ops").glob("*.hlo")} == set(OPS)


@pytest.mark.parametrize("opcode", OPS)
def test_every_operation_has_good_and_bad_cases(opcode: str) -> None:
    assert any(c.path.stem == opcode for c in GOOD)
    bad = {code for c in BAD if c.path.stem == opcode for code in c.errors}
    assert not OPS[opcode].constraints or bad, opcode


@pytest.mark.parametrize("case", GOOD, ids=lambda c: c.id)
def test_good_sample(case: Case) -> None:
    module = hlotool.parse(case.text)
    assert [d for d in hlotool.verify(module) if d.severity == "error"] == []
    found = evaluate_program(Program(module), [case.inputs(r) for r in range(case.replicas)])
    ulps = max(1.0, OPS[case.path.stem].ulps)
    for replica, results in enumerate(found):
        for value, expected in zip(results, case.expected(replica), strict=True):
            check_close(np.asarray(value), expected, ulps)


@pytest.mark.parametrize("case", BAD, ids=lambda c: c.id)
def test_bad_sample(case: Case) -> None:
    found = [d for d in hlotool.lint(case.text) if d.severity == "error"]
    assert [d.code for d in found] == case.errors, case.text
    assert all(d.line > 0 and d.message for d in found)
