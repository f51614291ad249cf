"""Rewrites of algebraic simplifiers, and whether they hold: over reals, over integers, and by IEEE 754.

    hlotool folds                       all rules, with what is proved or refuted of each
    hlotool folds 'reduce_add(pad'      rules that have this in their text
    hlotool folds dynamic_slice --prove    decide them now, by index maps and solvers
    hlotool folds power --format json

What is printed without --prove is the record that the package brings. A refuted rule shows a witness: operands, and
sizes, on which the reference gives two results. Exit code 1: with --prove, a verdict is not that of the record.
"""

from __future__ import annotations

import argparse
from typing import Annotated, Any, NotRequired, TypeAlias, TypedDict

from hlotool.cli.console import complain, report
from hlotool.cli.report_format import add_format, print_json
from hlotool.diagnostics import HloError
from hlotool.passes.rewrite_rules import (
    DOMAINS,
    RewriteRule,
    decidable_rules,
    known_verdicts,
    status_counts,
    verdict_words,
    witness_words,
)


class Decided(TypedDict):
    """The verdict on a rule over one kind of numbers."""

    status: Annotated[str, "proved, reordered (equal but for the order of sums), refuted, unknown, or none: no meaning"]
    by: NotRequired[Annotated[str, "what a proof rests on"]]
    witness: NotRequired[Annotated[dict[str, Any], "sizes, operands and both results"]]
    reason: NotRequired[Annotated[str, "why it is unknown"]]
    when: NotRequired[Annotated[dict[str, Any], "the same where the rule's condition on values holds"]]


class FoldRecord(TypedDict):
    """A rule and its verdicts."""

    before: str
    after: str
    operands: Annotated[str, "of a rule about shapes: its operands and their sizes"]
    where: Annotated[str, "conditions on sizes and indices"]
    when: Annotated[str, "the condition on values"]
    reals: Decided
    integers: Decided
    floats: Annotated[Decided, "by IEEE 754"]


FoldsReport: TypeAlias = list[FoldRecord]
_NAMES = {"reals": "reals", "integers": "integers", "floats": "IEEE 754"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="TEXT", help="only rules whose text has all of these in it")
    parser.add_argument("--prove", action="store_true",
                        help="decide the rules now, not by the record (pip install 'hlotool[prove]')")
    add_format(parser, "hlotool.cli.folds:FoldsReport")


def run(args: argparse.Namespace) -> int:
    chosen = [r for r in decidable_rules() if all(w in r.key for w in args.words)]
    if not chosen:
        complain(f"hlotool folds: no rule has {' and '.join(args.words)} in it")
        return 2
    try:
        verdicts = {r.key: _proved(r) if args.prove else known_verdicts()[r.key] for r in chosen}
    except HloError as error:
        return report(error.diagnostics, {})
    others = [key for key, found in verdicts.items() if _statuses(found) != _statuses(known_verdicts()[key])]
    if args.format == "json":
        print_json([_record(r, verdicts[r.key]) for r in chosen])
    else:
        _print(chosen, verdicts)
    for key in others:
        complain(f"hlotool folds: {key}: the record has another verdict")
    return 1 if others else 0


def _proved(rule: RewriteRule) -> dict[str, Any]:
    from hlotool.fuzzing import decided
    from hlotool.process import note_progress

    note_progress(seconds=60)
    return {domain: verdict.as_json() for domain, verdict in decided(rule).items()}


def _statuses(verdicts: Any) -> list[str]:
    return [str(verdicts[d]["status"]) for d in DOMAINS]


def _record(rule: RewriteRule, verdicts: Any) -> FoldRecord:
    return {"before": rule.before, "after": rule.after, "operands": rule.operands, "where": rule.where,
            "when": rule.when, "reals": verdicts["reals"], "integers": verdicts["integers"],
            "floats": verdicts["floats"]}


def _print(chosen: list[RewriteRule], verdicts: dict[str, Any]) -> None:
    for rule in chosen:
        print(rule)
        notes = [f"of {rule.operands}" if rule.operands else "", f"where {rule.where}" if rule.where else "",
                 f"if {rule.when}" if rule.when else ""]
        if any(notes):
            print(f"    {', '.join(filter(None, notes))}")
        found = verdicts[rule.key]
        words = [f"{_NAMES[d]}: {w}" for d in DOMAINS if (w := verdict_words(found[d]))]
        print(f"    {', '.join(words)}")
        witness = next((w for d in reversed(DOMAINS) if (w := witness_words(found[d]))), "")
        if witness:
            print(f"    {witness}")
    print(f"{len(chosen)} rule{'' if len(chosen) == 1 else 's'}")
    for domain in DOMAINS:
        counts = status_counts((verdicts[r.key] for r in chosen), domain)
        print(f"  {_NAMES[domain]}: " + ", ".join(f"{n} {word if word != 'none' else 'without meaning'}"
                                                   for word, n in sorted(counts.items())))
