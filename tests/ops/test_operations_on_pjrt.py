"""Folds, sorting, transforms, random bits, collectives and conversions: the reference against PJRT's CPU client."""

from __future__ import annotations

import numpy as np
import pytest
from cases import Case, check_close, load_ops

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import execute, run_program
from hlotool.execution.evaluate import evaluate_program
from hlotool.execution.program import Program
from hlotool.ir import DTYPES, Shape
from hlotool.ops import OPS


def agree(text: str, arguments: list[np.ndarray], ulps: float) -> None:
    module = hlotool.parse(text)
    reference = execute(module, arguments, executor="reference")
    peer = execute(module, arguments, executor="pjrt:cpu")
    for a, b in zip(reference, peer, strict=True):
        check_close(np.asarray(a), np.asarray(b), ulps)


@pytest.mark.parametrize("algorithm, words", [
    ("rng_three_fry", 2), ("rng_philox", 2), ("rng_philox", 3), ("rng_default", 2)])
def test_random_bits_are_those_of_xla(algorithm: str, words: int) -> None:
    """All shapes in one program: XLA splits ThreeFry's counters by even, odd and unit dimensions."""
    outputs = ["u32[7]", "u32[3,4]", "u32[3,5]", "u64[5]", "u16[9]", "u8[2,3,5]", "u32[]"]
    lines = [f"  g{i} = (u64[{words}], {s}) rng-bit-generator(s), algorithm={algorithm}" for i, s in enumerate(outputs)]
    parts = [f"  e{i}{j} = {s} get-tuple-element(g{i}), index={j}"
             for i, shape in enumerate(outputs) for j, s in enumerate((f"u64[{words}]", shape))]
    names = [f"e{i}{j}" for i in range(len(outputs)) for j in range(2)]
    types = [s for shape in outputs for s in (f"u64[{words}]", shape)]
    text = "\n".join(["ENTRY main {", f"  s = u64[{words}] parameter(0)", *lines, *parts,
                      f"  ROOT t = ({', '.join(types)}) tuple({', '.join(names)})", "}"])
    agree(text, [np.array([0x123456789ABCDEF0, 2**64 - 2, 77][:words], np.uint64)], 0)


LESS = ("lt { a = f32[] parameter(0) b = f32[] parameter(1) "
        "ROOT s = pred[] compare(a, b), direction=LT, type=TOTALORDER }\n")


def test_sort_of_many_lines() -> None:
    values = np.random.default_rng(1).normal(size=(5, 37)).astype(np.float32)
    values[2, 5], values[3, 7] = np.nan, -0.0
    text = LESS + ("ENTRY main { p = f32[5,37] parameter(0) "
                   "ROOT r = f32[5,37] sort(p), dimensions={1}, is_stable=true, to_apply=lt }")
    agree(text, [values], 0)


def test_long_folds() -> None:
    values = np.random.default_rng(2).integers(-100, 100, (3, 1000)).astype(np.int32)
    text = ("add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }\n"
            "ENTRY main { p = s32[3,1000] parameter(0) z = s32[] constant(0) "
            "ROOT r = s32[3] reduce(p, z), dimensions={1}, to_apply=add }")
    agree(text, [values], 0)


@pytest.mark.parametrize("kind", ["FFT", "IFFT"])
def test_fft(kind: str) -> None:
    values = np.random.default_rng(3).normal(size=(2, 8, 8)).astype(np.complex64)
    text = ("ENTRY main { p = c64[2,8,8] parameter(0) "
            f"ROOT r = c64[2,8,8] fft(p), fft_type={kind}, fft_length={{8,8}} }}")
    module = hlotool.parse(text)
    ours, theirs = (execute(module, [values], executor=e)[0] for e in ("reference", "pjrt:cpu"))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_comparator_that_is_no_order_still_permutes() -> None:
    text = LESS.replace(", type=TOTALORDER", "") + (
        "ENTRY main { p = f32[6] parameter(0) ROOT r = f32[6] sort(p), dimensions={0}, to_apply=lt }")
    values = np.array([3, np.nan, 1, np.nan, 2, 0], np.float32)
    found = execute(hlotool.parse(text), [values], executor="reference")[0]
    assert sorted(found[~np.isnan(found)]) == [0, 1, 2, 3]
    assert np.isnan(found).sum() == 2


# Group modes


@pytest.mark.parametrize("attributes, groups", [
    ("replica_groups={{0,1}}", [{0, 2}, {1, 3}]),
    ("replica_groups={{0,1}}, channel_id=1", [{0, 1, 2, 3}]),
    ("replica_groups={{0},{1}}, channel_id=1", [{0, 1}, {2, 3}]),
    ("replica_groups={{0,3},{1,2}}, channel_id=1, use_global_device_ids=true", [{0, 3}, {1, 2}]),
])
def test_group_modes(attributes: str, groups: list[set[int]]) -> None:
    """Two replicas of two partitions: device d brings 10**d, so that the sum names the group."""
    text = ("HloModule m, replica_count=2, num_partitions=2\n"
            "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }\n"
            f"ENTRY main {{ p = s32[] parameter(0) ROOT r = s32[] all-reduce(p), {attributes}, to_apply=add }}")
    found = evaluate_program(Program(hlotool.parse(text)), [[np.int32(10**d)] for d in range(4)])
    for device, (total,) in enumerate(found):
        assert int(total) == sum(10**d for d in next(g for g in groups if device in g))


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
@pytest.mark.parametrize("attributes, groups", [
    ("replica_groups={{1,0}}, channel_id=1", [[2, 3, 0, 1]]),
    ("replica_groups={}, channel_id=1", [[0, 1, 2, 3]]),
    ("replica_groups={{3,0,2,1}}, channel_id=1, use_global_device_ids=true", [[3, 0, 2, 1]]),
    ("replica_groups={{1,0}}", [[2, 0], [3, 1]]),
])
def test_order_of_members(attributes: str, groups: list[list[int]], executor: str) -> None:
    """Replicas in the group's order, each with its partitions in theirs: XLA's GetParticipatingDevices."""
    size = len(groups[0])
    text = ("HloModule m, replica_count=2, num_partitions=2\n"
            "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }\n"
            f"ENTRY main {{ p = s32[1] parameter(0) q = s32[{size}] parameter(1)\n"
            f"g = s32[{size}] all-gather(p), dimensions={{0}}, {attributes}\n"
            f"s = s32[1] reduce-scatter(q), dimensions={{0}}, to_apply=add, "
            f"{attributes.replace('channel_id=1', 'channel_id=2')}\n"
            f"ROOT r = (s32[{size}], s32[1]) tuple(g, s) }}")
    places = np.arange(size, dtype=np.int32)
    found = run_program(Program(hlotool.parse(text)), [[np.array([d], np.int32), places] for d in range(4)], executor)
    for device, (gathered, scattered) in enumerate(found):
        group = next(g for g in groups if device in g)
        assert gathered.tolist() == group
        assert scattered.tolist() == [size * group.index(device)]


@pytest.mark.parametrize("values", [
    np.array([[3, 1, 1, -2], [np.nan, -np.nan, -0.0, 0.0]], np.float32),
    np.array([[3, 1, 1, -128], [0, 127, -1, 0]], np.int8),
    np.array([[3, 1, 1, 255], [0, 7, 0, 0]], np.uint8),
])
def test_smallest(values: np.ndarray) -> None:
    name = {"f": "f32", "i": "s8", "u": "u8"}[values.dtype.kind]
    agree(f"ENTRY main {{ p = {name}[2,4] parameter(0) "
          f"ROOT r = ({name}[2,3], s32[2,3]) topk(p), k=3, largest=false }}", [values], 0)


@pytest.mark.parametrize("case", [c for c in load_ops({"collective-permute"}) if not c.is_bad], ids=lambda c: c.id)
def test_permutes_on_pjrt(case: Case) -> None:
    found = run_program(Program(hlotool.parse(case.text)), [case.inputs(r) for r in range(case.replicas)], "pjrt:cpu")
    for replica, (result,) in enumerate(found):
        np.testing.assert_array_equal(result, case.expected(replica)[0])


# Asynchronous sugar


def test_sugar_is_derived() -> None:
    assert "call-start" in OPS and "reduce-scatter-done" in OPS
    assert OPS.get("copy-update") is None and OPS.get("nonsense-start") is None
    assert "call-start" not in list(OPS)


def test_late_binding() -> None:
    text = ("sub { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] subtract(a, b) }\n"
            "ENTRY main { p = f32[] parameter(0) q = f32[] parameter(1) "
            "s = ((f32[]), ()) async-start(p), calls=sub u = ((f32[], f32[]), f32[]) async-update(s, q) "
            "ROOT d = f32[] async-done(u) }")
    module = hlotool.parse(text)
    found = execute(module, [np.float32(5), np.float32(3)], executor="reference")
    assert float(found[0]) == 2
    assert "stablehlo.subtract" in str(hlotool.to_stablehlo(module))


def test_dynamic_dimensions_pass_through() -> None:
    computation = hlotool.parse(
        "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
        "ENTRY main { p = f32[] parameter(0) ROOT r = f32[] call(p, p), to_apply=add }").computations[0]
    operand = Shape.array("f32", (4, 6), None, (True, False))
    found = OPS["reduce"].infer(operand, Shape.array("f32"), dimensions=(1,), to_apply=computation)
    assert str(found) == "f32[<=4]"


def test_all_to_all_of_one_group_takes_its_size_from_the_header() -> None:
    line = "ENTRY main { p = s32[4] parameter(0) ROOT r = s32[4] all-to-all(p), replica_groups={}, dimensions={0} }"
    exported = str(hlotool.to_stablehlo(hlotool.parse(f"HloModule m, replica_count=2\n{line}")))
    assert "split_count = 2" in exported and "dense<[[0, 1]]>" in exported
    with pytest.raises(hlotool.HloError, match="nor the module's header says it"):
        hlotool.to_stablehlo(hlotool.parse(f"HloModule m\n{line}"))


@pytest.mark.parametrize("source", [n for n, d in DTYPES.items() if not d.is_complex and n != "s1"])
def test_every_type_converts_to_every_other(source: str) -> None:
    for target, kind in DTYPES.items():
        if target == "s1":  # holds no 1
            continue
        text = f"ENTRY e {{ x = {source}[2] constant({{1, 1}})  ROOT y = {target}[2] convert(x) }}"
        (found,) = hlotool.execute(text, [], executor="reference")
        assert found.dtype == kind.numpy and (found.astype(np.complex128 if kind.is_complex else np.float32) == 1).all()


@pytest.mark.parametrize("groups", ["feature_group_count=2", "batch_group_count=1"])
def test_a_convolution_multiplies_infinity_with_zero(groups: str) -> None:
    """Some routines for products of arrays pass over zeros, and lose the NaN."""
    features = 1 if groups.startswith("feature") else 2
    text = (f"ENTRY e {{ x = f32[1,2,2] parameter(0) k = f32[1,{features},2] parameter(1) ROOT c = f32[1,2,2] "
            f"convolution(x, k), window={{size=1}}, dim_labels=b0f_0io->b0f, {groups} }}")
    image = np.array([[[np.inf, 1], [2, 3]]], np.float32)
    kernel = np.zeros((1, features, 2), np.float32)
    found = np.asarray(execute(hlotool.parse(text), [image, kernel], executor="reference")[0])
    assert np.isnan(found[0, 0, 0])
    assert not np.isnan(found[0, 1]).any()


def test_a_shape_that_was_written_for_other_groups_has_no_value() -> None:
    text = ("HloModule m, replica_count=2\nadd { a = f32[] parameter(0) b = f32[] parameter(1) "
            "ROOT s = f32[] add(a, b) }\nENTRY e { x = f32[8] parameter(0) r = f32[2] reduce-scatter(x), "
            "replica_groups={}, dimensions={0}, to_apply=add "
            "ROOT g = f32[8] all-gather(r), replica_groups={}, dimensions={0} }")
    with pytest.raises(HloError, match="the group has 2 members, so that dimension 0 has 4 elements"):
        execute(hlotool.parse(text), [np.zeros(8, np.float32)], executor="reference")
