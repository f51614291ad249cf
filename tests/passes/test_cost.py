"""What modules cost: against figures by hand, against unrolled programs, and against XLA's own analyses."""

from __future__ import annotations

import itertools
import json
import pathlib

import pytest

import hlotool
from hlotool.ir import Aliasing
from hlotool.ops import OPS, Cost
from hlotool.passes.cost import (
    GROUPINGS,
    devices,
    module_cost,
    peak_memory,
    roofline,
    transfers,
    trip_count,
)
from hlotool.passes.cost.overwriting import updated_in_place

ROOT = pathlib.Path(__file__).parents[2]
MODELS = sorted((ROOT / "samples" / "models").glob("*.hlo"))

LOOP = """HloModule loop
step (s: (s32[], f32[8,8])) -> (s32[], f32[8,8]) {{
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,8] get-tuple-element(s), index=1
  by = s32[] constant({by})
  next = s32[] {update}(i, by)
  y = f32[8,8] dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT t = (s32[], f32[8,8]) tuple(next, y)
}}
go (s: (s32[], f32[8,8])) -> pred[] {{
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({limit})
  ROOT p = pred[] compare(i, n), direction={direction}
}}
ENTRY main {{
  x = f32[8,8] parameter(0)
  zero = s32[] constant({start})
  t = (s32[], f32[8,8]) tuple(zero, x)
  ROOT w = (s32[], f32[8,8]) while(t), condition=go, body=step
}}
"""


def loop(start=0, limit=100, by=1, update="add", direction="LT"):
    return hlotool.parse(LOOP.format(start=start, limit=limit, by=by, update=update, direction=direction))


def the_loop(module):
    return next(i for i in module.instructions() if i.opcode == "while")


@pytest.mark.parametrize(("given", "count"), [
    ({}, 100), ({"by": 3}, 34), ({"direction": "LE"}, 101), ({"direction": "NE", "limit": 12, "by": 4}, 3),
    ({"start": 10, "limit": 0, "by": -1, "direction": "GT"}, 10), ({"start": 5, "limit": 5}, 0),
    ({"start": 1, "limit": 1000, "by": 2, "update": "multiply"}, 10),
    ({"start": 1024, "limit": 1, "by": 2, "update": "divide", "direction": "GT"}, 10),
    ({"start": 10, "limit": 0, "by": 1, "update": "subtract", "direction": "GE"}, 11),
    ({"direction": "NE", "limit": 13, "by": 4}, None),  # steps over its limit and wraps
    ({"by": 0}, None), ({"by": -1}, None), ({"direction": "EQ", "limit": 0}, 1),
    ({"direction": "EQ", "limit": 0, "by": 0}, None),
    # more than anybody would run, so nobody does; the counter comes to the end of its type, or would leave it
    ({"limit": 2**31 - 1}, 2**31 - 1), ({"limit": 2**31 - 1, "direction": "LE"}, None),
    ({"limit": 2**31 - 2, "direction": "LE"}, 2**31 - 1), ({"limit": 2**31 - 1, "by": 2}, None),
    ({"limit": 2**31 - 2, "by": 2}, 2**30 - 1), ({"limit": -2**31, "by": -1, "direction": "GT"}, 2**31),
    ({"limit": -2**31, "by": -1, "direction": "GE"}, None), ({"limit": 10**8, "direction": "GE", "start": 0}, 0)])
def test_loops_run_as_often_as_their_counter_says(given, count):
    assert trip_count(the_loop(loop(**given))) == count


@pytest.mark.parametrize(("limit", "direction", "update", "start", "count"), [
    (255, "LT", "add", 0, 255), (255, "LE", "add", 0, None), (0, "GT", "subtract", 255, 255),
    (0, "GE", "subtract", 255, None), (1, "GE", "subtract", 255, 255)])
def test_counters_without_sign_count_down_to_zero(limit, direction, update, start, count):
    text = LOOP.format(start=start, limit=limit, by=1, update=update, direction=direction).replace("s32[]", "u8[]")
    assert trip_count(the_loop(hlotool.parse(text))) == count


@pytest.mark.parametrize(("direction", "count"), [("GT", 10**7), ("GE", 10**7 + 1), ("LT", 0), ("NE", 10**7)])
def test_the_counter_may_stand_on_either_side(direction, count):
    text = LOOP.format(start=0, limit=10**7, by=1, update="add", direction=direction)
    assert trip_count(the_loop(hlotool.parse(text.replace("compare(i, n)", "compare(n, i)")))) == count


def test_a_step_may_stand_on_either_side():
    text = LOOP.format(start=0, limit=10**7, by=1, update="add", direction="LT")
    assert trip_count(the_loop(hlotool.parse(text.replace("add(i, by)", "add(by, i)")))) == 10**7


def test_a_loop_of_100_counts_100_times_and_its_condition_101_times():
    cost = module_cost(loop())
    assert cost.total.flops == 100 * (2 * 8 * 8 * 8 + 1) + 101
    assert not cost.unknown_loops
    assert {r.executions for r in cost.rows if r.computation.name == "step"} == {100}


def test_a_loop_that_nobody_can_count_counts_once_and_is_named():
    text = LOOP.format(start=0, limit=1, by=1, update="add", direction="LT").replace(
        "zero = s32[] constant(0)", "zero = s32[] parameter(1)")
    module = hlotool.parse(text)
    cost = module_cost(module)
    assert [i.name for i in cost.unknown_loops] == ["w"]
    assert cost.total.flops == 2 * 8 * 8 * 8 + 1 + 2


def test_instructions_of_one_name_in_several_computations_have_rows_of_their_own():
    found = module_cost(hlotool.parse("""HloModule m
    square { x = f32[4] parameter(0)  ROOT r = f32[4] multiply(x, x) }
    ENTRY main { x = f32[4] parameter(0)  y = f32[4] call(x), to_apply=square  ROOT r = f32[4] tanh(y) }"""))
    assert found.by("instruction")["square/r"] == Cost(4, 0, 32, 16)
    assert found.by("instruction")["main/r"] == Cost(0, 4, 16, 16)


def test_a_library_call_that_loops_is_named_itself_and_not_a_loop_that_the_text_does_not_show():
    call = ('(f32[6,6], f32[6], s32[]) custom-call(a), custom_call_target="lapack_ssyevd_ffi", '
            'backend_config={mode = 86 : ui8, uplo = 76 : ui8}, api_version=API_VERSION_TYPED_FFI')
    cost = module_cost(hlotool.parse(f"""HloModule m
    ENTRY main {{ a = f32[6,6]{{0,1}} parameter(0)  one = {call}  two = {call}  ROOT t = tuple(one, two) }}"""
                                     .replace("f32[6,6],", "f32[6,6]{0,1},")))
    assert [i.name for i in cost.unknown_loops] == ["one", "two"] and not cost.opaque


@pytest.mark.parametrize(("plain", "started"), [
    ("f32[4096] all-gather(x), dimensions={0}, replica_groups={{0,1,2,3}}",
     "(f32[1024], f32[4096]) all-gather-start(x), dimensions={0}, replica_groups={{0,1,2,3}}"),
    ("f32[1024] collective-permute(x), source_target_pairs={{0,1}}",
     "(f32[1024], f32[1024], u32[], u32[]) collective-permute-start(x), source_target_pairs={{0,1}}"),
    ("f32[1024] copy(x)", "(f32[1024], f32[1024], u32[]) copy-start(x)"),
    ("f32[1024] tanh(x)", "((f32[1024]), f32[1024], s32[]) tanh-start(x)"),
    ("f32[1024] add(x, x)", "((f32[1024], f32[1024]), f32[1024], s32[]) add-start(x, x)")])
def test_what_is_started_costs_what_it_costs_otherwise_and_its_operands_stay_where_they_are(plain, started):
    opcode = started[:started.index("-start")].rpartition(" ")[2]
    result = plain.partition(" ")[0]
    head = "HloModule m, replica_count=4, is_scheduled=true\n"
    modules = [hlotool.parse(f"{head}ENTRY e {{ x = f32[1024] parameter(0)  {lines} }}") for lines in (
        f"ROOT r = {plain}", f"s = {started}  ROOT r = {result} {opcode}-done(s)")]
    one, other = (module_cost(m).total for m in modules)
    assert one == other
    one, other = (peak_memory(m) for m in modules)
    assert one.total <= other.total < one.total + 256  # a table of addresses, and contexts


def test_open_sizes_are_said_to_count_as_one():
    text = "ENTRY e { a = f32[?,4] parameter(0)  b = f32[<=9] parameter(1)  ROOT t = (f32[?,4], f32[<=9]) tuple(a, b) }"
    found = module_cost(hlotool.parse(text))
    assert [i.name for i in found.open_shapes] == ["a", "t"]


def test_counters_are_seen_through_fusions_and_calls():
    text = """HloModule hidden
    more { i = s32[] parameter(0)  one = s32[] constant(1)  ROOT n = s32[] add(i, one) }
    less { i = s32[] parameter(0)  n = s32[] parameter(1)  ROOT p = pred[] compare(i, n), direction=LT }
    body { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
           n = s32[] get-tuple-element(s), index=1  j = s32[] fusion(i), kind=kLoop, calls=more
           ROOT t = (s32[], s32[]) tuple(j, n) }
    cond { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
           n = s32[] get-tuple-element(s), index=1  ROOT p = pred[] call(i, n), to_apply=less }
    ENTRY main { a = s32[] constant(2)  b = s32[] constant(9)  t = (s32[], s32[]) tuple(a, b)
                 ROOT w = (s32[], s32[]) while(t), condition=cond, body=body }"""
    assert trip_count(the_loop(hlotool.parse(text))) == 7


def test_what_the_compiler_noted_is_believed_and_nonsense_is_not():
    for text, count in (('{"known_trip_count":{"n":"7"}}', 7), ('{"known_trip_count":{"n":"-7"}}', 100),
                        ('{"known_trip_count":{}}', 100), ('{"known_trip_count":', 100)):
        source = LOOP.format(start=0, limit=100, by=1, update="add", direction="LT")
        noted = hlotool.parse(source.replace("body=step", f"body=step, backend_config={json.dumps(text)}"))
        assert trip_count(the_loop(noted)) == count


def unrolled(times):
    lines = ["x0 = f32[8,8] parameter(0)"]
    lines += [f"x{i + 1} = f32[8,8] dot(x{i}, x{i}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
              for i in range(times)]
    return hlotool.parse("HloModule unrolled\nENTRY main {\n  " + "\n  ".join(lines) + "\n}")


@pytest.mark.parametrize("times", [1, 7, 100])
def test_a_loop_costs_what_its_unrolled_program_costs(times):
    in_loop = module_cost(loop(limit=times)).by("opcode")
    assert in_loop["dot"] == module_cost(unrolled(times)).by("opcode")["dot"]


@pytest.mark.parametrize(("instruction", "shapes", "cost"), [
    ("f32[4,5] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}", ("f32[4,3]", "f32[3,5]"),
     Cost(120, 0, 4 * (12 + 15), 80)),
    ("f32[1,1,3,3] convolution(a, b), window={size=2x2}, dim_labels=bf01_oi01->bf01", ("f32[1,1,4,4]", "f32[1,1,2,2]"),
     Cost(2 * 9 * 4, 0, 80, 36)),
    # padding is not computed: of the 16 places, 3 * 3 windows lie inside of 2 x 2, others partly
    ("f32[1,1,3,3] convolution(a, b), window={size=2x2 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01",
     ("f32[1,1,2,2]", "f32[1,1,2,2]"), Cost(2 * 16, 0, 32, 36)),
    ("f32[4] tanh(a)", ("f32[4]",), Cost(0, 4, 16, 16)),
    ("f32[4] add(a, b)", ("f32[4]", "f32[4]"), Cost(4, 0, 32, 16)),
    ("pred[4] compare(a, b), direction=LT", ("s4[4]", "s4[4]"), Cost(4, 0, 8, 4)),
    ("f32[2] slice(a), slice={[0:2]}", ("f32[1000]",), Cost(0, 0, 8, 8)),
    ("f32[1000] dynamic-update-slice(a, b, i)", ("f32[1000]", "f32[2]", "s32[]"), Cost(0, 0, 12, 8)),
    ("f32[4] bitcast(a)", ("f32[2,2]",), Cost()),
    ("c64[8] fft(a), fft_type=FFT, fft_length={8}", ("c64[8]",), Cost(5 * 8 * 3, 0, 64, 64)),
])
def test_operations_cost_what_their_documentation_says(instruction, shapes, cost):
    lines = [f"{name} = {shape} parameter({n})" for n, (name, shape) in enumerate(zip("abi", shapes, strict=False))]
    module = hlotool.parse("HloModule one\nENTRY main {\n" + "\n".join(lines) + f"\nROOT r = {instruction}\n}}")
    assert module_cost(module).total == cost


def test_every_operation_has_a_cost():
    assert [n for n, record in OPS.items() if record.cost is None and "elementwise" not in record.flags] == []


#: where XLA's conventions are others: it counts loops once, n log n for sorts and FFTs, and looks into no custom call
OTHERS = ("rnn_scan", "sort_topk_gather_scatter", "fft_complex", "linear_algebra", "sharded_collectives",
          "data_parallel_step", "tensor_parallel_block", "pipeline_stages", "mixture_of_experts")


@pytest.mark.parametrize("path", [p for p in MODELS if not p.name.startswith(OTHERS)], ids=lambda p: p.stem)
def test_arithmetic_is_that_of_xla_where_conventions_are_the_same(path):
    import jax
    from jaxlib import _jax
    from xla_library import xla_hlo

    text = path.read_text("utf-8")
    cost = module_cost(hlotool.parse(text))
    theirs = _jax.hlo_module_cost_analysis(jax.devices("cpu")[0].client, xla_hlo.hlo_module_from_text(text))
    assert cost.total.flops == theirs["flops"]
    assert cost.total.transcendentals == theirs.get("transcendentals", 0)
    assert cost.total.bytes == pytest.approx(theirs["bytes accessed"], rel=0.1)


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_groupings_add_up(path):
    cost = module_cost(hlotool.parse(path.read_text("utf-8")))
    for grouping in GROUPINGS:
        assert sum(cost.by(grouping).values(), Cost()) == cost.total, grouping


def test_the_memory_of_optimised_programs_is_what_the_device_takes():
    """The size of each program's memory, by PJRT."""
    import jax
    import jax.numpy as jnp

    def deep(x, w):
        for _ in range(5):
            x = jnp.tanh(x @ w)
        return x.sum(), x

    def scanned(x, w):
        return jax.lax.scan(lambda c, _: (jnp.sin(c @ w), c.sum()), x, None, length=10)

    for f, donated in itertools.product((deep, scanned), ((), (0,))):
        compiled = jax.jit(f, donate_argnums=donated).lower(jnp.ones((64, 64)), jnp.ones((64, 64))).compile()
        theirs, ours = compiled.memory_analysis(), peak_memory(hlotool.parse(compiled.as_text()))
        assert (ours.arguments, ours.outputs, ours.aliased) == (
            theirs.argument_size_in_bytes, theirs.output_size_in_bytes, theirs.alias_size_in_bytes)
        total = (theirs.argument_size_in_bytes + theirs.output_size_in_bytes - theirs.alias_size_in_bytes
                 + theirs.temp_size_in_bytes)
        assert ours.total == pytest.approx(total, rel=0.05)
        assert sum(b.bytes for b in ours.live) <= ours.total


def test_a_value_lives_until_its_last_reader():
    module = hlotool.parse("""HloModule live, is_scheduled=true
    ENTRY main {
      x = f32[256] parameter(0)
      a = f32[256] broadcast(f32[] constant(1)), dimensions={}
      b = f32[256] reverse(a), dimensions={0}
      c = f32[256] reverse(b), dimensions={0}
      d = f32[128] slice(c), slice={[0:128]}
      ROOT r = f32[128] add(d, d)
    }""")
    found = peak_memory(module)
    assert (found.arguments, found.outputs, found.temporaries) == (1024, 512, 2048)
    assert found.at.name in ("b", "c")
    assert found.is_scheduled


def test_collectives_send_what_a_ring_sends():
    module = hlotool.parse("""HloModule ring, num_partitions=4
    sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
    ENTRY main {
      x = f32[8] parameter(0)
      r = f32[8] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=sum
      g = f32[16] all-gather(x), channel_id=2, replica_groups=[2,2]<=[4], use_global_device_ids=true, dimensions={0}
      p = f32[8] collective-permute(x), channel_id=3, source_target_pairs={{0,1},{1,0}}
      ROOT t = (f32[8], f32[16], f32[8]) tuple(r, g, p)
    }""")
    found = {t.opcode: t for t in transfers(module_cost(module))}
    assert {k: t.total for k, t in found.items()} == {"all-reduce": 48, "all-gather": 32, "collective-permute": 32}
    assert found["all-reduce"].group_size == 4
    assert found["all-gather"].groups == "[2,2]<=[4]"


def test_sizes_without_measure_are_counted_and_not_allocated():
    module = hlotool.parse("""HloModule huge, num_partitions=1000000000
    ENTRY main {
      x = f32[9223372036854775807,9223372036854775807] parameter(0)
      signal = c64[9223372036854775807] parameter(1)
      c = c64[9223372036854775807] fft(signal), fft_type=FFT, fft_length={9223372036854775807}
      part = f32[9] parameter(2)
      g = f32[9000000000] all-gather(part), replica_groups=[1,1000000000]<=[1000000000], dimensions={0}
      ROOT y = f32[9223372036854775807,9223372036854775807] tanh(x)
    }""")
    cost = module_cost(module)
    assert cost.total.transcendentals == (2 ** 63 - 1) ** 2
    assert transfers(cost)[0].group_size == 10 ** 9
    assert peak_memory(module).arguments > 2 ** 128
    assert roofline(cost, devices()["h100"]).seconds > 0


def test_no_device_lacks_a_source():
    for device in devices().values():
        assert device.source
        assert device.matrix_flops("bf16") > device.vector_flops > 0
        assert device.matrix_flops("f16") == device.matrix_flops("bf16")


def test_invalid_modules_cost_what_is_valid_in_them():
    module = hlotool.parse("""HloModule bad
    ENTRY main {
      x = f32[4,4] parameter(0)
      y = f32[4] dot(x)
      w = f32[4] while(x)
      z = f32[4] fft(x)
      ROOT r = f32[4] add(y, z)
    }""")
    assert module_cost(module).total.flops >= 4
    assert peak_memory(module).total > 0


def test_what_is_fused_twice_counts_twice_and_is_walked_once():
    """Fusions that hold one computation several times, fifty deep: 2^50 instructions, and as many flops."""
    levels = "".join(f"g{n} {{ a = f32[8] parameter(0)  b = f32[8] fusion(a), kind=kLoop, calls=g{n - 1}\n"
                     f"  ROOT c = f32[8] fusion(b), kind=kLoop, calls=g{n - 1} }}\n" for n in range(1, 51))
    module = hlotool.parse("HloModule m\n"
                           "g0 { a = f32[8] parameter(0)  b = f32[8] negate(a)\n  ROOT c = f32[8] tanh(b) }\n"
                           f"{levels}ENTRY e {{ x = f32[8] parameter(0)\n"
                           "  ROOT r = f32[8] fusion(x), kind=kLoop, calls=g50 }\n")
    cost = module_cost(module)
    assert cost.total.flops == 8 << 50 and cost.total.transcendentals == 8 << 50
    for grouping in GROUPINGS:
        assert sum(c.flops for c in cost.by(grouping).values()) == 8 << 50
    assert cost.by("opcode")["tanh"].transcendentals == 8 << 50 and cost.by("opcode")["fusion"].bytes == 64
    assert roofline(cost, devices()["h100"]).seconds > 0


def test_products_in_shared_fusions_count_as_often_as_they_run():
    module = hlotool.parse("""HloModule m
inner { a = f32[8,8] parameter(0)  ROOT d = f32[8,8] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
outer { a = f32[8,8] parameter(0)  b = f32[8,8] fusion(a), kind=kOutput, calls=inner
  ROOT c = f32[8,8] fusion(b), kind=kOutput, calls=inner }
ENTRY e { x = f32[8,8] parameter(0)  ROOT r = f32[8,8] fusion(x), kind=kOutput, calls=outer }
""")
    device = devices()["h100"]
    found = roofline(module_cost(module), device)
    assert found.compute_seconds == pytest.approx(2 * (2 * 8 ** 3) / device.matrix_flops("f32"), rel=0.2)


@pytest.mark.parametrize(("limit", "count"), [(10, 10), (2.5, 3), (0, 0)])
def test_a_counter_may_be_converted_before_it_is_compared(limit, count):
    text = LOOP.format(start=0, limit=1, by=1, update="add", direction="LT")
    text = text.replace("n = s32[] constant(1)\n  ROOT p = pred[] compare(i, n)",
                        f"n = f32[] constant({limit})\n  f = f32[] convert(i)\n  ROOT p = pred[] compare(f, n)")
    assert "convert(i)" in text and trip_count(the_loop(hlotool.parse(text))) == count


@pytest.mark.parametrize(("root", "shapes", "moved"), [
    ("f32[8,8] convert(a)", ("u8[8,8]",), (64, 256)), ("bf16[8,8] convert(a)", ("f32[8,8]",), (256, 128)),
    # four elements are updated in the place of the operand, two bytes each behind the conversion
    ("f32[64] dynamic-update-slice(a, b, i)", ("f32[64]", "f32[4]", "s32[]"), (16 + 4, 16))])
def test_fusions_write_elements_of_their_result(root, shapes, moved):
    lines = "\n".join(f"{name} = {shape} parameter({n})" for n, (name, shape) in enumerate(zip("abi", shapes,
                                                                                            strict=False)))
    shape, operands = root.split()[0], ", ".join("abi"[:len(shapes)])
    module = hlotool.parse(f"HloModule m\nf {{\n{lines}\nROOT r = {root}\n}}\nENTRY e {{\n{lines}\n"
                           f"ROOT r = {shape} fusion({operands}), kind=kLoop, calls=f\n}}")
    found = module_cost(module).total
    assert (found.bytes_read, found.bytes_written) == moved


def test_a_fused_scatter_moves_what_it_updates():
    module = hlotool.parse("""HloModule m
    sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
    f { x = f32[100] parameter(0)  at = s32[3,1] parameter(1)  u = f32[3] parameter(2)
        ROOT r = f32[100] scatter(x, at, u), update_window_dims={}, inserted_window_dims={0},
          scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum }
    ENTRY e { x = f32[100] parameter(0)  at = s32[3,1] parameter(1)  u = f32[3] parameter(2)
        ROOT r = f32[100] fusion(x, at, u), kind=kLoop, calls=f }""")
    found = module_cost(module).total
    assert (found.bytes_read, found.bytes_written, found.flops) == (12 + 12 + 12, 12, 3)


def test_what_several_places_call_needs_its_memory_at_each_of_them():
    module = hlotool.parse("""HloModule shared, is_scheduled=true
    f { p = f32[256] parameter(0)  a = f32[256] reverse(p), dimensions={0}
        b = f32[256] reverse(a), dimensions={0}  ROOT c = f32[256] reverse(b), dimensions={0} }
    ENTRY e { x = f32[256] parameter(0)  y = f32[256] call(x), to_apply=f  ROOT z = f32[256] call(y), to_apply=f }""")
    found = peak_memory(module)
    assert found.outputs == 1024
    assert found.temporaries == 2 * 1024  # y, and b; a lies where c will


def test_a_module_that_calls_itself_has_an_answer():
    module = hlotool.parse("""HloModule odd
    f { p = f32[8] parameter(0)  ROOT c = f32[8] call(p), to_apply=f }
    ENTRY e { x = f32[8] parameter(0)  ROOT y = f32[8] call(x), to_apply=f }""")
    assert peak_memory(module).arguments == 32


@pytest.mark.parametrize(("root", "pairs"), [
    ("ROOT u = f32[8] dynamic-update-slice(x, v, i)", [Aliasing((), 1)]),
    ("u = f32[8] dynamic-update-slice(x, v, i)  ROOT b = f32[8] bitcast(u)", [Aliasing((), 1)]),
    ("u = f32[8] dynamic-update-slice(x, v, i)  n = f32[8] negate(x)  ROOT t = (f32[8], f32[8]) tuple(n, u)",
     [Aliasing((1,), 1)]),
    ("n = f32[8] negate(x)  ROOT u = f32[8] dynamic-update-slice(n, v, i)", []), ("ROOT n = f32[8] negate(x)", [])])
def test_what_a_fusion_updates_where_it_lies(root, pairs):
    shape = "(f32[8], f32[8])" if "tuple" in root else "f32[8]"
    module = hlotool.parse(
        "inner { v = f32[2] parameter(0)  x = f32[8] parameter(1)  i = s32[] parameter(2)  " + root + " }\n"
        "ENTRY e { v = f32[2] parameter(0)  x = f32[8] parameter(1)  i = s32[] parameter(2)  "
        f"ROOT f = {shape} fusion(v, x, i), kind=kLoop, calls=inner }}")
    assert list(updated_in_place(module.entry.root)) == pairs


def test_the_state_of_a_loop_may_lie_where_the_caller_laid_it():
    """A parameter's table of addresses is not the program's own: the body's is not one with it."""
    module = hlotool.parse("""HloModule m, is_scheduled=true
    cond { s = (s32[], f32[64]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)
      ROOT c = pred[] compare(i, n), direction=LT }
    body { s = (s32[], f32[64]) parameter(0)  i = s32[] get-tuple-element(s), index=0
      x = f32[64] get-tuple-element(s), index=1  o = s32[] constant(1)  j = s32[] add(i, o)  y = f32[64] negate(x)
      ROOT t = (s32[], f32[64]) tuple(j, y) }
    ENTRY e { p = (s32[], f32[64]) parameter(0)
      ROOT w = (s32[], f32[64]) while(p), condition=cond, body=body }""")
    found = peak_memory(module)
    assert found.total >= 2 * 256
