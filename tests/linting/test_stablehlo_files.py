"""Findings about StableHLO sources name their files, and those of several files keep apart."""

from __future__ import annotations

import pathlib

import pytest

from hlotool.cli import main

PROGRAM = """module @m {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.transpose %a, dims = [0] : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


def test_findings_name_their_files(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "a.mlir", tmp_path / "b.mlir"]
    for file in files:
        file.write_text(PROGRAM)
    main(["lint", *map(str, files)])
    out = capsys.readouterr().out
    assert all(f"{file}:3:10" in out for file in files) and out.count("W111") == 2 and "<string>" not in out
