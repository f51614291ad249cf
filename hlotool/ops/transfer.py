"""Data that comes and goes: send, recv, infeed, outfeed, copy-start, and what completes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hlotool.ir import FrontendAttributes, HloInstruction, Layout, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.collective import shown
from hlotool.ops.costs import Cost, Inner, is_free, moves
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import AWAITS, AsyncStep, Effect, Elements, Flow
from hlotool.ops.groups import lifted_table
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, boolean, string
from hlotool.ops.ordering import TOKEN_SHAPE
from hlotool.ops.random_programs import Draw, shape_text
from hlotool.ops.registry import op, require
from hlotool.ops.values import TOKEN, leaves, zeros

_CONTEXT = Shape.array("u32")
#: attributes that the end of a transfer repeats from its start, whose operation has them
_CHANNEL = ("channel_id", "is_host_transfer")
#: marks an infeed or outfeed of one value that stands in no tuple; without it XLA puts what goes in and out into one
_BARE = "hlotool.bare"
#: kinds of channels. Source: StableHLO specification, send and recv
DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE = 1, 2, 3


def _require_token(shape: Shape, label: str, what: str) -> None:
    require(shape.is_token, label, f"{what} is {shape.text(False)}, which is no token")


def _is_bundle(shape: Shape | None, count: int) -> bool:
    """Return True if a shape is (data, ..., token) of `count` members."""
    return shape is not None and shape.is_tuple and len(shape.elements) == count and shape.elements[-1].is_token


def _channel(e: Emitter, instruction: HloInstruction, host: int) -> dict[str, str]:
    given = instruction.attributes
    if (given.get("channel_id") or 0) < 0:
        e.refuse(instruction, f"its channel is {given['channel_id']}, and no channel is negative")
    is_host = bool(given.get("is_host_transfer", False))
    kind = host if is_host else DEVICE_TO_DEVICE
    handle = f"#stablehlo.channel_handle<handle = {given.get('channel_id') or 0}, type = {kind}>"
    found = {"channel_handle": handle, "is_host_transfer": boolean(is_host)}
    if pairs := pairs_of(instruction.attributes.get("frontend_attributes")):
        rows = ", ".join(f"[{a}, {b}]" for a, b in pairs)
        found["source_target_pairs"] = f"dense<[{rows}]> : tensor<{len(pairs)}x2xi64>"
    return found


#: the frontend attribute of send and recv that lists who sends to whom
SOURCE_TARGET_PAIRS = "_xla_send_recv_source_target_pairs"


def circle_of(pairs: Sequence[tuple[int, int]]) -> int | None:
    """Return a device that pairs (source, target) lead from and back to; None: there is no circle."""
    following = dict(pairs)
    for start, first in following.items():
        at, steps = first, 0
        while at in following and at != start and steps < len(pairs):
            at, steps = following[at], steps + 1
        if at == start:
            return start
    return None


def pairs_of(attributes: FrontendAttributes | None) -> tuple[tuple[int, int], ...]:
    """Who sends to whom, from the frontend attribute that says it."""
    text = (attributes.get(SOURCE_TARGET_PAIRS, "") if attributes else "") or ""
    return tuple((int(a), int(b)) for a, b in re.findall(r"\{(\d+),\s*(\d+)\}", text))


def _lifted_channel(r: Reader, host: int) -> dict[str, Any]:
    """The channel, which is of the type `host` exactly where the other end is the host."""
    found: dict[str, Any] = {}
    fields, is_host = r.struct("channel_handle"), r.bool("is_host_transfer")
    channel, kind = fields.get("handle", 0), fields.get("type", 0)
    expected = host if is_host else DEVICE_TO_DEVICE
    if channel < 0 or kind != expected:
        r.refuse(f"its channel has the handle {channel} and the type {kind}; {'with' if is_host else 'without'} "
                 f"is_host_transfer the type is {expected}, and no handle is negative")
    if channel:
        found["channel_id"] = channel
    if is_host:
        found["is_host_transfer"] = True
    if r.has("source_target_pairs") and (pairs := lifted_table(r, "source_target_pairs")):
        text = ",".join(f"{{{a},{b}}}" for a, b in pairs)
        found["frontend_attributes"] = FrontendAttributes(((SOURCE_TARGET_PAIRS, f'"{{{text}}}"'),))
    return found


def _received_data(r: Reader) -> tuple[Shape, ...]:
    """Return the results before the token that ends them."""
    shape = r.shape()
    *data, last = shape.members
    if not last.is_token or not all(d.is_array for d in data):
        r.refuse(f"its results are {shape.text(False)}; they are arrays, and a token at the end")
    return tuple(data)


def send_shape(operand: Shape, token: Shape, *, declared: Shape | None) -> Shape:
    """Constraints 1 and 2 of send."""
    _require_token(token, "send-c1", "the second operand")
    require(declared is None or (_is_bundle(declared, 3) and declared.elements[0].compatible(operand)), "send-c2",
            f"the result is {shown(declared)}; it must be ({operand.text(False)}, u32[], token[])")
    return Shape.tuple(operand, _CONTEXT, TOKEN_SHAPE)


def _emit_send(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    token = e.op("stablehlo.send", operands, TOKEN_SHAPE, _channel(e, instruction, DEVICE_TO_HOST))
    return operands[0], e.constant(np.zeros((), np.uint32), _CONTEXT), token


def _lift_send(r: Reader) -> HloInstruction:
    *data, token = r.operands()
    operand = data[0] if len(data) == 1 else r.add("tuple", Shape.tuple(*(d.shape for d in data)), data)
    attributes = _lifted_channel(r, DEVICE_TO_HOST)
    started = r.add("send", Shape.tuple(operand.shape, _CONTEXT, TOKEN_SHAPE), (operand, token), attributes)
    return r.add("send-done", TOKEN_SHAPE, (started,), attributes)


def _draw_send(d: Draw) -> None:
    """To itself: the only sender that every executor has."""
    operand, token = d.argument(d.dims(0)), d.add("after-all")
    shape = f"({shape_text(d.dtype, operand.dims)}, u32[], token[])"
    receiving = d.add("recv", token, shape=shape, channel_id=1)
    sent = d.add("send-done", d.add("send", operand, token, shape=shape, channel_id=1), channel_id=1)
    received = d.add("recv-done", receiving, channel_id=1, **{"control-predecessors": f"{{{sent.name}}}"})
    d.add("get-tuple-element", received, index=0)


@op(send_shape, lowering=Lowering(_emit_send, _lift_send, ("stablehlo.send",)), source=SPECIFICATION,
    draw=_draw_send, cost=moves, flow=Flow(effect=Effect.HOST, step=AsyncStep.START))
def send(operand: Any, token: Any, *, channel_id: int | None = None, is_host_transfer: bool = False,
         frontend_attributes: FrontendAttributes | None = None, world: Any) -> Any:
    """Start sending a value through a channel; send-done tells that it is away.

    C1  The second operand is a token.
    C2  The result is the operand, u32[] and a token.
    """
    world.send(channel_id, operand, pairs_of(frontend_attributes), is_host_transfer)
    return operand, np.uint32(0), TOKEN


def _emit_last(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return operands[0][-1]


def send_done_shape(context: Shape) -> Shape:
    """Constraint 1 of send-done."""
    require(_is_bundle(context, 3), "send-done-c1", f"the operand is {context.text(False)}; it must be what send gives")
    return TOKEN_SHAPE


@op(send_done_shape, lowering=Lowering(_emit_last, carries=_CHANNEL), source=SPECIFICATION, draw=_draw_send,
    cost=is_free, flow=Flow(effect=Effect.HOST, step=AsyncStep.DONE))
def send_done(context: Any, *, channel_id: int | None = None, is_host_transfer: bool = False) -> Any:
    """Wait until what send started is away.

    C1  The operand is what send gives: data, u32[] and a token.
    """
    return TOKEN


def recv_shape(token: Shape, *, declared: Shape | None) -> Shape:
    """Constraints 1 and 2 of recv."""
    _require_token(token, "recv-c1", "the operand")
    require(_is_bundle(declared, 3), "recv-c2", f"the result is {shown(declared)}; it must be (data, u32[], token[])")
    assert declared is not None
    return Shape.tuple(declared.elements[0], _CONTEXT, TOKEN_SHAPE)


def _emit_recv(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    data, _, _ = instruction.shape.elements
    found = e.op("stablehlo.recv", operands, Shape.tuple(data, TOKEN_SHAPE), _channel(e, instruction, HOST_TO_DEVICE))
    return found[0], e.constant(np.zeros((), np.uint32), _CONTEXT), found[1]


def _lift_recv(r: Reader) -> HloInstruction:
    attributes, data = _lifted_channel(r, HOST_TO_DEVICE), _received_data(r)
    inner = Shape.one_or_tuple(data)
    started = r.add("recv", Shape.tuple(inner, _CONTEXT, TOKEN_SHAPE), r.operands(), attributes)
    done = r.add("recv-done", Shape.tuple(inner, TOKEN_SHAPE), (started,), attributes)
    return done if len(data) == 1 else _flattened(r, done, data)


def _flattened(r: Reader, bundle: HloInstruction, data: Sequence[Shape]) -> HloInstruction:
    """(tuple of data, token) as one flat tuple, which is what StableHLO's results are."""
    inner = r.add("get-tuple-element", Shape.tuple(*data), (bundle,), {"index": 0})
    members = [r.add("get-tuple-element", s, (inner,), {"index": i}) for i, s in enumerate(data)]
    token = r.add("get-tuple-element", TOKEN_SHAPE, (bundle,), {"index": 1})
    return r.add("tuple", Shape.tuple(*data, TOKEN_SHAPE), [*members, token])


@op(recv_shape, lowering=Lowering(_emit_recv, _lift_recv, ("stablehlo.recv",)), source=SPECIFICATION,
    draw=_draw_send, cost=is_free, flow=Flow(Elements.GIVEN, effect=Effect.HOST, step=AsyncStep.START),
    flags=("typed",))
def recv(token: Any, *, channel_id: int | None = None, is_host_transfer: bool = False,
         frontend_attributes: FrontendAttributes | None = None, shape: Shape, world: Any) -> Any:
    """Start receiving a value through a channel; recv-done gives it.

    C1  The operand is a token.
    C2  The result is the data, u32[] and a token.
    """
    pairs = pairs_of(frontend_attributes)
    return _Awaited(lambda: world.recv(channel_id, pairs, is_host_transfer, shape.elements[0])), np.uint32(0), TOKEN


class _Awaited:
    """Data that is fetched when somebody waits for it, so that a recv may stand before its send."""

    def __init__(self, fetch: Any) -> None:
        self.fetch = fetch


def recv_done_shape(context: Shape) -> Shape:
    """Constraint 1 of recv-done."""
    require(_is_bundle(context, 3), "recv-done-c1", f"the operand is {context.text(False)}; it must be what recv gives")
    return Shape.tuple(context.elements[0], TOKEN_SHAPE)


def _emit_recv_done(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return operands[0][0], operands[0][2]


@op(recv_done_shape, lowering=Lowering(_emit_recv_done, carries=_CHANNEL), source=SPECIFICATION, draw=_draw_send,
    cost=moves, flow=Flow(Elements.FORWARDED, (0, 1), effect=Effect.HOST, step=AsyncStep.DONE), flags=("typed",))
def recv_done(context: Any, *, channel_id: int | None = None, is_host_transfer: bool = False) -> Any:
    """Wait for the data that recv asked for.

    C1  The operand is what recv gives: data, u32[] and a token.
    """
    data = context[0]
    return (data.fetch() if isinstance(data, _Awaited) else data), TOKEN


def infeed_shape(token: Shape, *, declared: Shape | None) -> Shape:
    """Constraints 1 and 2 of infeed."""
    _require_token(token, "infeed-c1", "the operand")
    require(_is_bundle(declared, 2), "infeed-c2", f"the result is {shown(declared)}; it must be (data, token[])")
    assert declared is not None
    return declared


def _emit_infeed(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    config = instruction.attributes.get("infeed_config", "")
    found = {"infeed_config": string(config)}
    if not instruction.shape.elements[0].is_tuple:
        found[_BARE] = "true"
    data = [leaf for _, leaf in instruction.shape.elements[0].leaves()]
    # A shape that writes no layout, as scalars never do, has the default one.
    if any(d.layout is not None for d in data):
        orders = ("[" + ", ".join(map(str, d.minor_to_major)) + "]" for d in data)
        found["layout"] = "[" + ", ".join(orders) + "]"
    return e.op("stablehlo.infeed", operands, instruction.shape, found)


def _lift_infeed(r: Reader) -> HloInstruction:
    data = _received_data(r)
    laid_out = _laid_out(r, data) if r.has("layout") else data
    is_bare = len(data) == 1 and r.has(_BARE)
    inner = laid_out[0] if is_bare else Shape.tuple(*laid_out)
    config = r.string("infeed_config")
    made = r.add("infeed", Shape.tuple(inner, TOKEN_SHAPE), r.operands(), {"infeed_config": config} if config else {})
    if not data:
        return r.add("get-tuple-element", TOKEN_SHAPE, (made,), {"index": 1})
    return made if is_bare else _flattened(r, made, laid_out)


def _laid_out(r: Reader, data: Sequence[Shape]) -> tuple[Shape, ...]:
    """The data in the layouts that `layout` names: for each part its dimensions, minor to major."""
    text, orders = r.text("layout"), r.value("layout")
    if not isinstance(orders, tuple) or not all(
            isinstance(order, tuple) and all(isinstance(d, int) for d in order) for order in orders):
        r.refuse(f"layout is {text}; it is a list of lists of integers")
    # XLA writes [0] for a scalar, too, which has no dimension to order.
    fits = len(orders) == len(data) and all(
        sorted(order) == list(range(d.rank)) or (not d.rank and order == (0,))
        for order, d in zip(orders, data, strict=True))
    if not fits:
        r.refuse(f"layout is {text}; it orders the dimensions of each of {Shape.tuple(*data).text(False)}")
    return tuple(d.with_layout(Layout(order)) if d.rank else d for order, d in zip(orders, data, strict=True))


def _draw_infeed(d: Draw) -> None:
    """Without data an infeed asks nothing of the host."""
    part, token = "()", d.add("after-all")
    if d.edge("data"):
        values = d.values(d.dims(0))
        d.infeed = [[values] for _ in d.infeed]
        part = shape_text(d.dtype, values.shape)
    fed = d.add("infeed", token, shape=f"({part}, token[])")
    d.add("get-tuple-element", fed, index=0) if part != "()" else d.add("copy", d.argument(d.dims(0)))


@op(infeed_shape, lowering=Lowering(_emit_infeed, _lift_infeed, ("stablehlo.infeed",)), source=SPECIFICATION,
    draw=_draw_infeed, cost=moves, flow=Flow(Elements.GIVEN, effect=Effect.HOST), flags=("typed",))
def infeed(token: Any, *, infeed_config: str = "", shape: Shape, world: Any) -> Any:
    """Take the next value from the device's infeed; an empty tuple takes nothing.

    C1  The operand is a token.
    C2  The result is the data and a token.
    """
    data = shape.elements[0]
    if not any(True for _ in data.leaves()):
        return zeros(data), TOKEN
    return world.infeed(data), TOKEN


def outfeed_shape(operand: Shape, token: Shape, *, outfeed_shape: Shape | None = None) -> Shape:
    """Constraints 1 and 2 of outfeed."""
    _require_token(token, "outfeed-c1", "the second operand")
    require(outfeed_shape is None or outfeed_shape.compatible(operand), "outfeed-c2",
            f"outfeed_shape is {outfeed_shape}, the operand is {operand.text(False)}", attribute="outfeed_shape")
    return TOKEN_SHAPE


def _emit_outfeed(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    config = instruction.attributes.get("outfeed_config", "")
    mark = {} if instruction.operands[0].shape.is_tuple else {_BARE: "true"}
    return e.op("stablehlo.outfeed", operands, TOKEN_SHAPE, {"outfeed_config": string(config), **mark})


def _lift_outfeed(r: Reader) -> HloInstruction:
    *data, token = r.operands()
    whole = Shape.tuple(*(d.shape for d in data))
    operand = data[0] if len(data) == 1 and r.has(_BARE) else r.add("tuple", whole, data)
    config = r.string("outfeed_config")
    attributes = {"outfeed_shape": operand.shape} | ({"outfeed_config": config} if config else {})
    return r.add("outfeed", TOKEN_SHAPE, (operand, token), attributes)


def _draw_outfeed(d: Draw) -> None:
    operand = d.argument(d.dims(0))
    d.add("outfeed", operand, d.add("after-all"), outfeed_shape=shape_text(d.dtype, operand.dims))
    d.add("copy", operand)


@op(outfeed_shape, lowering=Lowering(_emit_outfeed, _lift_outfeed, ("stablehlo.outfeed",)), source=SPECIFICATION,
    draw=_draw_outfeed, cost=moves, flow=Flow(effect=Effect.HOST))
def outfeed(operand: Any, token: Any, *, outfeed_shape: Shape | None = None, outfeed_config: str = "",
            world: Any) -> Any:
    """Put a value into the device's outfeed.

    C1  The second operand is a token.
    C2  outfeed_shape, where given, is the operand's shape.
    """
    if any(True for _ in leaves(operand)):
        world.outfeed(operand)
    return TOKEN


def copy_start_shape(operand: Shape, *, declared: Shape | None) -> Shape:
    """Constraint 1 of copy-start."""
    expected = Shape.tuple(operand, operand, _CONTEXT)
    if declared is not None:
        fits = declared.is_tuple and len(declared.elements) == 3 and all(
            d.compatible(operand) for d in declared.elements[:2])
        require(fits, "copy-start-c1",
                f"the result is {declared.text(False)}; it must be {expected.text(False)}")
        return declared
    return expected


def _emit_copy_start(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    context = instruction.shape.elements[2]
    filler = e.constant(np.zeros(context.dims, context.dtype.numpy), context.without_layout())
    return operands[0], operands[0], filler


def _draw_copy_start(d: Draw) -> None:
    d.add("copy-done", d.add("copy-start", d.argument(d.dims(0))))


def _cost_of_copy_start(instruction: HloInstruction, inner: Inner) -> Cost:
    size = instruction.operands[0].shape.nbytes
    return Cost(bytes_read=size, bytes_written=size)


@op(copy_start_shape, lowering=Lowering(_emit_copy_start), source=SPECIFICATION,
    draw=_draw_copy_start, cost=_cost_of_copy_start, flow=Flow(Elements.FORWARDED, (0, 1), step=AsyncStep.START))
def copy_start(operand: Any, *, cross_program_prefetch_index: int | None = None,
               is_cross_program_prefetch: bool = False) -> Any:
    """Start a copy; copy-done gives it.

    C1  The result is the destination, the source and a context, both shaped like the operand.
    """
    return operand, operand, np.uint32(0)


def copy_done_shape(start: Shape) -> Shape:
    """Constraint 1 of copy-done."""
    require(start.is_tuple and len(start.elements) == 3 and start.elements[0].compatible(start.elements[1]),
            "copy-done-c1", f"the operand is {start.text(False)}; it must be what copy-start gives")
    return start.elements[0]


def _emit_copy_done(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return operands[0][0]


@op(copy_done_shape, lowering=Lowering(_emit_copy_done), source=SPECIFICATION,
    draw=_draw_copy_start, cost=is_free, flow=AWAITS)
def copy_done(start: Any) -> Any:
    """Wait for a copy and give it.

    C1  The operand is what copy-start gives: destination, source and a context, the first two of one shape.
    """
    copied: Array = start[0]
    return copied
