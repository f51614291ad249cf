"""Every worked example of the five documents, by id: verified, evaluated, and run on PJRT where it can be."""

from __future__ import annotations

import functools
from collections import deque
from typing import Any

import numpy as np
import pytest
import worked_devices  # noqa: F401 - registers its translators
from worked_examples import FOLDER, Record, distinct, load
from worked_programs import Program, translator

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import arguments_for, run_program, ulp_distance
from hlotool.execution import program as executable
from hlotool.execution.devices import Queues
from hlotool.execution.evaluate import evaluate_program
from hlotool.passes.legalize import legalized

if not FOLDER.exists():
    pytest.skip("the specification's examples are not here", allow_module_level=True)

_REFUSAL = "Collapse refuses these dimensions when it builds; there is no HLO of it to refuse"
_SCHEDULES = ("a deadlock between the schedules of two programs, through sends that wait for their recv; "
              "a module has one program, and the reference's sends do not wait")
#: records that are no program, and why
NOT_TRANSLATED: dict[str, str] = {
    **{f"{d}.Collapse.{n}": _REFUSAL for d in ("ap", "zh", "en", "ko") for n in (7, 8)},
    **dict.fromkeys(("channel-deadlock-2", "en.Send.4", "ko.Send.4"), _SCHEDULES),
}
RECORDS = list(distinct(load()))
TRANSLATED = [r for r in RECORDS if r.id not in NOT_TRANSLATED]


@functools.cache
def program_of(record_id: str) -> Program:
    record = next(r for r in TRANSLATED if r.id == record_id)
    translate = translator(record)
    assert translate is not None, f"nothing translates {record.op}"
    found = translate(record)
    found.arguments = found.arguments if found.arguments is not None else record.argument_arrays()
    found.expected = found.expected if found.expected is not None else record.expected_arrays()
    return found


def errors(text: str) -> list[Any]:
    """What verification says of the module, old forms rewritten: they are not at fault here."""
    try:
        module = legalized(hlotool.parse(text))
    except HloError as error:
        return list(error.diagnostics)
    return [d for d in hlotool.verify(module) if d.severity == "error"]


def runnable(text: str) -> executable.Program:
    return executable.Program(legalized(hlotool.parse(text)))


def arguments_of(example: Program, program: executable.Program) -> list[list[Any]]:
    return example.arguments if example.arguments is not None else [arguments_for(program)] * program.devices


def evaluated(record: Record, example: Program, program: executable.Program) -> list[Any] | None:
    """The rows of results on the reference; None for a record that says it fails, which it must then."""
    queues = [Queues(deque(example.infeed)) for _ in range(program.devices)]
    if record.is_error:
        with pytest.raises(HloError):
            evaluate_program(program, arguments_of(example, program), queues=queues)
        return None
    return evaluate_program(program, arguments_of(example, program), queues=queues)


def assert_equal(found: Any, expected: Any) -> None:
    """Integers exactly; floats to one ULP, with signs of zeros: some documents' decimals are no binary fractions."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape and found.dtype == expected.dtype, (found, expected)
    if found.dtype.kind == "f":
        assert np.max(ulp_distance(found, expected), initial=0) <= 1, (found, expected)
        zeros = expected == 0
        assert (np.signbit(found) == np.signbit(expected))[zeros].all(), (found, expected)
    else:
        np.testing.assert_array_equal(found, expected)


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
