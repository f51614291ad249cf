"""Groups of devices, collectives of several operands and shardings of tuples: there and back."""

from __future__ import annotations

import pytest

import hlotool
from hlotool import from_stablehlo, to_stablehlo
from hlotool.ir import HloInstruction
from hlotool.passes.equality import Numbering
from hlotool.stablehlo import LossReport, read_artifact, to_bytecode, write_artifact

HEAD = """HloModule m, num_partitions=4
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
ENTRY main { p = f32[4] parameter(0)  q = f32[4,8] parameter(1)
"""
GROUPS = "channel_id=1, use_global_device_ids=true, to_apply=add, replica_groups="
PAIRS = "{{0,2},{1,3}}"


def several(groups: str = PAIRS, marks: str = "") -> str:
    return f"{HEAD} ROOT r = (f32[4], f32[4,8]) all-reduce(p, q), {GROUPS}{groups}{marks} }}"


def one(module: hlotool.HloModule) -> HloInstruction:
    (found,) = module.find_all("all-reduce")
    return found


@pytest.mark.parametrize("groups", ["[2,2]<=[2,2]T(1,0)", "mesh['a'=2,'b'=2] {'a'}", PAIRS])
def test_groups_come_back_as_they_were_written(groups: str) -> None:
    module = hlotool.parse(several(groups))
    back = from_stablehlo(to_stablehlo(module))
    assert one(back).attributes["replica_groups"] is one(module).attributes["replica_groups"]
    assert len(one(back).operands) == 2


def test_groups_that_another_program_changed_stay_changed() -> None:
    text = str(to_stablehlo(hlotool.parse(several("[2,2]<=[2,2]T(1,0)"))))
    assert "[[0, 2], [1, 3]]" in text
    back = from_stablehlo(text.replace("[[0, 2], [1, 3]]", "[[0, 1], [2, 3]]"))
    assert one(back).attributes["replica_groups"].lists() == ((0, 1), (2, 3))


def test_groups_in_another_form_are_the_same_program() -> None:
    numbering = Numbering()
    assert len({tuple(numbering.module(hlotool.parse(several(g)))) for g in (
        PAIRS, "[2,2]<=[2,2]T(1,0)", "mesh['a'=2,'b'=2] {'a'}")}) == 1
    assert numbering.module(hlotool.parse(several())) != numbering.module(hlotool.parse(several("{{0,1},{2,3}}")))


def test_older_versions_have_an_all_reduce_for_each_operand() -> None:
    program = to_stablehlo(hlotool.parse(several(marks=", sharding={{manual}, {replicated}}")))
    old, new = (from_stablehlo(read_artifact(write_artifact(program, v))) for v in ("1.0.0", "1.8.0"))
    assert [len(i.operands) for i in new.find_all("all-reduce")] == [2]
    assert [str(i.attributes["sharding"].kind) for i in old.find_all("all-reduce")] == ["manual", "replicated"]


@pytest.mark.parametrize("root", [
    '(f32[4]) custom-call(p), custom_call_target="f", sharding={{replicated}}',
    f"(f32[4], f32[4,8]) all-reduce(p, q), {GROUPS}{PAIRS}, sharding={{{{manual}}, {{manual}}}}",
    "(f32[4], f32[4]) all-gather(p, p), dimensions={0}, channel_id=1, replica_groups={{0}}, "
    "sharding={{manual}, {manual}}"])
def test_shardings_of_tuples_are_ones_that_xla_takes(root: str) -> None:
    from jaxlib import _jax

    module = hlotool.parse(f"{HEAD} ROOT r = {root} }}")
    code = to_bytecode(module)
    assert _jax.mlir.mlir_module_to_xla_computation(code, use_tuple_args=False, return_tuple=False)
    numbering = Numbering()
    assert numbering.module(module) == numbering.module(from_stablehlo(code))


def test_what_is_written_for_each_operand_is_reported() -> None:
    losses = LossReport()
    to_stablehlo(hlotool.parse(f"{HEAD} ROOT r = (f32[1], f32[1,8]) reduce-scatter(p, q), dimensions={{0}}, {GROUPS}"
                               "{{0,1,2,3}} }"), losses=losses)
    assert "X319" in {loss.code for loss in losses}
