"""Training steps at bf16, f16 and f8: no pass of an honest compilation is blamed, and that of a planted fault is."""

import os
import pathlib
import subprocess
import sys

import planted_passes
import pytest

from hlotool.bisection import BisectOptions, judge_chain
from hlotool.dumps import read_folder

training_steps = pytest.importorskip("training_steps")
#: one of them every day, for few sets of arguments; all at night
DAILY = ("quantised_mixed_lamb",)
NIGHTLY = pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="minutes; HLOTOOL_NIGHTLY is not set")
STEPS = [pytest.param(name, marks=[] if name in DAILY else [NIGHTLY]) for name in training_steps.STEPS]


@pytest.fixture(scope="session")
def dumps(tmp_path_factory):
    """Give the folder of a step's dumps."""
    home = tmp_path_factory.mktemp("steps")
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}

    def folder(name: str) -> pathlib.Path:
        if not (home / name).exists():
            subprocess.run([sys.executable, training_steps.__file__, str(home), name], env=environment, check=True,
                           capture_output=True)
        return home / name

    return folder


def judged(folder, name):
    chain, = (c for c in read_folder(folder).chains if c.name == "jit_step")
    return judge_chain(chain, BisectOptions(budget=1.0 if name in DAILY else 4.0))


@pytest.mark.parametrize("name", STEPS)
def test_no_pass_is_blamed(name, dumps):
    found = judged(dumps(name), name)
    assert {p.changed_by: p.kind for p in found.passes if p.verdict == "wrong"} == {}
    assert sum(p.verdict == "equal" for p in found.passes) > len(found.passes) / 2


@pytest.mark.parametrize("name", STEPS)
def test_the_pass_of_a_planted_fault_is_named(name, dumps, tmp_path):
    planted = next(p for seed in range(20) if (p := planted_passes.plant(dumps(name), tmp_path / "dumps", seed)))
    found = judged(tmp_path / "dumps", name)
    assert [pathlib.Path(p.after.path).name for p in found.wrong[:1]] == [planted.file], planted
    blame = found.wrong[0].blame
    if name not in DAILY and blame is not None:
        assert blame.place.instruction.name in (planted.instruction, *planted.holds), planted
