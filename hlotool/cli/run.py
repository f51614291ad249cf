"""Executes a module and prints its results.

    hlotool run model.hlo                              with made arguments (see --inputs)
    hlotool run model.hlo --args x.npy y.npy -o out.npz
    hlotool run model.hlo --executor reference
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from hlotool.cli.arrays import add_argument_files, read_arguments, write_arrays
from hlotool.cli.console import complain, report
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.diagnostics import HloError
from hlotool.ir import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules to execute")
    add_executor(parser)
    add_argument_files(parser)
    parser.add_argument("--inputs", choices=("random", "positive", "special"), default="random",
                        help="what to make where --args gives nothing")
    parser.add_argument("--output", "-o", metavar="FILE", help="write the results to an .npz (or .npy) file")


def add_executor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--executor", default="pjrt:cpu",
                        help="pjrt:cpu (or another PJRT platform), reference, stablehlo")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="SECONDS", help="for each module")
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
    if args.output is not None and len(wanted) > 1:
        complain("-o takes the results of one module")
        return 2
    for loaded in wanted:
        try:
            devices = _results(loaded, args)
        except HloError as error:
            code = max(code, report(error.diagnostics, sources))
            continue
        if args.output is not None:
            write_arrays(Path(args.output), devices[0])
        else:
            _print(loaded.name, devices, with_name=len(wanted) > 1)
    return code


def _results(loaded: Loaded, args: argparse.Namespace) -> list[list[Any]]:
    from hlotool.execution import Program, arguments_for, run_program

    program = Program(loaded.module())
    if args.argument_files:
        rows = [read_arguments(args.argument_files, program.parameters)] * program.devices
    else:
        rows = [arguments_for(program, args.seed + d, args.inputs) for d in range(program.devices)]
    return run_program(program, rows, args.executor, args.time_limit)


def _print(name: str, devices: list[list[Any]], *, with_name: bool) -> None:
    import numpy as np

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
