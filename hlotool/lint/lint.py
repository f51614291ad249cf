"""Linting a text or a module: syntax, verification."""

from __future__ import annotations

from typing import Any

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import HloModule
from hlotool.passes.read import parse
from hlotool.passes.verify import verify


def lint(text_or_module: str | HloModule, filename: str = "<string>", config: Any = None) -> list[Diagnostic]:
    """Every finding about an HLO text or module, sorted by place.

    A text with syntax errors gives those; verification speaks about texts that read. `config` may name a
    verification profile under "profile".
    """
    profile = (config or {}).get("profile", "unoptimized")
    if isinstance(text_or_module, HloModule):
        module = text_or_module
    else:
        try:
            module = parse(text_or_module, filename)
        except HloError as error:
            return error.diagnostics
    found = [*module.notes, *verify(module, profile=profile)]
    return sorted(found, key=lambda d: (d.line, d.column))
