"""Chains of asynchronous operations: through loops, with operands that come later, and the same on every executor."""

import numpy as np
import pytest

import hlotool
from hlotool.passes.verify.async_chains import Chains

STATE = "((f32[2]), f32[2], u32[])"
LOOP = """HloModule m
c { p = f32[2] parameter(0)  ROOT n = f32[2] negate(p) }
d { p = f32[2] parameter(0)  ROOT n = f32[2] abs(p) }
cond { s = (s32[], STATE) parameter(0)  i = s32[] get-tuple-element(s), index=0  k = s32[] constant(3)
  ROOT l = pred[] compare(i, k), direction=LT }
body {
  s = (s32[], STATE) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = STATE get-tuple-element(s), index=1
  x = f32[2] async-done(a)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  b = STATE async-start(x), calls=NEXT
  ROOT r = (s32[], STATE) tuple(j, b)
}
ENTRY e {
  x = f32[2] parameter(0)
  zero = s32[] constant(0)
  s = STATE async-start(x), calls=c
  t = (s32[], STATE) tuple(zero, s)
  w = (s32[], STATE) while(t), condition=cond, body=body
  a = STATE get-tuple-element(w), index=1
  ROOT y = f32[2] async-done(a)
}""".replace("STATE", STATE)


@pytest.mark.parametrize(("following", "messages"), [("c", 0), ("d", 2)])
def test_a_loop_carries_one_operation(following, messages):
    found = [d.message for d in hlotool.verify(hlotool.parse(LOOP.replace("NEXT", following)))]
    assert len([m for m in found if "run different operations" in m]) == messages == len(found)


def test_an_update_binds_what_the_computation_takes():
    text = """HloModule m
c { p = f32[2] parameter(0)  ROOT n = f32[2] negate(p) }
ENTRY e {
  x = f32[2] parameter(0)
  s = ((f32[2]), f32[2], u32[]) async-start(x), calls=c
  u = ((f32[2], f32[2]), f32[2], u32[]) async-update(s, x)
  ROOT y = f32[2] async-done(u)
}"""
    assert [d.message for d in hlotool.verify(hlotool.parse(text))] == ["c takes 1 operand, 2 are bound here"]


LATER = """HloModule m
ENTRY e {
  x = f32[2,2] parameter(0)
  y = f32[2,2] parameter(1)
  s = ((f32[2,2]), (), u32[]) dot-start(x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  u = ((f32[2,2], f32[2,2]), f32[2,2], u32[]) dot-update(s, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[2,2] dot-done(u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""


def test_operands_that_are_bound_later():
    module = hlotool.parse(LATER)
    assert hlotool.verify(module) == []
    x, y = np.float32([[1, 2], [3, 4]]), np.float32([[0, 1], [5, 2]])
    for executor in ("reference", "pjrt:cpu"):
        [found] = hlotool.execute(module, [x, y], executor=executor)
        assert (found == x @ y).all()


def test_operands_that_are_never_bound():
    text = LATER.replace("((f32[2,2], f32[2,2]), f32[2,2], u32[]) dot-update(s, y)",
                         "((f32[2,2]), f32[2,2], u32[]) dot-update(s)")
    assert [d.message for d in hlotool.verify(hlotool.parse(text))] == ["dot takes 2 operands, 1 are bound by now"]


@pytest.mark.parametrize(("pairs", "slices", "good"), [
    ("{0,1},{1,0}", "{2,2}", True), ("{0,1},{0,2}", "{2,2}", False), ("{0,1},{0,2}", "{2,2},{2,2}", True),
    ("{0,1},{0,2},{0,3}", "{2,2},{2,2}", False)])
def test_a_slice_is_sent_once(pairs, slices, good):
    many = slices.count("{") > 1
    offsets = "((s32[],s32[]), (s32[],s32[])) tuple(o, o)" if many else "(s32[],s32[]) tuple(z, z)"
    text = f"""HloModule m, replica_count=4
ENTRY e {{
  x = f32[4,4] parameter(0)
  y = f32[4,4] parameter(1)
  z = s32[] constant(0)
  o = (s32[],s32[]) tuple(z, z)
  t = {offsets}
  ROOT r = f32[4,4] collective-permute(x, y, t, t), source_target_pairs={{{pairs}}}, slice_sizes={{{slices}}}
}}"""
    assert ("collective-permute-c2" in {d.code for d in hlotool.verify(hlotool.parse(text))}) is not good


def test_transfers_with_the_host_on_one_channel_are_one():
    text = """HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  k = token[] after-all()
  s = (f32[2], u32[], token[]) send(x, k), channel_id=1, is_host_transfer=true, frontend_attributes={a="1"}
  d = token[] send-done(s), channel_id=1, is_host_transfer=true
  u = (f32[2], u32[], token[]) send(x, d), channel_id=1, is_host_transfer=true, frontend_attributes={a="2"}
  ROOT v = token[] send-done(u), channel_id=1, is_host_transfer=true
}"""
    [found] = hlotool.verify(hlotool.parse(text))
    assert "frontend_attributes is not what it is at s" in found.message
    assert hlotool.verify(hlotool.parse(text.replace('"2"', '"1"'))) == []


@pytest.mark.parametrize("alias, said", [
    ("{1}: (0, {})", ""), ("{0,0}: (0, {})", ""),
    ("{7}: (0, {})", "pairs output [7] with index [] of operand 0, which do not both exist"),
    ("{1}: (0, {1})", "pairs output [1] with index [1] of operand 0, which do not both exist"),
    ("{}: (0, {})", "pairs output [] with index [] of operand 0"), ("{7}: (0, {3})", "which do not both exist"),
    ("{1}: (1, {})", "names operand 1; there are 1 to name"), ("{1}: (-1, {})", "names operand -1"),
    ("{2}: (0, {})", "pairs u32[] with f32[4]")])
def test_what_an_asynchronous_start_pairs_exists_and_has_one_shape(alias: str, said: str) -> None:
    module = hlotool.parse(f"""f {{ a = f32[4] parameter(0)  ROOT n = f32[4] negate(a) }}
ENTRY e {{ x = f32[4] parameter(0)
  s = ((f32[4]), f32[4], u32[]) async-start(x), calls=f, output_to_operand_aliasing={{{alias}}}
  ROOT d = f32[4] async-done(s) }}""")
    found = hlotool.verify(module)
    assert [d.code for d in found] == (["V209"] if said else [])
    assert all(said in d.message for d in found)


CALLED = """HloModule m
f { p = f32[2] parameter(0)  ROOT c = f32[2] negate(p) }
ENTRY e {
  x = f32[2] parameter(0)
  s = ((), f32[2], s32[]) call-start(), to_apply=f
  u = ((f32[2]), f32[2], s32[]) async-update(s, x)
  ROOT d = f32[2] call-done(u)
}"""


def test_a_call_whose_operand_is_bound_later():
    module = hlotool.parse(CALLED)
    assert hlotool.verify(module) == []
    for executor in ("reference", "pjrt:cpu"):
        [found] = hlotool.execute(module, [np.float32([1, -2])], executor=executor)
        assert found.tolist() == [-1, 2]


def test_a_call_whose_operand_is_never_bound_has_no_value():
    text = CALLED.replace("((f32[2]), f32[2], s32[]) async-update(s, x)", "((), f32[2], s32[]) async-update(s)")
    module = hlotool.parse(text)
    assert [d.message for d in hlotool.verify(module)] == ["f takes 1 operand, 0 are bound by now"]
    with pytest.raises(hlotool.HloError, match="0 of 1 operand is bound by now"):
        hlotool.to_stablehlo(module)
    with pytest.raises(hlotool.HloError, match="not all operands are bound"):
        hlotool.execute(module, [np.float32([1, -2])], executor="reference")


@pytest.mark.parametrize("state, operands", [("((f32[2]), f32[2], s32[])", ""), ("((), f32[2], s32[])", "x")])
def test_what_a_start_holds_is_what_it_is_given(state, operands):
    text = CALLED.replace("((), f32[2], s32[]) call-start()", f"{state} call-start({operands})")
    assert "async-start-c2" in [d.code for d in hlotool.verify(hlotool.parse(text))]


def test_what_a_start_holds_are_the_first_parameters():
    text = CALLED.replace("((), f32[2], s32[]) call-start()", "((f32[]), f32[2], s32[]) call-start(y)").replace(
        "  s =", "  y = f32[] parameter(1)\n  s =")
    assert "async-start-c3" in [d.code for d in hlotool.verify(hlotool.parse(text))]


@pytest.mark.parametrize(("between", "starts"), [
    ('custom-call(s), custom_call_target="f"', ["s"]), ("opt-barrier(s)", ["s"]), ("copy(s)", ["s"]),
    ("infeed(s)", []), ("outfeed(s, s)", [])])
def test_what_makes_a_value_of_its_own_passes_nothing_on(between: str, starts: list[str]) -> None:
    module = hlotool.parse("HloModule m\n\nENTRY e {\n  x = f32[2] parameter(0)\n"
                           "  s = (f32[2], f32[2], u32[]) copy-start(x)\n"
                           f"  ROOT c = (f32[2], f32[2], u32[]) {between}\n}}\n")
    assert [i.name for i in Chains(module).starts_of(module.entry.root)] == starts
