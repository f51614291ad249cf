"""Linting against XLA's parser on the same input: processor time, medians, and their ratio, which 3 bounds.

    python tests/benchmarks/bench_lint.py            the six largest dumps of ../shared/corpus, and a generated module
    python tests/benchmarks/bench_lint.py --quick    the samples and a smaller generated module

`lint` is what hlo-lint does with a text: read, verify, run the rules that are on by default. `first` is the first text
of a process, `again` one whose shapes and attributes have been met. --rules lists the rules by the time they take.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from bench_text import inputs, silenced
from rich.console import Console
from rich.table import Table

import hlotool
from hlotool.ir import HloModule
from hlotool.passes.lints import RULES, run
from hlotool.passes.verify import verify
from hlotool.text import parse

_FIRST = """
import sys, time, hlotool, hlotool.linting
hlotool.lint("ENTRY e { c = f32[] constant(1)  ROOT d = f32[] negate(c) }")
text = sys.stdin.read()
start = time.process_time()
found = hlotool.lint(text)
print(time.process_time() - start, len(found))
"""


def first_seconds(text: str) -> tuple[float, int]:
    """Processor time of linting a text in a fresh process, and how many findings that gives."""
    done = subprocess.run([sys.executable, "-c", _FIRST], input=text, capture_output=True, text=True, check=True)
    seconds, found = done.stdout.split()
    return float(seconds), int(found)


def median_seconds(rounds: int, function: Callable[[], object]) -> float:
    """Median processor time."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return statistics.median(times)


def slowest(module: HloModule, count: int = 15) -> Table:
    """The rules that take longest, each run alone, less what an empty run takes."""
    table = Table(title="rules by time")
    for name in ("rule", "ms", "findings"):
        table.add_column(name, justify="left" if name == "rule" else "right")
    rows = []
    for rule in RULES.values():
        if rule.default_on:
            seconds = median_seconds(3, lambda r=rule: run(module, select=lambda other: other is r))
            rows.append((seconds, rule.name, len(run(module, select=lambda other, r=rule: other is r))))
    for seconds, name, found in sorted(rows, reverse=True)[:count]:
        table.add_row(name, f"{1000 * seconds:.1f}", str(found))
    return table


def main() -> int:
    """Measure and print one table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--rules", action="store_true")
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    from jaxlib import _hlo

    console = Console(width=120)
    table = Table(title=f"hlotool {hlotool.__version__}: lint against XLA's parser, medians of {given.rounds}")
    for name, where in (("input", "left"), ("MB", "right"), ("XLA parse s", "right"), ("lint, first s", "right"),
                        ("ratio", "right"), ("again: parse s", "right"), ("verify s", "right"), ("rules s", "right"),
                        ("findings", "right")):
        table.add_column(name, justify=where)  # type: ignore[arg-type]
    for name, text in inputs(given.quick):
        with silenced():
            peer = median_seconds(given.rounds, lambda t=text: _hlo.hlo_module_from_text(t))
        runs = [first_seconds(text) for _ in range(given.rounds)]
        first = statistics.median(seconds for seconds, _ in runs)
        module = parse(text)
        verify(module)
        parts = [median_seconds(given.rounds, f) for f in (
            lambda t=text: parse(t), lambda m=module: verify(m), lambda m=module: run(m))]
        table.add_row(name[:40], f"{len(text) / 1e6:.1f}", f"{peer:.3f}", f"{first:.3f}", f"{first / peer:.2f}",
                      *(f"{seconds:.3f}" for seconds in parts), str(runs[0][1]))
        if given.rules:
            console.print(name, slowest(module))
    console.print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
