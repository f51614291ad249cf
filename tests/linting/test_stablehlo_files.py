"""Findings about StableHLO sources name their files, and those of several files keep apart."""

from __future__ import annotations

import pathlib

import pytest

import hlotool
from hlotool.cli import main
from hlotool.passes.lints import RULES, Rule

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


def test_findings_about_arguments_functions_and_results_have_places(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.mlir").write_text("""module @m {
  func.func @main(%a: tensor<?xf32, #stablehlo.bounds<8>>,
                  %b: tensor<4xf32>) -> (tensor<?xf32, #stablehlo.bounds<8>>, tensor<?xf32, #stablehlo.bounds<8>>) {
    %0 = stablehlo.negate %a : tensor<?xf32, #stablehlo.bounds<8>>
    return %0, %0 : tensor<?xf32, #stablehlo.bounds<8>>, tensor<?xf32, #stablehlo.bounds<8>>
  }
}
""")
    found = hlotool.lint(hlotool.read(tmp_path / "a.mlir"), config={"select": ["W107", "W605"]})
    assert [(d.code, d.line, d.column) for d in found] == [("W605", 2, 19), ("W107", 5, 5)]


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.code)
def test_every_finding_of_every_rule_has_a_place(rule: Rule, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "bad.mlir"
    file.write_text(str(hlotool.to_stablehlo(hlotool.parse(rule.bad))))
    unplaced = [d for d in hlotool.lint(hlotool.read(file), config={"select": [rule.code]}, each=True) if not d.line]
    assert not unplaced
