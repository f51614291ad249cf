"""The calls that the five documents write: each builds under its document, reads back as text, and lifts.

samples/worked/COVERAGE.md is made of the same calls: `python tests/documents_coverage.py` writes it.
"""

from __future__ import annotations

import json
import pathlib

import pytest
from documented_calls import DOCUMENTS, Call, built, comes_back, load, refusal
from documents_coverage import PATH, coverage

import hlotool

HISTORY = pathlib.Path(__file__).parents[3] / "shared" / "spec" / "history.json"
CALLS = list(load())
BUILT = [c for c in CALLS if not c.code]
REFUSED = [c for c in CALLS if c.code]


def in_chunks(calls: list[Call]) -> list[tuple[str, list[Call]]]:
    """The calls of an operation in a document, as one test."""
    found: dict[str, list[Call]] = {}
    for call in calls:
        found.setdefault(f"{call.document}-{call.operation}", []).append(call)
    return list(found.items())


@pytest.mark.parametrize(("name", "calls"), in_chunks(BUILT), ids=lambda v: v if isinstance(v, str) else "")
def test_documented_calls_build(name: str, calls: list[Call]) -> None:
    """Every call gives a module that verifies, and whose text is read as the same module."""
    for call in calls:
        module = built(call)
        errors = [d for d in hlotool.verify(module) if d.severity == "error"]
        # What is under way at the end of a module has nobody who awaits it yet.
        is_open = module.entry.root.opcode.endswith(("-start", "-update"))
        assert [d for d in errors if d.code != "V208" or not is_open] == [], call.text
        text = str(module)
        assert str(hlotool.parse(text)) == text, call.text


@pytest.mark.parametrize(("name", "calls"), in_chunks(REFUSED), ids=lambda v: v if isinstance(v, str) else "")
def test_documented_constraints_are_refused(name: str, calls: list[Call]) -> None:
    """What the document does not allow is refused under the code of that constraint."""
    for call in calls:
        error = refusal(call)
        assert error is not None, f"{call.document} allows {call.text}"
        assert call.code in [d.code for d in error.diagnostics], (call.text, str(error))


def test_messages_speak_of_the_function_that_was_called() -> None:
    """Also where it is built of others, which know their own names only, or is refused when the module is built."""
    for call in REFUSED:
        function = call.text.split("(")[0]
        if function.isidentifier() and not function.islower():
            error = refusal(call)
            assert error is not None and function in error.diagnostics[0].message, (call.text, str(error))


@pytest.mark.parametrize(("name", "calls"), in_chunks(BUILT), ids=lambda v: v if isinstance(v, str) else "")
def test_documented_calls_lift_and_come_back(name: str, calls: list[Call]) -> None:
    for call in calls:
        assert comes_back(call) == "", call.text


@pytest.mark.skipif(not HISTORY.exists(), reason="the specification's records are not here")
def test_every_operation_of_every_document_has_calls() -> None:
    rows = {(d, r["name"].replace(" ", "")) for r in json.loads(HISTORY.read_text()) for d, there in r["in"].items()
            if there}
    assert len(rows) == 454 and rows == {(c.document, c.operation) for c in BUILT}
    assert {c.document for c in CALLS} == set(DOCUMENTS.values())


def test_the_coverage_is_up_to_date() -> None:
    assert PATH.read_text("utf-8") == coverage(), "run `python tests/documents_coverage.py`"
