"""The main job, on every module: read it, check it, print it, convert it there and back, run it, compare.

    hlotool roundtrip samples/models

The columns: `read` parses and verifies; `print` prints and reads back, twice the same text; `lift` converts to
StableHLO; `back` converts that to HLO text and reads it; `run` executes the original and the one that came back on
pjrt:cpu and compares; `reference` and `interp` compare hlotool's NumPy reference and StableHLO's interpreter with
pjrt:cpu, where they can run the module (n/a where they can't). `size` counts instructions, `ULPs` is how far the
results of `run` are apart at worst. Exit code 1 where a stage fails.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from hlotool.cli.console import complain, frames, wants_color
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.ir import HloModule, Source

if TYPE_CHECKING:
    from hlotool.execution import Program

STAGES = ("read", "print", "lift", "back", "run", "reference", "interp")
#: stages that compare another executor with PJRT, where it can run the module
_ORACLES = {"reference": "reference", "interp": "stablehlo"}
#: diagnostics of a module that are shown unless all are asked for
FEW = 3
#: codes of what an executor cannot run, or has no value for; the interpreter ends its process where it lacks something
_CANNOT = {"reference": ("E106", "E108"), "interp": ("E102", "E103", "E104", "E105", "E106")}

T = TypeVar("T")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules to take there and back")
    parser.add_argument("--inputs", nargs="+", choices=("random", "positive", "special"),
                        default=("random", "positive"), help="the sets of arguments to make (default: two of them)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the arguments")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="SECONDS", help="for each execution")
    parser.add_argument("--skip", nargs="+", choices=STAGES[4:], default=(), help="stages to leave out")
    parser.add_argument("--verbose", "-v", action="store_true", help="say why a stage was not applicable")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")


@dataclass
class Row:
    """What became of one module. A stage is "ok", "fail", "n/a" or missing, when an earlier one failed."""

    name: str
    instructions: int = 0
    stages: dict[str, str] = field(default_factory=dict)
    #: worst distance in ULPs for each stage that compared
    worst: dict[str, float] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    #: why stages are not applicable
    reasons: list[Diagnostic] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        return "fail" not in self.stages.values()


def run(args: argparse.Namespace) -> int:
    sources: dict[str, Source] = {}
    start = time.perf_counter()
    wanted = list(load(args.paths, sources))
    rows = list(_with_progress(wanted, lambda loaded: take(loaded, args), args.color))
    _print_table(rows, args.color)
    for row in rows:
        shown = [*row.diagnostics, *(row.reasons if args.verbose else ())]
        if shown:
            few = shown if args.verbose else shown[:FEW]
            more = f"\n\n... and {len(shown) - len(few)} more (--verbose shows them)" if len(few) < len(shown) else ""
            complain(f"\n{row.name}:\n" + frames(few, sources, sys.stderr, args.color) + more)
    good = sum(row.is_good for row in rows)
    total = sum(row.instructions for row in rows)
    print(f"{good} of {len(rows)} modules came back equal; {total} instructions, {time.perf_counter() - start:.1f} s")
    return int(good < len(rows)) if any(w.input for w in wanted) else 2


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
        if "run" not in self.args.skip:
            self.sets, self.results = self._stage("run", lambda: self._run(back))

    def _stage(self, name: str, work: Callable[[], T]) -> T:
        self.row.stages[name] = "fail"  # until it is done
        try:
            done = work()
        except HloError as error:
            self.row.diagnostics.extend(_in_file(d, self.row.name, name) for d in error.diagnostics)
            raise
        self.row.stages[name] = "ok"
        return done

    def _read(self) -> HloModule:
        from hlotool.passes.verify import verify

        module = self.loaded.module()
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
        pjrt = executor_named("pjrt:cpu", args.time_limit)
        self.sets = [[arguments_for(program, args.seed + d, kind) for d in range(program.devices)]
                     for kind in args.inputs]
        results = pjrt.run(program, self.sets)
        self._require_equal("run", results, pjrt.run(Program(back), self.sets))
        return self.sets, results

    def _ask(self, stage: str, executor: str) -> None:
        """Compare an independent executor with PJRT. What it cannot run is noted, and no failure."""
        from hlotool.execution import executor_named

        row = self.row
        try:
            found = executor_named(executor, self.args.time_limit).run(self.program, self.sets)
            self._require_equal(stage, self.results, found, executor)
            row.stages[stage] = "ok"
        except HloError as error:
            cannot = all(d.code in _CANNOT[stage] for d in error.diagnostics)
            row.stages[stage] = "n/a" if cannot else "fail"
            target, severity = (row.reasons, Severity.INFO) if cannot else (row.diagnostics, Severity.ERROR)
            target.extend(dataclasses.replace(_in_file(d, row.name, stage), severity=severity)
                          for d in error.diagnostics)

    def _require_equal(self, stage: str, left: list[Any], right: list[Any], executor: str | None = None) -> None:
        """Raises HloError where results differ, at the first instruction that does where an executor is named."""
        from hlotool.execution import budget_of, differences, explain_difference

        kinds, budget = list(self.args.inputs), budget_of(self.program.module)
        found = [d for kind, a, b in zip(kinds, left, right, strict=True) for d in differences(a, b, kind, budget)]
        self.row.worst[stage] = max((d.error for d in found), default=0.0)
        bad = [d for d in found if not d.is_equal]
        if not bad:
            return
        worst = max(bad, key=lambda d: (bool(d.problem), d.outside))
        given = self.sets[kinds.index(worst.inputs)] if executor else None
        names = ("pjrt:cpu", executor) if executor else ("the original", "the module that came back")
        raise HloError([explain_difference(self.program, worst, names, given, budget,
                                           time_limit=self.args.time_limit)])


def _print_back(module: HloModule) -> None:
    """Raises HloError unless the printed text reads and prints the same."""
    import hlotool

    first = str(module)
    second = str(hlotool.parse(first, f"{module.name} (printed)"))
    if first != second:
        row = next(n for n, (a, b) in enumerate(zip(first.split("\n"), second.split("\n"), strict=False), 1) if a != b)
        raise HloError([Diagnostic("E110", f"line {row} of the printed text prints otherwise when it was read back")])


def _lift(module: HloModule) -> tuple[Program, bytes]:
    from hlotool.execution import Program

    program = Program(module)
    return program, program.stablehlo


def _bring_back(code: bytes) -> HloModule:
    import hlotool

    text = str(hlotool.from_stablehlo(code))
    module: HloModule = hlotool.parse(text, "the module that came back")
    return module


def _in_file(diagnostic: Diagnostic, name: str, stage: str) -> Diagnostic:
    """A diagnostic that names the stage and, where it has no file of its own, the module."""
    nowhere = diagnostic.filename in ("<string>", "<module>")
    return dataclasses.replace(diagnostic, message=f"{stage}: {diagnostic.message}",
                               filename=name if nowhere else diagnostic.filename)


def _with_progress(wanted: Sequence[Loaded], work: Callable[[Loaded], Row], color: str) -> Iterator[Row]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty() or not wants_color(sys.stderr, color):
        yield from map(work, wanted)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(wanted))
        for loaded in wanted:
            progress.update(task, description=loaded.name)
            yield work(loaded)
            progress.advance(task)


def _print_table(rows: Sequence[Row], color: str) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    folder = _common_folder([row.name for row in rows])
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=folder or None, title_justify="left")
    longest = max((len(row.name) - len(folder) for row in rows), default=0)
    table.add_column("module", overflow="fold", min_width=min(60, longest))
    table.add_column("size", justify="right")
    for stage in STAGES:
        table.add_column(stage, justify="center")
    table.add_column("ULPs", justify="right")
    table.add_column("time", justify="right")
    styles = {"ok": "green", "fail": "bold red", "n/a": "dim"}
    for row in rows:
        cells = [Text(row.stages.get(s, "-"), styles.get(row.stages.get(s, ""), "dim")) for s in STAGES]
        worst = f"{row.worst['run']:g}" if "run" in row.worst else ""
        table.add_row(Text(row.name.removeprefix(folder)), str(row.instructions), *cells, worst, f"{row.seconds:.1f} s")
    is_colored = wants_color(sys.stdout, color)
    width = None if sys.stdout.isatty() else 120
    Console(file=sys.stdout, no_color=not is_colored, force_terminal=is_colored, width=width,
            highlight=False).print(table)


def _common_folder(names: Sequence[str]) -> str:
    """`samples/models/` where all modules lie in it, so that it need not stand in every row."""
    folders = {name.rpartition("/")[0] for name in names}
    return f"{folders.pop()}/" if len(folders) == 1 and all("/" in n for n in names) else ""
