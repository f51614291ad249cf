"""Names the instruction that is guilty: of NaN or an infinity, or of what an executor gets wrong.

    hlotool isolate model.hlo                          on made arguments: NaN, then pjrt:cpu against the reference
    hlotool isolate model.hlo --args x.npz             on given ones
    hlotool isolate model.hlo --nan --args x.npz       the first instruction that makes NaN or an infinity, only
    hlotool isolate model.hlo --executors pjrt:cuda reference
    hlotool isolate before.hlo after.hlo --args x.npz  where the second module computes something else than the first
    hlotool isolate model.hlo --reproduce small.hlo    a small module (and small.npz) that shows it alone

Exit code 0: nothing found, 1: an instruction is named, 2: the module does not run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hlotool.cli.argument_arrays import add_argument_files, read_arguments, write_arguments
from hlotool.cli.console import complain, report
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.cli.option_values import ARGUMENT_KINDS, seconds
from hlotool.cli.report_format import add_format
from hlotool.cli.whole_files import with_ending, write_beside
from hlotool.diagnostics import HloError, agreed, visible
from hlotool.ir import Source

if TYPE_CHECKING:
    from hlotool.blame import Blame, Isolation, NonFinite, Reproduction
    from hlotool.execution import Executor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules; exactly two are held against each other")
    parser.add_argument("--nan", action="store_true", help="where NaN and infinities come from, on the reference only")
    parser.add_argument("--each", action="store_true", help="two modules: each by itself, not against each other")
    parser.add_argument("--executors", nargs=2, default=("pjrt:cpu", "reference"), metavar="NAME",
                        help="the executor that is held against the reference; either may stand first")
    add_argument_files(parser)
    parser.add_argument("--inputs", nargs="+", choices=ARGUMENT_KINDS, default=None, metavar="KIND",
                        help=f"what to make ({', '.join(ARGUMENT_KINDS)}) first where --args gives nothing; "
                             "then arguments are searched that show a difference, as compare does. The first set "
                             "with a finding counts")
    add_format(parser, "hlotool.blame:IsolateReport")
    parser.add_argument("--reproduce", metavar="FILE",
                        help="write a small module that shows the finding alone, and its arguments beside it as .npz")
    parser.add_argument("--time-limit", type=seconds, default=60.0, metavar="SECONDS",
                        help="for each module; what was found until then is reported (default %(default)s)")


def run(args: argparse.Namespace) -> int:
    sources: dict[str, Source] = {}
    code, wanted = 0, list(load(args.paths, sources))
    if len(wanted) == 2 and not args.each and not args.nan:
        try:
            return _isolate_pair(wanted[0], wanted[1], args, sources)
        except HloError as error:
            return max(2, report(error.diagnostics, sources))
    if args.reproduce is not None and len(wanted) > 1:
        complain("--reproduce takes the finding of one module")
        return 2
    for loaded in wanted:
        try:
            code = max(code, _isolate(loaded, args, sources))
        except HloError as error:
            code = max(code, 2, report(error.diagnostics, sources))
    return code


def _isolate(loaded: Loaded, args: argparse.Namespace, sources: dict[str, Source]) -> int:
    from hlotool.blame import record
    from hlotool.execution import executor_named

    names = () if args.nan else args.executors
    executor = next((e for e in (executor_named(n, args.time_limit) for n in names) if e.name != "reference"), None)
    found, inputs = _isolation(loaded, None, args, names)
    assert found.nonfinite is not None
    told = record(loaded.name, found.nonfinite, found.wrong, is_compared=executor is not None, inputs=inputs,
                  comparison=found.comparison)
    if args.reproduce is not None:
        told["reproduced"] = _reproduce(found, executor, Path(args.reproduce))
    if args.format == "json":
        print(json.dumps(told))
    else:
        print(f"{visible(loaded.name)}: {_summary(found.nonfinite, found.wrong, inputs, executor)}", flush=True)
        report(found.diagnostics, sources)
        if path := told.get("reproduced"):
            print(f"reproduced by {visible(path)}")
    return int(not found.is_clean)


def _isolate_pair(one: Loaded, other: Loaded, args: argparse.Namespace, sources: dict[str, Source]) -> int:
    from hlotool.blame import pair_record, parts_record

    found, inputs = _isolation(one, other, args, ())
    if args.format == "json":
        record = (parts_record(one.name, other.name, found.parts, inputs=inputs) if found.parts is not None
                  else pair_record(one.name, other.name, found.parting, inputs=inputs, comparison=found.comparison))
        print(json.dumps(record))
    elif found.is_clean and found.comparison is None:
        print(f"{visible(one.name)} and {visible(other.name)}: all results agree on {inputs} arguments")
    elif found.is_clean:
        print(f"no arguments show a difference; compare says of {visible(str(found.comparison))}")
    else:
        at = f"at {found.place}" if found.place is not None else ""
        how = f"part {found.parting or at}" if found.parting or at else "differ"
        print(f"{visible(one.name)} and {visible(other.name)} {how}, on {inputs} arguments", flush=True)
        report(found.diagnostics, sources)
    return int(not found.is_clean)


def _isolation(one: Loaded, other: Loaded | None, args: argparse.Namespace, executors: Sequence[str]
               ) -> tuple[Isolation, str]:
    """The finding, and the kind of the arguments that showed it. Raises HloError."""
    from hlotool.blame import isolate
    from hlotool.execution import Program

    module, second = one.module(), other.module() if other is not None else None
    given, kind = None, ""
    if args.argument_files:
        given, kind = read_arguments(args.argument_files, Program(module).parameters), "given"
    elif args.inputs is None and (given := one.recorded()) is not None:
        kind = "recorded"
    found = isolate(module, second, arguments=given, inputs=args.inputs, executors=executors, seed=args.seed,
                    time_limit=args.time_limit)
    return found, kind or found.inputs


def _reproduce(found: Isolation, executor: Executor | None, path: Path) -> str | None:
    """Write the small module of the first finding; its path where it shows the finding."""
    from hlotool.blame import reproduce_blame, reproduce_maker

    made: Reproduction | None = None
    if found.wrong is not None and executor is not None:
        made = reproduce_blame(found.wrong, executor)
    elif not found.is_clean and found.nonfinite is not None and found.nonfinite.guilty:
        made = reproduce_maker(found.nonfinite.guilty[0], found.nonfinite.program)
    if made is None:
        complain("--reproduce: there is nothing that a small module could show alone")
        return None
    write_beside(path, made.text.encode("utf-8", "surrogateescape"))
    for device, row in enumerate(made.arguments):
        ending = ".npz" if len(made.arguments) == 1 else f".{device}.npz"
        write_arguments(with_ending(path, ending), row, is_named=False)
    if not made.is_checked:
        complain(f"--reproduce: {visible(str(path))} does not show the finding when it is run alone")
        return None
    return str(path)


def _summary(found: NonFinite, guilty: Blame | None, inputs: str, executor: Executor | None) -> str:
    """One line about a module."""
    parts = []
    if found.verdict != "finite":
        word = "NaN" if found.verdict == "nan" else "infinite"
        first = found.guilty[0].place if found.guilty else None
        where = f", made by {first}" if first is not None else ""
        line = f" ({visible(str(first.origin))})" if first is not None and first.origin else ""
        parts.append(f"a result is {word} on {inputs} arguments{where}{line}")
    if guilty is not None:
        origin = guilty.place.origin
        line = f" ({visible(str(origin))})" if origin else ""
        parts.append(f"{guilty.executor} and the reference part at {guilty.place}{line}, on {inputs} arguments")
    if parts:
        return "; ".join(parts)
    masked = agreed(f"; {len(found.masked)} instructions make NaN that no result shows") if found.masked else ""
    beside = f", and {executor.name} agrees with the reference" if executor is not None else ""
    return f"all results are finite on {inputs} arguments{beside}{masked}"
