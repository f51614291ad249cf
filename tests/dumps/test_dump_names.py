"""Names of dumps: module, stage or pass, order; the files beside them; folders to chains."""

from __future__ import annotations

import gzip
import pathlib

import pytest

from hlotool.bisection.pass_report import pass_record
from hlotool.bisection.pass_verdicts import PassVerdict
from hlotool.diagnostics import HloError
from hlotool.dumps import Dump, DumpReader, dump_name, other_kind, read_folder, sort_folder

#: file name -> (module, number, stage, pass or stage in full, pipeline, next pass, target, maker)
NAMES = {
    "module_0001.jit_f.before_optimizations.txt":
        ("jit_f", 1, "before_optimizations", "before_optimizations", "", "", "", "the frontend"),
    "module_0123.main.7.before_optimizations.hlo":
        ("main.7", 123, "before_optimizations", "before_optimizations", "", "", "", "the frontend"),
    "module_0000.before_optimizations.hlo.pb":
        ("", 0, "before_optimizations", "before_optimizations", "", "", "", "the frontend"),
    "1731000000.module_0012.jit_f.before_optimizations.txt.gz":
        ("jit_f", 12, "before_optimizations", "before_optimizations", "", "", "", "the frontend"),
    "1795271283943155.module_0016.jit_step.before_optimizations.hlo.pb":
        ("jit_step", 16, "before_optimizations", "before_optimizations", "", "", "", "the frontend"),
    "module_0001.jit_flops.before_optimizations.txt":
        ("jit_flops", 1, "before_optimizations", "before_optimizations", "", "", "", "the frontend"),
    "module_0001.jit_f.0011.simplification.after_algsimp.before_dce.txt":
        ("jit_f", 1, "between_passes", "algsimp", "simplification", "dce", "", "algsimp in simplification"),
    "module_0001.jit_f.0012.hlo passes.after_pipeline-start.before_x.txt":
        ("jit_f", 1, "between_passes", "pipeline-start", "hlo passes", "x", "", "what precedes hlo passes"),
    "module_0806.pjit_train_step.0001.pre-spmd-partitioner.after_CallInliner.before_zero_sized_hlo_elimination.txt":
        ("pjit_train_step", 806, "between_passes", "CallInliner", "pre-spmd-partitioner", "zero_sized_hlo_elimination",
         "", "CallInliner in pre-spmd-partitioner"),
    "module_0336.jit__train_step.cl_813921542.0077.spmd-cleanup.after_pipeline-start.before_dce.txt":
        ("jit__train_step", 336, "between_passes", "pipeline-start", "spmd-cleanup", "dce", "",
         "what precedes spmd-cleanup"),
    "module_0001.jit_f.0052.copy-insertion.after_adding_special-case_copies.txt":
        ("jit_f", 1, "between_passes", "adding_special-case_copies", "copy-insertion", "", "",
         "adding_special-case_copies in copy-insertion"),
    "module_0001.jit_f.0030.layout-assignment.before-assigning-layouts.txt":
        ("jit_f", 1, "between_passes", "before-assigning-layouts", "layout-assignment", "", "",
         "before-assigning-layouts in layout-assignment"),
    "module_0012.thread_7.jit_f.0003.fusion.after_priority-fusion.before_dce.txt":
        ("jit_f", 12, "between_passes", "priority-fusion", "fusion", "dce", "", "priority-fusion in fusion"),
    "module_0001.main.12.0003.a.after_b.before_c.txt":
        ("main.12", 1, "between_passes", "b", "a", "c", "", "b in a"),
    "module_0000.0005.simplification.after_algsimp.before_dce.hlo":
        ("", 0, "between_passes", "algsimp", "simplification", "dce", "", "algsimp in simplification"),
    **{f"module_0001.{module}.{target}_after_optimizations{suffix}":
       (module, 1, "after_optimizations", f"{target}_after_optimizations", "", "", target,
        "what follows the last dumped pass")
       for module, target, suffix in (
           ("jit_f", "cpu", ".txt"), ("jit__lambda_", "cpu", ".hlo.pb.gz"), ("jit_f", "gpu", ".txt"),
           ("jit_train_step", "gfx950_gpu", ".txt"), ("jit_f", "gfx90a:sramecc+:xnack-_gpu", ".txt"),
           ("SyncTensorsGraph.105381", "sm_8.0_gpu", ".txt"), ("main.123", "sm_9.0_gpu", ".txt.gz"),
           ("jit_train_step", "sm_10.0a_gpu", ".txt"), ("jit_f", "sm_9.0_gpu", ".hlo.pb"),
           ("cluster_4221__XlaNumResourceArgs_0_.785", "gfx942_gpu", ".txt"))},
    "module_0023.jit_train_step.after_optimizations.txt":
        ("jit_train_step", 23, "after_optimizations", "after_optimizations", "", "", "",
         "what follows the last dumped pass"),
    **{f"module_0003.jit_f.cl_700.{stage}.txt":
       ("jit_f", 3, "after_optimizations", stage, "", "", "", "what follows the last dumped pass")
       for stage in ("after_optimizations_before_buffer_assignment", "after_optimizations_after_buffer_assignment",
                     "after_codegen", "before_codegen")},
    "3_1_canonicalize.mlir": ("", 0, "between_passes", "canonicalize", "mlir", "", "", "canonicalize"),
    "02-after-cse.mlir": ("", 0, "between_passes", "cse", "mlir", "", "", "cse"),
    "module_0004.jit_f.7.sdy-export.mlir": ("jit_f", 4, "between_passes", "sdy-export", "mlir", "", "", "sdy-export"),
}
#: files that XLA writes beside modules, and their kinds
OTHERS = {
    "module_0016.jit_step.cpu_after_optimizations-buffer-assignment.txt": "buffer assignment",
    "module_0408.jit__kernel.sm_8.0_gpu_after_optimizations-memory-usage-report.txt": "memory usage",
    "module_0001.jit_f.cpu_after_optimizations-live-range.txt": "live ranges",
    "module_0007.jit_f.priority_fusion_dump.txt": "fusion decisions",
    "module_0001.jit_f.thunk_sequence.txt": "thunks", "module_0001.jit_f.thunk_schedule": "thunks",
    "module_0001.jit_f.debug_options": "options", "module_0021.jit_train_step.flagfile": "options",
    "module_0021.jit_train_step.execution_options.txt": "options",
    "module_0021.jit_train_step.hlo_module_config.txt": "options",
    "module_0021.jit_train_step.tpu_comp_env.txt": "options",
    "module_0021.jit_train_step.target_arguments.txt": "arguments",
    "1700000000000000.module_0001.jit_f.execution_0000.hlo_snapshot.pb": "arguments",
    "module_0016.jit_step.execution_0000.hlo_unoptimized_snapshot.txt": "arguments", "topology.pb": "options",
    "compile_options.pb": "options", "module_0001.metadata.textproto": "metadata",
    "module_0001.jit_f.autotune_results.pbtxt": "autotuning results",
    "module_0001.jit_f.gpu_target_config.pbtxt": "options", "module_0001.jit_f.ir-no-opt.ll": "LLVM IR",
    "module_0016.jit_step.add_tanh_fusion_kernel_module.ir-no-opt.ll": "LLVM IR",
    "module_0016.jit_step.obj-file.k.o": "object files", "module_0001.jit_f.ptx": "assembly",
    "module_0001.jit_f.before_optimizations.dot": "graphs",
    "module_0001.jit_f.sm_9.0_gpu_after_optimizations.top_level.html": "graphs",
    "module_0001.jit_f.cudnn_fusion_gemm.json": "JSON",
    "module_0001.jit_f.gemm_fusion.before_validation.ttir.txt": "Triton's IR",
    "module_0000.jit__f_scan.__compute_module_add_bitcast_fusion.265-pre-optimization.mlir": "MLIR of kernels",
    "module_0000.jit__f_scan.__compute_module_multiply_divide_fusion.48.mlir-passes.log": "logs",
}
#: names that tell neither a stage nor another kind: such files are read as any file is
UNKNOWN = (
    "module_0016.jit_step", "jit_step.txt", "module_x.jit_step.before_optimizations.txt", "notes.txt", "",
    "module_0001.jit_f.fusion.3.hlo", "module_0001.jit_compute.hlo_proto.pb", "accepted_decode.after_codegen.txt.gz",
    "module_0001.jit_f.autotuner_3.fusion.1.before.txt", "module_0001.jit_f.triton_fusion_0.gemm.optimized.txt",
    "jax_ir0001_jit_f_compile.mlir", "backends_cpu_benchmarks_hlo_jax.issue.2.slow_3.module_4.hlo.5.hlo",
    "module_0001.jit_flops_fusion.3.hlo",
)


@pytest.mark.parametrize("filename", NAMES)
def test_parts_of_a_name(filename: str) -> None:
    found = dump_name(filename)
    assert found is not None and not other_kind(filename)
    assert (found.module, found.number, found.stage, found.after, found.pipeline, found.before, found.target,
            found.maker) == NAMES[filename]


@pytest.mark.parametrize("filename", OTHERS)
def test_files_beside_modules(filename: str) -> None:
    assert dump_name(filename) is None and other_kind(filename) == OTHERS[filename]


@pytest.mark.parametrize("filename", UNKNOWN)
def test_names_that_tell_nothing(filename: str) -> None:
    assert dump_name(filename) is None and not other_kind(filename)


def test_what_every_room_makes_of_a_folder_is_the_same(tmp_path: pathlib.Path) -> None:
    """Every name of the tables in one folder: files to lint, files that bisect chains, and the others."""
    names = [n for n in (*NAMES, *OTHERS, *UNKNOWN) if n]
    for name in names:
        (tmp_path / name).write_text(TEXT.format("negate"))
    folder = sort_folder(str(tmp_path))
    files = {pathlib.Path(f).name for f in folder.files}
    skipped = {pathlib.Path(f).name for f in folder.others}
    assert skipped >= set(OTHERS) and not files & set(OTHERS)
    assert files >= {n for n in NAMES if not n.endswith(".mlir")}
    assert files >= {n for n in UNKNOWN if n.endswith((".txt", ".hlo", ".pb", ".txt.gz"))}
    assert {pathlib.Path(d.path).name for c in read_folder(tmp_path).chains for d in c.dumps} <= set(NAMES)


def test_dumps_stand_in_the_order_of_passes():
    names = ["module_0001.f.cpu_after_optimizations.txt", "module_0001.f.0010.p.after_a.before_b.txt",
             "module_0001.f.0009.p.after_c.before_d.txt", "module_0001.f.before_optimizations.txt",
             "module_0001.f.10000.p.after_z.before_d.txt"]
    last = ["module_0001.f.after_codegen.txt", "module_0001.f.before_codegen.txt",
            "module_0001.f.after_optimizations_before_buffer_assignment.txt"]
    assert sorted(last, key=lambda n: dump_name(n).rank) == last[::-1]
    ranked = sorted(names, key=lambda n: dump_name(n).rank)
    assert [dump_name(n).after for n in ranked] == ["before_optimizations", "c", "a", "z", "cpu_after_optimizations"]


TEXT = "HloModule f\n\nENTRY e {{\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] {}(x)\n}}\n"


def test_compressed_dumps_and_a_number_that_changes_on_the_way(tmp_path):
    (tmp_path / "module_0001.f.before_optimizations.txt").write_text(TEXT.format("negate"))
    with gzip.open(tmp_path / "module_0002.f.0001.p.after_a.before_b.txt.gz", "wt") as file:
        file.write(TEXT.format("negate"))
    (tmp_path / "module_0002.f.cpu_after_optimizations.txt").write_text(TEXT.format("negate"))
    folder, reader = read_folder(tmp_path), DumpReader()
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
    DumpReader().read(chain.dumps[2])
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
