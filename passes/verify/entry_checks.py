"""Verification of the entry's layout and of aliases, beyond which places there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hlotool.diagnostics import Diagnostic
from hlotool.ir import Aliasing, EntryLayout, HloModule, Layout, Shape
from hlotool.passes.codes import ALIAS, ENTRY_LAYOUT
from hlotool.passes.instruction_findings import report
from hlotool.passes.verify.shape_checks import verify_shape


def verify_entry(module: HloModule, is_laid_out: bool) -> Iterator[Diagnostic]:
    """Shapes of entry_computation_layout, and what aliased places have in common. Source: XLA, hlo_verifier.cc."""
    layout = module.attributes.get("entry_computation_layout")
    pairs = [a for a in module.attributes.get("input_output_alias", ()) if isinstance(a, Aliasing)]
    if isinstance(layout, EntryLayout):
        for shape in dict.fromkeys((layout.result, *layout.parameters)):
            for finding in verify_shape(shape)[:1]:
                yield report(module, None, ENTRY_LAYOUT, finding.message, part="entry_computation_layout")
        if is_laid_out:
            yield from _layouts_of_entry(module, layout)
        for pair in pairs:
            if pair.kind == "must-alias" and 0 <= pair.parameter < len(layout.parameters):
                yield from _same(module, pair, layout.parameters[pair.parameter].at(pair.parameter_index),
                                 layout.result.at(pair.output_index))
    if module.entry is not None and module.entry.root is not None:
        parameters = {p.parameter_number: p.shape for p in module.entry.parameters()}
        for pair in pairs:
            given = parameters.get(pair.parameter)
            inside = given.at(pair.parameter_index) if given is not None else None
            outside = module.entry.root.shape.at(pair.output_index)
            if inside is None or outside is None or not (inside.is_array and outside.is_array):
                continue
            if _bits(inside) != _bits(outside):
                yield report(module, None, ALIAS, f"{inside.text(False)} and {outside.text(False)} are aliased; "
                             "they have different sizes", part="input_output_alias")
            elif pair.kind == "must-alias" and layout is None:
                # A header that says nothing leaves the layouts to the compiler.
                yield from _same(module, pair, _without_order(inside), _without_order(outside))


def _layouts_of_entry(module: HloModule, layout: EntryLayout) -> Iterator[Diagnostic]:
    """Compare the layouts of parameters and result with the entry's layout; tiles and memory may differ."""
    if module.entry is None:
        return
    for parameter in module.entry.parameters():
        number = parameter.parameter_number
        said = layout.parameters[number] if number is not None and 0 <= number < len(layout.parameters) else None
        if said is not None and _laid_out_otherwise(parameter.shape, said):
            yield report(module, parameter, ENTRY_LAYOUT,
                         f"parameter {number} is {parameter.shape}, entry_computation_layout says {said}")
    root = module.entry.root
    if root is not None and _laid_out_otherwise(root.shape, layout.result):
        yield report(module, root, ENTRY_LAYOUT,
                     f"the result is {root.shape}, entry_computation_layout says {layout.result}")


def _laid_out_otherwise(shape: Shape | None, said: Shape) -> bool:
    if shape is None or not shape.agrees(said):
        return False  # that is another finding
    return any(a.is_array and a.minor_to_major != b.minor_to_major
               for (_, a), (_, b) in zip(shape.leaves(), said.leaves(), strict=True))


def _same(module: HloModule, pair: Aliasing, inside: Shape | None, outside: Shape | None) -> Iterator[Diagnostic]:
    if inside is not None and outside is not None and inside.is_array and inside is not outside:
        yield report(module, None, ALIAS, f"parameter {pair.parameter} is {inside}, the result is {outside}: by "
                     "must-alias they have one shape, layout and memory", part="input_output_alias")


def _without_order(shape: Shape) -> Shape:
    """Return an array's shape without the order of its dimensions; its memory, if that is not the main one, is kept."""
    space = shape.memory_space
    return shape.with_layout(replace(Layout.descending(shape.rank), memory_space=space) if space else None)


def _bits(shape: Shape) -> int:
    return shape.size * shape.dtype.bits
