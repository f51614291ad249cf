"""The program at its own types with every rounding drawn at random: another legal way to have computed it.

A compiler may sum in another order, fuse a product with a sum, multiply by a reciprocal, use a library with other
last bits. What that can do to a result is seen by doing it: each seed is one run in which every operation that rounds
is off by what it may be (a *sample*), and the distances between samples are the *spread* of each element. Cancellation,
amplification and flips of comparisons come out by themselves, in loops too. (Monte Carlo arithmetic; Parker, 1997;
and CESTAC's random rounding, Vignes, 1974.)

    elementwise   the exact result of the rounded operands, moved by up to 1 ULP (or what the operation declares, or
                  its result_accuracy asks for), then rounded; a result that needs no rounding is left alone
    sums          of products, their operands cut as `algorithm` says, or the platform where `operand_precision` is
                  default: by the unit of the accumulation's type, times the root of the number of terms, times the
                  sum of magnitudes; a sum of whole numbers that fit is left alone
    backward      each operand moved by 2 ULPs
    reductions    in another order, each step an elementwise operation of the called computation; so are scatters, and
                  sorts that need not be stable
    subnormals    flushed to zero in every second sample, as processors are told to: what arithmetic and comparisons
                  read, and what they give; in a scaled-dot what its scales make of the operands, too

    NaN           any of them, where its bits are taken as an integer
    ends          what overflows may come out in several ways (overflow.py)
    narrow types  computed as f32 and rounded once, or in more steps (narrow_steps.py); held as f32 in two of five
                  samples, in one of them without any of their roundings, in the other with some, as compilers do with
                  excess precision

A sum whose operand is another sum, x + y + z, is taken in other orders (sum_orders.py); where the order is meant it may
be off by the last place of its larger operand: compilers add constants up first. With `strict`, operations of f32 and
f64 that IEEE 754 defines to the last bit (sum, product, quotient, root) are not moved outside of reducers: what is left
is what the operations' semantics leave open, and the order of sums.
"""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from hlotool.execution import DeviceState, Observer, Program, evaluate_program, fed, leaves
from hlotool.ir import DType, HloComputation, HloInstruction, HloModule, Shape, dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.numerics.higher_precision import HELD_AS_F32, WideShape, is_real, own, wide_kind, widened
from hlotool.numerics.integral_sums import has_integral_sums, with_open_last_places
from hlotool.numerics.nan_bits import tells_signs_of_nan, with_open_nans, with_open_signs
from hlotool.numerics.narrow_steps import LastPlaces, NarrowSteps, wide_places
from hlotool.numerics.overflow import MOVES, OpenEnds
from hlotool.numerics.product_precision import accumulation, cut_by_platform, terms_of_product
from hlotool.numerics.reduction_orders import (
    off_by_magnitudes,
    reduced_otherwise,
    summed_up_further,
    sums_up,
    windows_otherwise,
)
from hlotool.numerics.scaled_products import scaled_sides
from hlotool.numerics.scatter_orders import scattered_otherwise
from hlotool.numerics.sort_orders import sorted_otherwise
from hlotool.numerics.sum_orders import SumOrders, in_another_order
from hlotool.numerics.ulps import LEAST_ULPS, are_whole, error_of, largest, least_exponent, ulp_of, unit_of
from hlotool.ops import (
    OPS,
    Calls,
    Freedom,
    LapackError,
    LapackRoutine,
    binary_opcode,
    called_routine,
    error_sizes,
    flow_of,
    flushed,
    freedom_of,
)

Function: TypeAlias = Callable[..., Any]

#: operations of which several make one sum
_SUMS = frozenset({"add", "subtract"})
#: what samples make of a library's results where the routine loses its way: any numbers of that size, the large ones
#: alone, infinities, none, a share of the largest number
_BEYOND: tuple[str | float, ...] = ("any", "large", "any", math.inf, math.nan, -math.inf, 2.0**-2, -2.0**-2)
#: samples from that number on have vectors of libraries in another direction: enough others are asked before
_FREE_FROM = 5
#: last places, and the share of a sum, by which `Draws.ENLARGED` moves what rounds
_ENLARGED_ULPS, _ENLARGED_SHARE = 64.0, 2.0**-12


class Draws(enum.Enum):
    """The freedoms of operations (hlotool.ops.Freedom) that a sample draws."""

    #: roundings, orders and choices
    ALL = "all"
    #: the same, without the roundings that IEEE 754 defines to the last bit
    STRICT = "strict"
    #: choices alone: what differs then is left open by the specification, and no rounding
    CHOICES = "choices"
    #: all of them, much enlarged: what stays the same is no matter of roundings
    ENLARGED = "enlarged"


#: the number of a sample that draws all, or what a sample draws and its number
SampleWay: TypeAlias = int | tuple[Draws, int]


def sample_program(program: Program, arguments: Sequence[Sequence[Array]], way: SampleWay, *,
                   least_ulps: float = LEAST_ULPS, infeed: Sequence[Sequence[Array]] = (),
                   product_bits: int = 0, observer: Observer | None = None) -> list[list[Array]]:
    """The results of every device in a sample's way; `observer` sees all values (evaluate.py).

    `product_bits`: see hlotool.execution.executor.

    Every operation that rounds may be off by `least_ulps`, or by what it declares if that is more. `infeed` is what the
    host hands to each device.
    """
    rounding = RandomRounding.of(program.module, way, least_ulps=least_ulps, product_bits=product_bits)
    given = [[rounding.flushed(a, s) for a, s in zip(row, program.parameters, strict=True)] for row in arguments]
    found = evaluate_program(program, given, observer, queues=fed(infeed), rebind=rounding.rebound,
                             unlike_parts=True)
    return [[own(leaf, s) for leaf, s in zip(row, program.results, strict=True)] for row in found]


def has_choices(module: HloModule) -> bool:
    """Return True if some operation of a module leaves more open than roundings."""
    return any(_is_choice(i) for i in module.instructions())


def holds_narrow(module: HloModule) -> bool:
    """Return True if a module computes with floats that compilers hold in more bits."""
    return any(HELD_AS_F32.holds(s.dtype) for i in module.instructions() for s in leaves(i.shape) if s.is_array)


def rounds_some(number: int) -> bool:
    """Return True if the sample of that number rounds some narrow values, and holds others in more bits."""
    return number % 5 == 3


class RandomRounding:
    """The roundings of one sample."""

    def __init__(self, module: HloModule, seed: int, *, draws: Draws = Draws.ALL, least_ulps: float = LEAST_ULPS,
                 product_bits: int = 0) -> None:
        self._seed = seed
        self._product_bits = product_bits
        self._least_ulps = _ENLARGED_ULPS if draws is Draws.ENLARGED else least_ulps
        self._streams = DeviceState()
        self._flushes = seed % 2 == 1 and draws is not Draws.CHOICES
        self._strict = draws is Draws.STRICT
        self._draws = draws
        self._reducers = frozenset(_reducers(module))
        self._sum_orders = SumOrders(module)
        self._narrow_steps = NarrowSteps(module)
        self._summed_further = summed_up_further(module)
        self._given = frozenset(module.entry.parameters())
        self._inside = {id(i) for c in self._reducers for i in c.instructions}
        is_narrow = draws is Draws.ALL and holds_narrow(module)
        self._holds_narrow = is_narrow and seed % 5 in (2, 3)
        self._rounds_some = rounds_some(seed)
        stores_carried = self._holds_narrow and seed % 10 == 7
        #: roots of bodies of loops that store what they carry in its own type, however it is held in between
        self._carried = frozenset(map(id, _carried(module))) if stores_carried else frozenset[int]()
        #: the number of the sample among those that round, so that these go through all ends
        self._turn = seed - 2 * (seed // 5) - min(2, max(0, seed % 5 - 2)) if is_narrow else seed

    @property
    def _random(self) -> Any:
        """A stream for each device, all alike: what replicas compute alike stays alike."""
        return self._streams.kept("numbers", lambda: np.random.default_rng((self._seed, 0x6C6F)))

    @property
    def _ends(self) -> OpenEnds:
        """Numbers that overflow, of each device."""
        found: OpenEnds = self._streams.kept("ends", lambda: OpenEnds(self._turn, self._random))
        return found

    def flushed(self, argument: Array, shape: Shape) -> Any:
        """An argument as a processor reads it that flushes subnormals."""
        if self._holds_narrow:
            return HELD_AS_F32.widened(argument, shape)
        return self._flushed(np.asarray(argument), shape.dtype) if is_real(shape) else argument

    @classmethod
    def of(cls, module: HloModule, way: SampleWay, **options: Any) -> RandomRounding:
        """The roundings of a way to compute: the number of a sample, or what it draws and its number."""
        draws, seed = (Draws.ALL, way) if isinstance(way, int) else way
        return cls(module, seed, draws=draws, **options)

    def rebound(self, instruction: HloInstruction, function: Function,
                keywords: dict[str, Any]) -> tuple[Function, dict[str, Any]]:
        """The function that computes a sample of an instruction from samples of its operands."""
        shape = instruction.shape
        if self._draws is Draws.CHOICES and not _is_choice(instruction):
            return function, keywords
        if id(instruction) not in self._inside and tells_signs_of_nan(instruction):
            function = with_open_signs(instruction, function, self._turn, self._given)
        if has_integral_sums(instruction):
            return with_open_last_places(instruction, function, self._seed), keywords
        if self._holds_narrow:
            function, keywords = HELD_AS_F32.rebinding(instruction, function, keywords)
            if _adds_narrow(instruction):
                function = self._held_sum(shape, function)
            if shape.is_array and HELD_AS_F32.holds(shape.dtype):
                function = self._held_off(instruction, function) if freedom_of(instruction).rounds else function
                function = self._rounded_here_and_there(instruction, function) if self._rounds_some else function
                function = self._within_range(shape, function)
            return (_in_own_types(shape, function) if id(instruction) in self._carried else function), keywords
        if (way := _WAYS.get(freedom_of(instruction))) is not None:
            function = way(self, instruction, function)
        return function, keywords

    def _exact(self, instruction: HloInstruction, function: Function) -> Function:
        is_forwarded = instruction.opcode in MOVES and not self._strict and is_real(instruction.shape)
        return self._moved(instruction, function) if is_forwarded else function

    def _nearest(self, instruction: HloInstruction, function: Function) -> Function:
        """A conversion; to narrow floats from wider numbers than f32's it may go over f32, and round twice.

        One that ends a narrow operation is as far off as that.
        """
        shape, operand = instruction.shape, instruction.operands[0].shape
        if self._least_ulps and self._narrow_steps.is_native(instruction):
            return self._elementwise(instruction, function, LEAST_ULPS)
        reads = self._reading(instruction, function)
        if not (is_real(shape) and shape.dtype.bits < 32 and operand.dtype.bits >= 32
                and operand.element_type != "f32" and self._seed % 4 > 1):
            return lambda *values, **keywords: self._flushed(reads(*values, **keywords), shape.dtype) \
                if is_real(shape) else reads(*values, **keywords)
        return lambda *values, **keywords: own(np.asarray(values[0]).real.astype(np.float32), shape)

    def _computed(self, instruction: HloInstruction, function: Function) -> Function:
        if not is_real(instruction.shape):
            return function
        if instruction.opcode == "power" and instruction.shape.dtype.is_complex and self._seed % 2:
            function = _with_open_exponents(function)
        if self._draws is Draws.CHOICES:
            return function
        if self._strict and self._is_defined(instruction):
            return self._ordered(instruction, function) if instruction in self._sum_orders else function
        declared = OPS[instruction.opcode].ulps_of(instruction.shape)
        return self._elementwise(instruction, function, max(self._least_ulps, declared))

    def _added_up(self, instruction: HloInstruction, function: Function) -> Function:
        if not is_real(instruction.shape):
            return function
        function = self._summed(instruction, function)
        is_scaled = instruction.opcode == "scaled-dot" and instruction.shape.dtype.is_floating
        return self._enlarged(instruction, self._scaled(instruction, function) if is_scaled else function)

    def _reduced(self, instruction: HloInstruction, function: Function) -> Function:
        freedom, own_function = freedom_of(instruction), function
        if freedom is Freedom.TERMS:
            function = reduced_otherwise(instruction, function, self._random, self._turn, self._ends)
        elif freedom is Freedom.WINDOWS:
            function = windows_otherwise(instruction, function, self._random)
            function = function if self._strict else self._folded(instruction, function)
        if sums_up(instruction):
            ends = None if self._strict else self._ends
            function = off_by_magnitudes(instruction, own_function, function, self._random, ends)
        return self._enlarged(instruction, function)

    def _scattered(self, instruction: HloInstruction, function: Function) -> Function:
        return scattered_otherwise(instruction, function, self._random, self._turn, self._anything)

    def _recast(self, instruction: HloInstruction, function: Function) -> Function:
        return with_open_nans(instruction, function, self._turn, self._given)

    def _called(self, instruction: HloInstruction, function: Function) -> Function:
        routine = called_routine(instruction)
        if routine is None:
            return function
        return self._enlarged(instruction, self._library(instruction, function, routine))

    def _enlarged(self, instruction: HloInstruction, function: Function) -> Function:
        """Move sums and factorisations by more than any order of a sum explains, in samples that ask for it."""
        if self._draws is not Draws.ENLARGED:
            return function

        def off(value: Any, shape: Shape) -> Any:
            if not is_real(shape):
                return value
            wide = widened(value, shape)
            return own(wide * (1 + self._uniform(wide) * _ENLARGED_SHARE), shape)

        return lambda *values, **keywords: _each_leaf(instruction.shape, function(*values, **keywords), off)

    def _within_range(self, shape: Shape, function: Function) -> Function:
        """Keep values that are held as f32, with more bits than their own type, in the range of that type."""
        def call(*values: Any, **keywords: Any) -> Any:
            held = np.asarray(function(*values, **keywords))
            rounded = own(held, shape).astype(held.dtype)
            return np.where(np.isfinite(rounded), held, rounded)

        return call if shape.dtype.exponent_bits < 8 else function

    def _held_off(self, instruction: HloInstruction, function: Function) -> Function:
        """Values held as f32, off by some of its last places, or f16's, but for numbers that are exact.

        Those are numbers of the type that it is computed in, where IEEE 754 defines the result, else of its own type.
        """
        shape = instruction.shape
        places = wide_places(shape.dtype, max(LEAST_ULPS, OPS[instruction.opcode].ulps_of(shape)))
        exact = shape.with_element_type(places.unit.name) if freedom_of(instruction) is Freedom.IEEE else shape

        def call(*values: Any, **keywords: Any) -> Any:
            held = np.asarray(function(*values, **keywords))
            size = np.where(np.isfinite(held), np.abs(held), 0)
            off = self._uniform(held) * places.ulps * ulp_of(size, places.unit)
            return np.where(own(held, exact).astype(held.dtype) == held, held, held + off).astype(held.dtype)

        return call

    def _rounded_here_and_there(self, instruction: HloInstruction, function: Function) -> Function:
        """Of what is held as f32 half of the elements are rounded to their own type.

        What processors compute in that type is off by up to its last place instead, and not rounded, so that it shows
        how far an element may be off, which rounded samples do by chance.
        """
        shape = instruction.shape
        is_off = self._least_ulps and self._narrow_steps.is_native(instruction)

        def call(*values: Any, **keywords: Any) -> Any:
            held = np.asarray(function(*values, **keywords))
            rounded = own(held, shape).astype(held.dtype)
            if is_off:
                size = np.where(np.isfinite(held), np.abs(held), 0)
                off = self._uniform(held) * error_of(None, self._least_ulps)(size, ulp_of(size, shape.dtype))
                return np.where(held == rounded, held, held + off).astype(held.dtype)
            return np.where(self._random.integers(0, 2, held.shape) > 0, held, rounded)

        return call

    def _held_sum(self, shape: Shape, function: Function) -> Function:
        """A sum of products held as f32: parts of it may have been rounded to the type all the same.

        Not rounded after that, so that it shows how far an element may be off, which rounded samples do by chance.
        """
        unit = unit_of(shape.dtype)

        def call(*values: Any, **keywords: Any) -> Any:
            held = np.asarray(function(*values, **keywords))
            size, squares = (np.abs(function(*(np.abs(v) ** power for v in values[:2]), *values[2:], **keywords))
                             for power in (1, 2))
            error = np.where(are_whole(unit, size) | ~np.isfinite(squares), 0, 2 * np.sqrt(squares) * unit)
            return (held + self._uniform(held) * error).astype(held.dtype)

        return call

    def _is_defined(self, instruction: HloInstruction) -> bool:
        """Return True if IEEE 754 leaves nothing open: not within reducers, whose order is open, nor for types that
        compilers widen."""
        kind = instruction.shape.dtype
        return (freedom_of(instruction) is Freedom.IEEE and kind.name in ("f32", "f64", "c64", "c128")
                and id(instruction) not in self._inside)

    def _elementwise(self, instruction: HloInstruction, function: Function, ulps: float) -> Function:
        shapes, shape = [o.shape for o in instruction.operands], instruction.shape
        accuracy = instruction.attributes.get("result_accuracy")
        opcode = instruction.opcode
        places = LastPlaces(shape.dtype, ulps)
        if HELD_AS_F32.holds(shape.dtype) and self._least_ulps:  # else only what operations declare is asked for
            places = self._narrow_steps.places(instruction, ulps)
        error = error_of(accuracy, places.ulps)
        is_sum = opcode in _SUMS and shape.dtype.is_floating and not self._strict
        is_ordered = instruction in self._sum_orders
        is_summed = is_sum and instruction in self._summed_further
        is_chain = is_sum and not is_ordered and any(o.opcode in _SUMS for o in instruction.operands)

        def call(*values: Array, **keywords: Any) -> Any:
            values = self._read(values, shapes)
            given = _wide_keywords(keywords, shape)
            wide = self._ends.contracted(values, shapes) if is_sum else list(map(widened, values, shapes))
            try:
                exact = function(*wide, **given)
            except (TypeError, ValueError, KeyError):
                return function(*values, **keywords)
            exact = widened(exact, shape)
            if is_chain:
                exact = self._off_by_terms(exact, wide, shape.dtype)
            found = self._rounded(exact, shape, error, places)
            if is_ordered and (terms := self._sum_orders.note(instruction, wide)) is not None:
                # Of the orders only a few are drawn: partial sums are off by their last place, the sum by its terms'.
                total = in_another_order(terms, self._turn, self._random, lambda part: widened(
                    self._rounded(part, shape, error), shape))
                found = own(self._off_by_terms(total, [*terms, total], shape.dtype), shape)
            if is_sum:
                found = self._ends.added(lambda *sums: function(*sums, **given), found, values, shape)
            if is_summed:
                self._ends.note_terms(found, wide)
            if opcode == "multiply" and not self._strict:
                self._ends.note_product(found, exact)
            return found

        return call

    def _ordered(self, instruction: HloInstruction, function: Function) -> Function:
        """A sum in another order, each step rounded as IEEE 754 says."""
        shapes, shape = [o.shape for o in instruction.operands], instruction.shape

        def call(*values: Array, **keywords: Any) -> Any:
            terms = self._sum_orders.note(instruction, list(map(widened, values, shapes)))
            if terms is None:
                return function(*values, **keywords)
            found = in_another_order(terms, self._turn, self._random,
                                     lambda total: widened(self._flushed(own(total, shape), shape.dtype), shape))
            return own(found, shape)

        return call

    def _off_by_terms(self, exact: Array, terms: Sequence[Array], kind: DType) -> Array:
        """A sum of three numbers and more: off by the last place of the largest term, but for whole numbers."""
        sizes = [np.where(np.isfinite(t), np.abs(t), 0) for t in terms]
        size = functools.reduce(np.maximum, sizes)
        whole = are_whole(unit_of(kind), size, *sizes)
        return np.asarray(exact + np.where(whole, 0, self._uniform(exact) * ulp_of(size, kind)))

    def _moved(self, instruction: HloInstruction, function: Function) -> Function:
        def call(*values: Array, **keywords: Any) -> Array:
            return self._ends.moved(function, values[0], keywords, instruction.shape)

        return call

    def _folded(self, instruction: HloInstruction, function: Function) -> Function:
        def call(*operands: Any, **keywords: Any) -> Any:
            found = function(*operands, **keywords)
            return self._ends.folded(instruction, function, operands, keywords, found) if len(operands) == 2 else found

        return call

    def _summed(self, instruction: HloInstruction, function: Function) -> Function:
        shapes, shape = [o.shape for o in instruction.operands], instruction.shape
        unit, fewer = accumulation(instruction, self._product_bits)
        fewer = fewer or cut_by_platform(instruction, self._product_bits)
        terms = terms_of_product(shapes[0], shapes[1], shape)
        tiny = 2.0 ** least_exponent(shape.dtype)
        is_narrow = _adds_narrow(instruction)
        has_holes = instruction.opcode == "convolution" and _has_holes(instruction.attributes.get("window"))

        def call(*values: Array, **keywords: Any) -> Any:
            values = self._read(values, shapes)
            wide = _wide_keywords(keywords, shape)
            given = list(map(widened, values, shapes))
            if fewer:
                given[:2] = [self._cut(g, fewer, s.dtype) for g, s in zip(given[:2], shapes, strict=False)]
            try:
                exact = function(*given, **wide)
                size = function(*map(np.abs, given[:2]), *given[2:], **wide)
            except (TypeError, ValueError, KeyError):
                return function(*values, **keywords)
            exact, size = widened(exact, shape), np.abs(size)
            whole = are_whole(unit_of(shape.dtype) if is_narrow else unit, size, exact)
            single = (size == np.abs(exact)) & (own(exact, shape) == exact)
            if single.any() and not whole.all():  # one product alone is exact, a sum of many only by chance
                there = [(g != 0).astype(g.dtype) for g in given[:2]]
                single &= np.abs(function(*there, *given[2:], **wide)) <= 1
            error = size * unit * math.sqrt(terms)
            if is_narrow:  # parts of a sum may be rounded to the type; they are about as large as the terms' norm
                norm = np.sqrt(np.abs(function(*(np.abs(g) ** 2 for g in given[:2]), *given[2:], **wide)))
                error = np.maximum(error, 2 * norm * unit_of(shape.dtype))
            if self._flushes:  # products too small for a normal number may be lost, each of them
                error = np.where((size > 0) & (size < tiny * 2.0**24), error + tiny * terms, error)
            moved = exact + np.where(whole | single, 0.0, self._uniform(exact) * error)
            if self._flushes and self._turn % 4 == 1:  # or all of them in all sums: none makes up for another
                moved = np.where(size < tiny * terms, 0, moved)
            found = self._rounded(moved, shape, error_of(None, self._least_ulps))
            if has_holes and not (np.isfinite(given[0]).all() and np.isfinite(given[1]).all()):
                return self._beside_holes(found, function, given, wide, shape)
            found = self._overflowing(found, size, shape.dtype)
            self._ends.note_sum(found, exact, size, shape)
            return found

        return call

    def _cut(self, operand: Array, bits: int, kind: DType) -> Array:
        """An operand of products as a processor reads it that keeps so many bits of its mantissa.

        It cuts the others off or rounds: by up to a unit in the last place that is kept, and to infinity at the end of
        the range. Every other sample moves each number as far as that, up or down.
        """
        drawn = self._uniform(operand)
        if self._turn % 2:
            drawn = np.sign(drawn) if operand.dtype.kind != "c" else np.sign(drawn.real) + 1j * np.sign(drawn.imag)
        moved = operand * (1 + drawn * 2.0**-bits)
        if self._turn % 4 not in (1, 2):
            return moved
        with np.errstate(all="ignore"):
            rounded = np.abs(operand) >= largest(kind) * (1 - 2.0 ** -(bits + 2))
            return np.where(rounded, operand * np.inf, moved)

    def _scaled(self, instruction: HloInstruction, function: Function) -> Function:
        """A scaled-dot on a processor that flushes subnormals."""
        shapes, shape = [o.shape for o in instruction.operands], instruction.shape

        def call(*values: Array, **keywords: Any) -> Any:
            if not self._flushes:
                return function(*values, **keywords)
            sides = scaled_sides(self._read(values, shapes), shape, lambda value: self._flushed(value, shape.dtype),
                                 overflows=self._turn % 4 == 1)
            return function(*sides, **keywords)

        return call

    def _reading(self, instruction: HloInstruction, function: Function) -> Function:
        shapes = [o.shape for o in instruction.operands]

        def call(*values: Array, **keywords: Any) -> Any:
            return function(*self._read(values, shapes), **keywords)

        return call

    def _beside_holes(self, found: Array, function: Function, given: list[Array], wide: dict[str, Any],
                      shape: Shape) -> Array:
        """A convolution of what is not finite: whether zeros of padding and dilation are multiplied with it, or with
        its neighbours where a window is made longer, is left to the backend."""
        end = (None, np.nan, np.inf, -np.inf)[self._turn % 4]
        if end is not None:
            return np.full_like(found, end)
        if self._turn % 8 == 0:
            return found
        lhs, rhs = given[:2]
        taps = np.isfinite(rhs)
        skipped = own(function(lhs, np.where(taps, rhs, 0), *given[2:], **wide), shape)
        touched = function(np.ones_like(lhs), np.where(taps, 0.0, 1.0).astype(rhs.dtype), *given[2:], **wide) != 0
        return np.where(touched, found, skipped).astype(found.dtype, copy=False)

    def _anything(self, found: Array) -> Array:
        """Values so far apart, of a few samples, that every value lies among them."""
        kind = dtype_of_numpy(found.dtype)
        if not (kind.is_floating or kind.is_complex):
            ends = (found.min(), found.max()) if found.size else (0, 0)
            return np.full_like(found, ends[self._turn % 2])
        far = largest(kind) / 4
        end = (far, -far, np.nan, np.inf, -np.inf, None)[self._turn % 6]
        if end is None:
            return found
        return np.full_like(found, complex(end, end) if kind.is_complex else end)

    def _overflowing(self, found: Array, size: Array, kind: DType) -> Array:
        """Where partial sums may overflow, what comes out hangs on the order: the sum, an infinity, or NaN."""
        at_risk = (size > largest(kind)) & ~np.isnan(size)
        return self._ends.ends(found, at_risk) if at_risk.any() else found

    def _backward(self, instruction: HloInstruction, function: Function) -> Function:
        share = self._share_of_operands()
        shapes, shape = [o.shape for o in instruction.operands], instruction.shape

        def call(*values: Any, **keywords: Any) -> Any:
            moved = [v * (1 + self._uniform(v) * unit_of(s.dtype) * share) if is_real(s) else v
                     for v, s in zip(map(widened, values, shapes), shapes, strict=True)]
            try:
                exact = function(*moved, **_wide_keywords(keywords, shape))
                if self._flushes and instruction.opcode == "fft":  # products that are no normal numbers are lost
                    exact = exact + self._uniform(exact) * 2.0 ** least_exponent(shape.dtype.component) * max(
                        shapes[0].size, shape.size)
                found = own(exact, shape)
                reals = [np.abs(m) for m, s in zip(moved, shapes, strict=True) if is_real(s)]
                # A norm that overflows leaves everything open; so does NaN, which a factorisation stops at.
                size = max((float(np.nan_to_num(np.sum(a), nan=np.inf)) for a in reals), default=0.0)
                # A transform's halves are sums of twice as much, and scaled at the end.
                return self._anything(found) if is_real(shape) and size > largest(shape.dtype) / 4 else found
            except (TypeError, ValueError, KeyError):
                return function(*values, **keywords)

        return call

    def _library(self, instruction: HloInstruction, function: Function, routine: LapackRoutine) -> Function:
        """A call of LAPACK, off as its routine may be; of what is not finite it leaves anything, its status too."""
        share = self._share_of_operands(routine.roundings)
        shapes = [o.shape for o in instruction.operands]
        layouts = instruction.attributes.get("operand_layout_constraints") or shapes
        is_forward = routine.error is LapackError.OF_RESULTS

        def off(value: Any, shape: Shape, layout: Shape) -> Any:
            if not is_real(shape):
                return value
            wide = widened(value, shape)
            sizes = error_sizes(routine.error, wide, layout) * unit_of(shape.dtype) * share
            moved = wide + self._uniform(wide) * sizes
            # Numbers at the end of the range stay there.
            return own(np.where(np.isfinite(own(moved, shape)) | ~np.isfinite(wide), moved, wide), shape)

        def call(*values: Any, **keywords: Any) -> Any:
            with np.errstate(all="ignore"):
                moved = values if is_forward else tuple(map(off, values, shapes, layouts))
                found = function(*moved, **keywords)
                if is_forward:
                    found = _each_leaf(instruction.shape, found, lambda value, shape: off(value, shape, shape))
                if routine.columns and (self._draws is Draws.CHOICES or self._seed >= _FREE_FROM):
                    found = routine.with_factors(found, self._of_size_one)
                reals = [np.abs(v.astype(np.complex128)) for v, s in zip(values, shapes, strict=True) if is_real(s)]
                most = min((largest(s.dtype) for s in shapes if is_real(s)), default=math.inf)
                if not all(float(np.sum(sizes)) <= most for sizes in reals) and (self._turn // 2 % 2 or not all(
                        np.isfinite(sizes).all() for sizes in reals)):
                    return _each_leaf(instruction.shape, found, lambda value, shape: self._anything(value)
                                      if is_real(shape) else np.full_like(value, self._turn // 12 % 2))
                # Where products of two elements are no normal numbers, a processor that flushes those loses its way.
                least = min(2.0 ** least_exponent(s.dtype) for s in shapes if is_real(s))
                if self._flushes and any(((a != 0) & ((a < math.sqrt(least)) | (a > math.sqrt(most) / 2))).any()
                                         for a in reals):
                    return _each_leaf(instruction.shape, found, self._any_of_size)
            return found

        return call

    def _of_size_one(self, like: Array) -> Array:
        """Signs, or complex numbers of size one."""
        drawn = self._uniform(like)
        factors = np.exp(1j * np.pi * drawn.real) if like.dtype.kind == "c" else np.sign(drawn)
        return np.asarray(factors).astype(like.dtype)

    def _any_of_size(self, found: Array, shape: Shape) -> Array:
        """Numbers about as large as those of an array, or the large ones alone, infinities or none."""
        if not is_real(shape):
            return found
        wide = widened(found, shape)
        most = np.max(np.abs(wide), where=np.isfinite(wide), initial=0.0)
        way = _BEYOND[self._turn // 2 % len(_BEYOND)]
        if isinstance(way, float):
            return np.full_like(found, way * largest(shape.dtype) if math.isfinite(way) else way)
        made = 2 * most * self._uniform(wide) if way == "any" else np.where(np.abs(wide) > most / 2, wide, 0)
        return np.asarray(own(made, shape))

    def _share_of_operands(self, units: float = 4.0) -> float:
        """The units by which operands of a backward stable operation are off."""
        return 0.0 if self._draws is Draws.CHOICES else units

    def _sorted(self, instruction: HloInstruction, function: Function) -> Function:
        def call(*operands: Array, **keywords: Any) -> Any:
            return sorted_otherwise(function, operands, keywords, self._turn, self._random, self._anything)

        return call

    def _rounded(self, exact: Array, shape: Shape, error: Function, places: LastPlaces | None = None) -> Array:
        """The wide result in the type of the shape, off by what `error` allows where it has to be rounded.

        `places` may say otherwise; `error` counts in last places of its unit, by default of the type of the shape.
        """
        kind = shape.dtype
        unit, _, is_everywhere, is_rounded_once = places or LastPlaces(kind, LEAST_ULPS)
        with np.errstate(all="ignore"):
            nearest = own(exact, shape)
            back = nearest.astype(exact.dtype)
            inexact = ((back != exact) | (is_everywhere & (exact != 0))) & np.isfinite(exact)
            if is_rounded_once:
                inexact &= own(exact, Shape.array(unit.name, shape.dims)).astype(exact.dtype) != exact
            if not inexact.any():
                return self._flushed(nearest, kind)
            size = np.abs(exact)
            drawn = self._uniform(exact)
            if unit.bits < 32 and exact.dtype.kind == "f":  # smaller moves are lost when it is rounded
                drawn = (drawn + np.sign(drawn)) / 2
            moved = exact + np.where(inexact, drawn * error(size, ulp_of(size, unit)), 0)
            found = own(moved, shape)
            # What overflows does so in every implementation, except on the last step.
            return self._flushed(np.where(inexact, found, nearest).astype(nearest.dtype, copy=False), kind)

    def _uniform(self, like: Array) -> Array:
        drawn: Array = self._random.uniform(-1.0, 1.0, np.shape(like))
        if np.asarray(like).dtype.kind == "c":
            return np.asarray(drawn + 1j * self._random.uniform(-1.0, 1.0, np.shape(like)))
        return drawn

    def _read(self, values: tuple[Array, ...], shapes: Sequence[Shape]) -> tuple[Array, ...]:
        """Operands as arithmetic reads them: constants and bits may be subnormal where no result is."""
        if not self._flushes:
            return values
        return tuple(self._flushed(v, s.dtype) if is_real(s) else v for v, s in zip(values, shapes, strict=True))

    def _flushed(self, array: Array, kind: DType) -> Array:
        # A zero keeps the sign, as processors have it: what divides by it is infinite with that sign.
        return flushed(array, kind) if self._flushes else array


def _each_leaf(shape: Shape, value: Any, change: Callable[[Any, Shape], Any]) -> Any:
    """Return an array, or those of a tuple, changed one by one."""
    if shape.is_tuple:
        return tuple(_each_leaf(s, v, change) for v, s in zip(value, shape.elements, strict=True))
    return change(value, shape)


def _adds_narrow(instruction: HloInstruction) -> bool:
    """Return True if an instruction is a sum of products of which parts may be rounded to a narrow type."""
    shape = instruction.shape
    return (freedom_of(instruction) is Freedom.SUMS and shape.is_array and HELD_AS_F32.holds(shape.dtype)
            and not instruction.attributes.get("algorithm"))


def _has_holes(window: Any) -> bool:
    """Return True if a convolution pads or dilates."""
    return any(row.pad_low or row.pad_high or row.base_dilation > 1 or row.window_dilation > 1
               for row in getattr(window, "dimensions", ()))


def _with_open_exponents(function: Function) -> Function:
    """A power of complex numbers that is NaN of infinite ones: the formula that a backend takes decides about them."""
    def call(*values: Array, **keywords: Any) -> Array:
        found = np.asarray(function(*values, **keywords))
        return np.where(np.logical_and.reduce([np.isfinite(v) for v in values]), found, np.nan).astype(found.dtype)

    return call


def _wide_keywords(keywords: dict[str, Any], shape: Shape) -> dict[str, Any]:
    wanted = keywords.get("shape")
    if wanted is None or not is_real(shape):
        return keywords
    return keywords | {"shape": WideShape(shape, wide_kind(shape.dtype))}


def _reducers(module: HloModule) -> list[HloComputation]:
    """The computations that fold, in an order of the backend's choice."""
    return [c for i in module.instructions()
            if not flow_of(i).enters and flow_of(i).calls is not Calls.EACH for c in i.called_computations()]


def _in_own_types(shape: Shape, function: Function) -> Function:
    """Values held as f32, rounded to the types of the program."""
    return lambda *values, **keywords: HELD_AS_F32.widened(own(function(*values, **keywords), shape), shape)


def _carried(module: HloModule) -> list[HloInstruction]:
    """The roots of the bodies of loops."""
    return [i.attributes["body"].root for i in module.instructions() if i.opcode == "while"]


def _is_choice(instruction: HloInstruction) -> bool:
    """Return True if the specification leaves values of an instruction open, and no rounding."""
    freedom = freedom_of(instruction)
    if freedom is Freedom.TERMS or freedom is Freedom.UPDATES:
        is_sum = binary_opcode(instruction.called_computations()[0]) in ("add", "multiply")
        return not (is_sum and is_real(instruction.shape))
    is_power = instruction.opcode == "power" and instruction.shape.dtype.is_complex
    return freedom.is_choice or freedom is Freedom.BACKWARD or is_power or tells_signs_of_nan(instruction)


#: how a sample computes an operation of each freedom
_WAYS: dict[Freedom, Callable[[RandomRounding, HloInstruction, Function], Function]] = {
    Freedom.EXACT: RandomRounding._exact, Freedom.READS: RandomRounding._reading,
    Freedom.NEAREST: RandomRounding._nearest, Freedom.IEEE: RandomRounding._computed,
    Freedom.ROUNDED: RandomRounding._computed, Freedom.EXPANDED: RandomRounding._computed,
    Freedom.SUMS: RandomRounding._added_up, Freedom.BACKWARD: RandomRounding._backward,
    Freedom.TERMS: RandomRounding._reduced, Freedom.DEVICES: RandomRounding._reduced,
    Freedom.WINDOWS: RandomRounding._reduced, Freedom.UPDATES: RandomRounding._scattered,
    Freedom.TIES: RandomRounding._sorted, Freedom.BITS: RandomRounding._recast,
    Freedom.LIBRARY: RandomRounding._called,
}
