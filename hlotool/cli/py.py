"""Prints modules as Python code: calls of XlaBuilder that build them, or JAX code that computes what they compute.

    hlotool py module.hlo                code on standard output; run it, and it prints the module
    hlotool py module.hlo -o module.py   a file; its function build() gives the module
    hlotool py --target jax module.hlo   readable calls of jax.lax; its function main(...) computes the results
    hlotool py --check dumps/            no code: exit code 1 where it would not give the same module again, or
                                         (with --target jax) not the same values
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from hlotool.cli.console import complain, encoded, report, write_bytes
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.cli.module_records import add_module_records, module_record, write_records
from hlotool.cli.whole_files import write_beside
from hlotool.diagnostics import HloError
from hlotool.ir import HloModule, Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules to write as Python")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the code of the one module there")
    parser.add_argument("--target", choices=("builder", "jax"), default="builder",
                        help="what the code calls: XlaBuilder, to build the module again, or jax.lax, to compute with")
    add_module_records(parser)
    parser.add_argument("--check", action="store_true", help="run the code instead, and compare what it builds")


def run(args: argparse.Namespace) -> int:
    write, checked = _TARGETS[args.target]
    sources: dict[str, Source] = {}
    code, found, records = 0, 0, []
    for loaded in load(args.paths, sources):
        try:
            module = loaded.module()
            text = write(module)
        except HloError as error:
            code = max(code, report(error.diagnostics, sources))
            records.append(module_record(loaded.name, args.target, None, error.diagnostics))
            continue
        found += 1
        if args.check:
            failed = checked(loaded, module, text)
            code = max(code, failed)
            records.append(module_record(loaded.name, args.target, None, agrees=not failed))
        elif args.format == "json":
            records.append(module_record(loaded.name, args.target, text))
        elif args.output is not None and found == 1:
            write_beside(Path(args.output), encoded(text))
        elif args.output is not None:
            complain(f"{loaded.name} was not written: --output takes one module")
            code = 2
        else:
            write_bytes(encoded(text))
    if args.format == "json":
        write_records(records, args.output)
    return code


def _builder_code(module: HloModule) -> str:
    from hlotool.builder import to_python

    return to_python(module)


def _jax_code(module: HloModule) -> str:
    from hlotool.jax.lax import to_jax_code

    return to_jax_code(module)


def _builds(loaded: Loaded, module: HloModule, text: str) -> int:
    """1 where the code does not build the module again."""
    from hlotool.builder import run_python
    from hlotool.text import TODAY, print_module

    try:
        same = print_module(run_python(text, loaded.name), TODAY) == print_module(module, TODAY)
    except HloError as error:
        return report(error.diagnostics) or 1
    if same:
        return 0
    complain(f"{loaded.name}: the code builds another module")
    return 1


def _computes(loaded: Loaded, module: HloModule, text: str) -> int:
    """1 where the code does not compute what the module does, or where that could not be told."""
    from hlotool.jax import check_code

    try:
        found = check_code(module, text)
    except HloError as error:
        return report(error.diagnostics) or 1
    if found.verdict == "agree":
        return 0
    report(found.diagnostics)
    complain(f"{loaded.name}: the code computes other values: {found.kind}" if found.verdict == "differ"
             else f"{loaded.name}: no verdict on the values of the code: {found.kind}")
    return 1


#: what writes the code, and what checks it
_TARGETS: dict[str, tuple[Callable[[HloModule], str], Callable[[Loaded, HloModule, str], int]]] = {
    "builder": (_builder_code, _builds), "jax": (_jax_code, _computes)}
