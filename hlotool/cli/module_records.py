"""--format json of commands that write modules or code: a list with a record for each module, whatever became of it."""

from __future__ import annotations

import argparse
import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hlotool.cli.console import encoded, write_bytes
from hlotool.cli.report_format import add_format
from hlotool.cli.whole_files import write_beside
from hlotool.diagnostics import Diagnostic
from hlotool.diagnostics.records import diagnostic_records


def add_module_records(parser: argparse.ArgumentParser) -> None:
    """--format, --json and --schema of such a command."""
    add_format(parser, "hlotool.cli.module_report:ModulesReport",
               what="the text itself, or JSON: a record for each module, with its text")


def module_record(name: str, form: str, written: str | bytes | None, diagnostics: Iterable[Diagnostic] = (),
                  **facts: Any) -> dict[str, Any]:
    """The record of a module: its text, or its bytes in base64, or nothing where it could not be written or was not
    asked for; with what was said of it, and the facts that the command knows."""
    is_text = isinstance(written, str)
    return {"module": name, "form": form,
            # What was no UTF-8 in the input is no character of JSON.
            "text": encoded(str(written)).decode("utf-8", "replace") if is_text else None,
            "base64": base64.b64encode(written).decode() if isinstance(written, bytes) else None, **facts,
            "diagnostics": diagnostic_records(diagnostics)}


def write_records(records: list[dict[str, Any]], output: str | None = None) -> None:
    """The records on standard output, or in the file of -o."""
    data = encoded(json.dumps(records, indent=2) + "\n")
    if output is None or output == "-":
        write_bytes(data)
    else:
        write_beside(Path(output), data)
