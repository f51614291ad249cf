"""Structured sparsity of a convolution's operands: of each block of elements along a dimension a few are stored.

Source: XLA, SparsityConfig in xla_data.proto, hlo_verifier.cc and the evaluator's tests of sparse convolutions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hlotool.ir import OperandSparsity, Shape, Sparsity
from hlotool.ir.arrays import Array, np
from hlotool.ops.registry import require
from hlotool.ops.values import EvaluationError


def sides(config: Sparsity | None) -> Iterator[tuple[str, int, OperandSparsity]]:
    """Name and operand number of each sparse side."""
    if config is not None:
        found = (("lhs", 0, config.lhs), ("rhs", 1, config.rhs))
        yield from ((name, number, side) for name, number, side in found if side is not None)


def require_sparsity(config: Sparsity | None, operands: Sequence[Shape]) -> None:
    """Constraints 16 to 19 of convolution."""
    for name, number, side in sides(config):
        index = side.index_operand
        wanted = f"it must be one of 2 to {len(operands) - 1}" if len(operands) > 2 else "there is none after lhs, rhs"
        require(2 <= index < len(operands), "convolution-c16",
                f"sparsity_config names operand {index} for the indices of {name}; {wanted}",
                attribute="sparsity_config")
        shape = operands[index]
        require(shape.is_array, "convolution-c17", f"the indices of {name} are {shape}, which is not an array")
        require(side.block_size > 0 and side.num_non_zero > 0 and (number == 0 or side.num_non_zero == 1),
                "convolution-c19", f"the sparsity of {name} is {side.num_non_zero}x{side.block_size}; it must be "
                f"{'1' if number else 'n'}xm, both positive", attribute="sparsity_config")
    named = [side.index_operand for _, _, side in sides(config)]
    require(len(set(named)) == len(named), "convolution-c18",
            f"lhs and rhs both take their indices from operand {max(named, default=0)}", attribute="sparsity_config")


def dense_size(size: int, dimension: int, side: OperandSparsity | None) -> int:
    """The size that a dimension of a sparse operand stands for."""
    if side is None or side.dimension != dimension or size < 0:
        return size
    return size // side.num_non_zero * side.block_size


def densified(stored: Array, indices: Array, side: OperandSparsity) -> Array:
    """The operand with its zeros: each stored element at its index within its block.

    >>> densified(np.array([5, 7]), np.array([1, 3]), OperandSparsity(1, 4, 0, 1, 2))
    array([0, 5, 0, 0, 0, 0, 0, 7])
    """
    axis = side.dimension
    if not 0 <= axis < stored.ndim or stored.shape[axis] % side.num_non_zero:
        raise EvaluationError(f"dimension {axis} of {list(stored.shape)} is not made of groups of {side.num_non_zero}")
    if side.stride > 1:
        raise EvaluationError(f"blocks whose elements are {side.stride} apart have no meaning in the specification")
    if indices.shape != stored.shape:
        raise EvaluationError(f"the indices are {list(indices.shape)}, the stored elements {list(stored.shape)}")
    places = indices.astype(np.int64)
    if places.size and not (places.min() >= 0 and places.max() < side.block_size):
        raise EvaluationError(f"an index lies outside its block of {side.block_size}")
    along = np.arange(stored.shape[axis]) // side.num_non_zero * side.block_size
    places = places + along.reshape([-1 if d == axis else 1 for d in range(stored.ndim)])
    dims = list(stored.shape)
    dims[axis] = dense_size(dims[axis], axis, side)
    if np.prod(dims, dtype=float) > _MOST_ELEMENTS:
        raise EvaluationError(f"the dense operand would have the dimensions {dims}")
    dense = np.zeros(dims, stored.dtype)
    np.put_along_axis(dense, places, stored, axis)
    return dense


#: a wrong block size must not take all memory
_MOST_ELEMENTS = 2**31


def dense_operands(arrays: Sequence[Array], config: Sparsity | None) -> list[Array]:
    """lhs and rhs of a convolution, dense."""
    result = list(itertools.islice(arrays, 2))
    for _, number, side in sides(config):
        result[number] = densified(arrays[number], arrays[side.index_operand], side)
    return result
