"""Round trips and expansions of collectives, composites and windows, beside XLA's own where it has one."""

from __future__ import annotations

import re

import numpy as np
import pytest

import hlotool
from hlotool.execution import Program, run_program

RAGGED = """HloModule m, replica_count=2
ENTRY main {
  p0 = f32[3] parameter(0)
  p1 = f32[4] parameter(1)
  p2 = s32[2] parameter(2)
  p3 = s32[2] parameter(3)
  p4 = s32[2] parameter(4)
  p5 = s32[2] parameter(5)
  a = f32[4] ragged-all-to-all(p0, p1, p2, p3, p4, p5), replica_groups={{0,1}}
  b = f32[4] ragged-all-to-all(p0, a, p2, p3, p4, p5), replica_groups={{0,1}}, channel_id=3
  c = f32[4] ragged-all-to-all(p0, b, p2, p3, p4, p5), replica_groups={{0},{1}}
  ROOT d = f32[4] ragged-all-to-all(p0, c, p2, p3, p4, p5), replica_groups={}
}"""
COMPOSITE = """HloModule m
f { x = f32[] parameter(0)  ROOT y = f32[] add(x, x) }
ENTRY e {
  p = f32[] parameter(0)
  ROOT r = f32[] call(p), to_apply=f, is_composite=true, frontend_attributes={composite.attributes={n = 1 : i32},composite.name="foo.bar",composite.version="1",other="x"}
}"""  # noqa: E501


def lifted_by_xla(text: str) -> str:
    """XLA's own StableHLO of a module."""
    from jax.extend.mlir import ir
    from jax.interpreters.mlir import make_ir_context
    from jaxlib import _jax
    from xla_library import xla_hlo

    proto = xla_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    with make_ir_context():
        return str(ir.Module.parse(_jax.mlir.hlo_to_stablehlo(proto)))


def lines_of(module: str, word: str) -> list[str]:
    return sorted(line.split(" = ", 1)[1] for line in module.splitlines() if word in line)


@pytest.mark.parametrize("text, word", [(RAGGED, "ragged_all_to_all"), (COMPOSITE, "stablehlo.composite")])
def test_as_xla_writes_it(text: str, word: str) -> None:
    ours, theirs = str(hlotool.to_stablehlo(hlotool.parse(text))), lifted_by_xla(text)
    assert lines_of(ours, word) == lines_of(theirs, word) != []


def test_ragged_all_to_all_comes_back() -> None:
    back = hlotool.from_stablehlo(str(hlotool.to_stablehlo(hlotool.parse(RAGGED))))
    kept = [(i.opcode, i.attributes["replica_groups"].lists(), i.attributes.get("channel_id"))
            for i in back.entry.instructions if i.opcode != "parameter"]
    assert kept == [("ragged-all-to-all", g, c)
                    for g, c in ((((0, 1),), None), (((0, 1),), 3), (((0,), (1,)), None), ((), None))]


def test_ragged_all_to_all_of_another_kind_is_reported() -> None:
    text = str(hlotool.to_stablehlo(hlotool.parse(RAGGED)))
    with pytest.raises(hlotool.HloError, match="its backend_config has replica_groups"):
        hlotool.from_stablehlo(re.sub("replica_groups = ", "groups = ", text))


def test_composite_comes_back() -> None:
    back = hlotool.from_stablehlo(str(hlotool.to_stablehlo(hlotool.parse(COMPOSITE))))
    wanted = hlotool.parse(COMPOSITE).entry.root.attributes["frontend_attributes"]
    assert back.entry.root.attributes["frontend_attributes"] == wanted
    again = hlotool.from_stablehlo(str(hlotool.to_stablehlo(back)))
    assert again.entry.root.attributes["frontend_attributes"] == wanted


@pytest.mark.parametrize("split, joined", [(0, 1), (1, 0), (2, 0), (0, 2), (1, 1)])
def test_all_to_all_between_dimensions(split: int, joined: int) -> None:
    """StableHLO's own figure of the operation: pieces along one dimension, joined along another."""
    dims = [2, 4, 6]
    result = list(dims)
    result[split] //= 2
    result[joined] *= 2
    before, after = ("x".join(map(str, d)) for d in (dims, result))
    text = f"""module @m attributes {{mhlo.num_replicas = 2 : i32}} {{
func.func @main(%a: tensor<{before}xf32>) -> tensor<{after}xf32> {{
  %0 = "stablehlo.all_to_all"(%a) {{split_dimension = {split} : i64, concat_dimension = {joined} : i64,
    split_count = 2 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}}
    : (tensor<{before}xf32>) -> tensor<{after}xf32>
  return %0 : tensor<{after}xf32>
}}}}"""
    given = [np.arange(48, dtype=np.float32).reshape(dims) + 100 * d for d in range(2)]
    module = hlotool.from_stablehlo(text)
    for executor in ("reference", "pjrt:cpu"):
        found = run_program(Program(module), [[a] for a in given], executor)
        for device, (value,) in enumerate(found):
            place = [1, 0].index(device)
            pieces = [np.split(given[d], 2, split)[place] for d in (1, 0)]
            np.testing.assert_array_equal(value, np.concatenate(pieces, joined))
    again = hlotool.from_stablehlo(str(hlotool.to_stablehlo(module)))
    assert str(again) == str(module)


@pytest.mark.parametrize("window, result", [
    ("size=3x2 rhs_reversal=1x0", "s32[3,5]"),
    ("size=3x2 stride=2x3 rhs_reversal=1x1", "s32[2,2]"),
    ("size=2x2 stride=3x2 pad=1_2x0_1 rhs_reversal=1x1", "s32[3,3]"),
    ("size=2x2 stride=2x3 lhs_dilate=2x1 rhs_dilate=1x2 rhs_reversal=1x1", "s32[4,2]"),
])
def test_reversed_reduce_window(window: str, result: str) -> None:
    """The fold 10*a + b shows the order in which a window's elements come."""
    text = ("f {{ a = s32[] parameter(0) b = s32[] parameter(1) t = s32[] constant(10) "
            "m = s32[] multiply(a, t) ROOT s = s32[] add(m, b) }}\n"
            "ENTRY main {{ p = s32[5,6] parameter(0) z = s32[] constant(0) "
            "ROOT r = {} reduce-window(p, z), window={{{}}}, to_apply=f }}")
    given = (np.arange(30, dtype=np.int32) % 7).reshape(5, 6)
    program = Program(hlotool.parse(text.format(result, window)))
    (expected,), (found,) = (run_program(program, [[given]], e)[0] for e in ("reference", "stablehlo"))
    assert found.shape == expected.shape and expected.size
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("window", ["size=2x3 stride=2x3 rhs_reversal=1x1", "size=2x2 stride=3x3 rhs_reversal=0x1"])
def test_reversed_select_and_scatter(window: str) -> None:
    """Of equal elements the first in the window's order is picked, so the order shows."""
    text = ("ge {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = pred[] compare(a, b), direction=GE }}\n"
            "f {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }}\n"
            "ENTRY main {{ p = s32[5,6] parameter(0) q = s32[2,2] parameter(1) z = s32[] constant(0) "
            "ROOT r = s32[5,6] select-and-scatter(p, q, z), window={{{}}}, select=ge, scatter=f }}")
    program = Program(hlotool.parse(text.format(window)))
    given = [np.ones((5, 6), np.int32), np.array([[1, 2], [3, 4]], np.int32)]
    (expected,), (found,) = (run_program(program, [given], e)[0] for e in ("reference", "pjrt:cpu"))
    np.testing.assert_array_equal(found, expected)
    assert expected.sum() == 10


@pytest.mark.parametrize("window, places", [
    ("size=2x2 stride=1x2 rhs_dilate=2x3", "3,2"), ("size=3x2 stride=2x2 lhs_dilate=2x1", "4,3"),
    ("size=2x2 stride=3x2 pad=1_1x0_1 lhs_dilate=1x2 rhs_dilate=3x1 rhs_reversal=1x0", "2,6"),
    ("size=1x1 stride=3x3 pad=0_0x2_0 lhs_dilate=2x2", "3,5")])
@pytest.mark.parametrize("seed", [0, 1])
def test_dilated_select_and_scatter(window: str, places: str, seed: int) -> None:
    text = ("ge {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=GE }}\n"
            "f {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}\n"
            "ENTRY main {{ p = f32[5,6] parameter(0) q = f32[{}] parameter(1) z = f32[] constant(100) "
            "ROOT r = f32[5,6] select-and-scatter(p, q, z), window={{{}}}, select=ge, scatter=f }}")
    module = hlotool.parse(text.format(places, window))
    assert [d for d in hlotool.verify(module) if d.severity == "error"] == []
    source = np.random.default_rng(seed)
    given = [source.integers(-3, 3, (5, 6)).astype(np.float32),
             source.integers(1, 9, tuple(map(int, places.split(",")))).astype(np.float32)]
    given[0][0, 1] = -np.inf
    program = Program(module)
    (expected,), (found,) = (run_program(program, [given], e)[0] for e in ("reference", "pjrt:cpu"))
    np.testing.assert_array_equal(found, expected)
