"""`hlotool lint --fix` and `--diff`: fixes written to the files that they mend, each file whole or not at all."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hlotool.cli.console import complain, encoded, report, write_bytes
from hlotool.cli.hlo_files import read_hlo_file
from hlotool.cli.whole_files import each_once

if TYPE_CHECKING:
    from hlotool.linting import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("fixes")
    group.add_argument("--fix", action="store_true", help="write the fixes that keep every value, then report the rest")
    group.add_argument("--unsafe-fixes", action="store_true",
                       help="with --fix or --diff: also those that may change values or what was meant")
    group.add_argument("--diff", action="store_true", help="print what --fix would change, and write nothing")


def fix_paths(args: argparse.Namespace, settings: Settings) -> int:
    """Fix files, or print the changes; exit code 1 where --diff has something to show, 2 for unreadable files."""
    from hlotool.diagnostics import HloError, visible, visible_lines, without_commands
    from hlotool.diagnostics.render import concise
    from hlotool.linting import find_files, fix_file

    changed, made, is_unreadable = 0, 0, False
    for name in each_once(find_files(args.paths, settings, follows=False)[0]):
        try:
            file = read_hlo_file(name)
            fixed = fix_file(file.text, file.name, settings.of_file(name), unsafe=args.unsafe_fixes)
        except HloError as error:
            is_unreadable |= bool(report(error.diagnostics))
            continue
        for refused in fixed.refused:
            complain(f"not fixed, for the module would not verify: {concise(refused)}")
        if args.diff:
            write_bytes(encoded(without_commands(visible_lines(fixed.diff(visible(file.name))))))
        elif fixed.is_changed or name == "-":
            try:
                file.write(fixed.text)
            except HloError as error:
                is_unreadable |= bool(report(error.diagnostics))
                continue
        changed, made = changed + fixed.is_changed, made + len(fixed.applied)
    if not args.quiet:
        what = "would be made" if args.diff else "made"
        complain(f"{made} fix{'' if made == 1 else 'es'} {what} in {changed} file{'' if changed == 1 else 's'}")
    return 2 if is_unreadable else int(args.diff and changed > 0)
