"""Loads objects that installed packages declare by entry points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hlotool.diagnostics.diagnostic import HloError


def declared(group: str, name: str, what: str, code: str, fits: Callable[[Any], bool], kind: str) -> Any:
    """Return what a package declares under a name of a group; None if no package does.

    `what` is the word for it in messages (`pass`). Raises HloError (`code`) where it cannot be loaded, or is not of the
    `kind` (`no function`) that `fits` tells.
    """
    from importlib.metadata import entry_points

    for point in entry_points(group=group, name=name):
        try:
            found = point.load()
        except Exception as error:  # another package's code may fail in any way
            problem = f"{point.value} cannot be loaded: {type(error).__name__}: {error}"
        else:
            if fits(found):
                return found
            problem = f"{point.value} is {kind}"
        raise HloError.of(code, f"the {what} {name!r}: {problem}", filename=f"{group}: {point.name}",
                          help="mend the package that declares it")
    return None
