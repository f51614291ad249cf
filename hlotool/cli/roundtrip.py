"""The main job, on every module: read it, check it, print it, convert it there and back, run it, compare.

    hlotool roundtrip samples/models            every module of a folder, two at a time
    hlotool roundtrip program.mlir              StableHLO to HLO and back
    hlotool roundtrip model.hlo --skip run      without executing anything

The columns: `read` parses (imports) and verifies; `print` prints and reads back, twice the same text; `lift` converts
to StableHLO; `back` converts that to HLO text and reads it; `same` compares the structure of what went in and what
came back, up to what --list names ("lifted": operations that StableHLO lacks came back as what they stand for, and
that comes back as it is); `run` executes both on pjrt:cpu, on several sets of arguments with special values, and
compares; `reference` and `interp` compare hlotool's NumPy reference and StableHLO's interpreter with pjrt:cpu, where
they can run the module (n/a where they can't). `size` counts instructions, `ULPs` is how far the results of `run` are
apart at worst. Exit code 1 where a stage fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hlotool.cli.console import INTERRUPTED, complain, frames, print_table, progress_bar, say
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.cli.limits import add_run_limit
from hlotool.cli.option_values import ARGUMENT_KINDS, processes, whole_number
from hlotool.cli.report_format import add_format, print_json
from hlotool.cli.roundtrip_stages import STAGES, RoundtripReport, Row, lost, take
from hlotool.cli.run import add_custom_calls
from hlotool.diagnostics import visible
from hlotool.ir import Source

#: diagnostics of a module that are shown unless all are asked for
FEW = 3
#: processes at most, each with a PJRT client beside it
_MOST_JOBS = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules to take there and back")
    parser.add_argument("--inputs", nargs="+", choices=ARGUMENT_KINDS, default=ARGUMENT_KINDS, metavar="KIND",
                        help="the sets of arguments to make: random, positive, special (default: all; PJRT alone "
                             "gets the special ones)")
    parser.add_argument("--seed", type=whole_number(0), default=0, help="seed of the arguments")
    add_run_limit(parser)
    add_custom_calls(parser)
    parser.add_argument("--skip", nargs="+", choices=STAGES[5:], default=(), metavar="STAGE",
                        help=f"stages to leave out: {', '.join(STAGES[5:])}")
    parser.add_argument("--run", action="store_const", const=(), dest="skip", help="leave no stage out (the default)")
    parser.add_argument("--jobs", "-j", type=processes(), metavar="N",
                        help="modules at a time (default: one a processor)")
    parser.add_argument("--list", action=_ListNotCompared, nargs=0, help="what `same` does not compare, and exit")
    parser.add_argument("--verbose", "-v", action="store_true", help="say why a stage was not applicable")
    add_format(parser, "hlotool.cli.roundtrip_stages:RoundtripReport")


class _ListNotCompared(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *rest: object, **named: object) -> None:
        from hlotool.passes.equality import NOT_COMPARED

        width = max(map(len, NOT_COMPARED))
        for name, meaning in NOT_COMPARED.items():
            print(f"{name:<{width}}  {meaning}")
        parser.exit()


def run(args: argparse.Namespace) -> int:
    sources: dict[str, Source] = {}
    start = time.perf_counter()
    wanted = list(load(args.paths, sources))
    done: dict[int, Row] = {}
    is_interrupted = False
    try:
        with progress_bar(len(wanted)) as move:
            for at, row in _rows(wanted, args):
                done[at] = row
                move(advance=1, description=visible(row.name))
    except KeyboardInterrupt:
        is_interrupted = True
    rows = [done[at] for at in sorted(done)]
    if args.format == "json":
        print_json(RoundtripReport(modules=[r.as_json() for r in rows], interrupted=is_interrupted))
        return _exit_code(rows, wanted, is_interrupted)
    _print_table(rows)
    for row in rows:
        shown = [*row.diagnostics, *(row.reasons if args.verbose else ())]
        if shown:
            few = shown if args.verbose else shown[:FEW]
            more = f"\n\n... and {len(shown) - len(few)} more (--verbose shows them)" if len(few) < len(shown) else ""
            say(f"\n{row.name}:\n" + frames(few, sources, sys.stderr) + more)
    good = sum(row.is_good for row in rows)
    total = sum(row.instructions for row in rows)
    print(f"{good} of {len(rows)} modules came back equal; {total} instructions, {time.perf_counter() - start:.1f} s")
    return _exit_code(rows, wanted, is_interrupted)


def _exit_code(rows: Sequence[Row], wanted: Sequence[Loaded], is_interrupted: bool) -> int:
    if is_interrupted:
        complain(f"hlotool roundtrip: interrupted; {len(rows)} of {len(wanted)} modules were tried")
        return INTERRUPTED
    return int(not all(row.is_good for row in rows)) if any(w.input for w in wanted) else 2


def _rows(wanted: Sequence[Loaded], args: argparse.Namespace) -> Iterator[tuple[int, Row]]:
    """The number of each module with its row, several modules at a time, as they are done."""
    from hlotool.process import answers, processors

    jobs = min(args.jobs or min(processors(), _MOST_JOBS), len(wanted))
    if jobs < 2:
        yield from ((at, take(loaded, args)) for at, loaded in enumerate(wanted))
        return

    for at, found in answers("hlotool.cli.roundtrip_stages:take", [(loaded, args) for loaded in wanted], jobs):
        yield at, found if isinstance(found, Row) else lost(wanted[at], found)


def _print_table(rows: Sequence[Row]) -> None:
    from rich.text import Text

    folder = _common_folder([row.name for row in rows])
    longest = max((len(row.name) - len(folder) for row in rows), default=0)
    columns: list[Mapping[str, Any]] = [
        {"header": "module", "overflow": "fold", "min_width": min(60, longest)}, {"header": "size", "justify": "right"},
        *({"header": stage, "justify": "center"} for stage in STAGES), {"header": "ULPs", "justify": "right"},
        {"header": "time", "justify": "right"}]
    found, styles = [], {"ok": "green", "fail": "bold red", "n/a": "dim", "lifted": "cyan"}
    for row in rows:
        cells = [Text(row.stages.get(s, "-"), styles.get(row.stages.get(s, ""), "dim")) for s in STAGES]
        worst = f"{row.worst['run']:g}" if "run" in row.worst else ""
        found.append((row.name.removeprefix(folder), str(row.instructions), *cells, worst, f"{row.seconds:.1f} s"))
    print_table(columns, found, width=120, collapse_padding=True, title=Text(folder) if folder else None,
                title_justify="left")


def _common_folder(names: Sequence[str]) -> str:
    """`samples/models/` where all modules lie in it, so that it need not stand in every row."""
    folders = {name.rpartition("/")[0] for name in names}
    return f"{folders.pop()}/" if len(folders) == 1 and all("/" in n for n in names) else ""
