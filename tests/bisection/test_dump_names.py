"""Names of dumps: which module, which pass, which order."""

import gzip
import pathlib

import pytest

from hlotool.bisection import Reader, dump_name, read_folder
from hlotool.bisection.dump_folder import Dump
from hlotool.bisection.pass_report import pass_record
from hlotool.bisection.pass_verdicts import PassVerdict
from hlotool.diagnostics import HloError

NAMES = {
    "module_0001.jit_f.before_optimizations.txt": ("jit_f", 1, "before_optimizations", "", ""),
    "module_0001.jit_f.0011.simplification.after_algsimp.before_dce.txt":
        ("jit_f", 1, "algsimp", "simplification", "dce"),
    "module_0001.jit_f.0052.copy-insertion.after_adding_special-case_copies.txt":
        ("jit_f", 1, "adding_special-case_copies", "copy-insertion", ""),
    "module_0001.jit_f.cpu_after_optimizations.txt": ("jit_f", 1, "cpu_after_optimizations", "", ""),
    "module_0001.jit_f.sm_9.0_gpu_after_optimizations.hlo.pb": ("jit_f", 1, "sm_9.0_gpu_after_optimizations", "", ""),
    "1731000000.module_0012.jit_f.before_optimizations.txt.gz": ("jit_f", 12, "before_optimizations", "", ""),
    "module_0012.thread_7.jit_f.0003.fusion.after_priority-fusion.before_dce.txt":
        ("jit_f", 12, "priority-fusion", "fusion", "dce"),
    "module_0001.main.12.0003.a.after_b.before_c.txt": ("main.12", 1, "b", "a", "c"),
    "module_0000.0005.simplification.after_algsimp.before_dce.hlo": ("", 0, "algsimp", "simplification", "dce"),
    "module_0003.jit_f.cl_700.after_optimizations_after_buffer_assignment.txt":
        ("jit_f", 3, "after_optimizations_after_buffer_assignment", "", ""),
    "3_1_canonicalize.mlir": ("", 0, "canonicalize", "mlir", ""),
    "02-after-cse.mlir": ("", 0, "cse", "mlir", ""),
    "module_0004.jit_f.7.sdy-export.mlir": ("jit_f", 4, "sdy-export", "mlir", ""),
}


@pytest.mark.parametrize("filename", NAMES)
def test_what_a_name_says(filename):
    found = dump_name(filename)
    assert found is not None
    assert (found.module, found.number, found.after, found.pipeline, found.before) == NAMES[filename]


@pytest.mark.parametrize("filename", [
    "module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt", "module_0001.jit_f.thunk_sequence.txt",
    "module_0001.jit_f.debug_options", "module_0001.jit_f.ir-no-opt.ll", "notes.txt"])
def test_what_is_no_dump(filename):
    assert dump_name(filename) is None


def test_dumps_stand_in_the_order_of_passes():
    names = ["module_0001.f.cpu_after_optimizations.txt", "module_0001.f.0010.p.after_a.before_b.txt",
             "module_0001.f.0009.p.after_c.before_d.txt", "module_0001.f.before_optimizations.txt",
             "module_0001.f.10000.p.after_z.before_d.txt"]
    ranked = sorted(names, key=lambda n: dump_name(n).rank)
    assert [dump_name(n).after for n in ranked] == ["before_optimizations", "c", "a", "z", "cpu_after_optimizations"]


TEXT = "HloModule f\n\nENTRY e {{\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] {}(x)\n}}\n"


def test_compressed_dumps_and_a_number_that_changes_on_the_way(tmp_path):
    (tmp_path / "module_0001.f.before_optimizations.txt").write_text(TEXT.format("negate"))
    with gzip.open(tmp_path / "module_0002.f.0001.p.after_a.before_b.txt.gz", "wt") as file:
        file.write(TEXT.format("negate"))
    (tmp_path / "module_0002.f.cpu_after_optimizations.txt").write_text(TEXT.format("negate"))
    folder, reader = read_folder(tmp_path), Reader()
    assert [len(c.dumps) for c in folder.chains] == [3]
    for dump in folder.chains[0].dumps:
        reader.read(dump)
        assert dump.module.entry.root.opcode == "negate"


def test_modules_of_one_name_that_begin_anew_are_two_chains(tmp_path):
    for number in (1, 2):
        for stage in ("before_optimizations", "cpu_after_optimizations"):
            (tmp_path / f"module_000{number}.f.{stage}.txt").write_text(TEXT.format("negate"))
    assert [(c.number, len(c.dumps)) for c in read_folder(tmp_path).chains] == [(1, 2), (2, 2)]


def test_passes_printed_into_one_file(tmp_path):
    func = ("module {\n  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
            "    return %x : tensor<2xf32>\n  }\n}\n")
    path = tmp_path / "all.mlir"
    path.write_text("".join(f"// -----// IR Dump {w} //----- //\n{func}" for w in (
        "Before Inliner (inline)", "After Inliner (inline)", "After CSE (cse)")))
    chain, = read_folder(path).chains
    assert [d.name.after for d in chain.dumps] == ["input", "Inliner (inline)", "CSE (cse)"]
    Reader().read(chain.dumps[2])
    assert chain.dumps[2].module is not None


def test_a_folder_without_dumps_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(HloError, match="no two dumps"):
        read_folder(tmp_path)


def test_the_first_module_of_a_log_is_what_the_first_pass_is_given(tmp_path: pathlib.Path) -> None:

    text = "ENTRY e { ROOT a = f32[] parameter(0) }\n"
    (tmp_path / "passes.log").write_text("".join(f"// -----// IR Dump {what} //----- //\n{text}" for what in (
        "Before One (one)", "After One (one)", "Before Two (two)", "After Two (two) Failed")))
    chain, = read_folder(tmp_path).chains
    assert [(d.label, d.part.first_line if d.part else 0) for d in chain.dumps] == [
        ("input", 1), ("One (one)", 3), ("Two (two)", 7)]


def test_the_seconds_of_a_pass_have_three_decimals() -> None:
    before, after = (Dump(name, path) for path in list(NAMES)[:2] if (name := dump_name(path)) is not None)
    assert pass_record(PassVerdict(before, after, seconds=1.23456))["seconds"] == 1.235
