"""dot, and what other products share with it; convolution is in convolution.py."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hlotool.ir import DTYPES, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops import index_maps
from hlotool.ops.agreement import contracted_sides
from hlotool.ops.conversion import reduce_precision
from hlotool.ops.costs import elements_of, extent, flops
from hlotool.ops.einsums import lift_einsum
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.freedom import Freedom
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value
from hlotool.ops.numbers import converted, narrow, product_dtype, wide_dtype
from hlotool.ops.random_programs import ORDERLESS, Draw, Drawn
from hlotool.ops.registry import ConstraintError, Leading, op, require
from hlotool.ops.relation_files import relation_folds
from hlotool.ops.rules import (
    ANY,
    require_array,
    require_in_range,
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


def require_dot(opcode: str, lhs: Shape, rhs: Shape, contracting: tuple[Ints, Ints], batch: tuple[Ints, Ints]) -> None:
    """The dimensions that both sides name exist, stand once, and have one size on both."""
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


def dims_of(pairs: Sequence[tuple[Shape, Sequence[int]]]) -> tuple[Ints, tuple[bool, ...]]:
    """The sizes of the chosen dimensions, and which of them are dynamic."""
    dims = tuple(shape.dims[d] for shape, chosen in pairs for d in chosen)
    return dims, tuple(shape.dynamic_flags[d] for shape, chosen in pairs for d in chosen)


def free_dims(rank: int, *taken: Ints) -> list[int]:
    """The dimensions that none of `taken` names."""
    return [d for d in range(rank) if not any(d in t for t in taken)]


def dot_shape(lhs: Shape, rhs: Shape, *, lhs_contracting_dims: Ints = (), rhs_contracting_dims: Ints = (),
              lhs_batch_dims: Ints = (), rhs_batch_dims: Ints = (), algorithm: str = "",
              declared: Shape | None = None) -> Shape:
    """Constraints 1 to 8 of dot."""
    require(not algorithm or algorithm.lower() in ALGORITHMS, "dot-c8",
            f"algorithm is {algorithm}; it is one of {', '.join(ALGORITHMS)}", attribute="algorithm")
    require_dot("dot", lhs, rhs, (lhs_contracting_dims, rhs_contracting_dims), (lhs_batch_dims, rhs_batch_dims))
    dims, flags = dims_of(((lhs, lhs_batch_dims), (lhs, free_dims(lhs.rank, lhs_contracting_dims, lhs_batch_dims)),
                           (rhs, free_dims(rhs.rank, rhs_contracting_dims, rhs_batch_dims))))
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
#: True where imprecise accumulation is allowed. Source: xla_data.proto, PrecisionConfig::Algorithm.
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
#: bits of exponent and mantissa of their narrow types of operands
_CUTS = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 10)}
#: the algorithm whose several products are of fewer digits than f32; of the others (x6, x9, those of tf32) the sum is
#: similar to f32. Source: xla_data.proto, PrecisionConfig::Algorithm
_COARSE = "dot_bf16_bf16_f32_x3"


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
    algorithm = attributes.get("algorithm", "").lower()
    if algorithm in ALGORITHMS:
        written["algorithm"] = algorithm_text(algorithm, *(o.shape for o in instruction.operands[:2]))
    return e.op("stablehlo.dot_general", operands, instruction.shape, written)


def _lift_dot(r: Reader) -> HloInstruction:
    if r.name == "stablehlo.einsum":
        return lift_einsum(r)
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


def contract(lhs: Array, rhs: Array, contracting: tuple[Ints, Ints], batch: tuple[Ints, Ints], target: Any) -> Array:
    """The dot product in a wide type, converted to `target`; dimensions batch, lhs free, rhs free."""
    kind = product_dtype(target, lhs, rhs)
    wide = wide_dtype(kind, precise=True)
    lhs, rhs = (converted(converted(np.asarray(a), kind), wide) for a in (lhs, rhs))
    free = (free_dims(lhs.ndim, contracting[0], batch[0]), free_dims(rhs.ndim, contracting[1], batch[1]))
    left = lhs.transpose([*batch[0], *free[0], *contracting[0]])
    right = rhs.transpose([*batch[1], *contracting[1], *free[1]])
    outer = [lhs.shape[d] for d in batch[0]]
    rows, columns = [lhs.shape[d] for d in free[0]], [rhs.shape[d] for d in free[1]]
    inner = math.prod(lhs.shape[d] for d in contracting[0])
    a = left.reshape(math.prod(outer), math.prod(rows), inner)
    b = right.reshape(math.prod(outer), inner, math.prod(columns))
    with np.errstate(all="ignore"):
        product = np.matmul(a, b) if wide != np.bool_ else np.matmul(a.astype(np.int64), b.astype(np.int64)) != 0
        return converted(narrow(product.reshape([*outer, *rows, *columns]), kind), np.dtype(target))


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


def contracted_size(instruction: HloInstruction) -> int:
    """How many products make one element of the result."""
    lhs = instruction.operands[0].shape
    return math.prod(extent(lhs.dims[d]) for d in instruction.attributes.get("lhs_contracting_dims", ()))


@flops
def cost_of_dot(instruction: HloInstruction) -> int:
    """A multiplication and an addition for each product."""
    return 2 * elements_of(instruction.shape) * contracted_size(instruction)


@op(dot_shape, words={"algorithm": ALGORITHMS}, lowering=Lowering(
    _emit_dot, _lift_dot, ("stablehlo.dot_general", "stablehlo.dot", "stablehlo.einsum")), element_types=ANY, ulps=8,
    flags=("relayouts",), freedom=Freedom.SUMS, source=SPECIFICATION, draw=_draw_dot,
    agreement=contracted_sides, cost=cost_of_dot,
    leading=Leading(("lhs_contracting_dims", "rhs_contracting_dims"), ("lhs_batch_dims", "rhs_batch_dims")),
    index_map=index_maps.of_dot, sharding=relation_folds.dot)
def dot(lhs: Array, rhs: Array, *, lhs_contracting_dims: Ints = (), rhs_contracting_dims: Ints = (),
        lhs_batch_dims: Ints = (), rhs_batch_dims: Ints = (), operand_precision: tuple[str, ...] = (),
        algorithm: str = "", shape: Shape) -> Array:
    """Sum of products over the contracting dimensions, for each batch index.

    Both operands are converted to the result's element type first; of floats with integral results the sum is. The
    result's dimensions are the batch ones, then those of lhs that are left, then those of rhs. An algorithm of one
    product rounds operands of f32 to its own types first; dot_bf16_bf16_f32_x3 adds the products with what that leaves.

    C1  lhs and rhs are arrays.
    C2  Contracting and batch dimensions are dimensions of their operand.
    C3  No dimension of an operand is named twice.
    C4  Both sides have as many contracting dimensions.
    C5  Contracting dimensions pair up with equal sizes.
    C6  Both sides have as many batch dimensions.
    C7  Batch dimensions pair up with equal sizes.
    C8  algorithm is one of those of xla_data.proto, PrecisionConfig::Algorithm.
    """
    name = algorithm.lower()
    left, right, _, _, products, _ = ALGORITHMS.get(name, ("f32", "f32", "f32", 1, 1, False))
    sides = (lhs_contracting_dims, rhs_contracting_dims), (lhs_batch_dims, rhs_batch_dims), shape.dtype.numpy
    if products != 1 and name != _COARSE:
        return contract(lhs, rhs, *sides)
    a, b = _rounded(lhs, left), _rounded(rhs, right)
    found = contract(a, b, *sides)
    if name != _COARSE:
        return found
    # Infinity and NaN are in the product of the rounded operands alone.
    low: Array = (contract(_finite(a), _rest(rhs, b, right), *sides)
                  + contract(_rest(lhs, a, left), _finite(b), *sides))
    return np.asarray(found + low)


def _rounded(operand: Array, name: str) -> Array:
    """Round an operand of f32 to a type of a dot algorithm; others, as the shadow has them, stay as they are.

    Source: StableHLO, dot_general: lhs_precision_type and rhs_precision_type.
    """
    if operand.dtype != np.float32 or name not in _CUTS:
        return operand
    exponent_bits, mantissa_bits = _CUTS[name]
    return np.asarray(reduce_precision.evaluate(operand, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits))


def _rest(operand: Array, rounded: Array, name: str) -> Array:
    """Return the difference that rounding makes, rounded too; 0 where the rounded number is infinite or NaN."""
    if rounded is operand:
        return np.zeros_like(operand)
    left = np.subtract(operand, rounded, out=np.zeros_like(operand), where=np.isfinite(rounded))
    return _rounded(left, name)


def _finite(operand: Array) -> Array:
    return np.where(np.isfinite(operand), operand, np.zeros((), operand.dtype))
