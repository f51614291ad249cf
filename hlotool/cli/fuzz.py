"""Looks for the next bug: programs drawn at random, run on an executor, judged, sorted into classes and made small.

    hlotool fuzz --time-limit 600 -o found               ten minutes on pjrt:cpu; programs and bundles in `found`
    hlotool fuzz --time-limit 600 -o found --resume      goes on with that campaign
    hlotool fuzz --generators rule,rewritten --seed 7
    hlotool fuzz --dumps DUMPS --time-limit 600          sections of real dumps, mutated, as well

Programs follow from the seed: the same one finds the same. An interrupt ends the campaign with what it has found.
Exit code 0: nothing was found; 1: classes of findings; 2: unusable input, or no program was judged;
130: interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hlotool.cli.console import INTERRUPTED, complain, report, show_line
from hlotool.cli.limits import add_run_limit
from hlotool.cli.option_values import processes, seconds, whole_number
from hlotool.cli.report_format import add_format
from hlotool.diagnostics import HloError, visible
from hlotool.text.folder_files import files_below

if TYPE_CHECKING:
    from hlotool.fuzzing import Plan, Tally

#: files of a folder of dumps that are mutated at most, and the ends of their names
_MOST_DUMPS = 2000
_SUFFIXES = (".hlo", ".txt")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--time-limit", type=seconds, metavar="SECONDS", default=None, dest="time",
                        help="for all of it (default 60, where --programs says nothing)")
    parser.add_argument("--programs", type=whole_number(1), metavar="N", default=None,
                        help="how many programs, in whole batches")
    parser.add_argument("--seed", type=whole_number(0), default=0, metavar="N",
                        help="what programs follow from (default 0)")
    parser.add_argument("--executors", default="pjrt:cpu", dest="executor", metavar="NAME",
                        help="what is tested; it is held against the reference (default pjrt:cpu)")
    parser.add_argument("--generators", metavar="NAMES", default=None,
                        help="some of operation, composed, rule, dump, rewritten, sharded, with commas (default: "
                             "all but sharded; dump where --dumps is given)")
    parser.add_argument("--dumps", metavar="FOLDER", action="append", default=[],
                        help="a folder (or file) of HLO text whose sections are mutated")
    parser.add_argument("--size", type=whole_number(1), default=64, metavar="N",
                        help="programs in a batch (default 64)")
    parser.add_argument("--jobs", "-j", type=processes(), default=2, metavar="N",
                        help="processes (default 2)")
    add_run_limit(parser, "one program on the executor", 10.0, "program_limit")
    parser.add_argument("--reduction-limit", type=seconds, default=60.0, metavar="SECONDS",
                        help="for making one finding small (default 60)")
    parser.add_argument("--known", action="store_true",
                        help="also run programs that are known to crash the executor")
    parser.add_argument("--output", "-o", metavar="FOLDER", help="keep the campaign, programs and bundles there")
    parser.add_argument("--resume", action="store_true", help="go on with the campaign in that folder")
    add_format(parser, "hlotool.fuzzing:CampaignReport")


def run(args: argparse.Namespace) -> int:
    from hlotool.fuzzing import Campaign, CampaignFolder, Limits, Tally, campaign_record, campaign_text

    if problem := _refused(args):
        complain(f"hlotool fuzz: {problem}")
        return 2
    plan = _plan(args)
    folder = CampaignFolder(Path(args.output)) if args.output else None
    tally = folder.begin(plan, resumes=args.resume) if folder is not None else Tally(plan)
    seconds = args.time if args.time is not None or args.programs is not None else 60.0
    limits = Limits(seconds, args.programs, args.jobs, args.reduction_limit)
    with _uninterrupted_end():
        found = Campaign(tally, limits, folder, _show).run()
        _show(None)
        if args.format == "json":
            print(json.dumps(campaign_record(found, args.output)), flush=True)
        else:
            print(campaign_text(found), flush=True)
    if found.is_interrupted:
        return INTERRUPTED
    if not found.programs:
        complain("hlotool fuzz: no program was judged in that time; --time-limit gives more")
        return 2
    return int(bool(found.classes or found.pending))


def _refused(args: argparse.Namespace) -> str:
    """Return the problem of the options; empty: none."""
    from hlotool.fuzzing import GENERATORS

    if args.resume and not args.output:
        return "--resume needs the folder of the campaign, --output"
    named = args.generators.split(",") if args.generators else []
    unknown = [n for n in named if n not in GENERATORS]
    if unknown:
        return f"there is no generator {visible(unknown[0])}; there are {', '.join(GENERATORS)}"
    if "dump" in named and not args.dumps:
        return "the generator dump needs --dumps"
    return ""


def _plan(args: argparse.Namespace) -> Plan:
    """Return the plan that the options ask for. Raises HloError for an executor or dumps that there are not."""
    from hlotool.execution import executor_named
    from hlotool.fuzzing import NO_DUMPS, Plan, dumps_left_out

    files = tuple(os.path.realpath(f) for given in args.dumps for f in _files(Path(given)))
    left_out = dumps_left_out(files[:_MOST_DUMPS])
    report(left_out.values(), {})
    if len(files) > _MOST_DUMPS:
        complain(f"hlotool fuzz: {_MOST_DUMPS:,} of the {len(files):,} dumps are mutated, the first by name")
    dumps = tuple(f for f in files[:_MOST_DUMPS] if f not in left_out)
    if files and not dumps:
        raise HloError.of(NO_DUMPS, f"no dump in {args.dumps[0]} can be mutated", filename=args.dumps[0])
    if args.dumps and not files:
        raise HloError.of(NO_DUMPS, f"{args.dumps[0]} holds no file that ends with {' or '.join(_SUFFIXES)}",
                          filename=args.dumps[0])
    names = tuple(args.generators.split(",")) if args.generators else (
        *(("dump",) if dumps else ()), "operation", "composed", "rule", "rewritten")
    executor = executor_named(args.executor)
    executor.require_computing()
    return Plan(args.seed, executor.name, names, dumps, args.size, args.program_limit, args.known)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(f for f in map(Path, files_below(str(path), lambda name: name.endswith(_SUFFIXES))) if f.is_file())


@contextlib.contextmanager
def _uninterrupted_end() -> Iterator[None]:
    """After a first interrupt another one changes nothing: the report is on its way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def first(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _show(tally: Tally | None) -> None:
    from hlotool.fuzzing import progress_text

    show_line(progress_text(tally) if tally is not None else "")
