"""The documents' worked examples as programs on the reference, for the tests that run them.

What is no program stands in NOT_TRANSLATED with the reason.
"""

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
from hlotool.execution import arguments_for
from hlotool.execution import program as executable
from hlotool.execution.devices import Queues
from hlotool.execution.evaluate import evaluate_program
from hlotool.numerics import ulp_distance
from hlotool.passes.legalize import legalized

_REFUSAL = "Collapse refuses these dimensions when it builds; there is no HLO of it to refuse"
_SCHEDULES = ("a deadlock between the schedules of two programs, through sends that wait for their recv; "
              "a module has one program, and the reference's sends do not wait")
#: records that are no program, and why
NOT_TRANSLATED: dict[str, str] = {
    **{f"{d}.Collapse.{n}": _REFUSAL for d in ("ap", "zh", "en", "ko") for n in (7, 8)},
    **dict.fromkeys(("channel-deadlock-2", "en.Send.4", "ko.Send.4"), _SCHEDULES),
}
RECORDS = list(distinct(load())) if FOLDER.exists() else []
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
