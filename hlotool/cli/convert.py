"""HLO to StableHLO, and StableHLO to HLO; the form of each input is told by its content.

    hlotool convert model.hlo                   StableHLO text on standard output
    hlotool convert model.hlo -o model.mlirbc   StableHLO bytecode
    hlotool convert model.hlo --target 1.0.0 -o model.mlirbc    a portable artifact
    hlotool convert model.mlir                  HLO text
    hlotool convert open.mlir --arg-shapes f32[8,16] f32[16]    of a program that leaves dimensions open
    hlotool convert model.mlirbc --to stablehlo --generic       StableHLO in another form
    hlotool convert models/ -o converted/       a file for each module
    hlotool convert models/ --format json       a record for each: its text, what it lost, its findings
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from hlotool.cli.console import complain, encoded, report, write_bytes
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.cli.lifting import add_lifting, lift_options, write_losses
from hlotool.cli.module_records import add_module_records, module_record, write_records
from hlotool.cli.option_values import whole_number
from hlotool.cli.whole_files import require_beside, write_whole
from hlotool.diagnostics import HloError
from hlotool.ir import Source

_BYTECODE_SUFFIXES = (".mlirbc", ".bc")
_HLO_SUFFIXES = (".hlo", ".txt")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules to convert")
    parser.add_argument("--output", "-o", metavar="OUT",
                        help="file, or folder (ending in / or existing, or for several inputs); suffixes choose the "
                             "form: .mlir text, .mlirbc bytecode, .hlo HLO text")
    parser.add_argument("--to", choices=("stablehlo", "hlo"), help="the form to write (default: the other one)")
    parser.add_argument("--bytecode", action="store_true", help="StableHLO as MLIR bytecode")
    parser.add_argument("--target", metavar="VERSION",
                        help="a portable artifact that StableHLO VERSION (such as 1.0.0) reads")
    parser.add_argument("--arg-shapes", nargs="+", metavar="SHAPE",
                        help="the arguments' shapes (f32[8,16] or [8,16]) of StableHLO that leaves dimensions open")
    group = parser.add_argument_group("text")
    group.add_argument("--generic", action="store_true", help="StableHLO text in MLIR's generic form")
    group.add_argument("--locations", action="store_true", help="StableHLO text with names, files and lines")
    group.add_argument("--elide", type=whole_number(0), metavar="N",
                       help="leave out the values of constants of more than N elements; such text cannot be read back")
    add_lifting(parser)
    add_module_records(parser)


def run(args: argparse.Namespace) -> int:
    sources: dict[str, Source] = {}
    code, wanted = 0, list(load(args.paths, sources))
    if args.format == "json":
        return _as_records(wanted, sources, args)
    folder = _folder(args.output, len(wanted))
    if args.output is None and len(wanted) > 1 and (args.bytecode or args.target):
        complain("several modules as bytecode need a folder: -o FOLDER/")
        return 2
    taken: Counter[str] = Counter()
    args.losses = _loss_report() if args.loss_report else None
    for number, loaded in enumerate(wanted):
        to = args.to or _asked_by_suffix(args) or ("hlo" if loaded.is_stablehlo else "stablehlo")
        try:
            data = converted(loaded, to, args)
        except HloError as error:
            code = max(code, report(error.diagnostics, sources))
            continue
        if folder is not None:
            write_whole(folder / _file_name(loaded, to, _is_binary(args), taken), data, is_named=False)
        elif args.output is not None and args.output != "-":
            form = "hlo" if to == "hlo" else "bytecode" if _is_binary(args) else "mlir"
            if loaded.input is None or loaded.input.kind != form or args.output.endswith(".gz"):
                require_beside(args.output)
            write_whole(Path(args.output), data)
        else:
            if number and to == "stablehlo":
                write_bytes(b"// -----\n")
            write_bytes(data)
    if args.losses is not None:
        write_losses(args.loss_report, args.losses)
    return code


def _as_records(wanted: list[Loaded], sources: dict[str, Source], args: argparse.Namespace) -> int:
    """A record for each module on standard output, or in the file of -o, whose suffix then says nothing."""
    if args.loss_report is not None:
        complain("the records of --format json tell what is lost: leave --loss-report out")
        return 2
    output, args.output = args.output, None
    code, records = 0, []
    for loaded in wanted:
        to = args.to or _asked_by_suffix(args) or ("hlo" if loaded.is_stablehlo else "stablehlo")
        form = "bytecode" if to == "stablehlo" and _is_binary(args) else to
        args.losses = _loss_report()
        try:
            data = converted(loaded, to, args)
        except HloError as error:
            code = max(code, report(error.diagnostics, sources))
            records.append(module_record(loaded.name, form, None, error.diagnostics))
            continue
        written = data if form == "bytecode" else data.decode("utf-8", "surrogateescape")
        losses = [loss for record in args.losses.records() for loss in record["losses"]]
        records.append(module_record(loaded.name, form, written, losses=losses))
    write_records(records, output)
    return code


def _loss_report() -> Any:
    from hlotool.stablehlo import LossReport

    return LossReport()


def converted(loaded: Loaded, to: str, args: argparse.Namespace) -> bytes:
    """Return the input in the form that is asked for, as it is written to files. Raises HloError."""
    from hlotool.stablehlo import TextForm, convert

    is_bytecode = to == "stablehlo" and _is_binary(args)
    if is_bytecode and sys.stdout.isatty() and args.output is None:
        complain("bytecode is not for terminals; -o FILE writes it")
        raise SystemExit(2)
    if loaded.input is None:
        raise HloError(loaded.diagnostics)
    found = convert(loaded.input, to="hlo" if to == "hlo" else "stablehlo", arg_shapes=args.arg_shapes,
                    options=lift_options(args) if to == "stablehlo" else None, losses=args.losses)
    if is_bytecode:
        return found.bytecode(args.target)
    return encoded(found.text(TextForm(args.generic, args.locations, args.elide)))


def _is_binary(args: argparse.Namespace) -> bool:
    return bool(args.bytecode or args.target or str(args.output).endswith(_BYTECODE_SUFFIXES))


def _asked_by_suffix(args: argparse.Namespace) -> str | None:
    output = str(args.output)
    if output.endswith(_HLO_SUFFIXES):
        return "hlo"
    return "stablehlo" if output.endswith((*_BYTECODE_SUFFIXES, ".mlir")) or args.target or args.bytecode else None


def _folder(output: str | None, inputs: int) -> Path | None:
    if output in (None, "-"):
        return None
    assert output is not None
    path = Path(output)
    return path if output.endswith("/") or path.is_dir() or inputs > 1 else None


def _file_name(loaded: Loaded, to: str, is_binary: bool, taken: Counter[str]) -> str:
    """The input's name with the new form's suffix; modules of one file are numbered."""
    name = loaded.input.filename if loaded.input is not None else loaded.name
    stem = re.sub(r"(\.(hlo|txt|mlir|mlirbc|pb|gz))+$", "", Path(name).name).strip("<>") or "module"
    taken[stem] += 1
    number = f".{taken[stem]}" if taken[stem] > 1 else ""
    return f"{stem}{number}{'.hlo' if to == 'hlo' else '.mlirbc' if is_binary else '.mlir'}"
