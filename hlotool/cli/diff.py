"""What differs between two modules, matched by structure: names and the order of the text count for nothing.

    hlotool diff before.hlo after.hlo              changed (~), removed (-) and added (+) instructions
    hlotool diff before.hlo after.mlir             HLO against StableHLO, both in the form that StableHLO gives them
    hlotool diff a.hlo b.hlo --ignore sharding backend_config
    hlotool diff a.hlo b.hlo --passes=dce          after passes on both sides
    hlotool diff a.hlo b.hlo --json

Instructions are matched from operands up and from users down; repetitions of a pure instruction and dead
instructions are no difference. Exit code 0: none, 1: the modules differ, 2: one cannot be read.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from hlotool.cli.console import complain, report, wants_color
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.diagnostics import HloError, visible
from hlotool.ir import HloModule, Source

if TYPE_CHECKING:
    from hlotool.passes.equality import Diff

_STYLES = {"-": "31", "+": "32", "~": "33", "head": "1", "part": "2"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "the two modules")
    parser.add_argument("--names", action="store_true", help="match by names first; other names are differences")
    parser.add_argument("--layouts", action="store_true", help="layouts count")
    parser.add_argument("--ignore", nargs="+", default=(), metavar="ATTRIBUTE", help="attributes that do not count")
    parser.add_argument("--passes", default="", metavar="NAME,...", help="passes of `hlotool opt` to run on both first")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    parser.add_argument("--quiet", "-q", action="store_true", help="the verdict only")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def run(args: argparse.Namespace) -> int:
    sources: dict[str, Source] = {}
    wanted = list(load(args.paths, sources))
    if len(wanted) != 2:
        complain(f"hlotool diff takes two modules; {len(wanted)} given")
        return 2
    try:
        left, right = _modules(wanted[0], wanted[1], args.passes)
    except HloError as error:
        report(error.diagnostics, sources)
        return 2
    from hlotool.passes.equality import diff

    found = diff(left, right, names=args.names, layouts=args.layouts, ignore=args.ignore)
    _show(found, wanted, args)
    return 0 if found.is_equal else 1


def _modules(one: Loaded, other: Loaded, passes: str) -> tuple[HloModule, HloModule]:
    """Both modules; an HLO module that is held against a StableHLO program goes through StableHLO itself."""
    modules = [one.module(), other.module()]
    if one.is_stablehlo != other.is_stablehlo:
        from hlotool.mlir import from_stablehlo, to_stablehlo

        place = int(one.is_stablehlo)
        modules[place] = from_stablehlo(to_stablehlo(modules[place]))
    for name in filter(None, (n.strip() for n in passes.split(","))):
        modules = [_passed(m, name) for m in modules]
    return modules[0], modules[1]


def _passed(module: HloModule, name: str) -> HloModule:
    from hlotool.passes import PASSES

    if name not in PASSES:
        complain(f"{name!r} is no pass; `hlotool opt --list` shows them")
        raise SystemExit(2)
    return PASSES[name](module)


def _show(found: Diff, wanted: list[Loaded], args: argparse.Namespace) -> None:
    if args.json:
        import json

        print(json.dumps({"left": wanted[0].name, "right": wanted[1].name, **found.as_json()}, indent=2))
        return
    is_colored = wants_color(sys.stdout, args.color)
    print(f"{wanted[0].name} and {wanted[1].name}: {found.summary()}")
    if args.quiet:
        return
    for kind, text in found.lines():
        line = visible(text)
        print(f"\x1b[{_STYLES[kind]}m{line}\x1b[0m" if is_colored else line)
