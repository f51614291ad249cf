"""Limits of time and memory, which every command takes."""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
from collections.abc import Callable

from hlotool.cli.console import report
from hlotool.cli.option_values import seconds, size
from hlotool.diagnostics import Diagnostic

#: new objects after which garbage is collected: Python's own 700 are looked through some hundred times while the files
#: of a command are imported
_NEW_OBJECTS = 20_000
#: commands that last until somebody ends them
_ENDLESS = ("lsp", "mcp", "docs")
#: commands that run programs
_RUNNING = ("run", "compare", "isolate", "bisect", "reduce", "bundle", "fuzz", "roundtrip", "conform", "corpus")
#: beyond the limit of one execution: seconds in which a module is read, lifted, and its arguments are made
_AROUND = 10.0


def add_limits(parser: argparse.ArgumentParser) -> None:
    """The options; a command may have a time limit of its own, for all that it does."""
    with contextlib.suppress(argparse.ArgumentError):
        parser.add_argument("--time-limit", type=seconds, metavar="SECONDS", dest="command_time_limit",
                            help="end where a module takes longer (default: after a minute of processor time "
                                 "without progress)")
    with contextlib.suppress(argparse.ArgumentError):
        parser.add_argument("--memory-limit", type=size, metavar="SIZE",
                            help="memory that a module may take: 500MB, 4GiB (default: 80 %% of the machine's)")


def add_run_limit(parser: argparse.ArgumentParser | argparse._ArgumentGroup, what: str = "one run on an executor",
                  default: float = 60.0, dest: str = "run_limit") -> None:
    """--run-limit; with the usual `dest` it also bounds evaluations in the process of the command."""
    parser.add_argument("--run-limit", type=seconds, default=default, metavar="SECONDS", dest=dest,
                        help=f"for {what} (default {default:g})")


def add_sandbox(parser: argparse.ArgumentParser, command: str) -> None:
    """--no-sandbox, for a command whose children run programs."""
    if command in _RUNNING:
        parser.add_argument("--no-sandbox", action="store_true",
                            help="run programs without the sandbox that keeps them from files and the network")


def within_limits(command: str, args: argparse.Namespace, run: Callable[[argparse.Namespace], int],
                  is_process: bool) -> int:
    """The exit code of a command; a process of its own does the work in a second one, so that limits always hold."""
    from hlotool.process import SWITCH, can_supervise, limit_memory, note_progress, supervised
    from hlotool.text.input_files import hear_reading

    def work() -> int:
        if is_process:
            gc.enable()  # programs.py has put it off
            gc.set_threshold(_NEW_OBJECTS)
        hear_reading(note_progress)
        if getattr(args, "no_sandbox", False):
            os.environ[SWITCH] = "1"
        if is_process or args.memory_limit is not None:
            limit_memory(args.memory_limit)
        seconds = _execution_limit(args)
        if seconds is None:
            return run(args)
        from hlotool.execution import run_limit

        with run_limit(seconds):
            return run(args)

    if not is_process or command in _ENDLESS or not can_supervise():
        return work()
    whole: float | None = getattr(args, "command_time_limit", None)
    stalled = _stalled_after(args) if whole is None else None
    return supervised(work, whole, lambda found: max(2, report([found])), stalled)


def limit_reached(error: BaseException) -> Diagnostic:
    """Return the diagnostic for a MemoryError or RecursionError."""
    from hlotool.process import TOO_DEEP, TOO_LARGE

    if isinstance(error, RecursionError):
        return Diagnostic(TOO_DEEP, "the input is nested too deeply", filename="<command>")
    said = f": {error}" if str(error) else ""
    return Diagnostic(TOO_LARGE, f"there is not enough memory{said}; --memory-limit sets another limit",
                      filename="<command>")


def _stalled_after(args: argparse.Namespace) -> float:
    """Return the seconds of processor time without a sign of progress that end a command without a time limit."""
    from hlotool.process import STALLED

    execution = _execution_limit(args)
    return STALLED if execution is None else min(STALLED, 1.5 * execution + _AROUND)


def _execution_limit(args: argparse.Namespace) -> float | None:
    """Return the seconds that one execution may take: --run-limit, or what the command says of a whole module."""
    found = getattr(args, "time_limit", getattr(args, "run_limit", None))
    return found if isinstance(found, float) else None
