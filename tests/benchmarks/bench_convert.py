"""Text to a verified StableHLO module, against XLA's parser, its lifter, and MLIR reading what it gives; and back.

    python tests/benchmarks/bench_convert.py            the six largest dumps of ../shared/corpus
    python tests/benchmarks/bench_convert.py --quick    the largest samples

Back is bytecode of that module to HLO text, against XLA's export and printer on the same bytes.

Both run in one process, in turn; the table shows medians of processor time and their ratio. For the ratio library
calls stay, as XLA leaves them; what writing out what they stand for takes beside that has a column of its own.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Iterator
from typing import Any

from bench_text import CORPUS, ROOT, median_seconds, silenced
from rich.console import Console
from rich.table import Table

import hlotool
from hlotool.stablehlo import LiftOptions
from hlotool.stablehlo.context import make_context


def inputs(quick: bool) -> Iterator[tuple[str, str]]:
    """Name and text of every input."""
    folder = ROOT / "samples" / "models" if quick or not CORPUS.exists() else CORPUS
    for path in sorted(folder.glob("*.hlo"), key=lambda p: -p.stat().st_size)[:6]:
        yield path.name.removesuffix(".hlo").replace("tools_benchmarks_hlo_hlo_", "").replace(
            "backends_cpu_benchmarks_hlo_", ""), path.read_text()


def by_xla(text: str) -> Any:
    """XLA's way: parse, lift, and read the bytecode, which the lifter does not verify."""
    from jax.extend.mlir import ir
    from jaxlib import _hlo, _jax

    module = _hlo.hlo_module_from_text(text)
    code = _jax.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
    context = make_context()
    # What it leaves in its own dialect is read unverified.
    context.allow_unregistered_dialects = True
    with context:
        try:
            found = ir.Module.parse(code, context)
        except ir.MLIRError:
            return None  # attributes of its own dialect, which jaxlib has no reader of: that part counts as nothing
        found.operation.verify()
        return found


def by_hlotool(text: str, options: LiftOptions = LiftOptions(library=False)) -> Any:  # noqa: B008  # frozen
    """Ours: parse and lift, which verifies."""
    return hlotool.to_stablehlo(hlotool.parse(text), options=options)


def bytecode(program: Any) -> bytes:
    """What both read on the way back."""
    written = io.BytesIO()
    program.operation.write_bytecode(written)
    return written.getvalue()


def back_by_xla(program: bytes) -> str:
    """XLA's way back: export, and print."""
    from jaxlib import _jax

    text: str = _jax.mlir.mlir_module_to_xla_computation(program, False, False).as_hlo_text()
    return text


def back_by_hlotool(program: bytes) -> str:
    """Ours: import without a child process, and print."""
    return str(hlotool.from_stablehlo(program, isolate=False))


def main() -> int:
    """Measure and print one table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    table = Table(title=f"hlotool {hlotool.__version__}: text to verified StableHLO, medians of {given.rounds}")
    for name, where in (("input", "left"), ("MB", "right"), ("XLA s", "right"), ("parse s", "right"),
                        ("parse and lift s", "right"), ("ratio", "right"), ("with library calls s", "right"),
                        ("XLA back s", "right"), ("back s", "right"), ("ratio", "right")):
        table.add_column(name, justify=where)  # type: ignore[arg-type]
    for name, text in inputs(given.quick):
        with silenced():
            peer, reading, ours, all_written = median_seconds(
                given.rounds, lambda t=text: by_xla(t), lambda t=text: hlotool.parse(t), lambda t=text: by_hlotool(t),
                lambda t=text: by_hlotool(t, LiftOptions()), clock=time.process_time)
            program = bytecode(by_hlotool(text))
            exported, imported = median_seconds(
                given.rounds, lambda p=program: back_by_xla(p), lambda p=program: back_by_hlotool(p),
                clock=time.process_time)
        table.add_row(name[:48], f"{len(text) / 1e6:.1f}", f"{peer:.3f}", f"{reading:.3f}", f"{ours:.3f}",
                      f"{ours / peer:.2f}", f"{all_written:.3f}", f"{exported:.3f}", f"{imported:.3f}",
                      f"{imported / exported:.2f}")
    Console(width=120).print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
