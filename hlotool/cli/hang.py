"""Reads what watchdogs log of a hang: in which collective devices wait, at which line, and who is missing.

    hlotool hang job.log                              the collectives, as the log has them
    hlotool hang job.log --dumps dumps/               joined with modules: instruction, line, branch
    hlotool hang host0.log host1.log --dumps dumps/   logs of several hosts together
    hlotool hang job.log --dumps dumps/ --format json

It knows XLA's messages about a rendezvous (CPU and GPU, since 2021), and those of the watchdog of PyTorch's NCCL with
its desync report. Of a dumped module its last stage is looked at. Devices are missing if the log tells all others, or
if the module sends them into another branch. Exit code 0: nobody waits; 1: devices wait; 2: unusable input.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hlotool.cli.console import report
from hlotool.cli.inputs import load
from hlotool.cli.report_format import add_format, print_json
from hlotool.diagnostics import Diagnostic, HloError, Note, first_few
from hlotool.ir import Source
from hlotool.text.input_files import bytes_of, read_stream, uncompressed

if TYPE_CHECKING:
    from hlotool.cli.hang_record import StuckRecord
    from hlotool.distributed import StuckCollective, StuckInstruction
    from hlotool.ir import HloModule

#: instructions that are shown of one collective
_MOST = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("logs", metavar="LOG", nargs="+", help="what processes wrote to standard error: a file for "
                                                               "each host, or one for all; - is standard input")
    parser.add_argument("--dumps", metavar="PATH", nargs="+", default=[], help="modules that ran, or folders of them")
    add_format(parser, "hlotool.cli.hang_record:HangReport")


def run(args: argparse.Namespace) -> int:
    from hlotool.distributed import merged_logs, read_watchdog_log, stuck_instructions

    try:
        logs = [read_watchdog_log(_log(path)) for path in args.logs]
    except HloError as error:
        return max(2, report(error.diagnostics))
    sources: dict[str, Source] = {}
    modules, problems = _modules(args.dumps, sources)
    found, records = list[Diagnostic](problems), list["StuckRecord"]()
    for stuck in merged_logs(logs):
        places = [p for m in modules for p in stuck_instructions(m, stuck)]
        records.append(_record(stuck, places))
        found.append(_diagnostic(stuck, places, args.logs[0]))
    if args.format == "json":
        print_json(records)
        found = problems
    elif not records:
        print("no watchdog tells of devices that wait")
    report(found, sources)
    return 2 if problems else bool(records)


def _log(path: str) -> str:
    """Return the text of a log, compressed or not; `-` is standard input. Raises HloError."""
    data = read_stream(sys.stdin.buffer, "<stdin>") if path == "-" else bytes_of(Path(path))
    return uncompressed(data, path).decode("utf-8", "replace")


def _modules(paths: list[str], sources: dict[str, Source]) -> tuple[list[HloModule], list[Diagnostic]]:
    """The modules of paths; of each dumped one the last stage."""
    modules, problems = list["HloModule"](), list[Diagnostic]()
    for loaded in load([f for path in paths for f in _last_stages(path)], sources):
        try:
            modules.append(loaded.module())
        except HloError as error:
            problems += error.diagnostics
    return modules, problems


def _last_stages(path: str) -> list[str]:
    """The files of a folder that hold modules, of each dumped one the last; a file itself."""
    from hlotool.dumps import chains_of, dump_name, dumps_of, sort_folder

    if not Path(path).is_dir():
        return [path]
    files = sort_folder(path).files
    return [f for f in files if dump_name(Path(f).name) is None] + [
        c.dumps[-1].path for c in chains_of(d for d in dumps_of(files) if not d.name.is_mlir)]


def _diagnostic(stuck: StuckCollective, places: list[StuckInstruction], log: str) -> Diagnostic:
    from hlotool.distributed import STUCK
    from hlotool.execution import located
    from hlotool.passes.origins import origin_of

    notes = [Note(s) for s in _sentences(stuck, places)]
    if not places:
        return Diagnostic(STUCK, _headline(stuck, None), filename=log, line=stuck.lines[0], column=1,
                          end_line=stuck.lines[0], end_column=1, notes=tuple(notes))
    first, *others = places
    at = located(first.module, first.instruction, STUCK, _headline(stuck, first))
    for place in others[:_MOST]:
        notes.append(Note(f"the log does not tell it from {place.instruction.opcode} {place.instruction.name}"))
    if len(others) > _MOST:
        notes.append(Note(f"and {len(others) - _MOST} more"))
    return replace(at, notes=tuple(notes), origin=origin_of(first.module, first.instruction))


def _headline(stuck: StuckCollective, place: StuckInstruction | None) -> str:
    from hlotool.execution import numbered

    what = f"{place.instruction.opcode} {place.instruction.name}" if place is not None else stuck.opcode or stuck.name
    if stuck.is_channel and stuck.number is not None:
        what += f" (channel {stuck.number})"
    if stuck.is_complete:
        return f"{what}: all {stuck.expected} have come after {stuck.seconds} s, and the operation itself does not end"
    missing = _missing(stuck, place)
    is_known = stuck.expected is not None and stuck.expected >= stuck.arrived
    count = f"{stuck.arrived} of {stuck.expected}" if is_known else f"{stuck.arrived}"
    said = f"{what}: {count} wait for {stuck.seconds} s"
    return f"{said}; {numbered(missing)} {'is' if len(missing) == 1 else 'are'} missing" if missing else (
        f"{said}; the log does not tell who is missing")


def _missing(stuck: StuckCollective, place: StuckInstruction | None) -> tuple[int, ...]:
    """The devices that the log misses, else those that a module sends elsewhere, if they are as many."""
    if stuck.missing or place is None:
        return stuck.missing
    is_right = stuck.expected is None or len(place.elsewhere) == stuck.expected - stuck.arrived
    return place.elsewhere if is_right else ()


def _sentences(stuck: StuckCollective, places: list[StuckInstruction]) -> Iterator[str]:
    from hlotool.execution import numbered

    yield f"the log has it as \"{stuck.name}\" (line {first_few(map(str, stuck.lines), _MOST)})"
    if stuck.here:
        yield f"{numbered(sorted(stuck.here))} wait"
    for place in places[:1]:
        if place.branch is not None:
            yield (f"{place.branch.opcode} {place.branch.name} sends {numbered(place.elsewhere)} into another branch, "
                   "by the device's number")


def _record(stuck: StuckCollective, places: list[StuckInstruction]) -> StuckRecord:
    from hlotool.passes.origins import line_of

    return {"name": stuck.name, "opcode": stuck.opcode, "number": stuck.number, "is_channel": stuck.is_channel,
            "devices": list(stuck.devices), "expected": stuck.expected, "arrived": stuck.arrived,
            "here": sorted(stuck.here),
            "missing": list(_missing(stuck, places[0] if places else None)),
            "seconds": stuck.seconds, "lines": stuck.lines,
            "instructions": [{"module": p.module.name, "instruction": p.instruction.name,
                              "opcode": p.instruction.opcode, "source": line_of(p.module, p.instruction),
                              "branch": p.branch.name if p.branch is not None else None,
                              "elsewhere": list(p.elsewhere)} for p in places]}
