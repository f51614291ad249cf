"""Limits of time and memory, which every command takes."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
from collections.abc import Callable

from hlotool.cli.console import report
from hlotool.cli.option_values import seconds, size
from hlotool.diagnostics import Diagnostic

#: commands that last until somebody ends them
_ENDLESS = ("lsp", "mcp", "docs")
#: commands that run programs
_RUNNING = ("run", "compare", "isolate", "bisect", "reduce", "bundle", "fuzz", "roundtrip", "conform", "corpus")
#: beyond the limit of one execution: seconds in which a module is read, lifted, and its arguments are made
_AROUND = 10.0


def add_limits(parser: argparse.ArgumentParser) -> None:
    """The options; a command may have a time limit of its own, for each execution."""
    with contextlib.suppress(argparse.ArgumentError):
        parser.add_argument("--time-limit", type=seconds, metavar="SECONDS", dest="command_time_limit",
                            help="end where a module takes longer")
    with contextlib.suppress(argparse.ArgumentError):
        parser.add_argument("--memory-limit", type=size, metavar="SIZE",
                            help="memory that a module may take: 500MB, 4GiB (default: 80 %% of the machine's)")


def add_sandbox(parser: argparse.ArgumentParser, command: str) -> None:
    """--no-sandbox, for a command whose children run programs."""
    if command in _RUNNING:
        parser.add_argument("--no-sandbox", action="store_true",
                            help="run programs without the sandbox that keeps them from files and the network")


def within_limits(command: str, args: argparse.Namespace, run: Callable[[argparse.Namespace], int],
                  is_process: bool) -> int:
    """The exit code of a command; a process of its own does the work in a second one, so that limits always hold."""
    from hlotool.process import SWITCH, can_supervise, limit_memory, supervised

    def work() -> int:
        if getattr(args, "no_sandbox", False):
            os.environ[SWITCH] = "1"
        if is_process or args.memory_limit is not None:
            limit_memory(args.memory_limit)
        seconds = getattr(args, "time_limit", None)
        if not isinstance(seconds, float):
            return run(args)
        from hlotool.execution import run_limit

        with run_limit(seconds):
            return run(args)

    if not is_process or command in _ENDLESS or not can_supervise():
        return work()
    return supervised(work, _limit_of(args), lambda found: max(2, report([found])))


def limit_reached(error: BaseException) -> Diagnostic:
    """Return the diagnostic for a MemoryError or RecursionError."""
    from hlotool.process import TOO_DEEP, TOO_LARGE

    if isinstance(error, RecursionError):
        return Diagnostic(TOO_DEEP, "the input is nested too deeply", filename="<command>")
    said = f": {error}" if str(error) else ""
    return Diagnostic(TOO_LARGE, f"there is not enough memory{said}; --memory-limit sets another limit",
                      filename="<command>")


def _limit_of(args: argparse.Namespace) -> float | None:
    """Seconds between two signs of progress: a module read, a runtime started, a question answered."""
    execution = getattr(args, "time_limit", None)
    if isinstance(execution, float) and math.isfinite(execution):
        return 1.5 * execution + _AROUND
    whole: float | None = getattr(args, "command_time_limit", None)
    return whole
