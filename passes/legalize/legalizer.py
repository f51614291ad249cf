"""Rewrites every form of another time that the reader takes into what says the same today.

    HloModule old                                 HloModule old

    ENTRY main {                                  add_f32 {
      a = f32[4] parameter(0)                       x = f32[] parameter(0)
      b = f32[4] parameter(1)                       y = f32[] parameter(1)
      c = pred[4] less-than(a, b)                   ROOT result = f32[] add(x, y)
      ROOT s = f32[4] cross-replica-sum(a)        }
    }
                                                  ENTRY main {
                                                    a = f32[4] parameter(0)
                                                    b = f32[4] parameter(1)
                                                    c = pred[4] compare(a, b), direction=LT
                                                    ROOT s = f32[4] all-reduce(a), replica_groups={}, to_apply=add_f32
                                                  }

The rules for single instructions are in legacy_rules.py, old_dots.py, old_lapack.py and scalar_tokens.py, each with
its era; token chains are in token_chains.py. What a form meant is never guessed: where it cannot be said exactly it
stays, and is reported.
"""

from __future__ import annotations

import dataclasses
import functools

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import Attributes, EntryLayout, HloModule, Shape, is_type_word, unique_name
from hlotool.passes.edit import ComputationEditor, Editing, clone_module
from hlotool.passes.legalize import old_lapack, scalar_tokens  # noqa: F401 - importing them declares their rules
from hlotool.passes.legalize.legacy_rules import (
    BY_OPCODE,
    LegacyRule,
    clean_metadata,
    has_index_vector,
    has_old_form,
    rewrite_lines,
    scalar_indices,
)
from hlotool.passes.legalize.old_dots import AMBIGUOUS_DOT, SPARSE_DOT
from hlotool.passes.legalize.token_chains import TOKEN_TAKERS, lacks_token, thread_tokens

__all__ = ["AMBIGUOUS_DOT", "SPARSE_DOT", "legalize", "legalize_recovering", "legalized", "needs_legalizing"]


def legalize(module: HloModule, *, scalar_starts: bool = False) -> HloModule:
    """Return the same module, changed in place, without forms of another time.

    scalar_starts: cut the one index vector of a dynamic slice into scalars, although today's readers take it.
    Raises HloError with a diagnostic for each form that has no exact rewriting.
    """
    if problems := legalize_recovering(module, scalar_starts=scalar_starts):
        raise HloError(problems)
    return module


def legalize_recovering(module: HloModule, *, scalar_starts: bool = False) -> list[Diagnostic]:
    """Change the module in place as `legalize` does; gives what it left as it was, and why."""
    editor = Editing(module)
    problems: list[Diagnostic] = []
    more = (LegacyRule(has_index_vector, scalar_indices),) if scalar_starts else ()
    for computation in list(module.computations):
        problems.extend(rewrite_lines(ComputationEditor(editor, computation), more))
    problems.extend(thread_tokens(editor))
    _rename(module)
    _clean(module)
    return problems


def _rename(module: HloModule) -> None:
    """Give instructions whose names have become words of the language others, as XLA's name uniquer does."""
    for computation in module.computations:
        taken = {i.name for i in computation.instructions}
        for instruction in computation.instructions:
            if is_type_word(instruction.name):
                instruction.name = unique_name(instruction.name, taken)
                taken.add(instruction.name)


def legalized(module: HloModule) -> HloModule:
    """Return the module itself where it has no form of another time, else a legalised copy. Raises HloError."""
    return legalize(clone_module(module)) if needs_legalizing(module) else module


def needs_legalizing(module: HloModule) -> bool:
    """Return True if an instruction has a form of another time."""
    # Most instructions are told by a look: they have no attributes, and an opcode that has been the same ever since.
    return any((i.attributes or i.opcode in BY_OPCODE or i.opcode in TOKEN_TAKERS)
               and (has_old_form(i) or lacks_token(i))
               for c in module.computations for i in c.instructions)


def _clean(module: HloModule) -> None:
    """Drop from metadata and layouts what compilers have dropped."""
    for instruction in module.instructions():
        if instruction.metadata is not None and "preserve_layout=" in instruction.metadata.text:
            instruction.metadata = clean_metadata(instruction.metadata)
        if instruction.shape is not None:
            instruction.shape = _dense(instruction.shape)
    layout = module.attributes.get("entry_computation_layout")
    if isinstance(layout, EntryLayout):
        dense = EntryLayout(tuple(map(_dense, layout.parameters)), _dense(layout.result))
        module.attributes = Attributes({**module.attributes, "entry_computation_layout": dense})


@functools.lru_cache(maxsize=4096)
def _dense(shape: Shape) -> Shape:
    """Return the shape without what the sparse layouts of 2022 to 2024 said; values do not depend on it."""
    if shape.elements:
        return Shape(shape.element_type, shape.dims, shape.layout, shape.dynamic, tuple(map(_dense, shape.elements)))
    layout = shape.layout
    if layout is None or not (layout.dim_level_types or layout.physical_shape):
        return shape
    return shape.with_layout(dataclasses.replace(layout, dim_level_types=(), physical_shape=None))
