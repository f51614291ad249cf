"""Reading and printing against XLA's parser on the same text, in one process: medians of processor time and ratios.

    python tests/benchmarks/bench_text.py            the six largest dumps of ../shared/corpus, and a generated module
    python tests/benchmarks/bench_text.py --quick    the samples and a smaller generated module

Peak memory is that of a process of its own, less what it held before reading, per byte of text.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

import hlotool
from hlotool.text import parse

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "modules"


def generated(instructions: int) -> str:
    """A module of that many instructions in one computation: elementwise operations with metadata."""
    lines = ["HloModule generated", "", "ENTRY %main (p: f32[128,256]) -> f32[128,256] {",
             "  %p = f32[128,256]{1,0} parameter(0)"]
    last = "p"
    for number in range(instructions - 2):
        opcode = ("add", "multiply", "subtract", "maximum")[number % 4]
        lines.append(f"  %{opcode}.{number} = f32[128,256]{{1,0}} {opcode}(%{last}, %p), "
                     f'metadata={{op_name="jit(f)/{opcode}" source_file="model.py" source_line={number % 1000}}}')
        last = f"{opcode}.{number}"
    return "\n".join([*lines, f"  ROOT %out = f32[128,256]{{1,0}} negate(%{last})", "}", ""])


def inputs(quick: bool) -> Iterator[tuple[str, str]]:
    """Name and text of every input."""
    if quick or not CORPUS.exists():
        for path in sorted((ROOT / "samples" / "models").glob("*.hlo"), key=lambda p: -p.stat().st_size)[:6]:
            yield path.name, path.read_text()
        yield "generated, 20,000", generated(20_000)
        return
    for path in sorted(CORPUS.iterdir(), key=lambda p: -p.stat().st_size)[:6]:
        yield path.name.removesuffix(".hlo").replace("tools_benchmarks_hlo_hlo_", "").replace(
            "backends_cpu_benchmarks_hlo_", ""), path.read_text()
    yield "generated, 500,000", generated(500_000)


def median_seconds(rounds: int, *functions: Callable[[], object],
                   clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Median time of each function, called in turn so that a busy machine slows all of them alike."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, found in zip(functions, times, strict=True):
            gc.collect()
            start = clock()
            result = function()
            found.append(clock() - start)
            del result
    return [statistics.median(found) for found in times]


def peak_bytes_per_byte(text: str) -> float:
    """Growth of the peak resident size while reading, in a fresh process, per byte of text."""
    program = ("import re, sys, hlotool.text as t\n"
               "text = sys.stdin.read()\n"
               "now = lambda what: int(re.search(what + r':\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
               "t.parse('HloModule m ENTRY e { c = f32[] constant(1) }')\n"
               # 5 resets the peak; ru_maxrss would still be that of the process that started this one
               "open('/proc/self/clear_refs', 'w').write('5')\n"
               "before = now('VmRSS'); module = t.parse(text)\n"
               "print((now('VmHWM') - before) * 1024 / len(text))")
    done = subprocess.run([sys.executable, "-c", program], input=text, capture_output=True, text=True, check=True)
    return float(done.stdout)


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """XLA's own log lines do not belong into the table."""
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(null)


def main() -> int:
    """Measure and print one table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    from jaxlib import _hlo

    table = Table(title=f"hlotool {hlotool.__version__} against XLA's parser, medians of {given.rounds}")
    for name, where in (("input", "left"), ("MB", "right"), ("XLA parse s", "right"), ("parse s", "right"),
                        ("ratio", "right"), ("print s", "right"), ("print/parse", "right"), ("peak B/B", "right")):
        table.add_column(name, justify=where)  # type: ignore[arg-type]
    for name, text in inputs(given.quick):
        module = parse(text)
        with silenced():
            peer, ours, printing = median_seconds(
                given.rounds, lambda t=text: _hlo.hlo_module_from_text(t), lambda t=text: parse(t),
                lambda m=module: str(m), clock=time.process_time)
        table.add_row(name[:48], f"{len(text) / 1e6:.1f}", f"{peer:.3f}", f"{ours:.3f}", f"{ours / peer:.2f}",
                      f"{printing:.3f}", f"{printing / ours:.2f}", f"{peak_bytes_per_byte(text):.0f}")
    Console(width=120).print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
