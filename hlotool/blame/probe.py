"""One part of a module on both sides: the reference with all that tells rounding from a fault, and an executor.

A first look needs the reference's results only: what is equal, or a few last places apart, is right; what is far away
is worth a look inside before its verdict is asked for, as samples of a large part cost many times as much as the
reference.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.blame.cuts import Part
from hlotool.blame.reference_values import Rows
from hlotool.diagnostics import HloError
from hlotool.execution import Executor, Program, evaluate_program
from hlotool.ir import HloInstruction, dtype_of_numpy
from hlotool.numerics import BEYOND_DOUBT, Evidence, Judgement, Kind, judge, sample_program, shadow_program, ulp_of
from hlotool.process import work_time

Array: TypeAlias = Any

#: runs with random roundings for a first verdict, and where that leaves a doubt
_SAMPLES, _MORE_SAMPLES, _STRICT = 1, 12, 4
#: what is farther away than BEYOND_DOUBT says needs no more of them, and farther than so many ULPs: one sample may
#: stand on the reference by chance
_BEYOND_ULPS = 4096.0
#: last places of an array's largest element that are far; of types of fewer than 32 bits
_FAR_ULPS, _FAR_NARROW_ULPS = 64.0, 8.0
#: elements that are looked at before all are
_FEW = 4096


@dataclass
class Evidences:
    """What the reference, the shadow and samples say of one program; each is asked when somebody wants it."""

    program: Program
    arguments: Rows
    _reference: Rows | None = None
    _shadow: list[list[Array]] | None = None
    _samples: list[list[list[Array]]] = field(default_factory=list)
    _strict: list[list[list[Array]]] = field(default_factory=list)
    #: of the executor that is judged (hlotool.execution.executor)
    product_bits: int = 0

    @property
    def reference(self) -> Rows:
        """The results of the reference."""
        if self._reference is None:
            self._reference = evaluate_program(self.program, self.arguments)
        return self._reference

    def judge(self, device: int, result: int, given: Array) -> Judgement:
        """The verdict on one result; what is equal or nearly so needs no further run."""
        reference = self.reference[device][result]
        quick = judge(given, Evidence(reference))
        if quick.kind <= Kind.WITHIN or quick.problem:
            return quick
        first = self._evidence(device, result, _SAMPLES)
        found = judge(given, first)
        if not found.is_wrong or judge(given, first, factor=BEYOND_DOUBT, free_ulps=_BEYOND_ULPS).kind is Kind.WRONG:
            return found  # more samples can only widen the spread
        return judge(given, self._evidence(device, result, _MORE_SAMPLES))

    def _evidence(self, device: int, result: int, samples: int) -> Evidence:
        if self._shadow is None:
            self._shadow = shadow_program(self.program, self.arguments)
        while len(self._samples) < samples:
            # Samples of odd numbers flush subnormals: the first of all must, for what it shows no spread covers.
            self._samples.append(sample_program(self.program, self.arguments, len(self._samples) ^ 1,
                                                product_bits=self.product_bits))

        def strict() -> Iterator[Array]:
            for number in range(_STRICT):
                if number == len(self._strict):
                    self._strict.append(sample_program(self.program, self.arguments, number, strict=True,
                                                       product_bits=self.product_bits))
                yield self._strict[number][device][result]

        return Evidence(self.reference[device][result], self._shadow[device][result],
                        [s[device][result] for s in self._samples], strict)


class Look(enum.IntEnum):
    """What a first look at a result says."""

    #: equal, or a few last places apart
    SAME = 0
    #: apart by what roundings may well have done
    NEAR = 1
    #: by more than that, unless the program is ill-conditioned
    FAR = 2


def look_at(given: Array, reference: Array) -> Look:
    """How far a result is from the reference's, told by the two alone."""
    import numpy as np

    given, reference = np.asarray(given), np.asarray(reference)
    if given.dtype != reference.dtype or given.shape != reference.shape:
        return Look.FAR
    kind = dtype_of_numpy(reference.dtype)
    with np.errstate(all="ignore"):
        differs = given != reference
        if not (kind.is_floating or kind.is_complex):
            return Look.FAR if differs.any() else Look.SAME
        differs &= ~(np.isnan(given) & np.isnan(reference))
        if not differs.any():
            return Look.SAME
        sizes = np.abs(reference)
        largest = np.max(sizes, where=np.isfinite(sizes), initial=0.0)
    places = _FAR_NARROW_ULPS if kind.component.bits < 32 else _FAR_ULPS
    far = places * float(ulp_of(np.float64(largest), kind))
    given, reference = given[differs], reference[differs]
    # Of many elements some show already that a result is far away.
    step = -(-given.size // _FEW)
    if step > 1 and _look_at(given[::step], reference[::step], far) is Look.FAR:
        return Look.FAR
    return _look_at(given, reference, far)


def _look_at(given: Array, reference: Array, far: float) -> Look:
    """The same of elements that differ; what is farther away than `far` is so."""
    found = judge(given, Evidence(reference))
    if found.kind <= Kind.WITHIN:
        return Look.SAME
    return Look.FAR if found.kind is Kind.NON_FINITE or float(found.error.max()) > far else Look.NEAR


@dataclass
class Trial:
    """A part that is fed with the reference's values, and what an executor gives for it."""

    part: Part
    arguments: Rows
    reference: Rows
    #: empty where the executor could not run it
    given: Rows
    #: whether the executor had other parts beside it in the module
    is_shared: bool = False

    def looks(self) -> Iterator[tuple[int, int, Look]]:
        """Device, result, and what a first look at it says."""
        for device, (row, others) in enumerate(zip(self.given, self.reference, strict=False)):
            for result, (value, other) in enumerate(zip(row, others, strict=True)):
                yield device, result, look_at(value, other)

    @functools.cached_property
    def farthest(self) -> tuple[Look, int]:
        """The worst of all looks, and the first result that it is said of."""
        found = max(((look, -result) for _, result, look in self.looks()), default=(Look.SAME, 0))
        return found[0], -found[1]


@dataclass
class Wrong:
    """A result of a part that is wrong."""

    part: Part
    arguments: Rows
    device: int
    result: int
    judgement: Judgement

    @property
    def owner(self) -> HloInstruction:
        """The instruction whose value it is."""
        return self.part.owners()[self.result]


@dataclass
class Bench:
    """An executor that is held against the reference, and how much that took."""

    executor: Executor
    until: float
    runs: int = 0
    #: what could not run, and why
    refusals: list[HloError] = field(default_factory=list)

    @property
    def is_late(self) -> bool:
        """Whether time is over."""
        return work_time() > self.until

    def first_wrong(self, tried: Part, arguments: Rows, given: Rows | None = None,
                    reference: Rows | None = None) -> Wrong | None:
        """The first result of a part that the executor gets wrong; None: all are right, or it does not run.

        `given` are the executor's results and `reference` the reference's, where they are known already.
        """
        return next(self.judged(tried, arguments, given, reference, Kind.NON_FINITE), None)

    def judged(self, tried: Part, arguments: Rows, given: Rows | None = None, reference: Rows | None = None,
               least: Kind = Kind.NON_FINITE) -> Iterator[Wrong]:
        """The results of a part whose verdict is of a kind, or a worse one, as they are judged."""
        if given is None:
            given = self.run(tried.program, [arguments])[0] if tried.computed else []
        if len(arguments) != tried.program.devices:
            return  # cut from a manual region, which only the whole program splits over devices
        evidence = Evidences(tried.program, arguments, reference, product_bits=self.executor.product_bits)
        for device, row in enumerate(given or []):
            for result, value in enumerate(row):
                judgement = evidence.judge(device, result, value)
                if judgement.kind >= least:
                    yield Wrong(tried, arguments, device, result, judgement)

    def run(self, program: Program, argument_sets: Sequence[Rows]) -> list[list[list[Array]]]:
        """The executor's results; empty lists where it cannot run the program."""
        self.runs += 1
        try:
            return self.executor.run(program, argument_sets)
        except HloError as error:
            self.refusals.append(error)
            return [[] for _ in argument_sets]
