"""Reports for people and for programs: --format, and --schema, which says what programs get."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from importlib import resources


def add_format(parser: argparse.ArgumentParser | argparse._ArgumentGroup, schema: str, *,
               forms: Sequence[str] = ("text", "json"), what: str = "the report's form", has_json: bool = True) -> None:
    """--format with its first form as default, --json as another name for one of them, and --schema.

    `schema` names the JSON schema of the form json: a file of this room, or `package:file`.
    """
    parser.add_argument("--format", choices=forms, default=forms[0], help=what)
    if has_json:
        parser.add_argument("--json", action="store_const", const="json", dest="format",
                            help="the same as --format json")
    add_schema(parser, schema)


def print_json(record: object) -> None:
    """Return the text of --format json for a report that is one value."""
    print(json.dumps(record, indent=2))


def add_schema(parser: argparse.ArgumentParser | argparse._ArgumentGroup, schema: str) -> None:
    """--schema: print the schema of --format json, and stop."""
    parser.add_argument("--schema", action=_PrintSchema, nargs=0, default=schema,
                        help="print the JSON schema of --format json, and stop")


def schema_text(schema: str) -> str:
    """The text of a schema, by the name that `add_format` takes."""
    package, _, file = schema.rpartition(":")
    found = resources.files(package).joinpath(file) if package else \
        resources.files("hlotool.cli").joinpath("schemas", file)
    return found.read_text("utf-8")


class _PrintSchema(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *rest: object, **named: object) -> None:
        print(schema_text(self.default), end="")
        parser.exit()
