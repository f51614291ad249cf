"""The rule about indices that are sorted or unique and not declared to be, and how that is proven."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hlotool.ir import HloInstruction
from hlotool.ops import scatter_window, value_of
from hlotool.passes.lints.edits import Change, fix_of, with_attribute
from hlotool.passes.lints.known_arrays import known_array
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.rule import Finding, Fixability, rule

#: what is known of a list of index vectors
SORTED, UNIQUE, NONNEGATIVE = "indices_are_sorted", "unique_indices", "nonnegative"
_DEEPEST = 24


@rule("W207", "undeclared-index-order", on=("scatter", "gather"), fix=Fixability.SAFE, needs_numpy=True)
def undeclared_index_order(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """Indices that are sorted or unique, and not declared to be.

    What it does
        Finds scatters and gathers without indices_are_sorted, and scatters without unique_indices, whose indices
        provably are: computed from constants and iotas, given by a sort, or a permutation
        that an argsort gave. Unique are the elements that are written to, so windows may not overlap.

    Why
        A scatter whose indices may repeat needs atomic updates or runs element by element; one that knows better
        runs in parallel, and gives the same sum each time.

    Bad
        set { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }
        ENTRY main {
          x = f32[8,4] parameter(0)
          i = s32[3,1] constant({{1},{4},{6}})
          u = f32[3,4] parameter(1)
          ROOT y = f32[8,4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},
                            scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=set
        }

    Good
        set { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }
        ENTRY main {
          x = f32[8,4] parameter(0)
          i = s32[3,1] constant({{1},{4},{6}})
          u = f32[3,4] parameter(1)
          ROOT y = f32[8,4] scatter(x, i, u), indices_are_sorted=true, unique_indices=true, update_window_dims={1},
                            inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1,
                            to_apply=set
        }

    Source
        XLA Operation Semantics, Scatter
    """
    given = instruction.attributes
    is_scatter = instruction.opcode == "scatter"
    wanted = [n for n in (SORTED, UNIQUE)[:1 + is_scatter] if not given.get(n)]
    batching = ("input_batching_dims", "operand_batching_dims", "start_indices_batching_dims")
    if not wanted or any(given.get(n) for n in batching):
        return
    facts, why = _proven(view, instruction)
    missing = [n for n in wanted if n in facts]
    if not missing:
        return
    changes = [c for name in missing for c in with_attribute(view, instruction, name, "true") or ()]
    yield Finding(instruction, f"{why}, and could be declared {' and '.join(missing)}",
                  help=f"add {', '.join(n + '=true' for n in missing)}",
                  fix=fix_of(view.module.source, f"declare {', '.join(missing)}", _joined(changes)))


def _joined(changes: Sequence[Change]) -> list[Change]:
    """Insertions at one place as one, so that each edit has a place of its own."""
    found: dict[tuple[int, int], str] = {}
    for start, end, text in changes:
        found[start, end] = found.get((start, end), "") + text
    return [(start, end, text) for (start, end), text in found.items()]


def _proven(view: View, instruction: HloInstruction) -> tuple[frozenset[str], str]:
    """Return the properties of a gather's or scatter's indices, and the beginning of a sentence with the reason."""
    is_scatter = instruction.opcode == "scatter"
    indices = instruction.operands[len(instruction.operands) // 2 if is_scatter else 1]
    if not indices.shape.is_static:
        return frozenset(), ""
    axis = instruction.attributes["index_vector_dim"]
    width = indices.shape.dims[axis] if axis < indices.shape.rank else 1
    if indices.shape.size <= width:
        return frozenset(), ""  # one index: nothing to put in order, and compilers make a slice of it
    order = value_of(instruction, "scatter_dims_to_operand_dims" if is_scatter else "start_index_map")
    if (vectors := _vectors(view, indices, axis, order)) is not None:
        found = {SORTED} if vectors == sorted(vectors) else set()
        return frozenset(found | ({UNIQUE} if is_scatter and _apart(instruction, vectors, order) else set())), \
            "the indices are known"
    if indices.shape.size != max(indices.shape.dims, default=1) or width != 1:
        return frozenset(), ""  # more than one row of indices, or of several numbers each
    facts = _facts(view, indices, 0)
    if UNIQUE in facts and is_scatter and _window(instruction, order) > 1:
        facts -= {UNIQUE}
    return facts, "the indices are sorted before" if SORTED in facts else "the indices are a permutation"


def _vectors(view: View, indices: HloInstruction, axis: int, order: Sequence[int]) -> list[tuple[int, ...]] | None:
    """Known index vectors, in the order in which they are used, their numbers in the order of the dimensions."""
    try:
        array = known_array(view, indices)
    except ModuleNotFoundError:  # without NumPy, in a browser: then nothing is known of them
        return None
    if array is None:
        return None
    width = array.shape[axis] if axis < array.ndim else 1
    if axis < array.ndim:
        array = array.transpose(*(d for d in range(array.ndim) if d != axis), axis)
    places = sorted(range(width), key=lambda n: order[n])
    return [tuple(row[n] for n in places) for row in array.reshape(-1, width).tolist()]


def _window(scatter: HloInstruction, order: Sequence[int]) -> int:
    """Return the largest size that the windows of updates have along dimensions that indices choose."""
    sizes = scatter_window(scatter)
    return max((sizes.get(d, 1) for d in order), default=1)


def _apart(scatter: HloInstruction, vectors: list[tuple[int, ...]], order: Sequence[int]) -> bool:
    """Return True if no two windows of updates write to one element."""
    if len(set(vectors)) != len(vectors):
        return False
    window = _window(scatter, order)
    if window == 1 or len(vectors) == 1:
        return True
    starts = sorted(v[0] for v in vectors)
    return len(vectors[0]) == 1 and all(b - a >= window for a, b in itertools.pairwise(starts))


def _facts(view: View, i: HloInstruction, depth: int) -> frozenset[str]:
    """Return the properties of a row of unknown numbers, by the operations that give them."""
    if depth > _DEEPEST:
        return frozenset()
    if i.opcode in ("reshape", "bitcast", "copy") and i.operands[0].shape.element_type == i.shape.element_type:
        return _facts(view, i.operands[0], depth + 1)
    if i.opcode == "broadcast" and i.operands[0].shape.size == i.shape.size:
        return _facts(view, i.operands[0], depth + 1)
    if i.opcode == "convert":
        old, new = i.operands[0].shape.dtype, i.shape.dtype
        is_kept = old.is_integral and new.is_integral and new.bits >= old.bits and old.family == new.family
        return _facts(view, i.operands[0], depth + 1) if is_kept else frozenset()
    if i.opcode == "select":
        return _counted_from_the_end(view, i, depth)
    if i.opcode in ("sort", "get-tuple-element"):
        return _of_sort(i)
    return frozenset()


def _counted_from_the_end(view: View, i: HloInstruction, depth: int) -> frozenset[str]:
    """`select(x < 0, x + n, x)`, as frontends write indices, is x where that is never negative."""
    test, _, kept = i.operands
    if test.opcode == "compare" and str(test.attributes.get("direction")) == "LT" \
            and test.operands[0] is kept and view.constant(test.operands[1]) == 0:
        facts = _facts(view, kept, depth + 1)
        return facts if NONNEGATIVE in facts else frozenset()
    return frozenset()


def _of_sort(i: HloInstruction) -> frozenset[str]:
    """The keys of an ascending sort are sorted; the positions that an argsort moves are each there once."""
    sort, place = (i.operands[0], i.attributes["index"]) if i.opcode == "get-tuple-element" else (i, 0)
    if sort.opcode != "sort" or sort.operands[0].shape.rank != 1 or place >= len(sort.operands):
        return frozenset()
    if (given := sort.operands[place]).opcode == "iota":
        return frozenset({UNIQUE, NONNEGATIVE})
    lower = sort.attributes["to_apply"].root
    is_ascending = lower.opcode == "compare" and str(lower.attributes.get("direction")) == "LT" and [
        o.attributes.get("parameter_number") for o in lower.operands] == [2 * place, 2 * place + 1]
    if not is_ascending or not given.shape.dtype.is_integral:
        return frozenset()
    return frozenset({SORTED} | ({NONNEGATIVE} if given.shape.dtype.family == "unsigned" else set()))
