"""Executors, ULP arithmetic, comparison. Values are checked between independent executors."""

from __future__ import annotations

import inspect
import math
import pathlib
import sys
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import (
    MOST_DEVICES,
    Executor,
    Options,
    Program,
    arguments_for,
    execute,
    executor_name,
    executor_named,
    executor_names,
    run_program,
)
from hlotool.ir import DTYPES
from hlotool.numerics import ulp_distance

SMALL = """HloModule small
ENTRY main {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  sum = f32[4] add(a, b)
  ROOT root = (f32[4], f32[4]) tuple(sum, a)
}
"""
ENDLESS = """HloModule endless
body { x = s32[] parameter(0)  ROOT m = s32[] multiply(x, x) }
forever { y = s32[] parameter(0)  zero = s32[] constant(0)  ROOT t = pred[] compare(y, zero), direction=EQ }
ENTRY e { a = s32[] parameter(0)  ROOT r = s32[] while(a), condition=forever, body=body }"""
FLOATS = [d for d in DTYPES.values() if d.is_floating]
ALL = ("pjrt:cpu", "reference", "stablehlo")


@pytest.mark.parametrize("executor", ALL)
def test_execute(executor: str) -> None:
    total, first = execute(SMALL, [[1, 2, 3, 4], np.float32([0.5, 0, 0, -4])], executor)
    assert total.tolist() == [1.5, 2, 3, 0]
    assert first.dtype == np.float32 and first.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("executor", ALL)
@pytest.mark.parametrize("name", sorted(set(DTYPES) - {"s1", "u1"}))
def test_every_element_type_goes_through(executor: str, name: str) -> None:
    if executor == "stablehlo" and name in ("s2", "u2", "f8e8m0fnu", "f4e2m1fn", "f6e2m3fn", "f6e3m2fn"):
        pytest.skip("the interpreter does not have the type")
    if executor == "pjrt:cpu" and name.startswith("f6"):
        pytest.skip("XLA does not have the type")
    text = f"HloModule m\nENTRY e {{ a = {name}[5] parameter(0)  ROOT r = {name}[1,5] reshape(a) }}"
    (given,) = arguments_for(Program(hlotool.parse(text)), 3)
    (found,) = execute(text, [given], executor)
    assert found.dtype == given.dtype
    assert found.tobytes() == given.tobytes()


def test_64_bits_are_not_narrowed() -> None:
    text = """HloModule m
ENTRY e { a = s64[1] parameter(0)  b = f64[1] parameter(1)  ROOT r = (s64[1], f64[1]) tuple(a, b) }"""
    whole, real = execute(text, [np.array([2**62 + 1]), np.array([math.pi])])
    assert whole.tolist() == [2**62 + 1] and real.tolist() == [math.pi]


@pytest.mark.parametrize(("arguments", "said"), [
    ([np.zeros(4, np.float32)], "2 arguments expected, 1 given"),
    (["ones", [1] * 4], "argument 0 is no f32[4]: could not convert string to float"),
    ([object(), [1] * 4], "argument 0 is no f32[4]: float() argument must be"),
    ([np.zeros(4, np.float32), np.zeros(4, np.float64)], "argument 1 is float64[4], the parameter is f32[4]"),
    ([np.zeros(3, np.float32), np.zeros(4, np.float32)], "argument 0 is float32[3], the parameter is f32[4]"),
])
def test_arguments_that_do_not_fit(arguments: list[Any], said: str) -> None:
    with pytest.raises(HloError) as caught:
        execute(SMALL, arguments)
    assert [d.code for d in caught.value.diagnostics] == ["E107"]
    assert said in str(caught.value)


def test_parts_of_a_complex_number_are_measured_by_its_largest() -> None:
    """The imaginary parts are 2 * 2**-20 apart, and a unit in the last place of 1 is 2**-23."""
    a, b = np.complex64(1 + 2.0**-20 * 1j), np.complex64(1 + 3 * 2.0**-20 * 1j)
    assert ulp_distance(np.asarray(a), np.asarray(b)) == 16
    assert ulp_distance(np.asarray(a), np.asarray(a.conjugate())) == 16
    assert ulp_distance(np.asarray(np.complex64(2.0**-20 + 1j)), np.asarray(np.complex64(3 * 2.0**-20 + 1j))) == 16


def test_unknown_executor() -> None:
    for name in ("tpu", "pjrt:", ""):
        with pytest.raises(HloError, match="E101"):
            executor_named(name)


def test_a_crash_is_a_result_and_the_next_question_is_answered() -> None:
    # The interpreter ends its process where an integer is divided by zero.
    text = """HloModule m
ENTRY e { a = s32[2] parameter(0)  b = s32[2] parameter(1)  ROOT r = s32[2] divide(a, b) }"""
    with pytest.raises(HloError) as caught:
        execute(text, [[1, 2], [1, 0]], "stablehlo")
    assert [d.code for d in caught.value.diagnostics] == ["E104"]
    assert "exit code" in str(caught.value)
    assert execute(SMALL, [[1] * 4, [2] * 4], "stablehlo")[0].tolist() == [3] * 4


def test_a_time_out_is_a_result() -> None:
    program = Program(hlotool.parse(ENDLESS))
    execute(SMALL, [[1] * 4, [2] * 4])  # the child is there, so that the limit is not spent on its start
    with pytest.raises(HloError) as caught:
        executor_named("pjrt:cpu", 2.0).run(program, [[[np.int32(0)]]])
    assert [d.code for d in caught.value.diagnostics] == ["E105"]
    assert execute(SMALL, [[1] * 4, [2] * 4])[0].tolist() == [3] * 4


def test_compile_errors_have_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HLOTOOL_ALLOW_CUSTOM_CALLS", "nobody.knows")
    text = """HloModule m
ENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] custom-call(a), custom_call_target="nobody.knows",
  api_version=API_VERSION_TYPED_FFI }"""
    with pytest.raises(HloError) as caught:
        execute(text, [[1, 2]])
    assert caught.value.diagnostics[0].code in ("E102", "E103")


def test_other_names_of_an_executor() -> None:
    assert execute(SMALL, [[1] * 4, [2] * 4], "numpy")[0].tolist() == [3] * 4
    assert executor_name("numpy") == "reference" and executor_name("pjrt:cpu") == "pjrt:cpu"
    assert executor_names() == ("pjrt:PLATFORM", "reference", "shadow", "stablehlo", "stored:FILE")


class Doubled(Executor):
    """Gives each argument twice as large, whatever the program."""

    names = ("doubled",)

    def compute(self, work: Any, argument_sets: Any, infeed: Any) -> Any:
        return [[[2 * array for array in row] for row in given] for given in argument_sets]


def test_an_executor_of_another_package_is_loaded_only_when_it_is_named(
        monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    (tmp_path / "doubling.py").write_text(inspect.getsource(Doubled).replace(
        "class", "from typing import Any\nfrom hlotool.execution import Executor\n\n\nclass", 1))
    information = tmp_path / "doubling-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: doubling\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[hlotool.executors]\ndoubled = doubling:Doubled\nbroken = doubling:Nothing\nother = doubling:Any\n")
    monkeypatch.syspath_prepend(tmp_path)
    execute(SMALL, [[1] * 4, [2] * 4], "reference")
    assert "doubling" not in sys.modules
    assert execute(SMALL, [[1] * 4, [2] * 4], "doubled")[1].tolist() == [4] * 4
    for name in ("broken", "other"):
        with pytest.raises(HloError, match=f"{name}.*E101"):
            executor_named(name)


@pytest.mark.parametrize("executor", ALL)
def test_several_sets_of_arguments_in_one_question(executor: str) -> None:
    sets = [[[np.full(4, n, np.float32), np.zeros(4, np.float32)]] for n in range(3)]
    found = executor_named(executor).run(Program(hlotool.parse(SMALL)), sets)
    assert [rows[0][0].tolist() for rows in found] == [[n] * 4 for n in range(3)]


def test_the_reference_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its results are the same, and no child is asked."""
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("a child was asked")

    monkeypatch.setattr(Executor, "ask", refuse)
    assert execute(SMALL, [[1] * 4, [2] * 4], "reference", Options(in_process=True))[0].tolist() == [3] * 4
    with pytest.raises(AssertionError, match="a child was asked"):
        execute(SMALL, [[1] * 4, [2] * 4], "reference")


def test_a_time_limit_holds_for_the_reference_too() -> None:
    program = Program(hlotool.parse(ENDLESS))
    with pytest.raises(HloError, match="E105"):
        executor_named("reference", Options(time_limit=1.0)).run(program, [[[np.int32(0)]]])
    assert execute(SMALL, [[1] * 4, [2] * 4], "reference")[0].tolist() == [3] * 4


ALL_REDUCE = """HloModule m, replica_count=2, num_partitions=1
sum { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
ENTRY e { a = f32[2] parameter(0)  r = u32[] replica-id()
  s = f32[2] all-reduce(a), replica_groups={{0,1}}, to_apply=sum
  ROOT t = (f32[2], u32[]) tuple(s, r) }"""


@pytest.mark.parametrize("executor", ALL)
def test_replicas(executor: str) -> None:
    program = Program(hlotool.parse(ALL_REDUCE))
    found = run_program(program, [[[1, 2]], [[10, 20]]], executor)
    assert [[r.tolist() for r in row] for row in found] == [[[11, 22], 0], [[11, 22], 1]]


@pytest.mark.parametrize("executor", ALL)
def test_partitions(executor: str) -> None:
    text = (ALL_REDUCE.replace("replica_count=2, num_partitions=1", "num_partitions=2")
            .replace("replica-id", "partition-id")
            .replace("replica_groups={{0,1}}", "channel_id=1, use_global_device_ids=true, replica_groups={{0,1}}"))
    program = Program(hlotool.parse(text))
    assert program.partitioning == "manual" and program.devices == 2
    found = run_program(program, [[[1, 2]], [[10, 20]]], executor)
    assert [[r.tolist() for r in row] for row in found] == [[[11, 22], 0], [[11, 22], 1]]


# ULPs.


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_neighbours_are_one_ulp_apart(dtype: Any) -> None:
    if dtype.bits > 16:
        values = np.array([0.0, 1.0, -1.0, 3.5, np.finfo(dtype.numpy).tiny], dtype.numpy)
        assert ulp_distance(values, np.nextafter(values, np.array(np.inf, dtype.numpy))).tolist() == [1.0] * 5
        return
    # All values of the type, in order: those that are no NaN follow each other one ULP apart.
    everything = np.arange(1 << dtype.bits, dtype=np.uint32).astype(np.uint16 if dtype.bits == 16 else np.uint8)
    values = everything.view(dtype.numpy)
    wide = values.astype(np.float64)
    values, wide = values[~np.isnan(wide)], wide[~np.isnan(wide)]
    order = np.argsort(wide, kind="stable")
    ordered, wide = values[order], wide[order]
    expected = np.where(wide[1:] == wide[:-1], 0.0, 1.0)  # -0 and +0 are equal
    assert np.array_equal(ulp_distance(ordered[1:], ordered[:-1]), expected)


def test_special_distances() -> None:
    nan, inf = np.float32(np.nan), np.float32(np.inf)
    found = ulp_distance(np.float32([nan, nan, 0.0, inf]), np.float32([nan, 1, -0.0, inf]))
    assert found.tolist() == [0, math.inf, 0, 0]
    assert ulp_distance(np.float64([-1.0]), np.float64([1.0]))[0] == 2.0 * 0x3FF0000000000000
    assert ulp_distance(np.array([1 + 2j]), np.array([1 + 2.0000000000000004j])).tolist() == [1.0]
    assert ulp_distance(np.array([2**64 - 1], np.uint64), np.array([0], np.uint64))[0] == 2.0**64
    assert ulp_distance(np.array([-2**63]), np.array([2**63 - 1]))[0] == 2.0**64
    assert ulp_distance(np.array([True]), np.array([False])).tolist() == [1.0]
    with pytest.raises(TypeError):
        ulp_distance(np.zeros(2), np.zeros(3))


# Arguments.


@pytest.mark.parametrize("kind", ["random", "positive", "special"])
def test_arguments_are_deterministic_and_fit(kind: str) -> None:
    shapes = "".join(f"  p{n} = {name}[7] parameter({n})\n" for n, name in enumerate(DTYPES))
    text = f"HloModule m\nENTRY e {{\n{shapes}  ROOT r = f32[] constant(0)\n}}"
    program = Program(hlotool.parse(text))
    first, second = arguments_for(program, 5, kind), arguments_for(program, 5, kind)
    for shape, x, y in zip(program.parameters, first, second, strict=True):
        assert x.dtype == shape.dtype.numpy and x.shape == (7,)
        assert x.tobytes() == y.tobytes()
    if kind == "special":
        by_name = dict(zip(DTYPES, first, strict=True))
        assert by_name["s8"].tolist()[:5] == [0, 1, -1, 127, -128]
        assert np.signbit(by_name["f32"][1]) and by_name["f32"][4] == np.finfo(np.float32).max


def test_reference_locates_what_has_no_value() -> None:
    text = """HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  ROOT c = f32[2] custom-call(a), custom_call_target="x"
}"""
    with pytest.raises(HloError) as caught:
        execute(text, [[1, 2]], "reference")
    assert caught.value.diagnostics[0].line == 4


def test_devices_that_cannot_meet_get_an_error_instead_of_waiting() -> None:
    # Replica 1 takes the branch without the collective.
    text = """HloModule m, replica_count=2
sum { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
meet { a = f32[] parameter(0)  ROOT s = f32[] all-reduce(a), replica_groups={{0,1}}, to_apply=sum }
leave { b = f32[] parameter(0)  ROOT n = f32[] negate(b) }
ENTRY e {
  a = f32[] parameter(0)
  r = u32[] replica-id()
  i = s32[] convert(r)
  ROOT c = f32[] conditional(i, a, a), branch_computations={meet, leave}
}"""
    program = Program(hlotool.parse(text))
    with pytest.raises(HloError, match="device 0 at all-reduce s, for device 1; device 1 at the end of the program"):
        run_program(program, [[np.float32(1)], [np.float32(2)]], "reference")


def test_automatic_partitioning_takes_and_gives_whole_arrays() -> None:
    text = """HloModule m, num_partitions=4
ENTRY e {
  a = f32[4,6] parameter(0), sharding={devices=[2,2]<=[4]}
  b = f32[6,8] parameter(1), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  ROOT c = f32[4,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[2,2]<=[4]}
}"""
    program = Program(hlotool.parse(text))
    assert program.partitioning == "automatic" and program.devices == 1 and program.partitions == 4
    a, b = np.arange(24, dtype=np.float32).reshape(4, 6), np.arange(48, dtype=np.float32).reshape(6, 8)
    (found,) = execute(text, [a, b])
    assert np.array_equal(found, a @ b)


def test_the_device_counts_of_a_silent_header() -> None:
    text = ALL_REDUCE.replace(", replica_count=2, num_partitions=1", "")
    assert (Program(hlotool.parse(text)).replicas, Program(hlotool.parse(text)).partitions) == (2, 1)
    groups = "channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2}}"
    crossing = text.replace("replica_groups={{0,1}}", groups)
    program = Program(hlotool.parse(crossing))
    assert (program.replicas, program.partitions, program.partitioning) == (1, 3, "manual")


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
@pytest.mark.parametrize("operation, wanted", [
    ("f32[4] all-gather(a), dimensions={0}, replica_groups={}", [1, 2, 10, 20]),
    ("f32[1] reduce-scatter(a), dimensions={0}, replica_groups={}, to_apply=sum", [11])])
def test_sizes_tell_how_many_devices_take_part_where_nothing_else_does(
        executor: str, operation: str, wanted: list[float]) -> None:
    text = ALL_REDUCE.replace(", replica_count=2, num_partitions=1", "")
    text = text[:text.index("ENTRY")] + f"ENTRY e {{ a = f32[2] parameter(0)  ROOT r = {operation} }}"
    program = Program(hlotool.parse(text))
    assert program.replicas == 2
    found = run_program(program, [[[1, 2]], [[10, 20]]], executor)
    assert found[0][0].tolist() == wanted


# Sizes.

REFUSED = {
    "parameter": ("x = f32[4611686018427387904] parameter(0)  ROOT y = f32[4611686018427387904] negate(x)", "E112",
                  "parameter 0 (x): f32[4611686018427387904] takes 18.4 EB"),
    "open": ("a = f32[?] parameter(0)  ROOT r = f32[3] reshape(a)", "E106", "its size is not known"),
    "iota": ("i = s32[1000000,1000000] iota(), iota_dimension=0\n  z = s32[] constant(0)\n"
             "  ROOT r = s32[] reduce(i, z), dimensions={0,1}, to_apply=sum", "E112",
             "iota i: its value, s32[1000000,1000000]"),
    "splat": ("ROOT c = f32[1000000,1000000] constant(0)", "E112",
              "constant c: its value, f32[1000000,1000000], takes 4 TB"),
    "broadcast": ("z = s32[] constant(0)  b = s32[1000000000000] broadcast(z), dimensions={}\n"
                  "  ROOT r = s32[] reduce(b, z), dimensions={0}, to_apply=sum", "E112", "broadcast b:"),
    "pad": ("z = s32[] constant(0)  o = s32[1] broadcast(z), dimensions={}\n"
            "  ROOT b = s32[1000000000000] pad(o, z), padding=0_999999999999", "E112", "pad b:"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("in_process", [False, True], ids=["child", "here"])
def test_sizes_are_asked_before_anything_is_allocated(name: str, in_process: bool) -> None:
    body, code, said = REFUSED[name]
    text = ("HloModule m\nsum { p = s32[] parameter(0)  q = s32[] parameter(1)  ROOT s = s32[] add(p, q) }\n"
            f"ENTRY e {{\n  {body}\n}}")
    with pytest.raises(HloError) as caught:
        program = Program(hlotool.parse(text))
        executor_named("reference", Options(in_process=in_process)).run(program, [[arguments_for(program)]])
    (found,) = caught.value.diagnostics
    assert found.code == code and said in found.message and found.line in (4, 5)


def test_a_branch_that_is_not_taken_may_be_as_large_as_it_likes() -> None:
    text = """HloModule m
large { x = f32[] parameter(0)  b = f32[1000000,1000000] broadcast(x), dimensions={}  ROOT s = f32[] slice_of(b) }
small { y = f32[] parameter(0)  ROOT n = f32[] negate(y) }
ENTRY e { p = pred[] constant(false)  a = f32[] parameter(0)
  ROOT c = f32[] conditional(p, a, a), true_computation=large, false_computation=small }"""
    assert execute(text.replace("slice_of", "custom-call").replace("custom-call(b)", 'custom-call(b), '
                   'custom_call_target="x"'), [np.float32(2)], "reference") == [-2.0]


def test_memory_that_a_value_takes_on_its_way_has_a_limit_too() -> None:
    text = """HloModule m
less { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT l = pred[] compare(x, y), direction=LT }
ENTRY e { a = f32[3000000] parameter(0)  ROOT s = f32[3000000] sort(a), dimensions={0}, to_apply=less }"""
    program = Program(hlotool.parse(text))
    with pytest.raises(HloError) as caught:
        executor_named("reference", Options(memory_limit=24 << 20)).run(program, [[arguments_for(program)]])
    assert [d.code for d in caught.value.diagnostics] == ["E112"]


@pytest.mark.parametrize("count", [1000, 10**9, -3])
@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
def test_too_many_devices(count: int, executor: str) -> None:
    count = MOST_DEVICES + 1 if count == 1000 and executor == "reference" else count
    text = f"HloModule m, replica_count={count}\nENTRY e {{ ROOT a = f32[] parameter(0) }}"
    with pytest.raises(HloError, match="E106"):
        execute(text, [1.0], executor)


def test_more_devices_than_threads() -> None:
    count = 600
    text = ALL_REDUCE.replace("replica_count=2", f"replica_count={count}").replace("{{0,1}}", "{}")
    found = run_program(Program(hlotool.parse(text)), [[[1, 2]]] * count, "reference")
    assert found[7][0].tolist() == [count, 2 * count]


def test_calls_of_python_functions_are_refused() -> None:
    jax = pytest.importorskip("jax")
    doubled = jax.jit(lambda x: jax.pure_callback(lambda y: 2 * y, jax.ShapeDtypeStruct((3,), np.float32), x))
    text = doubled.lower(np.ones(3, np.float32)).as_text(dialect="hlo")
    with pytest.raises(HloError, match="E106") as caught:
        execute(text, [[1, 2, 3]])
    assert "calls a Python function" in str(caught.value) and caught.value.diagnostics[0].line


def test_sparse_products_of_jaxlib_are_known_to_the_child() -> None:
    text = """HloModule m
ENTRY e { v = f32[3] parameter(0)  r = s32[3] parameter(1)  c = s32[3] parameter(2)  d = f32[2,1] parameter(3)
  ROOT p = f32[2,1]{1,0} custom-call(v, r, c, d), custom_call_target="cpu_csr_sparse_dense_ffi",
    api_version=API_VERSION_TYPED_FFI }"""
    # [[1, 2], [0, 3]] times [10, 100]
    (found,) = execute(text, [[1, 2, 3], [0, 2, 3], [0, 1, 1], [[10], [100]]])
    assert found.tolist() == [[210], [300]]


def test_many_arguments_that_do_not_fit_together() -> None:
    rows = " ".join(f"a{n} = f32[100000,10000] parameter({n})" for n in range(2000))
    program = Program(hlotool.parse(f"HloModule m\nENTRY e {{ {rows} ROOT t = () tuple() }}"))
    with pytest.raises(HloError, match=r"the arguments take 8 TB.*E112"):
        arguments_for(program)


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
def test_a_text_that_leaves_values_out_is_told_with_the_way_out(executor: str) -> None:
    module = hlotool.parse("ENTRY e { c = f32[4000] constant({...})  ROOT r = f32[4000] negate(c) }")
    with pytest.raises(HloError) as caught:
        hlotool.execute(module, [], executor)
    (found,) = caught.value.diagnostics
    assert "the text leaves out" in found.message and "Error" not in found.message and found.line == 1
    assert "--xla_dump_large_constants" in found.help and "--elided=zeros" in found.help


@pytest.mark.parametrize(("name", "said"), [
    ("pjrt:cpu,reference", "write spaces between the names: --executors pjrt:cpu reference"),
    ("reference,pjrt:cpu", "write spaces between the names: --executors reference pjrt:cpu")])
def test_names_between_commas_are_no_executor(name: str, said: str) -> None:
    with pytest.raises(HloError) as caught:
        executor_named(name)
    assert [d.help for d in caught.value.diagnostics] == [said]


def test_a_platform_without_a_plugin_is_reported_in_plain_words() -> None:
    with pytest.raises(HloError) as caught:
        hlotool.execute("HloModule m\nENTRY e { ROOT x = f32[] parameter(0) }", [np.float32(1)], executor="pjrt:gpus")
    (found,) = caught.value.diagnostics
    assert found.code == "E121" and "no plugin of JAX for the platform gpus is installed" in found.message
