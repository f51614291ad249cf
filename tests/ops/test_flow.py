"""How values flow through operations, as their records tell it."""

from __future__ import annotations

import importlib

import pytest

import hlotool
from hlotool.ops import (
    OPS,
    AsyncStep,
    Calls,
    Effect,
    Effects,
    Elements,
    Flow,
    acts,
    flow_of,
    has_effect,
    is_a,
    is_tied,
    opcodes,
    with_flag,
)

DONES = {f"{name}-done" for name in ("all-reduce", "all-gather", "collective-permute", "copy", "async", "recv")}
#: families of operations, each with the question that names it
FAMILIES = {
    "forwards": (lambda f: f.forwards, {"copy", "opt-barrier", "add-dependency", "domain"}),
    "rearranges": (lambda f: f.rearranges and not f.forwards, {
        "reshape", "dynamic-reshape", "bitcast", "transpose", "reverse"}),
    "repeats": (lambda f: f.repeats and not f.rearranges, {"broadcast"}),
    "picks": (lambda f: f.elements is Elements.PICKED, {
        "slice", "dynamic-slice", "gather", "set-dimension-size"}),
    "assembles": (lambda f: f.elements is Elements.ASSEMBLED and not f.exchanges, {
        "concatenate", "pad", "dynamic-update-slice", "select", "sort", "after-all"}),
    "packs": (lambda f: f.packs, {"tuple", "get-tuple-element"}),
    "updates": (lambda f: f.updates is not None, {
        "dynamic-update-slice", "scatter", "sort", "cholesky", "triangular-solve"}),
    "converts": (lambda f: f.elements is Elements.CONVERTED, {
        "convert", "reduce-precision", "stochastic-convert"}),
    "recast": (lambda f: f.elements is Elements.RECAST, {"bitcast-convert"}),
    "given": (lambda f: f.elements is Elements.GIVEN, {
        "parameter", "constant", "iota", "partition-id", "replica-id", "rng", "rng-get-and-update-state", "infeed",
        "recv"}),
    "varies": (lambda f: f.varies, {
        "partition-id", "replica-id", "rng", "rng-get-and-update-state", "infeed", "recv"}),
    "keeps, but does not move": (lambda f: f.keeps and not f.moves and f.step is None, {
        "convert", "bitcast-convert", "reduce-precision", "stochastic-convert"}),
    "enters": (lambda f: f.enters, {"call", "fusion", "while", "conditional", "async-start"}),
    "branches off": (lambda f: f.branches_off, {"call", "while", "conditional", "async-start"}),
    "folds": (lambda f: f.folds, {
        "reduce", "reduce-window", "select-and-scatter", "scan", "all-reduce", "all-reduce-start", "reduce-scatter"}),
    "on pairs": (lambda f: f.on_pairs and not f.folds, {"sort", "scatter"}),
    "is trivial": (lambda f: f.is_trivial, {"parameter", "constant", "tuple", "get-tuple-element"}),
    "in place": (lambda f: f.in_place, {"call", "fusion"}),
    "acts": (lambda f: f.acts, {
        "send", "send-done", "recv", "recv-done", "infeed", "outfeed", "rng", "rng-get-and-update-state"}),
    "exchanges": (lambda f: f.exchanges, {
        "all-reduce", "all-reduce-start", "reduce-scatter", "all-gather", "all-gather-start", "all-to-all",
        "ragged-all-to-all", "collective-broadcast", "collective-permute", "collective-permute-start"}),
    "asks for the device": (lambda f: f.effect is Effect.DEVICE, {"partition-id", "replica-id"}),
    "orders": (lambda f: f.effect is Effect.ORDER, {"after-all", "add-dependency", "domain"}),
    "starts": (lambda f: f.step is AsyncStep.START, {
        "async-start", "all-reduce-start", "all-gather-start", "collective-permute-start", "copy-start", "send",
        "recv"}),
    "done": (lambda f: f.step is AsyncStep.DONE, DONES | {"send-done"}),
    "free": (lambda f: f.is_free, {
        "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "opt-barrier", "add-dependency", "domain",
        "after-all"}),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family):
    holds, expected = FAMILIES[family]
    assert opcodes(holds) == expected


def test_facts_fit_each_other():
    for opcode, record in OPS.items():
        flow = record.flow
        assert (flow.calls is Calls.NONE) == (not {"to_apply", "calls", "body", "branch_computations", "select"} & {
            a.name for a in record.attributes} or opcode in ("async-update", "async-done")), opcode
        assert not (flow.is_free and "elementwise" in record.flags), opcode
        assert not flow.forwards or flow.rearranges
        assert not flow.rearranges or flow.repeats
        assert not flow.repeats or (flow.moves and flow.keeps)
        first, behind = flow.sources
        assert first <= (behind or len(record.operands)), opcode
        if flow.keeps:
            assert (first, behind) == (0, 1), opcode
        assert flow.exchanges == ("collective" in record.flags and opcode not in ("partition-id", "replica-id")), opcode
    assert with_flag("elementwise", "commutative") == {
        "add", "and", "maximum", "minimum", "mulhi", "multiply", "or", "xor"}


def test_started_operations_flow_as_themselves():
    for opcode in ("reduce", "slice", "call", "custom-call"):
        flow = OPS[f"{opcode}-start"].flow
        assert (flow.elements, flow.calls) == (OPS[opcode].flow.elements, OPS[opcode].flow.calls)
        assert flow.step is AsyncStep.START
        assert OPS[f"{opcode}-done"].flow.step is AsyncStep.DONE
        assert not (flow.moves or flow.forwards)  # it gives a tuple with its state


def test_data_operands():
    module = hlotool.parse("""ENTRY e {
      x = f32[4] parameter(0)  i = s32[] constant(1)  u = f32[1] constant({2})  p = pred[4] constant({1,0,1,0})
      d = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
      w = f32[4] dynamic-update-slice(x, u, i)
      s = f32[4] select(p, x, w)
      ROOT a = f32[4] add(s, x) }""")
    data = {i.name: [o.name for o in flow_of(i).data(i.operands)] for i in module.entry.instructions if i.operands}
    assert data == {"d": ["x"], "w": ["x", "u"], "s": ["x", "w"], "a": ["s", "x"]}


EFFECTS = """
bland { p = f32[] parameter(0)  ROOT n = f32[] negate(p) }
drawing { a = f32[] parameter(0)  b = f32[] constant(1)  ROOT r = f32[] rng(a, b), distribution=rng_uniform }
nested { p = f32[] parameter(0)  ROOT c = f32[] call(p), to_apply=drawing }
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[] parameter(0)
  t = token[] after-all()
  plain = f32[] negate(x)
  known = f32[] custom-call(x), custom_call_target="f"
  loud = f32[] custom-call(x), custom_call_target="f", custom_call_has_side_effect=true
  fed = (f32[], token[]) infeed(t)
  out = token[] outfeed(x, t), outfeed_shape=f32[]
  state = u64[2] rng-get-and-update-state(), delta=1
  calm = f32[] call(x), to_apply=bland
  draws = f32[] call(x), to_apply=nested
  summed = f32[] all-reduce(x), replica_groups={}, to_apply=sum
  device = u32[] partition-id()
  barrier = f32[] opt-barrier(x)
  after = f32[] add-dependency(x, t)
  ROOT strange = f32[] mystery(x)
}
"""


def test_effects():
    rows = {i.name: i for i in hlotool.parse(EFFECTS).entry.instructions}
    assert {name for name, i in rows.items() if has_effect(i)} == {
        "loud", "fed", "out", "state", "draws", "strange"}
    assert {name for name, i in rows.items() if acts(i)} == {"loud", "fed", "out", "state", "strange"}
    assert {name for name, i in rows.items() if is_tied(i)} == {
        "loud", "fed", "out", "state", "strange", "x", "t", "summed", "device", "after"}
    assert Effects(is_tied).of(rows["draws"])
    assert not Effects(is_tied).of(rows["calm"])
    assert is_a(rows["plain"], "elementwise")
    assert not is_a(rows["strange"], "elementwise")
    assert flow_of(rows["strange"]) == Flow(effect=Effect.UNKNOWN)


def test_one_function_tells_effects():
    """Every opcode with its attributes alone: dead code that has no effect goes, whatever it is."""
    for opcode, record in OPS.items():
        assert record.flow.acts == (opcode in opcodes(lambda f: f.acts))
        assert not (record.flow.acts and record.flow.is_free), opcode


def test_rules_that_are_imported_late_are_there():
    rules = {opcode: record.sharding for opcode, record in OPS.items() if record.sharding is not None}
    assert len(rules) > 20
    for opcode, rule in rules.items():
        file, name = rule.args
        assert callable(getattr(importlib.import_module(file), name)), opcode
