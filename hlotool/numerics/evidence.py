"""Evidence: what a program gives on one set of arguments when it is computed in other ways, gathered as a verdict asks.

    own       every operation in the program's own types: the reference
    shadow    the same at higher precision
    samples   with roundings and orders drawn at random (rounding.py)
    others    samples that draw less, or more (rounding.Draws), as a judgement asks for them

Everybody who judges values judges them by an `Evidence`, so that the same values have the same verdict everywhere. Most
results need no more than the reference: what is within a few ULPs of it is right. Others need the shadow and a few
samples, and more of them before anything is called wrong: more samples only widen what is allowed.

What evidence costs is counted by a clock that stops while others have the processor (`hlotool.process.work_time`): on
a busy machine a verdict takes longer, and is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hlotool.diagnostics import HloError
from hlotool.execution import TIMEOUT, Observer, Program, evaluate_program, fed
from hlotool.ir.arrays import Array
from hlotool.numerics.allowance import MODEL, Allowance, assumed_ulps
from hlotool.numerics.extreme_values import is_exact
from hlotool.numerics.higher_precision import shadow_program
from hlotool.numerics.judgement import Judgement, Kind, Known, judge
from hlotool.numerics.rounding import Draws, SampleWay, has_choices, holds_narrow, rounds_some, sample_program
from hlotool.process import work_time

#: arguments, results or values of every device, leaf by leaf
Rows: TypeAlias = Sequence[Sequence[Array]]
#: a way to compute: "own", "shadow", or that of a sample
Way: TypeAlias = str | SampleWay

#: samples for a first verdict, and to confirm that something is wrong; those that draw something else
FIRST, CONFIRMING, OTHERS = 5, 16, 8
#: numbers of the samples that confirm it of narrow floats, too: they round some values, and hold others in more bits,
#: so that each shows another of the numbers that a rounding leads to
ROUNDING_SOME = tuple(number for number in range(CONFIRMING, 6 * CONFIRMING) if rounds_some(number))
#: fewest samples for the two where the evidence has cost all that it may
FEWEST, FEWEST_TO_CONFIRM = 2, 8


@dataclass(frozen=True)
class Policy:
    """How much evidence may cost."""

    #: seconds of work for the evidence of one set of arguments
    seconds: float = 60.0


def computed(program: Program, arguments: Rows, way: Way, *, product_bits: int = 0, infeed: Rows = (),
             allowance: Allowance = MODEL, observer: Observer | None = None) -> list[list[Array]]:
    """Return the results of every device, computed in a way. Raises HloError as the evaluator does.

    `product_bits` are those of an executor (hlotool.execution), and `observer` sees all values.
    """
    if way == "own":
        return evaluate_program(program, arguments, observer, fed(infeed))
    if way == "shadow":
        return shadow_program(program, arguments, observer, infeed)
    assert not isinstance(way, str)
    return sample_program(program, arguments, way, infeed=infeed, least_ulps=allowance.least_ulps,
                          product_bits=product_bits, observer=observer)


@dataclass(eq=False)
class Evidence:
    """The evidence about the results of a program on one set of arguments."""

    program: Program
    #: arguments of every device
    arguments: Rows
    policy: Policy = Policy()
    #: results in the program's own types, where they are known already
    reference_known: Rows | None = None
    #: bits to which the executor that is judged cuts the operands of products (hlotool.execution)
    product_bits: int = 0
    #: what the host hands to each device
    infeed: Rows = ()
    allowance: Allowance = MODEL
    #: another source of results than the evaluation of the whole program; None in place of a result: it has none
    source: Callable[[Way], Rows] | None = None
    #: the results are the program's; else they are values of its instructions
    of_results: bool = True
    _exact: dict[int, bool] = field(default_factory=dict)
    _known: dict[Way, Rows] = field(default_factory=dict)
    _cost: float = 0.0

    def __post_init__(self) -> None:
        if self.reference_known is not None:
            self._known["own"] = self.reference_known

    @property
    def reference(self) -> Rows:
        """The results of the reference. Raises HloError where it cannot run the program."""
        return self.results("own")

    def results(self, way: Way) -> Rows:
        """Return the results computed in a way. Raises HloError as the evaluator does."""
        found = self._known.get(way)
        if found is None:
            begun = work_time()
            found = self._known[way] = self.source(way) if self.source is not None else computed(
                self.program, self.arguments, way, product_bits=self.product_bits, infeed=self.infeed,
                allowance=self.allowance)
            if way != "own":
                self._cost += work_time() - begun
        return found

    def judge(self, given: Array, device: int = 0, result: int = 0) -> Judgement:
        """Return the verdict on one result.

        Raises HloError where the program cannot be evaluated, or the evidence costs more than it may before there is
        enough for a verdict.
        """
        allowance = self.allowance_of(result)
        found = judge(given, Known(self.reference[device][result]), allowance)
        for numbers, fewest in self._rounds_of_samples():
            if found.problem or found.kind <= Kind.WITHIN or (len(numbers) > FIRST and not found.is_wrong):
                break
            found = judge(given, self.known(device, result, numbers, fewest), allowance)
        return found

    def _rounds_of_samples(self) -> Iterator[tuple[Sequence[int], int]]:
        """Numbers of samples, more of them each time, and how many there have to be whatever they cost."""
        yield range(FIRST), FEWEST
        yield range(CONFIRMING), FEWEST_TO_CONFIRM
        if holds_narrow(self.program.module):
            yield (*range(CONFIRMING), *ROUNDING_SOME), FEWEST_TO_CONFIRM

    def allowance_of(self, result: int) -> Allowance:
        """Return how far a result may be off: of what merely moves data, no last place."""
        if result not in self._exact:
            self._exact[result] = self.of_results and is_exact(self.program.module, result)
        return replace(self.allowance, free_ulps=0.0) if self._exact[result] else self.allowance

    def judge_beside(self, given: Array, held: Array, device: int = 0, result: int = 0) -> Judgement:
        """Return the verdict on one result that is held against another executor's, or a document's.

        Where the two are not as good as equal, both have to be what the program allows. Where the reference cannot run
        the program, they may be as far apart as its operations suggest. Raises HloError where it takes too long.
        """
        plain = judge(given, Known(held), self.allowance_of(result))
        if plain.problem or plain.kind <= Kind.WITHIN:
            return plain
        try:
            one, other = (self.judge(side, device, result) for side in (given, held))
        except HloError as error:
            if any(d.code == TIMEOUT for d in error.diagnostics):
                raise
            # The operations' own allowances hold without any evidence, too.
            assumed = Allowance(assumed_ulps(self.program.module))
            return judge(given, Known(held), assumed) if self.allowance == MODEL else plain
        return plain if one.problem or other.problem else plain.excused_by(one, other)

    def known(self, device: int, result: int, numbers: Sequence[int] = range(FIRST), fewest: int = FEWEST) -> Known:
        """Return what is known of one result by those samples, or by `fewest` where they cost more than they may.

        Raises HloError where even those cost more, or the program cannot be evaluated.
        """
        shadow = self.results("shadow")
        made = [self.results(number) for number in numbers if self._is_affordable(number, fewest)]

        def others(draws: Draws) -> Iterator[Array]:
            if draws is Draws.CHOICES and not has_choices(self.program.module):
                return
            for number in range(OTHERS):
                if (drawn := self.results((draws, number))[device][result]) is not None:
                    yield drawn

        given = [d for s in made if (d := s[device][result]) is not None]
        return Known(self.reference[device][result], shadow[device][result], given, others)

    def _is_affordable(self, number: int, fewest: int) -> bool:
        """Return True if a sample may be made, or is made already."""
        if number in self._known or self._cost < self.policy.seconds:
            return True
        if number < fewest:
            said = f"{number} samples took more than {self.policy.seconds:.3g} s: too few for a verdict"
            raise HloError.of(TIMEOUT, said, filename=self.program.filename)
        return False
