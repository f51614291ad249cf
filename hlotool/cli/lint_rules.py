"""`hlotool lint --rules` and `--explain`: the catalogue of everything that the linter can say."""

from __future__ import annotations

import argparse
import json
from typing import Any

from hlotool.cli.console import wants_color


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
        print(json.dumps(entries, indent=2))
    else:
        _print_table(entries, args.color)
    return 0


def catalogue() -> list[dict[str, Any]]:
    """Every rule, then every code of reading, verifying and linting itself, then the constraints of operations."""
    from hlotool.cli.explain import load_codes
    from hlotool.diagnostics import CODES
    from hlotool.ops import OPS
    from hlotool.passes.codes import WARNINGS
    from hlotool.passes.lints import RULES

    load_codes()
    found = [rule_record(rule) for rule in RULES.values()]
    for code in sorted(CODES.values(), key=lambda c: c.code):
        if code.code not in RULES:
            severity = "warning" if code.code in WARNINGS else "info" if code.code.startswith(_NOTES) else "error"
            found.append({"code": code.code, "name": code.name, "category": _KINDS.get(code.code[0], "other"),
                          "severity": severity, "default": True, "fix": "none", "summary": code.summary,
                          "source": code.source})
    for record in OPS.values():
        found += [{"code": label, "name": label, "category": "constraint", "severity": "error", "default": True,
                   "fix": "none", "summary": text, "source": record.source}
                  for label, text in record.constraints.items()]
    return found


#: beginnings of codes that only tell: forms of other times, what a conversion leaves out
_NOTES = ("P09", "P15", "P16", "X3")
#: the first letter of a code, and what codes of that letter are about
_KINDS = {"P": "syntax", "V": "verification", "C": "linting", "R": "reading", "X": "conversion", "L": "lifting",
          "E": "execution", "B": "building", "T": "conformance", "J": "jax"}


def rule_record(rule: Any) -> dict[str, Any]:
    """A lint rule as JSON values."""
    return {"code": rule.code, "name": rule.name, "category": rule.category, "severity": str(rule.severity),
            "default": rule.default_on, "fix": str(rule.fixability), "summary": rule.summary, "source": rule.source,
            "what": rule.what, "why": rule.why, "bad": rule.bad, "good": rule.good, "options": rule.options}


def _print_table(entries: list[dict[str, Any]], color: str) -> None:
    """The rules in groups, a line each; constraints of operations are counted."""
    import sys

    is_colored = wants_color(sys.stdout, color)
    shown = [e for e in entries if e["category"] != "constraint"]
    width = max(len(e["name"]) for e in shown)
    category = ""
    for entry in shown:
        if entry["category"] != category:
            category = entry["category"]
            print(f"\n\x1b[1m{category}\x1b[0m" if is_colored else f"\n{category}")
        marks = ("" if entry["default"] else "off") or entry["severity"]
        fix = {"safe": "fix", "unsafe": "unsafe fix"}.get(entry["fix"], "")
        print(f"  {entry['code']:<5} {entry['name']:<{width}}  {marks:<7}  {fix:<10}  {entry['summary']}".rstrip())
    rules = sum(e["code"].startswith("W") for e in entries)
    print(f"\n{rules} lint rules ({sum(e['default'] and e['code'].startswith('W') for e in entries)} on by default), "
          f"{len(shown) - rules} codes of other kinds, {len(entries) - len(shown)} constraints of operations "
          "(hlotool explain OPCODE)")
