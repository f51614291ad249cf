"""Results of a comparison: the verdict, its kind, the findings, and what was covered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from hlotool.diagnostics import Diagnostic
from hlotool.distributed import PartPlace
from hlotool.ir.arrays import Array
from hlotool.numerics import Judgement, Kind

#: parts of a partitioned result that a sentence lists
_MOST_PLACES = 4

Verdict: TypeAlias = Literal["agree", "differ", "none"]
Basis: TypeAlias = Literal["proved", "enumerated", "sampled"]


@dataclass
class Finding:
    """A result that differs where it may not."""

    #: who gave it, and against whom it is held
    side: str
    other: str
    #: the leaf; -1: it is no result but the value of an instruction (`value`)
    result: int
    device: int
    #: the kind of the arguments, and their number
    inputs: str
    number: int
    judgement: Judgement
    #: who is right, and why
    right: str
    why: str
    #: the name of the instruction whose value it is
    value: str = ""
    #: the wrong elements of a partitioned program's result, on the devices that hold them
    parts: list[PartPlace] = field(default_factory=list)

    def __str__(self) -> str:
        where = (self.value or f"result {self.result}") + (f" of device {self.device}" if self.device else "")
        if self.parts:
            more = f" and {len(self.parts) - _MOST_PLACES} parts more" if len(self.parts) > _MOST_PLACES else ""
            where += f" ({'; '.join(map(str, self.parts[:_MOST_PLACES]))}{more})"
        return f"{where} of {self.side}, {self.inputs} arguments: {self.judgement}; {self.why}"


@dataclass
class Comparison:
    """The result of `compare`."""

    left: str
    right: str
    executors: tuple[str, ...]
    findings: list[Finding] = field(default_factory=list)
    #: findings that the ends of the range explain (extreme_values.py), which decide nothing
    noted: list[Finding] = field(default_factory=list)
    #: why executions failed, and the finding with its place
    diagnostics: list[Diagnostic] = field(default_factory=list)
    #: kinds of elements -> how many, over all that was judged
    counts: Counter[str] = field(default_factory=Counter)
    #: kinds of argument sets that were compared, in order
    inputs: list[str] = field(default_factory=list)
    #: why agreement would mean nothing
    vacuous: list[str] = field(default_factory=list)
    #: elements of results, and how many of them no set of arguments decided
    elements: int = 0
    undecided: int = 0
    #: why nothing is decided of a result although it was compared: ill-conditioned, left open, range end; arguments of
    #: that
    open_kind: str = ""
    open_arguments: list[list[Array]] | None = None
    #: sides of choices that no arguments have taken: "select %s: on_true"
    untaken: list[str] = field(default_factory=list)
    #: loops that may run further than any arguments took them, as "while %s", and the most rounds that they ran
    loops: dict[str, int] = field(default_factory=dict)
    #: instructions that hand values to the host, which are not compared: "outfeed %s"
    handed_out: list[str] = field(default_factory=list)
    #: executors that could not run a module
    not_run: list[str] = field(default_factory=list)
    #: how many arguments there are, where all of them were tried; 0 where some were
    enumerated: int = 0
    #: what proves that both modules compute the same for all arguments; "" if nothing does
    proof: str = ""
    #: True if both are one program, which is such a proof, so that nothing that either hands out can differ
    is_one_program: bool = False
    #: what a proof that was asked for says otherwise: equal up to the order of sums, or where it stopped
    unproved: str = ""
    #: sets of arguments that would have been compared within a longer time budget; 0 where none would
    planned: int = 0
    #: sets of arguments that were left out, as a LAPACK routine would iterate on what is not finite
    left_out: int = 0
    #: choices that depend on the arguments, and those with all sides taken
    choices: int = 0
    covered: int = 0
    #: the arguments of the worst finding, by device and leaf
    witness: list[list[Array]] | None = None
    #: the instruction to blame, where one is known
    instruction: str = ""
    line: int = 0
    #: the iteration of the innermost loop around it
    iteration: int | None = None
    seconds: float = 0.0

    @property
    def compared(self) -> int:
        """How many sets of arguments were compared."""
        return len(self.inputs)

    @property
    def verdict(self) -> Verdict:
        if self.findings:
            return "differ"
        return "none" if not self.compared or self.vacuous or self.open_kind else "agree"

    @property
    def kind(self) -> str:
        """The ground of the verdict: the worst kind of element; of no verdict, the reason."""
        if self.worst is not None:
            return str(self.worst.judgement.kind)
        if not self.compared:
            return "failed"
        if self.vacuous or self.open_kind:
            return "vacuous" if self.vacuous else self.open_kind
        if self.counts[str(Kind.OPEN)]:
            return str(Kind.OPEN)
        decided = next((k for k in reversed(Kind) if self.counts[str(k)] and k < Kind.ILL_CONDITIONED), Kind.EQUAL)
        # What lies within a spread that leaves no digit is not equal.
        return str(max(decided, Kind.WITHIN) if self.counts[str(Kind.ILL_CONDITIONED)] else decided)

    @property
    def basis(self) -> Basis:
        """The ground that an agreement has: a proof, all arguments there are, or some of them."""
        return "proved" if self.proof else "enumerated" if self.enumerated else "sampled"

    @property
    def open(self) -> list[str]:
        """Return in words the points that the comparison left undecided; none if a difference was found."""
        if self.findings or not self.compared:
            return []
        loops = [] if self.basis != "sampled" else [f"{name} may run further than {count:,} rounds"
                                                    for name, count in self.loops.items()]
        sides = [] if self.basis != "sampled" else [f"{side} was never taken" for side in self.untaken]
        handed_out = [f"what {instruction} hands to the host is not compared" for instruction in self.handed_out]
        return [*self.vacuous, *([self.open_kind] if self.open_kind else []), *loops, *sides, *handed_out,
                *([f"no verdict on {self.undecided} of {self.elements} elements"] if self.undecided else []),
                *(f"{name} ran nothing" for name in self.not_run)]

    @property
    def worth(self) -> str:
        """Return in words the proof or the arguments that the verdict rests on."""
        sets = f"{self.compared:,} {'set' if self.compared == 1 else 'sets'} of arguments"
        if self.planned > self.compared:
            sets = f"{self.compared:,} of {self.planned:,} sets of arguments (the time budget is over)"
        if self.basis == "proved":
            return f"proved ({self.proof}), and on {sets}"
        found = f"on all {self.enumerated:,} arguments (enumerated)" if self.enumerated else f"on {sets}"
        if self.left_out:
            found += f"; {self.left_out:,} more left out, on which a LAPACK routine may not end: it would iterate on " \
                     "values that are not finite"
        return f"{found}; {self.unproved}" if self.unproved else found

    @property
    def worst(self) -> Finding | None:
        return max(self.findings, key=lambda f: (f.judgement.kind, f.judgement.problem != ""), default=None)

    @property
    def devices(self) -> list[int]:
        """The devices of a partitioned program that have wrong elements of a result."""
        return sorted({d for found in self.findings for place in found.parts for d in place.devices})

    @property
    def is_equal(self) -> bool:
        """True if something was compared, and all of it agrees."""
        return self.verdict == "agree"

    def __bool__(self) -> bool:
        return self.is_equal

    def __str__(self) -> str:
        text = f"{self.left} and {self.right}: {self.verdict} ({self.kind})"
        if self.worst:
            return f"{text}; {self.worst}"
        still = f"; open: {listed(self.open)}" if self.open else ""
        return f"{text}, {self.worth}{still}" if self.compared else text


def listed(words: list[str], most: int = 3) -> str:
    """Return the first words of a list, and how many more there are."""
    return "; ".join(words[:most]) + (f"; and {len(words) - most} more" if len(words) > most else "")
