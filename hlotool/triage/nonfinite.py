"""Which instruction makes the NaN, or the infinity, that reaches a result.

The reference runs once and is watched: an instruction *makes* NaN where its value is NaN though what it was given is
not. That a NaN reaches a result is not read off the graph but tried: the program runs again, and what every other
instruction makes is replaced by 1, so that whatever NaN the results still hold comes from this one. A NaN that a select
drops, or that is multiplied away by nothing, is told from one that matters that way. Where a NaN came from an infinity
(inf - inf, 0 * inf) the same trial names the instruction that overflowed.

Reducers and comparators of one instruction are named by the operation that applies them; the inner instruction stands
beside it. Infinities in arguments and constants are meant (masks, the start of a maximum), so they are named last.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias

from hlotool.execution import Moment, Path, Program, evaluate_program
from hlotool.ir import HloInstruction, dtype_of_numpy
from hlotool.triage.places import Place, require_partitioned
from hlotool.triage.reasons import Reason, reason
from hlotool.triage.reference_values import ReferenceValues

Array: TypeAlias = Any
Kind = Literal["nan", "infinity"]
#: an instruction and the instructions that call it, whatever the iteration
Site: TypeAlias = tuple[HloInstruction, ...]

#: operations that apply a computation of scalars to pairs of elements; all others hand whole values to what they call
FOLDS = frozenset(("reduce", "reduce-window", "select-and-scatter", "scatter", "sort", "all-reduce", "all-reduce-start",
                   "reduce-scatter"))
#: origins of one kind that are tried
_TRIED = 12


@dataclass
class Maker:
    """An instruction that makes values that are not finite, at the first moment where it does."""

    kind: Kind
    place: Place
    reason: Reason
    #: what it was given and what it made
    operands: tuple[Any, ...]
    value: Any
    #: moments at which it does
    times: int = 1
    #: the instruction of its reducer that does it
    inner: HloInstruction | None = None
    #: whether a result is not finite because of it; None: not tried, the time was up
    reaches: bool | None = None
    #: the instruction whose infinity it turned into NaN
    cause: Maker | None = None

    @property
    def is_given(self) -> bool:
        """Whether it stands in the module or in the arguments as it is."""
        return self.place.instruction.opcode in ("parameter", "constant")


@dataclass
class NonFinite:
    """What was found about one run: `makers` with those first that reach a result."""

    program: Program
    results: list[Array]
    makers: list[Maker] = field(default_factory=list)

    @property
    def verdict(self) -> str:
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
    """Where NaN and infinities of the first device come from. Raises HloError where the reference cannot run.

    After `seconds` no further trial begins; what is not tried yet is listed all the same. `values` keeps what the
    reference's run gives, for who asks further.
    """
    until = time.monotonic() + seconds
    watches: dict[Kind, _Watch] = {"nan": _Watch(program, "nan"), "infinity": _Watch(program, "infinity")}

    def watch(moment: Moment) -> Any:
        for one in watches.values():
            one(moment)
        return moment.value

    if program.manual_region is not None:
        found = NonFinite(program, evaluate_program(program, arguments)[0])
        if found.verdict != "finite":
            require_partitioned(program)
        return found
    results = evaluate_program(program, arguments, watch) if values is None else values.run(watch)
    found = NonFinite(program, results[0])
    trial = _Trial(program, arguments, until)
    for kind, one in watches.items():
        makers = sorted(one.makers.items(), key=lambda item: item[1].is_given)
        if kind == found.verdict:
            trial.all(kind, makers)
        elif kind == "nan":
            for _, maker in makers:
                maker.reaches = False
        found.makers += [m for _, m in sorted(makers, key=lambda item: item[1].reaches is False)
                         if m.reaches or not m.is_given]
    for maker in found.guilty[:1]:
        if maker.kind == "nan":
            maker.cause = trial.cause(maker, list(watches["infinity"].makers.items()))
    return found


class _Watch:
    """Collects makers of one kind; replaces what those at sites that `replaces` accepts make by 1."""

    def __init__(self, program: Program, kind: Kind, replaces: Callable[[Site], bool] | None = None) -> None:
        self.program, self.kind, self.replaces = program, kind, replaces
        self.makers: dict[Site, Maker] = {}
        #: inner instructions of folds that are still at work, by the fold's site
        self._inner: dict[Site, tuple[Moment, int, Array]] = {}

    def __call__(self, moment: Moment) -> Any:
        opcode = moment.instruction.opcode
        if moment.device or (not self._inner and _is_finite(moment.value)):
            return moment.value  # the others do the same, on other data
        if moment.instruction.called_computations() and opcode not in FOLDS:
            return moment.value  # what it calls is watched
        if opcode == "parameter" and moment.path:
            return moment.value
        made = _made(moment, self.kind)
        site = _site(moment.path, moment.instruction)
        inner = self._inner.pop(site, None)
        if made is None:
            return moment.value
        fold = _fold_around(moment.path)
        if fold is not None:
            self._inner.setdefault(_site(moment.path[:fold], moment.path[fold].caller), (moment, *made))
            return moment.value
        blamed, number, marks = (moment, *made)
        if inner is not None and not _is_simple(inner[0].path[-1].computation.instructions):
            blamed, number, marks = inner
        self._note(_site(blamed.path, blamed.instruction), blamed, number, marks, inner)
        if self.replaces is None or not self.replaces(_site(blamed.path, blamed.instruction)):
            return moment.value
        return _replaced(moment.value, self.kind, made[1] if blamed is moment else None)

    def _note(self, site: Site, moment: Moment, number: int, marks: Array,
              inner: tuple[Moment, int, Array] | None) -> None:
        known = self.makers.get(site)
        if known is not None:
            known.times += 1
            return
        array = _leaves(moment.value)[number]
        self.makers[site] = Maker(
            self.kind, Place(self.program.module, moment.instruction, moment.path),
            reason(moment.instruction, moment.operands, array, marks), tuple(moment.operands), moment.value,
            inner=inner[0].instruction if inner is not None and inner[0].instruction is not moment.instruction
            else None)


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
        """Whether the results stay as they are in kind when nothing but this site makes such values."""
        if len(makers) == 1:
            return True
        if time.monotonic() > self.until:
            return None
        watch = _Watch(self.program, kind, lambda other: other != site)
        results = evaluate_program(self.program, self.arguments, watch)[0]
        return any(bool(_marks(r, kind).any()) for r in results)

    def cause(self, maker: Maker, infinities: Sequence[tuple[Site, Maker]]) -> Maker | None:
        """The maker of an infinity without which this one makes no NaN."""
        if not any(_marks(leaf, "infinity").any() for o in maker.operands for leaf in _leaves(o)):
            return None
        wanted = _site(maker.place.path, maker.place.instruction)
        for site, candidate in sorted(infinities, key=lambda item: item[1].is_given)[:_TRIED]:
            if candidate.is_given or time.monotonic() > self.until:
                return None
            if site == wanted:
                continue
            replace = _Watch(self.program, "infinity", partial(operator.eq, site))
            look = _Watch(self.program, "nan")
            evaluate_program(self.program, self.arguments, _both(replace, look))
            if wanted not in look.makers or look.makers[wanted].times < maker.times:
                return candidate
        return None


def _both(first: Callable[[Moment], Any], second: Callable[[Moment], Any]) -> Callable[[Moment], Any]:
    def watch(moment: Moment) -> Any:
        value = first(moment)
        second(Moment(moment.device, moment.path, moment.instruction, moment.operands, value, moment.again))
        return value

    return watch


def _site(path: Path, instruction: HloInstruction) -> Site:
    return (*(call.caller for call in path), instruction)


def _fold_around(path: Path) -> int | None:
    """Where in the path the outermost fold stands whose computation is at work."""
    return next((n for n, call in enumerate(path) if call.caller.opcode in FOLDS), None)


def _is_simple(instructions: Sequence[HloInstruction]) -> bool:
    """Whether a reducer is one operation on its parameters: then the operation that applies it says it all."""
    return sum(i.opcode not in ("parameter", "tuple", "get-tuple-element") for i in instructions) <= 1


def _leaves(value: Any) -> list[Any]:
    """The arrays of a value."""
    if isinstance(value, tuple):
        return [leaf for member in value for leaf in _leaves(member)]
    return [value] if hasattr(value, "dtype") else []


def _is_finite(value: Any) -> bool:
    """Whether a value is seen at once to hold neither NaN nor an infinity."""
    import numpy as np

    if isinstance(value, tuple) or not hasattr(value, "dtype"):
        return False
    kind = value.dtype.kind
    return kind in "biu" or (kind in "fc" and bool(np.isfinite(value).all()))


def _marks(array: Array, kind: Kind) -> Array:
    """Where an array is NaN, or infinite."""
    import numpy as np

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


def _replaced(value: Any, kind: Kind, marks: Array | None = None) -> Any:
    """A value with 1 for what is not finite, or for the elements of an array that `marks` tells."""
    import numpy as np

    if isinstance(value, tuple):
        return tuple(_replaced(member, kind) for member in value)
    if not hasattr(value, "dtype"):
        return value
    marks = _marks(value, kind) if marks is None else marks
    return np.where(marks, np.ones((), np.asarray(value).dtype), value) if marks.any() else value
