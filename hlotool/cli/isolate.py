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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlotool.cli.argument_arrays import add_argument_files, read_arguments, write_arguments
from hlotool.cli.console import complain, report
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.cli.option_values import seconds
from hlotool.cli.report_format import add_format
from hlotool.cli.whole_files import with_ending, write_beside
from hlotool.diagnostics import HloError, visible
from hlotool.ir import Source

if TYPE_CHECKING:
    from hlotool.blame import Blame, NonFinite, Reproduction
    from hlotool.execution import Executor, Program

#: sets of arguments that are made where none are given
_INPUTS = ("random", "positive", "special")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules; exactly two are held against each other")
    parser.add_argument("--nan", action="store_true", help="where NaN and infinities come from, on the reference only")
    parser.add_argument("--each", action="store_true", help="two modules: each by itself, not against each other")
    parser.add_argument("--executors", nargs=2, default=("pjrt:cpu", "reference"), metavar="NAME",
                        help="the executor that is held against the reference; either may stand first")
    add_argument_files(parser)
    parser.add_argument("--inputs", nargs="+", choices=_INPUTS, default=None, metavar="KIND",
                        help=f"what to make ({', '.join(_INPUTS)}) first where --args gives nothing; "
                             "then arguments are searched that show a difference, as compare does. The first set "
                             "with a finding counts")
    add_format(parser, "isolate.json")
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
    from hlotool.blame import blame_diagnostic, nonfinite_diagnostics, record
    from hlotool.execution import Program

    program = Program(loaded.module())
    executor = None if args.nan else _executor(args)
    inputs, found, guilty = _searched(program, executor, args, loaded)
    more: dict[str, Any] = {"inputs": inputs}
    if args.reproduce is not None:
        more["reproduced"] = _reproduce(program, found, guilty, executor, Path(args.reproduce))
    if args.format == "json":
        print(json.dumps(record(loaded.name, found, guilty, is_compared=executor is not None, **more)))
    else:
        print(f"{visible(loaded.name)}: {_summary(found, guilty, inputs, executor)}", flush=True)
        report([*nonfinite_diagnostics(found), *([blame_diagnostic(guilty)] if guilty is not None else [])], sources)
        if more.get("reproduced"):
            print(f"reproduced by {visible(more['reproduced'])}")
    return int(found.verdict != "finite" or guilty is not None)


def _isolate_pair(one: Loaded, other: Loaded, args: argparse.Namespace, sources: dict[str, Source]) -> int:
    from hlotool.blame import blame_pair, pair_diagnostic, pair_record
    from hlotool.execution import Program

    left, right = Program(one.module()), Program(other.module())
    for kind, rows in _argument_sets(left, args, one):
        inputs, found = kind, blame_pair(left, right, rows, seconds=args.time_limit)
        if found is not None:
            break
    if args.format == "json":
        print(json.dumps(pair_record(one.name, other.name, found, inputs=inputs)))
    elif found is None:
        print(f"{visible(one.name)} and {visible(other.name)}: all results agree on {inputs} arguments")
    else:
        print(f"{visible(one.name)} and {visible(other.name)} part at {found.place}, on {inputs} arguments", flush=True)
        report([pair_diagnostic(found)], sources)
    return int(found is not None)


def _executor(args: argparse.Namespace) -> Executor | None:
    """The one of the two executors that is not the reference; None: both are."""
    from hlotool.execution import executor_named

    named = [executor_named(name, args.time_limit) for name in args.executors]
    return next((e for e in named if e.name != "reference"), None)


def _searched(program: Program, executor: Executor | None, args: argparse.Namespace, loaded: Loaded
              ) -> tuple[str, NonFinite, Blame | None]:
    """The first set of arguments with a finding (or the last), and what was found."""
    from hlotool.blame import ReferenceValues, blame, find_nonfinite

    sets = _argument_sets(program, args, loaded)
    for kind, rows in sets:
        values = ReferenceValues(program, rows)
        inputs, found = kind, find_nonfinite(program, rows, args.time_limit, values)
        guilty = (blame(program, rows, executor, seconds=args.time_limit, values=values)
                  if executor is not None else None)
        if found.verdict != "finite" or guilty is not None:
            return inputs, found, guilty
    if sets[0][0] in ("given", "recorded"):
        return inputs, found, guilty
    return _searched_further(program, executor, args) or (inputs, found, guilty)


def _searched_further(program: Program, executor: Executor | None, args: argparse.Namespace
                      ) -> tuple[str, NonFinite, Blame] | None:
    """What the search for arguments that show a difference leads to; None: none was found."""
    from hlotool.blame import NonFinite, blame, compare_unnamed

    if executor is None:
        return None
    shown = compare_unnamed(program.module, executors=(executor.name, "reference"), seed=args.seed,
                            time_limit=args.time_limit)
    if shown.witness is None or shown.worst is None:
        return None
    guilty = blame(program, shown.witness, executor, seconds=args.time_limit)
    # What such arguments make infinite is no finding: they stand at the ends of the range on purpose.
    return (shown.worst.inputs, NonFinite(program, []), guilty) if guilty is not None else None


def _argument_sets(program: Program, args: argparse.Namespace, loaded: Loaded) -> list[tuple[str, list[list[Any]]]]:
    """The arguments of every device, for each set."""
    from hlotool.execution import arguments_for, fitted

    if args.argument_files:
        given = fitted(program, read_arguments(args.argument_files, program.parameters))
        return [("given", [given] * program.devices)]
    if args.inputs is None and (recorded := loaded.recorded()) is not None:
        return [("recorded", [fitted(program, recorded)] * program.devices)]
    return [(kind, [arguments_for(program, args.seed + d, kind) for d in range(program.devices)])
            for kind in args.inputs or _INPUTS[:2]]


def _reproduce(program: Program, found: NonFinite, guilty: Blame | None, executor: Executor | None,
               path: Path) -> str | None:
    """Write the small module of the first finding; its path where it shows the finding."""
    from hlotool.blame import reproduce_blame, reproduce_maker

    made: Reproduction | None = None
    if guilty is not None and executor is not None:
        made = reproduce_blame(guilty, executor)
    elif found.guilty and found.verdict != "finite":
        made = reproduce_maker(found.guilty[0], program)
    if made is None:
        complain("--reproduce: there is nothing that a small module could show alone")
        return None
    write_beside(path, made.text.encode("utf-8", "surrogateescape"))
    for device, row in enumerate(made.arguments):
        ending = ".npz" if len(made.arguments) == 1 else f".{device}.npz"
        write_arguments(with_ending(path, ending), row)
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
    masked = f"; {len(found.masked)} instructions make NaN that no result shows" if found.masked else ""
    beside = f", and {executor.name} agrees with the reference" if executor is not None else ""
    return f"all results are finite on {inputs} arguments{beside}{masked}"
