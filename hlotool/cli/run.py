"""Executes a module and prints its results.

    hlotool run model.hlo                              with made arguments (see --inputs)
    hlotool run model.hlo --args x.npy y.npy -o out.npz
    hlotool run model.hlo --executors reference
    hlotool run model.hlo --trace 'dot*' 'tanh.3' -o values.npz    the values of those instructions
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypedDict

from hlotool.cli.argument_arrays import add_argument_files, read_arguments, write_arrays
from hlotool.cli.console import complain, report
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.cli.limits import add_run_limit
from hlotool.cli.option_values import ARGUMENT_KINDS
from hlotool.cli.report_format import add_format, print_json
from hlotool.cli.whole_files import write_beside
from hlotool.diagnostics import HloError, visible
from hlotool.diagnostics.records import DiagnosticRecord, diagnostic_records
from hlotool.ir import Source
from hlotool.ir.arrays import np

if TYPE_CHECKING:
    from hlotool.execution import Program

#: values of a result in a JSON record at most
_MOST_VALUES = 4096


class ResultRecord(TypedDict):
    """A leaf of the result on a device."""

    device: Annotated[int, "from 0, replica-major"]
    result: Annotated[int, "number of the leaf of the result"]
    element_type: str
    dims: list[int]
    values: Annotated[list[float | str | bool] | None,
                      "in row-major order; NaN, infinities and complex numbers as text; null: more than 4096"]


class RunRecord(TypedDict):
    """A run of a module."""

    module: str
    executor: str
    results: Annotated[list[ResultRecord] | None, "null: it failed"]
    diagnostics: list[DiagnosticRecord]


#: the report of `hlotool run`: a list where there are several modules
RunReport: TypeAlias = RunRecord | list[RunRecord]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules to execute")
    add_executor(parser)
    add_argument_files(parser)
    parser.add_argument("--inputs", choices=ARGUMENT_KINDS, default=None,
                        help="what to make where --args gives nothing (default: random; a recorded run's own)")
    parser.add_argument("--output", "-o", metavar="FILE", help="write the results to an .npz (or .npy) file")
    parser.add_argument("--trace", nargs="+", metavar="PATTERN",
                        help="write the values of the instructions of those names, and not the results, to -o: on the "
                             "reference in called computations too (w[3]/s), elsewhere of the entry")
    add_format(parser, "hlotool.cli.run:RunReport")


def add_executor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--executors", default="pjrt:cpu", dest="executor", metavar="NAME",
                        help="pjrt:cpu, another PJRT platform, pjrt:PLUGIN.so, reference, stablehlo; with options: "
                             "pjrt:cpu+xla_backend_optimization_level=0")
    add_run_limit(parser)
    add_custom_calls(parser)


def add_custom_calls(parser: argparse.ArgumentParser) -> None:
    """The option that lets a module call native code that is not known to compute and nothing else."""
    parser.add_argument("--allow-custom-calls", metavar="TARGETS", type=_allow, default=None,
                        help="custom calls to run beside those of libraries: their targets between commas, or all")


def _allow(targets: str) -> str:
    # Children hear of it through their environment; hlotool.execution.custom_calls reads it.
    os.environ["HLOTOOL_ALLOW_CUSTOM_CALLS"] = "*" if targets == "all" else targets
    return targets


def run(args: argparse.Namespace) -> int:
    sources: dict[str, Source] = {}
    code, wanted = 0, list(load(args.paths, sources))
    records: list[RunRecord] = []
    if args.output is not None and len(wanted) > 1:
        complain("-o takes the results of one module")
        return 2
    if args.trace is not None and args.output is None:
        complain("--trace writes values to a file: -o values.npz")
        return 2
    for loaded in wanted:
        try:
            if args.trace is not None:
                _trace(loaded, args)
                continue
            devices = _results(loaded, args)
        except HloError as error:
            code = max(code, report(error.diagnostics, sources))
            records.append(RunRecord(module=loaded.name, executor=args.executor, results=None,
                                     diagnostics=diagnostic_records(error.diagnostics)))
            continue
        if args.format == "json":
            records.append(RunRecord(module=loaded.name, executor=args.executor, results=_records(devices),
                                     diagnostics=[]))
        if args.output is not None:
            write_arrays(Path(args.output), devices[0])
        elif args.format == "text":
            _print(loaded.name, devices, with_name=len(wanted) > 1)
    if args.format == "json":
        print_json(records[0] if len(records) == 1 else records)
    return code


def _records(devices: list[list[Any]]) -> list[ResultRecord]:
    """The results as JSON has them; NaN, infinities and complex numbers as text."""

    from hlotool.ir import dtype_of_numpy

    def number(value: Any) -> Any:
        if isinstance(value, complex):
            return str(value)
        return value if isinstance(value, (bool, int)) or np.isfinite(value) else str(value)

    def values(array: Any) -> Any:
        if array.size > _MOST_VALUES:
            return None
        plain = array if array.dtype.kind in "biufc" else array.astype(np.float64)
        return [number(v) for v in plain.ravel().tolist()]

    return [{"device": device, "result": n, "element_type": dtype_of_numpy(a.dtype).name, "dims": list(a.shape),
             "values": values(a)} for device, row in enumerate(devices) for n, a in enumerate(row)]


def _trace(loaded: Loaded, args: argparse.Namespace) -> None:
    """Write the values of the instructions that --trace names."""
    from hlotool.blame import trace
    from hlotool.execution import executor_named, fitted, npz_bytes

    program = _program(loaded, args)
    rows = [fitted(program, row) for row in _arguments(program, loaded, args)]
    found = trace(program, rows, executor_named(args.executor, args.run_limit), args.trace)
    write_beside(Path(args.output), npz_bytes(found))
    print(f"{len(found)} values in {visible(args.output)}")


def _results(loaded: Loaded, args: argparse.Namespace) -> list[list[Any]]:
    from hlotool.execution import run_program

    program = _program(loaded, args)
    return run_program(program, _arguments(program, loaded, args), args.executor, args.run_limit)


def _program(loaded: Loaded, args: argparse.Namespace) -> Program:
    """The program of a module, for the arguments of --args where its parameters leave sizes open."""
    from hlotool.execution import Program, closed, open_parameters

    module = loaded.module()
    if args.argument_files and (parameters := open_parameters(module)):
        module = closed(module, read_arguments(args.argument_files, parameters))
    return Program(module)


def _arguments(program: Program, loaded: Loaded, args: argparse.Namespace) -> list[list[Any]]:
    """The arguments of every device: given ones, or recorded with the module, or made."""
    from hlotool.execution import arguments_for

    if args.argument_files:
        return [read_arguments(args.argument_files, program.parameters)] * program.devices
    if args.inputs is None and (recorded := loaded.recorded()) is not None:
        return [recorded] * program.devices
    return [arguments_for(program, args.seed + d, args.inputs or "random") for d in range(program.devices)]


def _print(name: str, devices: list[list[Any]], *, with_name: bool) -> None:
    if with_name:
        print(f"{name}:")
    for device, results in enumerate(devices):
        if len(devices) > 1:
            print(f"device {device}:")
        for number, array in enumerate(results):
            from hlotool.ir import dtype_of_numpy

            dims = ",".join(map(str, array.shape))
            shown = np.array2string(array, threshold=64, edgeitems=3, separator=", ", prefix="  ")
            print(f"result {number}: {dtype_of_numpy(array.dtype)}[{dims}]\n  {shown}")
