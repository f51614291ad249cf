"""A look at a whole text: of a long one in a process of its own, so that the server goes on answering."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import cast

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.linting import INTERNAL, Settings, find_config, read_config
from hlotool.process import Child, Crashed, OutOfMemory, Refusal, TimedOut
from hlotool.serve.lsp.document import Document

#: characters from which on a text is looked at in another process
_LONG = 300_000
#: seconds after which that process is ended
_PATIENCE = 600.0


def look(text: str, filename: str) -> list[Diagnostic]:
    """Return the findings under the settings that the command would take for the file."""
    if len(text) >= _LONG:
        try:
            return cast(list[Diagnostic], _child().ask("hlotool.serve.lsp.whole_look:look_here", text, filename,
                                                       timeout=_PATIENCE))
        except (Crashed, OutOfMemory, Refusal, TimedOut) as error:
            return [Diagnostic(INTERNAL, f"the process that looked at this text was ended: {error}", filename=filename)]
    return look_here(text, filename)


def look_here(text: str, filename: str) -> list[Diagnostic]:
    """Return the same in this process."""
    try:
        return Document(text, filename).findings(_settings(filename))
    except HloError as error:  # a configuration file with a mistake
        return error.diagnostics
    except (Exception, RecursionError) as error:
        if os.environ.get("HLOTOOL_TRACEBACK"):
            raise
        return [Diagnostic(INTERNAL, f"a bug in hlotool, please report it: {type(error).__name__}: {error}",
                           filename=filename)]


def settings_for(filename: str) -> Settings | None:
    """Return the settings of a file; None where its configuration has a mistake."""
    try:
        return _settings(filename)
    except HloError:
        return None


def _settings(filename: str) -> Settings:
    file = Path(filename)
    config = find_config([file.parent]) if file.is_absolute() else None
    settings = read_config(config, is_chosen=False) if config else Settings()
    return settings.of_file(filename)


@functools.cache
def _child() -> Child:
    return Child({})
