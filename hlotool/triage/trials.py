"""One part of a module on both sides: the reference with all that tells rounding from a fault, and an executor."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.diagnostics import HloError
from hlotool.execution import (
    Executor,
    Moment,
    Program,
    evaluate_program,
    flat,
    sample_program,
    shadow_program,
)
from hlotool.ir import HloInstruction
from hlotool.triage.cuts import Part
from hlotool.verdict import BEYOND_DOUBT, Evidence, Judgement, Kind, judge

Array: TypeAlias = Any
#: arguments or results of every device, leaf by leaf
Rows: TypeAlias = Sequence[Sequence[Array]]

#: runs with random roundings for a first verdict, and where that leaves a doubt
_SAMPLES, _MORE_SAMPLES, _STRICT = 1, 12, 4
#: what is farther away than BEYOND_DOUBT says needs no more of them, and farther than so many ULPs: one sample may
#: stand on the reference by chance
_BEYOND_ULPS = 4096.0


@dataclass
class Evidences:
    """What the reference, the shadow and samples say of one program; each is asked when somebody wants it."""

    program: Program
    arguments: Rows
    _reference: list[list[Array]] | None = None
    _shadow: list[list[Array]] | None = None
    _samples: list[list[list[Array]]] = field(default_factory=list)
    _strict: list[list[list[Array]]] = field(default_factory=list)
    #: of the executor that is judged (hlotool.execution.executor)
    product_bits: int = 0

    @property
    def reference(self) -> list[list[Array]]:
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
    #: the latest result that the roundings leave open: something before it may be wrong all the same
    undecided: Wrong | None = None

    @property
    def is_late(self) -> bool:
        """Whether time is over."""
        return time.monotonic() > self.until

    def first_wrong(self, tried: Part, arguments: Rows, given: list[list[Array]] | None = None) -> Wrong | None:
        """The first result of a part that the executor gets wrong; None: all are right, or it does not run."""
        found = self.all_wrong(tried, arguments, given, stop=True)
        return found[0] if found else None

    def all_wrong(self, tried: Part, arguments: Rows, given: list[list[Array]] | None = None, *,
                  stop: bool = False) -> list[Wrong]:
        """The results of a part that are wrong; `given` are the executor's, where they are known already."""
        found: list[Wrong] = []
        rows = given if given is not None else self.run(tried.program, [arguments])[0] if tried.computed else []
        if len(arguments) != tried.program.devices:
            return []  # cut from a manual region, which only the whole program splits over devices
        evidence = Evidences(tried.program, arguments, product_bits=self.executor.product_bits)
        for device, row in enumerate(rows or []):
            for result, value in enumerate(row):
                judgement = evidence.judge(device, result, value)
                if judgement.kind is Kind.ILL_CONDITIONED:
                    self.undecided = Wrong(tried, arguments, device, result, judgement)
                if judgement.is_wrong:
                    found.append(Wrong(tried, arguments, device, result, judgement))
                    if stop:
                        return found
        return found

    def run(self, program: Program, argument_sets: Sequence[Rows]) -> list[list[list[Array]]]:
        """The executor's results; empty lists where it cannot run the program."""
        self.runs += 1
        try:
            return self.executor.run(program, argument_sets)
        except HloError as error:
            self.refusals.append(error)
            return [[] for _ in argument_sets]


@dataclass
class Values:
    """The values of instructions of one computation on the reference, for every device, as they are asked for."""

    program: Program
    arguments: Rows
    known: dict[HloInstruction, list[Any]] = field(default_factory=dict)

    def of(self, wanted: Sequence[HloInstruction]) -> list[list[Any]]:
        """The leaves of those instructions' values, for each device."""
        missing = {i for i in wanted if i not in self.known}
        if missing:
            self._look(missing)
        return [[leaf for i in wanted for leaf in flat(i.shape, self.known[i][device])]
                for device in range(self.program.devices)]

    def _look(self, missing: set[HloInstruction]) -> None:
        for instruction in missing:
            self.known[instruction] = [None] * self.program.devices

        def watch(moment: Moment) -> Any:
            if not moment.path and moment.instruction in missing:
                self.known[moment.instruction][moment.device] = moment.value
            return moment.value

        evaluate_program(self.program, self.arguments, watch)
