"""`hlotool versions`: which StableHLO version a program needs, and what another one refuses."""

from __future__ import annotations

import json

import pytest

from hlotool.cli import main
from hlotool.mlir import read_program, write_stablehlo_artifact

TEXT = """module @m {
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf8E4M3FN>) -> tensor<4xf32> {
    %0 = stablehlo.tan %a : tensor<4xf32> loc("model.py":3:4)
    %1 = stablehlo.tan %0 : tensor<4xf32>
    %2 = stablehlo.convert %b : (tensor<4xf8E4M3FN>) -> tensor<4xf8E3M4>
    return %1 : tensor<4xf32>
  }
}
"""
HLO = "HloModule m\nENTRY e { a = f32[4] parameter(0)  ROOT t = f32[4] tan(a) }\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.mlir").write_text(TEXT)
    (tmp_path / "a.hlo").write_text(HLO)
    (tmp_path / "new.mlirbc").write_bytes(write_stablehlo_artifact(read_program(TEXT), (1, 9, 0)))
    (tmp_path / "plain.mlir").write_text("func.func @main(%a: tensor<i32>) -> tensor<i32> { return %a : tensor<i32> }")
    return tmp_path


def test_features_are_listed_with_their_versions(files, capsys) -> None:
    assert main(["versions", "a.mlir", "new.mlirbc", "plain.mlir"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "a.mlir: needs StableHLO 1.7.0",
        "  1.7.0   type f8E3M4 (1 operation)",
        "  1.4.0   operation tan (2 operations: model.py:3:4)",
        "new.mlirbc: needs StableHLO 1.7.0, written for 1.9.0",
        "  1.7.0   type f8E3M4 (1 operation)",
        "  1.4.0   operation tan (2 operations: model.py:3:4)",
        "plain.mlir: needs StableHLO 0.9.0",
    ]


def test_a_target_refuses_at_the_place(files, capsys) -> None:
    assert main(["versions", "a.mlir", "--target", "1.4.0"]) == 1
    said = capsys.readouterr()
    assert "a consumer of 1.4.0 does not read it" in said.out
    assert "StableHLO 1.4.0 has no type f8E3M4" in said.err and "a.mlir:5:" in said.err and "tan" not in said.err
    assert main(["versions", "new.mlirbc", "--target", "1.8.0"]) == 1
    said = capsys.readouterr()
    assert "written for StableHLO 1.9.0" in said.err and "hlotool convert --target 1.8.0" in said.err
    assert main(["versions", "new.mlirbc", "plain.mlir", "--target", "1.9.0"]) == 0
    assert capsys.readouterr().out.count("a consumer of 1.9.0 reads it") == 2


def test_hlo_is_looked_at_as_what_it_becomes(files, capsys) -> None:
    assert main(["versions", "a.hlo", "--format", "json"]) == 0
    [record] = json.loads(capsys.readouterr().out)
    assert record["needs"] == "1.4.0" and record["artifact"] is None
    assert [(f["kind"], f["operations"]) for f in record["features"]] == [("operation", 1)]


def test_what_cannot_be_read_is_reported(files, capsys) -> None:
    (files / "bad.mlirbc").write_bytes(b"ML\xefR\x0dStableHLO_v1.0.0\0")
    assert main(["versions", "bad.mlirbc", "plain.mlir"]) == 2
    said = capsys.readouterr()
    assert "R180" in said.err and "plain.mlir: needs" in said.out
    assert main(["versions", "a.mlir", "--target", "new"]) == 2
    assert "is no version" in capsys.readouterr().err


def test_operations_are_named_and_located_in_few_words(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.mlir").write_text(TEXT.replace('loc("model.py":3:4)', """\
loc("tan.1"(fused<"{op_name=\\22jit(f)\\22}">["jit(f)/tan"(callsite("f"("model.py":3:4) at "g"("model.py":9:1)))]))"""))
    assert main(["versions", "a.mlir"]) == 0
    assert "  1.4.0   operation tan (2 operations: tan.1 at model.py:3:4)" in capsys.readouterr().out.splitlines()
