"""Composites as HLO has them: calls whose frontend attributes name what the called computation stands for."""

from __future__ import annotations

from hlotool.ir import Attributes, FrontendAttributes, HloComputation, HloInstruction
from hlotool.text import quote

_NAME, _ATTRIBUTES, _VERSION = "composite.name", "composite.attributes", "composite.version"


def make_composite(instruction: HloInstruction, name: str, attributes: str, decomposition: HloComputation,
                   *replaced: str) -> None:
    """Make an instruction the call of a composite; `attributes` is MLIR's text, `replaced` what goes."""
    given = instruction.attributes
    entries = [*(given.get("frontend_attributes") or FrontendAttributes(())).entries,
               (_ATTRIBUTES, attributes), (_NAME, quote(name)), (_VERSION, quote("0"))]
    instruction.opcode = "call"
    instruction.attributes = Attributes({
        "to_apply": decomposition, **given.without(*replaced, "frontend_attributes"), "is_composite": True,
        "frontend_attributes": FrontendAttributes(tuple(sorted(entries)))})


def composite_attributes(instruction: HloInstruction, name: str) -> str | None:
    """Return the attributes of a composite, as MLIR's text; None for what is no composite of that name."""
    entries = instruction.attributes.get("frontend_attributes")
    if instruction.opcode != "call" or not isinstance(entries, FrontendAttributes) or entries.get(_NAME) != name:
        return None
    return entries.get(_ATTRIBUTES) or ""


def without_entries(attributes: Attributes, *names: str) -> dict[str, FrontendAttributes]:
    """The frontend attributes that are left when those of a composite, and of the names, are gone: a key, or none."""
    entries = attributes.get("frontend_attributes") or FrontendAttributes(())
    kept = tuple(e for e in entries.entries if e[0] not in (_NAME, _ATTRIBUTES, _VERSION, *names))
    return {"frontend_attributes": FrontendAttributes(kept)} if kept else {}
