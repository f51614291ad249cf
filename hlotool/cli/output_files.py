"""Output of a command to a file instead of a terminal, whole or not at all."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable
from pathlib import Path

#: commands that print nothing to keep, or as long as they run
_WITHOUT = ("lsp", "mcp", "docs")


def add_output(parser: argparse.ArgumentParser, command: str) -> None:
    """--output, for a command that has none of its own."""
    if command not in _WITHOUT and "--output" not in parser._option_string_actions:
        parser.add_argument("--output", "-o", metavar="FILE", dest="printed_to",
                            help="write what is printed to a file, whole or not at all")


def printing_to_file(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """The command with its standard output in the file that --output names; nothing is written where it fails (2)."""

    def printing(args: argparse.Namespace) -> int:
        file = getattr(args, "printed_to", None)
        if file is None:
            return run(args)
        from hlotool.cli.whole_files import write_beside

        buffer, before = io.BytesIO(), sys.stdout
        sys.stdout = stream = io.TextIOWrapper(buffer, "utf-8", "surrogateescape", newline="", write_through=True)
        try:
            code = run(args)
        finally:
            sys.stdout = before
        stream.flush()
        if code < 2:
            write_beside(Path(file), buffer.getvalue())
        return code

    return printing
