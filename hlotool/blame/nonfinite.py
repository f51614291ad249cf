"""The instruction that makes the NaN, or the infinity, that reaches a result.

The reference runs once and is watched: an instruction *makes* NaN where its value is NaN though what it was given is
not. That a NaN reaches a result is not read off the graph but tried: the program runs again, and what every other
instruction makes is replaced by 1, so that whatever NaN the results still hold comes from this one. A NaN that a select
drops, or that is multiplied away by nothing, is told from one that matters that way. Where a NaN came from an infinity
(inf - inf, 0 * inf) the same trial names the instruction that overflowed.

Every device is watched. What a collective hands on from another device is explained by the operand that holds it there.

Reducers and comparators of one instruction are named by the operation that applies them; the inner instruction stands
beside it. Infinities in arguments and constants are meant (masks, the start of a maximum), so they are named last.

A constant NaN that a program chooses where a call of a library reports a failure is that call's: JAX gives NaN where
LAPACK finds a matrix not to be positive definite.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from hlotool.blame.places import InstructionPlace, require_partitioned
from hlotool.blame.reasons import Reason, reason
from hlotool.blame.reference_run import FOLDS, Site, site_of
from hlotool.blame.reference_values import ReferenceValues
from hlotool.execution import Moment, Path, Program, evaluate_program
from hlotool.ir import HloInstruction, dtype_of_numpy, post_order
from hlotool.ir.arrays import Array, np
from hlotool.ops import Effect, called_routine, flow_of, limits, source_of
from hlotool.process import work_time
from hlotool.verdict import is_finite

Kind = Literal["nan", "infinity"]
#: the iterations of the instructions that call one; later moments of a site have larger ones
Iterations: TypeAlias = tuple[int, ...]

#: origins of one kind that are tried
_TRIED = 12
#: moments of one origin that are told apart
_MOST_MOMENTS = 4096


@dataclass
class Maker:
    """An instruction that makes values that are not finite, at the first moment where it does."""

    kind: Kind
    place: InstructionPlace
    reason: Reason
    #: what it was given and what it made
    operands: tuple[Any, ...]
    value: Any
    #: moments at which it does, and the iterations of the first ones on its device
    times: int = 1
    moments: list[Iterations] = field(default_factory=list)
    #: how many moments of these no result shows, before this one
    dropped: int = 0
    #: the instruction of its reducer that does it
    inner: HloInstruction | None = None
    #: True if a result is not finite because of it; None: not tried, the time was up
    reaches: bool | None = None
    #: the instruction whose infinity it turned into NaN
    cause: Maker | None = None
    #: the first device on which it does
    device: int = 0

    @property
    def is_given(self) -> bool:
        """Return True if the module or the arguments hold the value as it is."""
        return self.place.instruction.opcode in ("parameter", "constant")


@dataclass
class NonFinite:
    """Findings about one run: `makers` with those first that reach a result."""

    program: Program
    #: of every device, one after the other
    results: list[Array]
    makers: list[Maker] = field(default_factory=list)

    @property
    def verdict(self) -> Literal["nan", "infinity", "finite"]:
        """nan or infinity, where a result holds one; finite."""
        return "nan" if any(_marks(r, "nan").any() for r in self.results) else \
            "infinity" if any(_marks(r, "infinity").any() for r in self.results) else "finite"

    @property
    def guilty(self) -> list[Maker]:
        """The makers that reach a result, NaN before infinities, what is computed before what is given."""
        return [m for m in self.makers if m.reaches is not False and m.kind == self.verdict]

    @property
    def masked(self) -> list[Maker]:
        """The makers of NaN that no result shows."""
        return [m for m in self.makers if m.kind == "nan" and m.reaches is False and not m.is_given]


def find_nonfinite(program: Program, arguments: Sequence[Sequence[Array]], seconds: float = 60.0,
                   values: ReferenceValues | None = None) -> NonFinite:
    """Where NaN and infinities come from. Raises HloError where the reference cannot run.

    After `seconds` no further trial begins; what is not tried yet is listed all the same. `values` keeps what the
    reference's run gives, for who asks further.
    """
    until = work_time() + seconds
    watches: dict[Kind, _Watch] = {"nan": _Watch(program, "nan"), "infinity": _Watch(program, "infinity")}

    failures: dict[Site, tuple[Moment, str]] = {}

    def watch(moment: Moment) -> Any:
        for one in watches.values():
            one(moment)
        if said := _refusal(moment):
            failures.setdefault(site_of(moment.path, moment.instruction), (moment, said))
        return moment.value

    if program.manual_region is not None:
        found = NonFinite(program, _all(evaluate_program(program, arguments)))
        if found.verdict != "finite":
            require_partitioned(program)
        return found
    results = evaluate_program(program, arguments, watch) if values is None else values.run(watch)
    found = NonFinite(program, _all(results))
    trial = _Trial(program, arguments, until)
    for kind, one in watches.items():
        makers = sorted(one.merged().items(), key=lambda item: item[1].is_given)
        if kind == found.verdict:
            trial.all(kind, makers)
        elif kind == "nan":
            for _, maker in makers:
                maker.reaches = False
        found.makers += [m for _, m in sorted(makers, key=lambda item: item[1].reaches is False)
                         if m.reaches or not m.is_given]
    found.makers = [_of_library(m, failures.values()) for m in found.makers]
    first = next(iter(found.guilty), None)
    found.makers = [trial.occurrence(m) if m is first else m for m in found.makers]
    for maker in found.guilty[:1]:
        if maker.kind == "nan":
            maker.cause = trial.cause(maker, list(watches["infinity"].merged().items()))
    return found


def _refusal(moment: Moment) -> str:
    """Return why a call of LAPACK found nothing, by its status; empty: it did, or it is no such call."""
    routine = called_routine(moment.instruction)
    return routine.refusal(moment.value) if routine is not None and isinstance(moment.value, tuple) else ""


def _of_library(maker: Maker, failures: Iterable[tuple[Moment, str]]) -> Maker:
    """Return the failed call of a library that a constant NaN stands for, as what makes the NaN; else itself."""
    constant = maker.place.instruction
    if constant.opcode != "constant" or maker.kind != "nan":
        return maker
    for moment, said in failures:
        if (moment.device == maker.device and site_of(moment.path, constant) == site_of(maker.place.path, constant)
                and _chooses(moment.instruction, constant, maker.place)):
            why = Reason(f"LAPACK says: {said}; {constant.name} gives NaN for it", (), maker.reason.value)
            return replace(maker, place=InstructionPlace(maker.place.module, moment.instruction, moment.path),
                           reason=why, operands=tuple(moment.operands), value=moment.value)
    return maker


def _chooses(call: HloInstruction, constant: HloInstruction, place: InstructionPlace) -> bool:
    """Return True if a select takes a constant or something else by what a call gives."""
    computation = place.path[-1].computation if place.path else place.module.entry
    behind = {call}
    for instruction in post_order(computation):
        if not behind.isdisjoint(instruction.operands):
            behind.add(instruction)
            if instruction.opcode == "select" and instruction.operands[0] in behind and any(
                    source_of(o, lambda flow: flow.keeps_numbers) is constant for o in instruction.operands[1:]):
                return True
    return False


def _all(results: Sequence[Sequence[Array]]) -> list[Array]:
    return [leaf for row in results for leaf in row]


class _Watch:
    """Collects makers of one kind, device by device; replaces what those at sites that `replaces` accepts make by 1,
    or, where it `saturates`, infinities by the largest number of their sign."""

    def __init__(self, program: Program, kind: Kind, replaces: Callable[[Site, Iterations], bool] | None = None,
                 saturates: bool = False, since: Iterations = ()) -> None:
        self.program, self.kind, self.replaces, self.saturates = program, kind, replaces, saturates
        #: moments before these iterations are not noted
        self.since = since
        #: by device; each is a thread of its own
        self._makers: list[dict[Site, Maker]] = [{} for _ in range(program.devices)]
        #: inner instructions of folds that are still at work, by the fold's site; by device
        self._inner: list[dict[Site, tuple[Moment, int, Array]]] = [{} for _ in range(program.devices)]
        #: what holds such a value, on any device: where it stands, and in which iterations
        self._holding: set[tuple[Site, Iterations]] = set()
        self._has_others = program.devices > 1

    def merged(self) -> dict[Site, Maker]:
        """The makers of all devices, those of the first device first; of those on several, all times are counted."""
        found: dict[Site, Maker] = {}
        for makers in self._makers:
            for site, maker in makers.items():
                known = found.get(site)
                found[site] = maker if known is None else replace(known, times=known.times + maker.times)
        return found

    def __call__(self, moment: Moment) -> Any:
        if not self._inner[moment.device] and is_finite(moment.value):
            return moment.value
        value = self._seen(moment)
        if self._has_others and any(_marks(leaf, self.kind).any() for leaf in _leaves(value)):
            self._holding.add(_time_of(moment.path, moment.instruction))
        return value

    def _seen(self, moment: Moment) -> Any:
        """The value to go on with; what the instruction makes is noted."""
        opcode, inners = moment.instruction.opcode, self._inner[moment.device]
        if moment.instruction.called_computations() and opcode not in FOLDS:
            return moment.value  # what it calls is watched
        if opcode == "parameter" and moment.path:
            return moment.value
        made = self._made_by_collective(moment) if _is_exchange(moment.instruction) else _made(moment, self.kind)
        site = site_of(moment.path, moment.instruction)
        inner = inners.pop(site, None)
        if made is None:
            return moment.value
        fold = _fold_around(moment.path)
        if fold is not None:
            inners.setdefault(site_of(moment.path[:fold], moment.path[fold].caller), (moment, *made))
            return moment.value
        blamed, number, marks = (moment, *made)
        if inner is not None and not _is_simple(inner[0].path[-1].computation.instructions):
            blamed, number, marks = inner
        site, iterations = _time_of(blamed.path, blamed.instruction)
        if iterations >= self.since:
            self._note(site, iterations, blamed, number, marks, inner)
        if self.replaces is None or not self.replaces(site, iterations):
            return moment.value
        return _replaced(moment.value, self.kind, made[1] if blamed is moment else None, self.saturates)

    def _made_by_collective(self, moment: Moment) -> tuple[int, Array] | None:
        """Return what a collective makes though no device gave such a value; one device cannot do it a second time."""
        if any(_time_of(moment.path, o) in self._holding for o in moment.instruction.operands) or any(
                _marks(leaf, self.kind).any() for o in moment.operands for leaf in _leaves(o)):
            return None
        bad = [_marks(leaf, self.kind) for leaf in _leaves(moment.value)]
        return next(((n, b) for n, b in enumerate(bad) if b.any()), None)

    def _note(self, site: Site, iterations: Iterations, moment: Moment, number: int, marks: Array,
              inner: tuple[Moment, int, Array] | None) -> None:
        makers = self._makers[moment.device]
        known = makers.get(site)
        if known is not None:
            known.times += 1
            if len(known.moments) < _MOST_MOMENTS:
                known.moments.append(iterations)
            return
        array = _leaves(moment.value)[number]
        makers[site] = Maker(
            self.kind, InstructionPlace(self.program.module, moment.instruction, moment.path),
            reason(moment.instruction, moment.operands, array, marks), tuple(moment.operands), moment.value,
            inner=inner[0].instruction if inner is not None and inner[0].instruction is not moment.instruction
            else None, device=moment.device, moments=[iterations])


@dataclass
class _Trial:
    """Runs the program again with some of what is not finite replaced."""

    program: Program
    arguments: Sequence[Sequence[Array]]
    until: float

    def all(self, kind: Kind, makers: Sequence[tuple[Site, Maker]]) -> None:
        """Say of each maker whether it reaches a result."""
        for site, maker in makers[:_TRIED]:
            maker.reaches = self.reaches(kind, site, makers)
        if all(m.reaches is False for _, m in makers):
            # None is enough alone, as where one matters only after another: then any of them may be guilty.
            for _, maker in makers:
                maker.reaches = None

    def reaches(self, kind: Kind, site: Site, makers: Sequence[tuple[Site, Maker]]) -> bool | None:
        """Return True if the results keep their kind when nothing but this site makes such values."""
        if len(makers) == 1:
            return True
        if work_time() > self.until:
            return None
        return self._stays(kind, lambda other, _: other != site)

    def _stays(self, kind: Kind, replaces: Callable[[Site, Iterations], bool]) -> bool:
        """Return True if a result keeps its kind where what is not finite is replaced at some sites."""
        watch = _Watch(self.program, kind, replaces)
        results = _all(evaluate_program(self.program, self.arguments, watch))
        return any(bool(_marks(r, kind).any()) for r in results)

    def occurrence(self, maker: Maker) -> Maker:
        """Return a maker at its first moment without which no result shows what it made before; itself if unknown."""
        site = site_of(maker.place.path, maker.place.instruction)
        if maker.reaches is not True or len(maker.moments) < 2:
            return maker

        def stays_until(number: int) -> bool:
            last = maker.moments[number]
            return self._stays(maker.kind, lambda other, time: other != site or time > last)

        if stays_until(0):
            return maker
        low, high = 0, len(maker.moments) - 1
        if maker.times > len(maker.moments) and not stays_until(high):
            return maker
        while high - low > 1 and work_time() < self.until:
            middle = (low + high) // 2
            low, high = (low, middle) if stays_until(middle) else (middle, high)
        if high - low > 1:
            return maker
        look = _Watch(self.program, maker.kind, since=maker.moments[high])
        evaluate_program(self.program, self.arguments, look)
        found = look.merged().get(site)
        return maker if found is None else replace(found, times=maker.times, reaches=True, dropped=high)

    def cause(self, maker: Maker, infinities: Sequence[tuple[Site, Maker]]) -> Maker | None:
        """The maker of an infinity without which this one makes no NaN."""
        if not any(_marks(leaf, "infinity").any() for o in maker.operands for leaf in _leaves(o)):
            return None
        wanted = site_of(maker.place.path, maker.place.instruction)
        tried = [(site, other) for site, other in infinities if not other.is_given and site != wanted][:_TRIED]
        # What overflows again on 1, as loops may, does not on the largest number, and the other way round.
        for saturates, (site, candidate) in itertools.product((False, True), tried):
            if work_time() > self.until:
                return None
            replace_ = _Watch(self.program, "infinity", partial(_is_at, site), saturates)
            look = _Watch(self.program, "nan")
            evaluate_program(self.program, self.arguments, _both(replace_, look))
            still = look.merged().get(wanted)
            if still is None or still.times < maker.times:
                return candidate
        return None


def _is_at(site: Site, other: Site, iterations: Iterations) -> bool:
    return site == other


def _both(first: Callable[[Moment], Any], second: Callable[[Moment], Any]) -> Callable[[Moment], Any]:
    def watch(moment: Moment) -> Any:
        value = first(moment)
        second(Moment(moment.device, moment.path, moment.instruction, moment.operands, value, moment.again))
        return value

    return watch


def _is_exchange(instruction: HloInstruction) -> bool:
    return bool(flow_of(instruction).effect & (Effect.HOST | Effect.EXCHANGE | Effect.DEVICE))


def _time_of(path: Path, instruction: HloInstruction) -> tuple[Site, Iterations]:
    return site_of(path, instruction), tuple(call.iteration for call in path)


def _fold_around(path: Path) -> int | None:
    """Where in the path the outermost fold stands whose computation is at work."""
    return next((n for n, call in enumerate(path) if call.caller.opcode in FOLDS), None)


def _is_simple(instructions: Sequence[HloInstruction]) -> bool:
    """Return True if a reducer is one operation on its parameters: then the operation that applies it says it all."""
    return sum(i.opcode not in ("parameter", "tuple", "get-tuple-element") for i in instructions) <= 1


def _leaves(value: Any) -> list[Any]:
    """The arrays of a value."""
    if isinstance(value, tuple):
        return [leaf for member in value for leaf in _leaves(member)]
    return [value] if hasattr(value, "dtype") else []


def _marks(array: Array, kind: Kind) -> Array:
    """Where an array is NaN, or infinite."""
    array = np.asarray(array)
    dtype = dtype_of_numpy(array.dtype)
    if not (dtype.is_floating or dtype.is_complex):
        return np.zeros((), np.bool_)
    with np.errstate(all="ignore"):
        found: Array = np.isnan(array) if kind == "nan" else np.isinf(array)
        return found


def _made(moment: Moment, kind: Kind) -> tuple[int, Array] | None:
    """The first array of a value that holds what the operands do not explain, and where; None: there is none."""
    leaves = _leaves(moment.value)
    bad = [_marks(leaf, kind) for leaf in leaves]
    if not any(b.any() for b in bad):
        return None
    given = [_marks(leaf, kind) for o in moment.operands for leaf in _leaves(o)]
    if any(g.any() for g in given):
        if moment.instruction.opcode in ("tuple", "get-tuple-element", "optimization-barrier"):
            return None
        again = moment.again(*(_replaced(o, kind) for o in moment.operands))
        bad = [b & _marks(leaf, kind) for b, leaf in zip(bad, _leaves(again), strict=True)]
    return next(((n, b) for n, b in enumerate(bad) if b.any()), None)


def _replaced(value: Any, kind: Kind, marks: Array | None = None, saturates: bool = False) -> Any:
    """A value with 1 for what is not finite, or for the elements of an array that `marks` tells.

    Where it `saturates`, with the largest number of the sign instead, of real arrays.
    """
    if isinstance(value, tuple):
        return tuple(_replaced(member, kind, None, saturates) for member in value)
    if not hasattr(value, "dtype"):
        return value
    marks = _marks(value, kind) if marks is None else marks
    if not marks.any():
        return value
    dtype = dtype_of_numpy(np.asarray(value).dtype)
    if saturates and dtype.is_floating:
        most = np.asarray(float(limits(dtype)[0]), value.dtype)
        return np.where(marks, np.where(value < 0, -most, most), value)
    return np.where(marks, np.ones((), value.dtype), value)
