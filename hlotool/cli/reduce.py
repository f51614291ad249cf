"""Makes a module that shows a failure as small as it can be: the fewest instructions and the plainest arguments.

    hlotool reduce model.hlo --args x.npz -o small.hlo     pjrt:cpu differs from the reference
    hlotool reduce model.hlo --pass algsimp -o small.hlo   and its pass algsimp is to blame
    hlotool reduce model.hlo --test crash -o small.hlo     pjrt:cpu crashes, or refuses the module
    hlotool reduce before.hlo after.hlo -o small.hlo       two modules differ on the reference; small.other.hlo as well
    hlotool reduce whole.hlo part.hlo -o small.hlo         a program and its partitioned form differ
    hlotool reduce model.hlo --code W105 -o small.hlo      linting (or lifting) reports a code
    hlotool reduce model.mlir --command 'python check.py' -o small.mlir
                                                           a program ends with 0 (1: it is gone, 125: undecided)

The original is never written to. Exit code 0: reduced, and the result shows the failure; 1: the original does not show
it, or the result does no more; 2: unusable input.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from hlotool.cli.argument_arrays import add_argument_files, read_arguments, write_arguments
from hlotool.cli.console import INTERRUPTED, complain, progress_bar, report
from hlotool.cli.inputs import Loaded, load
from hlotool.cli.limits import add_run_limit
from hlotool.cli.option_values import processes, seconds, whole_number
from hlotool.cli.report_format import add_format
from hlotool.cli.run import add_custom_calls
from hlotool.cli.whole_files import note_read, require_beside, require_plain, with_ending, write_beside
from hlotool.diagnostics import Diagnostic, HloError, agreed, visible
from hlotool.process import note_progress

if TYPE_CHECKING:
    from hlotool.ir import HloModule
    from hlotool.reduction import Candidate, Interest, Progress, Reduction

TESTS = ("verdict", "pass", "crash", "timeout")
#: askings of the original
_MOST_REPEATS = 10_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="MODULE", help="the module: HLO or StableHLO in any form, - for standard input")
    parser.add_argument("other", metavar="OTHER", nargs="?",
                        help="a module of the same signature that computes something else on the reference")
    add_failure(parser)
    out = parser.add_argument_group("results")
    out.add_argument("--output", "-o", metavar="FILE",
                     help="write the module there: HLO text, or StableHLO where it ends with .mlir or .mlirbc "
                          "(default: standard output)")
    out.add_argument("--save-arguments", metavar="FILE.npz", help="write the arguments of the small module")
    add_format(out, "hlotool.cli.reduce:ReduceReport")
    work = parser.add_argument_group("the search")
    work.add_argument("--time-limit", type=seconds, default=600.0, metavar="SECONDS",
                      help="for all of it; the best candidate until then is the result (default 600)")
    work.add_argument("--jobs", "-j", type=processes(), default=2, metavar="N",
                      help="candidates that are asked at once (default 2)")
    work.add_argument("--repeats", type=whole_number(0, _MOST_REPEATS), default=0, metavar="N",
                      help="ask the original so often; a failure that does not show each time is kept, and said with "
                           "how often it was seen (default: 3, or 1 where that takes long)")
    work.add_argument("--state", metavar="FOLDER", help="keep what was found there, and go on from it")


def add_failure(parser: argparse.ArgumentParser) -> None:
    """Add the options for the behaviour that a module must keep; `reduce` and `bundle` take it."""
    group = parser.add_argument_group("the failure")
    kinds = group.add_mutually_exclusive_group()
    kinds.add_argument("--test", choices=TESTS, default="verdict", metavar="TEST",
                       help="verdict: an executor differs from another (default); pass: it does, and the guilty pass "
                            "of its compiler stays the same; crash: it crashes or refuses the module; timeout: it "
                            "gives no answer within --run-limit")
    kinds.add_argument("--pass", metavar="NAME", dest="guilty", help="as --test pass, and the guilty pass is this one")
    kinds.add_argument("--code", metavar="CODE", help="a diagnostic: W105 of linting, V201 of verification, X101 of "
                                                      "lifting, E104 of running on the first of --executors")
    kinds.add_argument("--command", metavar="LINE",
                       help="a program that gets the module's file as its last argument, or in place of {}, and the "
                            "arguments' in place of {args}; no shell runs it")
    group.add_argument("--message", default="", metavar="PATTERN", help="of a crash: what its message must hold")
    group.add_argument("--executors", nargs=2, default=("pjrt:cpu", "reference"), metavar="NAME",
                       help="the executor that fails, and the one it is held against (default pjrt:cpu reference)")
    add_run_limit(group, "one run on an executor, or of the command")
    add_argument_files(group)  # type: ignore[arg-type]
    add_custom_calls(group)  # type: ignore[arg-type]


def run(args: argparse.Namespace) -> int:
    from hlotool.reduction import LOST, ReduceOptions, State, reduce_candidate

    wanted = list(load([args.path]))
    for name in (args.other, *(args.argument_files or ())):
        if name:
            note_read(name)
    if len(wanted) != 1:
        complain(f"{visible(args.path)} holds {len(wanted)} modules; reduce takes one")
        return 2
    if problem := _refused(args):
        complain(problem)
        return 2
    try:
        for name in _written(args):
            require_beside(name)
        if args.output and args.other is not None:
            require_plain(_other_of(Path(args.output)))
        if args.other is not None:
            test, original = _pair_of(args, wanted[0])
        else:
            test = test_of(args, wanted[0])
            original = candidate_of(args, wanted[0], test)
        options = ReduceOptions(args.time_limit, args.jobs, args.repeats)
        if args.state:
            State(Path(args.state)).resume(original, test, options)
        with progress_bar(is_counted=False) as move:
            def hear(progress: Progress) -> None:
                note_progress()
                move(description=f"{progress.instructions} instructions, {progress.elements} elements of arguments, "
                                 f"{progress.asked} candidates asked; {progress.step}")

            options.hear = hear
            found = reduce_candidate(original, test, options)
    except HloError as error:
        return report(error.diagnostics)
    _write(args, found)
    if args.format == "json":
        print(json.dumps(record(wanted[0].name, test, found)))
    else:
        print(_text(wanted[0].name, test, found), file=sys.stdout if args.output else sys.stderr)
    if found.is_interrupted:
        return INTERRUPTED
    if not found.last.seen:
        report([Diagnostic(LOST, f"the reduced module did not show the failure in {found.last.times} trials",
                           filename=wanted[0].name)])
        return 1
    return 0


def _written(args: argparse.Namespace) -> list[str | Path]:
    """The files that the command writes at its end."""
    found: list[str | Path] = [name for name in (args.output, args.save_arguments) if name]
    if args.output and args.other is not None:
        found.append(_other_of(Path(args.output)))
    return found


def _other_of(path: Path) -> Path:
    """Where the second of two modules goes."""
    return with_ending(path, f".other{path.suffix}")


def _refused(args: argparse.Namespace) -> str:
    """Return the problem of the options; empty: none."""
    for name in (args.output, args.save_arguments):
        if name and os.path.exists(name) and os.path.exists(args.path) and os.path.samefile(name, args.path):
            return f"{visible(name)} is the original, which is not written to"
    if args.other is not None and (args.state or args.code or args.command or args.guilty or args.test != "verdict"):
        return "two modules are held against each other: --state and other tests take one module"
    return ""


def test_of(args: argparse.Namespace, loaded: Loaded) -> Interest:
    """Return the test of interest that the options name. Raises HloError for an executor that does not exist."""
    from hlotool.execution import executor_named
    from hlotool.reduction import Command, ReportedCode, interest_named, words_of

    names = [executor_named(name).name for name in args.executors]
    if args.command is not None:
        suffix = ".mlir" if loaded.is_stablehlo else ".hlo"
        if args.output and Path(args.output).suffix in (".mlir", ".mlirbc"):
            suffix = Path(args.output).suffix
        try:
            return Command(words_of(args.command), suffix, args.run_limit)
        except ValueError as error:
            complain(f"--command: {error}")
            raise SystemExit(2) from error
    if args.code is not None:
        return ReportedCode(args.code, names[0], args.run_limit)
    return interest_named(args.test, names, args.run_limit, message=args.message, guilty=args.guilty or "")


def candidate_of(args: argparse.Namespace, loaded: Loaded, test: Interest) -> Candidate:
    """Return the module with its arguments: given ones, those that show a difference, or made ones. Raises HloError."""
    from hlotool.reduction import candidate_for, needs_arguments

    module = loaded.module()
    given = _given_arguments(args, module) if needs_arguments(test) else None
    return candidate_for(module, test, given, args.seed)


def _pair_of(args: argparse.Namespace, one: Loaded) -> tuple[Interest, Candidate]:
    """Return the test and the two modules with arguments on which they differ. Raises HloError."""
    from hlotool.reduction import pair_candidate, pair_test

    module = one.module()
    other = next(iter(load([args.other]))).module()
    return pair_test(args.run_limit), pair_candidate(module, other, _given_arguments(args, module), args.seed)


def _given_arguments(args: argparse.Namespace, module: HloModule) -> list[Any] | None:
    """Return the arguments in the files that are named; None where none is. Raises HloError."""
    from hlotool.execution import Program

    return read_arguments(args.argument_files, Program(module).parameters) if args.argument_files else None


def _write(args: argparse.Namespace, found: Reduction) -> None:
    from hlotool.cli.console import write_bytes
    from hlotool.reduction import Candidate, form_of

    small = found.candidate
    if args.output:
        path = Path(args.output)
        write_beside(path, form_of(small, path.suffix))
        if small.other is not None:
            write_beside(_other_of(path), form_of(Candidate(small.other), path.suffix), is_named=False)
    elif args.format == "text":
        write_bytes(form_of(small, ".hlo"))
        if small.other is not None:
            write_bytes(b"\n" + form_of(Candidate(small.other), ".hlo"))
    if args.save_arguments and small.rows is not None:
        path = Path(args.save_arguments)
        for device, row in enumerate(small.rows):
            write_arguments(path if len(small.rows) == 1 else with_ending(path, f".{device}.npz"), row,
                            is_named=len(small.rows) == 1)


class TimesRecord(TypedDict):
    """How often a failure was seen."""

    seen: int
    of: int


class ReduceReport(TypedDict):
    """The report of `hlotool reduce`."""

    module: str
    test: Annotated[str, "what is looked for"]
    sign: Annotated[str, "what every candidate had to show"]
    said: str
    instructions: int
    instructions_before: int
    elements: int
    elements_before: int
    seen_before: TimesRecord
    seen: TimesRecord
    is_flaky: bool
    shows_at_least: Annotated[float, "share of runs, with 95 % confidence"]
    is_complete: Annotated[bool, "false: time was over, or the search was interrupted"]
    asked: int
    seconds: float
    steps: Any
    text: Annotated[str, "the small module"]
    other: Annotated[str | None, "the second module of a pair"]


def record(name: str, test: Interest, found: Reduction) -> ReduceReport:
    """Return the report of a reduction."""
    from hlotool.text import print_module

    small = found.candidate
    return {
        "module": name, "test": test.describe(), "sign": found.sign, "said": found.said,
        "instructions": small.size, "instructions_before": found.original.size,
        "elements": small.elements, "elements_before": found.original.elements,
        "seen_before": {"seen": found.first.seen, "of": found.first.times},
        "seen": {"seen": found.last.seen, "of": found.last.times},
        "is_flaky": found.is_flaky, "shows_at_least": round(found.confidence, 3),
        "is_complete": found.is_complete, "asked": found.asked, "seconds": round(found.seconds, 1),
        "steps": found.done, "text": print_module(small.module),
        "other": print_module(small.other) if small.other is not None else None,
    }


def _text(name: str, test: Interest, found: Reduction) -> str:
    """A few lines about a reduction."""
    small = found.candidate
    size = agreed(f"{small.size} instructions")
    lines = [f"{visible(name)}: {found.original.size} -> {size}, {visible(test.describe())}",
             f"  {visible(found.said or found.sign)}",
             f"  the result shows it: {found.last}; the original: {found.first}"]
    if found.is_flaky:
        lines.append(f"  it comes and goes: with 95 % confidence in at least {found.confidence:.0%} of the runs")
    ended = ("nothing can be left out any more" if found.is_complete
             else "interrupted: the smallest until then" if found.is_interrupted else "time was over")
    lines.append(f"  {ended}")
    return "\n".join(lines)
