"""Shardings inside of loops and branches: StableHLO says them once, at the operation; HLO says them in the regions too.

XLA's partitioner needs them there. Source: XLA, mlir_hlo_to_hlo.cc, WhileOp, IfOp and CaseOp, which give the shardings
of the results to the regions' parameters (of a loop) and to what the regions give.
"""

from __future__ import annotations

from hlotool.ir import HloComputation, HloInstruction, Sharding


def share_with_regions(instruction: HloInstruction) -> None:
    """Give the sharding of a loop or of a branch to what it calls, where nothing is said there."""
    sharding = instruction.attributes.get("sharding")
    if not isinstance(sharding, Sharding):
        return
    if instruction.opcode == "while":
        condition, body = (instruction.attributes[n] for n in ("condition", "body"))
        for region in (condition, body):
            _share_with_parameter(region, sharding)
        _share(body.root, sharding)
    elif instruction.opcode == "conditional":
        for region in instruction.called_computations():
            _share(region.root, sharding)


def _share_with_parameter(region: HloComputation, sharding: Sharding) -> None:
    (parameter,) = region.parameters()
    _share(parameter, sharding)
    if sharding.kind != "tuple":
        return
    for one in region.instructions:
        if one.opcode == "get-tuple-element" and one.operands[0] is parameter:
            _share(one, sharding.elements[one.attributes["index"]])


def _share(instruction: HloInstruction, sharding: Sharding) -> None:
    if "sharding" not in instruction.attributes:
        instruction.attributes = instruction.attributes | {"sharding": sharding}
