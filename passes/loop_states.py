"""Places of a loop's state: what a body or a condition reads of it, and what the body returns unchanged."""

from __future__ import annotations

from hlotool.ir import HloComputation, HloInstruction


def place_read(instruction: HloInstruction) -> int | None:
    """Return the place of the loop's state that an instruction reads."""
    if instruction.opcode == "get-tuple-element" and instruction.operands[0].opcode == "parameter":
        place: int = instruction.attributes["index"]
        return place
    return None


def invariant_places(body: HloComputation) -> frozenset[int]:
    """Return the places of a loop's state that the body returns unchanged."""
    members = body.root.operands if body.root.opcode == "tuple" else ()
    return frozenset(n for n, member in enumerate(members) if place_read(member) == n)
