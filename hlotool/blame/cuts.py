"""Parts of a module as modules of their own.

    whole                        part for d, cut at b
    ENTRY e {                    ENTRY e {
      x = f32[4] parameter(0)      b = f32[4] parameter(0)
      b = f32[4] sine(x)           c = f32[4] negate(b)
      c = f32[4] negate(b)         ROOT d = f32[4] add(b, c)
      d = f32[4] add(b, c)       }
      ROOT y = f32[4] exponential(d)
    }

What does not depend on arguments (constants, iota, what is computed of those) is never cut off: a compiler may fold it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.execution import Program, leaves
from hlotool.ir import (
    NO_ATTRIBUTES,
    Attributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Shape,
    called_by,
    mapped_attributes,
    post_order,
    unique_name,
)

#: what speaks of the entry's parameters and result, and would not fit new ones
_OF_THE_ENTRY = ("entry_computation_layout", "input_output_alias", "buffer_donor", "is_scheduled",
                 "allow_spmd_sharding_propagation_to_output", "allow_spmd_sharding_propagation_to_parameters")


@dataclass(frozen=True)
class Part:
    """Instructions of a computation as the program of a module of its own."""

    program: Program
    #: the instructions of the computation whose values are the parameters, in order
    fed: tuple[HloInstruction, ...]
    #: those whose values are the results, in order
    targets: tuple[HloInstruction, ...]
    #: those that are computed
    computed: tuple[HloInstruction, ...]

    def owners(self) -> list[HloInstruction]:
        """The target that each leaf of the result belongs to."""
        return [t for t in self.targets for _ in leaves(t.shape)]


@dataclass(frozen=True)
class Section:
    """Instructions of a computation as the entry of a module of its own; the fields are those of a part."""

    module: HloModule
    fed: tuple[HloInstruction, ...]
    targets: tuple[HloInstruction, ...]
    computed: tuple[HloInstruction, ...]


def part(whole: Program, computation: HloComputation, targets: Sequence[HloInstruction],
         cut: Collection[HloInstruction] = (), order: Mapping[HloInstruction, int] | None = None) -> Part:
    """The program that computes `targets` of a computation of `whole` from the parameters and what is `cut`.

    `order` tells where each instruction of the computation stands (`positions`): who asks for many parts has it once.
    Of a program that has still to be partitioned, a part without shardings is for one partition: it takes whole arrays.
    """
    counts = {"replica_count": whole.replicas, "num_partitions": whole.partitions}
    found = section(whole.module, computation, targets, cut, {n: count for n, count in counts.items() if count > 1},
                    order)
    program = Program(found.module)
    if whole.partitioning == "automatic" and program.partitioning != "automatic":
        found.module.attributes = found.module.attributes.without("num_partitions")
        program = Program(found.module)
    return Part(program, found.fed, found.targets, found.computed)


def section(module: HloModule, computation: HloComputation, targets: Sequence[HloInstruction],
            cut: Collection[HloInstruction] = (), header: Mapping[str, Any] = NO_ATTRIBUTES,
            order: Mapping[HloInstruction, int] | None = None) -> Section:
    """The module that computes `targets` of a computation from the parameters and what is `cut`.

    Instructions keep their names; `header` is added to what the module's header says; `order`: as `positions` has it.
    """
    cut = set(cut)
    inside = _needed(computation, targets, cut, order)
    fed = [i for i in inside if i.opcode == "parameter" or i in cut]
    copies: dict[object, HloInstruction] = {}
    for number, instruction in enumerate(fed):
        kept = {"sharding": instruction.attributes["sharding"]} if "sharding" in instruction.attributes else {}
        copies[instruction] = HloInstruction(instruction.name, "parameter", instruction.shape, (), Attributes(
            {"parameter_number": number, **kept}), instruction.metadata, instruction.offset)
    for old in inside:
        if old not in copies:
            copies[old] = _copied(old, copies)
    made = [copies[i] for i in inside]
    root = copies[targets[0]]
    if len(targets) > 1 or root.opcode == "parameter":
        name = unique_name("values", [i.name for i in inside])
        members = tuple(copies[t] for t in targets)
        root = HloInstruction(name, "tuple", Shape.tuple(*(m.shape for m in members)), members)
        made.append(root)
    entry = HloComputation(computation.name, made, root, offset=computation.offset)
    attributes = module.attributes.without(*_OF_THE_ENTRY) | header
    made_module = HloModule(module.name, [*_reached(entry), entry], entry, attributes, dict(module.tables),
                            module.source)
    return Section(made_module, tuple(fed), tuple(targets),
                   tuple(i for i in inside if i not in cut and i.opcode != "parameter"))


def _copied(old: HloInstruction, copies: dict[object, HloInstruction]) -> HloInstruction:
    attributes = old.attributes
    if attributes and "control-predecessors" in attributes:
        attributes = attributes.without("control-predecessors")
    return HloInstruction(old.name, old.opcode, old.shape, tuple(copies[o] for o in old.operands),
                          mapped_attributes(attributes, lambda item: copies.get(item, item)), old.metadata, old.offset)


def positions(computation: HloComputation) -> dict[HloInstruction, int]:
    """Where each instruction stands in an order of evaluation."""
    return {instruction: number for number, instruction in enumerate(post_order(computation))}


def _needed(computation: HloComputation, targets: Iterable[HloInstruction], cut: Collection[HloInstruction],
            order: Mapping[HloInstruction, int] | None = None) -> list[HloInstruction]:
    """What the targets are computed of, up to what is cut, in order."""
    found: set[HloInstruction] = set()
    stack = list(targets)
    while stack:
        instruction = stack.pop()
        if instruction not in found:
            found.add(instruction)
            if instruction not in cut:
                stack.extend(instruction.operands)
    return sorted(found, key=(positions(computation) if order is None else order).__getitem__)


def ancestors(computation: HloComputation, targets: Iterable[HloInstruction]) -> list[HloInstruction]:
    """The targets and all that they are computed of, in order."""
    return _needed(computation, targets, ())


def _reached(entry: HloComputation) -> list[HloComputation]:
    """The computations that an entry leads to, callees first."""
    done: dict[HloComputation, None] = {}
    stack = [(c, False) for c in reversed(called_by(entry))]
    while stack:
        computation, is_ready = stack.pop()
        if is_ready:
            done.setdefault(computation)
        elif computation not in done:
            stack.append((computation, True))
            stack.extend((c, False) for c in reversed(called_by(computation)))
    return list(done)


def varying(instructions: Sequence[HloInstruction], fed: Collection[HloInstruction]) -> set[HloInstruction]:
    """Those that depend on what is fed, or draw numbers: what can be told apart by cutting."""
    found = set(fed)
    for instruction in instructions:
        if instruction.opcode in ("rng", "rng-get-and-update-state", "infeed", "recv") or any(
                o in found for o in instruction.operands):
            found.add(instruction)
    return found


def is_cuttable(instruction: HloInstruction) -> bool:
    """Whether an instruction's value can be handed in as an argument: arrays, and tuples of them."""
    shapes = [s for _, s in instruction.shape.leaves()]
    return bool(shapes) and all(s.is_array and s.is_static for s in shapes) and not instruction.opcode.endswith(
        ("-start", "-update"))
