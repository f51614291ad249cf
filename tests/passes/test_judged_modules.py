"""Modules that XLA's CPU compiler takes and hlotool refuses, judged one by one: who is right, and why.

They are the findings of severity error that the corpus of modules inside XLA's own tests leaves. Each stands with the
codes that it must keep giving; every other module that XLA compiles gives none.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hlotool

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"

_TEST = "XLA's own verifier refuses it, and its test says so; the compiler was asked without verifying"
#: module: the codes of its errors, and the judgement
JUDGED: dict[str, tuple[tuple[str, ...], str]] = {
    "service/hlo_verifier_test.cc#3": (("V201",), f"a call to another execution thread; {_TEST}"),
    "service/hlo_verifier_test.cc#15": (("V201",), f"a conditional with a branch of another thread; {_TEST}"),
    "service/hlo_verifier_test.cc#115": (("V222",), f"constrain_layout of all-reduces differs; {_TEST}"),
    "service/hlo_verifier_test.cc#126": (
        ("collective-permute-start-c4",), f"a start whose result is the operand's shape; {_TEST}"),
    "service/hlo_verifier_test.cc#129": (("compare-c5",), f"floats compared as unsigned; {_TEST}"),
    "service/hlo_verifier_test.cc#130": (("compare-c5",), f"signed integers compared as unsigned; {_TEST}"),
    "service/hlo_verifier_test.cc#131": (("compare-c5",), f"unsigned integers compared as signed; {_TEST}"),
    "service/hlo_verifier_test.cc#132": (("compare-c5",), f"predicates compared as signed; {_TEST}"),
    "service/hlo_verifier_test.cc#148": (("V201",), f"a while whose condition runs on another thread; {_TEST}"),
    "service/hlo_verifier_test.cc#154": (("V251",), f"a while and its body's root sharded differently; {_TEST}"),
    "service/hlo_verifier_test.cc#162": (("V110",), f"must-alias between memory spaces; {_TEST}"),
}


@pytest.fixture(scope="module")
def paths() -> dict[str, Path]:
    labels = CORPUS / "labels.jsonl"
    if not labels.exists():
        pytest.skip("the corpus is not part of the repository")
    return {r["id"]: CORPUS / r["path"] for r in map(json.loads, labels.read_text().splitlines())}


@pytest.mark.parametrize("name", JUDGED)
def test_judged(name: str, paths: dict[str, Path]) -> None:
    codes, reason = JUDGED[name]
    found = [d for d in hlotool.lint(paths[name].read_text()) if d.severity == "error"]
    assert tuple(sorted({d.code for d in found})) == codes, reason
