"""Describes an operation, with an example that runs, or explains a diagnostic's code.

    hlotool explain dynamic-slice
    hlotool explain clamp-c1 P011
    hlotool explain dot --examples 3
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Mapping
from typing import Any, NotRequired, TypeAlias, TypedDict

from hlotool.cli.code_catalogue import RuleRecord, load_codes, rule_record
from hlotool.cli.console import complain
from hlotool.cli.ops import OperationRecord, as_record, operands_of
from hlotool.cli.option_values import whole_number
from hlotool.cli.parsers import suggestion
from hlotool.cli.report_format import add_format, print_json
from hlotool.conformance import samples_folder, sections
from hlotool.diagnostics import CODES
from hlotool.ops import OPS, Op
from hlotool.passes.lints import RULES, Rule


class OperationPage(OperationRecord):
    """An operation, with examples as HLO text."""

    title: str
    examples: list[str]


class RulePage(RuleRecord):
    """A lint rule."""

    title: str
    doc: str


class CodePage(TypedDict):
    """A code of a diagnostic, or the label of a constraint."""

    title: str
    doc: str
    source: str
    examples: NotRequired[list[str]]


Page: TypeAlias = OperationPage | RulePage | CodePage
#: the report of `hlotool explain`: a record for each word
ExplainReport: TypeAlias = list[Page]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD", help="opcodes, labels of constraints, or codes")
    add_format(parser, "hlotool.cli.explain:ExplainReport", forms=("text", "json", "markdown"))
    parser.add_argument("--examples", type=whole_number(0), default=1, metavar="N",
                        help="how many examples of an operation, inputs and results with them (default %(default)s)")


def run(args: argparse.Namespace) -> int:
    load_codes()
    found = [(word, _look_up(word, args.examples)) for word in args.words]
    for word, record in found:
        if record is None:
            advice = suggestion(word, [*OPS, *CODES, *(c.name for c in CODES.values())])
            complain(f"hlotool explain: nothing is called {word!r}{advice}")
    records = [record for _, record in found if record is not None]
    if args.format == "json":
        print_json(records)
    elif records:
        page = _markdown if args.format == "markdown" else _text
        print("\n\n".join(map(page, records)))
    return 2 if len(records) < len(found) else 0


def markdown_page(word: str, examples: int = 3) -> str:
    """Return the page of an operation, a rule or a code, as Markdown. Raises KeyError for another word."""
    load_codes()
    record = _look_up(word, examples)
    if record is None:
        raise KeyError(word)
    return _markdown(record)


def _look_up(word: str, examples: int) -> Page | None:
    if word in OPS:
        return {"title": f"{word}({operands_of(OPS[word])})", **as_record(OPS[word]),
                "examples": _examples(word, examples, "")}
    rule = next((r for r in RULES.values() if word in (r.code, r.name)), None)
    if rule is not None:
        return _rule(rule)
    code = CODES.get(word) or next((c for c in CODES.values() if c.name == word), None)
    if code is not None:
        return {"title": f"{code.code}: {code.name}", "doc": code.summary, "source": code.source}
    owner = _owner(word)
    if owner is not None:
        return {"title": f"{word}: a constraint of {owner.opcode}", "doc": owner.constraints[word],
                "source": owner.source, "examples": _examples(owner.opcode, min(examples, 1), word)}
    return None


def _examples(opcode: str, count: int, label: str) -> list[str]:
    """Samples of an operation: such as have a result, or such as break the constraint of that label."""
    path = samples_folder() / "ops" / f"{opcode}.hlo"
    if not path.is_file():
        return []
    chosen = [s.text.strip("\n") for s in sections(path.read_text("utf-8"), str(path))
              if (label in s.errors if label else s.values("expect"))]
    return chosen[:count]


def _rule(rule: Rule) -> RulePage:
    """Return the page of a lint rule."""
    parts = [rule.summary, rule.what, f"Why: {rule.why}", f"Bad:\n\n{textwrap.indent(rule.bad, '  ')}",
             f"Good:\n\n{textwrap.indent(rule.good, '  ')}"]
    return {"title": f"{rule.code}: {rule.name}", "doc": "\n\n".join(parts), **rule_record(rule)}


def _owner(label: str) -> Op | None:
    return next((record for record in OPS.values() if label in record.constraints), None)


def _facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the facts below the documentation: label and text, which may be empty."""
    attributes = "; ".join(map(_attribute, record.get("attributes", ())))
    rows = [
        ("attributes", attributes),
        ("element types", ", ".join(record.get("element_types", ()))),
        ("StableHLO", ", ".join(record.get("stablehlo", ()))),
        ("not lifted", record.get("refusal", "")),
        ("ULPs", f"{record['ulps']:g}" if record.get("ulps") else ""),
        ("flow", ", ".join(record.get("flow", ()))),
        ("flags", ", ".join(record.get("flags", ()))),
        ("freedom", record.get("freedom", "")),
        ("category", record.get("category", "")),
        ("severity", record.get("severity", "") + ("" if record.get("default", True) else ", off by default")),
        ("fix", {"safe": "yes", "unsafe": "yes, with --unsafe-fixes"}.get(record.get("fix", ""), "")),
        ("options", ", ".join(f"{k} = {json.dumps(v)}" for k, v in record.get("options", {}).items())),
        ("source", record.get("source", "")),
    ]
    return [(name, text) for name, text in rows if text]


def _attribute(attribute: Mapping[str, Any]) -> str:
    state = "required" if attribute["required"] else f"default {json.dumps(attribute['default'])}"
    return f"{attribute['name']} ({attribute['kind']}, {state})"


def _text(record: Mapping[str, Any]) -> str:
    rows = [textwrap.fill(f"{name}: {text}", 100, initial_indent="  ", subsequent_indent="      ")
            for name, text in _facts(record)]
    body = textwrap.indent(record["doc"], "  ")
    examples = [f"\n{textwrap.indent(e, '    ')}" for e in record.get("examples", ())]
    return "\n".join([record["title"], "", body, *([""] if rows else []), *rows, *examples])


def _markdown(record: Mapping[str, Any]) -> str:
    rows = [f"- **{name}**: {text}" for name, text in _facts(record)]
    examples = [f"\n```hlo\n{e}\n```" for e in record.get("examples", ())]
    return "\n".join([f"## `{record['title']}`", "", record["doc"], *([""] if rows else []), *rows, *examples])
