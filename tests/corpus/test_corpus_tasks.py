"""Each task gives what the command of its name gives for one module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from planted_tests import install_executors

import hlotool
from hlotool.cli import corpus_fuzz
from hlotool.cli.corpus import tasks
from hlotool.conformance import cases_of, sections
from hlotool.corpus import run_corpus
from hlotool.corpus.index_rows import _of_shape
from hlotool.process import close_children
from hlotool.stablehlo import program_text
from hlotool.text.input_files import inputs_of

SAMPLES = Path(__file__).parents[2] / "samples"
MODEL = SAMPLES / "models" / "fft_complex.hlo"
LARGE = "HloModule big\nENTRY e { x = f64[4294967296,4294967296] parameter(0)  ROOT n = f64[4294967296,4294967296] " \
        "negate(x) }\n"


def results(name: str, path: Path, out: Path, status: str = "ok", table: str = "") -> list[dict[str, Any]]:
    """The rows of a task's table, the last one where none is named."""
    task = tasks()[name]
    report = run_corpus(task, [str(path)], str(out), version="test")
    assert report.statuses == {status: 1}
    folder = out / (table or task.tables[-1].name)
    return [row for file in folder.iterdir() for row in pq.read_table(file).to_pylist()] if folder.exists() else []


def test_lint_gives_findings_of_what_is_wrong_and_what_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo"
    path.write_text("HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT n = f32[5] negate(x)\n}\n// -----\n"
                    "HloModule n\nENTRY e { ROOT x = f32[4] parameter }\n")
    found = results("lint", path, tmp_path / "out")
    assert {(row["module"], row["first_line"], row["line"], row["severity"]) for row in found} >= {
        ("m", 1, 4, "error"), ("", 6, 8, "error")}
    wanted = hlotool.lint(path.read_text().split("// -----")[0], each=True)
    assert sorted(row["code"] for row in found if row["module"] == "m") == sorted(d.code for d in wanted)


def test_cost_is_that_of_the_module(tmp_path: Path) -> None:
    [row] = results("cost", MODEL, tmp_path / "out")
    total, memory = hlotool.module_cost(hlotool.read(MODEL)).total, hlotool.peak_memory(hlotool.read(MODEL))
    assert (row["flops"], row["bytes_read"], row["peak_bytes"]) == (total.flops, total.bytes_read, memory.total)
    assert row["module"] == hlotool.read(MODEL).name and row["input"] == str(MODEL)


def test_sizes_beyond_what_a_column_holds_are_the_largest_of_it(tmp_path: Path) -> None:
    path = tmp_path / "large.hlo"
    path.write_text(LARGE)
    assert results("cost", path, tmp_path / "cost")[0]["peak_bytes"] == 2**63 - 1
    rows = results("index", path, tmp_path / "index")
    assert {row["bytes"] for row in rows} == {row["elements"] for row in rows} == {2**63 - 1}


def test_converted_programs_are_those_of_the_module(tmp_path: Path) -> None:
    [row] = results("convert", MODEL, tmp_path / "out")
    assert row["stablehlo"] == program_text(hlotool.to_stablehlo(hlotool.read(MODEL)))


def test_a_round_trip_has_its_stages(tmp_path: Path) -> None:
    [row] = results("roundtrip", MODEL, tmp_path / "out")
    assert dict(row["stages"]) == dict.fromkeys(("read", "print", "lift", "back", "same"), "ok")
    assert row["instructions"] > 10 and row["module"] == hlotool.read(MODEL).name


@pytest.mark.parametrize("name", ["conform", "roundtrip-run"])
def test_what_runs_modules_says_what_came_of_them(tmp_path: Path, name: str) -> None:
    path = tmp_path / "negate.hlo"
    path.write_text("// name: wrong\n// input: f32[2] {1, 2}\n// expect: f32[2] {-1, 2}\n"
                    "ENTRY e { x = f32[2] parameter(0)  ROOT n = f32[2] negate(x) }\n")
    [row] = results(name, path, tmp_path / "out")
    if name == "conform":
        assert (row["case"], row["executor"], row["status"]) == ("negate/wrong", "pjrt:cpu", "mismatch")
        assert row["ulps"] > 1 and "expected 2" in row["detail"]
    else:
        assert dict(row["stages"])["run"] == "ok" and row["worst_ulps"] == 0


def test_fuzz_keeps_what_it_sees_as_a_case_with_its_arguments(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_executors(tmp_path, monkeypatch)
    monkeypatch.setattr(corpus_fuzz, "_EXECUTOR", "wrong")
    text = "HloModule roots\nENTRY e { x = f32[4] parameter(0)  y = f32[4] multiply(x, x)  ROOT r = f32[4] sqrt(y) }\n"
    [given] = inputs_of(text.encode(), "roots.hlo")
    try:
        rows, again = list(corpus_fuzz.sightings(given)), list(corpus_fuzz.sightings(given))
    finally:
        close_children()
    assert rows == again
    (table, campaign), *found = rows
    outcomes = dict(campaign["outcomes"])
    assert table == "campaigns" and 0 < outcomes["seen"] == len(found) < campaign["programs"] == sum(outcomes.values())
    for table, row in found:
        assert table == "sightings" and row["module"] == "roots" and row["kind"] in ("wrong", "non-finite fold")
        [section] = sections(row["case"], "case.hlo")
        [case] = cases_of(section, "corpus", "case", "")
        assert case.arguments and "sqrt" in case.text


def test_fuzz_finds_nothing_in_what_is_right(tmp_path: Path) -> None:
    assert results("fuzz", MODEL, tmp_path / "out", table="sightings") == []
    [row] = results("fuzz", MODEL, tmp_path / "again", table="campaigns")
    assert row["programs"] == dict(row["outcomes"])["agrees"] + dict(row["outcomes"]).get("undecided", 0) > 4


def test_index_rows_are_of_the_module(tmp_path: Path) -> None:
    rows = results("index", MODEL, tmp_path / "out")
    module = hlotool.read(MODEL)
    assert {(r["computation"], r["name"], r["line"]) for r in rows} == {
        (c.name, i.name, module.position(i).line) for c in module for i in c}
    by_ordinal = {r["ordinal"]: r for r in rows}
    for r in rows:
        assert r["fed_by"] == sorted({by_ordinal[o]["opcode"] for o in r["operands"]})
    [file] = (tmp_path / "out" / "modules").iterdir()
    [row] = pq.read_table(file).to_pylist()
    assert row["name_blind"] == hlotool.fingerprint(module) and row["instructions"] == len(rows)
    assert dict(row["opcodes"])["fft"] == sum(r["opcode"] == "fft" for r in rows)


@pytest.mark.parametrize(("shape", "rank", "dims", "elements"), [
    ("f32[0,3]", 2, [0, 3], 0), ("f32[?,3]", 2, [-1, 3], None), ("f32[2,3]", 2, [2, 3], 6), ("f32[]", 0, [], 1),
    ("(f32[2])", None, None, None)])
def test_what_the_index_says_of_a_shape(shape: str, rank: int | None, dims: list[int] | None,
                                        elements: int | None) -> None:
    row = _of_shape(hlotool.parse(f"ENTRY e {{ ROOT x = {shape} parameter(0) }}").entry.root.shape)
    assert (row["shape"], row["rank"], row["dims"], row["elements"]) == (shape, rank, dims, elements)
