"""Operations that a pass of StableHLO replaced, and what stood beside them: it is lost then.

    %0 = chlo.erf %x {hlotool.lost = {statistics = ...}}     ->   clamp, multiply, add, ... without the attribute

A program is looked at before and after; operations are the same ones where name, place, results and attributes beside
them are.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from hlotool import mlir
from hlotool.stablehlo import codes
from hlotool.stablehlo.location_reader import LocationReader
from hlotool.stablehlo.loss_attributes import LOST
from hlotool.stablehlo.loss_report import Loss
from hlotool.stablehlo.module_attributes import FRONTEND, SHARDING

_BESIDE = {LOST: "", SHARDING: "sharding", FRONTEND: "frontend_attributes"}
#: operations that passes fold and join, and that no instruction is alone
_ANYWHERE = frozenset(("stablehlo.constant", "builtin.module"))


def lose_replaced(losses: list[Loss], before: mlir.Operation, after: mlir.Operation) -> None:
    """Note what passes between two programs lost: nothing beside a replaced operation is carried any more."""
    found, kept = list(mlir.walk(before)), Counter(_key(o) for o in mlir.walk(after))
    locations = LocationReader()
    for operation in found:
        key = _key(operation)
        if kept[key]:
            kept[key] -= 1
            continue
        beside = [name for name in _BESIDE if name in operation.attributes]
        if operation.name in _ANYWHERE and not beside:
            continue
        name, _ = locations.read(operation.location)
        offset = -1
        for number, loss in enumerate(losses):
            if name and loss.name == name:
                losses[number], offset = loss._replace(is_carried=False), loss.offset
        losses.append(Loss(codes.LOST_OPERATION, name, offset, f"{operation.name} became other operations"))
        losses.extend(Loss(codes.LOST_ATTRIBUTE, name, offset,
                           f"{said} of {operation.name}, which became other operations")
                      for attribute in beside if (said := _BESIDE[attribute]))


def _key(operation: mlir.Operation) -> tuple[Any, ...]:
    attributes = operation.attributes
    return (operation.name, operation.location, len(operation.results),
            *(attributes.get(name) for name in _BESIDE))
