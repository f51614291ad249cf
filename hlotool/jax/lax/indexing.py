"""Operations that read and write at places that are known when the program runs."""

from __future__ import annotations

from typing import Any

from hlotool.ir import HloInstruction
from hlotool.jax.lax.codes import NotWritable
from hlotool.jax.lax.elementwise import plain_function
from hlotool.jax.lax.function_code import FunctionCode, Value, constant_below, dtype_of, writes

#: names of JAX's functions of a value and its update
_SCATTERS = {"lax.add": "lax.scatter_add", "lax.mul": "lax.scatter_mul", "lax.min": "lax.scatter_min",
             "lax.max": "lax.scatter_max", "lax.sub": "lax.scatter_sub"}


@writes("dynamic-slice")
def _dynamic_slice(code: FunctionCode, i: HloInstruction) -> str:
    starts = _starts(code, i, 1)
    return (f"lax.dynamic_slice({code.operand(i)}, {starts}, {tuple(i.attributes['dynamic_slice_sizes'])}"
            f"{_from_the_end(i, 1)})")


@writes("dynamic-update-slice")
def _dynamic_update_slice(code: FunctionCode, i: HloInstruction) -> str:
    return (f"lax.dynamic_update_slice({code.operand(i)}, {code.operand(i, 1)}, {_starts(code, i, 2)}"
            f"{_from_the_end(i, 2)})")


def _starts(code: FunctionCode, i: HloInstruction, first: int) -> str:
    """Return the indices, one for each dimension; an old form has them in one array."""
    if len(i.operands) == first + 1 and i.operands[first].shape.rank == 1:
        return code.operand(i, first)
    return code.whole(code.operands(i)[first:])


def _from_the_end(i: HloInstruction, first: int) -> str:
    """JAX counts negative indices from the end; HLO moves them to 0."""
    for operand in i.operands[first:]:
        source = constant_below(operand)
        if dtype_of(operand).family == "signed" and (source is None or int(source.literal.array) < 0):
            return ", allow_negative_indices=False"
    return ""


@writes("gather")
def _gather(code: FunctionCode, i: HloInstruction) -> str:
    a = i.attributes
    operand, indices = code.operands(i)
    numbers = _numbers("GatherDimensionNumbers", a, {
        "offset_dims": "offset_dims", "collapsed_slice_dims": "collapsed_slice_dims",
        "start_index_map": "start_index_map", "operand_batching_dims": "operand_batching_dims",
        "start_indices_batching_dims": "start_indices_batching_dims"})
    sorted_ = ", indices_are_sorted=True" if a.get("indices_are_sorted") else ""
    return (f"lax.gather({operand}, {_index_vectors(i.operands[1], indices, a['index_vector_dim'])}, {numbers}, "
            f"{tuple(a['slice_sizes'])}{sorted_}, mode=\"clip\")")


@writes("scatter")
def _scatter(code: FunctionCode, i: HloInstruction) -> Value:
    a, count = i.attributes, len(i.operands) // 2
    targets, indices, updates = code.operands(i)[:count], code.operand(i, count), code.operands(i)[count + 1:]
    functions = _combiners(i, count)
    numbers = _numbers("ScatterDimensionNumbers", a, {
        "update_window_dims": "update_window_dims", "inserted_window_dims": "inserted_window_dims",
        "scatter_dims_to_operand_dims": "scatter_dims_to_operand_dims",
        "operand_batching_dims": "input_batching_dims",
        "scatter_indices_batching_dims": "scatter_indices_batching_dims"})
    flags = "".join(f", {flag}=True" for flag in ("indices_are_sorted", "unique_indices") if a.get(flag))
    where = _index_vectors(i.operands[count], indices, a["index_vector_dim"])
    calls = [f"{function}({target}, {where}, {update}, {numbers}{flags}, mode=\"drop\")"
             for function, target, update in zip(functions, targets, updates, strict=True)]
    return calls if i.shape.is_tuple else calls[0]


def _combiners(i: HloInstruction, count: int) -> list[str]:
    """JAX's function for each target of a scatter."""
    computation = i.attributes["to_apply"]
    parameters = computation.parameters()
    roots = computation.results()
    function = plain_function(computation) if count == 1 else None
    if function in _SCATTERS:
        return [_SCATTERS[function]]
    if function == "lax.bitwise_or" and i.shape.element_type == "pred":
        return ["lax.scatter_max"]
    if len(roots) == count and all(root is parameters[count + n] for n, root in enumerate(roots)):
        return ["lax.scatter"] * count
    raise NotWritable("JAX scatters by adding, subtracting, multiplying, min, max or replacing, and not by "
                      f"{computation.name}")


def _numbers(kind: str, attributes: dict[str, Any], names: dict[str, str]) -> str:
    said = [f"{name}={tuple(attributes.get(ours, ()))}" for name, ours in names.items()
            if attributes.get(ours) or "batching" not in name]
    return f"lax.{kind}({', '.join(said)})"


def _index_vectors(operand: HloInstruction, indices: str, dimension: int) -> str:
    """Return the indices with each vector along the last dimension, as JAX has them."""
    rank = operand.shape.rank
    if dimension == rank:
        return f"jnp.expand_dims({indices}, -1)"
    return indices if dimension == rank - 1 else f"jnp.moveaxis({indices}, {dimension}, -1)"
