"""`hlotool lint --fix`, `--diff`, `--rules` and `--explain` as commands."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from hlotool.cli import main
from hlotool.diagnostics import CODES
from hlotool.ops import OPS
from hlotool.passes.lints import RULES

BEFORE = """HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  dead = f32[2,3] tanh(x)
  t = f32[2,3] transpose(x), dimensions={0,1}
  ROOT y = f32[2,3] negate(t)
}
"""
AFTER = """HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2,3] negate(x)
}
"""
PING_PONG = """ENTRY main {
  x = f32[4] parameter(0)
  a = bf16[4] convert(x)
  b = f32[4] convert(a)
  ROOT y = f32[4] tanh(b)
}
"""
Captured = pytest.CaptureFixture[str]


def lint(*arguments: object) -> int:
    return main(["lint", "--no-config", *map(str, arguments)])


def test_fix_writes_the_file_and_reports_the_rest(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(BEFORE)
    path.chmod(0o640)
    assert lint("--fix", path) == 0
    assert path.read_text() == AFTER and path.stat().st_mode & 0o777 == 0o640
    assert "2 fixes made in 1 file" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.hlo"], "nothing is left beside it"
    before = path.stat().st_mtime_ns
    assert lint("--fix", path) == 0 and path.stat().st_mtime_ns == before, "what is in order is not written again"


def test_diff_writes_nothing(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(BEFORE)
    assert lint("--diff", path) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"--- {path}\n+++ {path}\n") and "\n-  dead = f32[2,3] tanh(x)\n" in out
    assert path.read_text() == BEFORE
    path.write_text(AFTER)
    assert lint("--diff", path) == 0 and not capsys.readouterr().out


def test_unsafe_fixes_are_made_only_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(PING_PONG)
    lint("--fix", path)
    assert path.read_text() == PING_PONG
    lint("--fix", "--unsafe-fixes", path)
    assert path.read_text() == "ENTRY main {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] tanh(x)\n}\n"


def test_what_is_suppressed_or_ignored_is_not_fixed(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo"
    text = BEFORE.replace("tanh(x)\n", "tanh(x)  // hlolint: disable=W103 reason=kept\n")
    path.write_text(text)
    lint("--fix", "--ignore", "W111", path)
    assert path.read_text() == text


def test_several_modules_in_a_file_and_line_ends_stay(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo"
    path.write_bytes(f"// first\n{BEFORE}\n// -----\n{BEFORE}".replace("\n", "\r\n").encode())
    lint("--fix", path)
    assert path.read_bytes() == f"// first\n{AFTER}\n// -----\n{AFTER}".replace("\n", "\r\n").encode()


@pytest.mark.parametrize("data", [b"\x08\x01\0\0\0", b"ML\xefR", b"module @m {}", gzip.compress(b"module @m {}")],
                         ids=["proto", "bytecode", "StableHLO", "compressed StableHLO"])
def test_only_hlo_text_is_fixed(tmp_path: Path, data: bytes, capsys: Captured) -> None:
    path = tmp_path / "m.hlo"
    path.write_bytes(data)
    assert lint("--fix", path) == 2
    assert "only HLO text" in capsys.readouterr().err and path.read_bytes() == data


def test_a_log_is_not_rewritten(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "log.txt"
    text = "".join(f"I0521 12:04:45.883483 1509 dump.cc:186] {row}\n" for row in BEFORE.splitlines())
    path.write_text(text)
    assert lint("--fix", path) == 2
    assert "C013" in capsys.readouterr().err and path.read_text() == text


def test_files_that_are_missing_do_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(BEFORE)
    assert lint("--fix", tmp_path / "none.hlo", tmp_path / "m.hlo") == 2
    assert (tmp_path / "m.hlo").read_text() == AFTER


# The catalogue.


def test_rules_as_json_have_everything(capsys: Captured) -> None:
    assert lint("--rules", "--format", "json") == 0
    entries = {e["code"]: e for e in json.loads(capsys.readouterr().out)}
    assert set(RULES) <= set(entries) and set(CODES) <= set(entries)
    assert {label for record in OPS.values() for label in record.constraints} <= set(entries)
    found = entries["W304"]
    assert (found["name"], found["category"], found["options"]) == ("narrow-reduction", "numerics", {"elements": 256})
    assert "ENTRY" in found["bad"] and found["severity"] == "warning" and found["default"] is True
    assert all(e["summary"] and e["severity"] in ("error", "warning", "info") for e in entries.values())
    assert entries["V264"]["severity"] == "warning" and entries["P090"]["severity"] == "info"


def test_rules_as_a_table(capsys: Captured) -> None:
    assert lint("--rules") == 0
    out = capsys.readouterr().out
    for rule in RULES.values():
        assert f"  {rule.code}  {rule.name} " in out
    assert "P011" in out and "undefined-operand" in out


@pytest.mark.parametrize(("word", "words"), [
    ("W111", ["identity-transpose", "Why:", "Bad:", "fix: yes"]), ("convert-ping-pong", ["W306", "--unsafe-fixes"]),
    ("W301", ["off by default"]), ("W205", ["bytes = 1048576"]), ("P001", ["unclosed-bracket"]),
    ("clamp-c1", ["a constraint of clamp"]), ("wrong-shape", ["V103"]),
])
def test_explain(word: str, words: list[str], capsys: Captured) -> None:
    assert lint("--explain", word) == 0
    out = capsys.readouterr().out
    assert all(w in out for w in words), out
    assert main(["explain", word]) == 0 and capsys.readouterr().out == out


def test_explain_suggests(capsys: Captured) -> None:
    assert lint("--explain", "identity-transpse") == 2
    assert "did you mean identity-transpose?" in capsys.readouterr().err


def test_nothing_to_check_is_a_mistake(capsys: Captured) -> None:
    assert lint() == 2
    assert "name files or folders" in capsys.readouterr().err


def test_a_fix_at_the_very_beginning_takes_all_of_it(tmp_path: Path) -> None:
    """What starts at the first character of a file is taken from there on."""
    path = tmp_path / "m.hlo"
    path.write_text("// hlolint: disable=W103\nHloModule m\n\nENTRY e {\n  x = f32[2] parameter(0)\n"
                    "  ROOT y = f32[2] negate(x)\n}\n")
    assert lint("--fix", "--unsafe-fixes", "--select", "ALL", path) == 0
    assert path.read_text().lstrip("\n").startswith("HloModule m\n")
