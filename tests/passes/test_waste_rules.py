"""The rules about waste that needs a proof: what is the same on all devices, in order, or summed up too narrowly."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.linting import Settings
from hlotool.passes.lints import RULES, run

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n"
SET = "set { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }\n"


def found(code: str, text: str) -> list[str]:
    """The messages of one rule about a text."""
    return [d.message for d in run(hlotool.parse(text), select=lambda r: r is RULES[code])]


def shared(body: str, header: str = "num_partitions=4", before: str = "") -> list[str]:
    return found("W513", f"HloModule m, {header}\n{ADD}{before}ENTRY main {{ {body} }}")


REDUCE = "ROOT r = f32[8] all-reduce({}), channel_id=9, replica_groups={{{{0,1}},{{2,3}}}}, " \
         "use_global_device_ids=true, to_apply=add"


@pytest.mark.parametrize(("sharding", "is_same"), [
    ("{replicated}", True), ("{devices=[4]<=[4]}", False), ("{devices=[2,2]<=[4] last_tile_dim_replicate}", True),
    ("{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}", False), ("{maximal device=0}", False), ("{manual}", False),
    ("{devices=[2,2]0,1,2,3 last_tile_dims={replicated}}", True),
    ("{devices=[2,2]0,1,2,3 last_tile_dims={manual}}", False),
])
def test_a_parameter_is_shared_by_the_devices_that_hold_the_same_tile(sharding: str, is_same: bool) -> None:
    given = f"x = f32[8] parameter(0), sharding={sharding}  t = f32[8] tanh(x)  " + REDUCE.format("t")
    assert bool(shared(given)) is is_same


@pytest.mark.parametrize("line", [
    "t = f32[8] rng(f32[] constant(0), f32[] constant(1)), distribution=rng_uniform",
    "p = u32[] partition-id()  f = f32[] convert(p)  t = f32[8] broadcast(f), dimensions={}",
    't = f32[8] custom-call(x), custom_call_target="f"',
    "t = f32[8] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}",
    "t = f32[8] all-to-all(x), channel_id=1, replica_groups={{0,1},{2,3}}, dimensions={0}",
])
def test_what_may_differ_is_not_said_to_be_the_same(line: str) -> None:
    messages = shared(f"x = f32[8] parameter(0), sharding={{replicated}}  {line}  " + REDUCE.format("t"))
    assert not any(m.startswith("t ") for m in messages)


def test_what_larger_groups_have_reduced_is_the_same_in_smaller_ones_and_not_the_other_way() -> None:
    wide = "w = f32[8] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, " \
           "to_apply=add  n = f32[8] sine(w)  "
    assert shared("x = f32[8] parameter(0)  " + wide + REDUCE.format("n"))
    other = wide.replace("{{0,1,2,3}}", "{{0,2},{1,3}}")
    assert not shared("x = f32[8] parameter(0)  " + other + REDUCE.format("n"))


LOOP = """cond {{ s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
               n = s32[] constant(10)  ROOT p = pred[] compare(i, n), direction=LT }}
body {{ s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0  one = s32[] constant(1)
        j = s32[] add(i, one)  x = f32[8] get-tuple-element(s), index=1  y = f32[8] {}
        ROOT t = (s32[], f32[8]) tuple(j, y) }}
"""


@pytest.mark.parametrize(("start", "step", "is_same"), [
    ("{replicated}", "tanh(x)", True), ("{devices=[4]<=[4]}", "tanh(x)", False),
    ("{replicated}", "broadcast(f32[] convert(u32[] partition-id())), dimensions={}", False)])
def test_loops_are_followed_until_nothing_changes(start: str, step: str, is_same: bool) -> None:
    body = f"v = f32[8] parameter(0), sharding={start}  i = s32[] constant(0)  t = (s32[], f32[8]) tuple(i, v)  " \
           "w = (s32[], f32[8]) while(t), condition=cond, body=body  g = f32[8] get-tuple-element(w), index=1  "
    assert bool(shared(body + REDUCE.format("g"), before=LOOP.format(step))) is is_same


def test_a_loop_that_may_run_differently_often_gives_what_may_differ() -> None:
    body = "v = f32[8] constant({1,2,3,4,5,6,7,8})  p = u32[] partition-id()  i = s32[] convert(p)  " \
           "t = (s32[], f32[8]) tuple(i, v)  w = (s32[], f32[8]) while(t), condition=cond, body=body  " \
           "g = f32[8] get-tuple-element(w), index=1  "
    assert not shared(body + REDUCE.format("g"), before=LOOP.format("tanh(x)"))


def test_groups_without_global_ids_name_replicas_whose_partitions_all_meet() -> None:
    sharding = "{devices=[2,2]<=[4] last_tile_dim_replicate}"
    line = "ROOT r = f32[8] all-reduce(x), channel_id=9, replica_groups={{0}}, to_apply=add"
    assert not shared(f"x = f32[8] parameter(0), sharding={sharding}  {line}")
    assert shared(f"x = f32[8] parameter(0), sharding={{replicated}}  {line}")


def scattered(indices: str, rest: str = "", window: int = 1, count: int = 3, width: int = 1) -> list[str]:
    updates, dims = (f"f32[{count}]", "{}") if window == 1 else (f"f32[{count},{window}]", "{1}")
    inserted = "{0}" if window == 1 else "{}"
    return found("W207", f"""HloModule m
{SET}lt {{ a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT p = pred[] compare(a, b), direction=LT }}
gt {{ a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT p = pred[] compare(a, b), direction=GT }}
lt2 {{ a = f32[] parameter(0)  b = f32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)
       ROOT p = pred[] compare(a, b), direction=LT }}
ENTRY main {{ x = f32[16] parameter(0)  u = {updates} parameter(1)  {rest}
  i = s32[{count},{width}] {indices}
  ROOT y = f32[16] scatter(x, i, u), update_window_dims={dims}, inserted_window_dims={inserted},
                   scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=set }}""")


@pytest.mark.parametrize(("indices", "said"), [
    ("constant({{1},{4},{6}})", "indices_are_sorted and unique_indices"), ("constant({{4},{1},{6}})", "unique_indices"),
    ("constant({{1},{1},{6}})", "indices_are_sorted"), ("constant({{6},{1},{6}})", ""),
    ("iota(), iota_dimension=0", "indices_are_sorted and unique_indices"),
    ("multiply(s32[3,1] iota(), iota_dimension=0, s32[3,1] constant({{2},{2},{2}}))", "sorted and unique"),
    ("reverse(s32[3,1] iota(), iota_dimension=0), dimensions={0}", "unique_indices"), ("parameter(2)", "")])
def test_known_indices_are_computed(indices: str, said: str) -> None:
    rest, text = "", indices
    if "(s32[3,1] iota(), iota_dimension=0" in indices:  # nested operands have no attributes
        rest, text = "j = s32[3,1] iota(), iota_dimension=0  two = s32[3,1] constant({{2},{2},{2}})", \
            "multiply(j, two)" if "multiply" in indices else "reverse(j), dimensions={0}"
    messages = scattered(text, rest)
    assert bool(messages) is bool(said)
    if said == "unique_indices":
        assert "indices_are_sorted" not in messages[0]
    elif said == "indices_are_sorted":
        assert "unique_indices" not in messages[0]


def test_windows_that_overlap_are_not_unique() -> None:
    assert "unique" in scattered("constant({{0},{2},{4}})", window=2)[0]
    (message,) = scattered("constant({{0},{1},{4}})", window=2)
    assert "unique" not in message and "sorted" in message


def test_a_sort_gives_sorted_indices_and_an_argsort_unique_ones() -> None:
    keys = "k = s32[3] parameter(2)  s = s32[3] sort(k), dimensions={0}, to_apply=lt"
    (message,) = scattered("reshape(s)", keys)
    assert message.endswith("declared indices_are_sorted")
    order = "k = f32[3] parameter(2)  n = s32[3] iota(), iota_dimension=0  " \
            "s = (f32[3], s32[3]) sort(k, n), dimensions={0}, to_apply=lt2  " \
            "p = s32[3] get-tuple-element(s), index=1  " \
            "z = s32[3] constant({0,0,0})  m = s32[3] constant({16,16,16})  q = pred[3] compare(p, z), direction=LT  " \
            "w = s32[3] add(p, m)  r = s32[3] select(q, w, p)"
    (message,) = scattered("reshape(r)", order)
    assert message.endswith("declared unique_indices")
    down = keys.replace("dimensions={0}, to_apply=lt", "dimensions={0}, to_apply=gt")
    assert not scattered("reshape(s)", down)


def test_a_collective_that_others_wait_for_is_not_dead() -> None:
    text = f"HloModule m, replica_count=2\n{ADD}ENTRY main {{ x = f32[4] parameter(0)  " \
           "r = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add  ROOT y = f32[4] negate(x)CONTROL }"
    assert found("W514", text.replace("CONTROL", ""))
    assert not found("W514", text.replace("CONTROL", ", control-predecessors={r}"))


def test_collectives_over_other_groups_or_with_other_reducers_are_no_duplicates() -> None:
    text = f"HloModule m, replica_count=4\n{ADD}top {{ a = f32[] parameter(0)  b = f32[] parameter(1)  " \
           "ROOT s = f32[] maximum(a, b) }\nENTRY main { x = f32[4] parameter(0)  " \
           "r = f32[4] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add  " \
           "s = f32[4] all-reduce(x), replica_groups=GROUPS, to_apply=REDUCER  ROOT y = f32[4] add(r, s) }"
    assert found("W515", text.replace("GROUPS", "{{0,1},{2,3}}").replace("REDUCER", "add"))
    assert not found("W515", text.replace("GROUPS", "{{0,2},{1,3}}").replace("REDUCER", "add"))
    assert not found("W515", text.replace("GROUPS", "{{0,1},{2,3}}").replace("REDUCER", "top"))


def test_a_sum_in_a_loop_that_is_narrowed_each_time_names_where_it_was_wide() -> None:
    text = """cond { s = (s32[], bf16[8,8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(64)  ROOT p = pred[] compare(i, n), direction=LT }
body { s = (s32[], bf16[8,8]) parameter(0)  i = s32[] get-tuple-element(s), index=0  one = s32[] constant(1)
  j = s32[] add(i, one)  sum = bf16[8,8] get-tuple-element(s), index=1  w = f32[8,8] constant({...})
  d = f32[8,8] dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}  c = bf16[8,8] convert(d)
  more = bf16[8,8] OP(sum, c)  ROOT t = (s32[], bf16[8,8]) tuple(j, more) }
ENTRY main { i = s32[] constant(0)  x = bf16[8,8] parameter(0)  t = (s32[], bf16[8,8]) tuple(i, x)
  w = (s32[], bf16[8,8]) while(t), condition=cond, body=body  ROOT r = bf16[8,8] get-tuple-element(w), index=1 }"""
    (message,) = found("W314", text.replace("OP", "add"))
    assert "d gives f32" in message
    assert not found("W314", text.replace("OP", "multiply"))
    assert not found("W314", text.replace("OP", "add").replace("constant({...})", "convert(sum)")), "x + f(x)"


def test_a_loop_that_its_compiler_has_counted_runs_once() -> None:
    text = LOOP.format("tanh(x)") + """ENTRY main { t = (s32[], f32[8]) parameter(0)
  ROOT w = (s32[], f32[8]) while(t), condition=cond, body=body, backend_config={"known_trip_count":{"n":"COUNT"}} }"""
    assert found("W402", text.replace("COUNT", "1")) == ["the loop runs once"]
    assert not found("W402", text.replace("COUNT", "2"))


def test_a_copy_from_the_host_that_is_the_same_in_each_iteration() -> None:
    text = """HloModule m, is_scheduled=true
cond { s = (s32[], f32[2048]{0:S(5)}, f32[2048]{0}) parameter(0)  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)  ROOT p = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[2048]{0:S(5)}, f32[2048]{0}) parameter(0)  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)  j = s32[] add(i, one)  h = f32[2048]{0:SPACE} get-tuple-element(s), index=1
  d = f32[2048]{0} copy(h)  x = f32[2048]{0} get-tuple-element(s), index=2  y = f32[2048]{0} add(x, d)
  ROOT t = (s32[], f32[2048]{0:SPACE}, f32[2048]{0}) tuple(j, h, y) }
ENTRY main { s = (s32[], f32[2048]{0:SPACE}, f32[2048]{0}) parameter(0)
  ROOT w = (s32[], f32[2048]{0:SPACE}, f32[2048]{0}) while(s), condition=cond, body=body }"""
    assert found("W210", text.replace(":SPACE", ":S(5)"))
    assert not found("W210", text.replace(":SPACE", "").replace(":S(5)", ""))


@pytest.mark.parametrize(("header", "is_safe"), [(", replica_count=2", True), ("", False)])
def test_a_collective_that_tells_how_many_devices_there_are_stays(header: str, is_safe: bool) -> None:
    """Without it the module would run on one device instead of two."""
    text = f"HloModule m{header}\nENTRY e {{ x = f32[4] parameter(0)\n" \
           "  r = f32[4] all-gather(x), replica_groups={{0},{1}}, dimensions={0}\n  ROOT y = f32[4] negate(r) }"
    (finding,) = run(hlotool.parse(text), select=lambda r: r is RULES["W504"])
    assert finding.fixes[0].is_safe is is_safe


@pytest.mark.parametrize(("header", "is_told"), [(", is_scheduled=true", True), ("", False)])
def test_what_a_compiler_may_still_fuse_is_not_left_alone(header: str, is_told: bool) -> None:
    text = (f"HloModule m{header}\n\nfused {{\n  p = s32[4194304]{{0}} parameter(0)\n"
            "  ROOT n = f32[4194304]{0} convert(p)\n}\n\nENTRY e {\n  x = s32[4194304]{0} parameter(0)\n"
            "  f = f32[4194304]{0} fusion(x), kind=kLoop, calls=fused\n  ROOT r = f32[4194304]{0} tanh(f)\n}\n")
    found = hlotool.lint(text, config=Settings(select=("ALL",)))
    assert ("W213" in [d.code for d in found]) == is_told
