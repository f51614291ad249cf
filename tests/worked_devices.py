"""Worked examples of control flow, transfers and collectives as HLO; the rest is in worked_programs.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from worked_examples import Array, Record
from worked_programs import Program, braces, folding, groups_text, module, of_ids, of_ops, single

# Calls, loops, branches


@of_ops("CustomCall")
def custom_call(record: Record) -> Program:
    found = single(record, "custom-call", 'custom_call_target="myfunc"')
    found.only_verified = "its body is C code; the document computes one element of it"
    return found


@of_ops("CompositeCall")
def composite_call(record: Record) -> Program:
    """The document's line, with the name and `=` that it lacks."""
    body = "computation { x = f32[] parameter(0)  ROOT y = f32[] add(x, x) }"
    line = "ROOT r = " + record.raw["hlo_text"].replace("%cst", "%p0").replace("%computation", "computation")
    return Program(module(["f32[]"], line, before=body), [[np.float32(3)]], [[np.float32(6)]])


@of_ops("Map")
def map_static(record: Record) -> Program:
    """par1 is a constant inside the computation: HLO's map has no static operands."""
    body = """computation {
  elem1 = f32[] parameter(0)
  elem2 = f32[] parameter(1)
  elem3 = f32[] parameter(2)
  par1 = f32[] constant(5)
  m = f32[] multiply(elem1, elem2)
  s = f32[] add(m, elem3)
  ROOT elem_out = f32[] add(s, par1)
}"""
    text = module(["f32[2,3]"] * 3, "ROOT r = f32[2,3] map(p0, p1, p2), dimensions={0,1}, to_apply=computation",
                  before=body)
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    return Program(text, [[a, a + 1, a + 2]], [[a * (a + 1) + (a + 2) + 5]])


@of_ops("While")
def loop(record: Record) -> Program:
    numbers = ",".join(map(str, record.derived["constant_vector"]))
    before = f"""condition {{
  state = (s32[], f32[10]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  limit = s32[] constant(1000)
  ROOT c = pred[] compare(i, limit), direction=LT
}}
body {{
  state = (s32[], f32[10]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[10] get-tuple-element(state), index=1
  one = s32[] constant(1)
  v = f32[10] constant({{{numbers}}})
  j = s32[] add(i, one)
  y = f32[10] add(x, v)
  ROOT r = (s32[], f32[10]) tuple(j, y)
}}"""
    return single(record, "while", "condition=condition, body=body", before)


@of_ops("Conditional")
def branches(record: Record) -> Program:
    """An index below 0, or N or more, takes the last branch."""
    before = "\n".join(f"b{i} {{ x = f32[] parameter(0)  c = f32[] constant({10**i})  "
                       "ROOT r = f32[] multiply(x, c) }" for i in range(3))
    lines = [f"r{i} = f32[] conditional(p{i}, p5, p5, p5), branch_computations={{b0, b1, b2}}" for i in range(5)]
    text = module(["s32[]"] * 5 + ["f32[]"], *lines,
                  f"ROOT r = ({', '.join(['f32[]'] * 5)}) tuple(r0, r1, r2, r3, r4)", before=before)
    indices = [-1, 0, 2, 3, 7]
    return Program(text, [[*map(np.int32, indices), np.float32(1)]],
                   [[np.float32(v) for v in (100, 1, 100, 100, 100)]])


# Transfers


@of_ops("Infeed")
def infeeds(record: Record) -> Program:
    """Two loops with an infeed each, the second fed by the first: their order is that of the data."""
    before = """two {
  state = (s32[], s32[], token[]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  limit = s32[] constant(2)
  ROOT c = pred[] compare(i, limit), direction=LT
}
body {
  state = (s32[], s32[], token[]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  total = s32[] get-tuple-element(state), index=1
  chain = token[] get-tuple-element(state), index=2
  feed = (s32[], token[]) infeed(chain)
  x = s32[] get-tuple-element(feed), index=0
  after = token[] get-tuple-element(feed), index=1
  one = s32[] constant(1)
  ten = s32[] constant(10)
  j = s32[] add(i, one)
  m = s32[] multiply(total, ten)
  s = s32[] add(m, x)
  ROOT r = (s32[], s32[], token[]) tuple(j, s, after)
}"""
    text = module([], "zero = s32[] constant(0)", "chain = token[] after-all()",
                  "start = (s32[], s32[], token[]) tuple(zero, zero, chain)",
                  "first = (s32[], s32[], token[]) while(start), condition=two, body=body",
                  "total = s32[] get-tuple-element(first), index=1", "next = token[] get-tuple-element(first), index=2",
                  "again = (s32[], s32[], token[]) tuple(zero, total, next)",
                  "second = (s32[], s32[], token[]) while(again), condition=two, body=body",
                  "ROOT r = s32[] get-tuple-element(second), index=1", before=before)
    return Program(text, [[]], [[np.int32(1234)]], only_reference="infeed has a queue",
                   infeed=[np.int32(i) for i in (1, 2, 3, 4)])


@of_ids("en.Recv.1", "en.RecvDone.1", "en.Send.1", "en.SendDone.1", "ko.Recv.1", "ko.RecvDone.1", "ko.Send.1",
        "ko.SendDone.1")
def old_channel(record: Record) -> Program:
    """The forms without tokens, as the document prints them; they are read as today's."""
    text = module(["f32[2]"], "r = (f32[2], u32[]) recv(), channel_id=1", "s = (f32[2], u32[]) send(p0), channel_id=1",
                  "sd = () send-done(s), channel_id=1", "ROOT rd = f32[2] recv-done(r), channel_id=1")
    return _through_channel(text)


@of_ids("channel-order", "send-recv-done-context", "en.Send.2", "ko.Send.2")
def channel_order(record: Record) -> Program:
    """Recv, Send, SendDone, RecvDone: an order that keeps the four that the document asks for; results are triples."""
    return _through_channel(module(
        ["f32[2]"], "t = token[] after-all()", "r = (f32[2], u32[], token[]) recv(t), channel_id=1",
        "s = (f32[2], u32[], token[]) send(p0, t), channel_id=1, control-predecessors={r}",
        "sd = token[] send-done(s), channel_id=1",
        "rd = (f32[2], token[]) recv-done(r), channel_id=1, control-predecessors={sd}",
        "ROOT v = f32[2] get-tuple-element(rd), index=0"))


def _through_channel(text: str) -> Program:
    given = np.array([1, 2], np.float32)
    return Program(text, [[given]], [[given]], only_reference="a device that sends to itself")


@of_ids("channel-deadlock-1", "en.Send.3", "ko.Send.3")
def deadlock(record: Record) -> Program:
    """Two devices, by partition-id, of which each waits for the other's value before it sends its own."""
    def side(name: str, came: int, goes: int, pairs: str, back: str) -> str:
        comes, leaves = (f'frontend_attributes={{_xla_send_recv_source_target_pairs="{p}"}}' for p in (pairs, back))
        return f"""{name} {{
  x = f32[] parameter(0)
  t = token[] after-all()
  r = (f32[], u32[], token[]) recv(t), channel_id={came}, {comes}
  rd = (f32[], token[]) recv-done(r), channel_id={came}
  v = f32[] get-tuple-element(rd), index=0
  u = token[] get-tuple-element(rd), index=1
  s = (f32[], u32[], token[]) send(x, u), channel_id={goes}, {leaves}
  sd = token[] send-done(s), channel_id={goes}
  ROOT w = f32[] copy(v)
}}"""
    to_first, to_second = "{{1,0}}", "{{0,1}}"
    before = side("schedule_A", 2, 1, to_first, to_second) + "\n" + side("schedule_B", 1, 2, to_second, to_first)
    text = module(["f32[]"], "p = u32[] partition-id()", "i = s32[] convert(p)",
                  "ROOT r = f32[] conditional(i, p0, p0), branch_computations={schedule_A, schedule_B}",
                  before=before, header=", num_partitions=2")
    return Program(text, [[np.float32(1)], [np.float32(2)]], only_reference="it never ends elsewhere")


# Collectives

_Model = Callable[[list[Array]], list[Array]]


def _grouped(record: Record) -> list[list[int]]:
    found = record.attributes.get("replica_groups") or [list(range(record.replicas))]
    return [list(g) for g in found]


def _on_groups(groups: Sequence[Sequence[int]], given: list[Array], model: _Model) -> list[list[Array]]:
    """What each device gets when the members of each group bring their values to a function of all of them."""
    found: dict[int, Array] = {}
    for group in groups:
        found.update(zip(group, model([given[d] for d in group]), strict=True))
    return [[found[d]] for d in range(len(given))]


def collective(record: Record, shape: str, result: str, opcode: str, attributes: str, model: _Model | None = None,
               before: str = "", header: str = "") -> Program:
    """One collective on every replica; a record without data gets numbers for each device, and results of the model."""
    text = module([shape], f"ROOT r = {result} {opcode}(p0){attributes}", before=before,
                  header=header or f", replica_count={record.replicas}")
    if model is None:
        return Program(text)
    dims = [int(d) for d in shape[4:-1].split(",")]
    given = [np.arange(math.prod(dims), dtype=np.int32).reshape(dims) + 100 * d for d in range(record.replicas)]
    return Program(text, [[a] for a in given], _on_groups(_grouped(record), given, model))


def _groups(record: Record) -> str:
    groups = record.attributes.get("replica_groups")
    return f", replica_groups={groups_text(groups) if groups else '{}'}"


@of_ops("AllGather")
def all_gather(record: Record) -> Program:
    axis = record.attributes.get("all_gather_dimension", record.attributes.get("all_gather_dim", 0))
    more = f", dimensions={{{axis}}}{_groups(record)}"
    if record.argument_arrays():
        return collective(record, record.inputs[0][0].shape, record.expected[0][0].shape, "all-gather", more)
    return collective(record, "s32[2]", "s32[4]", "all-gather", more,
                      lambda parts: [np.concatenate(parts)] * len(parts))


@of_ops("AllReduce")
def all_reduce(record: Record) -> Program:
    more = f"{_groups(record)}, to_apply=f"
    if record.argument_arrays():
        shape = record.inputs[0][0].shape
        return collective(record, shape, shape, "all-reduce", more, before=folding("f", "add", "f32"))
    return collective(record, "s32[2]", "s32[2]", "all-reduce", more, lambda parts: [sum(parts)] * len(parts),
                      folding("f", "add", "s32"))


@of_ops("CrossReplicaSum")
def cross_replica_sum(record: Record) -> Program:
    """The operation of that name, as the text of its time has it."""
    return collective(record, "f32[2]", "f32[2]", "cross-replica-sum", "")


@of_ops("ReduceScatter")
def reduce_scatter(record: Record) -> Program:
    more = f"{_groups(record)}, dimensions={{{record.attributes.get('scatter_dimension', 0)}}}, to_apply=f"
    if record.argument_arrays():
        return collective(record, record.inputs[0][0].shape, record.expected[0][0].shape, "reduce-scatter", more,
                          before=folding("f", "add", "f32"))
    return collective(record, "s32[4]", "s32[2]", "reduce-scatter", more,
                      lambda parts: np.split(sum(parts), len(parts)), folding("f", "add", "s32"))


@of_ids("reducescatter-global-ids")
def reduce_scatter_global(record: Record) -> Program:
    """Ids are replica * partitions + partition: the groups that the document lists as pairs."""
    groups = [[r * 4 + p for r, p in group] for group in record.raw["expected_groups_replica_partition"]]
    text = module(["s32[4]"], f"ROOT r = s32[1] reduce-scatter(p0), replica_groups={groups_text(groups)}, "
                  "channel_id=1, use_global_device_ids=true, dimensions={0}, to_apply=f",
                  before=folding("f", "add", "s32"), header=", replica_count=2, num_partitions=4")
    given = [np.arange(1, 5, dtype=np.int32) * 10**d for d in range(8)]
    return Program(text, [[a] for a in given],
                   _on_groups(groups, given, lambda parts: np.split(sum(parts), len(parts))))


@of_ops("AllToAll")
def all_to_all(record: Record) -> Program:
    """With two dimensions the builder makes the array form, then moves the blocks from one to the other."""
    a = record.attributes
    if "split_dimension" not in a:
        size = len(_grouped(record)[0])
        return collective(record, f"s32[{size}]", f"s32[{size}]", "all-to-all", f"{_groups(record)}, dimensions={{0}}",
                          lambda parts: [np.array([p[i] for p in parts], np.int32) for i in range(size)])
    split, concat, count = a["split_dimension"], a["concat_dimension"], a["split_count"]
    operand = record.inputs[0][0]
    element, dims = operand.element, list(operand.dims)
    cut = [*dims[:split], count, dims[split] // count, *dims[split + 1:]]
    order = [d for d in range(len(cut)) if d != split]
    order.insert(concat, split)
    text = module(
        [operand.shape], f"a = {operand.shape} all-to-all(p0){_groups(record)}, dimensions={{{split}}}",
        f"b = {element}[{braces(cut)[1:-1]}] reshape(a)",
        f"c = {element}[{braces(cut[d] for d in order)[1:-1]}] transpose(b), dimensions={braces(order)}",
        f"ROOT r = {record.expected[0][0].shape} reshape(c)", header=f", replica_count={record.replicas}")
    if record.argument_arrays():
        return Program(text)
    # Block r of core q is filled with the number qr.
    width = dims[1] // count
    given = [np.repeat(np.arange(count) + 10 * q, width)[None].repeat(dims[0], 0) for q in range(count)]
    blocks = record.raw.get("expected_block_order") or [[f"{q}{r}" for q in range(count)] for r in range(count)]
    expected = [np.concatenate([np.full((dims[0], width), int(b)) for b in row]) for row in blocks]
    return Program(text, [[a.astype(np.float32)] for a in given], [[a.astype(np.float32)] for a in expected])


@of_ids("alltoall-block-rule")
def all_to_all_blocks(record: Record) -> Program:
    """Block i goes to the i-th core; receivers join the blocks in the order of the senders."""
    text = module(["s32[3]"], "ROOT r = s32[3] all-to-all(p0), replica_groups={{0,1,2}}, dimensions={0}",
                  header=", replica_count=3")
    given = np.array([[10 * q + r for r in range(3)] for q in range(3)], np.int32)
    return Program(text, [[row] for row in given], [[row] for row in given.T])


@of_ops("RaggedAllToAll")
def ragged_all_to_all(record: Record) -> Program:
    found = single(record, "ragged-all-to-all", _groups(record)[2:], header=f", replica_count={record.replicas}")
    found.only_reference = "PJRT's CPU client dies of ragged-all-to-all"
    return found


@of_ids("ragged-tensor")
def ragged_tensor(record: Record) -> Program:
    """No call, but how offsets and sizes cut a tensor: element i is rows offsets[i] to offsets[i] + sizes[i]."""
    letters, offsets, sizes = (v.value for v in record.inputs[0])
    rows = [(o, o + n) for o, n in zip(offsets, sizes, strict=True)]
    lines = [f"e{i} = u8[{b - a},3] slice(p0), slice={{[{a}:{b}], [0:3]}}" for i, (a, b) in enumerate(rows)]
    shapes = ", ".join(f"u8[{b - a},3]" for a, b in rows)
    text = module(["u8[8,3]"], *lines, f"ROOT r = ({shapes}) tuple(e0, e1, e2)")
    numbers = [np.array([[ord(c) for c in row] for row in part], np.uint8)
               for part in (letters, *record.expected[0][0].value)]
    return Program(text, [numbers[:1]], [numbers[1:]])


@of_ops("CollectivePermute")
def collective_permute(record: Record) -> Program:
    """A replica that is nobody's target gets zeros; no source and no target stands twice."""
    def text(pairs: str) -> str:
        return module(["s32[2]"], f"ROOT r = s32[2] collective-permute(p0), source_target_pairs={pairs}",
                      header=", replica_count=3")
    given = [np.array([d + 1, -d], np.int32) for d in range(3)]
    return Program(text("{{0,1},{1,2}}"), [[a] for a in given], [[np.zeros(2, np.int32)], [given[0]], [given[1]]],
                   refused=[text("{{0,1},{0,2}}"), text("{{0,2},{1,2}}")])


@of_ops("ReplicaId")
def replica_id(record: Record) -> Program:
    return Program(module([], "ROOT r = u32[] replica-id()", header=", replica_count=3"), [[]] * 3,
                   [[np.uint32(d)] for d in range(3)])
