"""The passes of a compilation that we ask for ourselves."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import numpy as np
import pytest

import hlotool
from hlotool.bisection import judge_compilation
from hlotool.diagnostics import HloError
from hlotool.execution import Options, Program, executor_named

sys.path[:0] = [str(Path(__file__).parents[1] / "benchmarks")]

import bench_guilty_pass as bench  # noqa: E402

PUBLIC = Path(__file__).parents[3] / "shared" / "corpus" / "miscompiles" / "public"

QUOTIENTS = """HloModule quotients
ENTRY e { x = f32[] parameter(0)  y = f32[] parameter(1)  z = f32[] parameter(2)
  q = f32[] divide(x, y)  ROOT r = f32[] divide(q, z) }"""


def test_the_passes_of_one_compilation_after_another() -> None:
    module = hlotool.parse(QUOTIENTS)
    # 1e30 * 1e30 is infinite, so that the joined quotient is 0
    rows = [[np.float32(1e38), np.float32(1e30), np.float32(1e30)]]
    for _ in range(2):
        found = judge_compilation(module, rows)
        assert found is not None and [p.changed_by for p in found.wrong] == ["algsimp"]
    harmless = judge_compilation(module, [[np.float32(6), np.float32(2), np.float32(3)]])
    assert harmless is not None and len(harmless.passes) == len(found.passes)


def test_the_start_of_an_executor_is_not_dumped(tmp_path: Path) -> None:
    asked = executor_named("pjrt:cpu", Options(compile_options=(
        ("xla_dump_to", str(tmp_path)), ("xla_dump_hlo_as_text", True))))
    asked.close()
    asked.run(Program(hlotool.parse(QUOTIENTS)), [[[np.float32(1)] * 3]])
    names = {path.name.split(".")[1] for path in tmp_path.iterdir()}
    assert names == {"quotients"}


def test_an_option_that_the_compiler_does_not_have_is_refused() -> None:
    asked = executor_named("pjrt:cpu", Options(compile_options=(("xla_does_not_have_it", True),)))
    with pytest.raises(HloError) as raised:
        asked.run(Program(hlotool.parse(QUOTIENTS)), [[[np.float32(1)] * 3]])
    assert [d.code for d in raised.value.diagnostics] == ["E122"]
    assert "xla_does_not_have_it" in raised.value.diagnostics[0].message


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="needs the corpus")
@pytest.mark.skipif(importlib.metadata.version("jaxlib") != "0.10.2", reason="the records are of jaxlib 0.10.2")
def test_the_guilty_pass_of_public_miscompiles_is_named() -> None:
    found = [bench.named(PUBLIC, r) for r in bench.records(PUBLIC)]
    passes = [n for n in found if not n.wanted.startswith(bench.NOT_A_PASS)]
    assert sum(n.is_right for n in passes) >= 0.9 * len(passes), [n for n in passes if not n.is_right]
    assert all(n.is_right for n in found if n not in passes)
