"""Instructions and computations made by hand, for tests of what needs no meaning."""

from __future__ import annotations

from hlotool.ir import Attributes, HloComputation, HloInstruction, Shape

F32 = Shape.array("f32")


def made(name: str, *operands: HloInstruction, opcode: str = "tanh", offset: int = -1, **attributes: object
         ) -> HloInstruction:
    return HloInstruction(name, opcode, F32, operands,
                          Attributes({n.replace("_", "-") if n.startswith("control") else n: v
                                      for n, v in attributes.items()}), None, offset)


def caller(name: str, *called: HloComputation) -> HloComputation:
    """A computation with a call of each of those."""
    return HloComputation(name, [made(f"{name}.{n}", opcode="call", to_apply=c) for n, c in enumerate(called)]
                          or [made(f"{name}.leaf")])


def names(items: object) -> str:
    return " ".join(i.name for i in items)  # type: ignore[attr-defined]
