"""Holds the verdicts on the passes of a chain.

    equal       the module after it is the module before it, proved by structure
    agrees      it gives the same on all arguments that were tried: bit for bit, or up to what a compiler may do
                (rounding, excess precision, overflow avoided)
    wrong       it gives something else where it may not; with the instruction, and the arguments that show it
    none        nothing was decided, and why
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from hlotool.blame import PairBlame
from hlotool.diagnostics import Diagnostic
from hlotool.distributed import PartPlace
from hlotool.dumps import Chain, Dump
from hlotool.ir.arrays import Array
from hlotool.numerics import Judgement, Kind

Verdict: TypeAlias = Literal["equal", "agrees", "wrong", "none"]


@dataclass
class Difference:
    """A result that is not the same after a pass, on arguments that show it."""

    result: int
    device: int
    #: the kind of the arguments, and the arguments of every device
    inputs: str
    arguments: list[list[Array]]
    judgement: Judgement
    #: a sentence that says who is right
    why: str
    #: the wrong elements of a partitioned module's result, on the devices that hold them
    parts: list[PartPlace] = field(default_factory=list)

    def __str__(self) -> str:
        where = f"result {self.result}" + (f" of device {self.device}" if self.device else "")
        if self.parts:
            where += f" ({'; '.join(map(str, self.parts[:4]))})"
        return f"{where}, {self.inputs} arguments: {self.judgement}"


@dataclass
class PassVerdict:
    """The kinds of verdicts on a module between two dumps."""

    before: Dump
    after: Dump
    #: dumps between the two that could not be read
    gap: list[Dump] = field(default_factory=list)
    #: the simplifications up to which equality is proved (passes.equality.SIMPLIFICATIONS); None: it is not proved
    proof: tuple[str, ...] | None = None
    #: True if constants of one name whose elements the text leaves out are taken for one
    rests_on_names: bool = False
    #: kinds of elements of all results -> how many, over all arguments
    counts: Counter[str] = field(default_factory=Counter)
    #: the kinds of the arguments that were tried
    inputs: list[str] = field(default_factory=list)
    difference: Difference | None = None
    #: differences that rounding may have made: they count where an instruction is guilty of them by itself
    doubts: list[Difference] = field(default_factory=list)
    #: True if sums and products are taken in another order, and nothing else is changed; None: not asked
    is_reassociated: bool | None = None
    #: differences at the ends of the range in a program that is too large for them to decide
    noted: list[Difference] = field(default_factory=list)
    #: a difference in what is finite, where the pass gives what higher precision gives: an overflow that is avoided
    fold: Difference | None = None
    #: a difference between two programs that no pass of either has made: they rounded apart further up
    carried: Difference | None = None
    #: why nothing was decided
    reason: str = ""
    #: the pass that splits the module over devices, where this one is that; its cleaning up is dumped before its end
    partitioner: str = ""
    #: the rewrite rule that the guilty instruction's change is, and what that rule does not keep
    rule: str = ""
    blame: PairBlame | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    #: instructions before and after, and how many of the latter are new
    sizes: tuple[int, int, int] = (0, 0, 0)
    seconds: float = 0.0

    def take(self, other: PassVerdict) -> None:
        """Take the verdict on another pair of the same two modules."""
        for name in ("proof", "rests_on_names", "counts", "inputs", "difference", "fold", "is_reassociated", "noted",
                     "carried", "reason", "doubts", "blame", "rule", "partitioner"):
            setattr(self, name, getattr(other, name))

    @property
    def verdict(self) -> Verdict:
        if self.proof is not None:
            return "equal"
        if self.difference is not None:
            return "wrong"
        return "none" if self.reason or not self.inputs else "agrees"

    @property
    def kind(self) -> str:
        """The basis of the verdict."""
        if self.proof is not None:
            return "proved but for elided constants" if self.rests_on_names else "proved"
        if self.difference is not None:
            return str(self.difference.judgement.kind)
        if self.reason:
            return self.reason.split(":")[0]
        return ", ".join(self.up_to) or "same bits"

    @property
    def up_to(self) -> tuple[str, ...]:
        """The differences up to which agreement holds; "" if all bits are the same."""
        found = [str(k) for k in Kind if self.counts[str(k)] and Kind.EQUAL < k < Kind.NON_FINITE]
        is_folded = self.fold is not None and self.fold.judgement.kind is Kind.NON_FINITE
        return (*(["reassociation"] if self.is_reassociated else ()), *found,
                *([str(Kind.NON_FINITE)] if is_folded else ()), *([_AT_THE_ENDS] if self.noted else ()),
                *([_CARRIED] if self.carried is not None else ()))

    @property
    def shown(self) -> Difference | None:
        """The difference that an instruction is named for."""
        return self.difference or self.fold

    @property
    def changed_by(self) -> str:
        """The pass, or passes where dumps between could not be read."""
        if self.partitioner:
            return self.partitioner
        names = [d.name.after for d in (*self.gap, self.after)]
        if self.proof is not None:
            return " and ".join(dict.fromkeys(names))
        named = names if self.after.name.after != "pipeline-start" else [*names[:-1], self._unnamed]
        return " and ".join(dict.fromkeys(named))

    @property
    def _unnamed(self) -> str:
        """Between the last dump and the start of a pipeline: the pass that came next after the last dump."""
        following = self.before.name.before
        return following if following not in ("", "pipeline-end", "pipeline-start") else "pipeline-start"


_AT_THE_ENDS = "non-finite fold at the ends of the range"
_CARRIED = "what the two rounded apart before"


@dataclass
class ChainVerdict:
    """The verdicts on one chain."""

    chain: Chain
    passes: list[PassVerdict] = field(default_factory=list)
    #: the first dump against the last one
    whole: PassVerdict | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def wrong(self) -> list[PassVerdict]:
        """The passes that change what the module computes, in order."""
        return [p for p in self.passes if p.verdict == "wrong"]

    @property
    def verdict(self) -> Verdict:
        """The worst of all passes."""
        said = {p.verdict for p in self.passes}
        return next((v for v in _WORST_FIRST if v in said), "none")


_WORST_FIRST: tuple[Verdict, ...] = ("wrong", "none", "agrees", "equal")
