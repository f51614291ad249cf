"""Writes what the rules of simplifiers keep, and the page that shows it.

    python tests/write_rewrite_rules.py            all rules; what only an enumeration of f32 showed stays as it was
    python tests/write_rewrite_rules.py --whole    the same, with those enumerations: about four minutes each
    python tests/write_rewrite_rules.py --verdicts    what is proved of rules, and its page: five minutes
"""

import json
import pathlib
import sys

from hlotool.fuzzing import decided
from hlotool.fuzzing.rule_outcomes import evaluated
from hlotool.passes.rewrite_rules import (
    decidable_rules,
    known_outcomes,
    known_verdicts,
    names_in,
    rules,
    rules_page,
    types_of,
    verdicts_page,
)

ROOT = pathlib.Path(__file__).parents[1]
RECORD, PAGE = ROOT / "passes" / "rewrite_rules" / "outcomes.json", ROOT / "hlotool" / "docs" / "rewrite_rules.md"
VERDICTS, PROVED = RECORD.with_name("verdicts.json"), PAGE.with_name("proved_rules.md")


def outcomes(rule, kind, **how):
    """The record of one rule and type: the type, and `when TYPE`."""
    both = evaluated(rule, kind, **how) or ()
    found = {name: outcome.as_json() for name, outcome in zip((kind, f"when {kind}"), both, strict=False)
             if outcome is not None and outcome.tried}
    return {name: _remembered(rule, name, outcome) for name, outcome in found.items()}


def is_open(rule, kind, found):
    """True if a search found nothing and an enumeration may."""
    return kind == "f32" and rule.of != "matrix" and len(names_in(rule.before, rule.after)) == 1 and any(
        set(o) == {"cover", "tried"} and o["cover"] == "search" for o in found.values())


def _remembered(rule, name, outcome):
    known = known_outcomes().get(str(rule), {}).get(name, {})
    is_enumerated = known.get("cover") == "all values" and outcome["cover"] == "search"
    return known if is_enumerated and set(outcome) == {"cover", "tried"} else outcome


def write_verdicts():
    """Decide all rules anew."""
    lines = []
    for rule in decidable_rules():
        print(rule.key, file=sys.stderr)
        record = {domain: verdict.as_json() for domain, verdict in decided(rule).items()}
        lines.append(f"{json.dumps(rule.key)}: {json.dumps(record)}")
    VERDICTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    known_verdicts.cache_clear()
    PROVED.write_text(verdicts_page())


def write_outcomes():
    """Run all rules anew."""
    lines = []
    for rule in rules():
        print(rule, file=sys.stderr)
        record = {}
        for kind in types_of(rule):
            found = outcomes(rule, kind)
            if "--whole" in sys.argv and is_open(rule, kind, found):
                found = outcomes(rule, kind, is_whole=True)
            record |= found
        lines.append(f"{json.dumps(str(rule))}: {json.dumps(record)}")
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    known_outcomes.cache_clear()
    PAGE.write_text(rules_page())


if __name__ == "__main__":
    if "--verdicts" in sys.argv:
        write_verdicts()
    else:
        write_outcomes()
