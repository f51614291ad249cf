"""Sets of arguments that show differences: the same for the same seed, ordinary ones first, then kind after kind.

    random     floats around 0, scaled so that networks stay finite at depth; valid indices; small integers
    positive   the same, all above 0
    negative   all below 0, where the program allows it
    special    zeros of both signs, ones, extremes, infinities, NaN, drawn for each parameter apart
    targets    values at which an operation of the program changes its behaviour, among plain ones
    near       of those the ones that are not large, so that networks stay finite
    wide       magnitudes over the whole range of the type, so that products overflow and underflow
    ties       few different values, so that keys are equal
    whole      floats that hold small whole numbers
    uniform    one number everywhere in a parameter: a special or a wished one
    alike      parameters of one shape hold the same values, or opposite ones, so that differences cancel and NaN, zeros
               and infinities meet their like
    bits       any bits that the type has: NaN of every payload, for narrow floats every number
    solved     what the sets before leave untried, carried back through a run (solved_arguments.py)
    rounds     loops run 13, 20, 50, 300, 1,000 times
    given      the user's own

What makes a program's plain results infinite or NaN is found in a trial run, and the parameters behind it are kept
positive, within the unit interval, or small.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution import OutOfTime, Program
from hlotool.ir import DType, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.numerics import is_nan, terms_of_product
from hlotool.ops import OPS, Elements, Finite, flow_of, flushed, from_bits, int_limits, limits, specials
from hlotool.passes.equality import ModuleChange
from hlotool.passes.verify import require_parts
from hlotool.process import work_time
from hlotool.verdict.boundary_arguments import Wishes, constants_of
from hlotool.verdict.run_observer import Watch, is_finite
from hlotool.verdict.solved_arguments import SolvedArguments

#: kinds of sets, in the order in which they are tried
KINDS = ("random", "special", "targets", "wide", "negative", "near", "alike", "positive", "ties", "whole")
#: after these, again and again with other numbers
_FURTHER = ("targets", "wide", "bits", "special", "uniform", "near", "alike", "mixed", "targets", "wide", "bits",
            "uniform", "ties", "mixed")
#: sets from one that is uniform to the next one, about
_UNIFORM_EVERY = len(_FURTHER) // _FURTHER.count("uniform")
#: what one parameter holds among plain ones, and what parameters share, turn by turn
_UNUSUAL = ("special", "targets", "wide", "near")
_ALIKE = ("wide", "special", "random", "targets", "special")
#: wished values up to here keep a network finite
_NEAR = 300.0
#: how often a loop may run in arguments made here
_MOST_ROUNDS = 12
#: sets after which the arguments of one that runs loops longer are put into another one; rounds of such
_EVERY, _FEW_ROUNDS = 4, 51
#: values that solving finds for a parameter leaf and that later sets use
_MOST_SOLVED = 32
_TRIALS = 8
#: seconds that such a run may take, and after which no other one begins
_TRIAL_SECONDS, _TRIALS_SECONDS = 10.0, 15.0
#: plain floats are not made smaller than by this factor
_LEAST_SCALE = 1e-3


@dataclass(frozen=True)
class ArgumentSet:
    """Arguments of every device, leaf by leaf; `name` says how they were made."""

    name: str
    values: list[list[Array]]


@dataclass
class _Leaf:
    """Facts about a parameter leaf."""

    shape: Shape
    wishes: tuple[float, ...] = ()
    #: numbers that a search found (solved_arguments.py)
    solved: tuple[float, ...] = ()
    #: the largest valid index, where the leaf serves as one
    bound: int | None = None
    is_count: bool = False
    is_sorted: bool = False
    is_unique: bool = False
    #: the only number that it may hold
    identity: Any = None
    #: factor on floats, and the product that positive ones sum up in
    scale: float = 1.0
    terms: float = 1.0
    domains: set[Finite] = field(default_factory=set)


class ArgumentSearch:
    """Makes sets of arguments for a program, or for two of one signature.

    `changes` are the instructions in which the two differ, where they are a few: what shows those is solved for first.
    Raises HloError for instructions that lack an operand or an attribute.
    """

    def __init__(self, programs: Sequence[Program], seed: int = 0, changes: Sequence[ModuleChange] = ()) -> None:
        for program in programs:
            require_parts(program.module)
        self.program, self.programs = programs[0], programs
        self.seed, self.changes = seed, changes
        self.leaves = [_Leaf(shape) for shape in self.program.parameters]
        self.constants = list(dict.fromkeys(c for p in programs for c in constants_of(p.module)))
        for program in programs:
            self._learn(Wishes(program))
        #: True if a program looks at the bits of numbers: the sign of NaN means nothing elsewhere, sorts aside
        self._reads_bits = any(flow_of(i).elements is Elements.RECAST for p in programs
                               for i in p.module.instructions())
        self._is_tried = False

    def _learn(self, wishes: Wishes) -> None:
        for number, (leaf, values) in enumerate(zip(self.leaves, wishes.values, strict=False)):
            leaf.wishes = tuple(dict.fromkeys((*leaf.wishes, *values)))
            if number in wishes.bounds:
                leaf.bound = min(wishes.bounds[number], leaf.bound if leaf.bound is not None else math.inf)  # type: ignore[assignment]
            leaf.is_count |= number in wishes.counts and number not in wishes.bounds
            leaf.is_sorted |= number in wishes.sorted
            leaf.is_unique |= number in wishes.unique
            leaf.identity = wishes.identities.get(number, leaf.identity)
        for instruction in wishes.module.instructions():
            if instruction.opcode in ("dot", "convolution"):
                self._scale(wishes, instruction)

    def _scale(self, wishes: Wishes, instruction: HloInstruction) -> None:
        """Weights are divided by the root of how many of them are summed up."""
        lhs, rhs = (o.shape for o in instruction.operands[:2])
        terms = terms_of_product(lhs, rhs, instruction.shape)
        for number in wishes.leaves_behind(instruction.operands[1]):
            leaf = self.leaves[number]
            if leaf.shape.is_array and leaf.shape.size == rhs.size:
                leaf.scale, leaf.terms = min(leaf.scale, 1 / math.sqrt(terms)), max(leaf.terms, terms)

    def sets(self, kinds: Sequence[str] | None = None) -> Iterator[ArgumentSet]:
        """Set after set; endless where no kinds are asked for and the program has parameters."""
        if not self.leaves:
            yield ArgumentSet("none", [[] for _ in range(self.program.devices)])
            return
        self._keep_finite()
        for number, kind in enumerate(kinds or KINDS):
            yield self.make(kind, number)
        if kinds is None:
            searches = [SolvedArguments(p, lambda number: self.make("random", number).values[0], self.changes)
                        for p in self.programs]
            longer = yield from self._solved(searches)
            every = 1 if any(search.is_long for search in searches) else _EVERY
            for number, kind in enumerate(itertools.cycle(_FURTHER), len(KINDS)):
                made = self.make(kind, number)
                if longer and number % every == 0:
                    for leaf, array in longer[number // every % len(longer)].items():
                        made.values[0][leaf] = array
                yield made

    def _solved(self, searches: Sequence[SolvedArguments]) -> Generator[ArgumentSet, None, list[dict[int, Array]]]:
        """Sets that are solved for; what those hold that make loops run a little longer, by leaf."""
        plain = self.make("random").values[0]
        seen = {_key(plain)}
        longer: list[dict[int, Array]] = []
        for search in searches:
            for count, made in search.rounds():
                if _key(made) not in seen:
                    seen.add(_key(made))
                    changed = {n: a for n, a in enumerate(made) if self.leaves[n].is_count or a.dtype.kind in "iu"}
                    longer += [changed] if count <= _FEW_ROUNDS else []
                    yield ArgumentSet("rounds", [made])
        for made in (m for search in searches for m in search.found()):
            if _key(made) not in seen:
                seen.add(_key(made))
                self._remember(made, plain)
                yield ArgumentSet("solved", [made])
        return longer

    def _remember(self, made: Sequence[Array], plain: Sequence[Array]) -> None:
        """Let later sets use the numbers that solving found."""
        for leaf, array, old in zip(self.leaves, made, plain, strict=True):
            kind = leaf.shape.dtype
            if kind.is_integral or kind.is_floating:
                numbers = array[(array != old) & ~is_nan(array)].astype(object if kind.is_integral else np.float64)
                new = [n for n in numbers[:4].tolist() if n not in leaf.wishes]
                leaf.solved = (*leaf.solved, *new)[-_MOST_SOLVED:]

    def make(self, kind: str, number: int = 0) -> ArgumentSet:
        """A set of one kind; `number` is its seed beside that of the search."""
        self._keep_finite()
        values = []
        for device in range(self.program.devices):
            generator = np.random.default_rng((self.seed, number, device))
            values.append(self._row(kind, number, generator))
        return ArgumentSet(kind, values)

    def _row(self, kind: str, number: int, generator: np.random.Generator) -> list[Array]:
        made = []
        # Another turn in each round of kinds, whatever place a kind has in it.
        turn = number + number // len(_FURTHER)
        chosen = int(generator.integers(0, max(1, len(self.leaves))))
        round_of_uniform = number // _UNIFORM_EVERY
        for place, leaf in enumerate(self.leaves):
            own = kind
            if kind == "mixed":  # one parameter out of the ordinary
                own = _UNUSUAL[turn % len(_UNUSUAL)] if place == chosen else "random"
            elif kind == "alike":
                own = _ALIKE[turn % len(_ALIKE)]
            turns = len(self.leaves)
            of_leaf = round_of_uniform // turns if round_of_uniform % turns == place else None
            made.append(self._leaf(leaf, own, generator, of_leaf))
        if kind == "alike":
            self._align(made, turn)
        return made

    def _align(self, made: list[Array], turn: int) -> None:
        """Leaves of one shape and type hold what the first one holds, every other time its negative."""
        first: dict[tuple[Any, ...], Array] = {}
        for place, array in enumerate(made):
            key = (array.dtype, array.shape)
            if key in first and self.leaves[place].bound is None and self.leaves[place].identity is None:
                opposite = turn % 2 == 0 and array.dtype.kind not in "bu"
                with np.errstate(over="ignore"):  # the least integer has no opposite
                    made[place] = (-first[key]).astype(array.dtype) if opposite else first[key].copy()
            first.setdefault(key, array)

    def _leaf(self, leaf: _Leaf, kind: str, generator: np.random.Generator, turn: int | None = None) -> Array:
        """Draw a leaf; a uniform one holds the known number whose `turn` it is, or any."""
        dtype = leaf.shape.dtype
        if leaf.identity is not None:
            return np.full(leaf.shape.dims, leaf.identity, dtype.numpy)
        if dtype.family == "pred":
            return generator.integers(0, 2, leaf.shape.dims).astype(np.bool_)
        if dtype.is_complex:
            made = np.empty(leaf.shape.dims, dtype.numpy)
            with np.errstate(all="ignore"):
                made.real, made.imag = (self._floats(leaf, kind, generator, turn) for _ in range(2))
            return made
        with np.errstate(all="ignore"):
            if dtype.is_floating:
                if kind == "bits" or (kind == "wide" and dtype.bits <= 8):
                    return flushed(_any_bits(leaf.shape.dims, dtype, generator, self._reads_bits), dtype)
                made = np.asarray(self._floats(leaf, kind, generator, turn)).astype(dtype.numpy)
                return _with_payloads(flushed(made, dtype), dtype, generator, self._reads_bits)
            return self._integers(leaf, kind, generator, turn)

    def _floats(self, leaf: _Leaf, kind: str, generator: np.random.Generator, turn: int | None) -> Array:
        dims, dtype = leaf.shape.dims, leaf.shape.dtype
        half = _half(dtype)
        plain = self._plain(leaf, kind, generator)
        if kind == "special":
            return _sprinkled(plain, np.array(specials(half)), generator)
        if kind == "uniform":
            known = [*specials(half), *(v for v in (*leaf.wishes, *leaf.solved, *self.constants) if math.isfinite(v))]
            return np.full(dims, _one_of(known, generator, turn))
        if kind in ("targets", "near"):
            wished = [v for v in (*leaf.wishes, *leaf.solved, *self.constants)
                      if math.isfinite(v) and (kind == "targets" or abs(v) <= _NEAR)]
            if kind == "targets":
                wished = wished or list(specials(half))
            return _sprinkled(plain, np.array(wished), generator, least=0.5) if wished else plain
        if kind == "wide":
            ends = limits(half)
            powers = generator.uniform(math.log2(ends[2]), math.log2(ends[0]), dims)
            return np.asarray(np.exp2(powers) * generator.choice([-1.0, 1.0], dims))
        if kind in ("ties", "whole") and not leaf.domains:
            few = generator.integers(-1, 3, dims) * leaf.scale if kind == "ties" else generator.integers(-4, 5, dims)
            return few.astype(np.float64)
        return plain

    def _plain(self, leaf: _Leaf, kind: str, generator: np.random.Generator) -> Array:
        dims = leaf.shape.dims
        drawn = generator.normal(size=dims)
        if Finite.DEFINITE in leaf.domains and len(dims) >= 2 and dims[-1] == dims[-2]:
            return drawn @ np.swapaxes(drawn, -1, -2) / dims[-1] + np.eye(dims[-1])
        if Finite.UNIT in leaf.domains:
            return np.tanh(drawn) * 0.95
        if kind == "positive" or Finite.POSITIVE in leaf.domains:
            return (np.abs(drawn) + 0.5) * (leaf.scale / math.sqrt(leaf.terms) if kind == "positive" else leaf.scale)
        if kind == "negative":
            return -(np.abs(drawn) + 0.5) * leaf.scale
        return drawn * leaf.scale

    def _integers(self, leaf: _Leaf, kind: str, generator: np.random.Generator, turn: int | None) -> Array:
        dims, dtype = leaf.shape.dims, leaf.shape.dtype
        low, high = int_limits(dtype)
        top = min(high, leaf.bound if leaf.bound is not None else 3)
        drawn = generator.integers(0, max(0, top) + 1, dims).astype(object if dtype.bits == 64 else np.int64)
        if kind == "special":
            drawn = _sprinkled(drawn, np.array(specials(dtype), drawn.dtype), generator)
        elif kind == "uniform" and leaf.bound is None:
            known = [*specials(dtype), *(v for v in (*leaf.wishes, *leaf.solved, *self.constants) if math.isfinite(v))]
            drawn = np.full(dims, int(_one_of(known, generator, turn)), object)
        elif kind in ("targets", "near"):
            wished = ([int(v) for v in (*leaf.wishes, *leaf.solved, *self.constants) if math.isfinite(v)]
                      or [int(v) for v in specials(dtype)])
            drawn = _sprinkled(drawn, np.array(wished, object), generator, least=0.5)
        elif kind == "bits" and leaf.bound is None:
            drawn = _any_bits(dims, dtype, generator).astype(object)
        elif kind == "wide":
            powers = generator.uniform(0, dtype.bits - dtype.is_signed, dims)
            sizes = np.exp2(powers).astype(np.float64)
            drawn = np.floor(sizes * (generator.choice([-1.0, 1.0], dims) if dtype.is_signed else 1.0))
        elif kind == "negative" and leaf.bound is None and dtype.is_signed:
            drawn = np.asarray(-1 - drawn, drawn.dtype)  # of an array of one object NumPy makes the object
        elif kind == "whole" and leaf.bound is None:
            drawn = generator.integers(-4 * dtype.is_signed, 9, dims)
        if leaf.is_count:
            low, high = max(low, -2), min(high, _MOST_ROUNDS)
        return self._settled(leaf, _clipped(drawn, low, high).astype(dtype.numpy))

    def _settled(self, leaf: _Leaf, array: Array) -> Array:
        """Numbers in the order that the program relies on."""
        if leaf.is_unique and array.size:
            return np.arange(array.size, dtype=np.int64).reshape(array.shape).astype(array.dtype)
        return np.sort(array, axis=None).reshape(array.shape) if leaf.is_sorted else array

    def _keep_finite(self) -> None:
        """Run the program on plain arguments, and mend the leaves behind what makes them infinite or NaN."""
        if self._is_tried:
            return
        self._is_tried = True
        wishes = Wishes(self.program)
        until = work_time() + _TRIALS_SECONDS
        for trial in range(_TRIALS):
            if work_time() > until:
                return
            watch = Watch(is_after_origins=True, until=work_time() + _TRIAL_SECONDS)
            try:
                results = watch.run(self.program, self.make("random", trial).values)
            except (OutOfTime, HloError):
                return
            if all(map(is_finite, itertools.chain(*results))) or not watch.origins:
                return
            self._mend(wishes, watch.origins, 1 << trial)

    def _mend(self, wishes: Wishes, origins: Sequence[HloInstruction], most: int) -> None:
        """Keep leaves behind those instructions to what they have values for: of each, `most` that are not yet kept.

        The nearest leaves are first: of sqrt(0.9 * v + 0.1 * g * g), where g is a gradient, v alone has to be positive,
        and not all weights of the network.
        """
        behind: dict[int, set[Finite]] = {}
        for origin in dict.fromkeys(origins):
            domain = OPS[origin.opcode].curve.domain
            operands = origin.operands[1:] if origin.opcode in ("divide", "remainder") else origin.operands
            floats = [n for o in operands for n in wishes.leaves_behind(o) if self.leaves[n].shape.is_array
                      and not self.leaves[n].shape.dtype.is_integral]
            open_ = [n for n in dict.fromkeys(floats) if not {domain} <= self.leaves[n].domains | {Finite.ALL}]
            for number in open_[:most] or floats:
                behind.setdefault(number, set()).add(domain)
        # Where nothing leads back to a parameter, smaller numbers may do.
        for number in behind or range(len(self.leaves)):
            leaf, domains = self.leaves[number], behind.get(number, {Finite.ALL})
            if domains <= leaf.domains | {Finite.ALL}:
                leaf.scale = max(leaf.scale * 0.25, _LEAST_SCALE)
            leaf.domains |= domains - {Finite.ALL}


def _any_bits(dims: Sequence[int], dtype: DType, generator: np.random.Generator, has_signs: bool = True) -> Array:
    """Elements of random bits; of wide floats every fifth one is NaN, which would be rare."""
    bits = generator.integers(0, 1 << dtype.bits, tuple(dims), np.uint64, endpoint=False) if dtype.bits < 64 else (
        generator.integers(0, (1 << 64) - 1, tuple(dims), np.uint64, endpoint=True))
    made = from_bits(bits, dtype.numpy)
    if not dtype.is_floating or dtype.bits < 16:
        return made
    return np.where(generator.random(tuple(dims)) < 0.2, _nans(dims, dtype, generator, has_signs),
                    np.where(is_nan(made), np.abs(made), made) if not has_signs else made)


def _nans(dims: Sequence[int], dtype: DType, generator: np.random.Generator, has_signs: bool) -> Array:
    """NaN: the usual one, signalling ones, the one whose bits are all set, any others; `has_signs`: of both signs."""
    mantissa, sign = dtype.mantissa_bits, np.uint64(1 << (dtype.bits - 1))
    exponent = ((1 << dtype.exponent_bits) - 1) << mantissa
    full, quiet = (1 << mantissa) - 1, 1 << (mantissa - 1)
    payloads = np.array([quiet, full, 1, quiet - 1, quiet | 1, full - 1, full >> 1], np.uint64)
    chosen = payloads[generator.integers(0, len(payloads), tuple(dims))]
    drawn = generator.integers(1, full, tuple(dims), np.uint64, endpoint=True)
    bits = np.where(generator.random(tuple(dims)) < 0.75, chosen, drawn) | np.uint64(exponent)
    return from_bits(np.where(has_signs & (generator.random(tuple(dims)) < 0.5), bits | sign, bits), dtype.numpy)


def _with_payloads(array: Array, dtype: DType, generator: np.random.Generator, has_signs: bool) -> Array:
    """NaN among the numbers with other payloads."""
    missing = is_nan(array)
    if dtype.bits < 16 or not missing.any():
        return array
    return np.where(missing, _nans(array.shape, dtype, generator, has_signs), array)


def _key(arguments: Sequence[Array]) -> bytes:
    return b"".join(a.tobytes() for a in arguments)


def _half(dtype: Any) -> Any:
    """The floats that an element is made of."""
    return dtype.component


def _sprinkled(plain: Array, values: Array, generator: np.random.Generator, least: float = 0.0) -> Array:
    """Some elements replaced by values: most of a small array, a few of a large one."""
    share = min(0.6, 8 / max(1, plain.size)) if plain.size > 1 else 0.8
    share = max(share, least if plain.size <= 64 else 0.0)
    here = generator.random(plain.shape) < share
    chosen = np.asarray(values[generator.integers(0, len(values), plain.shape)], values.dtype)
    return np.where(here, chosen, np.asarray(plain, values.dtype))


def _one_of(known: Sequence[float], generator: np.random.Generator, turn: int | None) -> float:
    return known[turn % len(known) if turn is not None else int(generator.integers(0, len(known)))]


def _clipped(drawn: Array, low: int, high: int) -> Array:
    if drawn.dtype == object or high > 2**52:
        bounded: Callable[[Any], int] = lambda v: min(max(int(v), low), high)  # noqa: E731
        return np.asarray(np.frompyfunc(bounded, 1, 1)(np.asarray(drawn, object)), object)
    return np.clip(drawn, low, high)
