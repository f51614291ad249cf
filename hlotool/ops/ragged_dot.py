"""ragged-dot: a product for each group of rows."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir import HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.contraction import (
    Ints,
    contract,
    contracted_size,
    dims_of,
    dot_dimensions,
    free_dims,
    precision_config,
    precision_words,
    require_dot,
    result_type,
)
from hlotool.ops.costs import elements_of, flops
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.freedom import Freedom
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value
from hlotool.ops.random_programs import Draw
from hlotool.ops.registry import op, require
from hlotool.ops.rules import (
    ANY,
    INTEGER,
    listed,
    require_in_range,
    require_type,
    same_size,
)


def _ragged_mode(ragged: int, contracting: Ints, batch: Ints) -> str:
    return "contracting" if ragged in contracting else "batch" if ragged in batch else "free"


def ragged_dot_shape(lhs: Shape, rhs: Shape, group_sizes: Shape, *, lhs_contracting_dims: Ints = (),
                     rhs_contracting_dims: Ints = (), lhs_batch_dims: Ints = (), rhs_batch_dims: Ints = (),
                     lhs_ragged_dims: Ints, rhs_group_dims: Ints = (), declared: Shape | None = None) -> Shape:
    """Constraints 1 to 12 of ragged-dot."""
    require_dot("ragged-dot", lhs, rhs, (lhs_contracting_dims, rhs_contracting_dims), (lhs_batch_dims, rhs_batch_dims))
    require_type(group_sizes, INTEGER, "ragged-dot-c1", "group_sizes")
    require(len(lhs_ragged_dims) == 1 and 0 <= lhs_ragged_dims[0] < lhs.rank, "ragged-dot-c8",
            f"lhs_ragged_dims={{{listed(lhs_ragged_dims)}}} is not one dimension of lhs {lhs.text(False)}",
            attribute="lhs_ragged_dims")
    ragged = lhs_ragged_dims[0]
    mode = _ragged_mode(ragged, lhs_contracting_dims, lhs_batch_dims)
    outer = _outer_dims(lhs.rank, lhs_contracting_dims, lhs_batch_dims, ragged)
    groups = _require_group_sizes(group_sizes, [lhs.dims[d] for d in outer])
    require_in_range(rhs_group_dims, rhs.rank, "ragged-dot-c10", "rhs group dimension", attribute="rhs_group_dims")
    for d in rhs_group_dims:
        require(d not in rhs_contracting_dims and d not in rhs_batch_dims, "ragged-dot-c10",
                f"rhs group dimension {d} is a batch or contracting dimension as well", attribute="rhs_group_dims")
    wanted = 1 if mode == "free" else 0
    require(len(rhs_group_dims) == wanted, "ragged-dot-c11",
            f"the ragged dimension {ragged} is a {mode} one, so rhs takes {wanted} group dimensions; "
            f"{len(rhs_group_dims)} are given", attribute="rhs_group_dims")
    for d in rhs_group_dims:
        require(same_size(rhs.dims[d], groups), "ragged-dot-c12",
                f"group dimension {d} of rhs {rhs.text(False)} has size {rhs.dims[d]}, there are {groups} groups",
                attribute="rhs_group_dims")
    dims, flags = dims_of((
        (lhs, lhs_batch_dims), (lhs, free_dims(lhs.rank, lhs_contracting_dims, lhs_batch_dims)),
        (rhs, free_dims(rhs.rank, rhs_contracting_dims, rhs_batch_dims, rhs_group_dims))))
    if mode == "contracting":
        dims, flags = (groups, *dims), (group_sizes.is_dynamic_dim(group_sizes.rank - 1), *flags)
    return Shape.array(result_type(lhs, rhs, declared), dims, None, flags)


def _outer_dims(rank: int, contracting: Ints, batch: Ints, ragged: int) -> list[int]:
    """The lhs dimensions that may each have group sizes of their own."""
    mode = _ragged_mode(ragged, contracting, batch)
    if mode == "batch":
        return list(batch[:batch.index(ragged)])
    if mode == "contracting":
        return [*batch, *contracting[:contracting.index(ragged)]]
    free = free_dims(rank, contracting, batch)
    return [*batch, *free[:free.index(ragged)]]


def _require_group_sizes(group_sizes: Shape, outer: Sequence[int]) -> int:
    plain = group_sizes.rank == 1
    require(plain or (group_sizes.rank == len(outer) + 1 and all(map(same_size, group_sizes.dims, outer))),
            "ragged-dot-c9", f"group_sizes is {group_sizes.text(False)}; it has one dimension, "
                             f"or those of size {{{listed(outer)}}} before it")
    return group_sizes.dims[-1]


def _emit_ragged_dot(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    attributes = instruction.attributes
    inner = dot_dimensions(attributes)
    lists = ", ".join(f"{name} = [{listed(attributes.get(key, ()))}]" for name, key in (
        ("lhs_ragged_dimensions", "lhs_ragged_dims"), ("rhs_group_dimensions", "rhs_group_dims")))
    body = inner.removeprefix("#stablehlo.dot<").removesuffix(">")
    lists = f"{body}, {lists}" if body else lists
    return e.op("chlo.ragged_dot", operands, instruction.shape, {
        "ragged_dot_dimension_numbers": f"#chlo.ragged_dot<{lists}>",
        "precision_config": precision_config(attributes).replace("#stablehlo<", "#chlo<")})


def _lift_ragged_dot(r: Reader) -> HloInstruction:
    fields = r.struct("ragged_dot_dimension_numbers")
    names = {"lhs_batch_dims": "lhs_batching_dimensions", "lhs_contracting_dims": "lhs_contracting_dimensions",
             "rhs_batch_dims": "rhs_batching_dimensions", "rhs_contracting_dims": "rhs_contracting_dimensions",
             "lhs_ragged_dims": "lhs_ragged_dimensions", "rhs_group_dims": "rhs_group_dimensions"}
    found = {ours: fields[theirs] for ours, theirs in names.items() if fields.get(theirs)}
    return r.add("ragged-dot", r.shape(), r.operands(), {**found, **precision_words(r)})


def _draw_ragged_dot(d: Draw) -> None:
    m, k, n, groups = (d.between(1, 4) for _ in range(4))
    mode = "contracting" if d.edge("ragged contraction") else "free"
    length = k if mode == "contracting" else m
    ends = sorted(d.between(0, length) for _ in range(groups))
    sizes = np.diff([0, *ends]).astype(np.int32)
    lhs = d.argument((m, k), edges=("zeros", "limits"))
    if mode == "contracting":
        rhs = d.argument((k, n), edges=("zeros", "limits"))
        d.add("ragged-dot", lhs, rhs, d.parameter([sizes], "s32"), lhs_contracting_dims=(1,),
              rhs_contracting_dims=(0,), lhs_ragged_dims=(1,))
        return
    rhs = d.argument((groups, k, n), edges=("zeros", "limits"))
    d.add("ragged-dot", lhs, rhs, d.parameter([sizes], "s32"), lhs_contracting_dims=(1,), rhs_contracting_dims=(1,),
          lhs_ragged_dims=(0,), rhs_group_dims=(0,))


@flops
def _cost_of_ragged_dot(instruction: HloInstruction) -> int:
    """That of a dot for every row of lhs, whichever group it is in."""
    ragged = set(instruction.attributes.get("lhs_ragged_dims", ()))
    contracting = instruction.attributes.get("lhs_contracting_dims", ())
    products = 2 * elements_of(instruction.shape) * contracted_size(instruction)
    if ragged.isdisjoint(contracting):
        return products
    # Each row of a ragged contraction belongs to one group of the result only.
    groups = instruction.operands[2].shape.dims
    return products // max(groups[-1] if groups else 1, 1)


@op(ragged_dot_shape, lowering=Lowering(_emit_ragged_dot, _lift_ragged_dot, ("chlo.ragged_dot",)), element_types=ANY,
    ulps=8, flags=("relayouts",), freedom=Freedom.SUMS, source=SPECIFICATION, draw=_draw_ragged_dot,
    cost=_cost_of_ragged_dot)
def ragged_dot(lhs: Array, rhs: Array, group_sizes: Array, *, lhs_contracting_dims: Ints = (),
               rhs_contracting_dims: Ints = (), lhs_batch_dims: Ints = (), rhs_batch_dims: Ints = (),
               lhs_ragged_dims: Ints, rhs_group_dims: Ints = (), operand_precision: tuple[str, ...] = (),
               shape: Shape) -> Array:
    """A dot whose ragged dimension of lhs is cut into groups of the given sizes.

    Ragged free dimension: each group meets its own slice of rhs, rows past the last group give 0. Ragged
    contracting dimension: one product a group, stacked in front. Ragged batch dimension: the plain dot.

    C1   lhs and rhs are arrays, group_sizes is one of integers.
    C2   Contracting and batch dimensions are dimensions of their operand.
    C3   No dimension of an operand is named twice.
    C4   Both sides have as many contracting dimensions.
    C5   Contracting dimensions pair up with equal sizes.
    C6   Both sides have as many batch dimensions.
    C7   Batch dimensions pair up with equal sizes.
    C8   lhs_ragged_dims is one dimension of lhs.
    C9   group_sizes has one dimension, or before it those of lhs that lie outside the ragged one.
    C10  rhs group dimensions are dimensions of rhs, neither batch nor contracting.
    C11  There is one rhs group dimension when the ragged one is free, none otherwise.
    C12  The rhs group dimension is as large as there are groups.
    """
    contracting, batch = (lhs_contracting_dims, rhs_contracting_dims), (lhs_batch_dims, rhs_batch_dims)
    ragged, target = lhs_ragged_dims[0], shape.dtype.numpy
    mode = _ragged_mode(ragged, *(side[0] for side in (contracting, batch)))
    if mode == "batch":
        return contract(lhs, rhs, contracting, batch, target)
    groups = group_sizes.shape[-1]
    belongs = _memberships(lhs, group_sizes, _outer_dims(lhs.ndim, contracting[0], batch[0], ragged), ragged)
    parts = []
    for g in range(groups):
        masked = np.where(belongs[g], lhs, np.zeros_like(lhs))
        if mode == "contracting":
            parts.append(contract(masked, rhs, contracting, batch, target))
            continue
        side = np.take(rhs, g, axis=rhs_group_dims[0])
        lower = [tuple(d - (d > rhs_group_dims[0]) for d in dims) for dims in (contracting[1], batch[1])]
        parts.append(contract(masked, side, (contracting[0], lower[0]), (batch[0], lower[1]), target))
    if not parts:
        return np.zeros(shape.dims, target)
    # A row belongs to one group, so that every other group's product adds zero to it.
    return np.stack(parts) if mode == "contracting" else _chosen(parts)


def _chosen(parts: Sequence[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total = np.where(part != 0, part, total)
    return total


def _memberships(lhs: Array, group_sizes: Array, outer: Sequence[int], ragged: int) -> list[Array]:
    """For each group, which elements of lhs belong to it, broadcast to lhs."""
    sizes = group_sizes.astype(np.int64)
    if sizes.ndim == 1:
        outer = []
    ends = np.cumsum(sizes, axis=-1)
    place = np.arange(lhs.shape[ragged]).reshape([-1 if d == ragged else 1 for d in range(lhs.ndim)])
    found = []
    for g in range(sizes.shape[-1]):
        spread = [lhs.shape[d] if d in outer else 1 for d in range(lhs.ndim)]
        order = sorted(range(len(outer)), key=lambda i: outer[i])
        end = ends[..., g].transpose(order).reshape(spread)
        start = (ends[..., g] - sizes[..., g]).transpose(order).reshape(spread)
        found.append((place >= start) & (place < end))
    return found
