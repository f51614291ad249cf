"""One set of arguments of a comparison: what the reference makes of it, and the evidence that tells what may differ."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.diagnostics import HloError
from hlotool.execution import TIMEOUT, Program, run_limit
from hlotool.numerics import Evidence, sample_program, shadow_program
from hlotool.process import work_time
from hlotool.verdict.argument_sets import ArgumentSet

Array: TypeAlias = Any

#: samples for a first verdict, and those that are enough for one where time is over: what agrees with few samples
#: agrees with more
SAMPLES, FEWEST = 5, 2
#: strict ones at most
STRICT = 8


@dataclass
class Case:
    """One set of arguments and what the reference makes of it; the rest of the evidence when it is asked for."""

    program: Program
    arguments: ArgumentSet
    number: int
    #: None where the reference cannot run the program, until another executor takes its place
    reference: list[list[Array]] | None
    #: seconds in which the evidence is had, all of it
    seconds: float = math.inf
    #: bits to which an executor cuts the operands of products (hlotool.execution.executor)
    product_bits: int = 0
    _until: float = math.inf
    _shadow: list[list[Array]] | None = None
    _samples: list[list[list[Array]]] = field(default_factory=list)
    _strict: list[list[list[Array]]] = field(default_factory=list)

    def evidence(self, device: int, result: int, samples: int = SAMPLES, fewest: int = FEWEST) -> Evidence:
        """What is known of one result, by `fewest` samples where there is no time for all of them.

        Raises HloError where that takes too long or too much memory.
        """
        if self._shadow is None:
            self._until = work_time() + self.seconds
        with run_limit(max(0.0, self._until - work_time())):
            return self._evidence(device, result, samples, fewest)

    def _evidence(self, device: int, result: int, samples: int, fewest: int) -> Evidence:
        values = self.arguments.values
        if self._shadow is None:
            self._shadow = shadow_program(self.program, values)
        while len(self._samples) < samples:
            try:
                self._samples.append(sample_program(self.program, values, len(self._samples),
                                                    product_bits=self.product_bits))
            except HloError as error:
                if len(self._samples) < fewest or error.diagnostics[0].code != TIMEOUT:
                    raise
                break
        assert self.reference is not None

        def strict() -> Iterator[Array]:
            until = work_time() + self.seconds
            for number in range(STRICT):
                if number == len(self._strict):
                    with run_limit(max(0.0, until - work_time())):
                        self._strict.append(sample_program(self.program, values, number, strict=True,
                                                           product_bits=self.product_bits))
                yield self._strict[number][device][result]

        return Evidence(self.reference[device][result], self._shadow[device][result],
                        [s[device][result] for s in self._samples], strict)
