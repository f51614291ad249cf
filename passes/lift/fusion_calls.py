"""Writes fusions as calls of the computations that they fuse, so that their boundaries are kept.

    ENTRY main {                                  ENTRY main {
      x = f32[4] parameter(0)                       x = f32[4] parameter(0)
      ROOT f = f32[4] fusion(x), kind=kLoop,        ROOT f = f32[4] call(x), to_apply=fused,
        calls=fused                                   frontend_attributes={hlotool.fusion="kLoop"}
    }                                             }

With the option `composite` the call stands for a composite of the name hlotool.fusion.
"""

from __future__ import annotations

from hlotool.ir import Attributes, FrontendAttributes, HloInstruction, HloModule
from hlotool.passes.lift.composites import composite_attributes, make_composite, without_entries
from hlotool.text import quote

#: the frontend attribute that holds a fusion's kind, and the name of its composite
MARK = "hlotool.fusion"


def outline_fusions(module: HloModule, *, composite: bool = False) -> HloModule:
    """Return the same module, changed in place, without fusions.

    composite: calls that are composites, which a reader of StableHLO may replace as a whole.
    """
    for instruction in module.instructions():
        if instruction.opcode == "fusion":
            _outline(instruction, composite)
    return module


def has_fusions(module: HloModule) -> bool:
    """Return True if an instruction is a fusion."""
    return any(i.opcode == "fusion" for i in module.instructions())


def _outline(instruction: HloInstruction, composite: bool) -> None:
    given = instruction.attributes
    kind = str(given.get("kind", ""))
    if composite:
        make_composite(instruction, MARK, f'{{kind = "{kind}"}}', given["calls"], "calls", "kind")
        return
    entries = [*(given.get("frontend_attributes") or FrontendAttributes(())).entries, (MARK, quote(kind))]
    instruction.opcode = "call"
    instruction.attributes = Attributes({
        "to_apply": given["calls"], **given.without("calls", "kind", "frontend_attributes"),
        "frontend_attributes": FrontendAttributes(tuple(sorted(entries)))})


def restore_fusion(instruction: HloInstruction) -> None:
    """Make a call that was a fusion one again; other calls stay."""
    given = instruction.attributes
    entries = given.get("frontend_attributes")
    if instruction.opcode != "call" or not isinstance(entries, FrontendAttributes):
        return
    kind = entries.get(MARK)
    if (written := composite_attributes(instruction, MARK)) is not None:
        kind = written.partition('"')[2].partition('"')[0]
    if kind is None:
        return
    instruction.opcode = "fusion"
    instruction.attributes = Attributes({
        "kind": kind, "calls": given["to_apply"],
        **given.without("to_apply", "is_composite", "frontend_attributes"), **without_entries(given, MARK)})
