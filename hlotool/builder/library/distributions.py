"""Random numbers from keys: Threefry and Philox as arithmetic, and distributions made of their bits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.library.special import erf_inv
from hlotool.builder.problems import demand
from hlotool.builder.python_values import shape_of
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods

#: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_PHILOX_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_PHILOX_WEYL = (0x9E3779B9, 0xBB67AE85)


def _rotated(b: Methods, word: XlaOp, by: int) -> Any:
    return b.ShiftLeft(word, by) | b.ShiftRightLogical(word, 32 - by)


def _word(b: Methods, value: Any) -> XlaOp:
    made = b.operand(value, "u32")
    demand(made.element_type == "u32", ARGUMENTS, f"a word is u32, {made.shape.text(False)} is given")
    return made


@function(name="ThreeFry2x32")
def threefry_2x32(b: Methods, key: Any, counter: Any) -> XlaOp:
    """Two random words of a key of two words and a counter of two: lists of u32; gives a tuple. Twenty rounds."""
    keys = [_word(b, k) for k in key]
    x, y = (_word(b, c) for c in counter)
    third = keys[0] ^ keys[1] ^ _PARITY
    schedule = [*keys, third]
    x, y = b.Add(x, schedule[0]), b.Add(y, schedule[1])
    for turn in range(5):
        for by in _ROTATIONS[turn % 2]:
            x = x + y
            y = _rotated(b, y, by) ^ x
        x = x + schedule[(turn + 1) % 3]
        y = y + schedule[(turn + 2) % 3] + (turn + 1)
    return b.Tuple([x, y])


def _products(b: Methods, word: XlaOp, multiplier: int) -> tuple[XlaOp, XlaOp]:
    """The high and the low word of a product."""
    wide = b.ConvertElementType(word, "u64") * multiplier
    high = b.ConvertElementType(b.ShiftRightLogical(wide, 32), "u32")
    return high, b.ConvertElementType(wide, "u32")


@function()
def philox_4x32(b: Methods, key: Any, counter: Any) -> XlaOp:
    """Four random words of a key of two words and a counter of four: lists of u32; gives a tuple. Ten rounds."""
    k = [_word(b, part) for part in key]
    c = [_word(b, part) for part in counter]
    for _ in range(10):
        (high0, low0), (high1, low1) = (_products(b, w, m)
                                        for w, m in zip((c[0], c[2]), _PHILOX_MULTIPLIERS, strict=True))
        c = [high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0]
        k = [word + weyl for word, weyl in zip(k, _PHILOX_WEYL, strict=True)]
    return b.Tuple(c)


def _key_words(b: Methods, key: Any) -> list[XlaOp]:
    """A key of u32[2], u64[] or a number as two words."""
    made = b.operand(key, "u64") if isinstance(key, int) else b.operand(key)
    if made.element_type == "u64":
        return [b.ConvertElementType(b.ShiftRightLogical(made, 32), "u32"),
                b.ConvertElementType(made, "u32")]
    demand(made.shape.text(False) == "u32[2]", ARGUMENTS, f"a key is u32[2] or u64[]; it is {made.shape.text(False)}")
    return [b.Reshape(b.Slice(made, [i], [i + 1]), ()) for i in range(2)]


@function()
def random_bits(b: Methods, key: Any, shape: Any) -> XlaOp:
    """Random u32 or u64 in a shape, the same for the same key (u32[2], u64[] or a number)."""
    wanted = shape_of(shape)
    demand(wanted.element_type in ("u32", "u64"), ARGUMENTS, f"bits are u32 or u64, {wanted.text(False)} is asked for")
    size = wanted.size
    count = size if wanted.element_type == "u64" else (size + 1) // 2
    line = Shape.array("u32", (max(count, 1),))
    numbers = b.Iota(line, 0)
    words = [b.Full(line, k) for k in _key_words(b, key)]
    pair = threefry_2x32(b, words, [numbers, b.ZerosLike(numbers)])
    first, second = (b.GetTupleElement(pair, i) for i in range(2))
    if wanted.element_type == "u64":
        high = b.ShiftLeft(b.ConvertElementType(first, "u64"), 32)
        found = high | b.ConvertElementType(second, "u64")
    else:
        found = b.ConcatInDim([first, second], dimension=0)
    return b.Reshape(b.Slice(found, [0], [size]), wanted.dims)


def unit_floats(b: Methods, bits: XlaOp, kind: str) -> XlaOp:
    """Return floats in [0, 1) that have the first bits as mantissas: those of numbers in [1, 2), minus 1."""
    width, kept, one = (64, 52, 0x3FF0 << 48) if kind == "f64" else (32, 23, 0x7F << 23)
    mantissas = b.Or(b.ShiftRightLogical(bits, width - kept), one)
    return b.Sub(b.BitcastConvertType(mantissas, kind), 1.0)


@function()
def random_uniform(b: Methods, key: Any, low: Any, high: Any, shape: Any) -> XlaOp:
    """Floats, uniform in [low, high), of a key."""
    wanted = shape_of(shape)
    kind = "f64" if wanted.element_type == "f64" else "f32"
    unit = unit_floats(b, random_bits(b, key, Shape.array(f"u{kind[1:]}", wanted.dims)), kind)
    start, end = b.operand(low, unit.element_type), b.operand(high, unit.element_type)
    found = b.Max(b.Add(unit * (end - start), start), start)
    return b.ConvertElementType(found, wanted.element_type)


@function()
def random_normal(b: Methods, key: Any, mu: Any, sigma: Any, shape: Any) -> XlaOp:
    """Floats, normal with mean mu and standard deviation sigma, of a key."""
    wanted = shape_of(shape)
    wide = Shape.array("f64" if wanted.element_type == "f64" else "f32", wanted.dims)
    low = math.nextafter(-1.0, 0.0) if wide.element_type == "f64" else -1.0 + 2.0**-24
    unit = erf_inv(b, random_uniform(b, key, low, 1.0, wide)) * math.sqrt(2.0)
    found = unit * b.operand(sigma, wide.element_type) + b.operand(mu, wide.element_type)
    return b.ConvertElementType(found, wanted.element_type)


@function()
def random_integers(b: Methods, key: Any, low: int, high: int, shape: Any) -> XlaOp:
    """Integers in [low, high), of a key; uniform as far as the remainder of 64 bits is."""
    wanted = shape_of(shape)
    demand(low < high, ARGUMENTS, f"there is nothing in [{low}, {high})")
    words = random_bits(b, key, Shape.array("u64", wanted.dims))
    inside = b.Rem(words, high - low)
    return b.ConvertElementType(b.ConvertElementType(inside, "s64") + low, wanted.element_type)


@function()
def random_bernoulli(b: Methods, key: Any, mean: Any, shape: Any) -> XlaOp:
    """pred in the dimensions of a shape, true with a probability, of a key."""
    unit = random_uniform(b, key, 0.0, 1.0, Shape.array("f32", shape_of(shape).dims))
    return b.Lt(unit, b.operand(mean, "f32"))
