"""Puts a failure into one archive: module, arguments, expected and actual values, versions, flags, and an issue's text.

    hlotool bundle small.hlo --args small.npz -o bug.zip      pjrt:cpu differs from the reference
    hlotool bundle small.hlo --test crash -o bug.zip
    hlotool bundle small.hlo --issue issue.md                 the issue's text as well (- : standard output)
    hlotool bundle run bug.zip                                shows the failure again

`run` trusts nothing of an archive: sizes are bounded, names are known ones, and nothing in it runs but the module; its
flags are printed, not set. Exit code 0: the failure is there; 1: it is not; 2: unusable input.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

from hlotool.cli.console import complain, report, write_bytes
from hlotool.cli.inputs import load
from hlotool.cli.reduce import add_failure, candidate_of, test_of
from hlotool.cli.report_format import add_format
from hlotool.cli.whole_files import note_read, require_beside, write_beside
from hlotool.diagnostics import HloError, visible

if TYPE_CHECKING:
    from hlotool.reduction import Bundle, Observation

#: bytes that an archive may have
_MOST = 1 << 31


class BundleReport(TypedDict):
    """The report of `hlotool bundle`."""

    bundle: NotRequired[Annotated[str, "the archive that was made"]]
    test: str
    sign: str
    then: Annotated[str, "what was seen when it was made"]
    now: str
    is_shown: bool
    versions: Annotated[dict[str, str], "when it was made"]
    versions_here: Annotated[dict[str, str], "where it ran again; differences are why it may not show"]
    flags: dict[str, str]
    instructions: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="MODULE", help="a module; or `run` and an archive")
    add_failure(parser)
    parser.add_argument("--output", "-o", metavar="FILE.zip", help="where the archive goes (default: bundle.zip)")
    parser.add_argument("--issue", metavar="FILE.md", help="write the issue's text there, too; - is standard output")
    add_format(parser, "hlotool.cli.bundle:BundleReport")
    # Where `reduce` wants to know the form of its result, a bundle has both.
    parser.set_defaults(output=None)


def run(args: argparse.Namespace) -> int:
    words = args.words
    try:
        if words[0] == "run" and len(words) == 2:
            return _run_bundle(words[1], args)
        if len(words) == 1:
            return _make(words[0], args)
    except HloError as error:
        return max(1, report(error.diagnostics))
    complain("bundle takes one module, or `run` and an archive")
    return 2


def _make(path: str, args: argparse.Namespace) -> int:
    from hlotool.reduction import bundle_of, can_bundle

    wanted = list(load([path]))
    if len(wanted) != 1:
        complain(f"{visible(path)} holds {len(wanted)} modules; a bundle holds one")
        return 2
    for name in args.argument_files or ():
        note_read(name)
    output = Path(args.output or "bundle.zip")
    for name in (output, args.issue):
        if name and name != "-":
            require_beside(name)
    test = test_of(args, wanted[0])
    if not can_bundle(test):
        complain("--command: a bundle does not hold programs that others would have to run")
        return 2
    candidate = candidate_of(args, wanted[0], test)
    seen = test.look(candidate)
    if not seen.signs:
        complain(f"{visible(path)} does not show the failure: {visible(test.describe())}" +
                 (f" ({visible(seen.said)})" if seen.said else ""))
        return 1
    command = shlex.join(["hlotool", *sys.argv[1:]]) if sys.argv[1:2] == ["bundle"] else ""
    made = bundle_of(candidate, test, seen, command)
    write_beside(output, made.as_bytes())
    if args.issue == "-":
        write_bytes(made.issue.encode())
    elif args.issue:
        write_beside(Path(args.issue), made.issue.encode())
    if args.format == "json":
        print(json.dumps(_record(made, seen, made.versions) | {"bundle": str(output)}))
    elif args.issue != "-":
        print(f"{visible(str(output))}: {visible(seen.said or seen.signs[0])}")
    return 0


def _run_bundle(path: str, args: argparse.Namespace) -> int:
    from hlotool.reduction import read_bundle, versions_here
    from hlotool.text.folder_files import open_regular

    with open_regular(path) as file:
        data = file.read(_MOST + 1)
    held = read_bundle(data, path, args.executors)
    seen = held.test.look(held.candidate)
    if args.format == "json":
        print(json.dumps(_record(held, seen, versions_here(held.test))))
        return int(not held.is_shown_by(seen))
    print(f"{visible(path)}: {visible(held.test.describe())}")
    print(f"  then: {visible(held.said or held.sign)}")
    print(f"  now:  {visible(seen.said) if seen.signs else 'the failure does not show' + _because(seen)}")
    for name, then in held.flags.items():
        print(f"  {visible(name)} was {visible(then)}; it is not set from here")
    here = versions_here(held.test)
    for name, then in held.versions.items():
        now = here.get(name, "none")
        print(f"  {visible(name)}: {visible(then)}" + (f" (here {visible(now)})" if now != then else ""))
    return int(not held.is_shown_by(seen))


def _because(seen: Observation) -> str:
    return f" ({visible(seen.said)})" if seen.said else ""


def _record(held: Bundle, seen: Observation, here: dict[str, str]) -> BundleReport:
    return {"test": held.test.describe(), "sign": held.sign, "then": held.said, "now": seen.said,
            "is_shown": held.is_shown_by(seen), "versions": held.versions,
            "versions_here": here, "flags": held.flags,
            "instructions": held.candidate.size}
