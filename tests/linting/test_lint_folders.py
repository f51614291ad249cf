"""Folders of dumps: what their names say, what is no HLO, several processes, and which pass introduced what."""

from __future__ import annotations

import argparse
import io
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from hlotool.cli import main
from hlotool.cli.inputs import module_of
from hlotool.diagnostics import Diagnostic, Origin
from hlotool.dumps import chains_of, dumps_of, sort_folder
from hlotool.ir import HloModule
from hlotool.linting import FileFindings, LintJob, Settings, SourceTexts, introduced, lint_each
from hlotool.text.input_files import Input


def text_of(*lines: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"HloModule jit_f\n\nENTRY %main (a: f32[8]) -> f32[8] {{\n  %a = f32[8]{{0}} parameter(0)\n{body}\n}}\n"


ROOT = "ROOT %r = f32[8]{0} negate(%a)"
#: a dump in which a pass leaves one dead instruction that another removes, and one that stays
DUMP = {
    "before_optimizations": text_of("%d.1 = f32[8]{0} copy(%a)", ROOT),
    "0000.first.after_pipeline-start.before_algsimp": text_of("%d.1 = f32[8]{0} copy(%a)", ROOT),
    "0001.first.after_algsimp.before_cse":
        text_of("%new.1 = f32[8]{0} add(%a, %a)", "%stays = f32[8]{0} multiply(%a, %a)", "%d.1 = f32[8]{0} copy(%a)",
                ROOT),
    "0002.first.after_layout-assignment.before_dce":
        text_of("%new.2 = f32[8] add(%a, %a)", "%stays = f32[8] multiply(%a, %a)", "%d.9 = f32[8] copy(%a)", ROOT),
    "0003.first.after_dce.before_pipeline-end": text_of("%stays = f32[8]{0} multiply(%a, %a)", ROOT),
    "cpu_after_optimizations": text_of("%stays = f32[8]{0} multiply(%a, %a)", ROOT),
}


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "dump"
    path.mkdir()
    for stage, text in DUMP.items():
        (path / f"module_0007.jit_f.{stage}.txt").write_text(text)
    others = ("cpu_after_optimizations-buffer-assignment.txt", "cpu_after_optimizations-memory-usage-report.txt",
              "k.ir-no-opt.ll", "obj-file.k.o", "debug_options", "before_optimizations.hlo.pb",
              "before_optimizations.dot", "cpu_after_optimizations-live-range.txt")
    for other in others:
        (path / f"module_0007.jit_f.{other}").write_text("no HLO at all {{{\n")
    (path / "notes.txt").write_text("remember the milk\n")
    (path / "odd.bin").write_bytes(b"\x00")
    (path / "module_0007.jit_f").mkdir()
    (path / "module_0007.jit_f" / "module.mlir").write_text("module {}\n")
    return path


def test_what_is_no_hlo_is_skipped_and_said(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = sort_folder(str(folder))
    assert found.is_dump and len(found.files) == len(DUMP)
    assert found.skipped == {
        "buffer assignment": 1, "memory usage": 1, "LLVM IR": 1, "object files": 1, "options": 1, "graphs": 1,
        "the same modules as protobuf": 1, "live ranges": 1, "text that is no HLO": 1, "other files": 1,
        "StableHLO or MLIR of the same module": 1}
    assert main(["lint", "--no-config", "--select", "dead-instruction", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert "error" not in out and "in 6 files; " in err and "11 files skipped: " in err and "1 LLVM IR" in err
    assert main(["lint", "--no-config", "--exclude", "*between*,module_0007.jit_f.000?.*", str(folder)]) == 0
    assert "in 2 files; " in capsys.readouterr().err


def test_plain_folders_are_read_as_before(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["lint", "--no-config", str(tmp_path / "empty")]) == 2
    (tmp_path / "a.hlo").write_text("this is broken\n")
    (tmp_path / "b.txt").write_text(text_of(ROOT))
    (tmp_path / "c.txt").write_text("a letter\n")
    capsys.readouterr()
    assert main(["lint", "--no-config", "--format", "concise", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert "a.hlo" in out and "c.txt" not in out and "1 file skipped: 1 text that is no HLO" in err


def test_patterns(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    pattern = str(folder / "module_0007.jit_f.000*.txt")
    assert main(["lint", "--no-config", "--select", "dead-instruction", pattern]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("8 warnings in 4 files") and out.count("%new.1 = f32[8]{0} add") == 1
    assert main(["lint", "--no-config", str(folder / "none*.txt")]) == 2


def test_dumps_of_a_module_follow_the_compilation(folder: pathlib.Path) -> None:
    (chain,) = chains_of(dumps_of(sort_folder(str(folder)).files))
    assert chain.title == "module_0007.jit_f"
    assert [re.sub(r".*jit_f\.|\.txt", "", dump.path) for dump in chain.dumps] == list(DUMP)


# By pass


def test_by_pass(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["lint", "--no-config", "--select", "dead-instruction", "--by-pass", str(folder)]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert out.count("warning[") == 2, "what was there before, or was only renamed or laid out, is not introduced"
    assert "introduced by algsimp in first; removed by dce in first; absent in dump 0000" in out
    assert "introduced by algsimp in first; it stays to the last dump; absent in dump 0000" in out
    assert out.endswith("module_0007.jit_f: 6 dumps, 1 finding before the first pass\n"
                        "  introduced  stay  by\n           2     1  algsimp in first\n")
    assert main([*command, "--strict", "--format", "json"]) == 1
    records = json.loads(capsys.readouterr().out)
    assert {pathlib.Path(r["filename"]).name for r in records} == {
        "module_0007.jit_f.0001.first.after_algsimp.before_cse.txt"}


def findings(stage: str, *found: tuple[str, str, str]) -> FileFindings:
    """Findings of a dump: message, instruction, program."""
    diagnostics = [Diagnostic("W103", message, line=n + 1, origin=Origin("", op_name=program) if program else None)
                   for n, (message, _, program) in enumerate(found)]
    statements = [(name, f"%{name} = f32[2]{{0}} copy(%a)" if name else "") for _, name, _ in found]
    return FileFindings(f"d/module_0001.m.{stage}.txt", diagnostics, statements)


@pytest.mark.parametrize(("before", "after", "new"), [
    ([("x", "a", "")], [("y", "a", "")], 0),  # the same instruction
    ([("x", "a.1", "")], [("y", "a.2", "")], 0),  # the same statement, numbered anew
    ([("f32[2]{0} x.1", "a", "")], [("f32[2]{1:T(8)} x.3", "b", "")], 0),  # the same message
    ([("x", "a", "jit(f)/add")], [("y", "b", "jit(f)/add")], 0),  # of the same line of the program
    ([("x", "a", "")], [("y", "b", "")], 1),
    ([("x", "a", "")], [("x", "a", ""), ("x", "a.1", "")], 1),  # one of them stands for one
    ([("x", "a", ""), ("x", "b", "")], [("x", "b", "")], 0),
    ([], [("x", "", "")], 1),
])
def test_findings_are_recognised_in_the_next_dump(before: list[tuple[str, str, str]], after: list[tuple[str, str, str]],
                                                  new: int) -> None:
    (result,) = introduced([findings("before_optimizations", *before), findings("after_optimizations", *after)])
    assert (result.before, len(result.diagnostics)) == (len(before), new)


def test_one_dump_alone_has_no_passes() -> None:
    assert list(introduced([findings("before_optimizations", ("x", "a", ""))])) == []


def test_by_pass_of_names_of_other_backends(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The dump of another target is the end of its chain: lint and lint --by-pass agree about it."""
    (tmp_path / "module_0001.jit_f.before_optimizations.txt").write_text(text_of(ROOT))
    (tmp_path / "module_0001.jit_f.gfx942_gpu_after_optimizations.txt").write_text(
        text_of("%d.1 = f32[8]{0} copy(%a)", ROOT))
    command = ["lint", "--no-config", "--select", "dead-instruction", str(tmp_path)]
    for options in ([], ["--by-pass"]):
        main([*command, *options])
        assert capsys.readouterr().out.count("warning[") == 1


@pytest.mark.parametrize("name", ["step.hlo", "module_0001.jit_f.fusion.3.hlo", "module_0009.jit_g.hlo_proto.txt",
                                  "module_0008.jit_h.before_optimizations.txt"])
def test_by_pass_keeps_the_findings_of_files_that_belong_to_no_chain(
        name: str, folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / name).write_text(text_of("%d.1 = f32[8]{0} copy(%a)", ROOT))
    main(["lint", "--no-config", "--select", "dead-instruction", "--by-pass", "--format", "concise", str(folder)])
    assert capsys.readouterr().out.count(name) == 1


# Processes


def test_processes_find_the_same(folder: pathlib.Path) -> None:
    files = sort_folder(str(folder)).files
    job = LintJob(Settings(), module_of, with_statements=True)
    found = [dict(lint_each(files, job, jobs)) for jobs in (1, 2)]
    here, there = ([each[file] for file in files] for each in found)
    assert [(f.filename, f.diagnostics, f.statements) for f in here] \
        == [(f.filename, f.diagnostics, f.statements) for f in there]
    assert any(f.diagnostics for f in there)
    texts = SourceTexts(there)
    assert all(texts[f.filename].text == pathlib.Path(f.filename).read_text() for f in there if f.diagnostics)


def _dies(given: Input) -> HloModule:
    if "after_algsimp" in given.filename:
        os._exit(9)
    return module_of(given)


def _fails(given: Input) -> HloModule:
    if "after_algsimp" in given.filename:
        raise RecursionError("too deep")
    return module_of(given)


@pytest.mark.parametrize(("reader", "jobs", "code"), [(_dies, 2, "C021"), (_fails, 2, "C020"), (_fails, 1, "C020")])
def test_a_file_that_fails_costs_that_file(reader: object, jobs: int, code: str, folder: pathlib.Path) -> None:
    files = sort_folder(str(folder)).files
    found = dict(lint_each(files, LintJob(Settings(), reader), jobs))  # type: ignore[arg-type]
    results = [found[file] for file in files]
    assert [f.filename for f in results] == files
    failed = [f.filename for f in results if any(d.code == code for d in f.diagnostics)]
    assert [pathlib.Path(f).name for f in failed] == ["module_0007.jit_f.0001.first.after_algsimp.before_cse.txt"]


def test_progress_is_shown_on_a_terminal_only(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, is_shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        main(["lint", "--no-config", "--format", "json", str(folder)])
        assert ("/6" in stream.getvalue()) == is_shown


def test_stages_have_settings_of_their_own(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "hlotool.toml").write_text("""
select = ["dead-instruction"]
[[overrides]]
stages = ["between_passes", "before_optimizations"]
ignore = ["ALL"]
""")
    assert main(["lint", "--format", "concise", "--strict", str(folder)]) == 1
    assert re.findall(r"jit_f\.(\w+)\.", capsys.readouterr().out) == ["cpu_after_optimizations"]


# What XLA writes


def test_a_real_dump(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every file that XLA writes is HLO that reads and verifies, or is known to be something else."""
    program = "import jax, jax.numpy as np; jax.jit(lambda x: np.tanh(x @ x).sum() / 2)(np.ones((4, 4)))"
    flags = (f"--xla_dump_to={tmp_path / 'dump'} --xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_text "
             "--xla_dump_hlo_as_proto")
    subprocess.run([sys.executable, "-c", program], check=True,
                   env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}, capture_output=True)
    folder = sort_folder(str(tmp_path / "dump"))
    groups = {chain.title: chain.dumps for chain in chains_of(dumps_of(folder.files))}
    assert sum(map(len, groups.values())) == len(folder.files) and any("lambda" in name for name in groups)
    assert "text that is no HLO" not in folder.skipped and "other files" not in folder.skipped
    assert main(["lint", "--no-config", "--by-pass", "--format", "concise", str(tmp_path / "dump")]) == 0
    assert "error" not in capsys.readouterr().out
    last = next(dumps for name, dumps in groups.items() if "lambda" in name)
    assert (last[0].name.stage, last[-1].name.stage) == ("before_optimizations", "after_optimizations")
    assert len(last) > 10


def test_arguments_that_folders_have() -> None:
    parser = argparse.ArgumentParser()
    from hlotool.cli.lint import add_arguments

    add_arguments(parser)
    assert parser.parse_args(["x", "-j", "3", "--by-pass"]).jobs == 3
