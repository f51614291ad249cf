"""Dump folders of several hosts: which modules are not the same, where they part, and what one host lacks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import jsonschema
import pytest

from hlotool.bisection import diff_folders, many_folders
from hlotool.cli import main
from hlotool.cli.report_format import schema_text
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import HloModule
from hlotool.stablehlo import module_of_input
from hlotool.text.input_files import inputs_of

MODULE = """HloModule jit_f

ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] negate(x), metadata={op_name="jit(f)/neg" source_file="model.py" source_line=3}
  z = f32[4] exponential(x)
  ROOT s = f32[4] add(y, z), metadata={op_name="jit(f)/add" source_file="model.py" source_line=5}
}
"""
DIFFERENT = MODULE.replace("add(y", "multiply(y").replace("source_line=5", "source_line=6")
RENAMED = MODULE.replace("y", "why").replace("jit_f", "jit_g").replace("model.pwhy", "model.py")
REORDERED = "\n".join(MODULE.split("\n")[n] for n in (0, 1, 2, 3, 5, 4, 6, 7, 8))
BEFORE, AFTER = "module_{:04}.jit_f.before_optimizations.txt", "module_{:04}.jit_f.cl_5.cpu_after_optimizations.txt"


def folder(root: Path, name: str, files: dict[str, str]) -> str:
    (root / name).mkdir()
    for file, text in files.items():
        (root / name / file).write_text(text)
    return str(root / name)


def read(data, name):
    return [module_of_input(i) for i in inputs_of(data, name)]


def test_what_is_the_same_under_other_names_numbers_and_in_another_order(tmp_path: Path) -> None:
    one = folder(tmp_path, "a", {BEFORE.format(3): MODULE, AFTER.format(3): MODULE, "module_0003.jit_f.ll": ""})
    two = folder(tmp_path, "b", {BEFORE.format(71): MODULE, AFTER.format(71): RENAMED})
    found = diff_folders([one, two], read)
    assert found and [r.name for r in found.rows] == ["jit_f, before_optimizations", "jit_f, cpu_after_optimizations"]
    assert found.summary() == "2 folders, 2 modules: 2 the same everywhere" and not list(found.lines())
    three = folder(tmp_path, "c", {BEFORE.format(1): REORDERED, AFTER.format(1): MODULE})
    (row,) = diff_folders([one, two, three], read).different
    assert row.versions[1].difference == "the same instructions in another order"


def test_the_first_instruction_that_differs_from_what_most_have_is_named(tmp_path: Path) -> None:
    folders = [folder(tmp_path, f"host{n}", {AFTER.format(n): DIFFERENT if n == 0 else MODULE}) for n in range(6)]
    found = diff_folders(folders, read)
    assert not found and found.summary() == "6 folders, 1 module: 0 the same everywhere, 1 not"
    (row,) = found.rows
    assert [v.folders for v in row.versions] == [tuple(folders[1:]), (folders[0],)]
    assert row.versions[1].difference == ("multiply %s (model.py:6): opcode multiply instead of add; elsewhere add %s "
                                          "(model.py:5)")
    lines = [text for _, text in found.lines()]
    assert lines[0] == (f"jit_f, cpu_after_optimizations: 2 versions; {', '.join(folders[1:5])} and 1 more have one, "
                        "1 of 6 another")
    assert lines[1] == f"  {folders[0]}: {row.versions[1].difference}"


def test_modules_of_one_name_are_paired_by_what_they_are_and_then_in_order(tmp_path: Path) -> None:
    other = MODULE.replace("negate", "sine")
    one = folder(tmp_path, "a", {BEFORE.format(1): MODULE, BEFORE.format(2): other, BEFORE.format(3): MODULE})
    two = folder(tmp_path, "b", {BEFORE.format(1): other, BEFORE.format(2): MODULE, BEFORE.format(3): DIFFERENT})
    found = diff_folders([one, two], read)
    assert [r.is_same for r in found.rows] == [True, True, False]
    assert "multiply instead of add" in found.rows[2].versions[1].difference


def test_what_a_folder_lacks_and_what_cannot_be_read(tmp_path: Path) -> None:
    one = folder(tmp_path, "a", {BEFORE.format(1): MODULE, "x.hlo": MODULE})
    two = folder(tmp_path, "b", {BEFORE.format(1): "HloModule broken\nENTRY e {", "y.hlo": MODULE})
    found = diff_folders([one, two], read)
    rows = {r.name: r for r in found.different}
    assert rows["x.hlo"].missing == (two,) and rows["y.hlo"].missing == (one,)
    assert "cannot be read: " in rows["jit_f, before_optimizations"].versions[1].difference
    assert [text for kind, text in found.lines() if kind == "-"] == [f"  {f}: no such module" for f in (two, one)]


#: two texts that are no modules, of which the parser says the same
BROKEN = "HloModule broken\nENTRY e {", "HloModule broken\nENTRY f {"
BAD_ZIP = b"\x1f\x8b one", b"\x1f\x8b two"


def of_bytes(root: Path, contents: Sequence[bytes], file: str) -> list[str]:
    """Folders a, b, ... with one file of those bytes each."""
    folders = [folder(root, chr(ord("a") + n), {}) for n in range(len(contents))]
    for place, data in zip(folders, contents, strict=True):
        (Path(place) / file).write_bytes(data)
    return folders


@pytest.mark.parametrize("contents", [tuple(t.encode() for t in BROKEN), BAD_ZIP])
def test_files_that_cannot_be_read_are_the_same_only_where_their_bytes_are(
        tmp_path: Path, contents: tuple[bytes, bytes]) -> None:
    def refuse(data: bytes, name: str) -> list[HloModule]:
        raise HloError([Diagnostic("X", "no module of ours")])

    folders = of_bytes(tmp_path, [*contents, contents[0]], BEFORE.format(1))
    found = diff_folders(folders, refuse)
    (row,) = found.rows
    assert not found and [v.folders for v in row.versions] == [(folders[0], folders[2]), (folders[1],)]
    assert row.versions[1].difference == "other bytes, and neither can be read: no module of ours"
    assert diff_folders([folders[0], folders[2]], refuse)
    assert not diff_folders(folders, read)


def test_a_file_whose_bytes_cannot_be_had_is_no_others_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = of_bytes(tmp_path, [MODULE.encode(), MODULE.encode(), MODULE.encode()], BEFORE.format(1))

    def opened(path: Path) -> BinaryIO:
        if path.parent.name in ("a", "b"):
            raise PermissionError("not yours")
        return open(path, "rb")

    monkeypatch.setattr(many_folders, "open_regular", opened)
    monkeypatch.setattr(many_folders, "bytes_of", too_large)
    found = diff_folders(folders, read)
    assert not found and [v.folders for v in found.rows[0].versions] == [(f,) for f in folders]


def too_large(path: Path) -> bytes:
    """What is said of a file without its name."""
    raise HloError([Diagnostic("R003", "more than 1024 MiB to read")])


def test_files_without_modules_are_the_same_only_where_their_bytes_are(tmp_path: Path) -> None:
    folders = of_bytes(tmp_path, [b"// one", b"// two"], BEFORE.format(1))
    found = diff_folders(folders, lambda data, name: [])
    assert not found and found.rows[0].versions[1].difference == \
        "other bytes, and neither can be read: it holds no module"


def test_a_module_that_is_too_deep_for_the_interpreter_is_told(tmp_path: Path) -> None:
    def fail(data: bytes, name: str) -> list[HloModule]:
        raise RecursionError

    found = diff_folders(of_bytes(tmp_path, [b"// one", b"// two"], BEFORE.format(1)), fail)
    assert not found and "too deeply nested" in found.rows[0].versions[1].difference


@pytest.mark.parametrize(("change", "said"), [
    (("HloModule jit_f", "HloModule jit_f, is_scheduled=true"), "the same instructions, another header: is_scheduled"),
    (("HloModule jit_f", "HloModule jit_f, replica_count=2"), "header replica_count is 2, elsewhere absent"),
    (("  ROOT", "  d = f32[4] sine(x)\n  ROOT"), "the same results, with other instructions that are dead or repeat "
                                                "others"),
    (("f32[4] parameter", "f32[4]{0:T(4)} parameter"), "")])
@pytest.mark.parametrize("layouts", [False, True])
def test_what_the_matching_of_instructions_does_not_tell(tmp_path: Path, change: tuple[str, str], said: str,
                                                         layouts: bool) -> None:
    folders = of_bytes(tmp_path, [MODULE.encode(), MODULE.replace(*change).encode()], BEFORE.format(1))
    found = diff_folders(folders, read, layouts=layouts)
    if not said and not layouts:
        assert found
    else:
        assert not found and said in found.rows[0].versions[1].difference


def test_names_and_metadata_do_not_count(tmp_path: Path) -> None:
    texts = MODULE, RENAMED.replace("model.py", "/elsewhere/model.py").replace("source_line=3", "source_line=30")
    assert diff_folders(of_bytes(tmp_path, [t.encode() for t in texts], BEFORE.format(1)), read)


def test_modules_that_the_fullest_folder_lacks_are_paired_all_the_same(tmp_path: Path) -> None:
    made = [MODULE.replace("negate", f) for f in ("sine", "cosine", "tanh", "sqrt", "log")]
    one = folder(tmp_path, "a", {BEFORE.format(n): made[n] for n in (0, 1, 2)})
    two = folder(tmp_path, "b", {BEFORE.format(n): made[k] for n, k in enumerate((3, 4))})
    three = folder(tmp_path, "c", {BEFORE.format(n): made[k] for n, k in enumerate((4, 3))})
    rows = diff_folders([one, two, three], read).rows
    assert [[v.folders for v in row.versions] for row in rows] == [
        [(two, three), (one,)], [(two, three), (one,)], [(one,)]]


def test_a_folder_of_nothing_but_what_compilers_leave_beside_modules_is_refused(tmp_path: Path) -> None:
    folders = [folder(tmp_path, name, {"module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt": "x"})
               for name in "ab"]
    with pytest.raises(HloError) as error:
        diff_folders(folders, read)
    assert error.value.diagnostics[0].code == "R002"


def test_dumps_are_paired_by_their_pass_whatever_its_number(tmp_path: Path) -> None:
    """Another version of a compiler runs one more pass in front: the numbers of all later dumps are others."""
    passes = ["algsimp", "dce", "algsimp"]
    one = folder(tmp_path, "a", {f"module_0001.jit_f.{n:04}.simplify.after_{name}.before_x.txt": MODULE
                                 for n, name in enumerate(passes)})
    two = folder(tmp_path, "b", {f"module_0001.jit_f.{n:04}.simplify.after_{name}.before_x.txt": MODULE
                                 for n, name in enumerate(["call-inliner", *passes])})
    found = diff_folders([one, two], read)
    assert [(r.name, r.missing) for r in found.different] == [
        ("jit_f, after call-inliner in simplify (1)", (one,))]
    assert [r.name for r in found.rows if r.is_same] == [
        "jit_f, after algsimp in simplify (1)", "jit_f, after dce in simplify (1)",
        "jit_f, after algsimp in simplify (2)"]


@pytest.mark.parametrize(("same", "code"), [(True, 0), (False, 1)])
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], same: bool, code: int) -> None:
    folders = [folder(tmp_path, "a", {BEFORE.format(1): MODULE}),
               folder(tmp_path, "b", {BEFORE.format(1): MODULE if same else DIFFERENT})]
    assert main(["diff", *folders]) == code
    assert f"{int(same)} the same everywhere" in capsys.readouterr().out
    assert main(["diff", *folders, "--json"]) == code
    record = json.loads(capsys.readouterr().out)
    jsonschema.validate(record, json.loads(schema_text("hlotool.cli.diff_report:DiffReport", "diff")))
    assert (record["equal"], record["modules"], len(record["different"])) == (same, 1, int(not same))


def test_folders_without_modules_and_options_of_two_modules_are_refused(tmp_path: Path,
                                                                        capsys: pytest.CaptureFixture[str]) -> None:
    folders = [folder(tmp_path, "a", {BEFORE.format(1): MODULE}), folder(tmp_path, "b", {})]
    assert main(["diff", *folders]) == 2 and "R002" in capsys.readouterr().err
    assert main(["diff", folders[0], folders[0], "--values"]) == 2 and "--values" in capsys.readouterr().err


def test_two_versions_part_at_a_pass_and_what_follows_is_counted(tmp_path: Path, capsys) -> None:
    def name(step: int, after: str, before: str, number: int = 1) -> str:
        return f"module_{number:04}.jit_f.{step:04}.simplification.after_{after}.before_{before}.txt"

    chain = ["zeta", "algsimp", "dce", "alpha"]
    old = {BEFORE.format(1): MODULE, AFTER.format(1): MODULE, "module_0007.jit_g.before_optimizations.txt": MODULE,
           **{name(n, a, b): MODULE for n, (a, b) in enumerate(zip(chain, [*chain[1:], "end"], strict=True))}}
    new = {file.replace("0001", "0009").replace("module_0007", "module_0003"): text for file, text in old.items()}
    for file in new:
        if "dce.before" in file or "alpha.before" in file or "after_opt" in file:
            new[file] = DIFFERENT
    new[name(4, "fresh", "end", 9)] = DIFFERENT
    folders = folder(tmp_path, "old", old), folder(tmp_path, "new", new)
    found = diff_folders(folders, read)
    assert [r.name for r in found.rows] == [
        "jit_f, before_optimizations", *(f"jit_f, after {a} in simplification (1)" for a in (*chain, "fresh")),
        "jit_f, cpu_after_optimizations", "jit_g, before_optimizations"]
    lines = [text for _, text in found.lines()]
    assert lines[0].startswith("jit_f, after dce in simplification (1): 2 versions") and len(lines) == 3
    assert lines[2] == ("  2 dumps behind it differ, too, 1 dump behind it is not in every folder; the last one is "
                        "cpu_after_optimizations; --all shows each")
    every = [text for _, text in found.lines(every=True)]
    assert [line for line in every if not line.startswith("  ")] == [
        f"{r.name}: " + (f"2 versions; {folders[0]} has one, 1 of 2 another" if r.versions[1:] else
                         "1 of 2 folders lack it") for r in found.different]
    assert main(["diff", *folders]) == 1 and capsys.readouterr().out.count("\n") == 4
    assert main(["diff", "--all", *folders]) == 1 and capsys.readouterr().out.count("\n") == 9
