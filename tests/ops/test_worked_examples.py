"""Every worked example of the five documents, by id: verified, evaluated, and run on PJRT where it can be."""

from __future__ import annotations

import numpy as np
import pytest
from worked_examples import FOLDER, Record
from worked_programs import translator
from worked_runs import (
    NOT_TRANSLATED,
    RECORDS,
    TRANSLATED,
    arguments_of,
    assert_equal,
    errors,
    evaluated,
    program_of,
    runnable,
)

from hlotool.execution import run_program
from hlotool.execution.evaluate import evaluate_program

if not FOLDER.exists():
    pytest.skip("the specification's examples are not here", allow_module_level=True)


def test_every_record_is_translated_or_listed() -> None:
    assert len(RECORDS) == 450
    assert NOT_TRANSLATED.keys() <= {r.id for r in RECORDS}
    assert [r.id for r in TRANSLATED if translator(r) is None] == []
    assert len(TRANSLATED) + len(NOT_TRANSLATED) == len(RECORDS)
    assert len(NOT_TRANSLATED) <= 11


@pytest.mark.parametrize("record", TRANSLATED, ids=lambda r: r.name)
def test_worked_example(record: Record) -> None:
    example = program_of(record.id)
    assert errors(example.text) == [], example.text
    for text in example.refused:
        assert errors(text), text
    if example.only_verified:
        return
    found = evaluated(record, example, runnable(example.text))
    if found is None or example.expected is None:
        return
    assert len(found) == len(example.expected), example.text
    for row, expected in zip(found, example.expected, strict=True):
        assert len(row) == len(expected), example.text
        for a, b in zip(row, expected, strict=True):
            assert_equal(a, b)


#: one record for each program: the documents repeat each other
DISTINCT = list({program_of(r.id).text + repr(program_of(r.id).arguments): r for r in TRANSLATED
                 if not program_of(r.id).only_verified and not program_of(r.id).only_reference}.values())


@pytest.mark.parametrize("record", DISTINCT, ids=lambda r: r.name)
def test_worked_example_on_pjrt(record: Record) -> None:
    """The values of the document where it gives any, else those of the reference."""
    example = program_of(record.id)
    program = runnable(example.text)
    arguments = arguments_of(example, program)
    found = run_program(program, arguments, "pjrt:cpu")
    expected = example.expected if example.expected is not None else evaluate_program(program, arguments)
    for row, wanted in zip(found, expected, strict=True):
        for a, b in zip(row, wanted, strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-5)
