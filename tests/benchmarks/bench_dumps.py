"""Every task on every dump of at least 20 kB, against XLA's C++ on the same text in the same process.

    python tests/benchmarks/bench_dumps.py                        all tasks on ../shared/corpus
    python tests/benchmarks/bench_dumps.py --tasks lint convert   some of them
    python tests/benchmarks/bench_dumps.py --quick                the samples
    python tests/benchmarks/bench_dumps.py --memory               memory while reading, in bytes for each of the text

Processor time. `first` is the first text of a process that has met nothing but a module of two instructions; `again`
is the best of four runs in that process. The peer is XLA's parser (lint, verify, fmt with its printer, diff twice); for
convert its parser and lifter, and MLIR's reader and verifier of what they give; for back its export and printer.
The last rows are the worst ratio and the geometric mean of all dumps.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator

from bench_convert import back_by_hlotool, back_by_xla, by_hlotool, by_xla, bytecode
from bench_text import CORPUS, ROOT, silenced
from rich.console import Console
from rich.table import Table

import hlotool
from hlotool.passes.verify import verify
from hlotool.text import parse

#: bytes of the smallest dump, and names of the corpus that are left out: XLA's parser refuses them
_LEAST = 20_000
_TINY = "HloModule tiny\n\nENTRY e {\n  c = f32[] constant(1)\n  ROOT d = f32[] negate(c)\n}\n"


def _xla_parse(text: str) -> object:
    from jaxlib import _hlo

    return _hlo.hlo_module_from_text(text)


def _xla_print(text: str) -> str:
    from jaxlib import _hlo

    found: str = _hlo.hlo_module_from_text(text).to_string()
    return found


def _pair_by_xla(text: str) -> object:
    return _xla_parse(text), _xla_parse(text)


def _diff(text: str) -> object:
    from hlotool.passes.equality import diff

    return diff(parse(text), parse(text))


def _back_input(text: str) -> bytes:
    return bytecode(by_hlotool(text))


#: task -> ours, the peer's, and the input of both that is made of the text
TASKS: dict[str, tuple[Callable[..., object], Callable[..., object], Callable[[str], object]]] = {
    "parse": (parse, _xla_parse, str),
    "verify": (lambda text: verify(parse(text)), _xla_parse, str),
    "lint": (hlotool.lint, _xla_parse, str),
    "fmt": (lambda text: str(parse(text)), _xla_print, str),
    "diff": (_diff, _pair_by_xla, str),
    "convert": (by_hlotool, by_xla, str),
    "back": (back_by_hlotool, back_by_xla, _back_input),
}


def seconds(work: Callable[..., object], given: object) -> float:
    """Return the processor time of one run."""
    start = time.process_time()
    work(given)
    return time.process_time() - start


def measured(task: str, text: str) -> dict[str, float]:
    """Return the processor times of a task on a text: ours at first and again, and the peer's."""
    ours, peer, prepared = TASKS[task]
    with silenced():
        ours(prepared(_TINY))
        if task == "back":  # what is read back has to be written first, which meets the text's phrases
            text_or_bytes: object = subprocess.run([sys.executable, __file__, "--bytecode"], input=text.encode(),
                                                   capture_output=True, check=True).stdout
        else:
            text_or_bytes = prepared(text)
        first = seconds(ours, text_or_bytes)
        again = min(seconds(ours, text_or_bytes) for _ in range(4))
        return {"first": first, "again": again, "peer": min(seconds(peer, text_or_bytes) for _ in range(4))}


def inputs(quick: bool) -> Iterator[tuple[str, str]]:
    """Name and text of every dump, the largest first."""
    folder = ROOT / "samples" / "models" if quick or not CORPUS.exists() else CORPUS
    for path in sorted(folder.glob("*.hlo"), key=lambda p: (-p.stat().st_size, p.name)):
        if path.stat().st_size >= _LEAST:
            text = path.read_text()
            try:
                with silenced():
                    _xla_parse(text)
            except Exception:  # whatever XLA raises: there is no peer
                continue
            yield path.stem.replace("tools_benchmarks_hlo_hlo_", "").replace("backends_cpu_benchmarks_hlo_", ""), text


def table_of(task: str, rows: dict[str, dict[str, float]]) -> Table:
    """Return the table of one task: ratios of all dumps, the worst and the geometric mean."""
    table = Table(title=f"{task} against XLA: {len(rows)} dumps")
    for name in ("dump", "XLA ms", "first ms", "again ms", "first ratio", "again ratio"):
        table.add_column(name, justify="left" if name == "dump" else "right")
    for name, row in rows.items():
        table.add_row(name[:48], *(f"{1000 * row[k]:.1f}" for k in ("peer", "first", "again")),
                      *(f"{row[k] / row['peer']:.2f}" for k in ("first", "again")))
    ratios = {k: [row[k] / row["peer"] for row in rows.values()] for k in ("first", "again")}
    for name, of in (("worst", max), ("geometric mean", statistics.geometric_mean)):
        table.add_row(name, "", "", "", *(f"{of(ratios[k]):.2f}" for k in ("first", "again")), style="bold")
    return table


def peak(text: str) -> float:
    """Return the bytes that reading takes at most for each byte of a text whose phrases the process has met."""
    parse(text)
    tracemalloc.start()
    module = parse(text)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del module
    return found / len(text.encode())


def main() -> int:
    """Measure and print one table for each task."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    arguments.add_argument("--one", choices=TASKS, help=argparse.SUPPRESS)
    arguments.add_argument("--bytecode", action="store_true", help=argparse.SUPPRESS)
    arguments.add_argument("--memory", action="store_true")
    given = arguments.parse_args()
    if given.memory:
        peaks = [peak(text) for _, text in inputs(given.quick)]
        print(f"worst {max(peaks):.1f}, geometric mean {statistics.geometric_mean(peaks):.1f}, {len(peaks)} dumps")
        return 0
    if given.bytecode:
        sys.stdout.buffer.write(_back_input(sys.stdin.read()))
        return 0
    if given.one:
        print(json.dumps(measured(given.one, sys.stdin.read())))
        return 0
    for task in given.tasks:
        rows = {}
        for name, text in inputs(given.quick):
            done = subprocess.run([sys.executable, __file__, "--one", task], input=text, capture_output=True, text=True,
                                  check=False)
            if done.returncode == 0:
                rows[name] = json.loads(done.stdout)
            else:
                print(f"{task} of {name}: {done.stderr.splitlines()[-1:]}", file=sys.stderr)
        shown = sorted(rows.items(), key=lambda item: -item[1]["again"] / item[1]["peer"])
        Console(width=120).print(table_of(task, dict(shown)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
