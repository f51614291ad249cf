"""Every check of the table: the bad sample gives its code and nothing else, the good neighbour nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from built_modules import BUILT
from verifier_checks import Check, checks

import hlotool
from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.ir import HloModule
from hlotool.passes.verify import verify

TABLE = checks()
COVERED = [c for c in TABLE if c.code != "none"]
DOCUMENT = Path(__file__).parents[3] / "shared" / "spec" / "verifier_checks.md"


def findings(text: str, profile: str) -> list[Diagnostic]:
    """Errors and warnings about a module."""
    try:
        found = verify(hlotool.parse(text), profile)
    except HloError as error:
        found = error.diagnostics
    return [d for d in found if d.severity is not Severity.INFO]


@pytest.mark.parametrize("check", [c for c in COVERED if c.built], ids=lambda c: c.id)
def test_check_of_built_module(check: Check) -> None:
    build = BUILT[check.built]
    assert [d.code for d in verify(build(True), check.profile)] == [check.code], check.text
    assert verify(build(False), check.profile) == []


@pytest.mark.parametrize("check", [c for c in COVERED if c.call("-")], ids=lambda c: c.id)
def test_check_of_builder_call(check: Check) -> None:
    with pytest.raises(HloError) as caught:
        built_by(check, "-")
    assert [d.code for d in caught.value.diagnostics] == [check.code], check.text
    assert verify(built_by(check, "+")) == []


def built_by(check: Check, side: str) -> HloModule:
    """The module that a call of a builder with the check's parameters gives."""
    b = hlotool.XlaBuilder()
    values = {name: b.Parameter(i, shape, name) for i, (name, shape) in enumerate(check.parameters().items())}
    return b.build(eval(check.call(side), {"b": b, **values}))


@pytest.mark.parametrize("check", [c for c in COVERED if not c.built and not c.call("-")], ids=lambda c: c.id)
def test_check(check: Check) -> None:
    bad, good = check.module("-"), check.module("+")
    found = findings(bad, check.profile)
    assert [d.code for d in found] == [check.code], f"{check.text}\n{bad}\n" + "\n".join(map(str, found))
    assert all(d.line > 0 for d in found), f"no place: {found}"
    found = findings(good, check.profile)
    assert not found, f"good neighbour of {check.id}:\n{good}\n" + "\n".join(map(str, found))


def test_each_check_stands_in_the_table_once() -> None:
    ids = [c.id for c in TABLE]
    assert len(ids) == len(set(ids)), sorted(i for i in set(ids) if ids.count(i) > 1)
    assert all(c.reason for c in TABLE if c.code == "none"), "a check without a code says why"


def test_no_check_of_the_document_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    if not DOCUMENT.exists():
        pytest.skip("the document of checks is not part of the repository")
    wanted = re.findall(r"^\| ([A-Z]{3}\d{3}) \|", DOCUMENT.read_text(), re.M)
    with capsys.disabled():
        print(f"\n{len(COVERED)} of {len(wanted)} checks have a code, a bad sample and a good neighbour")
    assert sorted(set(wanted) - {c.id for c in TABLE}) == []
