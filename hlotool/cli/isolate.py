"""Names the instruction that is guilty: of NaN or an infinity, or of a difference.

    hlotool isolate model.hlo --nan --args x.npz     the first instruction that makes NaN or an infinity
    hlotool isolate model.hlo --args x.npz           the same, where a result is not finite

Exit code 0: nothing found, 1: an instruction is named, 2: the module does not run.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from hlotool.cli.arrays import add_argument_files, read_arguments
from hlotool.cli.console import report
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.diagnostics import HloError
from hlotool.ir import Source

#: sets of arguments that are made where none are given
_INPUTS = ("random", "positive", "special")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules")
    parser.add_argument("--nan", action="store_true", help="where NaN and infinities come from, on the reference")
    add_argument_files(parser)
    parser.add_argument("--inputs", nargs="+", choices=_INPUTS, default=_INPUTS[:2],
                        help="what to make where --args gives nothing; the first set with a finding counts")
    parser.add_argument("--format", choices=("text", "json"), default="text",
                        help="json: a line for each module; hlotool.triage.reports describes its fields")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="--format json")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="SECONDS",
                        help="for each module; what is running then is still ended in order (default %(default)s)")


def run(args: argparse.Namespace) -> int:
    sources: dict[str, Source] = {}
    code = 0
    for loaded in load(args.paths, sources):
        try:
            code = max(code, _isolate(loaded, args, sources))
        except HloError as error:
            code = max(code, report(error.diagnostics, sources))
    return code


def _isolate(loaded: Loaded, args: argparse.Namespace, sources: dict[str, Source]) -> int:
    from hlotool.execution import Program
    from hlotool.triage import find_nonfinite, nonfinite_diagnostics, nonfinite_json

    program = Program(loaded.module())
    for inputs, rows in _argument_sets(program, args):
        found, kind = find_nonfinite(program, rows, args.time_limit), inputs
        if found.verdict != "finite":
            break
    if args.format == "json":
        print(json.dumps({**nonfinite_json(loaded.name, found), "inputs": kind}))
    else:
        print(f"{loaded.name}: {_summary(found, kind)}", flush=True)
        report(nonfinite_diagnostics(found), sources)
    return int(found.verdict != "finite")


def _argument_sets(program: Any, args: argparse.Namespace) -> list[tuple[str, list[list[Any]]]]:
    """The arguments of every device, for each set."""
    from hlotool.execution import arguments_for, fitted

    if args.argument_files:
        given = fitted(program, read_arguments(args.argument_files, program.parameters))
        return [("given", [given] * program.devices)]
    return [(kind, [arguments_for(program, args.seed + d, kind) for d in range(program.devices)])
            for kind in args.inputs]


def _summary(found: Any, kind: str) -> str:
    """One line about a module."""
    if found.verdict == "finite":
        masked = f"; {len(found.masked)} instructions make NaN that no result shows" if found.masked else ""
        return f"all results are finite on {kind} arguments{masked}"
    word = "NaN" if found.verdict == "nan" else "infinite"
    first = found.guilty[0].place if found.guilty else None
    where = f", made by {first}" if first is not None else ""
    line = f" ({first.origin})" if first is not None and first.origin else ""
    return f"a result is {word} on {kind} arguments{where}{line}"
