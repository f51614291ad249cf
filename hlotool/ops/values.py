"""Values that evaluate functions meet beside arrays: tuples, tokens and called computations.

A tuple is a Python tuple of values, nested as its shape is; a token is TOKEN. A called computation is a Callee.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from hlotool.ir import HloComputation, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.long_loops import in_time

Value = Any


class EvaluationError(Exception):
    """The program asks for something that has no defined value; the message says what."""


#: the value of every token: only the order in which tokens are made means something
TOKEN = None


class Callee(Protocol):
    """A called computation as evaluate functions get it: call it with a value for each parameter.

    `computation` lets a caller see whether it works element by element; a plain function without that attribute
    is called with scalars only.
    """

    computation: HloComputation

    def __call__(self, *values: Value) -> Value: ...


class AsyncState(tuple[Any, ...]):
    """The value of an asynchronous operation in flight: (operands, results, contexts...), and what it will run."""

    run: Any
    #: every operand that has been bound so far
    bound: tuple[Value, ...]

    @staticmethod
    def of(members: Sequence[Value], run: Any, bound: Sequence[Value]) -> AsyncState:
        state = AsyncState(members)
        state.run, state.bound = run, tuple(bound)
        return state


def zeros(shape: Shape) -> Value:
    """A value of that shape: arrays of zeros, tokens, tuples of them."""
    if shape.is_tuple:
        return tuple(map(zeros, shape.elements))
    if shape.is_buffer:
        return zeros(shape.elements[0])
    return np.zeros(shape.dims, shape.dtype.numpy) if shape.is_array else TOKEN


def leaves(value: Value) -> Iterator[Value]:
    """The arrays and tokens of a nested tuple, in order."""
    if isinstance(value, tuple):
        for member in value:
            yield from leaves(member)
    else:
        yield value


def as_tuple(value: Value) -> tuple[Value, ...]:
    """A computation's result as one value for each result, however many."""
    return value if isinstance(value, tuple) else (value,)


_PLAIN = frozenset({"parameter", "constant", "tuple", "get-tuple-element"})


def is_elementwise(callee: Callee) -> bool:
    """Return True if a computation of scalars does the same to every element of arrays of one shape."""
    from hlotool.ops.table import OPS

    computation = getattr(callee, "computation", None)
    if computation is None:
        return False
    for instruction in computation.instructions:
        record = OPS.get(instruction.opcode)
        if instruction.opcode not in _PLAIN and (record is None or "elementwise" not in record.flags):
            return False
        if not all(shape.is_scalar for _, shape in instruction.shape.leaves()):
            return False
    return True


def apply(callee: Callee, *arrays: Array) -> tuple[Array, ...]:
    """A computation of scalars applied to each element of arrays of one shape; one array for each result.

    A computation of elementwise instructions runs once on whole arrays, any other once for each element.
    """
    return _applied_at_once(callee, *arrays) if is_elementwise(callee) else _applied_one_by_one(callee, *arrays)


def applied(callee: Callee) -> Callable[..., tuple[Array, ...]]:
    """Return `apply` of a computation that is applied often."""
    return functools.partial(_applied_at_once if is_elementwise(callee) else _applied_one_by_one, callee)


def _applied_at_once(callee: Callee, *arrays: Array) -> tuple[Array, ...]:
    dims = arrays[0].shape if arrays else ()
    found = map(np.asarray, as_tuple(callee(*arrays)))
    return tuple([a if a.shape == dims else np.broadcast_to(a, dims) for a in found])


def _applied_one_by_one(callee: Callee, *arrays: Array) -> tuple[Array, ...]:
    dims = arrays[0].shape if arrays else ()
    results: list[Array] = []
    for index in in_time(np.ndindex(*dims)):
        found = as_tuple(callee(*(np.asarray(a[index]) for a in arrays)))
        if not results:
            results = [np.empty(dims, np.asarray(f).dtype) for f in found]
        for result, value in zip(results, found, strict=True):
            result[index] = value
    if not results:
        shape = callee.computation.root.shape
        results = [np.empty(dims, s.dtype.numpy) for _, s in shape.leaves()]
    return tuple(results)


def fold(callee: Callee, initial: Sequence[Array], columns: Sequence[Array]) -> tuple[Array, ...]:
    """Fold the last axis of `columns` into `initial`, the accumulator first, from left to right.

    Long axes are halved by combining neighbours first, which keeps the order and needs an associative function,
    as the operations that fold do.
    """
    columns, combine = [np.asarray(c) for c in columns], applied(callee)
    while columns[0].shape[-1] > _LONG:
        even = columns[0].shape[-1] // 2 * 2
        paired = combine(*(c[..., 0:even:2] for c in columns), *(c[..., 1:even:2] for c in columns))
        columns = [np.concatenate([p, c[..., even:]], axis=-1) for p, c in zip(paired, columns, strict=True)]
    state = tuple(np.broadcast_to(i, c.shape[:-1]) for i, c in zip(initial, columns, strict=True))
    for k in range(columns[0].shape[-1]):
        state = combine(*state, *(c[..., k] for c in columns))
    return state


#: axes up to this length are folded strictly from left to right
_LONG = 64
