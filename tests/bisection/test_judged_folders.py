"""Ordinary JAX programs: no pass of an honest compilation is blamed, and that of a planted fault is, and reduced.

At night the programs are compiled by the interpreters in HLOTOOL_PYTHONS, too (between commas), each with its jaxlib.
"""

import os
import sys

import pytest

judged_folders = pytest.importorskip("judged_folders")
drawn_programs, training_steps = judged_folders.drawn_programs, judged_folders.drawn_programs.training_steps
NIGHTLY = pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="minutes; HLOTOOL_NIGHTLY is not set")
#: judged every day, as they are and with a fault, for few sets of arguments; all at night
HONEST, PLANTED = "quantised_mixed_lamb", "drawn 1"
PYTHONS = [sys.executable, *filter(None, os.environ.get("HLOTOOL_PYTHONS", "").split(","))]
NAMES = dict.fromkeys([HONEST, PLANTED, *training_steps.STEPS, *map(str, range(60))])


def cases(daily):
    return [pytest.param(name, python, marks=[] if (name, number) == (daily, 0) else [NIGHTLY],
                         id=f"{name} {number or ''}".strip())
            for name in NAMES for number, python in enumerate(PYTHONS)]


def budget(name):
    return 1.0 if name in (HONEST, PLANTED) else 4.0


@pytest.fixture(scope="session")
def dumps(tmp_path_factory):
    """Give the folder of a program's dumps."""
    home = tmp_path_factory.mktemp("programs")

    def folder(name: str, python: str):
        made = home / f"{name}-{PYTHONS.index(python)}".replace(" ", "_")
        judged_folders.compiled(made, name, python)
        return made

    return folder


@pytest.mark.parametrize(("name", "python"), cases(HONEST))
def test_no_pass_is_blamed(name, python, dumps):
    found = judged_folders.judged_chain(dumps(name, python), budget(name))
    assert {p.changed_by: p.kind for p in found.passes if p.verdict == "wrong"} == {}
    assert sum(p.verdict == "equal" for p in found.passes) > len(found.passes) / 2


@pytest.mark.parametrize(("name", "python"), cases(PLANTED))
def test_the_pass_of_a_planted_fault_is_named_and_reduced(name, python, dumps, tmp_path):
    planted = judged_folders.planted_in(dumps(name, python), tmp_path / "dumps", 0)
    if planted is None:
        pytest.skip("no fault shows: the results depend on little")
    wrong = judged_folders.judged_chain(tmp_path / "dumps", budget(name)).wrong
    assert [judged_folders.named(w)[0] for w in wrong] == [planted.file], planted
    assert judged_folders.named(wrong[0])[1] in (None, planted.instruction, *planted.holds), planted
    if name == PLANTED:
        small = judged_folders.reduced(wrong[0])
        assert small.candidate.size <= judged_folders.FEW and small.last.seen
