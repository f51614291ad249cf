"""Compares two modules by structure; names and the order of the text do not matter.

    hlotool diff before.hlo after.hlo              changed (~), removed (-) and added (+) instructions
    hlotool diff before.hlo after.mlir             HLO against StableHLO, both in the form that StableHLO gives them
    hlotool diff a.hlo b.hlo --ignore sharding backend_config
    hlotool diff a.hlo b.hlo --passes=dce          after passes on both sides
    hlotool diff before.hlo after_optimizations.hlo    what became of its operations, by kind; --all: every change
    hlotool diff before.hlo after.hlo --values         the same by the values computed; --all: each operation
    hlotool diff host0/ host1/ host2/              dump folders: modules that are not the same in all of them
    hlotool diff old/ new/                         dumps of two versions: the pass where they part; --all: what follows
    hlotool diff a.hlo b.hlo --format json

Instructions are matched from operands up and from users down; repetitions of a pure instruction and dead
instructions are no difference; nor, of HLO and StableHLO, what converters of frontends simplify, which is named. Exit
code 0: none, 1: the modules differ, 2: one cannot be read.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hlotool.cli.argument_arrays import add_argument_files, read_arguments
from hlotool.cli.console import complain, report, wants_color
from hlotool.cli.inputs import Loaded, add_paths, load, module_of
from hlotool.cli.limits import add_run_limit
from hlotool.cli.report_format import add_format, print_json
from hlotool.diagnostics import HloError, visible
from hlotool.ir import HloModule, Source
from hlotool.text.input_files import inputs_of

if TYPE_CHECKING:
    from hlotool.passes.equality import Diff

_STYLES = {"-": "31", "+": "32", "~": "33", "head": "1", "part": "2"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "the two modules, or two and more dump folders of several hosts or versions")
    parser.add_argument("--names", action="store_true", help="match by names first; other names are differences")
    parser.add_argument("--layouts", action="store_true", help="layouts count")
    parser.add_argument("--ignore", nargs="+", default=(), metavar="ATTRIBUTE", help="attributes that do not count")
    parser.add_argument("--passes", default="", metavar="NAME,...", help="passes of `hlotool opt` to run on both first")
    parser.add_argument("--all", action="store_true",
                        help="every change, also where the second module is optimised, and every dump of folders "
                             "behind the one where they part")
    parser.add_argument("--values", action="store_true",
                        help="match operations by the values that they compute on the reference, on made arguments or "
                             "--args; exit code 1 where a result differs")
    add_argument_files(parser)
    add_run_limit(parser, "running both with --values", 120.0)
    add_format(parser, "hlotool.cli.diff_report:DiffReport")
    parser.add_argument("--quiet", "-q", action="store_true", help="the verdict only")


def run(args: argparse.Namespace) -> int:
    sources: dict[str, Source] = {}
    if len(args.paths) > 1 and all(path != "-" and Path(path).is_dir() for path in args.paths):
        return _folders(args)
    wanted = list(load(args.paths, sources))
    if len(wanted) != 2:
        complain(f"hlotool diff takes two modules; {len(wanted)} given")
        return 2
    try:
        given = [w.module() for w in wanted]
        if args.values:
            return _by_values(given, wanted, args)
        if not (args.names or args.layouts or args.passes) and _is_settled(given, wanted, args):
            return 0
        left, right = _modules(given, wanted, args.passes)
    except HloError as error:
        report(error.diagnostics, sources)
        return 2
    from hlotool.passes.equality import diff

    found = diff(left, right, names=args.names, layouts=args.layouts, ignore=args.ignore)
    _show(found, given, wanted, args)
    return 0 if found.is_equal else 1


def _folders(args: argparse.Namespace) -> int:
    """Dump folders, whose modules are paired by name and fingerprint."""
    from hlotool.bisection import diff_folders

    if args.names or args.ignore or args.passes or args.values:
        complain("hlotool diff of folders takes no --names, --ignore, --passes and --values")
        return 2
    try:
        found = diff_folders(args.paths, _modules_of, layouts=args.layouts)
    except HloError as error:
        report(error.diagnostics, {})
        return 2
    if args.format == "json":
        print_json(found.as_json())
    else:
        print(found.summary())
        if not args.quiet:
            _print_lines(found.lines(every=args.all), wants_color(sys.stdout))
    return 0 if found else 1


def _modules_of(data: bytes, filename: str) -> list[HloModule]:
    """The modules that the bytes of a file hold. Raises HloError."""
    return [module_of(given) for given in inputs_of(data, filename)]


def _by_values(given: list[HloModule], wanted: list[Loaded], args: argparse.Namespace) -> int:
    """Report the fate of the operations of one module in the other, by their values on the reference."""
    from hlotool.blame import match_values
    from hlotool.execution import Program, arguments_for, fitted

    before, after = map(Program, given)
    if args.argument_files:
        rows = [fitted(before, read_arguments(args.argument_files, before.parameters))] * before.devices
    else:
        rows = [arguments_for(before, args.seed + device) for device in range(before.devices)]
    found = match_values(before, after, rows, seconds=args.run_limit)
    if args.format == "json":
        print_json({"left": wanted[0].name, "right": wanted[1].name, **found.as_json()})
    else:
        print(_wrapped(visible(f"{wanted[1].name} held against {wanted[0].name} by values. {found.summary()}")))
        if not args.quiet:
            _print_lines(found.lines(args.all), wants_color(sys.stdout), is_wrapped=not args.all)
        if not args.quiet and not args.all:
            print("each operation: --all")
    return int(bool(found.different))


#: what XLA's import does beside, and its name
_WRITTEN_OUT = ("written-out", "functions of complex numbers, and ApproxTopK, which XLA writes in simpler operations")


def _is_settled(given: list[HloModule], wanted: list[Loaded], args: argparse.Namespace) -> bool:
    """Return True, and report it, if HLO and StableHLO are one program up to the simplifications of converters."""
    if wanted[0].is_stablehlo == wanted[1].is_stablehlo:
        return False
    from hlotool.passes.equality import CONVERSIONS, SIMPLIFICATIONS, same_up_to
    from hlotool.stablehlo import in_simpler_operations

    # Converters make HLO of StableHLO.
    made, source = reversed(given) if wanted[0].is_stablehlo else given
    names, told = same_up_to(made, source, is_converted=True), {**SIMPLIFICATIONS, **CONVERSIONS}
    if names is None and (written := in_simpler_operations(source)) is not None:
        # Named as well where nothing else is simplified.
        names = same_up_to(made, written, is_converted=True)
        names = names if names is None else (*names, _WRITTEN_OUT[0])
        told[_WRITTEN_OUT[0]] = _WRITTEN_OUT[1]
    if not names:
        return False  # equal without more ado, or different: the matching tells
    if args.format == "json":
        print_json({"left": wanted[0].name, "right": wanted[1].name, "equal": True, "same_up_to": names,
                    "header": [], "changes": []})
        return True
    print(f"{wanted[0].name} and {wanted[1].name}: the same up to {', '.join(names)}")
    for name in names if not args.quiet else ():
        print(f"  {name}: {told[name]}")
    return True


def _modules(given: list[HloModule], wanted: list[Loaded], passes: str) -> tuple[HloModule, HloModule]:
    """Both modules; an HLO module that is held against a StableHLO program goes through StableHLO itself."""
    modules = list(given)
    one, other = wanted
    if one.is_stablehlo != other.is_stablehlo and not any(map(_is_optimised, given)):
        from hlotool.stablehlo import LiftOptions, from_stablehlo, to_program

        place = int(one.is_stablehlo)
        # Library calls stay, for the other one has them as they are.
        modules[place] = from_stablehlo(to_program(modules[place], options=LiftOptions(library=False)))
    for name in filter(None, (n.strip() for n in passes.split(","))):
        modules = [_passed(m, name) for m in modules]
    return modules[0], modules[1]


def _passed(module: HloModule, name: str) -> HloModule:
    from hlotool.passes import PASSES

    if name not in PASSES:
        complain(f"{name!r} is no pass; `hlotool opt --list` shows them")
        raise SystemExit(2)
    return PASSES[name](module)


def _is_optimised(module: HloModule) -> bool:
    from hlotool.passes.equality import is_optimised

    return is_optimised(module)


def _show(found: Diff, given: list[HloModule], wanted: list[Loaded], args: argparse.Namespace) -> None:
    if args.format == "json":
        print_json({"left": wanted[0].name, "right": wanted[1].name, **found.as_json()})
        return
    if not found and not args.all and not args.names and _is_optimised(given[1]) and not _is_optimised(given[0]):
        _show_fates(given, wanted, args)
        return
    is_colored = wants_color(sys.stdout)
    print(f"{wanted[0].name} and {wanted[1].name}: {found.summary()}")
    if args.quiet:
        return
    _print_lines(found.lines(), is_colored)


def _show_fates(given: list[HloModule], wanted: list[Loaded], args: argparse.Namespace) -> None:
    """Report the fate of a program that was optimised: each change by itself would hide it."""
    from hlotool.passes.equality import became

    fates = became(given[0], given[1])
    print(_wrapped(visible(f"{wanted[1].name} is {wanted[0].name} optimised. {fates.summary()}")))
    if not args.quiet:
        _print_lines(fates.lines(), wants_color(sys.stdout), is_wrapped=True)
        print("every change: --all")


def _print_lines(lines: Iterable[tuple[str, str]], is_colored: bool, is_wrapped: bool = False) -> None:
    for kind, text in lines:
        line = _wrapped(visible(text)) if is_wrapped else visible(text)
        print(f"\x1b[{_STYLES[kind]}m{line}\x1b[0m" if is_colored else line)


def _wrapped(text: str) -> str:
    """A sentence or a list, broken between words where the terminal ends."""
    indent = "    " if text.startswith("  ") else "  "
    return textwrap.fill(text, max(40, shutil.get_terminal_size().columns), subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)
