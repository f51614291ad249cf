"""The main job, on every module: read it, check it, print it, convert it there and back, run it, compare.

    hlotool roundtrip samples/models

The columns: `read` parses and verifies; `print` prints and reads back, twice the same text; `lift` converts to
StableHLO; `back` converts that to HLO text and reads it; `run` executes the original and the one that came back on
pjrt:cpu and compares; `reference` and `interp` compare hlotool's NumPy reference and StableHLO's interpreter with
pjrt:cpu, where they can run the module (n/a where they can't). Exit code 1 where a stage fails.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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
_UNSUPPORTED = "E106"
_NO_VALUE = "E108"


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
    rows = [row for row in _with_progress(wanted, lambda loaded: take(loaded, args), args.color)]
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
    row, start = Row(loaded.name), time.perf_counter()
    for stage in _journey(loaded, row, args):
        row.stages[stage] = "fail"  # until the next step says otherwise
    row.seconds = time.perf_counter() - start
    return row


def _journey(loaded: Loaded, row: Row, args: argparse.Namespace) -> Iterator[str]:
    """Yields each stage as it begins; ends at the first that leaves nothing to go on with."""
    stage = ""
    try:
        yield (stage := "read")
        module = _read(loaded, row)
        row.stages[stage] = "ok"
        yield (stage := "print")
        _print_back(module)
        row.stages[stage] = "ok"
        yield (stage := "lift")
        program, code = _lift(module)
        row.stages[stage] = "ok"
        yield (stage := "back")
        back = _bring_back(code)
        row.stages[stage] = "ok"
        if "run" in args.skip:
            return
        yield (stage := "run")
        sets, results = _run_both(program, back, row, args)
        row.stages[stage] = "ok"
    except HloError as error:
        row.diagnostics.extend(_in_file(d, loaded.name, stage) for d in error.diagnostics)
        return
    for stage, executor in _ORACLES.items():
        if stage not in args.skip:
            yield stage
            _ask_oracle(stage, executor, program, sets, results, row, args)


def _read(loaded: Loaded, row: Row) -> HloModule:
    from hlotool.passes.verify import verify

    module = loaded.module()
    row.instructions = sum(1 for _ in module.instructions())
    errors = [d for d in verify(module, profile=_profile(module)) if d.severity is Severity.ERROR]
    if errors:
        raise HloError(errors)
    return module


def _profile(module: HloModule) -> str:
    return "scheduled" if module.attributes.get("is_scheduled") else "unoptimized"


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
    return hlotool.parse(text, "the module that came back")


def _run_both(program: Program, back: HloModule, row: Row, args: argparse.Namespace) -> tuple[list[Any], list[Any]]:
    """The arguments and the original's results. Raises HloError where something fails or differs."""
    from hlotool.execution import Program, arguments_for, executor_named

    pjrt = executor_named("pjrt:cpu", args.time_limit)
    sets = [[arguments_for(program, args.seed + d, kind) for d in range(program.devices)] for kind in args.inputs]
    results = pjrt.run(program, sets)
    returned = pjrt.run(Program(back), sets)
    _require_equal("run", program, results, returned, row, args)
    return sets, results


def _ask_oracle(stage: str, executor: str, program: Program, sets: list[Any], results: list[Any], row: Row,
                args: argparse.Namespace) -> None:
    from hlotool.execution import executor_named

    try:
        found = executor_named(executor, args.time_limit).run(program, sets)
        _require_equal(stage, program, results, found, row, args, (("pjrt:cpu", executor), sets))
        row.stages[stage] = "ok"
    except HloError as error:
        cannot = all(d.code in (_UNSUPPORTED, _NO_VALUE) or _is_interpreters_limit(d) for d in error.diagnostics)
        row.stages[stage] = "n/a" if cannot else "fail"
        target = row.reasons if cannot else row.diagnostics
        severity = Severity.INFO if cannot else Severity.ERROR
        target.extend(dataclasses.replace(_in_file(d, row.name, stage), severity=severity) for d in error.diagnostics)


def _is_interpreters_limit(diagnostic: Diagnostic) -> bool:
    # The interpreter ends its process where it lacks an operation.
    return diagnostic.code == "E104" and "nsupported" in diagnostic.message


def _require_equal(stage: str, program: Program, left: list[Any], right: list[Any], row: Row,
                   args: argparse.Namespace, blame: tuple[tuple[str, str], list[Any]] | None = None) -> None:
    from hlotool.execution import budget_of, differences, explain_difference

    budget = budget_of(program.module)
    found = [d for kind, a, b in zip(args.inputs, left, right, strict=True) for d in differences(a, b, kind, budget)]
    row.worst[stage] = max((d.ulps for d in found), default=0.0)
    bad = [d for d in found if not d.is_equal]
    if not bad:
        return
    worst = max(bad, key=lambda d: (bool(d.problem), d.outside))
    given = blame[1][list(args.inputs).index(worst.inputs)] if blame is not None else None
    names = blame[0] if blame is not None else ("the original", "the module that came back")
    raise HloError([explain_difference(program, worst, names, given, budget, time_limit=args.time_limit)])


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

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    folder = _common_folder([row.name for row in rows])
    table.add_column(f"module in {folder}" if folder else "module", overflow="fold")
    table.add_column("instructions", justify="right")
    for stage in STAGES:
        table.add_column(stage, justify="center")
    table.add_column("ULPs", justify="right")
    table.add_column("seconds", justify="right")
    styles = {"ok": "green", "fail": "bold red", "n/a": "dim"}
    for row in rows:
        cells = [Text(row.stages.get(s, "-"), styles.get(row.stages.get(s, ""), "dim")) for s in STAGES]
        worst = f"{max(row.worst.values()):g}" if row.worst else ""
        table.add_row(Text(row.name.removeprefix(folder)), str(row.instructions), *cells, worst, f"{row.seconds:.1f}")
    is_colored = wants_color(sys.stdout, color)
    width = None if sys.stdout.isatty() else 120
    Console(file=sys.stdout, no_color=not is_colored, force_terminal=is_colored, width=width,
            highlight=False).print(table)


def _common_folder(names: Sequence[str]) -> str:
    """`samples/models/` where all modules lie in it, so that it need not stand in every row."""
    folders = {name.rpartition("/")[0] for name in names}
    return f"{folders.pop()}/" if len(folders) == 1 and all("/" in n for n in names) else ""
