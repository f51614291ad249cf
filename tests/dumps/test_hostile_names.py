"""Names of dumps that somebody made up: long, with every separator in every place."""

from __future__ import annotations

import pathlib
import time

import pytest

import hlotool
from hlotool.dumps import DumpReader, dump_folder, dump_name, other_kind, read_folder


@pytest.mark.parametrize("name", [
    "module_1.after_optimizations" + "_a" * 100 + "!.txt", "module_1" + ".000.p.after_a.before_b" * 2000,
    "module_1" + ".001.a" * 4000 + ".txt", "a-module_" * 4000 + "1.txt", "module_1.sm_" + "1" * 9000 + ".txt",
    "module_1" + "._after_optimizations" * 4000 + "!.txt", "module_1." + "after_optimizations_" * 400 + "!.txt",
    "1_2_" * 4000 + ".mlir", "module_1" + ".1_" * 4000, "module_1.gfx" + "_a" * 4000 + ".hlo"])
def test_no_name_takes_long(name: str) -> None:
    start = time.process_time()
    dump_name(name), other_kind(name)
    assert time.process_time() - start < 1  # of the processor: the slow way takes minutes


@pytest.mark.parametrize(("name", "module", "rank", "after", "before"), [
    ("module_0001.f.g.0002.simplify.after_a.b.before_c.d.hlo.txt.gz", "f.g", (1, 2), "a.b", "c.d"),
    ("module_0001.0100.0002.p.after_a.txt", "", (1, 100), "a", ""),
    ("module_0001.f.0100.sm_9.0_gpu_after_optimizations.txt", "f.0100", (2, 1, 30), "sm_9.0_gpu_after_optimizations",
     ""),
    ("7-module_0001.f.12_after_cse.mlirbc", "f", (1, 12), "cse", ""), ("3_1-after-cse.mlir", "", (1, 3, 1), "cse", "")])
def test_names_are_cut_at_the_first_place_that_fits(name: str, module: str, rank: tuple[int, ...], after: str,
                                                    before: str) -> None:
    found = dump_name(name)
    assert found is not None
    assert (found.module, found.rank, found.after, found.before) == (module, rank, after, before)


def test_a_folder_of_many_modules_is_cut_in_linear_time(tmp_path: pathlib.Path) -> None:
    """Every module is asked whether it is the rest of an earlier one, but not of every earlier one."""
    for number in range(3000):
        for name in ("before_optimizations.txt", "0001.p.after_a.before_b.txt"):
            (tmp_path / f"module_{number:04}.f.{name}").touch()
            (tmp_path / f"module_{number:04}.g.0002.p.after_a.before_b.txt").touch()
    start = time.process_time()
    chains = read_folder(tmp_path).chains
    assert len(chains) == 3000 and time.process_time() - start < 3


def test_a_module_whose_number_changed_is_one_chain(tmp_path: pathlib.Path) -> None:
    for name in ("module_0001.f.before_optimizations.txt", "module_0001.f.0001.p.after_a.before_b.txt",
                 "module_0007.f.0002.p.after_b.before_c.txt", "module_0009.f.0001.p.after_b.before_c.txt"):
        (tmp_path / name).touch()
    (chain,) = read_folder(tmp_path).chains
    assert [d.name.number for d in chain.dumps] == [1, 1, 7]


def test_equal_modules_of_one_file_are_read_once(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "log.mlir"
    file.write_text("// -----// IR Dump After x //----- //\nmodule {}\n" * 50)
    read = []
    monkeypatch.setattr(dump_folder, "_parsed", lambda given: read.append(given) or hlotool.HloModule("m"))
    (chain,), reader = read_folder(file).chains, DumpReader()
    for dump in chain.dumps:
        reader.read(dump)
    assert len(chain.dumps) == 50 and len(read) == 1 and all(d.module is not None for d in chain.dumps)
