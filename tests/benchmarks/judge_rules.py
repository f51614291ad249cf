"""How many findings each lint rule has in dumps, by the kind of dump; the counts of the manual's page rules-judged.md.

    python tests/benchmarks/judge_rules.py before=DIR cpu=DIR gpu=DIR tpu=DIR       the table, as Markdown
    python tests/benchmarks/judge_rules.py ... --show W304 --samples 5              findings to read, drawn at random

Rules that are off by default are counted, too. Of each dump and rule repetition counts once, as the command tells it.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from pathlib import Path

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.linting.repetition import aggregated
from hlotool.passes.lints import RULES, run
from hlotool.text import parse


def findings(path: Path) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """All findings of every rule about a dump, and those that remain once repetition is told once."""
    module = parse(path.read_text(), str(path))
    every = run(module, select=lambda _: True)
    sources = {str(path): module.source} if module.source is not None else {}
    return every, aggregated(every, sources)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dumps", nargs="+", metavar="KIND=DIR")
    parser.add_argument("--show", metavar="CODE", help="print findings of one rule to be read")
    parser.add_argument("--samples", type=int, default=5)
    args = parser.parse_args()
    kinds = dict(given.split("=", 1) for given in args.dumps)
    every: dict[tuple[str, str], list[Diagnostic]] = defaultdict(list)
    told: dict[tuple[str, str], int] = defaultdict(int)
    for kind, folder in kinds.items():
        for path in sorted(Path(folder).glob("*.hlo")):
            try:
                all_found, shown = findings(path)
            except HloError as error:
                print(f"{path}: {error.diagnostics[0].message}", file=sys.stderr)
                continue
            for diagnostic in all_found:
                every[kind, diagnostic.code].append(diagnostic)
            for diagnostic in shown:
                told[kind, diagnostic.code] += 1
    if args.show:
        for kind in kinds:
            rows = every[kind, args.show]
            for d in random.Random(0).sample(rows, min(args.samples, len(rows))):
                print(f"{kind} {d.filename}:{d.line}: {d.message}")
        return 0
    print(f"| rule | name | on | {' | '.join(kinds)} |\n|---|---|---|{'---|' * len(kinds)}")
    for code, rule in RULES.items():
        counts = [(len(every[kind, code]), told[kind, code]) for kind in kinds]
        if any(found for found, _ in counts):
            cells = " | ".join(f"{found} ({shown})" if found else "" for found, shown in counts)
            print(f"| {code} | {rule.name} | {'yes' if rule.default_on else 'no'} | {cells} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
