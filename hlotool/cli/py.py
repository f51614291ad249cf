"""Prints modules as Python code that builds them.

    hlotool py module.hlo                code on standard output; run it, and it prints the module
    hlotool py module.hlo -o module.py   a file; its function build() gives the module
    hlotool py --check dumps/            no code: exit code 1 where it would not give the same module again
"""

from __future__ import annotations

import argparse
from pathlib import Path

from hlotool.cli.console import complain, encoded, report, write_bytes
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.cli.whole_files import write_beside
from hlotool.diagnostics import HloError
from hlotool.ir import HloModule, Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules to write as Python")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the code of the one module there")
    parser.add_argument("--check", action="store_true", help="run the code instead, and compare what it builds")


def run(args: argparse.Namespace) -> int:
    from hlotool.builder import to_python

    sources: dict[str, Source] = {}
    code, found = 0, 0
    for loaded in load(args.paths, sources):
        try:
            module = loaded.module()
            text = to_python(module)
        except HloError as error:
            code = max(code, report(error.diagnostics, sources))
            continue
        found += 1
        if args.check:
            code = max(code, _checked(loaded, module, text))
        elif args.output is not None and found == 1:
            write_beside(Path(args.output), encoded(text))
        elif args.output is not None:
            complain(f"{loaded.name} was not written: --output takes one module")
            code = 2
        else:
            write_bytes(encoded(text))
    return code


def _checked(loaded: Loaded, module: HloModule, text: str) -> int:
    """1 where the code does not build the module again."""
    from hlotool.builder import run_python

    try:
        same = str(run_python(text, loaded.name)) == str(module)
    except HloError as error:
        return report(error.diagnostics) or 1
    if same:
        return 0
    complain(f"{loaded.name}: the code builds another module")
    return 1
