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

from hlotool.ops.values import AsyncState


class Flight(NamedTuple):
    """One result of an operation that was started: the future, the types of its results, and which one it is."""

    future: Any
    types: tuple[Any, ...]
    number: int


def started(ir: Any, operation: Any, location: Any, insertion_point: Any) -> list[Flight]:
    """Put an operation, the last of its block, into an async_start; its results in flight."""
    operands, types = list(operation.operands), tuple(r.type for r in operation.results)
    future = ir.Type.parse(f"!stablehlo.future<{', '.join(map(str, types))}>")
    start = ir.Operation.create("stablehlo.async_start", [future], operands, None, None, 1, location, insertion_point)
    block = start.regions[0].blocks.append(*(o.type for o in operands), arg_locs=[location] * len(operands))
    end = ir.Operation.create("stablehlo.return", [], list(operation.results), None, None, 0, location,
                              ir.InsertionPoint(block))
    operation.move_before(end)
    for number, argument in enumerate(block.arguments):
        operation.operands[number] = argument
    return [Flight(start.result, types, n) for n in range(len(types))]


def replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    """A nested value with every leaf replaced; what is in flight stays so."""
    if isinstance(value, Flight) or not isinstance(value, tuple):
        return change(value)
    members = [replaced(v, change) for v in value]
    return AsyncState.of(members, value.run, value.bound) if isinstance(value, AsyncState) else tuple(members)


def is_in_flight(value: Any) -> bool:
    """Return True if a leaf of a nested value is in flight."""
    return isinstance(value, Flight) or (isinstance(value, tuple) and any(map(is_in_flight, value)))


def landed(ir: Any, values: Sequence[Any], location: Any, insertion_point: Any) -> list[Any]:
    """The values, with an async_done for everything that is in flight."""
    done: dict[Any, Any] = {}

    def land(value: Any) -> Any:
        if not isinstance(value, Flight):
            return value
        if value.future not in done:
            done[value.future] = ir.Operation.create("stablehlo.async_done", list(value.types), [value.future], None,
                                                     None, 0, location, insertion_point)
        return done[value.future].results[value.number]

    return [replaced(value, land) for value in values]
