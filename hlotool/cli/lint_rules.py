"""`hlotool lint --rules` and `--explain`: the catalogue of everything that the linter can say."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Sequence

from hlotool.cli.code_catalogue import CodeRecord, catalogue
from hlotool.cli.console import wants_color
from hlotool.cli.report_format import print_json


def show(args: argparse.Namespace) -> int:
    """Explain codes, or list the rules. Exit code 2 for a code that there is not."""
    form = {"json": "json", "markdown": "markdown"}.get(args.format, "text")
    if args.explain:
        from hlotool.cli import explain

        words = [part.strip() for given in args.explain for part in given.split(",") if part.strip()]
        parser = argparse.ArgumentParser()
        explain.add_arguments(parser)
        return explain.run(parser.parse_args(["--format", form, "--", *words]))
    entries = catalogue()
    if form == "json":
        print_json(entries)
    else:
        _print_table(entries)
    return 0


def _print_table(entries: Sequence[CodeRecord]) -> None:
    """The rules in groups, a line each; constraints of operations are counted."""
    is_colored = wants_color(sys.stdout)
    shown = [e for e in entries if e["category"] != "constraint"]
    width = max(len(e["name"]) for e in shown)
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    category = ""
    for entry in shown:
        if entry["category"] != category:
            category = entry["category"]
            print(f"\n\x1b[1m{category}\x1b[0m" if is_colored else f"\n{category}")
        marks = ("" if entry["default"] else "off") or entry["severity"]
        fix = {"safe": "fix", "unsafe": "unsafe fix"}.get(entry["fix"], "")
        row = f"  {entry['code']:<5} {entry['name']:<{width}}  {marks:<7}  {fix:<10}  "
        print(row + ("\n" + " " * len(row)).join(textwrap.wrap(entry["summary"], max(20, columns - len(row)))))
    rules = sum(e["code"].startswith("W") for e in entries)
    print(f"\n{rules} lint rules ({sum(e['default'] and e['code'].startswith('W') for e in entries)} on by default), "
          f"{len(shown) - rules} codes of other kinds, {len(entries) - len(shown)} constraints of operations "
          "(hlotool explain OPCODE)")
