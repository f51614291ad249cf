"""Questions of rules that carry relations (relation_rules.py) to values and operations, and values put together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

from hlotool.ir import HloComputation, HloInstruction, Literal, ReplicaGroups
from hlotool.ir.arrays import Array, np
from hlotool.ops.relations import NotCarried, Pieces, Read, Relations, TermView, Value, sizes_of
from hlotool.ops.table import OPS

#: what carries relations through an operation
Rule: TypeAlias = "Callable[[Relations, HloInstruction, Sequence[Any]], Value]"


def array_of(value: Value) -> TermView | Pieces:
    """Return a value that is an array. Raises NotCarried."""
    if isinstance(value, tuple):
        raise NotCarried("a tuple in place of an array")
    return value


def one_view(value: Value) -> TermView:
    """Return a value that is a view of one term. Raises NotCarried."""
    if not isinstance(value, TermView):
        raise NotCarried("an operand is put together of parts of several values")
    return value


def label_of(relations: Relations, instruction: HloInstruction) -> Hashable:
    """Return what tells an operation from others: its opcode, types and own attributes."""
    record = OPS[instruction.opcode]
    given = dict(record.plain(instruction)) if record.plain is not None else instruction.attributes
    named = {a.name for a in record.attributes} | ({"backend_config"} if "opaque" in record.flags else set())
    attributes = tuple(sorted((n, plain(given[n])) for n in named if given.get(n) is not None))
    return (instruction.opcode, tuple(o.shape.element_type if o.shape.is_array else "" for o in instruction.operands),
            attributes)


def plain(value: Any) -> Hashable:
    """Return an attribute's value as what it means: computations by what they compute, groups as lists."""
    if isinstance(value, HloComputation):
        return meaning(value)
    if isinstance(value, ReplicaGroups):
        return value.listed()
    if isinstance(value, Literal):
        return str(value.shape), "" if value.has_elided or not value.shape.is_array else value.array.tobytes()
    if isinstance(value, tuple | list):
        return tuple(map(plain, value))
    return value if isinstance(value, Hashable) else str(value)


def meaning(computation: HloComputation) -> Hashable:
    """Return what is the same of two computations whose roots are the same functions of parameters."""
    numbers, lines, left = dict[HloInstruction, int](), list[Hashable](), [computation.root]
    while left:
        at = left[-1]
        waiting = [o for o in reversed(at.operands) if o not in numbers]
        if at in numbers or waiting:
            left = left[:-1] if at in numbers else [*left, *waiting]
            continue
        numbers[left.pop()] = len(numbers)
        lines.append((at.opcode, at.shape.text(False), tuple(numbers[o] for o in at.operands),
                      tuple((a, plain(v)) for a, v in sorted(at.attributes.items())
                            if a not in ("metadata", "sharding", "frontend_attributes", "control-predecessors",
                                         "backend_config"))))
    return tuple(lines)


def spread_to(relations: Relations, value: TermView | Pieces, dims: Sequence[int]) -> TermView | Pieces:
    """Return a scalar as an array, as operations take one beside arrays."""
    if value.dims == tuple(dims) or value.dims:
        return value
    return relations.moved(value, (), np.zeros((1, 0), np.int64), dims)


def evaluated(instruction: HloInstruction, numbers: Sequence[Array]) -> Array | None:
    """Return what an elementwise operation gives for scalars, or for arrays of them; None: nothing of its type."""
    record = OPS[instruction.opcode]
    wanted = inspect.signature(record.evaluate).parameters
    given = {**record.attributes_of(instruction), "shape": instruction.shape.with_dims(np.shape(numbers[0]))}
    with np.errstate(all="ignore"):
        value = record.evaluate(*numbers, **{k: v for k, v in given.items() if k in wanted})
    made = np.asarray(value)
    fits = made.dtype == instruction.shape.dtype.numpy and made.shape == np.shape(numbers[0])
    return made if fits else None


def region_of(view: TermView) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]] | None:
    """Return the indices of a padded view that are within its windows, device by device; None: they are no region."""
    windows: Any = view.term.key[2]
    sizes = np.asarray(sizes_of(view.dims), np.int64)
    low = np.zeros((len(view.offsets.array), len(sizes)), np.int64)
    high = np.broadcast_to(sizes, low.shape).copy()
    for t, (begin, end) in enumerate(windows):
        if (begin, end) == (None, None):
            continue
        used = [k for k, c in enumerate(view.rows[t]) if c]
        if len(used) != 1 or view.rows[t][used[0]] != 1:
            return None
        if begin is not None:
            low[:, used[0]] = np.maximum(low[:, used[0]], begin - view.offsets.array[:, t])
        if end is not None:
            high[:, used[0]] = np.minimum(high[:, used[0]], end - view.offsets.array[:, t])
    return tuple(map(tuple, low.tolist())), tuple(map(tuple, high.tolist()))


def read_of(relations: Relations, view: TermView, rows: Sequence[Sequence[int]], inner: Sequence[int],
            sizes: Sequence[int]) -> Read:
    """Return a read of an operand by rows of the parallel dimensions, with some dimensions for itself."""
    outer = np.asarray(view.rows, np.int64).reshape(len(view.rows), len(view.dims)) @ np.asarray(
        rows, np.int64).reshape(len(view.dims), len(sizes))
    own = tuple(tuple(row[d] for d in inner) for row in view.rows)
    return Read(TermView(view.term, tuple(tuple(map(int, r)) for r in outer), view.offsets, tuple(sizes)), own)


def split_read(view: TermView, inner: Sequence[int]) -> Read:
    """Return a read of an operand that has some of its dimensions for itself."""
    rest = [d for d in range(len(view.dims)) if d not in inner]
    return Read(TermView(view.term, tuple(tuple(row[d] for d in rest) for row in view.rows), view.offsets,
                         tuple(view.dims[d] for d in rest)), tuple(tuple(row[d] for d in inner) for row in view.rows))


def in_order(relations: Relations, view: TermView, dims: Sequence[int]) -> TermView:
    """Return a view whose dimensions are those of a result, in another order, in the result's."""
    order = [list(dims).index(d) for d in range(len(dims))]
    return relations.view(view.term, tuple(tuple(row[k] for k in order) for row in view.rows), view.offsets,
                          tuple(view.dims[k] for k in order))


def on_whole_arrays(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Return a function of whole arrays, of which nothing is known: all devices have to have the same ones."""
    return along_dimensions(relations, instruction, operands, ())


def along_dimensions(relations: Relations, instruction: HloInstruction, operands: Sequence[Value],
                     parallel: Sequence[int]) -> Value:
    """Return a function that does the same for each index of some dimensions, which operands and results share."""
    record = OPS[instruction.opcode]
    if record.flow.effect or "random" in record.flags or instruction.attributes.get("custom_call_has_side_effect"):
        raise NotCarried(f"{instruction.opcode} is not carried")
    views = [one_view(o) for o in operands]
    results = instruction.shape.members
    if not all(s.is_array for s in results):
        raise NotCarried(f"{instruction.opcode} gives no arrays")
    label, sizes = label_of(relations, instruction), [views[0].dims[d] for d in parallel] if parallel else []
    reads = []
    for view in views:
        shared = list(parallel) if view.dims else []
        spread = view if view.dims else one_view(spread_to(relations, view, sizes))
        inner = [d for d in range(len(spread.dims)) if d not in shared] if view.dims else []
        reads.append(split_read(spread, inner))
    inside = tuple(tuple(n for d, n in enumerate(v.dims) if d not in parallel) for v in views)
    found = []
    for number, shape in enumerate(results):
        own = [d for d in range(shape.rank) if d not in parallel]
        made = relations.combined((label, inside, number), shape.element_type, reads, sizes,
                                  [shape.dims[d] for d in own])
        found.append(in_order(relations, made, [*parallel, *own]))
    return tuple(found) if instruction.shape.is_tuple else found[0]


def along_last(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Do the same for each index of all dimensions but the last."""
    return along_dimensions(relations, instruction, operands, range(len(array_of(operands[0]).dims) - 1))
