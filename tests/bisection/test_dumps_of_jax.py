"""The dump folders of real programs: XLA's CPU compiler is not blamed for what it may do."""

import os
import pathlib
import subprocess
import sys

import pytest

from hlotool.bisection import BisectOptions, judge_chain
from hlotool.dumps import read_folder

jax_programs = pytest.importorskip("jax_programs")
pytestmark = pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="minutes; HLOTOOL_NIGHTLY is not set")

_DUMP = """
import sys
import jax, jax_programs
function, described = jax_programs.PROGRAMS[sys.argv[1]]
jax.jit(function).lower(*[jax_programs.argument(t, n) for n, t in enumerate(described)]).compile()
"""


@pytest.mark.parametrize("name", jax_programs.PROGRAMS)
def test_no_pass_is_blamed(name, tmp_path):
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_dump_to={tmp_path} --xla_dump_hlo_pass_re=.*",
        "PYTHONPATH": str(pathlib.Path(jax_programs.__file__).parent)}
    subprocess.run([sys.executable, "-c", _DUMP, name], env=environment, check=True, capture_output=True)
    chains = [c for c in read_folder(tmp_path).chains if c.name == f"jit_{name}"]
    assert len(chains) == 1 and len(chains[0].dumps) > 20
    found = judge_chain(chains[0], BisectOptions())
    assert {p.changed_by: p.kind for p in found.passes if p.verdict not in ("equal", "agrees")} == {}
    assert sum(p.verdict == "equal" for p in found.passes) > len(found.passes) / 2
