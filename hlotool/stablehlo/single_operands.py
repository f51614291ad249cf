"""Collectives of several operands as one for each: older versions of StableHLO and XLA's partitioner lack others."""

from __future__ import annotations

from typing import Any

from hlotool.ir import Kind, Sharding
from hlotool.stablehlo.module_attributes import SHARDING, read_sharding_attribute
from hlotool.stablehlo.strings import attributes_of, string_attribute
from hlotool.text import print_value


def with_single_operands(program: Any) -> None:
    """Replace each all_reduce of several operands, in place, by one for each operand, all of one channel."""
    from jax.extend.mlir import ir

    found: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name == "stablehlo.all_reduce" and len(operation.operands) > 1:
            found.append(operation)
        return ir.WalkResult.ADVANCE

    program.operation.walk(visit)
    with program.context:
        for operation in found:
            for number, result in enumerate(operation.results):
                result.replace_all_uses_with(_one_of(ir, operation, number))
            operation.erase()


def _one_of(ir: Any, operation: Any, number: int) -> Any:
    """Return the result of a new operation on one of the operands, with the attributes and a copy of the region."""
    attributes, here = attributes_of(operation), ir.InsertionPoint(operation)
    sharding = read_sharding_attribute(SHARDING, attributes[SHARDING]) if SHARDING in attributes else None
    if isinstance(sharding, Sharding) and sharding.kind == "tuple":
        attributes[SHARDING] = string_attribute(ir, print_value(Kind.SHARDING, sharding.elements[number]))
    made = ir.Operation.create(operation.name, [operation.results[number].type], [operation.operands[number]],
                               attributes, None, 1, operation.location, here)
    copy = operation.clone(here).operation
    copy.regions[0].blocks[0].append_to(made.regions[0])
    copy.erase()
    return made.result
