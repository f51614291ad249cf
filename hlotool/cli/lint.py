"""Reports every problem of modules: syntax errors, broken constraints, and what the lint rules look for.

Settings are read from [tool.hlotool] of pyproject.toml, or from hlotool.toml, found upward from what is linted.
Exit code 0: nothing as bad as --fail-on says (default: error); 1: something is; 2: a path or a setting that cannot be
used.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlotool.cli import lint_fix
from hlotool.cli.console import complain, report
from hlotool.cli.inputs import add_paths
from hlotool.cli.option_values import processes, whole_number
from hlotool.cli.report_format import add_schema
from hlotool.diagnostics import HloError
from hlotool.diagnostics.formats import ALIASES, FORMATS

if TYPE_CHECKING:
    from hlotool.ir import Source
    from hlotool.linting import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules to check", is_optional=True)
    _add_rules(parser)
    lint_fix.add_arguments(parser)
    _add_output(parser)
    folders = parser.add_argument_group("folders")
    folders.add_argument("--exclude", metavar="PATTERN", action="append", help="pass over these files of folders")
    folders.add_argument("--by-pass", action="store_true",
                         help="of a folder that --xla_dump_to wrote: what each pass introduced")
    folders.add_argument("--no-cache", action="store_true",
                         help="look at every file again, and keep no findings for the next run")
    folders.add_argument("--jobs", "-j", type=processes(0), default=0, metavar="N",
                         help="processes (default: as many as pay)")


def _add_rules(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("rules")
    group.add_argument("--select", metavar="CODES", action="append",
                       help="the rules to run: codes, beginnings of codes, names, categories, ALL")
    group.add_argument("--extend-select", metavar="CODES", action="append", help="rules to run besides")
    group.add_argument("--ignore", metavar="CODES", action="append", help="rules to leave out")
    group.add_argument("--severity", metavar="CODE=LEVEL", action="append",
                       help="count a rule's findings as error, warning, info or off")
    group.add_argument("--profile", metavar="NAME",
                       help="what is expected of modules: unoptimized (default), strict, scheduled, cpu, gpu, or a "
                            "profile of the configuration")
    group.add_argument("--config", metavar="FILE", help="read settings from this file")
    group.add_argument("--no-config", action="store_true", help="read no configuration file")
    group.add_argument("--baseline", metavar="FILE", help="report only what this file does not list")
    group.add_argument("--write-baseline", metavar="FILE", help="list today's findings in this file")
    group.add_argument("--rules", action="store_true", help="list the rules, as a table or as --format json, and stop")
    group.add_argument("--explain", metavar="CODE", action="append",
                       help="say what a code, rule, constraint or operation means, and stop")


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=(*FORMATS, *ALIASES), default="full", metavar="FORMAT",
                       help="; ".join(f"{name}: {what}" for name, what in FORMATS.items()))
    add_schema(group, "hlotool.diagnostics.json:LintReport")
    group.add_argument("--output", "-o", metavar="FILE", help="write findings to a file, whole or not at all")
    group.add_argument("--statistics", action="store_true", help="findings per rule")
    group.add_argument("--show-settings", action="store_true", help="print the settings that hold, and stop")
    group.add_argument("--each", action="store_true",
                       help="every finding by itself, not those of one kind as one, nor one code for a statement")
    group.add_argument("--max-per-rule", type=whole_number(0), metavar="N",
                       help="frames of one rule in one file (default 10; 0: all); errors are always shown")
    group.add_argument("--fail-on", choices=("error", "warning", "info", "never"), help="what makes the exit code 1")
    group.add_argument("--strict", action="store_true", help="the same as --fail-on warning")
    group.add_argument("--exit-zero", action="store_true", help="the same as --fail-on never")
    group.add_argument("--quiet", "-q", action="store_true", help="errors and warnings only, no notes, no summary")


def run(args: argparse.Namespace) -> int:
    args.format = ALIASES.get(args.format, args.format)
    if args.rules or args.explain:
        from hlotool.cli.lint_rules import show

        return show(args)
    if not args.paths:
        complain(f"{args.prog}: name files or folders to check, or - for standard input")
        return 2
    try:
        settings = _settings(args)
        if args.show_settings:
            from hlotool.cli.lint_report import show_settings

            show_settings(settings)
            return 0
        from hlotool.cli.lint_run import lint_paths

        if args.fix or args.diff:
            code = lint_fix.fix_paths(args, settings)
            if code or args.diff or args.paths == ["-"]:
                return code
        return lint_paths(args, settings)
    except HloError as error:  # the configuration's or the baseline's
        report(error.diagnostics, _texts(error))
        return 2


def _settings(args: argparse.Namespace) -> Settings:
    """The settings of the configuration file, changed by the command line. Raises HloError."""
    from hlotool.linting import Settings

    file = None if args.no_config else Path(args.config) if args.config else _nearest_config(args.paths)
    settings = Settings()
    if file is not None:
        from hlotool.linting import read_config

        settings = read_config(file, is_chosen=bool(args.config))
    changes = _changes(args)
    if changes:
        from hlotool.linting import changes_of

        settings = settings.changed(changes_of({"plugins": settings.plugins, **changes}, "<command line>",
                                               settings.profiles))
    return replace(settings, baseline=args.baseline or settings.baseline)


def _nearest_config(paths: list[str]) -> Path | None:
    from hlotool.linting import find_config

    found = [p if os.path.isdir(p) else os.path.dirname(p) for p in paths if p != "-"]
    try:
        common = os.path.commonpath(list(map(os.path.abspath, found))) if found else ""
    except ValueError:  # on several drives
        common = ""
    return find_config([Path(common)] if common else [])


def _changes(args: argparse.Namespace) -> Mapping[str, Any]:
    """Return the changes of the command line, under the names of the configuration file."""
    changes: dict[str, Any] = {}
    for name in ("select", "extend_select", "ignore", "exclude"):
        if given := getattr(args, name):
            changes[name] = [part.strip() for text in given for part in text.split(",") if part.strip()]
    for name in ("profile", "fail_on", "max_per_rule"):
        if (value := getattr(args, name)) is not None:
            changes[name] = value
    if args.severity:
        changes["severity"] = dict(text.partition("=")[::2] for text in args.severity)
    if args.strict or args.exit_zero:
        changes["fail_on"] = "never" if args.exit_zero else "warning"
    return changes


def _texts(error: HloError) -> dict[str, Source]:
    """The text of the file that an error is about, for its frames."""
    from hlotool.ir import Source
    from hlotool.text.input_files import bytes_of

    texts = {}
    for name in {d.filename for d in error.diagnostics if d.line}:
        with contextlib.suppress(HloError):  # whoever exchanged it meanwhile gets no frame
            texts[name] = Source(bytes_of(Path(name)).decode("utf-8", "replace"), name)
    return texts
