"""Starts a server of tools for agents (Model Context Protocol): find, read, check, convert, run, compare, blame, draw.

    hlotool mcp                      on standard input and output; programs are read from the current folder
    hlotool mcp --folder dumps       from another one; nothing outside of it is read

An agent's host starts it: {"command": "hlotool", "args": ["mcp", "--folder", "/where/dumps/lie"]}.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

from hlotool.cli.console import complain
from hlotool.cli.option_values import seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, default=Path(), metavar="FOLDER", help="where programs are read from")
    parser.add_argument("--answer-limit", type=seconds, default=120.0, metavar="SECONDS", help="for one answer (120)")


def run(args: argparse.Namespace) -> int:
    if importlib.util.find_spec("mcp") is None:
        complain("hlotool mcp: the server needs the library mcp: pip install 'hlotool[mcp]'")
        return 2
    if not args.folder.is_dir():
        complain(f"hlotool mcp: {args.folder} is no folder")
        return 2
    from hlotool import __version__
    from hlotool.serve.mcp import serve

    serve(args.folder, __version__, args.answer_limit)
    return 0
