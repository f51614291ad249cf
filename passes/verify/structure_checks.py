"""Verification of a module's structure: parameters, calls, the entry's layout, aliasing and donation."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import TypeVar

from hlotool.diagnostics import Diagnostic, nearest
from hlotool.ir import (
    OF_COMPUTATIONS,
    OF_MODULES,
    Aliasing,
    BufferDonor,
    EntryLayout,
    Flaw,
    HloComputation,
    HloInstruction,
    HloModule,
    Metadata,
    Shape,
    callees_before_callers,
    cycles,
    flaws,
)
from hlotool.passes.codes import (
    ALIAS,
    CYCLE,
    DONOR,
    ENTRY_LAYOUT,
    FLAW,
    FOREIGN_CALLEE,
    FOREIGN_OPERAND,
    FUSED_ENTRY,
    MISSING_ROOT,
    PARAMETER_NUMBERS,
    RECURSION,
    SCHEDULE,
    UNKNOWN_ATTRIBUTE,
)
from hlotool.passes.contents import Contents
from hlotool.passes.instruction_findings import report

Index = tuple[int, ...]
Entry = TypeVar("Entry")


def verify_objects(module: HloModule, ignored: Container[str] = (), *, has_shapes: bool = True) -> list[Diagnostic]:
    """Report objects of a module that do not fit together; where any does not, nothing else is checked.

    Flaws about what is `ignored` are left out; without `has_shapes`, instructions may lack theirs.
    """
    return [report(module, _shown_at(f), _code(module, f), f.message)
            for f in flaws(module, shapes=has_shapes) if f.about not in ignored]


def verify_module(module: HloModule, contents: Contents, is_whole: bool, order: list[HloComputation]
                  ) -> list[Diagnostic]:
    """Report faults of a module apart from its instructions' own rules; `is_whole` is the answer of `is_sound`.

    Its computations are put into `order`, callees before callers.
    """
    found: list[Diagnostic] = list(_foreign_attributes(module, None, OF_MODULES))
    for computation in module.computations:
        found.extend(_foreign_attributes(module, computation, OF_COMPUTATIONS))
        if computation.root is None or not computation.instructions:
            found.append(report(module, computation, MISSING_ROOT, f"{computation.name} has no instructions"))
            continue
        found.extend(_parameters(module, computation, contents.parameters[computation]))
        if not is_whole:
            found.extend(_operands(module, computation))
    circles: list[tuple[HloComputation, HloComputation]] = []
    order += callees_before_callers(module.computations, circles, contents.called_by)
    found.extend(report(module, caller, RECURSION, f"{caller.name} calls {callee.name}, which calls it in turn")
                 for caller, callee in circles)
    if module.entry is not None and module.entry.root is not None:
        found.extend(_fused_entry(module, contents))
        parameters = dict(_numbered(contents.parameters.get(module.entry, ())))
        found.extend(_entry_layout(module, parameters))
        found.extend(_aliases(module, parameters))
    return found


def _foreign_attributes(module: HloModule, computation: HloComputation | None, own: frozenset[str]
                        ) -> Iterator[Diagnostic]:
    """Report attributes that the header, or a computation, does not have: XLA reads no text with one."""
    owner = "the header" if computation is None else f"the computation {computation.name}"
    for name in (computation or module).attributes:
        if name not in own:
            near = nearest(name, own)
            yield report(module, computation, UNKNOWN_ATTRIBUTE, f"{owner} has no attribute {name}",
                         part=rf"\b({re.escape(name)})\s*=",
                         help=f"did you mean {near[0]}?" if near else f"its attributes: {', '.join(sorted(own))}")


def _shown_at(flaw: Flaw) -> HloInstruction | HloComputation | None:
    # A diagnostic about an instruction reads its metadata, which may be what is broken besides.
    is_readable = not isinstance(flaw.item, HloInstruction) or isinstance(flaw.item.metadata, (Metadata, type(None)))
    return flaw.item if is_readable else None


def _code(module: HloModule, flaw: Flaw) -> str:
    # Source: XLA, hlo_schedule.cc, HloSchedule::Verify; that operands stand before their users holds for every module.
    if flaw.about == "order" and module.attributes.get("is_scheduled"):
        return SCHEDULE
    return FOREIGN_CALLEE if flaw.about == "callee" else FLAW


def _numbered(parameters: Iterable[HloInstruction]) -> list[tuple[int, HloInstruction]]:
    """Parameters with their numbers; one without a number counts as -1."""
    return [(p.attributes.get("parameter_number", -1), p) for p in parameters]


def _parameters(module: HloModule, computation: HloComputation, parameters: list[HloInstruction]
                ) -> Iterator[Diagnostic]:
    seen: set[int] = set()
    pairs = _numbered(parameters)
    if [number for number, _ in pairs] == list(range(len(pairs))):  # as printers number them
        return
    for number, parameter in pairs:
        if number in seen:
            yield report(module, parameter, PARAMETER_NUMBERS, f"{computation.name} has parameter {number} twice")
        elif not 0 <= number < len(pairs):
            yield report(module, parameter, PARAMETER_NUMBERS,
                         f"{computation.name} has {len(pairs)} parameters, so this one cannot be number {number}",
                         help=f"number the parameters from 0 to {len(pairs) - 1}")
        seen.add(number)


def _operands(module: HloModule, computation: HloComputation) -> Iterator[Diagnostic]:
    own = set(computation.instructions)
    done: set[HloInstruction] = set()
    is_ordered = True
    for instruction in computation.instructions:
        if done.issuperset(instruction.operands):
            done.add(instruction)
            continue
        later = [o for o in instruction.operands if o not in done]
        for operand in later:
            if operand not in own:
                yield report(module, instruction, FOREIGN_OPERAND,
                             f"the operand {operand.name} belongs to another computation")
        is_ordered = False
        done.add(instruction)
    if not is_ordered or any("control-predecessors" in i.attributes for i in computation.instructions):
        for instruction in cycles(computation):
            yield report(module, instruction, CYCLE, f"{instruction.name} depends on its own result")


def _fused_entry(module: HloModule, contents: Contents) -> Iterator[Diagnostic]:
    for instruction in contents.of(("fusion",)):
        if instruction.attributes.get("calls") is module.entry:
            yield report(module, instruction, FUSED_ENTRY, f"the entry computation {module.entry.name} is fused here")


def _entry_layout(module: HloModule, parameters: dict[int, HloInstruction]) -> Iterator[Diagnostic]:
    layout = module.attributes.get("entry_computation_layout")
    if not isinstance(layout, EntryLayout):
        return
    if len(layout.parameters) != len(parameters):
        yield report(module, None, ENTRY_LAYOUT,
                     f"entry_computation_layout lists {len(layout.parameters)} parameters, "
                     f"{module.entry.name} has {len(parameters)}", part="entry_computation_layout")
        return
    for number, shape in enumerate(layout.parameters):
        parameter = parameters.get(number)
        if parameter is not None and parameter.shape is not None and not shape.agrees(parameter.shape):
            yield report(module, parameter, ENTRY_LAYOUT,
                         f"parameter {number} is {parameter.shape.text(False)}, "
                         f"entry_computation_layout says {shape.text(False)}")
    root = module.entry.root
    if root.shape is not None and not layout.result.agrees(root.shape):
        yield report(module, root, ENTRY_LAYOUT, f"the result is {root.shape.text(False)}, "
                                                 f"entry_computation_layout says {layout.result.text(False)}")


def _aliases(module: HloModule, parameters: dict[int, HloInstruction]) -> Iterator[Diagnostic]:
    taken: set[tuple[int, Index]] = set()
    for entry in _entries(module, "input_output_alias", Aliasing):
        place = (entry.parameter, entry.parameter_index)
        message = _no_leaf(parameters, entry.parameter, entry.parameter_index)
        if not message and _leaf(module.entry.root.shape, entry.output_index) is None:
            message = f"the result has no array at {{{_listed(entry.output_index)}}}"
        if not message and place in taken:
            message = f"parameter {entry.parameter} {{{_listed(entry.parameter_index)}}} is aliased twice"
        taken.add(place)
        if message:
            yield report(module, None, ALIAS, message, part="input_output_alias")
    for donor in _entries(module, "buffer_donor", BufferDonor):
        place = (donor.parameter, donor.parameter_index)
        message = _no_leaf(parameters, donor.parameter, donor.parameter_index)
        if not message and place in taken:
            message = f"parameter {donor.parameter} {{{_listed(donor.parameter_index)}}} is in input_output_alias too"
        if message:
            yield report(module, None, DONOR, message, part="buffer_donor")


def _entries(module: HloModule, name: str, kind: type[Entry]) -> list[Entry]:
    value = module.attributes.get(name, ())
    return [entry for entry in value if isinstance(entry, kind)] if isinstance(value, tuple) else []


def _no_leaf(parameters: dict[int, HloInstruction], number: int, index: Index) -> str:
    if number not in parameters:
        return f"there is no parameter {number}"
    if _leaf(parameters[number].shape, index) is None:
        return f"parameter {number} has no array at {{{_listed(index)}}}"
    return ""


def _leaf(shape: Shape | None, index: Index) -> Shape | None:
    found = shape.at(index) if shape is not None else None
    return found if found is not None and found.is_array else None


def _listed(index: Index) -> str:
    return ",".join(map(str, index))
