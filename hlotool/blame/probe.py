"""One part of a module on both sides: the reference, and an executor that is held against it.

A first look (hlotool.numerics) needs the reference's results only: what is equal, or a few last places apart, is right;
what is far away is worth a look inside before its verdict is asked for, as samples of a large part cost many times as
much as the reference.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hlotool.blame.cuts import ProgramPart
from hlotool.diagnostics import HloError
from hlotool.execution import Executor, Program
from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array
from hlotool.numerics import Evidence, Judgement, Kind, Look, Rows, look_at
from hlotool.process import work_time


@dataclass
class Trial:
    """A part that is fed with the reference's values, and what an executor gives for it."""

    part: ProgramPart
    arguments: Rows
    reference: Rows
    #: empty where the executor could not run it
    given: Rows
    #: True if the executor had other parts beside it in the module
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

    part: ProgramPart
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
        """Return True if time is over."""
        return work_time() > self.until

    def first_wrong(self, tried: ProgramPart, arguments: Rows, given: Rows | None = None,
                    reference: Rows | None = None) -> Wrong | None:
        """The first result of a part that the executor gets wrong; None: all are right, or it does not run.

        `given` are the executor's results and `reference` the reference's, where they are known already.
        """
        return next(self.judged(tried, arguments, given, reference, Kind.NON_FINITE), None)

    def judged(self, tried: ProgramPart, arguments: Rows, given: Rows | None = None, reference: Rows | None = None,
               least: Kind = Kind.NON_FINITE) -> Iterator[Wrong]:
        """The results of a part whose verdict is of a kind, or a worse one, as they are judged."""
        if given is None:
            given = self.run(tried.program, [arguments])[0] if tried.computed else []
        if len(arguments) != tried.program.devices:
            return  # cut from a manual region, which only the whole program splits over devices
        evidence = Evidence(tried.program, arguments, reference_known=reference,
                            product_bits=self.executor.product_bits)
        for device, row in enumerate(given or []):
            for result, value in enumerate(row):
                judgement = evidence.judge(value, device, result)
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
