"""A module as a page to look at: its graph, folded and opened by click, with the text beside it.

    hlotool view step.hlo -o page.html             graph, text, findings, costs, shardings; search and links
    hlotool view before.hlo after.hlo -o page.html     two modules side by side, with what `diff` matches
    hlotool view DUMPS -o page.html                the passes of a folder of dumps as a time line
    hlotool view step.hlo --values values.npz -o page.html    values of `run --trace`, or a record of `isolate`
    hlotool view step.hlo --values times.csv -o page.html     measured times, or any other data by name, as colours
    hlotool view step.hlo --report -o report.html  findings, costs, memory over time and passes as tabs of one page
    hlotool view step.hlo --format dot             for Graphviz; svg: an image; json: for Model Explorer
    hlotool view step.hlo --around add.3 --hops 2 -o near.svg     what is near an instruction, for a README or a report
    hlotool view step.hlo --around add.3 --to tanh.7 -o way.svg   the ways from one instruction to another

The page needs no other file and no network. page.html#add.3 opens it at an instruction. Of a text that ends in the
middle, what could be read is drawn. Exit code 0: written, 1: written, but a text could be read in part only, 2: an
input cannot be read.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hlotool.cli.console import complain, report
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.cli.option_values import whole_number
from hlotool.cli.report_format import add_schema
from hlotool.cli.whole_files import note_read, require_beside, write_beside
from hlotool.diagnostics import Diagnostic, HloError, visible
from hlotool.ir import HloModule, Source, is_sound
from hlotool.text import TRUNCATED, parse_recovering

_FORMS = ("html", "dot", "svg", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "a module, two modules, or a folder of dumps")
    parser.add_argument("--output", "-o", metavar="FILE", help="where the page goes (default: standard output)")
    parser.add_argument("--format", choices=_FORMS, default=None,
                        help="html: the page; dot: for Graphviz; svg: an image of the entry computation; json: graphs "
                             "for Model Explorer (default: by the suffix of --output, else html)")
    add_schema(parser, "hlotool.view:GraphCollection")
    parser.add_argument("--report", action="store_true",
                        help="html of a module or a folder: tabs beside the graph with findings, costs, memory over "
                             "time and passes, each row a link to its place")
    parser.add_argument("--values", metavar="FILE",
                        help="values to show on the page of a module, or of the first of two: an .npz file of "
                             "`run --trace`, the JSON of `isolate`, or any data by name as CSV (name,value) or JSON")
    parser.add_argument("--boxes", type=whole_number(0), default=None, metavar="N",
                        help="dot and svg: open folds as long as a drawing has at most N boxes; 0: open all (default "
                             "40); --around: boxes at most, 0: all (default 24)")
    parser.add_argument("--around", metavar="NAME",
                        help="show what is near an instruction (add.3, COMPUTATION/add.3); html: open the page there")
    parser.add_argument("--hops", type=whole_number(0), default=None, metavar="N",
                        help="steps from the instruction of --around, up to operands and down to users (default: 2)")
    parser.add_argument("--to", metavar="NAME", help="show the ways from the instruction of --around to this one")
    parser.add_argument("--lint", action=argparse.BooleanOptionalAction, default=None,
                        help="mark findings (default: yes, but not in folders)")
    parser.add_argument("--module", metavar="NAME", help="of a folder, only modules of that name (jit_step, jit_*)")
    parser.add_argument("--megabytes", type=whole_number(0), default=None, metavar="N",
                        help="of a folder: a page of at most N MB, dumps that have no room in it are left out (default "
                             "100)")


def run(args: argparse.Namespace) -> int:
    if args.output is not None:
        require_beside(args.output)
    form = args.format or _form_of(args.output)
    if args.values is not None and form != "html":
        complain(f"hlotool view shows --values on a page, not as {form}")
        return 2
    if args.report and (form != "html" or len(args.paths) > 1):
        complain("hlotool view: --report is a page of one module or of a folder of dumps")
        return 2
    if problem := _misplaced_options(args):
        complain(f"hlotool view: {problem}")
        return 2
    if len(args.paths) == 1 and Path(args.paths[0]).is_dir():
        return _folder(args.paths[0], form, args)
    sources: dict[str, Source] = {}
    wanted = list(load(args.paths, sources))
    if len(wanted) not in (1, 2) or (len(wanted) == 2 and form != "html"):
        complain(f"hlotool view shows one module{', or two as a page' if len(wanted) > 1 else ''}; {len(wanted)} given")
        return 2
    try:
        read = [_read_in_part(w) for w in wanted]
        _write(args, _drawn([w.name for w in wanted], [m for m, _ in read], form, args))
    except HloError as error:
        report(error.diagnostics, sources)
        return 2
    if problems := [d for _, found in read for d in found]:
        report(problems, sources)
        complain("hlotool view: what could be read is drawn")
    return int(bool(problems))


def _misplaced_options(args: argparse.Namespace) -> str:
    """Return the sentence about options that do not go together; nothing where all do."""
    if args.around is None and (args.hops is not None or args.to is not None):
        return "--hops and --to need --around NAME"
    if args.hops is not None and args.to is not None:
        return "--hops counts steps around one instruction; --to shows the ways to another: give one of them"
    if args.around is not None and (len(args.paths) > 1 or Path(args.paths[0]).is_dir()):
        return "--around shows a part of one module"
    return ""


def _read_in_part(wanted: Loaded) -> tuple[HloModule, list[Diagnostic]]:
    """Return a module, or what could be read of a text that ends in the middle, with its errors. Raises HloError."""
    try:
        return wanted.module(), []
    except HloError as error:
        if wanted.input is None or wanted.input.source is None or {d.code for d in error.diagnostics} != {TRUNCATED}:
            raise
        found, problems = parse_recovering(wanted.input.source)
        found.computations = [c for c in found.computations if c.instructions]
        if found.entry not in found.computations and found.computations:
            found.entry = found.computations[-1]
        if not found.computations or not is_sound(found) or any(i.shape is None for i in found.instructions()):
            raise
        return found, problems


def _form_of(output: str | None) -> str:
    suffix = Path(output).suffix.removeprefix(".") if output is not None else ""
    return {"gv": "dot"}.get(suffix, suffix if suffix in _FORMS else "html")


def _drawn(names: list[str], modules: list[HloModule], form: str, args: argparse.Namespace) -> str:
    from hlotool.view import module_page, pair_page, read_values

    part = _drawn_part(names[0], modules[0], form, args) if args.around is not None else ""
    if part and form != "html":
        return part
    if form != "html":
        return _drawings()[form](modules[0], args)
    if args.values is not None:
        note_read(args.values)
    values = read_values(args.values) if args.values is not None else None
    lints = args.lint is not False
    if len(modules) == 2:
        return pair_page(names, modules, values, lints=lints)
    return module_page(names[0], modules[0], values, lints=lints, opened_at=part, is_report=args.report)


def _drawn_part(name: str, module: HloModule, form: str, args: argparse.Namespace) -> str:
    """Return a part of a module in a form, or its address in the page. Raises HloError."""
    from hlotool.view import (
        DEFAULT_NEAR,
        around,
        between,
        excerpt_dot,
        excerpt_svg,
        model_explorer_text,
    )

    most = DEFAULT_NEAR if args.boxes is None else args.boxes or None
    try:
        found = between(module, args.around, args.to, most) if args.to is not None else \
            around(module, args.around, 2 if args.hops is None else args.hops, most)
    except HloError as error:
        raise HloError([replace(d, filename=name) for d in error.diagnostics]) from error
    if form == "html":
        return found.address()
    if found.rest:
        complain(f"hlotool view: {found.rest}; --boxes N shows more, --boxes 0 all")
    if form == "json":
        return model_explorer_text(module, set(found.boxes))
    return excerpt_dot(found) if form == "dot" else excerpt_svg(found)


def _drawings() -> dict[str, Callable[[HloModule, argparse.Namespace], str]]:
    from hlotool.view import DEFAULT_BOXES, as_dot, as_svg, model_explorer_text

    def most(args: argparse.Namespace) -> int | None:
        return DEFAULT_BOXES if args.boxes is None else args.boxes or None

    return {"dot": lambda module, args: as_dot(module, most(args)),
            "svg": lambda module, args: as_svg(module, most(args)),
            "json": lambda module, _: model_explorer_text(module)}


def _folder(path: str, form: str, args: argparse.Namespace) -> int:
    from hlotool.dumps import DumpReader, read_folder
    from hlotool.view import MOST_BYTES, folder_page

    if form != "html" or args.values is not None:
        complain("hlotool view: of a folder there is a page" + (
            f", no {form}" if form != "html" else "; --values are those of one module"))
        return 2
    wanted = args.module
    folder = read_folder(path, None if wanted is None else lambda name: fnmatch.fnmatchcase(name, wanted))
    for chain in folder.chains:
        for dump in chain.dumps:
            note_read(dump.path)
    most = MOST_BYTES if args.megabytes is None else args.megabytes * 1_000_000
    page = folder_page(path, folder.chains, DumpReader(), lints=bool(args.lint), most_bytes=most, is_report=args.report)
    _write(args, page.text)
    if folder.alone:
        many = "s" * (folder.alone > 1)
        complain(f"hlotool view: {folder.alone} module{many} with one dump only left out, for no pass can be shown; "
                 "`hlotool view FILE` shows the dump")
    if page.left_out:
        complain(f"hlotool view: {page.left_out} dumps are left out, or what differs in them, for the page would be "
                 f"larger than {most // 1_000_000} MB; --module NAME chooses modules, --megabytes N gives more room")
    return 0


def _write(args: argparse.Namespace, text: str) -> None:
    if args.output is None:
        if sys.stdout.isatty() and text.startswith("<!doctype"):
            complain("hlotool view: a page is not for terminals; -o page.html writes it")
            raise SystemExit(2)
        print(text, end="")
        return
    write_beside(Path(args.output), text.encode("utf-8", "backslashreplace"))
    print(visible(args.output))
