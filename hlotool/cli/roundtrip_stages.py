"""One module's way through the stages of a round trip."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypedDict, TypeVar

from hlotool.cli.inputs import Loaded
from hlotool.diagnostics import Diagnostic, HloError, Note, Severity, define
from hlotool.diagnostics.records import DiagnosticRecord, diagnostic_records
from hlotool.ir import HloModule

if TYPE_CHECKING:
    from hlotool.execution import Program
    from hlotool.passes.equality import Node

CHANGED = define("X210", "changed-structure", "What came back computes by other operations than what went in.")
LIFTED = define("X211", "lifted-operations", "Operations that StableHLO lacks came back as those that they stand for.")
NOT_COMPARED = define("X212", "structure-not-compared", "The structure of the module is none that can be compared.")

STAGES = ("read", "print", "lift", "back", "same", "run", "reference", "interp")
#: stages that compare another executor with PJRT, where it can run the module
_ORACLES = {"reference": "reference", "interp": "stablehlo"}
Outcome: TypeAlias = Literal["ok", "fail", "n/a", "lifted"]

T = TypeVar("T")


class RowRecord(TypedDict):
    """The stages of one module."""

    module: str
    instructions: int
    stages: dict[str, Outcome]
    ulps: Annotated[dict[str, float | None],
                    "of stages that compare, how far values are apart at worst; null: infinitely"]
    diagnostics: list[DiagnosticRecord]
    reasons: Annotated[list[DiagnosticRecord], "why stages are not applicable"]
    seconds: float


class RoundtripReport(TypedDict):
    """The report of `hlotool roundtrip`."""

    modules: list[RowRecord]
    interrupted: bool


@dataclass
class Row:
    """The stages of one module; those behind one that failed are missing."""

    name: str
    instructions: int = 0
    #: the module's own name; empty where it could not be read
    module: str = ""
    stages: dict[str, Outcome] = field(default_factory=dict)
    #: worst distance in ULPs for each stage that compared
    worst: dict[str, float] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    #: why stages are not applicable
    reasons: list[Diagnostic] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        return "fail" not in self.stages.values()

    def as_json(self) -> RowRecord:
        """The row as plain data; infinite distances are null."""
        return {"module": self.name, "instructions": self.instructions, "stages": self.stages,
                "ulps": {stage: ulps if math.isfinite(ulps) else None for stage, ulps in self.worst.items()},
                "diagnostics": diagnostic_records(self.diagnostics), "reasons": diagnostic_records(self.reasons),
                "seconds": round(self.seconds, 3)}


def lost(loaded: Loaded, reason: Exception) -> Row:
    """The row of a module whose process ended, or could not answer."""
    from hlotool.execution import CRASH

    problems = reason.diagnostics if isinstance(reason, HloError) else [
        Diagnostic(CRASH, f"the process that tried this module was ended: {reason}", filename=loaded.name)]
    return Row(loaded.name, stages={"read": "fail"}, diagnostics=problems)


def take(loaded: Loaded, args: argparse.Namespace) -> Row:
    """One module through all stages."""
    start = time.perf_counter()
    row = _Journey(loaded, args).row
    row.seconds = time.perf_counter() - start
    return row


class _Journey:
    """One module's way through the stages, which ends at the first that leaves nothing to go on with."""

    def __init__(self, loaded: Loaded, args: argparse.Namespace) -> None:
        self.loaded = loaded
        self.args = args
        self.row = Row(loaded.name)
        try:
            self._there_and_back()
        except HloError:
            return  # the stage has noted it
        for stage, executor in _ORACLES.items():
            if stage not in args.skip and "run" not in args.skip:
                self._ask(stage, executor)

    def _there_and_back(self) -> None:
        module = self._stage("read", self._read)
        self._stage("print", lambda: _print_back(module))
        self.program, code = self._stage("lift", lambda: _lift(module))
        back = self._stage("back", lambda: _bring_back(code))
        # Both can be said of one module: that its structure changed, and what its values are.
        with contextlib.suppress(HloError):
            self._stage("same", lambda: self._compare_structure(module, back))
        if "run" not in self.args.skip:
            self.sets, self.results = self._stage("run", lambda: self._run(back))

    def _stage(self, name: str, work: Callable[[], T]) -> T:
        self.row.stages[name] = "fail"  # until it is done
        try:
            done = work()
        except HloError as error:
            self.row.diagnostics.extend(_in_file(d, self.row.name, name) for d in error.diagnostics)
            raise
        if self.row.stages[name] == "fail":
            self.row.stages[name] = "ok"
        return done

    def _compare_structure(self, module: HloModule, back: HloModule) -> None:
        """Raises HloError, at the first operation that differs, unless both have one normal form.

        A module with operations that StableHLO lacks comes back in those that they stand for: then that module has
        to come back as it is.
        """
        from hlotool.passes.equality import NotComparable, gone
        from hlotool.passes.legalize import legalized
        from hlotool.stablehlo import from_stablehlo, to_program

        module = legalized(module)
        try:
            difference = _first_difference(module, back)
            lifted = gone(module, back) if difference else []
            if lifted:
                again = from_stablehlo(to_program(back))
                difference = _first_difference(back, again)
                module, back = back, again
        except NotComparable as error:
            self._excuse("same", "n/a", Diagnostic(NOT_COMPARED, f"same: {error}", Severity.INFO))
            return
        if difference:
            raise HloError([_structure_changed(module, *difference)])
        if lifted:
            self._excuse("same", "lifted", Diagnostic(
                LIFTED, f"same: came back as what they stand for: {', '.join(lifted)}", Severity.INFO))

    def _excuse(self, stage: str, verdict: Outcome, reason: Diagnostic) -> None:
        self.row.stages[stage] = verdict
        self.row.reasons.append(dataclasses.replace(reason, filename=self.row.name))

    def _read(self) -> HloModule:
        from hlotool.passes.verify import verify

        module = self.loaded.module()
        self.row.module = module.name
        self.row.instructions = sum(1 for _ in module.instructions())
        profile = "scheduled" if module.attributes.get("is_scheduled") else "unoptimized"
        errors = [d for d in verify(module, profile=profile) if d.severity is Severity.ERROR]
        if errors:
            raise HloError(errors)
        return module

    def _run(self, back: HloModule) -> tuple[list[Any], list[Any]]:
        """The arguments and the original's results. Raises HloError where something fails or differs."""
        from hlotool.execution import Program, arguments_for, executor_named

        program, args = self.program, self.args
        pjrt = executor_named("pjrt:cpu", args.run_limit)
        self.sets = [[arguments_for(program, args.seed + d, kind) for d in range(program.devices)]
                     for kind in args.inputs]
        results = pjrt.run(program, self.sets)
        other = Program(back)
        if _plain_text(other.stablehlo) == _plain_text(program.stablehlo):
            other = program  # but for locations: it need not be compiled again
        self._require_equal("run", results, pjrt.run(other, self.sets))
        return self.sets, results

    def _ask(self, stage: str, executor: str) -> None:
        """Compare an independent executor with PJRT. What it cannot run is noted, and no failure."""
        from hlotool.execution import executor_named

        row = self.row
        try:
            kinds = self._kinds(stage)
            found = executor_named(executor, self.args.run_limit).run(self.program, self.sets[:len(kinds)])
            self._require_equal(stage, self.results[:len(kinds)], found, executor)
            row.stages[stage] = "ok"
        except HloError as error:
            cannot = all(d.code in _cannot(stage) for d in error.diagnostics)
            row.stages[stage] = "n/a" if cannot else "fail"
            target, severity = (row.reasons, Severity.INFO) if cannot else (row.diagnostics, Severity.ERROR)
            target.extend(dataclasses.replace(_in_file(d, row.name, stage), severity=severity)
                          for d in error.diagnostics)

    def _kinds(self, stage: str) -> list[str]:
        """The sets of arguments of a stage: special values, last, show differences between executors that agree."""
        kinds = list(self.args.inputs)
        return kinds if stage == "run" or kinds[-1] != "special" or len(kinds) == 1 else kinds[:-1]

    def _require_equal(self, stage: str, left: list[Any], right: list[Any], executor: str | None = None) -> None:
        """Raises HloError where results differ, at the first instruction that does where an executor is named."""
        from hlotool.execution import executor_named
        from hlotool.numerics import judge_apart, ulp_distance, worst_of

        reference = executor_named("reference", self.args.run_limit)
        worst = 0.0
        for kind, rows, one, other in zip(self._kinds(stage), self.sets, left, right, strict=False):
            # The reference is what the others are held against, and of two modules the original.
            given, held = (one, other) if executor == "reference" else (other, one)
            found = judge_apart(reference, self.program, rows, given, held, is_own=executor == "reference")
            worst = max([worst, *(float(ulp_distance(f.judgement.given, f.judgement.reference).max(initial=0.0))
                                  for f in found if not f.judgement.problem)])
            bad = worst_of(found)
            if bad is not None and bad.judgement.is_wrong:
                names = ("pjrt:cpu", executor) if executor else ("the original", "the module that came back")
                raise HloError([self._difference(f"{names[0]} and {names[1]} differ on {kind} arguments: {bad}",
                                                 rows if executor else None)])
        self.row.worst[stage] = worst

    def _difference(self, message: str, witness: list[list[Any]] | None) -> Diagnostic:
        """A difference as a diagnostic; with arguments that show it, at the instruction that PJRT gets wrong."""
        from hlotool.blame import blame, blame_diagnostic
        from hlotool.execution import DIFFERENCE, executor_named

        blamed = blame(self.program, witness, executor_named("pjrt:cpu", self.args.run_limit),
                       seconds=self.args.run_limit) if witness is not None else None
        if blamed is None:
            return Diagnostic(DIFFERENCE, message, filename=self.row.name)
        frame = blame_diagnostic(blamed)
        return dataclasses.replace(frame, notes=(Note(message), *frame.notes))


def _print_back(module: HloModule) -> None:
    """Raises HloError unless the printed text reads and prints the same."""
    import hlotool
    from hlotool.execution import NOT_FIXED_POINT

    first = str(module)
    second = str(hlotool.parse(first, f"{module.name} (printed)"))
    if first != second:
        row = next(n for n, (a, b) in enumerate(zip(first.split("\n"), second.split("\n"), strict=False), 1) if a != b)
        raise HloError.of(NOT_FIXED_POINT, f"line {row} of the printed text prints otherwise when it was read back")


def _cannot(stage: str) -> tuple[str, ...]:
    """Codes of what an executor cannot run, or has no value for.

    The interpreter ends its process where it lacks something.
    """
    from hlotool.execution import FAILURES, NO_VALUE, TIMEOUT, UNSUPPORTED

    return NO_VALUE if stage == "reference" else (*FAILURES, TIMEOUT, UNSUPPORTED)


def _lift(module: HloModule) -> tuple[Program, bytes]:
    from hlotool.execution import Program
    from hlotool.stablehlo import has_mlir, program_bytes, to_program

    program = Program(module)
    return program, program.stablehlo if has_mlir() else program_bytes(to_program(module), portable=True)


def _bring_back(code: bytes) -> HloModule:
    import hlotool

    text = str(hlotool.from_stablehlo(code, isolate=False))
    module: HloModule = hlotool.parse(text, "the module that came back")
    return module


def _plain_text(code: bytes) -> str:
    """The program without locations and without what only the way back reads."""
    from hlotool.stablehlo import program_text, read_program

    return re.sub(r"\{?hlotool\.\w+ = (?:\{[^\n]*|\"[^\n]*)", "", program_text(read_program(code, isolate=False)))


def _first_difference(one: HloModule, other: HloModule) -> tuple[Node | None, Node | None] | None:
    """Where two modules differ first: a pair of operations, or of nothing where one has more results or effects."""
    from hlotool.passes.equality import Numbering

    numbering = Numbering()
    left, right = numbering.module(one), numbering.module(other)
    if left == right:
        return None
    pairs = [(a, b) for a, b in zip(left, right, strict=False) if a != b]
    if not pairs:
        return None, None
    return tuple(map(numbering.placed, numbering.first_difference(*pairs[0])))  # type: ignore[return-value]


def _structure_changed(module: HloModule, left: Node | None, right: Node | None) -> Diagnostic:
    from hlotool.passes.instruction_findings import report

    if left is None or right is None:
        return report(module, module.entry, CHANGED, "what came back has another number of results and effects")
    place = f" of {left.computation.name}" if left.computation is not None else ""
    return report(module, left.instruction, CHANGED,
                  f"the first operation that came back otherwise is {_said(left)}{place}; it became {_said(right)}")


def _said(node: Node) -> str:
    from hlotool.text import PrintOptions, print_instruction

    if node.instruction is None:
        return "a parameter"
    return print_instruction(node.instruction, PrintOptions(metadata=False, layouts=False, elide_above=8))[:200]


def _in_file(diagnostic: Diagnostic, name: str, stage: str) -> Diagnostic:
    """A diagnostic that names the stage and, where it has no file of its own, the module."""
    nowhere = diagnostic.filename in ("<string>", "<module>")
    return dataclasses.replace(diagnostic, message=f"{stage}: {diagnostic.message}",
                               filename=name if nowhere else diagnostic.filename)
