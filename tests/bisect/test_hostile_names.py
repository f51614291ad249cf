"""Names of dumps that somebody made up: long, with every separator in every place."""

from __future__ import annotations

import time

import pytest

from hlotool.bisect.dump_names import dump_name


@pytest.mark.parametrize("name", [
    "module_1.after_optimizations" + "_a" * 100 + "!.txt", "module_1" + ".000.p.after_a.before_b" * 2000,
    "module_1" + ".001.a" * 4000 + ".txt", "a-module_" * 4000 + "1.txt", "module_1.sm_" + "1" * 9000 + ".txt",
    "1_2_" * 4000 + ".mlir", "module_1" + ".1_" * 4000, "module_1.gfx" + "_a" * 4000 + ".hlo"])
def test_no_name_takes_long(name: str) -> None:
    start = time.process_time()
    dump_name(name)
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
