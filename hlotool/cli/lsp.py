"""Starts the language server for editors: diagnostics while typing, hover, definitions, rename, fixes, formatting.

    hlotool lsp                      on standard input and output, as editors start it
    hlotool lsp --tcp --port 8888    for several editors, or to look at the messages
    hlotool lsp --print-config helix    what an editor's settings need
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shlex
import sysconfig
from pathlib import Path

from hlotool.cli.console import complain
from hlotool.cli.option_values import whole_number

#: a file for each editor: its settings, or a script that writes them where they are several files
_CONFIGS = Path(__file__).parents[1] / "serve" / "lsp" / "configs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tcp", action="store_true", help="listen on a port instead of standard input and output")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default %(default)s)")
    parser.add_argument("--port", type=whole_number(0, 65535), default=8888,
                        help="the port to listen on (default %(default)s)")
    parser.add_argument("--print-config", metavar="EDITOR", choices=editors(),
                        help=f"print what an editor needs to start the server: {', '.join(editors())}")


def editors() -> list[str]:
    """The editors whose configuration is known."""
    return sorted(file.stem for file in _CONFIGS.iterdir())


def config_of(editor: str) -> str:
    """Return the configuration with which an editor starts this installation's server."""
    [file] = _CONFIGS.glob(f"{editor}.*")
    own = Path(sysconfig.get_path("scripts")) / ("hlotool.exe" if os.name == "nt" else "hlotool")
    # An editor that no shell started knows no virtual environment. Strings are written alike in all of these languages.
    command = json.dumps(str(own) if own.is_file() else "hlotool", ensure_ascii=False)
    text = file.read_text("utf-8").replace("@COMMAND@", command)
    return text.replace("@SOURCES@", shlex.quote(str(_CONFIGS.with_name("vscode"))))


def run(args: argparse.Namespace) -> int:
    if args.print_config:
        print(config_of(args.print_config), end="")
        return 0
    if importlib.util.find_spec("pygls") is None:
        complain("hlotool lsp: the language server needs pygls: pip install 'hlotool[lsp]'")
        return 2
    from hlotool.serve.lsp.server import start

    return start(args.host, args.port) if args.tcp else start()
