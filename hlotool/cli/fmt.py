"""Prints modules in one format: parse and print, which to XLA is the same module.

    hlotool fmt dump.hlo                 the text on standard output
    hlotool fmt --write samples/         files rewritten in place
    hlotool fmt --check --diff samples/  exit code 1 and the differences where files are not formatted
"""

from __future__ import annotations

import argparse
import difflib
from pathlib import Path

from hlotool.cli.console import complain, encoded, report, write_bytes, write_whole
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.diagnostics import HloError
from hlotool.ir import Source
from hlotool.text import PrintOptions, print_module


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules to format")
    result = parser.add_argument_group("what happens")
    result.add_argument("--write", "-w", action="store_true", help="rewrite the files instead of printing")
    result.add_argument("--check", action="store_true", help="print nothing; exit code 1 where a file would change")
    result.add_argument("--diff", action="store_true", help="print what would change, as a unified diff")
    style = parser.add_argument_group("how it looks (XLA's HloPrintOptions)")
    flag = argparse.BooleanOptionalAction
    style.add_argument("--percent", action=flag, default=True, help="percent signs in front of names")
    style.add_argument("--operand-shapes", action=flag, default=False, help="the shape in front of each operand")
    style.add_argument("--layouts", action=flag, default=True, help="layouts after shapes")
    style.add_argument("--metadata", action=flag, default=True, help="metadata={...}")
    style.add_argument("--backend-config", action=flag, default=True, help="backend_config=...")
    style.add_argument("--elide", type=int, metavar="N", help="write {...} for constants of more than N elements")
    style.add_argument("--canonical", action="store_true", help="name everything by its order")


def run(args: argparse.Namespace) -> int:
    options = PrintOptions(percent=args.percent, operand_shapes=args.operand_shapes, layouts=args.layouts,
                           metadata=args.metadata, backend_config=args.backend_config, elide_above=args.elide,
                           canonical=args.canonical)
    sources: dict[str, Source] = {}
    texts: dict[str, list[str]] = {}
    changes, code = 0, 0
    for loaded in load(args.paths, sources):
        try:
            text = print_module(loaded.module(), options)
        except HloError as error:
            code = max(code, report(error.diagnostics, sources))
            texts.pop(loaded.name, None)
            continue
        name = loaded.input.filename if loaded.input is not None else loaded.name
        texts.setdefault(name, []).append(text)
        changes += _show(loaded, text, args)
    if args.write and not args.check:
        _write(texts, code, changes)
    if args.check and changes:
        complain(f"{changes} module{'' if changes == 1 else 's'} would change")
    return max(code, int(args.check and changes > 0))


def _show(loaded: Loaded, text: str, args: argparse.Namespace) -> bool:
    """Print what the options ask for; whether the module's text would change."""
    given = loaded.input
    before = given.source.text if given is not None and given.source is not None else ""
    if args.diff:
        rows = difflib.unified_diff(before.splitlines(), text.splitlines(), loaded.name, f"{loaded.name} (formatted)",
                                    lineterm="")
        write_bytes(encoded("".join(f"{row}\n" for row in rows)))
    elif not args.check and not args.write:
        write_bytes(encoded(text))
    return before.strip() != text.strip()


def _write(texts: dict[str, list[str]], code: int, changes: int) -> None:
    """Rewrite the files. A file with a module that does not read stays as it is."""
    for name, parts in texts.items():
        path = Path(name)
        if name == "<stdin>":
            write_bytes(encoded("\n// -----\n\n".join(parts)))
        elif not code:
            write_whole(path, encoded("\n// -----\n\n".join(parts)))
    if code:
        complain("nothing was written: some modules cannot be read")
    elif changes:
        complain(f"{changes} module{'' if changes == 1 else 's'} changed")
