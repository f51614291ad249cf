"""dot, ragged-dot and scaled-dot; convolution is in convolution.py."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hlotool.ir import DTYPES, UNBOUNDED, HloInstruction, Shape
from hlotool.ops.agreement import contracted_sides
from hlotool.ops.conversion import cast
from hlotool.ops.costs import elements_of, flops
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.lazy_numpy import np
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, i64_array
from hlotool.ops.numbers import Array, computed, converted, narrow, wide_dtype
from hlotool.ops.random_programs import ORDERLESS, Draw, Drawn
from hlotool.ops.registry import ConstraintError, op, require
from hlotool.ops.rules import (
    ANY,
    INTEGER,
    flags_of,
    listed,
    require_array,
    require_in_range,
    require_type,
    require_unique,
    same_size,
)

Ints = tuple[int, ...]

def higher_precision(a: str, b: str) -> str:
    """The element type that the product of two has: complex before float before integer, then what reaches further.

    Source: XLA, primitive_util::HigherPrecisionType.
    """
    return max(a, b, key=_precision)


def _precision(name: str) -> tuple[bool, int, int, int, bool]:
    dtype = DTYPES[name]
    part = dtype.component
    return (dtype.is_complex, part.overflow_exponent, part.mantissa_bits + 1 if part.is_floating else -1, part.bits,
            dtype.family == "signed")


def result_type(a: Shape, b: Shape, declared: Shape | None) -> str:
    """The declared element type; else the higher precision of the two."""
    return declared.element_type if declared is not None and declared.is_array else higher_precision(
        a.element_type, b.element_type)


def _require_dot(opcode: str, lhs: Shape, rhs: Shape, contracting: tuple[Ints, Ints], batch: tuple[Ints, Ints]) -> None:
    sides = (("lhs", lhs, contracting[0], batch[0]), ("rhs", rhs, contracting[1], batch[1]))
    for name, shape, contracted, batched in sides:
        require_array(shape, f"{opcode}-c1", name)
        require_in_range(contracted, shape.rank, f"{opcode}-c2", f"{name} contracting dimension",
                         attribute=f"{name}_contracting_dims")
        require_in_range(batched, shape.rank, f"{opcode}-c2", f"{name} batch dimension", attribute=f"{name}_batch_dims")
        require_unique((*contracted, *batched), f"{opcode}-c3", f"contracting and batch dimensions of {name}",
                       attribute=f"{name}_contracting_dims")
    for (left, right), label, what in ((contracting, "c4", "contracting"), (batch, "c6", "batch")):
        require(len(left) == len(right), f"{opcode}-{label}",
                f"lhs has {len(left)} {what} dimensions, rhs has {len(right)}",
                attribute=f"{'lhs' if left else 'rhs'}_{what}_dims")
        for i, j in zip(left, right, strict=True):
            if not same_size(lhs.dims[i], rhs.dims[j]):
                free = [d for d in range(rhs.rank) if d not in (*contracting[1], *batch[1])]
                fitting = [d for d in free if same_size(lhs.dims[i], rhs.dims[d])]
                raise ConstraintError(
                    f"{opcode}-c{int(label[1:]) + 1}",
                    f"{what} dimension {i} of lhs {lhs.text(False)} has size {lhs.dims[i]}, "
                    f"dimension {j} of rhs {rhs.text(False)} has size {rhs.dims[j]}",
                    help=f"dimension {fitting[0]} of rhs has size {rhs.dims[fitting[0]]}" if fitting
                    else "pair dimensions of one size, or mend the shapes", attribute=f"rhs_{what}_dims")


def _dims_of(pairs: Sequence[tuple[Shape, Sequence[int]]]) -> tuple[Ints, tuple[bool, ...]]:
    dims = tuple(shape.dims[d] for shape, chosen in pairs for d in chosen)
    return dims, tuple(flags_of(shape)[d] for shape, chosen in pairs for d in chosen)


def _free(rank: int, *taken: Ints) -> list[int]:
    return [d for d in range(rank) if not any(d in t for t in taken)]


def dot_shape(lhs: Shape, rhs: Shape, *, lhs_contracting_dims: Ints = (), rhs_contracting_dims: Ints = (),
              lhs_batch_dims: Ints = (), rhs_batch_dims: Ints = (), declared: Shape | None = None) -> Shape:
    """Constraints 1 to 7 of dot."""
    _require_dot("dot", lhs, rhs, (lhs_contracting_dims, rhs_contracting_dims), (lhs_batch_dims, rhs_batch_dims))
    dims, flags = _dims_of(((lhs, lhs_batch_dims), (lhs, _free(lhs.rank, lhs_contracting_dims, lhs_batch_dims)),
                            (rhs, _free(rhs.rank, rhs_contracting_dims, rhs_batch_dims))))
    return Shape.array(result_type(lhs, rhs, declared), dims, None, flags)


def dot_dimensions(attributes: Any) -> str:
    """The struct attribute that names a dot's dimensions."""
    names = {"lhs_batching_dimensions": "lhs_batch_dims", "rhs_batching_dimensions": "rhs_batch_dims",
             "lhs_contracting_dimensions": "lhs_contracting_dims", "rhs_contracting_dimensions": "rhs_contracting_dims"}
    rows = [f"{theirs} = [{', '.join(map(str, attributes[ours]))}]" for theirs, ours in names.items()
            if attributes.get(ours)]
    return f"#stablehlo.dot<{', '.join(rows)}>"


def precision_config(attributes: Any) -> str:
    """precision_config of StableHLO for operand_precision of HLO."""
    words = attributes.get("operand_precision") or ("default", "default")
    return "[" + ", ".join(f"#stablehlo<precision {_PRECISIONS.get(w, 'DEFAULT')}>" for w in words[:2]) + "]"


# StableHLO has three levels; `packed_nibble` is a hint about storage that it does not carry.
_PRECISIONS = {"default": "DEFAULT", "high": "HIGH", "highest": "HIGHEST"}


def precision_words(r: Reader) -> dict[str, Any]:
    """The reverse; nothing where both are default."""
    found = r.value("precision_config", ())
    words = tuple(str(w).lower() for w in found) if isinstance(found, tuple) else (str(found),)
    if len(words) > 2 or not set(words) <= set(_PRECISIONS):
        r.refuse(f"precision_config is {r.text('precision_config')}; it has a word for each operand, "
                 f"{', '.join(_PRECISIONS.values())}")
    return {"operand_precision": words} if any(w != "default" for w in words) else {}


#: dot algorithms by HLO's name: types of lhs, rhs and accumulation, components of each side, primitive operations,
#: whether imprecise accumulation is allowed. Source: xla_data.proto, PrecisionConfig::Algorithm.
ALGORITHMS = {
    "dot_any_f8_any_f8_f32": ("f8E5M2", "f8E5M2", "f32", 1, 1, False),
    "dot_any_f8_any_f8_f32_fast_accum": ("f8E5M2", "f8E5M2", "f32", 1, 1, True),
    "dot_f16_f16_f16": ("f16", "f16", "f16", 1, 1, False),
    "dot_f16_f16_f32": ("f16", "f16", "f32", 1, 1, False),
    "dot_bf16_bf16_bf16": ("bf16", "bf16", "bf16", 1, 1, False),
    "dot_bf16_bf16_f32": ("bf16", "bf16", "f32", 1, 1, False),
    "dot_bf16_bf16_f32_x3": ("bf16", "bf16", "f32", 1, 3, False),
    "dot_bf16_bf16_f32_x6": ("bf16", "bf16", "f32", 1, 6, False),
    "dot_bf16_bf16_f32_x9": ("bf16", "bf16", "f32", 1, 9, False),
    "dot_tf32_tf32_f32": ("tf32", "tf32", "f32", 1, 1, False),
    "dot_tf32_tf32_f32_x3": ("tf32", "tf32", "f32", 1, 3, False),
    "dot_f32_f32_f32": ("f32", "f32", "f32", 1, 1, False),
    "dot_f64_f64_f64": ("f64", "f64", "f64", 1, 1, False),
}


def algorithm_text(name: str, lhs: Shape, rhs: Shape) -> str:
    """The struct attribute of a dot algorithm."""
    left, right, total, components, operations, imprecise = ALGORITHMS[name]
    if "any_f8" in name:
        left, right = lhs.dtype.mlir, rhs.dtype.mlir
    return (f"#stablehlo.dot_algorithm<lhs_precision_type = {left}, rhs_precision_type = {right}, "
            f"accumulation_type = {total}, lhs_component_count = {components}, rhs_component_count = {components}, "
            f"num_primitive_operations = {operations}, allow_imprecise_accumulation = {str(imprecise).lower()}>")


def algorithm_name(found: Mapping[str, Any]) -> str | None:
    """The reverse, of the attribute's fields; None where HLO has no such algorithm."""
    if not found:
        return None
    sides = (found["lhs_precision_type"], found["rhs_precision_type"])
    if all(s.startswith("f8") for s in sides):
        sides = ("f8E5M2", "f8E5M2")  # which stands for any
    key = (*sides, found["accumulation_type"], *{found["lhs_component_count"], found["rhs_component_count"]},
           found["num_primitive_operations"], found["allow_imprecise_accumulation"])
    return next((name for name, algorithm in ALGORITHMS.items() if algorithm == key), None)


def _emit_dot(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    attributes = instruction.attributes
    written = {"dot_dimension_numbers": dot_dimensions(attributes), "precision_config": precision_config(attributes)}
    algorithm = attributes.get("algorithm", "dot_unset")
    if algorithm in ALGORITHMS:
        written["algorithm"] = algorithm_text(algorithm, *(o.shape for o in instruction.operands[:2]))
    return e.op("stablehlo.dot_general", operands, instruction.shape, written)


def _lift_dot(r: Reader) -> HloInstruction:
    if r.name == "stablehlo.einsum":
        return _lift_einsum(r)
    operands, attributes = r.operands(), precision_words(r)
    if r.name == "stablehlo.dot":
        return r.add("dot", r.shape(), operands, {
            "lhs_contracting_dims": (operands[0].shape.rank - 1,), "rhs_contracting_dims": (0,), **attributes})
    fields = r.struct("dot_dimension_numbers")
    names = {"lhs_batch_dims": "lhs_batching_dimensions", "lhs_contracting_dims": "lhs_contracting_dimensions",
             "rhs_batch_dims": "rhs_batching_dimensions", "rhs_contracting_dims": "rhs_contracting_dimensions"}
    found = {ours: fields[theirs] for ours, theirs in names.items() if fields.get(theirs)}
    return r.add("dot", r.shape(), operands, {**found, **attributes, **_lifted_algorithm(r, bool(attributes))})


def _lifted_algorithm(r: Reader, is_precise: bool) -> dict[str, str]:
    if not r.has("algorithm"):
        return {}
    name = algorithm_name(r.struct("algorithm"))
    if name is None:
        r.refuse(f"HLO has no algorithm {r.text('algorithm')}; it has {', '.join(ALGORITHMS)}")
    if is_precise:
        r.refuse(f"with an algorithm ({name}) the precision is DEFAULT, its precision_config is "
                 f"{r.text('precision_config')}")
    return {"algorithm": name}


def _lift_einsum(r: Reader) -> HloInstruction:
    """An einsum of two operands as a dot, its dimensions put in order."""
    lhs, rhs = r.operands()
    equation = r.string("einsum_config").replace(" ", "")
    (left, right), out = (part.split(",") for part in equation.split("->"))
    words = (left, right, *out)
    single = "".join(c for c in left + right if (c in left) + (c in right) + (c in out[0]) == 1)
    if any(len(set(word)) != len(word) for word in words) or single or "." in equation:
        r.refuse(f"the einsum {equation} repeats, sums or leaves out dimensions of one operand")
    batch = [c for c in left if c in right and c in out[0]]
    inner = [c for c in left if c in right and c not in out[0]]
    order = batch + [c for c in left if c not in right] + [c for c in right if c not in left]
    sizes = {**dict(zip(right, rhs.shape.dims, strict=True)), **dict(zip(left, lhs.shape.dims, strict=True))}
    shape = r.shape()
    attributes = {name: tuple(map(word.index, letters)) for name, word, letters in (
        ("lhs_batch_dims", left, batch), ("lhs_contracting_dims", left, inner),
        ("rhs_batch_dims", right, batch), ("rhs_contracting_dims", right, inner)) if letters}
    made = r.add("dot", shape.with_dims(tuple(sizes[c] for c in order)), (lhs, rhs), attributes)
    if list(out[0]) == order:
        return made
    return r.add("transpose", shape, (made,), {"dimensions": tuple(map(order.index, out[0]))})


def contract(lhs: Array, rhs: Array, contracting: tuple[Ints, Ints], batch: tuple[Ints, Ints], target: Any) -> Array:
    """The dot product in a wide type, converted to `target`; dimensions batch, lhs free, rhs free."""
    wide = wide_dtype(np.dtype(target), precise=True)
    lhs, rhs = (converted(converted(np.asarray(a), target), wide) for a in (lhs, rhs))
    free = (_free(lhs.ndim, contracting[0], batch[0]), _free(rhs.ndim, contracting[1], batch[1]))
    left = lhs.transpose([*batch[0], *free[0], *contracting[0]])
    right = rhs.transpose([*batch[1], *contracting[1], *free[1]])
    outer = [lhs.shape[d] for d in batch[0]]
    rows, columns = [lhs.shape[d] for d in free[0]], [rhs.shape[d] for d in free[1]]
    inner = math.prod(lhs.shape[d] for d in contracting[0])
    a = left.reshape(math.prod(outer), math.prod(rows), inner)
    b = right.reshape(math.prod(outer), inner, math.prod(columns))
    with np.errstate(all="ignore"):
        product = np.matmul(a, b) if wide != np.bool_ else np.matmul(a.astype(np.int64), b.astype(np.int64)) != 0
        return narrow(product.reshape([*outer, *rows, *columns]), np.dtype(target))


def _drawn_sides(d: Draw) -> tuple[list[Drawn], dict[str, Any]]:
    """Two operands and their dimension numbers; free, contracting and batch dimensions in any order."""
    batch, inner = ([d.between(1, 3) for _ in range(d.between(0, n))] for n in (1, 2))
    if d.edge("empty contraction"):
        inner = [0]
    sides: list[Drawn] = []
    numbers: dict[str, Any] = {}
    for name in ("lhs", "rhs"):
        tags = [*[("b", i) for i in range(len(batch))], *[("k", i) for i in range(len(inner))]]
        tags += [("f", d.between(1, 4)) for _ in range(d.between(0, 2))]
        d.random.shuffle(tags)
        dims = tuple(batch[i] if t == "b" else inner[i] if t == "k" else i for t, i in tags)
        sides.append(d.argument(dims, edges=ORDERLESS))
        numbers[f"{name}_contracting_dims"] = tuple(tags.index(("k", i)) for i in range(len(inner)))
        numbers[f"{name}_batch_dims"] = tuple(tags.index(("b", i)) for i in range(len(batch)))
    return sides, numbers


def _draw_dot(d: Draw) -> None:
    sides, numbers = _drawn_sides(d)
    d.add("dot", *sides, **numbers)


def _contracted(instruction: HloInstruction) -> int:
    """How many products make one element of the result."""
    lhs = instruction.operands[0].shape
    return math.prod(max(lhs.dims[d], 1) for d in instruction.attributes.get("lhs_contracting_dims", ()))


@flops
def _cost_of_dot(instruction: HloInstruction) -> int:
    """A multiplication and an addition for each product."""
    return 2 * elements_of(instruction.shape) * _contracted(instruction)


@op(dot_shape, lowering=Lowering(
    _emit_dot, _lift_dot, ("stablehlo.dot_general", "stablehlo.dot", "stablehlo.einsum")), element_types=ANY, ulps=8,
    flags=("sums",), source=SPECIFICATION, draw=_draw_dot, agreement=contracted_sides, cost=_cost_of_dot)
def dot(lhs: Array, rhs: Array, *, lhs_contracting_dims: Ints = (), rhs_contracting_dims: Ints = (),
        lhs_batch_dims: Ints = (), rhs_batch_dims: Ints = (), operand_precision: tuple[str, ...] = (),
        algorithm: str = "", shape: Shape) -> Array:
    """Sum of products over the contracting dimensions, for each batch index.

    Both operands are converted to the result's element type first. The result's dimensions are the batch ones,
    then those of lhs that are left, then those of rhs.

    C1  lhs and rhs are arrays.
    C2  Contracting and batch dimensions are dimensions of their operand.
    C3  No dimension of an operand is named twice.
    C4  Both sides have as many contracting dimensions.
    C5  Contracting dimensions pair up with equal sizes.
    C6  Both sides have as many batch dimensions.
    C7  Batch dimensions pair up with equal sizes.
    """
    return contract(lhs, rhs, (lhs_contracting_dims, rhs_contracting_dims), (lhs_batch_dims, rhs_batch_dims),
                    shape.dtype.numpy)


# ragged-dot


def _ragged_mode(ragged: int, contracting: Ints, batch: Ints) -> str:
    return "contracting" if ragged in contracting else "batch" if ragged in batch else "free"


def ragged_dot_shape(lhs: Shape, rhs: Shape, group_sizes: Shape, *, lhs_contracting_dims: Ints = (),
                     rhs_contracting_dims: Ints = (), lhs_batch_dims: Ints = (), rhs_batch_dims: Ints = (),
                     lhs_ragged_dims: Ints, rhs_group_dims: Ints = (), declared: Shape | None = None) -> Shape:
    """Constraints 1 to 12 of ragged-dot."""
    _require_dot("ragged-dot", lhs, rhs, (lhs_contracting_dims, rhs_contracting_dims), (lhs_batch_dims, rhs_batch_dims))
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
    dims, flags = _dims_of((
        (lhs, lhs_batch_dims), (lhs, _free(lhs.rank, lhs_contracting_dims, lhs_batch_dims)),
        (rhs, _free(rhs.rank, rhs_contracting_dims, rhs_batch_dims, rhs_group_dims))))
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
    free = _free(rank, contracting, batch)
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
    products = 2 * elements_of(instruction.shape) * _contracted(instruction)
    if ragged.isdisjoint(contracting):
        return products
    # Each row of a ragged contraction belongs to one group of the result only.
    groups = instruction.operands[2].shape.dims
    return products // max(groups[-1] if groups else 1, 1)


@op(ragged_dot_shape, lowering=Lowering(_emit_ragged_dot, _lift_ragged_dot, ("chlo.ragged_dot",)), element_types=ANY,
    ulps=8, flags=("sums",), source=SPECIFICATION, draw=_draw_ragged_dot, cost=_cost_of_ragged_dot)
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


# scaled-dot


def _is_absent(scale: Shape) -> bool:
    """A bf16 scale of ones, or a scalar, stands for no scale. Source: XLA, HloVerifier's scaled-dot check."""
    return not scale.dims or (scale.element_type == "bf16" and all(d == 1 for d in scale.dims))


def scaled_dot_shape(lhs: Shape, rhs: Shape, lhs_scale: Shape, rhs_scale: Shape, *, lhs_contracting_dims: Ints = (),
                     rhs_contracting_dims: Ints = (), lhs_batch_dims: Ints = (), rhs_batch_dims: Ints = (),
                     declared: Shape | None = None) -> Shape:
    """Constraints 1 to 11 of scaled-dot."""
    _require_dot("scaled-dot", lhs, rhs, (lhs_contracting_dims, rhs_contracting_dims), (lhs_batch_dims, rhs_batch_dims))
    for name, shape, scale, contracting in (("lhs", lhs, lhs_scale, lhs_contracting_dims),
                                            ("rhs", rhs, rhs_scale, rhs_contracting_dims)):
        require_array(scale, "scaled-dot-c1", f"the scale of {name}")
        if _is_absent(scale):
            continue
        require(scale.rank == shape.rank, "scaled-dot-c8",
                f"{name} is {shape.text(False)}, its scale {scale.text(False)}: the ranks differ")
        require(len(contracting) == 1, "scaled-dot-c9",
                f"{name} has a scale and {len(contracting)} contracting dimensions; it must have one",
                attribute=f"{name}_contracting_dims")
        require(all(UNBOUNDED in (d, s) or (s > 0 and d % s == 0)
                    for d, s in zip(shape.dims, scale.dims, strict=True)), "scaled-dot-c10",
                f"{name} is {shape.text(False)}: its dimensions are no multiples of those of "
                f"its scale {scale.text(False)}")
    require(bool(lhs_scale.dims or rhs_scale.dims), "scaled-dot-c11", "both scales are scalars")
    return dot_shape(lhs, rhs, lhs_contracting_dims=lhs_contracting_dims, rhs_contracting_dims=rhs_contracting_dims,
                     lhs_batch_dims=lhs_batch_dims, rhs_batch_dims=rhs_batch_dims, declared=declared)


def _emit_scaled_dot(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    shapes = [o.shape.without_layout() for o in instruction.operands]
    kind = instruction.shape.element_type
    sides = [_scaled(e, (operands[i], shapes[i]), (operands[i + 2], shapes[i + 2]), kind) for i in (0, 1)]
    return e.op("stablehlo.dot_general", sides, instruction.shape, {
        "dot_dimension_numbers": dot_dimensions(instruction.attributes),
        "precision_config": precision_config(instruction.attributes)})


def _scaled(e: Emitter, operand: tuple[Value, Shape], scaling: tuple[Value, Shape], kind: str) -> Value:
    """The operand in the result's type, each block times its scale."""
    (value, shape), (scale, scale_shape) = operand, scaling
    wide = shape.with_element_type(kind)
    value = cast(e, value, shape, wide)
    if _is_absent(scale_shape):
        return value
    scale = cast(e, scale, scale_shape, scale_shape.with_element_type(kind))
    blocks = tuple(n for d, s in zip(shape.dims, scale_shape.dims, strict=True) for n in (s, d // s))
    spread = e.op("stablehlo.broadcast_in_dim", [scale], wide.with_dims(blocks), {
        "broadcast_dimensions": i64_array(tuple(range(0, 2 * shape.rank, 2)))})
    return e.op("stablehlo.multiply", [value, e.op("stablehlo.reshape", [spread], wide)], wide)


def _draw_scaled_dot(d: Draw) -> None:
    m, n, blocks, size = d.between(1, 3), d.between(1, 3), d.between(1, 3), d.between(1, 3)
    sides = [d.argument((rows, blocks * size), edges=ORDERLESS) for rows in (m, n)]
    scales = [d.argument((rows, d.pick((1, blocks))), edges=()) for rows in (m, n)]
    d.add("scaled-dot", *sides, *scales, lhs_contracting_dims=(1,), rhs_contracting_dims=(1,))


@op(scaled_dot_shape, lowering=Lowering(_emit_scaled_dot), element_types=ANY, ulps=8, flags=("sums",),
    source=SPECIFICATION, draw=_draw_scaled_dot, cost=_cost_of_dot)
def scaled_dot(lhs: Array, rhs: Array, lhs_scale: Array, rhs_scale: Array, *, lhs_contracting_dims: Ints = (),
               rhs_contracting_dims: Ints = (), lhs_batch_dims: Ints = (), rhs_batch_dims: Ints = (),
               operand_precision: tuple[str, ...] = (), shape: Shape) -> Array:
    """A dot of operands whose blocks are multiplied by scales first; a scalar scale counts as none.

    C1   All four operands are arrays.
    C2   Contracting and batch dimensions are dimensions of their operand.
    C3   No dimension of an operand is named twice.
    C4   Both sides have as many contracting dimensions.
    C5   Contracting dimensions pair up with equal sizes.
    C6   Both sides have as many batch dimensions.
    C7   Batch dimensions pair up with equal sizes.
    C8   A scale has the rank of its operand.
    C9   An operand with a scale has one contracting dimension.
    C10  Each dimension of an operand is a multiple of its scale's.
    C11  The scales are not both scalars.
    """
    target = shape.dtype.numpy
    sides = []
    for operand, scale in ((lhs, lhs_scale), (rhs, rhs_scale)):
        value = converted(operand, target)
        if scale.ndim:
            spread = converted(scale, target)
            for axis, (d, s) in enumerate(zip(value.shape, scale.shape, strict=True)):
                spread = np.repeat(spread, d // s, axis=axis)
            value = computed(np.multiply, value, spread)
        sides.append(value)
    return contract(sides[0], sides[1], (lhs_contracting_dims, rhs_contracting_dims), (lhs_batch_dims, rhs_batch_dims),
                    target)
