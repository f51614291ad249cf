"""Random numbers: rng, rng-bit-generator, rng-get-and-update-state.

rng-bit-generator is bit for bit what XLA's expansion of ThreeFry and Philox gives. Sources: Salmon et al., Parallel
Random Numbers: As Easy as 1, 2, 3 (the functions); XLA, xla/hlo/builder/lib/prng.cc (how arrays are filled).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hlotool.ir import HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.called import same_up_to_precision, scalar
from hlotool.ops.costs import each_element, each_function, moves
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import Effect, Elements, Flow
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, check_sizes, enum_attribute, refused
from hlotool.ops.numbers import from_bits, narrow
from hlotool.ops.random_programs import Draw, shape_text
from hlotool.ops.registry import op, require
from hlotool.ops.rules import require_array, same_dims
from hlotool.ops.values import EvaluationError

DISTRIBUTIONS = {"rng_uniform": "UNIFORM", "rng_normal": "NORMAL"}
ALGORITHMS = {"rng_default": "DEFAULT", "rng_three_fry": "THREE_FRY", "rng_philox": "PHILOX"}
#: u64 words of state that an algorithm takes; philox also takes a key without the second counter word
STATE_WORDS = {"rng_three_fry": (2,), "rng_philox": (2, 3), "rng_default": ()}


def rng_shape(a: Shape, b: Shape, *, distribution: str, declared: Shape | None) -> Shape:
    """Constraints 1 to 4 of rng."""
    require(distribution in DISTRIBUTIONS, "rng-c1", f"distribution is {distribution}; it is rng_uniform or rng_normal",
            attribute="distribution")
    for shape, name in ((a, "the first operand"), (b, "the second operand")):
        require(shape.is_scalar, "rng-c2", f"{name} is {shape.text(False)}; it must be a scalar")
    require(declared is not None and declared.is_array, "rng-c3", f"the result is {declared}; it must be an array")
    assert declared is not None
    require(a.element_type == b.element_type and same_up_to_precision(a, scalar(declared)), "rng-c3",
            f"the operands are {a.text(False)} and {b.text(False)}, the result is {declared.text(False)}: "
            "the element types differ")
    family = a.dtype.family
    require(family == "float" or (distribution == "rng_uniform" and family != "complex"), "rng-c4",
            f"{distribution} cannot give {a.element_type}")
    return declared


def _emit_rng(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    dims = instruction.shape.dims
    sizes = e.constant(np.asarray(dims, np.int64), Shape.array("s64", (len(dims),)))
    return e.op("stablehlo.rng", [*operands, sizes], instruction.shape, {
        "rng_distribution": enum_attribute("rng_distribution", DISTRIBUTIONS[instruction.attributes["distribution"]])})


def _lift_rng(r: Reader) -> HloInstruction:
    (a, b, sizes), shape = r.operands(), r.shape()
    check_sizes(r, sizes, shape)
    return r.add("rng", shape, (a, b), {"distribution": f"rng_{r.word('rng_distribution').lower()}"})


def _draw_rng(d: Draw) -> None:
    is_normal = d.kind.is_floating and d.chance()
    bounds = [d.argument((), among=(0 if d.kind.bits < 8 else n,)) for n in (1, 3)]
    d.only_shapes = True
    d.add("rng", *bounds, shape=shape_text(d.dtype, d.dims()),
          distribution="rng_normal" if is_normal else "rng_uniform")


@op(rng_shape, words={"distribution": DISTRIBUTIONS}, lowering=Lowering(_emit_rng, _lift_rng, ("stablehlo.rng",)),
    flags=("random", "typed"),
    replacement="rng-bit-generator with a state of its own", source=SPECIFICATION, draw=_draw_rng, cost=each_function,
    flow=Flow(Elements.GIVEN, effect=Effect.STATE))
def rng(a: Array, b: Array, *, distribution: str, shape: Shape) -> Array:
    """Independent random numbers: uniform in [a, b), or normal with mean a and standard deviation b.

    The numbers differ from run to run; only their distribution is defined.

    C1  distribution is rng_uniform or rng_normal.
    C2  Both operands are scalars.
    C3  The operands have one element type, which the result has up to the precision of floats.
    C4  Uniform numbers are floats, integers or pred; normal ones floats.
    """
    source, kind, dims = np.random.default_rng(), shape.dtype, shape.dims
    if distribution == "rng_normal":
        return narrow(source.normal(float(a), float(b), dims), kind.numpy)
    if kind.family == "pred":
        return source.integers(int(a), max(int(b), int(a) + 1), dims).astype(np.bool_)
    if kind.is_floating:
        found = narrow(float(a) + source.random(dims) * (float(b) - float(a)), kind.numpy)
        # Rounding may reach the upper bound, which is excluded.
        return np.where((found >= b) & (a < b), a, found).astype(kind.numpy)
    low, high = int(a), max(int(b), int(a) + 1)
    return source.integers(low, high, dims, np.uint64 if kind.family == "unsigned" else np.int64).astype(kind.numpy)


def rng_bit_generator_shape(initial_state: Shape, *, algorithm: str, declared: Shape | None) -> Shape:
    """Constraints 1 to 4 of rng-bit-generator."""
    require(algorithm in ALGORITHMS, "rng-bit-generator-c1",
            f"algorithm is {algorithm}; it is one of {', '.join(ALGORITHMS)}", attribute="algorithm")
    require_array(initial_state, "rng-bit-generator-c2", "the state")
    words = STATE_WORDS[algorithm]
    require(not words or (initial_state.rank == 1 and initial_state.element_type == "u64"
                          and initial_state.dims[0] in words), "rng-bit-generator-c2",
            f"the state is {initial_state.text(False)}; {algorithm} takes u64[{words[-1] if words else 2}]")
    require(declared is not None, "rng-bit-generator-c3", "the result's shape must be written")
    assert declared is not None
    if declared.is_tuple:
        require(len(declared.elements) == 2, "rng-bit-generator-c3",
                f"the result is {declared.text(False)}; it must have a state and an array")
        require(declared.elements[0].compatible(initial_state), "rng-bit-generator-c3",
                f"the new state is {declared.elements[0].text(False)}, the old one {initial_state.text(False)}")
    output = declared.elements[1] if declared.is_tuple else declared
    require(output.is_array and not output.dtype.is_complex and output.dtype.family != "pred",
            "rng-bit-generator-c4", f"the output is {output.text(False)}; it must be an array of integers or floats")
    return declared


def _emit_rng_bit_generator(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    algorithm = ALGORITHMS[instruction.attributes["algorithm"]]
    state = instruction.operands[0].shape
    shape = instruction.shape if instruction.shape.is_tuple else Shape.tuple(state, instruction.shape)
    found = e.op("stablehlo.rng_bit_generator", operands, shape, {
        "rng_algorithm": enum_attribute("rng_algorithm", algorithm)})
    return found if instruction.shape.is_tuple else found[1]


def _lift_rng_bit_generator(r: Reader) -> HloInstruction:
    return r.add("rng-bit-generator", r.shape(), r.operands(), {"algorithm": f"rng_{r.word('rng_algorithm').lower()}"})


def _draw_rng_bit_generator(d: Draw) -> None:
    algorithm = d.pick(("rng_three_fry", "rng_philox", "rng_default"))
    words = 3 if algorithm == "rng_philox" and d.chance() else 2
    state = np.array([d.random.getrandbits(64) for _ in range(words)], np.uint64)
    if d.edge("carry"):
        state[1:] = np.iinfo(np.uint64).max
    d.add("rng-bit-generator", d.parameter([state], "u64"), algorithm=algorithm,
          shape=f"(u64[{words}], {shape_text(d.dtype, d.dims(0, size=7))})")


@op(rng_bit_generator_shape, source=SPECIFICATION, lowering=Lowering(
    _emit_rng_bit_generator, _lift_rng_bit_generator, ("stablehlo.rng_bit_generator",)), draw=_draw_rng_bit_generator,
    cost=each_element, flags=("typed",), words={"algorithm": ALGORITHMS})
def rng_bit_generator(initial_state: Array, *, algorithm: str, shape: Shape) -> Any:
    """Uniform random bits, a function of the state, with the state to go on from.

    rng_default is Philox, as on XLA's CPU client.

    C1  algorithm is rng_default, rng_three_fry or rng_philox.
    C2  The state fits the algorithm: u64[2] for ThreeFry, u64[2] or u64[3] for Philox.
    C3  A tuple result holds the new state, shaped like the old one, and the output.
    C4  The output is an array of integers or floats.
    """
    output = shape.elements[1] if shape.is_tuple else shape
    if initial_state.dtype != np.uint64:
        words = np.ascontiguousarray(initial_state).reshape(-1).view(np.uint64)
    else:
        words = initial_state
    if len(words) < 2:
        raise EvaluationError(f"a state of {len(words)} words is too short for {algorithm}")
    with np.errstate(over="ignore"):
        bits, state = (_three_fry if algorithm == "rng_three_fry" else _philox)(words, output)
    if initial_state.dtype != np.uint64:
        state = state.view(initial_state.dtype).reshape(initial_state.shape)
    return (state, bits) if shape.is_tuple else bits


_LOW, _HALF_WORD = 0xFFFFFFFF, 32


def _halves(words: Array) -> tuple[Array, Array]:
    """Low and high 32 bits of 64-bit words."""
    return (words & _LOW).astype(np.uint32), (words >> _HALF_WORD).astype(np.uint32)


def _joined(low: Array, high: Array) -> Array:
    return low.astype(np.uint64) | (high.astype(np.uint64) << _HALF_WORD)


def three_fry_2x32(key: tuple[Any, Any], x: tuple[Array, Array]) -> tuple[Array, Array]:
    """Threefry-2x32 with 20 rounds."""
    keys = (key[0], key[1], key[0] ^ key[1] ^ np.uint32(0x1BD11BDA))
    rotations = ((13, 15, 26, 6), (17, 29, 16, 24))
    x0, x1 = x[0] + keys[0], x[1] + keys[1]
    for group in range(5):
        for r in rotations[group % 2]:
            x0 = x0 + x1
            x1 = ((x1 << np.uint32(r)) | (x1 >> np.uint32(32 - r))) ^ x0
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x0, x1


def philox_4x32(key: tuple[Any, Any], x: tuple[Array, ...]) -> tuple[Array, ...]:
    """Philox-4x32 with 10 rounds."""
    k0, k1 = key
    for _ in range(10):
        p0 = x[0].astype(np.uint64) * np.uint64(0xD2511F53)
        p1 = x[2].astype(np.uint64) * np.uint64(0xCD9E8D57)
        (low0, high0), (low1, high1) = _halves(p0), _halves(p1)
        x = (high1 ^ x[1] ^ k0, low1, high0 ^ x[3] ^ k1, low0)
        k0, k1 = k0 + np.uint32(0x9E3779B9), k1 + np.uint32(0xBB67AE85)
    return x


def _three_fry(state: Array, output: Shape) -> tuple[Array, Array]:
    """Counters run over the output, of which one hash fills two 32-bit elements that lie half a dimension apart."""
    key, counter, width = _halves(state[0]), state[1:2], output.dtype.bits
    if width == 64:
        size = output.size
        found = three_fry_2x32(key, _halves(np.arange(size, dtype=np.uint64) + counter))
        bits = _joined(*found)
        return _filled(bits, output), _advanced(state, size)
    dims = output.dims or (1,)
    # The first even dimension is split; where there is none, the longest one, rounded up.
    axis = next((i for i, n in enumerate(dims) if n % 2 == 0), None)
    if axis is None or not output.dims:
        axis = max(range(len(dims)), key=lambda i: (dims[i], -i))
    half = (*dims[:axis], -(-dims[axis] // 2), 1, *dims[axis + 1:])
    count = math.prod(half)
    x0, x1 = three_fry_2x32(key, _halves(np.arange(count, dtype=np.uint64) + counter))
    pair = np.concatenate([x0.reshape(half), x1.reshape(half)], axis + 1)
    whole = pair.reshape(*dims[:axis], half[axis] * 2, *dims[axis + 1:])
    bits = whole[tuple(slice(0, n) for n in dims)]
    return _filled(bits, output), _advanced(state, count)


def _filled(bits: Array, output: Shape) -> Array:
    return from_bits(bits, output.dtype.numpy).reshape(output.dims)


def _advanced(state: Array, count: int) -> Array:
    return np.array([state[0], state[1] + np.uint64(count)], np.uint64)


def _philox(state: Array, output: Shape) -> tuple[Array, Array]:
    """Words of 128 bits, one after the other; the counter's 128 bits follow the key, or end with it."""
    key, low = _halves(state[0]), state[1]
    high = state[2] if len(state) > 2 else state[0]
    width = 64 if output.dtype.bits == 64 else 32
    vectors = -(-output.size * (width // 32) // 4)
    counter = np.arange(vectors, dtype=np.uint64) + low
    upper = np.where(counter < low, high + np.uint64(1), high)
    words = np.stack(philox_4x32(key, (*_halves(counter), *_halves(upper))), -1).reshape(-1)
    bits: Array = words if width == 32 else _joined(words[0::2], words[1::2])
    after = low + np.uint64(vectors)
    carried = high + np.uint64(1) if after < low else high
    found = np.array([state[0], after, carried][:len(state)], np.uint64)
    return _filled(bits[:output.size], output), found


def rng_get_and_update_state_shape(*, delta: int, declared: Shape | None) -> Shape:
    """Constraint 1 of rng-get-and-update-state."""
    expected = Shape.array("u64", (2,))
    require(declared is None or (same_dims(declared, expected) and declared.element_type == "u64"),
            "rng-get-and-update-state-c1", f"the result is {declared}; it is always u64[2]")
    return declared or expected


#: where XLA's state starts. Source: xla/backends/cpu/runtime/rng_state_lib.cc, kRngStateInitialValue
FIRST_STATE = 0x7012395


def _lift_rng_state(r: Reader) -> HloInstruction:
    return r.add("rng-get-and-update-state", r.shape(), (), {"delta": r.int("delta")})


def _draw_rng_state(d: Draw) -> None:
    d.add("rng-get-and-update-state", delta=d.between(1, 100), shape=f"{d.dtype}[2]")


@op(rng_get_and_update_state_shape, lowering=replace(refused(
    "how often the random state has been read before depends on the way there (loops, branches, shared computations)"),
    lift=_lift_rng_state, names=("mhlo.xla.rng_get_and_update_state",)),
    source="XLA, xla/hlo/ir/hlo_instructions.h", draw=_draw_rng_state, cost=moves,
    flow=Flow(Elements.GIVEN, effect=Effect.STATE),
    flags=("typed",))
def rng_get_and_update_state(*, delta: int, world: Any) -> Array:
    """The 128-bit state of the module's random numbers, low word first, advanced by delta for the next time.

    C1  The result is u64[2].
    """
    storage = world.storage
    state = storage.get("rng-state", FIRST_STATE)
    storage["rng-state"] = (state + delta) % 2**128
    return np.array([state % 2**64, state // 2**64], np.uint64)
