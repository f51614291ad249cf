"""The choices of lifting to StableHLO, and the report of what was lost, for the commands that lift."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from hlotool.cli.console import encoded, write_bytes
from hlotool.cli.whole_files import write_beside

if TYPE_CHECKING:
    from hlotool.stablehlo import LiftOptions, LossReport


def add_lifting(parser: argparse.ArgumentParser) -> None:
    """The arguments that say how to lift."""
    group = parser.add_argument_group("lifting to StableHLO")
    group.add_argument("--strict", action="store_true", help="fail where StableHLO cannot hold something")
    group.add_argument("--loss-report", metavar="FILE",
                       help="write what StableHLO cannot hold, with counts and places: - is standard output, a name "
                            "that ends in .json gets JSON, any other a table")
    group.add_argument("--allow-opaque", action="store_true",
                       help="keep instructions without a StableHLO form as custom calls of the target hlotool.opaque")
    group.add_argument("--elided", choices=("call", "zeros"), default="call",
                       help="constants without values as custom calls of the target hlotool.elided, or as zeros "
                            "(default: %(default)s)")
    group.add_argument("--fusions", choices=("inline", "call", "composite"), default="inline",
                       help="fusions as their instructions, as calls of functions, or as composites "
                            "(default: %(default)s)")
    group.add_argument("--async", dest="asynchronous", action="store_true",
                       help="keep asynchronous operations where StableHLO has them")
    group.add_argument("--no-shardy", action="store_true",
                       help="keep meshes and shardings of Shardy as HLO's frontend attributes, as --target does: "
                            "portable artifacts hold no other dialect")
    group.add_argument("--no-chlo", action="store_true", help="write CHLO operations in StableHLO's own")
    group.add_argument("--no-library-calls", action="store_true",
                       help="leave the library calls of compilers as they are")
    group.add_argument("--library-calls", metavar="PACKAGE", action="append", default=[],
                       help="lift library calls by the rules of an installed package as well; may be repeated")
    group.add_argument("--no-loss-attributes", action="store_true",
                       help="drop what StableHLO cannot hold, instead of carrying it as discardable attributes")


def lift_options(args: argparse.Namespace) -> LiftOptions:
    """The choices that were made. Raises HloError for packages that declare no library calls."""
    from hlotool.passes.lift import load_library_calls
    from hlotool.stablehlo import LiftOptions

    load_library_calls(args.library_calls)
    return LiftOptions(strict=args.strict, opaque=args.allow_opaque, elided=args.elided, fusions=args.fusions,
                       asynchronous=args.asynchronous, chlo=not args.no_chlo, library=not args.no_library_calls,
                       shardy=not args.no_shardy and not getattr(args, "target", None),
                       carry=not args.no_loss_attributes)


def write_losses(destination: str, report: LossReport) -> None:
    """Write the report where it was asked for."""
    is_json = destination.endswith(".json")
    data = encoded((json.dumps(report.records(), indent=2) if is_json else report.text()) + "\n")
    if destination == "-":
        write_bytes(data)
    else:
        write_beside(Path(destination), data)
