"""Asks modules for instructions, the largest first; of many modules an index of them.

    hlotool find 'all-gather where bytes >= 64MB' step.hlo
    hlotool find 'all-gather where bytes >= 64MB and feeds dot' dumps.index
    hlotool find 'dot where dtype = bf16 and in attention' one.index two.index
    hlotool find 'all-* where not entry and users = 0' dumps.index --json
    hlotool find '* where scope ~ "layer_[0-9]+/mlp"' --sql

An opcode or a pattern (* any characters, ? one), then `where` and conditions with and, or, not and parentheses:
`bytes`, `elements`, `rank`, `operands`, `users`, `line`, `source_line` and `dim` (of some dimension), `dim[0]` or
`dim[-1]` against a number (= != < <= > >=) with a unit (kB, MB, GiB; of others than bytes k, M, G); `name`, `opcode`,
`dtype`, `shape`, `computation`, `scope`, `source_file`, `module`, `file` and the fingerprints `exact`, `name_blind`
and `size_blind` against a pattern or a "text" (= !=), or a regular expression (~ "..."); `feeds` an opcode that the
result gets to, through what only moves it, tuples, fusions, calls and loops, too; `fed by` the opcode of an operand;
`in` a scope of the op_name; `entry`; `root`. `hlotool corpus index` writes indices; modules are read anew each time.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hlotool.cli.console import complain, report
from hlotool.cli.option_values import whole_number
from hlotool.cli.report_format import add_format, print_json
from hlotool.diagnostics import HloError, format_bytes, visible
from hlotool.process import note_progress

if TYPE_CHECKING:
    from hlotool.corpus import Answer, FoundInstruction, IndexSql

#: columns of what is printed to no terminal
_WIDTH = 80


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="what to look for")
    parser.add_argument("paths", nargs="*", metavar="PATH",
                        help="modules, or folders of them; or folders that `hlotool corpus index` wrote")
    parser.add_argument("--limit", type=whole_number(0), default=20, metavar="N",
                        help="instructions to show; 0: all (%(default)s)")
    parser.add_argument("--sql", action="store_true", help="print what DuckDB is asked for, and stop")
    add_format(parser, "hlotool.corpus:FindReport")


def run(args: argparse.Namespace) -> int:
    from hlotool.corpus import QUERY, ask, merged, parse_query, statements, unknown_opcode
    from hlotool.ir import Source

    limit: int = args.limit
    try:
        query = parse_query(args.query)
        if args.sql:
            _print_sql(statements(query, limit), args.format)
            return 0
        if not args.paths:
            complain(f"{args.prog}: name a module, or an index; `hlotool corpus index PATH -o INDEX` writes one")
            return 2
        with _indexed(args.paths, args.memory_limit) as indices:
            answer = merged([ask(query, args.query, index, limit) for index in indices], limit)
    except HloError as error:
        report(error.diagnostics, {QUERY: Source(args.query, QUERY)})
        return 2
    code = 2 if answer.unusable and not answer.of_modules else 0
    note = "" if answer.count else unknown_opcode(query)
    if args.format == "json":
        print_json(answer.as_json(args.query, note))
        return code
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH
    for found in answer.found:
        print("\n".join(_lines(found, max(40, width))))
    print(_summary(answer))
    if note:
        complain(f"{args.prog}: {note}")
    _tell_what_lacks(answer)
    return code


@contextlib.contextmanager
def _indexed(paths: list[str], memory: int | None) -> Iterator[list[str]]:
    """The indices among some paths; modules are put into one of their own, which is gone afterwards.

    Raises HloError and OSError.
    """
    from hlotool import __version__
    from hlotool.corpus import TASKS, default_processes, holds_results, run_corpus

    modules = [path for path in paths if os.path.exists(path) and not holds_results(path)]
    indices = [path for path in paths if path not in modules]
    if not modules:
        yield indices
        return
    with tempfile.TemporaryDirectory(prefix="hlotool-") as folder:
        made = os.path.join(folder, "index")
        run_corpus(TASKS["index"], modules, made, version=__version__, processes=default_processes(), memory=memory,
                   watch=lambda report: note_progress())
        yield [*indices, made]


def _print_sql(asked: IndexSql, format: str) -> None:
    if format == "json":
        print_json(asked.as_json())
        return
    print(asked.found.sql)  # no word of it is the user's
    for number, value in enumerate(asked.found.values, 1):
        print(f"-- ? {number}: {visible(repr(value))}")


def _lines(found: FoundInstruction, width: int) -> Iterator[str]:
    """Where it stands; what it is; where it comes from. Only a file's name may be wider than the terminal."""
    yield visible(f"{found.file}:{found.line}" if found.line else f"{found.file}: {found.computation}")
    size = format_bytes(found.bytes)
    yield f"  {_fitting(f'{found.name} = {found.shape} {found.opcode}', width - len(size) - 4)}, {size}"
    source = f"{found.source_file}:{found.source_line}" if found.source_line else found.source_file or ""
    origin = "  ".join(filter(None, (found.scope, source)))
    if origin:
        yield f"  {_fitting(origin, width - 2)}"


def _fitting(text: str, width: int) -> str:
    """The text, without its middle where it is too wide."""
    shown = visible(text)
    if len(shown) <= width:
        return shown
    half = (width - 1) // 2
    return f"{shown[:half]}…{shown[-half:]}"


def _summary(answer: Answer) -> str:
    shown = f", {len(answer.found)} shown" if len(answer.found) < answer.count else ""
    return (f"{answer.count} {'instruction' if answer.count == 1 else 'instructions'} in {answer.modules} of "
            f"{answer.of_modules} modules{shown}")


def _tell_what_lacks(answer: Answer) -> None:
    """Report the inputs that an answer does not cover, which must not look as if they held nothing."""
    if answer.missing:
        complain(f"{answer.missing} files are not in the index yet: `hlotool corpus index` was ended before")
    if answer.unusable:
        complain(f"{answer.unusable} files have no place in the index, or not all of theirs: the table `inputs` of an "
                 "index says why, and so does `hlotool lint FILE`")
