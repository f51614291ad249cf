"""Compares values: a module on two executors, or two modules on one.

    hlotool compare model.hlo                               pjrt:cpu against the reference
    hlotool compare before.hlo after.hlo                    two modules on pjrt:cpu
    hlotool compare models/ --executors pjrt:cpu stablehlo  each module

Exit code 0: equal within the budget; 1: different; 2: one of them does not run.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hlotool.cli.arrays import add_argument_files, read_arguments
from hlotool.cli.console import report
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.diagnostics import HloError, visible
from hlotool.ir import Source

if TYPE_CHECKING:
    from hlotool.execution import Comparison


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules; exactly two are compared with each other")
    parser.add_argument("--executors", nargs=2, default=("pjrt:cpu", "reference"), metavar="NAME",
                        help="pjrt:cpu, reference, stablehlo; two modules run on the first")
    parser.add_argument("--each", action="store_true", help="two modules: each on both executors, not with each other")
    parser.add_argument("--inputs", nargs="+", choices=("random", "positive", "special"),
                        default=("random", "positive", "special"), help="the sets of arguments to make")
    parser.add_argument("--ulps", type=float, help="the budget in units in the last place; 0: equal")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="SECONDS")
    add_argument_files(parser)


def run(args: argparse.Namespace) -> int:
    sources: dict[str, Source] = {}
    wanted = list(load(args.paths, sources))
    pairs = [(wanted[0], wanted[1])] if len(wanted) == 2 and not args.each else [(w, None) for w in wanted]
    code = 0
    for one, other in pairs:
        try:
            found = _compared(one, other, args)
        except HloError as error:
            code = max(code, report(error.diagnostics, sources))
            continue
        print(_verdict(found))
        # A failure to run is no difference: nothing was compared.
        code = max(code, report(found.diagnostics, sources) if found.compared else 2 * bool(_shown(found, sources)))
    return code


def _shown(found: Comparison, sources: dict[str, Source]) -> bool:
    report(found.diagnostics, sources)
    return bool(found.diagnostics)


def _compared(one: Loaded, other: Loaded | None, args: argparse.Namespace) -> Comparison:
    from hlotool.execution import Program, compare

    module = one.module()
    arguments = None
    if args.argument_files:
        arguments = read_arguments(args.argument_files, Program(module).parameters)
    return compare(module, other.module() if other is not None else None, arguments=arguments, inputs=args.inputs,
                   executors=args.executors, seed=args.seed, ulps=args.ulps, time_limit=args.time_limit)


def _verdict(found: Comparison) -> str:
    if not found.compared:
        return f"{visible(found.left)} and {visible(found.right)}: not compared"
    worst = found.worst
    verdict = "agree" if found.is_equal else "differ"
    text = (f"{visible(found.left)} and {visible(found.right)} {verdict}: {found.compared} sets of arguments, "
            f"budget {found.budget:g} ULPs")
    if worst is None or worst.problem or not worst.size:
        return text
    shares = ", ".join(f"{'≤ ' if k.isdigit() else ''}{k} {v:.1%}" for k, v in worst.spread.items())
    place = ",".join(map(str, worst.index))
    scaled = f" ({worst.error:.3g} of the largest element's)" if worst.error < worst.ulps else ""
    return (f"{text}\n  worst: result {worst.result}[{place}] ({worst.inputs}): {worst.left} and {worst.right}, "
            f"{worst.ulps:g} ULPs{scaled}\n  spread in ULPs: {shares}")
