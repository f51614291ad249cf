"""The pages of the manual that the code writes: commands, rules, codes, operations and tables of results."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from hlotool.cli.code_catalogue import catalogue
from hlotool.cli.commands import COMMANDS
from hlotool.cli.explain import markdown_page
from hlotool.cli.ops import operands_of, summary_of
from hlotool.cli.parsers import description_of, parser_of
from hlotool.docs import Page
from hlotool.ops import OPS

_NOTE = "<!-- written by `hlotool docs --update`; do not edit -->\n"


def reference_pages() -> list[Page]:
    """The pages that stand in the package."""
    return [Page("reference/commands", _commands()), Page("reference/rules", _rules()),
            Page("reference/codes", _codes()), Page("reference/operations", _operations()),
            Page("reference/corpora", _corpora())]


def single_pages() -> Iterator[Page]:
    """A page for each rule, code and operation; the menu does not list them, the search does."""
    for entry in catalogue():
        if entry["category"] != "constraint":
            yield Page(f"reference/{entry['code']}", _single(entry["code"]), is_listed=False)
    for opcode in sorted(OPS):
        yield Page(f"reference/{opcode}", _single(opcode), is_listed=False)


def _single(word: str) -> str:
    return markdown_page(word).replace("## ", "# ", 1)


def _commands() -> str:
    parts = ["# Commands\n", _NOTE]
    for name in COMMANDS:
        parser = parser_of(name, f"hlotool {name}")
        summary, _, rest = description_of(name).rstrip().partition("\n")
        parts.append(f"## hlotool {name}\n\n{summary}\n")
        if rest.strip():
            parts.append(f"```text\n{rest.strip(chr(10))}\n```\n")
        parts += [f"- {row}" for row in _options(parser)]
        parts.append("")
    return "\n".join(parts)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if action.help == argparse.SUPPRESS or isinstance(action, argparse._HelpAction):
            continue
        names = ", ".join(f"`{name}`" for name in action.option_strings)
        value = _value(action)
        told = (action.help or "") % {**vars(action), "prog": parser.prog}
        yield " ".join(part for part in (names, value, "–" if told else "", told) if part)


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    metavar: Any = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices
                                      else (action.dest if not action.option_strings else action.dest.upper()))
    return f"`{' '.join(metavar) if isinstance(metavar, tuple) else metavar}`"


def _rules() -> str:
    rows = ["# Lint rules\n", _NOTE,
            "Each rule has a page of its own in `hlotool docs`, and `hlo-lint --explain CODE` prints it.\n"]
    category = ""
    for entry in catalogue():
        if "what" not in entry:
            continue
        if entry["category"] != category:
            category = entry["category"]
            rows += [f"\n## {category}\n", "| code | name | severity | fix | what it finds |", "|---|---|---|---|---|"]
        severity = entry["severity"] if entry["default"] else f"{entry['severity']}, off"
        rows.append(f"| {entry['code']} | {entry['name']} | {severity} | {entry['fix']} | {_cell(entry['summary'])} |")
    return "\n".join(rows) + "\n"


def _codes() -> str:
    rows = ["# Codes\n", _NOTE, "Every diagnostic that is no lint rule, and no constraint of an operation.\n"]
    category = ""
    for entry in sorted((e for e in catalogue() if "what" not in e and e["category"] != "constraint"),
                        key=lambda e: (e["category"], e["code"])):
        if entry["category"] != category:
            category = entry["category"]
            rows += [f"\n## {category}\n", "| code | name | severity | meaning |", "|---|---|---|---|"]
        rows.append(f"| {entry['code']} | {entry['name']} | {entry['severity']} | {_cell(entry['summary'])} |")
    return "\n".join(rows) + "\n"


def _operations() -> str:
    rows = ["# Operations\n", _NOTE, "| operation | operands | attributes | what it does |", "|---|---|---|---|"]
    for opcode, record in sorted(OPS.items()):
        attributes = ", ".join(a.name + ("" if a.is_required else "?") for a in record.attributes)
        cells = map(_cell, (operands_of(record), attributes, summary_of(record)))
        rows.append(f"| `{opcode}` | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _corpora() -> str:
    from hlotool.cli.corpus import tasks
    from hlotool.corpus import INPUTS, NUMBER_FIELDS, STATUSES, TEXT_FIELDS

    rows = ["# Tables of corpora\n", _NOTE,
            "What `hlotool corpus` writes, a folder of Parquet files for each table, and what `hlotool find` asks.\n",
            "| task | what | tables |", "|---|---|---|"]
    rows += [f"| `{t.name}` | {_cell(t.what)} | {', '.join(f'[{table.name}](#{table.name})' for table in t.tables)} |"
             for t in tasks().values()]
    for table in dict.fromkeys([INPUTS, *(table for t in tasks().values() for table in t.tables)]):
        rows += [f"\n## {table.name}\n", f"A row is {_cell(table.what)}.\n", "| column | type | what it holds |",
                 "|---|---|---|"]
        rows += [f"| `{c.name}` | {c.kind} | {_cell(c.what)} |" for c in table.columns]
    rows += ["\n## What became of an input\n", "| status | |", "|---|---|",
             *(f"| `{name}` | {_cell(what)} |" for name, what in STATUSES.items())]
    for title, fields in (("Numbers of queries", NUMBER_FIELDS), ("Texts of queries", TEXT_FIELDS)):
        rows += [f"\n## {title}\n", "| field | |", "|---|---|",
                 *(f"| `{name}` | {_cell(what)} |" for name, what in fields.items())]
    return "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
