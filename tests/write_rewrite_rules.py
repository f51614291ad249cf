"""Writes what the rules of simplifiers keep, and the page that shows it: `python tests/write_rewrite_rules.py`."""

import json
import pathlib
import sys

from hlotool.fuzzing.rule_outcomes import evaluated
from hlotool.passes.rewrite_rules import rules, rules_page, types_of

ROOT = pathlib.Path(__file__).parents[1]
RECORD, PAGE = ROOT / "passes" / "rewrite_rules" / "outcomes.json", ROOT / "hlotool" / "docs" / "rewrite_rules.md"


def outcomes(rule, types):
    """The record of one rule."""
    found = {}
    for kind in types:
        both = evaluated(rule, kind)
        if both is None:
            continue
        found[kind] = both[0].as_json()
        if both[1] is not None and both[1].tried:
            found[f"when {kind}"] = both[1].as_json()
    return found


if __name__ == "__main__":
    lines = []
    for rule in rules():
        print(rule, file=sys.stderr)
        lines.append(f"{json.dumps(str(rule))}: {json.dumps(outcomes(rule, types_of(rule)))}")
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    PAGE.write_text(rules_page())
