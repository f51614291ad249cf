"""Each fuzzer for a short while, always with the same inputs; and every input that once brought a mistake to light.

For longer runs see run.py.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from fuzzing import CASES, Hang, fuzz, processor_time, smaller, try_input
from targets import NAMES, target

#: inputs of each target: some seconds in all; a night has more
_COUNT = 20_000 if os.environ.get("HLOTOOL_NIGHTLY") else 400
#: targets whose inputs cost more (a child to replace, a folder to make, a session with a server), by how much fewer of
#: them are tried
_DEAR = {"agents": 16, "bytecode": 16, "commands": 8, "dumps": 4, "lsp": 10, "states": 8}
_CASES = sorted(path for path in CASES.glob("*/*") if path.is_file())


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_read_or_refused(name: str) -> None:
    report = fuzz(target(name), seed=1, count=_COUNT // _DEAR.get(name, 1))
    for violation in report.violations.values():
        pytest.fail(f"{violation.place}\n{violation.detail}\n{violation.data[:3000]!r}")
    assert len(report.outcomes) > 1, f"the fuzzer of {name} sees one outcome only: {report}"


@pytest.mark.parametrize("path", _CASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_mended_stays_mended(path: Path) -> None:
    _, violation = try_input(target(path.parent.name), path.read_bytes())
    assert violation is None, violation.detail


class _Broken:
    """A target with an exception, a hang and a wrong result, each behind one letter."""

    name = "broken"

    def corpus(self) -> list[bytes]:
        return [b"abc\n" * 5]

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        return corpus[0] + rng.choice([b"", b"k", b"h", b"w"]) + b"\nend\n"

    def check(self, data: bytes) -> str:
        if b"k" in data:
            return {}[data]
        while b"h" in data:
            pass
        assert b"w" not in data, "wrong"
        return "read"


def test_the_frame_finds_what_there_is_to_find(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(try_input, "__defaults__", (0.05,))
    report = fuzz(_Broken(), seed=3, count=16)
    assert {place.split()[0] for place in report.violations} == {"KeyError", "Hang", "AssertionError"}
    again = fuzz(_Broken(), seed=3, count=16)
    assert {p: v.data for p, v in again.violations.items()} == {p: v.data for p, v in report.violations.items()}
    found = next(v for p, v in report.violations.items() if p.startswith("KeyError"))
    assert smaller(_Broken(), found) == b"k"


def test_a_hang_ends() -> None:
    with pytest.raises(Hang), processor_time(0.1):
        while True:
            pass
