"""Infeed, outfeed, send and receive: with tokens, and in the forms that make their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import NOT_ALLOWED
from hlotool.builder.dimension_numbers import channel_of
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import shape_of
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.core import Core

_TOKEN, _CONTEXT = Shape.token(), Shape.array("u32")


def _first(b: Core, pair: XlaOp) -> XlaOp:
    return b.emit("get-tuple-element", [pair], {"index": 0})


@function()
def infeed(b: Core, shape: Any, config: str = "") -> XlaOp:
    """The next value of the infeed, after all transfers before it."""
    pair = infeed_with_token(b, b.last_token(), shape, config)
    b.goes_on_after(pair, 1)
    return _first(b, pair)


@function()
def infeed_with_token(b: Core, token: Any, shape: Any, config: str = "") -> XlaOp:
    """The next value of the infeed after a token, and the token after it: a tuple."""
    found, wanted = {"infeed_config": config} if config else {}, shape_of(shape)
    demand(not wanted.is_tuple or not any(e.is_tuple for e in wanted.elements), NOT_ALLOWED,
           f"Infeed: the shape {wanted.text(False)} has a tuple inside a tuple")
    demand(all(e.is_array for e in wanted.elements) if wanted.is_tuple else wanted.is_array, NOT_ALLOWED,
           f"Infeed: the shape {wanted.text(False)} is no array and no tuple of arrays")
    return b.emit("infeed", [token], found, Shape.tuple(wanted, _TOKEN))


@function()
def outfeed(b: Core, operand: Any, shape_with_layout: Any = None, outfeed_config: str = "") -> XlaOp:
    """Give a value to the outfeed, after all transfers before it; what it makes is a token."""
    made = outfeed_with_token(b, operand, b.last_token(), shape_with_layout, outfeed_config)
    b.goes_on_after(made)
    return made


@function()
def outfeed_with_token(b: Core, operand: Any, token: Any, shape_with_layout: Any = None,
                       outfeed_config: str = "") -> XlaOp:
    """Give a value to the outfeed after a token; what it makes is the token after it."""
    made = b.result_of(operand)
    demand(made.shape.is_array or made.shape.is_tuple, NOT_ALLOWED,
           f"an array or a tuple of arrays goes out; the operand is {made.shape.text(False)}")
    found: dict[str, Any] = {"outfeed_shape": made.shape if shape_with_layout is None else shape_of(shape_with_layout)}
    if outfeed_config:
        found["outfeed_config"] = outfeed_config
    return b.emit("outfeed", [made, token], found)


def _channel(handle: Any, is_host: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"channel_id": channel_of(handle)}
    if is_host or getattr(handle, "is_host", False):
        found["is_host_transfer"] = True
    return found


@function()
def send(b: Core, operand: Any, handle: Any) -> XlaOp:
    """Send a value over a channel, after all transfers before it, and wait until it is away; it makes a token."""
    data = b.result_of(operand)
    demand(data.shape.is_array, NOT_ALLOWED, f"Send sends an array; the operand is {data.shape.text(False)}",
           "SendWithToken sends a tuple")
    made = send_with_token(b, data, b.last_token(), handle)
    b.goes_on_after(made)
    return made


@function("SendWithTokens")
def send_with_token(b: Core, operand: Any, token: Any, handle: Any) -> XlaOp:
    """Send a value over a channel after a token; what it makes is the token after it."""
    return _sent(b, operand, token, _channel(handle, False))


@function()
def send_to_host(b: Core, operand: Any, token: Any, shape_with_layout: Any = None, handle: Any = 1) -> XlaOp:
    """Send an array to the host."""
    made = b.operand(operand)
    wanted = made.shape if shape_with_layout is None else shape_of(shape_with_layout)
    # XLA: XlaBuilder::SendToHost
    demand(made.shape.is_array and wanted.without_layout() is made.shape.without_layout(), NOT_ALLOWED,
           f"SendToHost: the operand is {made.shape.text(False)}, shape_with_layout {wanted.text(False)}")
    return _sent(b, operand, token, _channel(handle, True))


def _sent(b: Core, operand: Any, token: Any, found: dict[str, Any]) -> XlaOp:
    started = b.emit("send", [b.result_of(operand), token], found)
    return b.emit("send-done", [started], found)


@function()
def recv(b: Core, shape: Any, handle: Any) -> XlaOp:
    """The value that comes over a channel, after all transfers before it."""
    wanted = shape_of(shape)
    demand(not wanted.is_token, NOT_ALLOWED, f"Recv: the shape {wanted.text(False)} is that of no data")
    pair = recv_with_token(b, b.last_token(), shape, handle)
    b.goes_on_after(pair, 1)
    return _first(b, pair)


@function("RecvWithTokens")
def recv_with_token(b: Core, token: Any, shape: Any, handle: Any) -> XlaOp:
    """The value that comes over a channel after a token, and the token after it: a tuple."""
    return _received(b, token, shape, _channel(handle, False))


@function("RecvToHost")
def recv_from_host(b: Core, token: Any, shape: Any, handle: Any) -> XlaOp:
    """The value that comes from the host, and the token after it: a tuple."""
    wanted = shape_of(shape)
    # XLA: XlaBuilder::RecvFromHost
    demand(wanted.is_array, NOT_ALLOWED, f"RecvFromHost: the shape {wanted.text(False)} is not that of an array")
    return _received(b, token, wanted, _channel(handle, True))


def _received(b: Core, token: Any, shape: Any, found: dict[str, Any]) -> XlaOp:
    started = b.emit("recv", [token], found, Shape.tuple(shape_of(shape), _CONTEXT, _TOKEN))
    return b.emit("recv-done", [started], found)


@function()
def send_done(b: Core, context: Any) -> XlaOp:
    """Wait until what `SendStart` began is away; what `Send` gives is away already."""
    made = b.operand(context)
    if made.instruction.opcode == "send-done":
        return made
    return b.emit("send-done", [made], _same_channel(made))


@function()
def recv_done(b: Core, context: Any) -> XlaOp:
    """Wait for what `RecvStart` asked for: the data and a token; what `Recv` gives is there already."""
    made = b.operand(context)
    source = made.instruction
    if source.opcode == "get-tuple-element" and source.operands[0].opcode == "recv-done":
        return made
    return b.emit("recv-done", [made], _same_channel(made))


def _same_channel(made: XlaOp) -> dict[str, Any]:
    return {k: v for k, v in made.instruction.attributes.items() if k in ("channel_id", "is_host_transfer")}


@function()
def send_start(b: Core, operand: Any, token: Any, handle: Any) -> XlaOp:
    """The first half of SendWithToken, HLO's send."""
    return b.emit("send", [b.result_of(operand), token], _channel(handle, False))


@function()
def recv_start(b: Core, token: Any, shape: Any, handle: Any) -> XlaOp:
    """The first half of RecvWithToken, HLO's recv."""
    return b.emit("recv", [token], _channel(handle, False), Shape.tuple(shape_of(shape), _CONTEXT, _TOKEN))
