"""The guilty instruction of one module, or of the second of two, on given arguments or on sets that are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlotool.blame.compared import compare_unnamed
from hlotool.blame.finding_reports import blame_diagnostic, nonfinite_diagnostics, pair_diagnostic
from hlotool.blame.module_pair import PairBlame, blame_pair
from hlotool.blame.nonfinite import NonFinite, find_nonfinite
from hlotool.blame.partitioned_cause import PartBlame, blame_parts, parts_diagnostic
from hlotool.blame.places import InstructionPlace
from hlotool.blame.reference_values import ReferenceValues
from hlotool.blame.stored_values import blame
from hlotool.blame.wrong_instruction import Blame
from hlotool.diagnostics import Diagnostic
from hlotool.distributed import partition_between
from hlotool.execution import Executor, Program, arguments_for, executor_named, fitted, read_module
from hlotool.ir import HloModule
from hlotool.ir.arrays import Array
from hlotool.verdict import Comparison, with_handed_out

#: kinds of arguments that are made where none are given, in turn
USUAL_INPUTS = ("random", "positive")


@dataclass
class Isolation:
    """The result of a search for the guilty instruction: `nonfinite` and `wrong` of one module, `parting` of two."""

    #: kind of the arguments that showed it, or of the last set that was tried: given, random, positive, ...
    inputs: str
    #: one module: the origins of NaN and infinities in its results
    nonfinite: NonFinite | None = None
    #: one module: the instruction that the executor gets wrong
    wrong: Blame | None = None
    #: two modules: the instruction of the second by which its results differ from the first's
    parting: PairBlame | None = None
    #: a program and its partitioned form: the difference, and the instruction that makes it where one is proved guilty
    parts: PartBlame | None = None
    #: what `compare` says of the same, where arguments that show a difference were searched
    comparison: Comparison | None = None

    @property
    def is_clean(self) -> bool:
        """True if all results are finite, and no arguments showed a difference."""
        is_finite = self.nonfinite is None or self.nonfinite.verdict == "finite"
        return is_finite and not self.is_unexplained and self._difference is None

    @property
    def _difference(self) -> Blame | PairBlame | PartBlame | None:
        return self.wrong or self.parting or self.parts

    @property
    def is_unexplained(self) -> bool:
        """True if `compare` shows a difference, of which the search for an instruction sees nothing."""
        differs = self.comparison is not None and bool(self.comparison.findings)
        return differs and self._difference is None

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics)) or f"nothing is found on {self.inputs} arguments"

    @property
    def place(self) -> InstructionPlace | None:
        """The guilty instruction with the calls that lead to it; None where none is named."""
        if self._difference is not None:
            return self._difference.place
        makers = self.nonfinite.guilty if self.nonfinite is not None and not self.is_clean else []
        return makers[0].place if makers else None

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The findings as `hlotool isolate` reports them."""
        return [*(nonfinite_diagnostics(self.nonfinite) if self.nonfinite is not None else []),
                *([blame_diagnostic(self.wrong)] if self.wrong is not None else []),
                *([pair_diagnostic(self.parting)] if self.parting is not None else []),
                *([parts_diagnostic(self.parts)] if self.parts is not None else []),
                *(self.comparison.diagnostics if self.comparison is not None and self.is_unexplained else [])]


def isolate(a: HloModule | str, b: HloModule | str | None = None, *, arguments: Sequence[Array] | None = None,
            inputs: Sequence[str] | None = None, executors: Sequence[str] = ("pjrt:cpu", "reference"),
            seed: int = 0, time_limit: float = 60.0) -> Isolation:
    """Search for the instruction that makes NaN or an infinity, or whose value is wrong.

    Of one module `a`, the origins of NaN and infinities in the results are found on the reference, and the instruction
    that the executor beside "reference" in `executors` gets wrong; with no executor but the reference, the former only.
    Of two modules, the instruction of `b` by which its results differ from those of `a`, both on the reference; `b` may
    be the partitioned form of `a`, and runs on all its devices then.
    A module is anything that `hlotool.read` takes.

    `arguments` are the entry's, a flat list of arrays (a tuple's leaves one by one) that every device gets; without
    them sets of the kinds `inputs` ("random", "positive", "special") are made from `seed`, and then arguments that show
    a difference are searched as `hlotool.compare` does. `time_limit` is in seconds, for each set
    of arguments. Raises HloError where a module cannot be read or run, or the two have not one signature.
    """
    first, second = read_module(a), None if b is None else read_module(b)
    if second is not None:
        first, second = with_handed_out(first, second)
    one = Program(first)
    sets = _argument_sets(one, arguments, inputs, seed)
    if second is not None:
        return _of_two(one, Program(second), sets, arguments is None, seed, time_limit)
    executor = _beside_reference(executors, time_limit)
    for kind, rows in sets:
        found = _of_set(one, executor, kind, rows, time_limit)
        if not found.is_clean:
            return found
    if arguments is not None or executor is None:
        return found
    return _searched_further(one, executor, found, seed, time_limit)


def _argument_sets(program: Program, given: Sequence[Array] | None, inputs: Sequence[str] | None, seed: int
                   ) -> Iterator[tuple[str, list[list[Array]]]]:
    """Kinds of arguments, and the arguments of every device."""
    devices = range(program.devices)
    if given is not None:
        yield "given", [fitted(program, given)] * len(devices)
        return
    for kind in inputs or USUAL_INPUTS:
        yield kind, [arguments_for(program, seed + d, kind) for d in devices]


def _beside_reference(names: Sequence[str], time_limit: float) -> Executor | None:
    """The first executor that is not the reference; None where there is none."""
    return next((e for e in (executor_named(name, time_limit) for name in names) if e.name != "reference"), None)


def _of_set(program: Program, executor: Executor | None, kind: str, rows: list[list[Array]], time_limit: float
            ) -> Isolation:
    values = ReferenceValues(program, rows)
    found = Isolation(kind, find_nonfinite(program, rows, time_limit, values))
    if executor is not None:
        found.wrong = blame(program, rows, executor, seconds=time_limit, values=values)
    return found


def _of_two(one: Program, other: Program, sets: Iterator[tuple[str, list[list[Array]]]], is_searched: bool,
            seed: int, time_limit: float) -> Isolation:
    """The difference between two modules, or a program and its partitioned form."""
    is_partitioned = partition_between(one, other) is not None

    def on(kind: str, rows: list[list[Array]]) -> Isolation:
        if is_partitioned:
            return Isolation(kind, parts=blame_parts(one, other, rows[0], time_limit))
        return Isolation(kind, parting=blame_pair(one, other, rows, seconds=time_limit))

    for kind, rows in sets:
        found = on(kind, rows)
        if not found.is_clean:
            return found
    if is_searched:
        shown = compare_unnamed(one.module, other.module, executors=("reference",), seed=seed, time_limit=time_limit)
        if shown.worst is not None and shown.witness is not None:
            found = on(shown.worst.inputs, shown.witness)
        found.comparison = shown
    return found


def _searched_further(program: Program, executor: Executor, found: Isolation, seed: int, time_limit: float
                      ) -> Isolation:
    """Search arguments that show a difference, and the instruction on them; `found` is what others showed."""
    shown = compare_unnamed(program.module, executors=(executor.name, "reference"), seed=seed, time_limit=time_limit)
    if shown.worst is not None and shown.witness is not None:
        # An infinity is no finding here: such arguments are at the ends of the range on purpose.
        found = Isolation(shown.worst.inputs, NonFinite(program, []),
                          blame(program, shown.witness, executor, seconds=time_limit))
    found.comparison = shown
    return found
