"""Lint rules of installed packages: what their entry points of the group `hlotool.rules` declare.

That a package is installed is no wish to run it: the configuration names those that are loaded, `plugins = ["house"]`.

    [project.entry-points."hlotool.rules"]
    house = "house_rules.hlo"          a module that declares rules with @rule, or a function that does when called
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hlotool.diagnostics import CODES, Diagnostic
from hlotool.linting.codes import BAD_PLUGIN
from hlotool.passes.lints import RULES

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "hlotool.rules"


@functools.cache
def load_plugins(names: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    """Declare the rules of the entry points of those names (`*`: of all), once; gives what went wrong."""
    if not any(map(_names_group, sys.path)):
        return ()
    from importlib import metadata

    return tuple(problem for point in metadata.entry_points(group=GROUP)
                 if (point.name in names or "*" in names) and (problem := _load(point)) is not None)


def _names_group(folder: str) -> bool:
    """Return True if a package installed in a folder names the group: asking importlib costs ten times as much."""
    files = Path(folder).glob("*.*-info/entry_points.txt") if folder else ()
    return any(f"[{GROUP}]" in file.read_text("utf-8", "replace") for file in files)


def _load(point: EntryPoint) -> Diagnostic | None:
    before, codes = dict(RULES), dict(CODES)
    try:
        loaded = point.load()
        if callable(loaded):
            loaded()
    except Exception as error:  # whatever another package raises
        for table, old in ((RULES, before), (CODES, codes)):
            table.clear()
            table.update(old)  # type: ignore[arg-type]  # each its own
        where = f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value
        return Diagnostic(BAD_PLUGIN, f"the rules of {where} cannot be loaded: {type(error).__name__}: {error}",
                          filename=f"{GROUP}: {point.name} = {point.value}",
                          help="mend the package, or take it out of plugins")
    return None
