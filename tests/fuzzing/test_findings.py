"""The findings that are shipped: each bundle is small, is told of in the README, and shows what it says."""

from __future__ import annotations

import os
import pathlib
import re
import zipfile

import jaxlib
import pytest
from cases import bits

from hlotool.execution import Program, evaluate_program, read_array_file
from hlotool.reduction import WrongResult, read_bundle

FOLDER = pathlib.Path(__file__).parents[2] / "samples" / "findings"
BUNDLES = sorted(FOLDER.glob("*.zip"))
README = (FOLDER / "README.md").read_text("utf-8")


def held(path: pathlib.Path):
    return read_bundle(path.read_bytes(), path.name)


def stored(path: pathlib.Path, member: str) -> list[bytes]:
    """The arrays of a member of an archive."""
    with zipfile.ZipFile(path) as archive:
        return [bits(a) for a in read_array_file(archive.read(member), member).values()]


def test_the_page_tells_of_every_bundle_and_of_no_other() -> None:
    assert {p.stem for p in BUNDLES} == set(re.findall(r"^\| `(\w+)` \|", README, re.M))


@pytest.mark.parametrize("path", BUNDLES, ids=lambda p: p.stem)
def test_a_finding_is_small_and_its_verdict_is_the_references(path: pathlib.Path) -> None:
    """Fewer than five instructions, parameters aside; what was expected is what the reference gives today."""
    found = held(path)
    computing = [i for i in found.candidate.module.instructions() if i.opcode != "parameter"]
    assert len(computing) < 5 and len(found.candidate.module.computations) == 1
    if isinstance(found.test, WrongResult):
        (today,) = evaluate_program(Program(found.candidate.module), found.candidate.rows or [])
        expected, actual = stored(path, "expected.npz"), stored(path, "actual.npz")
        assert [bits(a) for a in today] == expected != actual


@pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="each starts a runtime, some end it")
@pytest.mark.skipif(jaxlib.__version__ != "0.10.2", reason="what other versions show is another page")
@pytest.mark.parametrize("path", BUNDLES, ids=lambda p: p.stem)
def test_a_finding_shows_again(path: pathlib.Path) -> None:
    found = held(path)
    assert found.sign in found.test.look(found.candidate).signs
