"""Steps that make a module plainer, not smaller: metadata, layouts, attributes, header, literals, names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from hlotool.ir import HloInstruction, Literal
from hlotool.ir.arrays import Array, np
from hlotool.passes.edit import Editing, renamed, without_layouts, without_metadata
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import SearchState
from hlotool.reduction.shrinking import Shrinking

#: elements of an array that count for how plain it is
_LOOKED_AT = 256
#: attributes that do not change the values that an instruction computes
_SAID_BESIDE = ("sharding", "frontend_attributes", "backend_config", "control-predecessors", "statistics", "origin",
                "parameter_replication", "debug_attributes", "result_accuracy", "operand_precision", "algorithm",
                "output_to_operand_aliasing", "indices_are_sorted", "unique_indices", "is_host_transfer",
                "is_stable", "async_execution_thread")
#: attributes of the header that say how many devices there are
_COUNTS = ("replica_count", "num_partitions")


def strip(work: SearchState) -> bool:
    """Leave out metadata and stack frames, layouts, and what the header says; then attributes that are left."""
    before = work.best
    strip_metadata(work)
    work.try_each([partial(_without_layouts, work.best)], "plainer")
    _strip_header(work)
    if work.best.other is not None:
        _strip_both(work)
    else:
        _strip_attributes(work)
    return work.best is not before


def strip_metadata(work: SearchState) -> bool:
    """Leave out metadata and stack frames."""
    return work.try_each([partial(_without_metadata, work.best)], "plainer")


def _without_metadata(base: Candidate) -> Candidate | None:
    modules = [m for m in (base.module, base.other) if m is not None]
    if all(not m.tables and all(i.metadata is None for i in m.instructions()) for m in modules):
        return None
    return Candidate(without_metadata(base.module), base.rows, base.other and without_metadata(base.other))


def _without_layouts(base: Candidate) -> Candidate | None:
    modules = [m for m in (base.module, base.other) if m is not None]
    if all(i.shape.without_layout() is i.shape for m in modules for i in m.instructions()):
        return None
    return Candidate(without_layouts(base.module), base.rows, base.other and without_layouts(base.other))


def _strip_header(work: SearchState) -> None:
    names = list(work.best.module.attributes)
    if not names:
        return
    if not work.try_each([partial(_without_header, work.best, names)], "plainer"):
        for name in names:
            work.try_each([partial(_without_header, work.best, [name])], "plainer")
    for name in _COUNTS:
        while (count := int(work.best.module.attributes.get(name, 1))) > 2:
            if not work.try_each([partial(_with_count, work.best, name, count // 2)], "plainer"):
                break


def _without_header(base: Candidate, names: Sequence[str]) -> Candidate:
    """Return the module without attributes of its header; without counts it is for one device."""
    module, other = (m and replace(m, attributes=m.attributes.without(*names)) for m in (base.module, base.other))
    is_for_one = base.rows is not None and not set(_COUNTS).isdisjoint(names)
    return Candidate(module or base.module, base.rows[:1] if base.rows and is_for_one else base.rows, other)


def _with_count(base: Candidate, name: str, count: int) -> Candidate:
    """Return the module for fewer devices, of which the first keep their arguments."""
    before = int(base.module.attributes[name])
    module, other = (m and replace(m, attributes=m.attributes | {name: count}) for m in (base.module, base.other))
    rows = base.rows
    if rows is not None and len(rows) > 1:
        rows = rows[:max(1, len(rows) * count // before)]
    return Candidate(module or base.module, rows, other)


def _strip_both(work: SearchState) -> None:
    """Leave the same attributes out of both modules: all, or one after the other."""
    every = [name for name in _SAID_BESIDE if any(name in i.attributes for i in _instructions(work.best))]
    for names in (every, *([n] for n in every)):
        if names and work.try_each([partial(_without_attributes, work.best, names)], "plainer") and names is every:
            return


def _instructions(base: Candidate) -> list[HloInstruction]:
    return [i for m in (base.module, base.other) if m is not None for i in m.instructions()]


def _without_attributes(base: Candidate, names: Sequence[str]) -> Candidate:
    both = [Editing.of_copy(m) for m in (base.module, base.other) if m is not None]
    for edit in both:
        for instruction in edit.module.instructions():
            instruction.attributes = instruction.attributes.without(*names)
    return Candidate(both[0].module, base.rows, both[-1].module)


def _strip_attributes(work: SearchState) -> None:
    base = work.best
    units = [(i, n) for i in base.module.instructions() for n in i.attributes if n in _SAID_BESIDE]

    def build(kept: Sequence[tuple[HloInstruction, str]]) -> Candidate:
        edit = Editing.of_copy(base.module)
        for instruction, name in set(units).difference(kept):
            copy = edit.copies[instruction]
            copy.attributes = copy.attributes.without(name)
        return base.with_module(edit.module)

    def accept(candidate: Candidate, kept: Sequence[tuple[HloInstruction, str]]
               ) -> Sequence[tuple[HloInstruction, str]]:
        work.accept(candidate, "plainer", keeps_values=False)
        return kept

    if units and not work.try_each([partial(build, [])], "plainer"):
        Shrinking(work.asker, build, accept).swept(units)


def simplify_literals(work: SearchState) -> bool:
    """Give constants plainer values: all zero, all one, all the first element, whole numbers."""
    return work.try_all(_each_literal, "literals")


def _each_literal(base: Candidate) -> Iterator[Maker]:
    for instruction in base.module.instructions():
        literal = instruction.attributes.get("literal")
        if isinstance(literal, Literal) and not literal.has_elided and literal.shape.is_array:
            for other in plainer_arrays(literal.array):
                yield partial(_with_literal, base, instruction, Literal(literal.shape, other))


def _with_literal(base: Candidate, instruction: HloInstruction, literal: Literal) -> Candidate:
    edit = Editing.of_copy(base.module)
    copy = edit.copies[instruction]
    copy.attributes = copy.attributes | {"literal": literal}
    return base.with_module(edit.module)


def plainer_arrays(array: Array, distinct: int = 1, digits: Sequence[int] = ()) -> Iterator[Array]:
    """Yield plainer values than those of an array: zeros, ones, one of its elements for all, fewer digits.

    Each is plainer by `_plainness`, so that taking one after the other comes to an end.
    """
    given = np.asarray(array)
    if not given.size:
        return
    flat = given.reshape(-1)
    values = list({v.tobytes(): v for v in flat[:_LOOKED_AT]}.values())
    choices = [np.zeros_like(given), np.ones_like(given), *(np.full_like(given, v) for v in values[:distinct])]
    if given.dtype.kind not in "iub":
        choices += [_rounded(given, n) for n in (0, *digits)]
    own = _plainness(given)
    for choice in choices:
        if _plainness(choice) < own:
            yield choice


def _rounded(array: Array, digits: int) -> Array:
    """Return the array in whole numbers (`digits` is 0), or in numbers of so many digits."""
    with np.errstate(all="ignore"):
        wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        if not digits:
            return np.round(wide).astype(array.dtype)
        size = np.abs(wide)
        scale = 10.0 ** (digits - 1 - np.floor(np.log10(np.where((size > 0) & np.isfinite(size), size, 1.0))))
        found = np.where(np.isfinite(size) & np.isfinite(scale), np.round(wide * scale) / scale, wide)
        return found.astype(array.dtype)


def _plainness(array: Array) -> tuple[int, int]:
    """Return how plain an array is, zeros least: ones, one number, several; and how much there is to write."""
    if not bool(array.astype(np.bool_).any()) and not _has_signs(array):
        return 0, 0
    if bool((array == np.ones((), array.dtype)).all()):
        return 1, 0
    flat = array.reshape(-1)
    written = sum(len(str(v)) for v in flat[:_LOOKED_AT])
    return (2 if bool((flat == flat[0]).all()) else 3), written


def _has_signs(array: Array) -> bool:
    """Return True if a zero of an array is negative."""
    halves = (array.real, array.imag) if array.dtype.kind == "c" else (array,)
    return array.dtype.kind not in "iub" and any(bool(np.signbit(h).any()) for h in halves)


def rename(work: SearchState) -> bool:
    """Give everything short names: p0, p1 for parameters, opcodes for the rest."""
    base = work.best
    return work.try_each([lambda: Candidate(renamed(base.module, "reduced"), base.rows,
                                            base.other and renamed(base.other, "reduced"))], "renamed")
