"""Collectives of several operands as one for each: older versions of StableHLO and XLA's partitioner lack others."""

from __future__ import annotations

from typing import Any

from hlotool import mlir
from hlotool.ir import Kind, Sharding
from hlotool.stablehlo.bindings import from_bindings, to_bindings
from hlotool.stablehlo.module_attributes import SHARDING, read_sharding_attribute
from hlotool.text import print_value

_OF_SEVERAL = "stablehlo.all_reduce"


def with_single_operands(module: Any) -> Any:
    """Return an MLIR module with each all_reduce of several operands as one for each operand, all of one channel."""
    program = from_bindings(module)
    replaced: dict[mlir.SsaValue, mlir.SsaValue] = {}
    for operation in mlir.walk(program):
        for region in operation.regions:
            for block in region.blocks:
                block.operations = [made for inner in block.operations for made in _single(inner, replaced)]
    if not replaced:
        return module
    for operation in mlir.walk(program):
        operation.operands = [replaced.get(o, o) for o in operation.operands]
    return to_bindings(program, module.context)


def _single(operation: mlir.Operation, replaced: dict[mlir.SsaValue, mlir.SsaValue]) -> list[mlir.Operation]:
    """Return an operation, or the ones for each of its operands, whose results replace its own."""
    if operation.name != _OF_SEVERAL or len(operation.operands) < 2:
        return [operation]
    made = [_one_of(operation, number) for number in range(len(operation.operands))]
    replaced.update((old, new.results[0]) for old, new in zip(operation.results, made, strict=True))
    return made


def _one_of(operation: mlir.Operation, number: int) -> mlir.Operation:
    """Return a new operation on one of the operands, with the attributes and a copy of the region."""
    attributes = dict(operation.attributes)
    sharding = read_sharding_attribute(SHARDING, attributes[SHARDING]) if SHARDING in attributes else None
    if isinstance(sharding, Sharding) and sharding.kind == "tuple":
        attributes[SHARDING] = mlir.StringAttribute(print_value(Kind.SHARDING, sharding.elements[number]))
    return mlir.Operation(operation.name, [operation.operands[number]], [operation.results[number].type],
                          properties=dict(operation.properties), attributes=attributes,
                          regions=[_copied(region) for region in operation.regions], location=operation.location)


def _copied(region: mlir.Region) -> mlir.Region:
    """Return a copy of a reduction's region, whose operations have no regions of their own."""
    made = mlir.Region()
    for block in region.blocks:
        copy, values = mlir.Block(), dict[mlir.SsaValue, mlir.SsaValue]()
        for argument in block.arguments:
            values[argument] = copy.add_argument(argument.type, argument.location)
        for operation in block.operations:
            inner = mlir.Operation(
                operation.name, [values.get(o, o) for o in operation.operands], [r.type for r in operation.results],
                properties=dict(operation.properties), attributes=dict(operation.attributes),
                regions=[_copied(r) for r in operation.regions], location=operation.location)
            values.update(zip(operation.results, inner.results, strict=True))
            copy.operations.append(inner)
        made.blocks.append(copy)
    return made
