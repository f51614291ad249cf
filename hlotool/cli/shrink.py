"""Shrinks to two devices each axis of a mesh along which a partitioned program only repeats itself.

    hlotool shrink part.hlo                     the program for as few devices as do what all did
    hlotool shrink part.hlo -o small.hlo        to a file; the reason is printed on standard error
    hlotool shrink part.hlo --format json       a record: the text, and its findings

Exit code 0: it was shrunk; 1: no axis only repeats (V271), and why; 2: unusable input.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from hlotool.cli.console import complain, encoded, report, write_bytes
from hlotool.cli.inputs import load
from hlotool.cli.module_records import add_module_records, module_record, write_records
from hlotool.cli.whole_files import require_beside, write_beside
from hlotool.diagnostics import HloError, visible
from hlotool.ir import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PART", help="the program of one device, after partitioning: HLO in any form, "
                                                     "- for standard input")
    parser.add_argument("--output", "-o", metavar="FILE", help="the file to write instead of standard output")
    add_module_records(parser)


def run(args: argparse.Namespace) -> int:
    from hlotool.passes.shrink_mesh import shrink_axes

    sources: dict[str, Source] = {}
    wanted = list(load([args.path], sources))
    if len(wanted) != 1:
        complain(f"{visible(args.path)} holds {len(wanted)} modules; shrink takes one")
        return 2
    try:
        if args.output:
            require_beside(args.output)
        module = wanted[0].module()
        before = module.device_counts[1]
        axes = shrink_axes(module)
    except HloError as error:
        if args.format == "json":
            write_records([module_record(wanted[0].name, "hlo", None, error.diagnostics)], args.output)
        return report(error.diagnostics, sources)
    for axis in axes:
        complain(f"shrunk to 2: {axis.reason}")
    complain(f"{before:,} -> {module.device_counts[1]:,} devices")
    if args.format == "json":
        write_records([module_record(wanted[0].name, "hlo", str(module))], args.output)
    elif args.output and args.output != "-":
        write_beside(Path(args.output), encoded(str(module)))
    else:
        write_bytes(encoded(str(module)))
    return 0
