"""Verification against parsing: processor time on the same input, medians and their ratio, which 1.5 bounds.

The last column is reading and verifying in this process against XLA's parser on the same text.

    python tests/benchmarks/bench_verify.py            the six largest dumps of ../shared/corpus, and a generated module
    python tests/benchmarks/bench_verify.py --quick    the samples and a smaller generated module

`first` verifies a module just read, in a process where nothing is remembered; `again` one whose shapes, attributes
and signatures have been met. Every profile can be asked for.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

from bench_text import inputs, median_seconds, silenced
from rich.console import Console
from rich.table import Table

import hlotool
from hlotool.ir import HloModule
from hlotool.passes.verify import PROFILES, verify
from hlotool.text import parse

#: verification of a module that has just been read, by a process that has read nothing else of it
_FIRST = """
import sys, time
from hlotool.passes.verify import verify
from hlotool.text import parse
verify(parse("ENTRY e { ROOT c = f32[] constant(1) }"), sys.argv[1])
text = sys.stdin.read()
start = time.process_time()
module = parse(text)
read = time.process_time()
verify(module, sys.argv[1])
print(read - start, time.process_time() - read)
"""


def first_seconds(text: str, profile: str) -> tuple[float, float]:
    """Processor time of reading and of verifying, in a fresh process."""
    done = subprocess.run([sys.executable, "-c", _FIRST, profile], input=text, capture_output=True, text=True,
                          check=True)
    read, verified = map(float, done.stdout.split())
    return read, verified


def again_seconds(module: HloModule, profile: str, rounds: int) -> float:
    """Median processor time of verifying a module that has been verified."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        verify(module, profile)
        times.append(time.process_time() - start)
    return statistics.median(times)


def main() -> int:
    """Measure and print one table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--profile", choices=PROFILES, default="unoptimized")
    given = arguments.parse_args()
    from jaxlib import _hlo

    table = Table(title=f"hlotool {hlotool.__version__}: verifying against parsing, medians of {given.rounds}, "
                        f"profile {given.profile}")
    for name, where in (("input", "left"), ("instructions", "right"), ("parse s", "right"), ("first s", "right"),
                        ("first/parse", "right"), ("again s", "right"), ("again/parse", "right"),
                        ("both/XLA", "right"), ("findings", "right")):
        table.add_column(name, justify=where)  # type: ignore[arg-type]
    for name, text in inputs(given.quick):
        runs = [first_seconds(text, given.profile) for _ in range(given.rounds)]
        read, first = (sorted(column)[len(runs) // 2] for column in zip(*runs, strict=True))
        module = parse(text)
        found = verify(module, given.profile)
        again = again_seconds(module, given.profile, given.rounds)
        with silenced():
            peer, both = median_seconds(
                given.rounds, lambda t=text: _hlo.hlo_module_from_text(t),
                lambda t=text: verify(parse(t), given.profile), clock=time.process_time)
        table.add_row(name[:44], f"{sum(1 for _ in module.instructions()):,}", f"{read:.3f}", f"{first:.3f}",
                      f"{first / read:.2f}", f"{again:.3f}", f"{again / read:.2f}", f"{both / peer:.2f}",
                      str(len(found)))
    Console(width=120).print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
