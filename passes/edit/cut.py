"""Sections of a module as modules of their own.

    whole                        section for d, cut at b
    ENTRY e {                    ENTRY e {
      x = f32[4] parameter(0)      b = f32[4] parameter(0)
      b = f32[4] sine(x)           c = f32[4] negate(b)
      c = f32[4] negate(b)         ROOT d = f32[4] add(b, c)
      d = f32[4] add(b, c)       }
      ROOT y = f32[4] exponential(d)
    }
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.ir import (
    NO_ATTRIBUTES,
    Attributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Shape,
    called_by,
    callees_before_callers,
    post_order,
    unique_name,
)
from hlotool.ops import flow_of
from hlotool.passes.edit.copies import copied

#: attributes of a module that describe the entry's parameters, results and order, and would not fit other ones
OF_THE_ENTRY = ("entry_computation_layout", "input_output_alias", "buffer_donor", "is_scheduled",
                "allow_spmd_sharding_propagation_to_output", "allow_spmd_sharding_propagation_to_parameters")


@dataclass(frozen=True)
class Section:
    """Instructions of a computation as the entry of a module of its own."""

    module: HloModule
    #: the instructions of the computation whose values are the parameters, in order
    fed: tuple[HloInstruction, ...]
    #: those whose values are the results, in order
    targets: tuple[HloInstruction, ...]
    #: those that are computed
    computed: tuple[HloInstruction, ...]


def section(module: HloModule, computation: HloComputation, targets: Sequence[HloInstruction],
            cut: Collection[HloInstruction] = (), header: Mapping[str, Any] = NO_ATTRIBUTES,
            order: Mapping[HloInstruction, int] | None = None) -> Section:
    """Return the module that computes `targets` of a computation from its parameters and what is `cut`.

    Instructions keep their names, and parameters their shardings. One target is the root; several, or one that is
    computed of nothing, are members of a tuple. `header` is added to what the module's header says of more than its
    entry. `order` tells the place of each instruction in the section, and of parameters among each other; without it
    they are in an order of evaluation (`positions`).
    """
    cut = set(cut)
    inside = _needed(computation, targets, cut, order)
    fed = [i for i in inside if i.opcode == "parameter" or i in cut]
    copies: dict[Any, HloInstruction] = {i: parameter_for(i, n, i.name) for n, i in enumerate(fed)}
    for old in inside:
        if old not in copies:
            copies[old] = copied(old, copies)
            copies[old].attributes = copies[old].attributes.without("control-predecessors")
    made = [copies[i] for i in inside]
    root = copies[targets[0]]
    if len(targets) > 1 or root.opcode == "parameter":
        root = tuple_of([copies[t] for t in targets], unique_name("values", [i.name for i in inside]))
        made.append(root)
    entry = HloComputation(computation.name, made, root, offset=computation.offset)
    whole = HloModule(module.name, [*callees_before_callers(called_by(entry)), entry], entry,
                      module.attributes.without(*OF_THE_ENTRY) | header, dict(module.tables), module.source)
    return Section(whole, tuple(fed), tuple(targets),
                   tuple(i for i in inside if i not in cut and i.opcode != "parameter"))


def parameter_for(value: HloInstruction, number: int, name: str) -> HloInstruction:
    """Return a parameter that takes the value of an instruction, split over devices as that is."""
    kept = {"sharding": value.attributes["sharding"]} if "sharding" in value.attributes else {}
    return HloInstruction(name, "parameter", value.shape, (), Attributes({"parameter_number": number, **kept}),
                          value.metadata, value.offset)


def tuple_of(members: Sequence[HloInstruction], name: str) -> HloInstruction:
    """Return the tuple of some instructions."""
    return HloInstruction(name, "tuple", Shape.tuple(*(m.shape for m in members)), tuple(members))


def alone(instruction: HloInstruction, name: str) -> HloComputation:
    """Return a computation of one instruction, which takes a parameter for each operand: p0, p1, ..."""
    parameters = tuple(HloInstruction(f"p{n}", "parameter", o.shape, (), Attributes({"parameter_number": n}))
                       for n, o in enumerate(instruction.operands))
    root = HloInstruction("result", instruction.opcode, instruction.shape, parameters, instruction.attributes)
    return HloComputation(name, [*parameters, root], root)


def positions(computation: HloComputation) -> dict[HloInstruction, int]:
    """Return the place of each instruction in an order of evaluation."""
    return {instruction: number for number, instruction in enumerate(post_order(computation))}


def ancestors(computation: HloComputation, targets: Iterable[HloInstruction]) -> list[HloInstruction]:
    """Return the targets and all that they are computed of, in order."""
    return _needed(computation, targets, ())


def _needed(computation: HloComputation, targets: Iterable[HloInstruction], cut: Collection[HloInstruction],
            order: Mapping[HloInstruction, int] | None = None) -> list[HloInstruction]:
    """Return the targets and what they are computed of, up to what is cut, in order."""
    found: set[HloInstruction] = set()
    stack = list(targets)
    while stack:
        instruction = stack.pop()
        if instruction not in found:
            found.add(instruction)
            if instruction not in cut:
                stack.extend(instruction.operands)
    return sorted(found, key=(positions(computation) if order is None else order).__getitem__)


def varying(instructions: Sequence[HloInstruction], fed: Collection[HloInstruction]) -> set[HloInstruction]:
    """Return those of the instructions that depend on what is fed, or draw numbers.

    Everything else is the same in every run, and a compiler may fold it: cut off, it would be compiled otherwise.
    """
    found = set(fed)
    for instruction in instructions:
        if flow_of(instruction).varies or any(o in found for o in instruction.operands):
            found.add(instruction)
    return found


def is_cuttable(instruction: HloInstruction) -> bool:
    """Return True if an instruction's value can be handed in as an argument: arrays, and tuples of them."""
    shapes = [s for _, s in instruction.shape.leaves()]
    return bool(shapes) and all(s.is_array and s.is_static for s in shapes) and not instruction.opcode.endswith(
        ("-start", "-update"))
