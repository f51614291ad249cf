"""Names the pass of a compiler that changes what a module computes, in folders of dumps.

    XLA_FLAGS="--xla_dump_to=DUMPS --xla_dump_hlo_pass_re=.*" python train.py
    hlotool bisect DUMPS                        every pass of every module
    hlotool bisect DUMPS --module jit_step --args x.npz
    hlotool bisect DUMPS --html page.html       the time line of passes as a page
    hlotool bisect DUMPS --save-pair before.hlo after.hlo    the guilty pass as two modules, for `hlotool reduce`
    hlotool bisect DUMPS --against OTHERS       two versions, hosts or flags: the first pass after which they part

Each pass is equal (proved), agrees (on all arguments that were tried), is wrong, or has no verdict. Exit code 0: all
are equal or agree; 1: one is wrong or has no verdict; 2: nothing was judged.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
from pathlib import Path
from typing import TYPE_CHECKING

from hlotool.cli.argument_arrays import add_argument_files, read_arguments, write_arguments
from hlotool.cli.console import complain, report, show_line
from hlotool.cli.limits import add_run_limit
from hlotool.cli.option_values import seconds
from hlotool.cli.report_format import add_format
from hlotool.cli.whole_files import note_read, require_beside, write_beside
from hlotool.diagnostics import Diagnostic, Severity, visible_lines
from hlotool.ir import Source

if TYPE_CHECKING:
    from hlotool.bisection import BisectOptions, ChainVerdict, PassVerdict
    from hlotool.dumps import Chain, DumpFolder, DumpReader


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="what --xla_dump_to wrote, a folder of MLIR passes, or one "
                                                         "file of --mlir-print-ir-after-all")
    parser.add_argument("--against", metavar="FOLDER", help="a second folder of the same program: after which pass "
                                                           "the two part")
    parser.add_argument("--module", metavar="NAME", help="only modules of that name (jit_step, jit_*)")
    parser.add_argument("--all", action="store_true", dest="shows_all", help="list the passes that are equal, too")
    parser.add_argument("--time-budget", type=seconds, default=4.0, metavar="SECONDS",
                        help="of processor time for the search of arguments, a module (default %(default)s)")
    add_run_limit(parser, "one run of a module, and the search for an instruction")
    parser.add_argument("--extremes", action=argparse.BooleanOptionalAction, default=None,
                        help="count differences at the ends of the range (default: in small programs)")
    parser.add_argument("--save-arguments", metavar="FILE.npz", help="write the arguments that show the first fault")
    parser.add_argument("--save-pair", nargs=2, metavar=("BEFORE", "AFTER"),
                        help="write the modules before and after the first pass that is wrong: "
                             "`hlotool reduce BEFORE AFTER` makes them small")
    parser.add_argument("--html", metavar="FILE", help="write a page with the time line")
    add_format(parser, "hlotool.bisection:BisectReport")
    add_argument_files(parser)


def run(args: argparse.Namespace) -> int:
    from hlotool.bisection import folder_record, folder_verdict, text_report
    from hlotool.dumps import DumpReader, read_folder

    wanted = args.module
    folder = read_folder(args.folder, None if wanted is None else lambda name: fnmatch.fnmatchcase(name, wanted))
    _check_written(args, folder)
    reader = DumpReader()
    if args.against is not None:
        return _against(folder, args, reader)
    found = _judged(folder, args, reader)
    if args.format == "json":
        print(json.dumps(folder_record(args.folder, found, folder.beside)))
    else:
        print(text_report(found, shows_all=args.shows_all), flush=True)
        _report_frames(folder, found)
    _write(args, found)
    return {"wrong": 1, "none": 1}.get(folder_verdict(found), 0) if any(c.passes for c in found) else 2


def _check_written(args: argparse.Namespace, folder: DumpFolder) -> None:
    """Raises HloError where a result would take the place of a dump."""
    for chain in folder.chains:
        for dump in chain.dumps:
            note_read(dump.path)
    for name in (args.save_arguments, args.html, *(args.save_pair or ())):
        if name is not None:
            require_beside(name)


def _against(folder: DumpFolder, args: argparse.Namespace, reader: DumpReader) -> int:
    """Hold two folders against each other."""
    from hlotool.bisection import UNLIKE_FOLDERS, compare_folders, partings_record, partings_text
    from hlotool.dumps import read_folder

    other = read_folder(args.against)
    wanted = args.module
    other.chains = [c for c in other.chains if wanted is None or fnmatch.fnmatchcase(c.name, wanted)]
    found, alone = compare_folders(folder, other, _options(args, folder.chains[0], reader))
    show_line("")
    if args.format == "json":
        print(json.dumps(partings_record(found, alone)))
    else:
        print(visible_lines(partings_text(found, alone)), flush=True)
    if not any(p.pairs for p in found):
        report([Diagnostic(UNLIKE_FOLDERS, "no dump of one is of the same module, and after the same pass, as one of "
                                           "the other", filename=args.against)])
        return 2
    return int(any(pair.verdict in ("wrong", "none") for p in found for pair in p.pairs))


def _judged(folder: DumpFolder, args: argparse.Namespace, reader: DumpReader) -> list[ChainVerdict]:
    from hlotool.bisection import judge_chain

    found = []
    for chain in folder.chains:
        found.append(judge_chain(chain, _options(args, chain, reader), reader))
    show_line("")
    return found


def _options(args: argparse.Namespace, chain: Chain, reader: DumpReader) -> BisectOptions:
    from hlotool.bisection import BisectOptions

    arguments = None
    if args.argument_files:
        from hlotool.execution import Program

        for dump in chain.dumps:
            reader.read(dump)
            if dump.module is not None:
                arguments = tuple(read_arguments(args.argument_files, Program(dump.module).parameters))
                break
    return BisectOptions(arguments, args.seed, args.time_budget, args.run_limit, args.extremes, show_line)


def _report_frames(folder: DumpFolder, found: list[ChainVerdict]) -> None:
    """The frames of what is wrong, and of files that could not be read."""
    shown = [d for d in folder.diagnostics if d.severity is not Severity.INFO]
    for chain in found:
        shown += chain.diagnostics
        for verdict in chain.passes:
            if verdict.verdict == "wrong":
                shown += verdict.diagnostics
    sources: dict[str, Source] = {}
    for chain in found:
        for dump in chain.chain.dumps:
            if dump.module is not None and dump.module.source is not None:
                sources.setdefault(dump.path, dump.module.source)
    report(shown, sources)


def _write(args: argparse.Namespace, found: list[ChainVerdict]) -> None:
    wrong = next((p for c in found for p in c.wrong), None)
    if args.save_arguments is not None:
        if wrong is None or wrong.difference is None:
            complain("--save-arguments: no pass is wrong, so there is nothing to write")
        else:
            write_arguments(Path(args.save_arguments), wrong.difference.arguments[0])
    if args.save_pair is not None:
        _write_pair(args.save_pair, wrong)
    if args.html is not None:
        from hlotool.bisection import folder_page

        write_beside(Path(args.html), folder_page(args.folder, found).encode("utf-8", "backslashreplace"))


def _write_pair(names: list[str], wrong: PassVerdict | None) -> None:
    """The modules around a guilty pass, in the form that the files' names ask for."""
    from hlotool.reduction import Candidate, form_of

    if wrong is None or wrong.before.module is None or wrong.after.module is None:
        complain("--save-pair: no pass is wrong, so there is nothing to write")
        return
    for name, module in zip(names, (wrong.before.module, wrong.after.module), strict=True):
        write_beside(Path(name), form_of(Candidate(module), Path(name).suffix))
