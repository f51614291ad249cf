"""Linting a text or a module: syntax, verification, the rules, then what the settings and comments leave of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.ir import HloModule, Source, no_collection, wrong_part
from hlotool.linting.settings import Settings
from hlotool.passes.read import parse
from hlotool.text.input_files import is_mlir


def lint(program: str | HloModule | Any, filename: str = "<string>",
         config: Settings | Mapping[str, Any] | str | Path | None = None, *, each: bool = False) -> list[Diagnostic]:
    """The findings about an HLO text, a module, or whatever else hlotool.read takes, sorted by place.

    Of several lints about one statement only the gravest is given, as by `hlotool lint`; with `each` all are.

    A text with syntax errors gives those; verification speaks about texts that read, and the lint rules about modules
    that verify. `config` is a configuration file, or settings under the names that such a file has:
    {"profile": "gpu", "select": ["W1"]}. Raises HloError for a configuration that cannot be used.
    """
    settings = _settings(config)
    with no_collection():
        try:
            module, is_just_read = _read(program, filename)
        except HloError as error:
            return error.diagnostics
        found, _ = lint_module(module, settings, is_just_read=is_just_read)
        if not each and isinstance(module.source, Source):  # a program may have put anything there
            from hlotool.linting.repetition import one_a_statement

            found = one_a_statement(found, {module.source.filename: module.source})
    if module.source is None and filename != "<string>":
        return [replace(d, filename=filename) for d in found]
    return found


def _read(program: Any, filename: str) -> tuple[HloModule, bool]:
    """The module, and whether it was read from HLO text here; nothing else needs MLIR or NumPy."""
    if isinstance(program, HloModule):
        return program, False
    if isinstance(program, str) and not is_mlir(program) and not _is_file(program):
        return parse(program, filename), True
    from hlotool.stablehlo import read

    return read(program, filename="" if filename == "<string>" else filename), False


def _is_file(text: str) -> bool:
    """Return True if a text is the path of a file; no module is one."""
    try:
        return "\n" not in text and "{" not in text and Path(text).is_file()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False


@no_collection()
def lint_module(module: HloModule, settings: Settings, *, is_just_read: bool = False) -> tuple[list[Diagnostic], int]:
    """All findings about a module that was read, and how many others its comments suppress.

    `is_just_read` is for one that comes from a text and that nobody can have changed since.
    """
    from hlotool.passes.contents import Contents
    from hlotool.passes.verify import verify, verify_as_read

    contents = Contents(module) if is_just_read else None
    checked = verify(module, settings.profile) if contents is None else \
        verify_as_read(module, settings.profile, contents)
    if contents is None and wrong_part(module):
        return list(settings.apply(checked)), 0
    # What is wrong with a place says more than that its form is of another time.
    wrong = {(d.line, d.column) for d in checked if d.line}
    found = [*(n for n in module.notes if (n.line, n.column) not in wrong), *checked]
    # What a rule says about an instruction that breaks its operation's constraints would follow from that.
    is_sound = not any(d.severity is Severity.ERROR for d in found)
    if is_sound:
        from hlotool.passes.lints import run

        found += run(module, select=settings.selects, named=settings.names, options=settings.rules,
                     contents=contents)
    kept, suppressed = left(found, module, settings, is_sound)
    return sorted(dict.fromkeys(kept), key=lambda d: (d.line, d.column)), suppressed


def left(found: Iterable[Diagnostic], module: HloModule, settings: Settings, is_complete: bool = False
         ) -> tuple[list[Diagnostic], int]:
    """Return the findings that settings and comments leave, and how many comments suppress; see suppress.py."""
    from hlotool.linting.suppress import suppress

    return suppress(settings.apply(found), module.source, settings, is_complete)


def _settings(config: Settings | Mapping[str, Any] | str | Path | None) -> Settings:
    if isinstance(config, Settings):
        return config
    if config is None:
        return Settings()
    from hlotool.linting.config import read_config, settings_of

    return read_config(Path(config)) if isinstance(config, (str, Path)) else settings_of(config)
