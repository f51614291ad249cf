"""Steps that leave instructions out.

In the entry a section is kept: what it takes from outside becomes parameters, with the values that the reference has
for them, and what nothing in it uses becomes its results. In called computations, whose callers fix their parameters,
what is left out is replaced by another value of its shape, or by zeros.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from functools import partial

from hlotool.diagnostics import HloError
from hlotool.ir import HloComputation, HloInstruction, called_by, post_order
from hlotool.passes.edit import Editing, clone_module, is_cuttable, results_of, section, varying
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.entry_values import rows_for
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import Work
from hlotool.reduction.shrinking import Shrinking

#: what is no unit of its own: it costs nothing to keep, and is dropped with its last user
_FREE = ("parameter", "constant")
#: results that are tried alone before delta debugging
_SINGLE = 24


def cut_entry(work: Work) -> None:
    """Keep a window of the entry, then leave out what the failure does not need."""
    def build(kept: Sequence[str]) -> Candidate | None:
        return _section(work, base, kept, keeps_fixed=True)

    def build_any(kept: Sequence[str]) -> Candidate | None:
        return _section(work, base, kept, keeps_fixed=False)

    def accept(candidate: Candidate, kept: Sequence[str]) -> Sequence[str]:
        work.accept(candidate, "cut", keeps_values=True)
        here = {i.name for i in candidate.module.entry.instructions if i.opcode not in _FREE}
        return [k for k in kept if k in here]

    base = work.best
    moving = set(_moving(base.module.entry))
    units = [i.name for i in post_order(base.module.entry) if _is_unit(i, base.module.entry) and i in moving]
    Shrinking(work.asker, build, accept).narrowed(units)
    base = work.best
    units = [i.name for i in post_order(base.module.entry) if _is_unit(i, base.module.entry)]
    Shrinking(work.asker, build_any, accept).swept(units)


def _moving(entry: HloComputation) -> set[HloInstruction]:
    order = post_order(entry)
    found = varying(order, [i for i in order if i.opcode == "parameter"])
    # A program without arguments is all of it of interest.
    return found if any(i.opcode not in _FREE for i in found) else set(order)


def _is_unit(instruction: HloInstruction, entry: HloComputation) -> bool:
    return instruction.opcode not in _FREE and not (instruction is entry.root and instruction.opcode == "tuple")


def _section(work: Work, base: Candidate, kept: Sequence[str], *, keeps_fixed: bool,
             targets: Sequence[str] | None = None) -> Candidate | None:
    """The section of the entry that has those instructions, and what feeds them that cannot be cut off."""
    entry = base.module.entry
    wanted = set(kept)
    inside = [i for i in entry.instructions if i.name in wanted]
    used = {o for i in inside for o in i.operands}
    results = set(results_of(entry))
    chosen = [i for i in inside if (i not in used or i in results) and (targets is None or i.name in targets)]
    if not chosen:
        return None
    moving = _moving(entry) if keeps_fixed else None
    # What no argument changes may be folded into what is kept: it stays, unless it is left out on purpose.
    cut = {i for i in entry.instructions if i.name not in wanted and i.opcode not in _FREE and is_cuttable(i)
           and (moving is None or i in moving)}
    return sectioned(work, base, entry, chosen, cut)


def sectioned(work: Work, base: Candidate, entry: HloComputation, targets: Sequence[HloInstruction],
              cut: set[HloInstruction]) -> Candidate | None:
    """The candidate that computes those targets from what is cut."""
    found = section(base.module, entry, list(dict.fromkeys(targets)), cut, work.header)
    if base.rows is None:
        return Candidate(found.module)
    try:
        return Candidate(found.module, rows_for(found.module, found.fed, work.values_of(base), len(base.rows)))
    except HloError:
        return None


def cut_results(work: Work) -> None:
    """Compute as few results as show the failure."""
    base = work.best
    entry = base.module.entry
    results = list(dict.fromkeys(results_of(entry)))
    if len(results) < 2:
        return
    by_name = {i.name: i for i in results}

    def build(kept: Sequence[str]) -> Candidate | None:
        return sectioned(work, base, entry, [by_name[k] for k in kept], set()) if kept else None

    def accept(candidate: Candidate, kept: Sequence[str]) -> Sequence[str]:
        work.accept(candidate, "results", keeps_values=True)
        return kept

    shrinking = Shrinking(work.asker, build, accept)
    single = work.asker.first(functools.partial(build, [name]) for name in list(by_name)[:_SINGLE])
    if single is not None:
        work.accept(single[1], "results", keeps_values=True)
        return
    shrinking.swept(shrinking.narrowed(list(by_name)))


def promote(work: Work) -> bool:
    """Let a called computation be the entry, with the arguments of one of its calls."""
    changed = False
    while True:
        base = work.best
        found = work.asker.first(_promotions(work, base))
        if found is None or found[1].size >= base.size:
            return changed
        work.accept(found[1], "promoted", keeps_values=False)
        changed = True


def _promotions(work: Work, base: Candidate) -> Iterator[Maker]:
    for computation in called_by(base.module.entry):
        if len(computation.instructions) - len(computation.parameters()) < 2:
            continue
        calls = len(work.values_of(base).calls.get(computation.name, ())) if base.rows is not None else 1
        for number in range(max(1, calls)):
            yield partial(_promoted, work, base, computation, number)


def _promoted(work: Work, base: Candidate, computation: HloComputation, number: int) -> Candidate | None:
    found = section(base.module, computation, results_of(computation), (), work.header)
    if base.rows is None:
        return Candidate(found.module)
    rows = work.values_of(base).of_call(computation, number)
    try:
        if rows is None:
            return Candidate(found.module, rows_for(found.module, found.fed, type(work.values_of(base))(),
                                                    len(base.rows)))
    except HloError:
        return None
    owners = [p for p in computation.parameters() for _, s in p.shape.leaves() if s.is_array]
    chosen = [[leaf for fed in found.fed for leaf, owner in zip(row, owners, strict=True) if owner is fed]
              for row in rows]
    return Candidate(found.module, chosen)


def cut_called(work: Work) -> bool:
    """Leave instructions of called computations out."""
    before = work.best
    for name in [c.name for c in work.best.module.computations if c is not work.best.module.entry]:
        base = work.best
        computation = next((c for c in base.module.computations if c.name == name), None)
        if computation is None:
            continue
        units = [i.name for i in post_order(computation) if i.opcode not in _FREE and not (
            i is computation.root and i.opcode == "tuple")]

        def build(kept: Sequence[str], name: str = name, base: Candidate = base,
                  units: Sequence[str] = tuple(units)) -> Candidate | None:
            return _without(base, name, set(units) - set(kept))

        def accept(candidate: Candidate, kept: Sequence[str], name: str = name) -> Sequence[str]:
            work.accept(candidate, "cut in calls", keeps_values=False)
            here = {i.name for c in candidate.module.computations if c.name == name for i in c.instructions}
            return [k for k in kept if k in here]

        Shrinking(work.asker, build, accept).swept(units)
    # What a loop hands on unchanged is another failure than what it sets anew: zeros are tried for themselves.
    work.try_all(_zeroed, "cut in calls")
    return work.best is not before


def _zeroed(base: Candidate) -> Iterator[Maker]:
    """Each instruction of a called computation replaced by zeros, those that end it first."""
    for computation in base.module.computations:
        if computation is not base.module.entry:
            for instruction in reversed(post_order(computation)):
                is_fixed = instruction.operands and all(o.opcode == "constant" for o in instruction.operands)
                if instruction.opcode not in _FREE and instruction.shape.is_array and not is_fixed:
                    yield partial(_without, base, computation.name, {instruction.name}, is_zero=True)


def _without(base: Candidate, name: str, dropped: set[str], *, is_zero: bool = False) -> Candidate | None:
    """The module with those instructions of a computation replaced by what they take, or by zeros (`is_zero`: only)."""
    module = clone_module(base.module)
    computation = next(c for c in module.computations if c.name == name)
    edit = Editing(module)
    others: dict[HloInstruction, HloInstruction] = {}
    for instruction in list(computation.instructions):
        if instruction.name in dropped:
            stand_in = (edit.zeros(computation, instruction.shape.without_layout(), before=instruction) if is_zero
                        else _stand_in(edit, computation, instruction))
            if stand_in is None:
                return None
            others[instruction] = stand_in
    edit.replace_uses(others)
    edit.sweep()
    found = Candidate(module, base.rows)
    return found if found.size < base.size or (is_zero and found.size == base.size) else None


def _stand_in(edit: Editing, computation: HloComputation, instruction: HloInstruction) -> HloInstruction | None:
    wanted = instruction.shape.without_layout()
    for operand in instruction.operands:
        if operand.shape.without_layout() is wanted:
            return operand
    parameter = next((p for p in computation.parameters() if p.shape.without_layout() is wanted), None)
    return parameter or edit.zeros(computation, wanted, before=instruction)
