"""A command again and again, whenever a file that it reads is written."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hlotool.cli.console import INTERRUPTED, complain

#: commands that read files named on the command line, and end
_WITHOUT = ("corpus", "conform", "bundle", "reduce")
#: tells a process that another one watches
_STARTED = "HLOTOOL_WATCHED"
#: milliseconds between two signs that nothing changed
_SIGN = 250
#: clears a terminal and its memory of lines
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"


def add_watch(parser: argparse.ArgumentParser, command: str) -> None:
    """--watch, for a command that reads files."""
    if command not in _WITHOUT and any(action.dest == "paths" for action in parser._actions):
        parser.add_argument("--watch", action="store_true",
                            help="run again whenever a file changes, until Ctrl-C (needs hlotool[watch])")


def is_watching(args: argparse.Namespace) -> bool:
    """Return True if this process is the one that watches, and not one of those that it starts."""
    return getattr(args, "watch", False) and _STARTED not in os.environ


def watched(paths: Sequence[str], program: str) -> int:
    """Start the command line of this process again and again, at once and after each change of the files.

    Ends with an interrupt, whose exit code this gives.
    """
    if importlib.util.find_spec("watchfiles") is None:
        complain(f"{program}: --watch needs watchfiles: pip install 'hlotool[watch]'")
        return 2
    if "-" in paths or not paths:
        complain(f"{program}: --watch needs files; standard input is read once")
        return 2
    import subprocess

    import watchfiles

    from hlotool.process import die_with_parent

    given = [Path(path) for path in paths]
    missing = [str(path) for path in given if not path.exists()]
    if missing:
        complain(f"{program}: --watch cannot find {missing[0]}")
        return 2
    # Editors write another file and rename it: the folder notices that, the file that was there does not.
    folders = {path if path.is_dir() else path.parent for path in given}
    wanted = {Path(os.path.realpath(path)) for path in given}

    def counts(_: object, changed: str) -> bool:
        place = Path(os.path.realpath(changed))
        return place in wanted or any(folder in wanted for folder in place.parents)

    is_first = True
    # The first sign, an empty one, says that the watch has begun: what is written during the first run counts.
    for changes in watchfiles.watch(*folders, watch_filter=counts, rust_timeout=_SIGN, yield_on_timeout=True):
        if not changes and not is_first:
            continue
        is_first = False
        if sys.stdout.isatty():
            getattr(sys.stdout, "hlotool_write", sys.stdout.write)(_CLEAR)
            sys.stdout.flush()
        code = subprocess.run(sys.orig_argv, env={**os.environ, _STARTED: "1"}, check=False,
                              preexec_fn=functools.partial(die_with_parent, os.getpid())).returncode
        if code == INTERRUPTED:
            break
        complain(f"{program}: exit code {code}; waiting for changes, Ctrl-C ends")
    return INTERRUPTED
