"""Programs of every parallelism and what XLA's partitioner makes of them: no true pair is called different."""

from __future__ import annotations

import os
import pathlib

import parallel_programs
import pytest

import hlotool

pytest.importorskip("jax")
NIGHTLY = os.environ.get("HLOTOOL_NIGHTLY") == "1"
#: one of each kind where time is short
FEW = ("data_step.d4", "tensor_by_hand.d2t4", "halo.s4", "pipeline.p4", "experts_by_hand.e4", "fsdp_by_hand.d4",
       "partly_manual.d2t4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a folder with the forms of the programs, written by a process with simulated devices."""
    where = tmp_path_factory.mktemp("programs")
    return parallel_programs.written_by(parallel_programs.__file__, where, () if NIGHTLY else FEW)


@pytest.mark.parametrize("name", parallel_programs.PROGRAMS if NIGHTLY else FEW)
def test_true_pairs_agree(name: str, folder: pathlib.Path) -> None:
    whole, lowered, part, optimized = (hlotool.read(folder / f"{name}.{kind}.hlo")
                                       for kind in ("whole", "lowered", "part", "optimized"))
    assert hlotool.compare(whole, part, time_budget=2.0).verdict == "agree"
    if NIGHTLY:
        assert hlotool.compare(lowered, optimized, time_budget=2.0).verdict == "agree"


@pytest.mark.parametrize("is_root", [False, True])
def test_a_copy_that_others_take_is_not_named_for_what_takes_it_wrongly(folder: pathlib.Path, is_root: bool) -> None:
    whole, part = (hlotool.read(folder / f"partly_manual.d2t4.{kind}.hlo") for kind in ("whole", "part"))
    taker = part.entry.root.operands[0]
    [call] = [i for i in part.entry.instructions if i.opcode == "call"]
    if taker.opcode != "copy" or not call.operands[1].shape.compatible(taker.shape):
        pytest.skip("this partitioner writes no copy of what the region gives")
    taker = part.entry.root if is_root else taker
    taker.operands = (call.operands[1], *taker.operands[1:])
    found = hlotool.isolate(whole, hlotool.parse(str(part)))
    assert found.place is None or found.place.instruction.name == taker.name, found.diagnostics[0]
