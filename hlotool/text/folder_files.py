"""Files that are found in a folder, which somebody else may have filled: those that lie in it.

A link in a folder may lead to any file of its reader's: to one whose lines a report would show, or that a command would
rewrite. So links out of the folder are passed over, and noted, and a command that writes takes no link that it finds.
A file that was found may have become a pipe, or a link to a file elsewhere, so it is looked at once it is open.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path

#: links that were passed over since somebody asked
_PASSED_OVER: list[str] = []
#: flags of a file that is opened to be read: no waiting for pipes, none of it for child processes
OPENED = (os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
#: file that was found -> the folder in which it was
_FOUND: dict[str, str] = {}


def files_below(folder: str, fits: Callable[[str], bool] = lambda name: True, *, follows: bool = True,
                onerror: Callable[[OSError], object] | None = None) -> Iterator[str]:
    """Yield the files below a folder whose names fit, in the order of `os.walk`; links to folders are not entered.

    Pipes and devices are among them; a link to one elsewhere is not. `follows` is False for a command that writes:
    then links to files within the folder are passed over, too.
    """
    for place, inner, names in os.walk(folder, onerror=onerror):
        inner.sort()
        found = (os.path.join(place, name) for name in sorted(names) if fits(name))
        for file in found:
            if not (os.path.islink(file) and _is_passed_over(file, folder, follows)):
                note_found(file, folder)
                yield file


def files_fitting(pattern: str, *, follows: bool = True) -> list[str]:
    """Return the regular files that a pattern of `glob` stands for, as `files_below` does for its folder."""
    folder = os.path.dirname(pattern[:glob.escape(pattern).find("[")]) or os.curdir
    found = sorted(file for file in glob.glob(pattern, recursive=True)
                   if os.path.isfile(file) and not _is_passed_over(file, folder, follows))
    for file in found:
        note_found(file, folder)
    return found


def note_found(file: str, folder: str | None) -> None:
    """Remember that a file was found in a folder: whoever opens it requires that it lies there (`open_regular`)."""
    if folder is not None:
        _FOUND[os.path.normpath(file)] = folder


def found_in(file: str) -> str | None:
    """Return the folder in which a file was found; None for one that somebody named."""
    return _FOUND.get(os.path.normpath(file))


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


def open_regular(path: str | Path, found_in: str | None = None) -> BufferedReader:
    """Open a regular file for reading, which lies in the folder that it was found in. Raises OSError."""
    handle = os.open(path, OPENED)
    if problem := _problem_of(handle, path, found_in):
        os.close(handle)
        raise problem
    return open(path, "rb", opener=lambda name, flags: handle)  # under its name, which tells how it is compressed


def _problem_of(handle: int, path: str | Path, found_in: str | None) -> OSError | None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        return OSError(errno.EINVAL, "it is no regular file", str(path))
    if found_in is not None and not _lies_in(handle, path, found_in):
        return OSError(errno.EXDEV, f"it is a link out of {found_in}", str(path))
    return None


def _lies_in(handle: int, path: str | Path, folder: str) -> bool:
    """Return True if an open file lies below a folder, whatever its path leads to by now."""
    opened = f"/proc/self/fd/{handle}"
    place = os.readlink(opened) if os.path.lexists(opened) else os.path.realpath(path)
    return Path(place).is_relative_to(os.path.realpath(folder or os.curdir))
