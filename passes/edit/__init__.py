"""One editor of modules: copy, cut, merge, inline, splice, substitute.

    editor     a module changed in place: instructions inserted, replaced, inlined, swept; pieces spliced in
    lines      a computation rewritten line by line
    copies     modules and computations copied, with what each instruction became
    cut        a section of a computation as a module of its own
    calls      calls, fusions, branches and loops replaced by what they call
    merging    several modules as one
    plain      a module without metadata, layouts, long names

The same holds for all of them. Names stay, unless they are taken: then the next free one is used. Computations that
something calls come along. A control dependency on an instruction that is left out is dropped. Where parameters or
results of the entry change, what the module's header says of them is dropped: layouts, aliases, donors, the schedule
(`OF_THE_ENTRY`). Shardings, frontend attributes, metadata and places in the source stay with the copies of an
instruction. Nothing is verified, for several edits may lead from one valid module to another; the context `editing` and
`Editing.finish` do that.
"""

from hlotool.passes.edit.calls import ALWAYS_CALLED, all_inlined, bodies_of, replace_by_body
from hlotool.passes.edit.copies import clone_computation, clone_module, copied, mapped_attributes
from hlotool.passes.edit.cut import (
    OF_THE_ENTRY,
    Section,
    alone,
    ancestors,
    is_cuttable,
    positions,
    section,
    varying,
)
from hlotool.passes.edit.editor import PRED, Editing, editing, scalar_parameter, zero_literal
from hlotool.passes.edit.lines import ComputationEditor
from hlotool.passes.edit.merging import merge
from hlotool.passes.edit.plain import renamed, without_layouts, without_metadata

__all__ = [
    "ALWAYS_CALLED", "OF_THE_ENTRY", "PRED", "ComputationEditor", "Editing", "Section", "all_inlined", "alone",
    "ancestors", "bodies_of", "clone_computation", "clone_module", "copied", "editing", "is_cuttable",
    "mapped_attributes", "merge", "positions", "renamed", "replace_by_body", "scalar_parameter",
    "section", "varying", "without_layouts", "without_metadata", "zero_literal",
]
