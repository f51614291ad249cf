"""Asynchronous operations that stay so: stablehlo.async_start around one collective or slice, and its async_done.

    %f = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<4xf32>):
      %g = "stablehlo.all_gather"(%a) ... : (tensor<4xf32>) -> tensor<8xf32>
      stablehlo.return %g : tensor<8xf32>
    }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
    %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>

Between the two, the results are Flight values in the exporter's tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hlotool import mlir
from hlotool.ops.values import AsyncState


class Flight(NamedTuple):
    """One result of an operation that was started: the future, the types of its results, and which one it is."""

    future: mlir.SsaValue
    types: tuple[mlir.AnyType, ...]
    number: int


def started(operation: mlir.Operation, location: mlir.Location, block: mlir.Block) -> list[Flight]:
    """Put an operation of a block into an async_start at the end of it; return its results in flight."""
    inner, types = mlir.Block(), tuple([r.type for r in operation.results])
    start = mlir.Operation("stablehlo.async_start", operation.operands,
                           [mlir.DialectType("stablehlo", "future", tuple([("", t) for t in types]))],
                           regions=[mlir.Region([inner])], location=location)
    operation.operands = [inner.add_argument(o.type, location) for o in start.operands]
    inner.operations += operation, mlir.Operation("stablehlo.return", operation.results, location=location)
    block.operations.remove(operation)
    block.operations.append(start)
    return [Flight(start.results[0], types, n) for n in range(len(types))]


def replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    """A nested value with every leaf replaced; what is in flight stays so."""
    if isinstance(value, Flight) or not isinstance(value, tuple):
        return change(value)
    members = [replaced(v, change) for v in value]
    return AsyncState.of(members, value.run, value.bound) if isinstance(value, AsyncState) else tuple(members)


def is_in_flight(value: Any) -> bool:
    """Return True if a leaf of a nested value is in flight."""
    return isinstance(value, Flight) or (isinstance(value, tuple) and any(map(is_in_flight, value)))


def landed(values: Sequence[Any], location: mlir.Location, block: mlir.Block) -> list[Any]:
    """The values, with an async_done at the end of the block for everything that is in flight."""
    done: dict[mlir.SsaValue, mlir.Operation] = {}

    def land(value: Any) -> Any:
        if not isinstance(value, Flight):
            return value
        if value.future not in done:
            done[value.future] = mlir.Operation("stablehlo.async_done", [value.future], value.types, location=location)
            block.operations.append(done[value.future])
        return done[value.future].results[value.number]

    return [replaced(value, land) for value in values]
