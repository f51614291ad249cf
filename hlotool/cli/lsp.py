"""Starts the language server for editors: diagnostics while typing, hover, definitions, rename, fixes, formatting.

    hlotool lsp                      on standard input and output, as editors start it
    hlotool lsp --tcp --port 8888    for several editors, or to look at what is said
"""

from __future__ import annotations

import argparse
import importlib.util

from hlotool.cli.console import complain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tcp", action="store_true", help="listen on a port instead of standard input and output")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default %(default)s)")
    parser.add_argument("--port", type=int, default=8888, help="the port to listen on (default %(default)s)")


def run(args: argparse.Namespace) -> int:
    if importlib.util.find_spec("pygls") is None:
        complain("hlotool lsp: the language server needs pygls: pip install 'hlotool[lsp]'")
        return 2
    from hlotool.lsp.server import start

    return start(args.host, args.port) if args.tcp else start()
