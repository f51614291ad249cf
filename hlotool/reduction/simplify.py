"""Steps that make a module plainer, not smaller: metadata, layouts, attributes, header, literals, names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from hlotool.ir import HloInstruction, HloModule, Literal, post_order
from hlotool.passes.edit import clone_module
from hlotool.reduction.candidate import Array, Candidate
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import Work
from hlotool.reduction.shrinking import Shrinking

#: elements of an array that are looked at to say how plain it is
_LOOKED_AT = 256
#: what says nothing of the values that an instruction computes
_SAID_BESIDE = ("sharding", "frontend_attributes", "backend_config", "control-predecessors", "statistics", "origin",
                "parameter_replication", "debug_attributes", "result_accuracy", "operand_precision", "algorithm",
                "output_to_operand_aliasing", "indices_are_sorted", "unique_indices", "is_host_transfer",
                "is_stable", "async_execution_thread")


def strip(work: Work) -> bool:
    """Without metadata and stack frames, layouts, and what the header says; then without attributes that are left."""
    before = work.best
    for change in (_without_metadata, _without_layouts, _without_header):
        base = work.best
        work.try_each([partial(change, base)], "plainer")
    _strip_header(work)
    _strip_attributes(work)
    return work.best is not before


def _without_metadata(base: Candidate) -> Candidate | None:
    modules = [m for m in (base.module, base.other) if m is not None]
    if all(not m.tables and all(i.metadata is None for i in m.instructions()) for m in modules):
        return None
    plain = []
    for module in map(clone_module, modules):
        for instruction in module.instructions():
            instruction.metadata = None
        module.tables, module.source = {}, None
        plain.append(module)
    return Candidate(plain[0], base.rows, plain[1] if base.other is not None else None)


def _without_layouts(base: Candidate) -> Candidate | None:
    if all(i.shape.without_layout() is i.shape for i in base.module.instructions()):
        return None
    module = clone_module(base.module)
    for instruction in module.instructions():
        instruction.shape = instruction.shape.without_layout()
        literal = instruction.attributes.get("literal")
        if isinstance(literal, Literal) and literal.shape.layout is not None and not literal.is_elided:
            instruction.attributes = instruction.attributes | {
                "literal": Literal(literal.shape.without_layout(), literal.array)}
    module.attributes = module.attributes.without("entry_computation_layout", "is_scheduled")
    return Candidate(module, base.rows, base.other)


def _without_header(base: Candidate) -> Candidate | None:
    if not base.module.attributes:
        return None
    module = clone_module(base.module)
    module.attributes = module.attributes.without(*module.attributes)
    # Fewer devices take fewer arguments.
    rows = base.rows[:1] if base.rows is not None else None
    return Candidate(module, rows, base.other)


def _strip_header(work: Work) -> None:
    for name in list(work.best.module.attributes):
        base = work.best

        def make(base: Candidate = base, name: str = name) -> Candidate:
            module = clone_module(base.module)
            module.attributes = module.attributes.without(name)
            is_count = name in ("replica_count", "num_partitions")
            rows = base.rows[:1] if base.rows is not None and is_count else base.rows
            return Candidate(module, rows, base.other)

        work.try_each([make], "plainer")
    for name in ("replica_count", "num_partitions"):
        while int(work.best.module.attributes.get(name, 1)) > 2:
            base = work.best
            half = int(base.module.attributes[name]) // 2
            if not work.try_each([partial(_with_count, base, name, half)], "plainer"):
                break


def _with_count(base: Candidate, name: str, count: int) -> Candidate:
    """The module for fewer devices, of which the first keep their arguments."""
    module = clone_module(base.module)
    share = count / int(module.attributes[name])
    module.attributes = module.attributes | {name: count}
    rows = base.rows
    if rows is not None and len(rows) > 1:
        rows = rows[:max(1, int(len(rows) * share))]
    return Candidate(module, rows, base.other)


def _strip_attributes(work: Work) -> None:
    base = work.best
    units = [(c.name, i.name, n) for c in base.module.computations for i in c.instructions for n in i.attributes
             if n in _SAID_BESIDE]
    if not units:
        return

    def build(kept: Sequence[tuple[str, str, str]]) -> Candidate:
        dropped = set(units) - set(kept)
        module = clone_module(base.module)
        for computation in module.computations:
            for instruction in computation.instructions:
                names = [n for n in instruction.attributes if (computation.name, instruction.name, n) in dropped]
                if names:
                    instruction.attributes = instruction.attributes.without(*names)
        return Candidate(module, base.rows, base.other)

    def accept(candidate: Candidate, kept: Sequence[tuple[str, str, str]]) -> Sequence[tuple[str, str, str]]:
        work.accept(candidate, "plainer", keeps_values=False)
        return kept

    found = work.asker.first([lambda: build([])])
    if found is not None:
        work.accept(found[1], "plainer", keeps_values=False)
        return
    Shrinking(work.asker, build, accept).swept(units)


def simplify_literals(work: Work) -> bool:
    """Constants with plainer values: all zero, all one, all the first element, whole numbers."""
    return work.try_all(_literals, "literals")


def _literals(base: Candidate) -> Iterator[Maker]:
    for computation in base.module.computations:
        for instruction in computation.instructions:
            literal = instruction.attributes.get("literal")
            if not isinstance(literal, Literal) or literal.has_elided or not literal.shape.is_array:
                continue
            array = literal.array
            for other in plainer_arrays(array):
                yield _literal_maker(base, computation.name, instruction.name, other)


def _literal_maker(base: Candidate, computation: str, name: str, array: Array) -> Maker:
    def make() -> Candidate:
        module = clone_module(base.module)
        home = next(c for c in module.computations if c.name == computation)
        instruction = next(i for i in home.instructions if i.name == name)
        shape = instruction.attributes["literal"].shape
        instruction.attributes = instruction.attributes | {"literal": Literal(shape, array)}
        return Candidate(module, base.rows, base.other)

    return make


def plainer_arrays(array: Array, distinct: int = 1, digits: Sequence[int] = ()) -> Iterator[Array]:
    """Plainer values than those of an array: zeros, ones, one of its elements for all, fewer digits.

    Each is plainer by `_plainness`, so that taking one after the other comes to an end.
    """
    import numpy as np

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
    """Whole numbers (0), or so many digits."""
    import numpy as np

    with np.errstate(all="ignore"):
        wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        if not digits:
            return np.round(wide).astype(array.dtype)
        size = np.abs(wide)
        scale = 10.0 ** (digits - 1 - np.floor(np.log10(np.where((size > 0) & np.isfinite(size), size, 1.0))))
        found = np.where(np.isfinite(size) & np.isfinite(scale), np.round(wide * scale) / scale, wide)
        return found.astype(array.dtype)


def _plainness(array: Array) -> tuple[int, int]:
    """How plain an array is, the least being zeros: ones, one number, several; and how much there is to write."""
    import numpy as np

    if not bool(array.astype(np.bool_).any()) and not _has_signs(array):
        return 0, 0
    if bool((array == np.ones((), array.dtype)).all()):
        return 1, 0
    flat = array.reshape(-1)
    written = sum(len(str(v)) for v in flat[:_LOOKED_AT])
    return (2 if bool((flat == flat[0]).all()) else 3), written


def _has_signs(array: Array) -> bool:
    """Whether a zero of an array is negative."""
    import numpy as np

    halves = (array.real, array.imag) if array.dtype.kind == "c" else (array,)
    return array.dtype.kind not in "iub" and any(bool(np.signbit(h).any()) for h in halves)


def rename(work: Work) -> bool:
    """Short names: x, y for parameters, opcodes for the rest."""
    base = work.best
    return work.try_each([lambda: Candidate(_renamed(base.module), base.rows, base.other and _renamed(base.other))],
                         "renamed")


def _renamed(given: HloModule) -> HloModule:
    module = clone_module(given)
    taken: dict[str, int] = {}
    for computation in module.computations:
        taken.clear()
        for instruction in post_order(computation):
            word = f"p{instruction.parameter_number}" if instruction.opcode == "parameter" else re.sub(
                r"\W", "_", instruction.opcode)
            taken[word] = taken.get(word, 0) + 1
            instruction.name = word if taken[word] == 1 else f"{word}.{taken[word] - 1}"
    names: dict[str, int] = {}
    for computation in module.computations:
        word = "main" if computation is module.entry else _role(module, computation.root)
        names[word] = names.get(word, 0) + 1
        computation.name = word if names[word] == 1 else f"{word}.{names[word] - 1}"
    module.name = "reduced"
    return module


def _role(module: HloModule, root: HloInstruction) -> str:
    """What a computation is to its first caller: body, condition, to_apply, branch."""
    for instruction in module.instructions():
        for name, value in instruction.attributes.items():
            called = value if isinstance(value, tuple) else (value,)
            if any(getattr(c, "root", None) is root for c in called):
                return {"to_apply": re.sub(r"\W", "_", root.opcode), "branch_computations": "branch",
                        "calls": "called"}.get(name, name)
    return "called"
