"""Every worked example of the five documents as builder code, in the semantics of its document.

PJRT runs the same programs in test_worked_examples.py, and every function in test_builder.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from builder_examples import MEANT_THEN, built
from worked_examples import FOLDER, Record
from worked_runs import NOT_TRANSLATED, TRANSLATED, assert_equal, evaluated, program_of

import hlotool
from hlotool.builder import XlaBuilder
from hlotool.diagnostics import HloError
from hlotool.execution import Program

if not FOLDER.exists():
    pytest.skip("the specification's examples are not here", allow_module_level=True)


@pytest.mark.parametrize("record", TRANSLATED, ids=lambda r: r.name)
def test_worked_example(record: Record) -> None:
    example = program_of(record.id)
    module = built(record, example)
    assert [d for d in hlotool.verify(module) if d.severity == "error"] == []
    if example.only_verified:
        return
    found = evaluated(record, example, Program(module))
    if found is None:
        return
    expected = example.expected
    if record.id in MEANT_THEN:
        expected = [[np.array(MEANT_THEN[record.id], np.float32)]]
    if expected is None:
        return
    for row, wanted in zip(found, expected, strict=True):
        for a, b in zip(row, wanted, strict=True):
            assert_equal(a, b)


@pytest.mark.parametrize("record_id", [i for i in NOT_TRANSLATED if "Collapse" in i])
def test_collapse_refuses(record_id: str) -> None:
    """What has no HLO because the builder refuses it."""
    year = {"ap": "2017", "zh": "2017", "en": "2018", "ko": "2022"}[record_id[:2]]
    b = XlaBuilder(semantics=year)
    with pytest.raises(HloError, match="B118"):
        b.Collapse(b.Parameter(0, "f32[4,2,3]"), [1, 0] if record_id.endswith("7") else [0, 2])
