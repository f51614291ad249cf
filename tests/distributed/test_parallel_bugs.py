"""Bugs of parallel training are found, and the line that makes them is named; the right programs are not accused."""

from __future__ import annotations

import os
import pathlib

import parallel_bugs
import parallel_programs
import pytest

import hlotool

pytest.importorskip("jax")
NIGHTLY = os.environ.get("HLOTOOL_NIGHTLY") == "1"
#: some where time is short, of different repairs
FEW = ("missing_all_reduce", "repeated_bias", "stage_order", "fused_split", "stale_gather", "embedding_mask",
       "auxiliary_loss")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a folder with the programs, written by a process with simulated devices."""
    return parallel_programs.written_by(parallel_bugs.__file__, tmp_path_factory.mktemp("bugs"), () if NIGHTLY else FEW)


@pytest.mark.parametrize("name", parallel_bugs.BUGS if NIGHTLY else FEW)
def test_a_bug_is_named(name: str, folder: pathlib.Path) -> None:
    whole, right, wrong = (hlotool.read(folder / f"{name}.{kind}.hlo") for kind in ("whole", "right", "wrong"))
    assert hlotool.isolate(whole, right, inputs=("random",)).is_clean
    found = hlotool.isolate(whole, wrong)
    assert found.parts is not None and found.parts.devices and found.place is not None
    origin = found.place.origin
    assert origin is not None and origin.file.endswith("parallel_bugs.py"), found.diagnostics[0]
    line = pathlib.Path(parallel_bugs.__file__).read_text().splitlines()[origin.line - 1]
    assert line.endswith("# bug"), (origin.line, found.diagnostics[0].message)


@pytest.mark.skipif(not NIGHTLY, reason="a search of all programs takes a minute")
@pytest.mark.parametrize("name", parallel_bugs.BUGS)
def test_the_right_program_agrees(name: str, folder: pathlib.Path) -> None:
    whole, right = (hlotool.read(folder / f"{name}.{kind}.hlo") for kind in ("whole", "right"))
    assert hlotool.compare(whole, right, time_budget=2.0).verdict == "agree"
