"""Compares values: a module on several executors, or two modules.

    hlotool compare model.hlo                               pjrt:cpu against the reference
    hlotool compare before.hlo after.hlo                    two modules, on the reference and on pjrt:cpu
    hlotool compare models/ --executors pjrt:cpu stablehlo  each module
    hlotool compare before.hlo after.hlo --prove --certificate proof.txt       the steps of a proof, as text
    hlotool compare before.hlo after.hlo --check-certificate proof.txt         verifies them
    hlotool compare model.hlo --args x.npz --format json
    hlotool compare snapshot.pb --executors stored:snapshot.pb reference    a recorded run, on its arguments

What a program's own precision costs decides what is a difference; --ulps, --rtol, --atol and --preset set a budget by
hand. Exit code 0: they agree, and nothing is open; 1: they differ, or something is left open (a side of a choice never
taken, a loop that may run further, elements without a verdict, an executor that failed: see --allow-open); 2: nothing
was compared.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hlotool.cli.argument_arrays import add_argument_files, read_arguments, write_arguments
from hlotool.cli.console import complain, report
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.cli.limits import add_run_limit
from hlotool.cli.old_options import argument_kind
from hlotool.cli.option_values import error_budget, seconds
from hlotool.cli.report_format import add_format, print_json
from hlotool.cli.run import add_custom_calls
from hlotool.diagnostics import HloError, visible
from hlotool.ir import Source

if TYPE_CHECKING:
    from hlotool.numerics import Tolerance
    from hlotool.verdict import Comparison, ComparisonRecord

#: kinds of argument sets, as hlotool.verdict.argument_sets lists them
KINDS = ("random", "special", "targets", "wide", "negative", "near", "alike", "positive", "ties", "whole")
PRESETS = ("xla", "numpy", "stablehlo", "bitwise")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules; exactly two are compared with each other")
    parser.add_argument("--executors", nargs="+", default=("pjrt:cpu", "reference"), metavar="NAME",
                        help="pjrt:cpu, reference, stablehlo, shadow, stored:FILE.npz; each is compared with "
                             "the reference")
    parser.add_argument("--each", action="store_true", help="two modules: each on the executors, not with each other")
    parser.add_argument("--inputs", nargs="+", choices=KINDS, type=argument_kind, metavar="KIND",
                        help=f"the sets of arguments to make: {', '.join(KINDS)} (default: all, until time is over)")
    parser.add_argument("--time-budget", type=seconds, default=10.0, metavar="SECONDS",
                        help="for the search of arguments that show a difference, a module (default 10)")
    add_run_limit(parser)
    parser.add_argument("--extremes", action=argparse.BooleanOptionalAction, default=None,
                        help="count all differences at the ends of the range, or none (default: those that are no "
                             "consequence of an overflow further up)")
    parser.add_argument("--prove", action="store_true",
                        help="two modules: try to prove that they compute the same for all arguments "
                             "(pip install 'hlotool[prove]')")
    parser.add_argument("--certificate", metavar="FILE",
                        help="two modules: write the steps of a proof that they compute the same, if there is one")
    parser.add_argument("--check-certificate", metavar="FILE",
                        help="two modules: verify the steps of such a proof, and compare no values; 0: they are right")
    parser.add_argument("--allow-open", "--allow-vacuous", action="store_true",
                        help="exit 0 also where something is left open: all is NaN, nothing depends on the arguments, "
                             "a side of a choice was never taken, a loop may run further, elements have no verdict")
    parser.add_argument("--save-arguments", metavar="FILE.npz", help="write the arguments that show the difference")
    budget = parser.add_argument_group("budget by hand, in place of the error model")
    budget.add_argument("--ulps", type=error_budget, help="units in the last place; 0: equal")
    budget.add_argument("--rtol", type=error_budget, help="relative error")
    budget.add_argument("--atol", type=error_budget, help="absolute error")
    budget.add_argument("--preset", choices=PRESETS, help="what others allow: xla 1e-3, numpy 1e-5, stablehlo 3 ULPs, "
                                                          "bitwise nothing")
    add_format(parser, "hlotool.verdict:ComparisonReport")
    add_custom_calls(parser)
    add_argument_files(parser)


def run(args: argparse.Namespace) -> int:
    from hlotool.verdict import failed_record

    sources: dict[str, Source] = {}
    wanted = list(load(args.paths, sources))
    pairs = [(wanted[0], wanted[1])] if len(wanted) == 2 and not args.each else [(w, None) for w in wanted]
    if args.certificate or args.check_certificate:
        if len(pairs) != 1 or pairs[0][1] is None:
            complain("hlotool compare: a certificate is about two modules")
            return 2
        if args.check_certificate:
            return _certificate_checked(*pairs[0], args.check_certificate, sources)
    code, records = 0, []
    for one, other in pairs:
        name = one.name if other is None else f"{one.name}, {other.name}"
        try:
            found = _compared(one, other, args)
        except HloError as error:
            code = max(code, report(error.diagnostics, sources) or 2)
            records.append(failed_record(name, error.diagnostics))
            continue
        if args.certificate and other is not None:
            code = max(code, _certificate_written(one, other, args.certificate, sources))
        if args.save_arguments is not None and found.witness is not None:
            write_arguments(Path(args.save_arguments), found.witness[0])
        code = max(code, _exit_code(found, args.allow_open))
        records.append(_shown(name, found, sources, args.format))
    if args.format == "json":
        print_json(records[0] if len(records) == 1 else records)
    return code


def _certificate_written(one: Loaded, other: Loaded, file: str, sources: dict[str, Source]) -> int:
    """Write a certificate, if there is one; gives an exit code."""
    from hlotool.cli.whole_files import write_beside
    from hlotool.proof import certified

    try:
        text = certified(one.module(), other.module())
        if not text:
            complain(f"hlotool compare: no certificate: {one.name} and {other.name} are not proved to be equal")
            return 1
        write_beside(Path(file), text.encode())
    except HloError as error:
        return report(error.diagnostics, sources) or 2
    return 0


def _certificate_checked(one: Loaded, other: Loaded | None, file: str, sources: dict[str, Source]) -> int:
    """Print what a certificate proves; gives an exit code."""
    from hlotool.proof import check_certificate
    from hlotool.text.input_files import bytes_of

    assert other is not None
    try:
        found = check_certificate(bytes_of(Path(file)).decode("utf-8", "replace"), one.module(), other.module(), file)
    except HloError as error:
        report(error.diagnostics, sources)
        return 1
    print(found)
    return 0


def _compared(one: Loaded, other: Loaded | None, args: argparse.Namespace) -> Comparison:
    from hlotool.blame import compare
    from hlotool.execution import Program

    module, second = one.module(), other.module() if other is not None else None
    arguments = None
    if args.argument_files:
        arguments = read_arguments(args.argument_files, Program(module).parameters)
    elif args.inputs is None:
        arguments = one.recorded()
    return compare(module, second, arguments=arguments, inputs=args.inputs, executors=args.executors, seed=args.seed,
                   tolerance=_tolerance(args), time_limit=args.run_limit, time_budget=args.time_budget,
                   counts_extremes=args.extremes, is_proof_wanted=args.prove)


def _tolerance(args: argparse.Namespace) -> Tolerance | None:
    """The budget by hand; None for the error model."""
    from hlotool.numerics import PRESETS as NAMED
    from hlotool.numerics import Tolerance

    if args.ulps is None and args.rtol is None and args.atol is None:
        return NAMED[args.preset] if args.preset else None
    return Tolerance(args.ulps or 0.0, args.rtol or 0.0, args.atol or 0.0)


def _exit_code(found: Comparison, allow_open: bool) -> int:
    if found.findings:
        return 1
    if not found.compared:
        return 2
    return int(bool(found.open) and not allow_open)


def _shown(name: str, found: Comparison, sources: dict[str, Source], form: str) -> ComparisonRecord:
    from hlotool.verdict import comparison_json

    if form == "text":
        print(_text(found))
        report(found.diagnostics, sources)
    return comparison_json(name, found)


def _text(found: Comparison) -> str:
    from hlotool.verdict import listed

    kinds = ", ".join(f"{count} {kind}" for kind, count in found.counts.items())
    undecided = "have no verdict" if found.compared else "were not compared"
    verb = {"agree": "agree", "differ": "differ", "none": undecided}
    worth = f", {found.worth}" if found.compared else ""
    still = f"; open: {listed(found.open)}" if found.open else ""
    lines = [f"{found.left} and {found.right} {verb[found.verdict]}: {found.kind}{worth}{still}",
             f"  elements: {kinds or 'none'}"]
    lines += [f"  vacuous: {reason}" for reason in found.vacuous]
    if found.untaken:
        lines.append(f"  never taken ({found.covered} of {found.choices} choices are covered): "
                     + "; ".join(found.untaken[:8]) + ("; ..." if len(found.untaken) > 8 else ""))
    if found.noted and not found.findings:
        lines.append(f"  at the ends of the range they differ, as a consequence of an overflow further up "
                     f"(--extremes counts it): {found.noted[0]}")
    if found.undecided:
        lines.append(f"  no verdict on {found.undecided} of {found.elements} elements of results, on all arguments")
    if found.worst is not None:
        lines.append(f"  {found.worst.right} is right: {found.worst.why}")
    return "\n".join(map(visible, lines))
