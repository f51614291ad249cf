"""Rules about operations on values outside of their domain: NaN, infinities, indices that are clamped or dropped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hlotool.diagnostics import Severity
from hlotool.ir import HloInstruction
from hlotool.ops import Sign, binary_opcode
from hlotool.passes.lints.guards import is_guarded
from hlotool.passes.lints.module_view import MAYBE_CONSTANT, View
from hlotool.passes.lints.rule import Finding, rule
from hlotool.passes.lints.signs import Signs

_WORDS = {Sign.NONNEGATIVE: "may be zero", Sign.SIGNED: "may be zero or negative"}


def _signs(view: View) -> Signs:
    found = view.memory.get("signs")
    if not isinstance(found, Signs):
        found = view.memory["signs"] = Signs(view)
    return found


@rule("W321", "unclamped-log", on=("log",), in_fusions=True, authored=True)
def unclamped_log(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """The logarithm of something that may be zero or negative.

    What it does
        Finds logs whose operand comes from operations that make zeros or negative numbers: differences, absolute
        values, square roots, squares and sums of these, maximum with 0. Operands that come straight from parameters
        are taken to be in order, as are those that are clamped, offset by a positive constant, or selected by a
        comparison; and so is a log that a select drops wherever a question about its operand says so.

    Why
        log(0) is -inf and the log of a negative number NaN; both spread through a loss into every gradient.

    Bad
        ENTRY main { x = f32[4] parameter(0)  a = f32[4] abs(x)  ROOT y = f32[4] log(a) }

    Good
        ENTRY main { x = f32[4] parameter(0)  a = f32[4] abs(x)
                     least = f32[] constant(1e-6)  all = f32[4] broadcast(least), dimensions={}
                     c = f32[4] maximum(a, all)  ROOT y = f32[4] log(c) }

    Source
        IEEE 754, exceptional results of log
    """
    operand = instruction.operands[0]
    if operand.shape.is_array and operand.shape.dtype.is_floating:
        sign = _signs(view).of(operand)
        if sign in _WORDS and not is_guarded(view, instruction, operand):
            yield Finding(instruction, f"{operand.name} {_WORDS[sign]}", help="clamp it, or add a small constant")


@rule("W322", "negative-sqrt", on=("sqrt",), in_fusions=True, authored=True)
def negative_sqrt(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """The square root of something that may be negative.

    What it does
        Finds sqrts whose operand comes from a difference or another operation that makes negative numbers, such as
        a variance that is computed as mean of squares less square of mean.

    Why
        Rounding is enough to make such a difference negative, and the root NaN.

    Bad
        ENTRY main { a = f32[4] parameter(0)  b = f32[4] parameter(1)  d = f32[4] subtract(a, b)
                     ROOT y = f32[4] sqrt(d) }

    Good
        ENTRY main { a = f32[4] parameter(0)  b = f32[4] parameter(1)  d = f32[4] subtract(a, b)
                     zero = f32[] constant(0)  all = f32[4] broadcast(zero), dimensions={}
                     c = f32[4] maximum(d, all)  ROOT y = f32[4] sqrt(c) }

    Source
        IEEE 754, exceptional results of squareRoot
    """
    operand = instruction.operands[0]
    if operand.shape.is_array and operand.shape.dtype.is_floating and _signs(view).of(operand) is Sign.SIGNED \
            and not is_guarded(view, instruction, operand):
        yield Finding(instruction, f"{operand.name} may be negative", help="take its maximum with 0 first")


@rule("W323", "zero-rsqrt", on=("rsqrt",), in_fusions=True, authored=True)
def zero_rsqrt(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """The reciprocal square root of something that may be zero.

    What it does
        Finds rsqrts whose operand may be zero or negative and has no positive constant added: a norm or a variance
        without epsilon.

    Why
        A vector of zeros, or a constant feature, gives an infinity, and times zero NaN.

    Bad
        ENTRY main { x = f32[4] parameter(0)  s = f32[4] multiply(x, x)  ROOT y = f32[4] rsqrt(s) }

    Good
        ENTRY main { x = f32[4] parameter(0)  s = f32[4] multiply(x, x)
                     eps = f32[] constant(1e-6)  all = f32[4] broadcast(eps), dimensions={}
                     e = f32[4] add(s, all)  ROOT y = f32[4] rsqrt(e) }

    Source
        IEEE 754, exceptional results of rSqrt
    """
    operand = instruction.operands[0]
    if operand.shape.is_array and operand.shape.dtype.is_floating:
        sign = _signs(view).of(operand)
        if sign in _WORDS and not _has_offset(view, operand) and not is_guarded(view, instruction, operand):
            yield Finding(instruction, f"{operand.name} {_WORDS[sign]}", help="add a small constant")


def _has_offset(view: View, value: HloInstruction) -> bool:
    """Return True if a positive constant is added, as an epsilon is, to what should not be negative."""
    at = view.origin(value)
    return at.opcode == "add" and any((view.constant(o) or 0) > 0 for o in at.operands)


@rule("W324", "zero-divisor", on=("divide",), in_fusions=True, authored=True)
def zero_divisor(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A division by something that may be exactly zero.

    What it does
        Finds divisions of floats by a sum, a root of a sum, an absolute value or a maximum that is zero or more, with
        nothing that keeps it from zero: norms, counts, totals. And divisions of integers by the constant 0.

    Why
        A row of zeros makes 0/0, NaN.

    Bad
        ENTRY main { x = f32[4] parameter(0)  a = f32[4] abs(x)  ROOT y = f32[4] divide(x, a) }

    Good
        ENTRY main { x = f32[4] parameter(0)  a = f32[4] abs(x)
                     eps = f32[] constant(1e-6)  all = f32[4] broadcast(eps), dimensions={}
                     m = f32[4] maximum(a, all)  ROOT y = f32[4] divide(x, m) }

    Source
        IEEE 754, division by zero; XLA Operation Semantics, Div
    """
    divisor = instruction.operands[1]
    if not divisor.shape.is_array or divisor.shape.dtype.is_complex:
        return
    if divisor.shape.dtype.is_integral:
        if view.constant(divisor) == 0:
            yield Finding(instruction, "the divisor is 0", help="give another divisor")
        return
    if _is_total(view, divisor) and _signs(view).of(divisor) is Sign.NONNEGATIVE \
            and not is_guarded(view, instruction, divisor):
        yield Finding(instruction, f"{divisor.name} may be zero", help="take its maximum with a small constant")


def _is_total(view: View, value: HloInstruction) -> bool:
    """Return True if a value is a sum, a root of one, an absolute value or a maximum."""
    at = _past_converts(view, value)
    if at.opcode == "sqrt":
        at = _past_converts(view, at.operands[0])
        return at.opcode == "reduce"
    return at.opcode in ("reduce", "abs", "maximum")


@rule("W325", "unshifted-softmax", on=("divide", "log"), in_fusions=True, authored=True)
def unshifted_softmax(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A softmax, or log of a sum of exponentials, whose maximum is not subtracted.

    What it does
        Finds exp(x) divided by its own sum, and log of the sum of exp(x), where x is not a difference.

    Why
        exp overflows in f32 at 89 and in f16 at 11: then the quotient is inf/inf, NaN; where all x are very negative
        it is 0/0. Subtracting the maximum leaves the result as it is and removes both.

    Bad
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[8] parameter(0)  e = f32[8] exponential(x)  zero = f32[] constant(0)
                     s = f32[] reduce(e, zero), dimensions={0}, to_apply=add
                     all = f32[8] broadcast(s), dimensions={}  ROOT y = f32[8] divide(e, all) }

    Good
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] maximum(a, b) }
        ENTRY main { x = f32[8] parameter(0)  low = f32[] constant(-inf)
                     m = f32[] reduce(x, low), dimensions={0}, to_apply=max
                     ms = f32[8] broadcast(m), dimensions={}  d = f32[8] subtract(x, ms)
                     half = f32[] constant(0.5)  halves = f32[8] broadcast(half), dimensions={}
                     cooler = f32[8] multiply(d, halves)
                     e = f32[8] exponential(cooler)  zero = f32[] constant(0)
                     s = f32[] reduce(e, zero), dimensions={0}, to_apply=add
                     all = f32[8] broadcast(s), dimensions={}  ROOT y = f32[8] divide(e, all) }

    Source
        JAX, jax.nn.softmax
    """
    total = view.origin(instruction.operands[-1])
    while total.opcode == "convert":
        total = view.origin(total.operands[0])
    if total.opcode != "reduce" or len(total.operands) != 2:
        return
    summed = _past_converts(view, total.operands[0])
    if binary_opcode(total.attributes["to_apply"]) != "add" or summed.opcode != "exponential":
        return
    if instruction.opcode == "divide" and _past_converts(view, instruction.operands[0]) is not summed:
        return
    exponent = _past_converts(view, summed.operands[0])
    while exponent.opcode in ("multiply", "divide") and view.constant(exponent.operands[1]) is not None:
        exponent = _past_converts(view, exponent.operands[0])  # divided by a temperature
    if exponent.opcode in ("subtract", "select", "negate", "clamp", "minimum", "fusion", "log", "get-tuple-element"):
        return
    yield Finding(instruction, f"{summed.name} overflows where {exponent.name} is large",
                  help=f"subtract the maximum of {exponent.name} first")


def _past_converts(view: View, value: HloInstruction) -> HloInstruction:
    value = view.origin(value)
    while value.opcode == "convert":
        value = view.origin(value.operands[0])
    return value


@rule("W326", "start-out-of-bounds", on=("dynamic-slice", "dynamic-update-slice"), in_fusions=True)
def start_out_of_bounds(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A constant start index where the block does not fit.

    What it does
        Finds dynamic-slices and dynamic-update-slices with a constant start that is negative, or so large that the
        block would reach past the end.

    Why
        Starts are clamped in silence: another block is read, or overwritten, than the one that is named.

    Bad
        ENTRY main { x = f32[8,8] parameter(0)  i = s32[] constant(6)  j = s32[] parameter(1)
                     ROOT y = f32[4,4] dynamic-slice(x, i, j), dynamic_slice_sizes={4,4} }

    Good
        ENTRY main { x = f32[8,8] parameter(0)  i = s32[] constant(4)  j = s32[] parameter(1)
                     ROOT y = f32[4,4] dynamic-slice(x, i, j), dynamic_slice_sizes={4,4} }

    Source
        XLA Operation Semantics, DynamicSlice
    """
    is_update = instruction.opcode == "dynamic-update-slice"
    starts = instruction.operands[2 if is_update else 1:]
    sizes = instruction.operands[1].shape.dims if is_update else instruction.shape.dims
    if len(starts) == 1 and starts[0].shape.rank == 1:
        given = view.numbers(starts[0]) if starts[0].opcode == "constant" else ()
        numbers: Sequence[int | None] = given or [None] * len(sizes)
    else:
        numbers = [_whole(view, s) for s in starts]
    dims = instruction.operands[0].shape.dims  # none where a buffer is written to
    for dimension, (start, size, whole) in enumerate(zip(numbers, sizes, dims, strict=False)):
        if start is not None and whole >= 0 and not 0 <= start <= whole - size:
            yield Finding(instruction, f"dimension {dimension} starts at {start}, but only 0 to {whole - size} "
                          f"leave room for {size} of {whole}",
                          help=f"it is clamped to {min(max(start, 0), whole - size)}; write that, or mend the index")
            return


def _whole(view: View, start: HloInstruction) -> int | None:
    value = view.constant(start) if start.opcode in MAYBE_CONSTANT else None
    return None if value is None else int(value)


@rule("W327", "index-out-of-bounds", on=("gather", "scatter"), in_fusions=True)
def index_out_of_bounds(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A gather or scatter with a constant index where the slice does not fit.

    What it does
        Finds gathers and scatters with constant indices, one of which is negative or leaves no room for its slice.

    Why
        A gather clamps such an index and reads another slice; a scatter drops the update. Neither says so.

    Bad
        ENTRY main { x = f32[8,4] parameter(0)  i = s32[2,1] constant({{8},{3}})
          ROOT y = f32[2,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
                                          index_vector_dim=1, slice_sizes={1,4} }

    Good
        ENTRY main { x = f32[8,4] parameter(0)  i = s32[2,1] constant({{7},{3}})
          ROOT y = f32[2,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
                                          index_vector_dim=1, slice_sizes={1,4} }

    Source
        XLA Operation Semantics, Gather, Scatter
    """
    given = instruction.attributes
    is_gather = instruction.opcode == "gather"
    indices = instruction.operands[1 if is_gather else len(instruction.operands) // 2]
    numbers = view.numbers(indices) if indices.opcode == "constant" else ()
    operand = instruction.operands[0].shape
    mapped = given["start_index_map"] if is_gather else given["scatter_dims_to_operand_dims"]
    axis, dims = given["index_vector_dim"], indices.shape.dims
    for position, dimension in enumerate(mapped if numbers else ()):
        # Element k of the indices belongs to place (k / stride) mod size of the index vector.
        stride, size = (math.prod(dims[axis + 1:]), dims[axis]) if axis < len(dims) else (1, 1)
        column = [v for k, v in enumerate(numbers) if k // stride % size == position]
        room = operand.dims[dimension] - (given["slice_sizes"][dimension] if is_gather else 1)
        wrong = [v for v in column if not 0 <= v <= room]
        if wrong:
            fate = "it is clamped" if is_gather else "its update is dropped"
            yield Finding(instruction, f"index {wrong[0]} into dimension {dimension} of {operand.text(False)} is not "
                          f"in [0, {room}]; {fate}", help="mend the index")
            return


@rule("W328", "inverted-clamp", on=("clamp",), in_fusions=True)
def inverted_clamp(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A clamp whose least value is above its greatest.

    What it does
        Finds clamps with constant bounds in the wrong order.

    Why
        The result is the upper bound everywhere.

    Bad
        ENTRY main { x = f32[4] parameter(0)  a = f32[] constant(1)  b = f32[] constant(0)
                     ROOT y = f32[4] clamp(a, x, b) }

    Good
        ENTRY main { x = f32[4] parameter(0)  a = f32[] constant(0)  b = f32[] constant(1)
                     ROOT y = f32[4] clamp(a, x, b) }

    Source
        StableHLO specification, clamp
    """
    low, high = view.constant(instruction.operands[0]), view.constant(instruction.operands[2])
    if low is not None and high is not None and low > high:
        yield Finding(instruction, f"the bounds are {low:g} and {high:g}", help="exchange them")


@rule("W329", "oversized-shift", on=("shift-left", "shift-right-logical", "shift-right-arithmetic"), in_fusions=True)
def oversized_shift(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A shift by as many bits as there are, or more.

    What it does
        Finds shifts by a constant that is negative or not below the element's width. What is itself constant may be
        shifted as it likes: so frontends take a seed of 32 bits apart.

    Why
        Nothing is left of the value: the result is 0, or the sign. Often the width of the type has changed.

    Bad
        ENTRY main { x = u8[4] parameter(0)  n = u8[] constant(16)  all = u8[4] broadcast(n), dimensions={}
                     ROOT y = u8[4] shift-left(x, all) }

    Good
        ENTRY main { x = u8[4] parameter(0)  n = u8[] constant(4)  all = u8[4] broadcast(n), dimensions={}
                     ROOT y = u8[4] shift-left(x, all) }

    Source
        StableHLO specification, shift_left
    """
    amount = view.constant(instruction.operands[1])
    bits = instruction.shape.dtype.bits
    if amount is not None and not 0 <= amount < bits and view.constant(instruction.operands[0]) is None:
        yield Finding(instruction, f"{instruction.shape.element_type} has {bits} bits, the shift is by {amount}",
                      help="shift by less, or convert to a wider type first")


@rule("W330", "constant-comparison", on=("compare",), severity=Severity.INFO, in_fusions=True, authored=True)
def constant_comparison(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A comparison whose outcome is known.

    What it does
        Finds comparisons of unsigned values with 0 that always hold or never do, and of an integer with itself.

    Why
        The test does not test anything. Often the type was signed once.

    Bad
        ENTRY main { x = u32[4] parameter(0)  zero = u32[] constant(0)  all = u32[4] broadcast(zero), dimensions={}
                     ROOT p = pred[4] compare(x, all), direction=GE }

    Good
        ENTRY main { x = u32[4] parameter(0)  zero = u32[] constant(0)  all = u32[4] broadcast(zero), dimensions={}
                     ROOT p = pred[4] compare(x, all), direction=GT }

    Source
        XLA, algebraic_simplifier.cc
    """
    lhs, rhs = instruction.operands
    direction = instruction.attributes["direction"]
    if not lhs.shape.is_array or lhs.shape.dtype.is_floating or lhs.shape.dtype.is_complex:
        return
    if lhs is rhs:
        yield Finding(instruction, f"{lhs.name} is compared with itself", help="compare it with something else")
    elif lhs.shape.dtype.family == "unsigned" and direction in ("GE", "LT") and view.constant(rhs) == 0:
        outcome = "always" if direction == "GE" else "never"
        yield Finding(instruction, f"an unsigned value is {outcome} {direction} 0", help="compare with something else")
