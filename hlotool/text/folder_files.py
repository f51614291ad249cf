"""Files that are found in a folder, which somebody else may have filled: those that lie in it.

A link in a folder may lead to any file of its reader's: to one whose lines a report would show, or that a command would
rewrite. So links out of the folder are passed over, and noted, and a command that writes takes no link that it finds.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from pathlib import Path

#: links that were passed over since somebody asked
_PASSED_OVER: list[str] = []


def files_below(folder: str, fits: Callable[[str], bool] = lambda name: True, *, follows: bool = True,
                onerror: Callable[[OSError], object] | None = None) -> Iterator[str]:
    """Yield the files below a folder whose names fit, in the order of `os.walk`; links to folders are not entered.

    Pipes and devices are among them; a link to one elsewhere is not. `follows` is False for a command that writes:
    then links to files within the folder are passed over, too.
    """
    for place, inner, names in os.walk(folder, onerror=onerror):
        inner.sort()
        found = (os.path.join(place, name) for name in sorted(names) if fits(name))
        yield from (file for file in found if not (os.path.islink(file) and _is_passed_over(file, folder, follows)))


def files_fitting(pattern: str, *, follows: bool = True) -> list[str]:
    """Return the regular files that a pattern of `glob` stands for, as `files_below` does for its folder."""
    folder = os.path.dirname(pattern[:glob.escape(pattern).find("[")]) or os.curdir
    return sorted(file for file in glob.glob(pattern, recursive=True)
                  if os.path.isfile(file) and not _is_passed_over(file, folder, follows))


def passed_over() -> list[str]:
    """Return the links that were passed over since this was asked last."""
    found = sorted(set(_PASSED_OVER))
    _PASSED_OVER.clear()
    return found


def _is_passed_over(file: str, folder: str, follows: bool) -> bool:
    is_link = os.path.islink(file)
    if not (is_link and not follows) and not leads_out(file, folder):
        return False
    if os.path.isfile(file):
        _PASSED_OVER.append(file)
    return True


def leads_out(file: str, folder: str) -> bool:
    """Return True if a path below a folder leads out of it, over links."""
    return not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(folder))
