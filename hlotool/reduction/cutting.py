"""Steps that leave instructions out.

In the entry a section is kept: what it takes from outside becomes parameters, with the values that the reference has
for them, and what nothing in it uses becomes its results. In called computations, whose callers fix their parameters,
what is left out is replaced by another value of its shape, or by zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

from hlotool.diagnostics import HloError
from hlotool.execution import rows_of
from hlotool.ir import HloComputation, HloInstruction, called_by, post_order
from hlotool.passes.edit import Editing, is_cuttable, section, varying
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.entry_values import rows_for
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import SearchState
from hlotool.reduction.shrinking import Shrinking

#: operations that cost nothing to keep, and are dropped with their last user
_FREE = ("parameter", "constant")
#: results that are tried alone before delta debugging
_SINGLE = 24


def cut_entry(work: SearchState) -> None:
    """Keep a window of the entry, then leave out what the failure does not need."""
    _Cutting(work, is_fixed_kept=True).narrow()
    _Cutting(work, is_fixed_kept=False).sweep()


class _Cutting:
    """A search for the instructions of the best candidate's entry that a failure needs."""

    def __init__(self, work: SearchState, is_fixed_kept: bool) -> None:
        self.work, self.base = work, work.best
        self.entry = self.base.module.entry
        order = post_order(self.entry)
        moving = varying(order, [i for i in order if i.opcode == "parameter"]) if is_fixed_kept else set(order)
        # A program without arguments is all of it of interest.
        self.moving = moving if any(i.opcode not in _FREE for i in moving) else set(order)
        self.results = frozenset(self.entry.results())
        self.units = [i for i in order if i in self.moving and _is_unit(i, self.entry)]
        self._shrinking = Shrinking(work.asker, self._build, self._accept)

    def narrow(self) -> None:
        self._shrinking.narrowed(self.units)

    def sweep(self) -> None:
        self._shrinking.swept(self.units)

    def _build(self, kept: Sequence[HloInstruction]) -> Candidate | None:
        """Return the section of the entry that has those instructions, and what feeds them that cannot be cut off."""
        used = {o for i in kept for o in i.operands}
        targets = [i for i in kept if i not in used or i in self.results]
        if not targets:
            return None
        # Values that no argument changes may be folded into what is kept: they stay, unless left out on purpose.
        cut = self.moving.difference(kept)
        return sectioned(self.work, self.base, targets, {i for i in cut if i.opcode not in _FREE and is_cuttable(i)})

    def _accept(self, candidate: Candidate, kept: Sequence[HloInstruction]) -> Sequence[HloInstruction]:
        self.work.accept(candidate, "cut", keeps_values=True)
        here = {i.name for i in candidate.module.entry.instructions if i.opcode not in _FREE}
        return [k for k in kept if k.name in here]


def _is_unit(instruction: HloInstruction, home: HloComputation) -> bool:
    """Return True for what is left out for itself: neither free, nor the tuple of the results."""
    return instruction.opcode not in _FREE and not (instruction is home.root and instruction.opcode == "tuple")


def sectioned(work: SearchState, base: Candidate, targets: Sequence[HloInstruction], cut: set[HloInstruction]
              ) -> Candidate | None:
    """Return the candidate that computes some targets of the entry from what is cut; None: it has no arguments."""
    found = section(base.module, base.module.entry, list(dict.fromkeys(targets)), cut, work.header)
    if base.rows is None:
        return Candidate(found.module)
    try:
        return Candidate(found.module, rows_for(found.module, found.fed, work.values_of(base), len(base.rows)))
    except HloError:
        return None


def cut_results(work: SearchState) -> None:
    """Compute as few results as show the failure."""
    base = work.best
    results = list(dict.fromkeys(base.module.entry.results()))
    if len(results) < 2:
        return

    def build(kept: Sequence[HloInstruction]) -> Candidate | None:
        return sectioned(work, base, kept, set()) if kept else None

    def accept(candidate: Candidate, kept: Sequence[HloInstruction]) -> Sequence[HloInstruction]:
        work.accept(candidate, "results", keeps_values=True)
        return kept

    if not work.try_each([partial(build, [r]) for r in results[:_SINGLE]], "results", keeps_values=True):
        shrinking = Shrinking(work.asker, build, accept)
        shrinking.swept(shrinking.narrowed(results))


def promote(work: SearchState) -> bool:
    """Let a called computation be the entry, with the arguments of one of its calls. Return True if it helped."""
    return promote_each(work, lambda base: _promotions(work, base))


def promote_each(work: SearchState, promotions: Callable[[Candidate], Iterable[Maker]]) -> bool:
    """Accept promotions of the best candidate as long as one makes it smaller. Return True if one did."""
    changed = False
    while True:
        base = work.best
        found = work.asker.first(promotions(base))
        if found is None or found[1].size >= base.size:
            return changed
        work.accept(found[1], "promoted", keeps_values=False)
        changed = True


def _promotions(work: SearchState, base: Candidate) -> Iterator[Maker]:
    for computation in called_by(base.module.entry):
        if len(computation.instructions) - len(computation.parameters()) < 2:
            continue
        calls = len(work.values_of(base).calls.get(computation.name, ())) if base.rows is not None else 1
        for number in range(max(1, calls)):
            yield partial(_promoted, work, base, computation, number)


def _promoted(work: SearchState, base: Candidate, computation: HloComputation, number: int) -> Candidate | None:
    found = section(base.module, computation, computation.results(), (), work.header)
    if base.rows is None:
        return Candidate(found.module)
    rows = work.values_of(base).of_call(computation, number)
    try:
        if rows is None:
            return Candidate(found.module, rows_for(found.module, found.fed, type(work.values_of(base))(),
                                                    len(base.rows)))
    except HloError:
        return None
    return Candidate(found.module, rows_of(computation.parameters(), found.fed, rows))


def cut_called(work: SearchState) -> bool:
    """Leave instructions of called computations out. Return True if it helped."""
    before = work.best
    for name in [c.name for c in before.module.computations if c is not before.module.entry]:
        base = work.best
        home = next((c for c in base.module.computations if c.name == name), None)
        if home is not None:
            units = [i for i in post_order(home) if _is_unit(i, home)]
            Shrinking(work.asker, partial(_without_others, base, home, units), partial(_accept_in_calls, work, name)
                      ).swept(units)
    # What a loop hands on unchanged is another failure than what it sets anew: zeros are tried for themselves.
    work.try_all(_zeroed, "cut in calls")
    return work.best is not before


def _without_others(base: Candidate, home: HloComputation, units: Sequence[HloInstruction],
                    kept: Sequence[HloInstruction]) -> Candidate | None:
    return _without(base, home, set(units).difference(kept))


def _accept_in_calls(work: SearchState, home: str, candidate: Candidate, kept: Sequence[HloInstruction]
                     ) -> Sequence[HloInstruction]:
    work.accept(candidate, "cut in calls", keeps_values=False)
    here = {i.name for c in candidate.module.computations if c.name == home for i in c.instructions}
    return [k for k in kept if k.name in here]


def _zeroed(base: Candidate) -> Iterator[Maker]:
    """Yield each instruction of a called computation replaced by zeros, those that end it first."""
    for computation in base.module.computations:
        if computation is not base.module.entry:
            for instruction in reversed(post_order(computation)):
                is_fixed = instruction.operands and all(o.opcode == "constant" for o in instruction.operands)
                if instruction.opcode not in _FREE and instruction.shape.is_array and not is_fixed:
                    yield partial(_without, base, computation, {instruction}, is_zero=True)


def _without(base: Candidate, home: HloComputation, dropped: Collection[HloInstruction], *, is_zero: bool = False
             ) -> Candidate | None:
    """Return the module with some instructions replaced by what they take, or by zeros (`is_zero`: by zeros only)."""
    edit = Editing.of_copy(base.module)
    others: dict[HloInstruction, HloInstruction] = {}
    copy, gone = edit.copies[home], {edit.copies[d] for d in dropped}
    for instruction in list(copy.instructions):
        if instruction in gone:
            same = None if is_zero else _of_the_same_shape(copy, instruction)
            stand_in = same or edit.zeros(copy, instruction.shape.without_layout(), before=instruction)
            if stand_in is None:
                return None
            others[instruction] = stand_in
    edit.replace_uses(others, copy)
    edit.sweep()
    found = base.with_module(edit.module)
    return found if found.size < base.size or (is_zero and found.size == base.size) else None


def _of_the_same_shape(home: HloComputation, instruction: HloInstruction) -> HloInstruction | None:
    """Return an operand, or a parameter, of an instruction's shape."""
    wanted = instruction.shape.without_layout()
    return next((v for v in (*instruction.operands, *home.parameters()) if v.shape.without_layout() is wanted), None)
