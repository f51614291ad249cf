"""Runs passes over modules and prints the result.

    hlotool opt --passes=legalize,dce old.hlo        the module after both, in that order
    hlotool opt --passes=legalize:scalar-starts x.hlo   a pass with an option
    hlotool opt old.hlo --format json                   a record for each module: its text, and its findings
    hlotool opt --list                                the passes and their options
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from itertools import starmap
from pathlib import Path
from typing import Any

from hlotool.cli.console import complain, encoded, report, write_bytes
from hlotool.cli.inputs import Loaded, load
from hlotool.cli.module_records import add_module_records, module_record, write_records
from hlotool.cli.parsers import suggestion
from hlotool.cli.whole_files import require_beside, write_whole
from hlotool.diagnostics import Diagnostic, HloError, visible
from hlotool.ir import HloModule, Source
from hlotool.passes import PASSES, Pass, installed_passes
from hlotool.text import print_changes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="modules: files, folders, patterns, or - for standard "
                        "input; HLO text, StableHLO and HloModuleProto are told apart by content")
    parser.add_argument("--passes", metavar="P1,P2", default="legalize,dce",
                        help="the passes in order, each with its options after colons: "
                             "legalize:scalar-starts,dce (default: %(default)s)")
    parser.add_argument("--output", "-o", metavar="FILE", help="the file to write instead of standard output")
    add_module_records(parser)
    parser.add_argument("--no-verify", action="store_true", help="do not verify the result")
    parser.add_argument("--list", action="store_true", help="list the passes with their options, and end")


def run(args: argparse.Namespace) -> int:
    if args.list:
        print("\n".join([*map(_described, PASSES), *starmap(_of_package, installed_passes().items())]))
        return 0
    try:
        pipeline = [_pass(word) for word in args.passes.split(",") if word]
    except ValueError as error:
        complain(f"hlotool opt: {error}")
        return 2
    except HloError as error:
        return max(2, report(error.diagnostics))
    if not args.paths:
        complain("hlotool opt: no modules given; - stands for standard input")
        return 2
    sources: dict[str, Source] = {}
    code, texts, records = 0, [], []
    passes = [word.strip() for word in args.passes.split(",") if word]
    for loaded in load(args.paths, sources):
        if args.output and (args.output.endswith(".gz") or loaded.input is None or loaded.input.kind != "hlo"):
            require_beside(args.output)
        try:
            module = _transformed(loaded, pipeline)
        except HloError as error:
            code = max(code, report(error.diagnostics, sources))
            records.append(module_record(loaded.name, "hlo", None, error.diagnostics, passes=passes))
            continue
        faults = [] if args.no_verify else list(_faults(module))
        code = max(code, report(faults, sources))
        texts.append(print_changes(module))
        records.append(module_record(loaded.name, "hlo", texts[-1], faults, passes=passes))
    if args.format == "json":
        write_records(records, args.output)
        return code
    _write(args.output, "\n// -----\n\n".join(texts), whole=not code)
    return code


def _transformed(loaded: Loaded, pipeline: list[tuple[Pass, dict[str, Any]]]) -> HloModule:
    module = loaded.module()
    for function, options in pipeline:
        module = function(module, **options)
    return module


def _faults(module: HloModule) -> Iterator[Diagnostic]:
    from hlotool.passes.verify import verify

    return (d for d in verify(module) if d.severity == "error")


def _write(output: str | None, text: str, *, whole: bool) -> None:
    if output is None or output == "-":
        write_bytes(encoded(text))
    elif whole:
        write_whole(Path(output), encoded(text))
    else:
        complain(f"{output} was not written")


def _pass(word: str) -> tuple[Pass, dict[str, Any]]:
    """Return a pass and its keywords from `name:option=value:option`. Raises ValueError with the mistake."""
    name, *given = word.strip().split(":")
    if name not in PASSES:
        advice = suggestion(name, [*PASSES, *installed_passes()]) or "; `hlotool opt --list` shows them"
        raise ValueError(f"no pass is called {name!r}{advice}")
    known, options = _options(PASSES[name]), {}
    for option in given:
        key, _, value = option.partition("=")
        keyword = key.replace("-", "_")
        if keyword not in known:
            advice = suggestion(keyword, known)
            raise ValueError(f"the pass {name} has no option {key!r}{advice or ';'} `hlotool opt --list` shows the "
                             "options")
        options[keyword] = _value(key, value, known[keyword])
    return PASSES[name], options


def _options(function: Pass) -> dict[str, Any]:
    """Return the keyword parameters of a pass with their defaults."""
    return {p.name: p.default for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY}


def _value(option: str, text: str, default: Any) -> Any:
    """Return an option's value, of the type of its default; a flag without a value is true."""
    if isinstance(default, bool):
        if text not in ("", "true", "false"):
            raise ValueError(f"{option} is true or false, not {text!r}")
        return text != "false"
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            raise ValueError(f"{option} is a number, not {text!r}") from None
    return text


def _described(name: str) -> str:
    """Return the name of a pass with its options, and the first sentence of its file."""
    function = PASSES[name]
    options = "".join(f":{key.replace('_', '-')}={str(default).lower()}" for key, default in _options(function).items())
    summary = (inspect.getdoc(inspect.getmodule(function)) or "").partition("\n")[0]
    return f"{name}{options}\n    {summary}"


def _of_package(name: str, package: str) -> str:
    return f"{visible(name)}\n    a pass of {visible(package)}, loaded when it is named"
