"""Random bits as XLA's generators make them, of a key and a state, and distributions made of those bits.

A generator gives a tuple of bits and the next state: Threefry's is u64[1], Philox's u64[2], a counter of 128 bits
whose low half stands first. RngBitGenerator's states are the key followed by these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.library.distributions import philox_4x32, threefry_2x32, unit_floats
from hlotool.builder.library.top_elements import box_muller_transform
from hlotool.builder.problems import demand
from hlotool.builder.python_values import shape_of
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods

_KEY_OF_SCRAMBLING = (0x3EC8F720, 0x02461E29)
_WIDTHS = {"f32": "u32", "u32": "u32", "s32": "u32", "f64": "u64", "u64": "u64", "s64": "u64"}


def _halves(b: Methods, value: XlaOp) -> list[XlaOp]:
    """The low and the high word of 64 bits."""
    high = b.ShiftRightLogical(value, 32)
    return [b.ConvertElementType(part, "u32") for part in (value, high)]


def _joined(b: Methods, low: XlaOp, high: XlaOp) -> XlaOp:
    wide = [b.ConvertElementType(word, "u64") for word in (low, high)]
    return b.Or(wide[0], b.ShiftLeft(wide[1], 32))


def _key(b: Methods, key: Any) -> XlaOp:
    made = b.operand(key, "u64")
    demand(made.shape.text(False) == "u64[]", ARGUMENTS, f"a key is u64[]; it is {made.shape.text(False)}")
    return made


def _bits(shape: Any) -> Shape:
    """The shape of the random bits for values of a shape."""
    wanted = shape_of(shape)
    demand(wanted.is_array and wanted.element_type in _WIDTHS, ARGUMENTS,
           f"bits are made for {', '.join(_WIDTHS)}; {wanted.text(False)} is asked for")
    return Shape.array(_WIDTHS[wanted.element_type], wanted.dims)


def _element(b: Methods, line: XlaOp, at: int) -> XlaOp:
    return b.Reshape(b.SliceInDim(line, at, at + 1, 1, 0), ())


@function()
def concat_scalars(b: Methods, scalars: Sequence[Any]) -> XlaOp:
    """Scalars as a vector."""
    return b.ConcatInDim([b.Reshape(s, [1]) for s in scalars], dimension=0)


@function(name="ThreeFryBitGenerator")
def threefry_bit_generator(b: Methods, key: Any, initial_state: Any, shape: Any) -> XlaOp:
    """Bits of Threefry, from a key u64[] and a state u64[1], which counts: a tuple of bits and the next state.

    32-bit values come in pairs: those of the first words, then of the second, along a dimension of even size, or
    else along the greatest one.
    """
    wanted, state = _bits(shape), b.operand(initial_state, "u64")
    keys = _halves(b, _key(b, key))
    demand(state.dims in ((), (1,)), ARGUMENTS, f"Threefry's state is u64[1]; it is {state.shape.text(False)}")
    dims = wanted.dims
    if wanted.element_type == "u64":
        words, after = _threefry(b, keys, state, dims)
        return b.Tuple([_joined(b, *words), after])
    words, after = _threefry(b, keys, state, _halved(dims, 1))
    return b.Tuple([_combined(b, words, dims), after])


def _split_dimension(dims: Sequence[int]) -> int:
    """The first dimension of even size, or else the greatest one."""
    even = next((d for d, n in enumerate(dims) if n % 2 == 0), None)
    return even if even is not None else max(range(len(dims)), key=lambda d: (dims[d], -d), default=0)


def _halved(dims: Sequence[int], count: int) -> tuple[int, ...]:
    """The dimensions with the split one cut in half, a dimension of `count` behind it: 1 for each half, 2 for both."""
    if not dims:
        return (count,)
    at = _split_dimension(dims)
    return (*dims[:at], -(-dims[at] // 2), count, *dims[at + 1:])


def _combined(b: Methods, halves: Sequence[XlaOp], dims: Sequence[int]) -> XlaOp:
    """Two halves, next to each other in the split dimension."""
    if not dims:
        return b.Reshape(halves[0], ())
    at = _split_dimension(dims)
    both = b.ConcatInDim(halves, dimension=at + 1)
    whole = b.Reshape(both, [n + n % 2 if d == at else n for d, n in enumerate(dims)])
    return b.SliceInDim(whole, 0, dims[at], 1, at)


def _threefry(b: Methods, keys: list[XlaOp], state: XlaOp, dims: Sequence[int]) -> tuple[list[XlaOp], XlaOp]:
    count = b.Full(Shape.array("u64", tuple(dims)), b.Reshape(state, ()))
    step = 1
    for d in reversed(range(len(dims))):
        if dims[d] > 1:
            count = count + b.Mul(b.Iota(Shape.array("u64", tuple(dims)), d), step)
            step *= dims[d]
    spread = [b.Full(Shape.array("u32", tuple(dims)), k) for k in keys]
    found = threefry_2x32(b, spread, _halves(b, count))
    return [b.GetTupleElement(found, i) for i in range(2)], b.Add(state, math.prod(dims))


@function()
def philox_increase_counter(b: Methods, counter: Any, delta: Any) -> XlaOp:
    """A counter u64[2], its low half first, greater by a number of 64 bits."""
    made = b.operand(counter, "u64")
    low, high = (_element(b, made, i) for i in range(2))
    return concat_scalars(b, _increased(b, low, high, b.operand(delta, "u64")))


def _increased(b: Methods, low: XlaOp, high: XlaOp, delta: XlaOp) -> list[XlaOp]:
    """The halves of a counter, greater by a number or by each of several."""
    start, top = (b.Full(Shape.array("u64", delta.dims), half) for half in (low, high))
    new = b.Add(start, delta)
    carry = b.ConvertElementType(b.Lt(new, start), "u64")
    return [new, b.Add(top, carry)]


@function()
def philox_bit_generator(b: Methods, key: Any, initial_state: Any, shape: Any) -> XlaOp:
    """Bits of Philox, from a key u64[] and a counter u64[2]: a tuple of bits and the next counter."""
    wanted, state = _bits(shape), b.operand(initial_state, "u64")
    demand(state.dims == (2,), ARGUMENTS, f"Philox's state is u64[2]; it is {state.shape.text(False)}")
    size, is_wide = wanted.size, wanted.element_type == "u64"
    blocks = -(-size * (2 if is_wide else 1) // 4)
    low, high = (_element(b, state, i) for i in range(2))
    counters = _increased(b, low, high, b.Iota(Shape.array("u64", (blocks,)), 0))
    words = [word for half in counters for word in _halves(b, half)]
    keys = [b.Full(Shape.array("u32", (blocks,)), k) for k in _halves(b, _key(b, key))]
    found = philox_4x32(b, keys, words)
    made = [b.GetTupleElement(found, i) for i in range(4)]
    if is_wide:
        made = [_joined(b, *made[:2]), _joined(b, *made[2:])]
    rows = b.ConcatInDim([b.Reshape(m, [blocks, 1]) for m in made], dimension=1)
    line = b.Reshape(rows, [blocks * len(made)])
    after = concat_scalars(b, _increased(b, low, high, b.operand(blocks, "u64")))
    return b.Tuple([b.Reshape(b.SliceInDim(line, 0, size, 1, 0), wanted.dims), after])


@function()
def scramble_philox_key(b: Methods, key: Any) -> XlaOp:
    """A counter u64[2] and a key u64[] for Philox, made of a key of any bits: a tuple."""
    low, high = _halves(b, _key(b, key))
    zero = b.operand(0, "u32")
    found = philox_4x32(b, [b.operand(k, "u32") for k in _KEY_OF_SCRAMBLING], [low, zero, high, zero])
    words = [b.GetTupleElement(found, i) for i in range(4)]
    counter = concat_scalars(b, [b.operand(0, "u64"), _joined(b, *words[2:])])
    return b.Tuple([counter, _joined(b, *words[:2])])


Generator = Callable[..., Any]


def _generated(b: Methods, generator: Generator, key: Any, state: Any, shape: Shape) -> tuple[XlaOp, XlaOp]:
    """The bits and the next state of a generator: one of these functions by name or itself, or the user's."""
    if isinstance(generator, str):
        found = b.today(generator, key, state, shape)
    else:
        with b.users_calls():
            found = generator(key, state, shape)
    if isinstance(found, XlaOp):
        return b.GetTupleElement(found, 0), b.GetTupleElement(found, 1)
    bits, after = found
    return bits, after


def _floats(shape: Any, what: str) -> Shape:
    wanted = shape_of(shape)
    demand(wanted.element_type in ("f32", "f64"), ARGUMENTS, f"{what} makes f32 or f64, not {wanted.text(False)}")
    return wanted


@function()
def uniform_floating_point_distribution(b: Methods, key: Any, initial_state: Any, bit_generator: Any, minval: Any,
                                        maxval: Any, shape: Any) -> XlaOp:
    """Floats in [minval, maxval): a tuple of them and the next state."""
    wanted = _floats(shape, "UniformFloatingPointDistribution")
    bits, after = _generated(b, bit_generator, key, initial_state, wanted)
    low, high = (b.operand(v, wanted.element_type) for v in (minval, maxval))
    unit = unit_floats(b, bits, wanted.element_type)
    return b.Tuple([b.Add(b.Mul(unit, b.Sub(high, low)), low), after])


@function()
def uniform_int_distribution(b: Methods, key: Any, initial_state: Any, bit_generator: Any, minval: Any, maxval: Any,
                             shape: Any) -> XlaOp:
    """Integers in [minval, maxval), the remainders of bits: a tuple of them and the next state."""
    wanted = shape_of(shape)
    demand(wanted.element_type in ("s32", "u32", "s64", "u64"), ARGUMENTS,
           f"UniformIntDistribution makes integers of 32 or 64 bits, not {wanted.text(False)}")
    bits, after = _generated(b, bit_generator, key, initial_state, wanted)
    kind = _WIDTHS[wanted.element_type]
    low, high = (b.operand(v, wanted.element_type) for v in (minval, maxval))
    start, end = (b.BitcastConvertType(v, kind) for v in (low, high))
    inside = b.Rem(bits, b.Sub(end, start))
    # Unsigned sums wrap around as signed ones do.
    found = b.BitcastConvertType(b.Add(start, inside), wanted.element_type)
    return b.Tuple([found, after])


@function()
def normal_floating_point_distribution(b: Methods, key: Any, initial_state: Any, bit_generator: Any, shape: Any
                                       ) -> XlaOp:
    """Normal floats, by Box's and Muller's transform of two halves of uniform ones: a tuple, with the next state."""
    wanted = _floats(shape, "NormalFloatingPointDistribution")
    dims = wanted.dims
    bits, after = _generated(b, bit_generator, key, initial_state, wanted.with_dims(_halved(dims, 2)))
    unit = unit_floats(b, bits, wanted.element_type)
    axis = _split_dimension(dims) + 1 if dims else 0
    parts = [b.SliceInDim(unit, at, at + 1, 1, axis) for at in range(2)]
    pair = box_muller_transform(b, *parts)
    found = _combined(b, [b.GetTupleElement(pair, i) for i in range(2)], dims)
    return b.Tuple([found, after])
