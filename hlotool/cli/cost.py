"""Counts the cost of running a module: flops, traffic, memory, communication; loops count as often as they run.

    hlotool cost step.hlo                          the most expensive instructions, and the total
    hlotool cost step.hlo --by line                by line of the Python program; also scope, opcode, computation
    hlotool cost step.hlo --memory                 the memory it needs at once, and the largest values then
    hlotool cost step.hlo --communication          what each collective sends; --by axis, group, line, opcode adds up
    hlotool cost step.hlo --device h100            the least time on a device; --devices lists them
    hlotool cost module_0001-buffer-assignment.txt     the memory that XLA gave it, and what lives at its peak
    hlotool cost step.hlo --html costs.html        a page with pictures of memory over time and of the roofline
    hlotool cost step.hlo --format json            everything, for programs

Flops count additions, multiplications, comparisons and the like, of integers too; exp, tanh, sqrt are transcendental
functions, counted apart. A fusion reads its operands once and writes its results once. Of a conditional the most
expensive branch counts. A loop whose number of rounds is unknown counts once, and is named.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hlotool.cli.console import complain, report
from hlotool.cli.inputs import add_paths, load
from hlotool.cli.option_values import whole_number
from hlotool.cli.parsers import suggestion
from hlotool.cli.report_format import add_format, print_json
from hlotool.cli.whole_files import write_beside
from hlotool.diagnostics import HloError, visible
from hlotool.ir import Source
from hlotool.text.input_files import bytes_of

if TYPE_CHECKING:
    from hlotool.cli.cost_record import AssignmentRecord, ModuleRecord
    from hlotool.dumps import Allocation, AssignedPeak
    from hlotool.passes.cost import CostReport, Device


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from hlotool.passes.cost import GROUPINGS, TRANSFER_GROUPINGS

    add_paths(parser, "modules to count", is_optional=True)
    parser.add_argument("--by", choices=(*GROUPINGS, *TRANSFER_GROUPINGS), default="instruction", metavar="WHAT",
                        help=f"what a row stands for: {', '.join(GROUPINGS)} (default: %(default)s); of "
                             f"--communication also {', '.join(TRANSFER_GROUPINGS)}")
    parser.add_argument("--limit", type=whole_number(0), default=15, metavar="N",
                        help="rows to show; 0: all (%(default)s)")
    parser.add_argument("--memory", action="store_true", help="the largest values that live when most memory is needed")
    parser.add_argument("--communication", action="store_true", help="bytes that each collective sends")
    parser.add_argument("--device", metavar="NAME", help="the least time that a device of that name takes")
    parser.add_argument("--devices", action="store_true", help="list the devices that are known, and end")
    parser.add_argument("--html", metavar="FILE", help="write a page; its roofline is that of --device, or of an H100")
    add_format(parser, "hlotool.cli.cost_record:CostReport")


def run(args: argparse.Namespace) -> int:
    from hlotool.cli.cost_record import allocations_record, module_record
    from hlotool.cli.cost_tables import print_allocations, print_figures
    from hlotool.passes.cost import TRANSFER_GROUPINGS, cost, devices

    if args.devices:
        _tell_devices(list(devices().values()), args)
        return 0
    if not args.paths:
        complain("hlotool cost: a module is needed; `hlotool cost --help` shows what it takes")
        return 2
    if args.by in TRANSFER_GROUPINGS and not args.communication:
        complain(f"hlotool cost: --by {args.by} is for --communication")
        return 2
    name = args.device or (_USUAL_DEVICE if args.html is not None else None)
    device = devices().get(name) if name is not None else None
    if name is not None and device is None:
        complain(f"hlotool cost: {name!r} is no device that is known; {', '.join(devices())} are"
                 f"{suggestion(name, devices())}")
        return 2
    code, shown = 0, []
    records: list[ModuleRecord | AssignmentRecord] = []
    for path in args.paths:
        assigned = _assigned(path)
        if assigned is not None:
            if args.format == "text":
                print_allocations(path, *assigned, args)
            else:
                records.append(allocations_record(path, *assigned))
            continue
        sources: dict[str, Source] = {}
        for loaded in load([path], sources):
            try:
                found = cost(loaded.module(), device, name=loaded.name)
            except HloError as error:
                code = max(code, report(error.diagnostics, sources))
                continue
            if args.html is not None:
                shown.append(found)
                continue
            if args.format == "text":
                print_figures(found, args)
            else:
                records.append(module_record(found))
    if args.html is not None:
        return max(code, _write_page(args.html, shown))
    if args.format == "json":
        print_json({"version": 1, "modules": records})
    return code


#: whose roofline a page shows where no device is named
_USUAL_DEVICE = "h100"


def _tell_devices(found: Sequence[Device], args: argparse.Namespace) -> None:
    from hlotool.cli.cost_tables import print_devices

    if args.format == "json":
        print_json(list(found))
    else:
        print_devices(found, args)


def _write_page(path: str, modules: Sequence[CostReport]) -> int:
    """Write the page of the modules that could be read; gives the exit code."""
    from hlotool.view import cost_page

    if not modules:
        complain("hlotool cost: there is no module to write a page of")
        return 2
    write_beside(Path(path), cost_page(modules).encode("utf-8", "backslashreplace"))
    print(visible(path))
    return 0


# Files that XLA writes beside a dump.

_ASSIGNMENT, _LIVE_RANGES = "buffer-assignment.txt", "live-range.txt"


def _assigned(path: str) -> tuple[list[Allocation], AssignedPeak | None] | None:
    """The allocations of a buffer assignment's file, and their peak where live ranges are known; None for others."""
    from hlotool.dumps import assigned_peak, is_buffer_assignment, read_buffer_assignment, read_live_ranges

    text = _text(path) if path.endswith(".txt") else ""
    if not is_buffer_assignment(text):
        return None
    beside = path.removesuffix(_ASSIGNMENT) + _LIVE_RANGES if path.endswith(_ASSIGNMENT) else ""
    allocations = read_buffer_assignment(text)
    ranges = read_live_ranges(text) or (read_live_ranges(_text(beside)) if beside else None)
    return allocations, assigned_peak(allocations, ranges) if ranges is not None else None


def _text(path: str) -> str:
    """The text of a file; empty where it cannot be read, of which reading it as a module says why."""
    try:
        return bytes_of(Path(path)).decode("utf-8", "surrogateescape")
    except HloError:
        return ""
