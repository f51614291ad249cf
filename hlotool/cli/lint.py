"""Reports every problem of modules: syntax errors, broken constraints, wrong shapes.

Exit code 0: no errors; 1: errors (or warnings with --strict); 2: a path that cannot be read.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence

from hlotool.cli.console import complain, frames
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.diagnostics.render import concise, in_order, summary
from hlotool.ir import Source

PROFILES = ("unoptimized", "strict", "scheduled", "cpu", "gpu")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules to check")
    parser.add_argument("--format", choices=("frames", "concise", "json", "jsonl"), default="frames",
                        help="frames with the line of the source (default), a line each, JSON, or JSON lines")
    parser.add_argument("--profile", choices=PROFILES, default="unoptimized",
                        help="which rules hold: those of HLO before optimisation (default), or a later stage's")
    parser.add_argument("--quiet", "-q", action="store_true", help="errors and warnings only, no notes, no summary")
    parser.add_argument("--strict", action="store_true", help="warnings count as errors for the exit code")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def run(args: argparse.Namespace) -> int:
    sources: dict[str, Source] = {}
    found: list[Diagnostic] = []
    files: set[str] = set()
    is_unreadable = False
    for loaded in load(args.paths, sources):
        files.add(loaded.input.filename if loaded.input is not None else loaded.name)
        is_unreadable |= loaded.input is None
        found.extend(_findings(loaded, args.profile))
    found = [d for d in in_order(found) if not (args.quiet and d.severity is Severity.INFO)]
    _print(found, sources, args)
    if not args.quiet and args.format in ("frames", "concise"):
        complain(summary(found, len(files)))
    counted = (Severity.ERROR, Severity.WARNING) if args.strict else (Severity.ERROR,)
    return 2 if is_unreadable else int(any(d.severity in counted for d in found))


def _findings(loaded: Loaded, profile: str) -> list[Diagnostic]:
    try:
        module = loaded.module()
    except HloError as error:
        return error.diagnostics
    from hlotool.lint import lint

    found = lint(module, config={"profile": profile})
    if loaded.input is None or loaded.input.source is not None:
        return found
    return [dataclasses.replace(d, filename=loaded.input.filename) for d in found]


def _print(found: Sequence[Diagnostic], sources: dict[str, Source], args: argparse.Namespace) -> None:
    from hlotool.diagnostics.json import as_json, as_json_lines

    if args.format == "json":
        print(as_json(found))
    elif found:
        forms = {"jsonl": lambda: as_json_lines(found), "concise": lambda: "\n".join(map(concise, found)),
                 "frames": lambda: frames(found, sources, sys.stdout, args.color) + "\n"}
        print(forms[args.format]())
