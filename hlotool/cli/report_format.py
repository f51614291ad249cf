"""Reports for people and for programs: --format, and --schema, which says what programs get."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from importlib import import_module


def add_format(parser: argparse.ArgumentParser | argparse._ArgumentGroup, report: str, *,
               forms: Sequence[str] = ("text", "json"), what: str = "the report's form", has_json: bool = True) -> None:
    """--format with its first form as default, --json as another name for one of them, and --schema.

    `report` names the type of the form json, `module:name`: a typed dictionary, a list or a union of such.
    """
    parser.add_argument("--format", choices=forms, default=forms[0], help=what)
    if has_json:
        parser.add_argument("--json", action="store_const", const="json", dest="format",
                            help="the same as --format json")
    add_schema(parser, report)


def print_json(record: object) -> None:
    """Return the text of --format json for a report that is one value."""
    print(json.dumps(record, indent=2, default=dataclasses.asdict))


def add_schema(parser: argparse.ArgumentParser | argparse._ArgumentGroup, report: str) -> None:
    """--schema: print the schema of --format json, and stop."""
    parser.add_argument("--schema", action=_PrintSchema, nargs=0, default=report,
                        help="print the JSON schema of --format json, and stop")


def schema_text(report: str, command: str) -> str:
    """Return the text of the schema of a command's report, which is named as `add_format` takes it."""
    from hlotool.diagnostics.records import schema_of

    module, _, name = report.partition(":")
    return json.dumps(schema_of(getattr(import_module(module), name), f"{command} --format json"), indent=2) + "\n"


class _PrintSchema(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *rest: object, **named: object) -> None:
        print(schema_text(self.default, parser.prog), end="")
        parser.exit()
