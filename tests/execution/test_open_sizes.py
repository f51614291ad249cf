"""Arguments fix the sizes that parameters leave open."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import hlotool
from hlotool.cli import main
from hlotool.diagnostics import HloError

PROGRAM = """HloModule m

twice { a = f32[?,3] parameter(0)  ROOT s = f32[?,3] add(a, a) }

ENTRY e {
  p = f32[?,3] parameter(0)
  q = f32[3,2] parameter(1)
  c = f32[?,3] call(p), to_apply=twice
  ROOT d = f32[?,2] dot(c, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
ARGUMENTS = [np.arange(12, dtype=np.float32).reshape(4, 3), np.ones((3, 2), np.float32)]


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
def test_arguments_close_a_program(executor: str) -> None:
    (found,) = hlotool.execute(hlotool.parse(PROGRAM), ARGUMENTS, executor=executor)
    np.testing.assert_array_equal(found, 2 * ARGUMENTS[0] @ ARGUMENTS[1])


def test_files_of_arguments_close_a_program(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / f"{n}.npy" for n in range(2)]
    for file, array in zip(files, ARGUMENTS, strict=True):
        np.save(file, array)
    program = tmp_path / "open.hlo"
    program.write_text(PROGRAM)
    assert main(["run", str(program), "--executor", "reference", "--args", *map(str, files)]) == 0
    assert "f32[4,2]" in capsys.readouterr().out
    assert main(["run", str(program), "--executor", "reference"]) == 2
    assert "its size is not known" in capsys.readouterr().err


def test_arguments_of_other_sizes_are_refused() -> None:
    with pytest.raises(HloError, match=r"f32\[4,4\] is given for f32\[\?,3\]"):
        hlotool.execute(hlotool.parse(PROGRAM), [np.ones((4, 4), np.float32), ARGUMENTS[1]], executor="reference")
