"""Prints modules in one format: HLO is parsed and printed, which to XLA is the same module; StableHLO text is laid out.

    hlotool fmt dump.hlo                 the text on standard output
    hlotool fmt --write samples/         files rewritten in place
    hlotool fmt --check --diff samples/  exit code 1 and the differences where files are not formatted
    hlotool fmt --check dumps/ --format json
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from hlotool.cli.console import complain, encoded, report, write_bytes
from hlotool.cli.hlo_files import HloFile, files_to_rewrite, read_hlo_file
from hlotool.cli.inputs import Loaded, add_paths, load
from hlotool.cli.module_records import add_module_records, module_record, write_records
from hlotool.cli.option_values import whole_number
from hlotool.diagnostics import HloError, visible, visible_lines, without_commands
from hlotool.ir import Source
from hlotool.passes.formatting import format_text, formatted, formatted_program
from hlotool.text import STYLES, PrintOptions
from hlotool.text.input_files import PROGRAM_SEPARATOR


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "modules to format")
    result = parser.add_argument_group("what happens")
    result.add_argument("--write", "-w", action="store_true", help="rewrite the files instead of printing")
    result.add_argument("--check", action="store_true", help="print nothing; exit code 1 where a file would change")
    result.add_argument("--diff", action="store_true", help="print what would change, as a unified diff")
    add_module_records(parser)
    style = parser.add_argument_group("how it looks (XLA's HloPrintOptions)")
    style.add_argument("--style", choices=("kept", *STYLES), default="kept",
                       help="the printer's style that the text has (kept; today's for a text that no printer of XLA "
                            "wrote), today's, that of XLA's dumps, or XLA's short and long forms (default: kept)")
    flag = argparse.BooleanOptionalAction
    style.add_argument("--percent", action=flag, help="percent signs in front of names")
    style.add_argument("--operand-shapes", action=flag, help="the shape in front of each operand")
    style.add_argument("--layouts", action=flag, help="layouts after shapes")
    style.add_argument("--metadata", action=flag, help="metadata={...}")
    style.add_argument("--backend-config", action=flag, help="backend_config=...")
    style.add_argument("--elide", type=whole_number(0), metavar="N", dest="elide_above",
                       help="write {...} for constants of more than N elements")
    style.add_argument("--canonical", action="store_true", default=None, help="name everything by its order")


_OPTIONS = ("percent", "operand_shapes", "layouts", "metadata", "backend_config", "elide_above", "canonical")


def run(args: argparse.Namespace) -> int:
    changes = {name: value for name in _OPTIONS if (value := getattr(args, name)) is not None}
    chosen = STYLES.get(args.style), changes
    sources: dict[str, Source] = {}
    changed, code, records = 0, 0, list[dict[str, Any]]()
    if not args.write or args.check or args.diff:
        for loaded in load(args.paths, sources):
            try:
                text = _formatted(loaded, *chosen)
            except HloError as error:
                code = max(code, report(error.diagnostics, sources))
                records.append(module_record(loaded.name, _form(loaded), None, error.diagnostics))
                continue
            is_changed = _before(loaded).strip() != text.strip()
            changed += is_changed
            if args.format == "json":
                records.append(module_record(loaded.name, _form(loaded), None if args.check else text,
                                             changed=is_changed))
            else:
                _show(loaded, text, args)
        if args.format == "json":
            write_records(records)
        if args.check and changed:
            complain(f"{changed} module{'' if changed == 1 else 's'} would change")
        return max(code, int(args.check and changed > 0))
    code = _rewrite(args.paths, chosen, records)
    if args.format == "json":
        write_records(records)
    return code


def _formatted(loaded: Loaded, options: PrintOptions | None, changes: Mapping[str, Any]) -> str:
    """The text of an input in one format: that of a StableHLO text is StableHLO. Raises HloError."""
    if loaded.input is not None and loaded.input.source is not None and _form(loaded) == "stablehlo":
        return formatted_program(loaded.input.source, options, changes)
    return formatted(loaded.module(), options, changes)


def _form(loaded: Loaded) -> str:
    """The language of what is printed: of binary forms it is HLO."""
    return "stablehlo" if loaded.input is not None and loaded.input.kind == "mlir" else "hlo"


def _before(loaded: Loaded) -> str:
    """The text that was given; '' of what was no text."""
    given = loaded.input
    return given.source.text if given is not None and given.source is not None else ""


def _show(loaded: Loaded, text: str, args: argparse.Namespace) -> None:
    """Print what the options ask for."""
    if args.diff:
        rows = difflib.unified_diff(_before(loaded).splitlines(), text.splitlines(), (name := visible(loaded.name)),
                                    f"{name} (formatted)", lineterm="")
        write_bytes(encoded(without_commands(visible_lines("".join(f"{row}\n" for row in rows)))))
    elif not args.check:
        is_further = _form(loaded) == "stablehlo" and loaded.first_line > 1
        write_bytes(encoded(f"{PROGRAM_SEPARATOR}\n" * is_further + text))


def _rewrite(paths: Sequence[str], chosen: tuple[PrintOptions | None, Mapping[str, Any]],
             records: list[dict[str, Any]]) -> int:
    """Rewrite every file, or none where one of them cannot be read or would lose something; records tell which."""
    code, changed = 0, 0
    written: list[tuple[HloFile, str]] = []
    for name in files_to_rewrite(paths):
        try:
            file = read_hlo_file(name, ("hlo", "mlir"))
            text, changes = format_text(file.text, file.name, *chosen)
        except HloError as error:
            code = max(code, report(error.diagnostics) or 2)
            records.append(module_record(name, "hlo", None, error.diagnostics))
            continue
        changed += changes
        records.append(module_record(name, file.form, None, changed=bool(changes)))
        written.append((file, text))
    if code:
        complain("nothing was written: some files cannot be formatted")
        return code
    for file, text in written:
        try:
            file.write(text)
        except HloError as error:
            code = max(code, report(error.diagnostics) or 2)
    if changed:
        complain(f"{changed} module{'' if changed == 1 else 's'} changed")
    return code
