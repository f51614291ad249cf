"""Opens files below a folder that somebody else writes to: no link is followed, only a regular file is opened."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import BinaryIO

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
#: opening a pipe does not wait for its writer
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


def open_beneath(folder: Path, path: str) -> tuple[BinaryIO, PurePath]:
    """Open a regular file below a folder for reading; return it and its path from the folder.

    Each part of the path is opened from the one before, so that a link that appears meanwhile leads nowhere, either.
    Raises OSError: PermissionError for a path that leads out of the folder or over a link, IsADirectoryError for a
    folder, and what the system says of a file that is missing or may not be read; ValueError for a zero byte.
    """
    relative = _relative(folder, path)
    with contextlib.ExitStack() as opened:
        above = _opened(opened, os.open(folder, _FOLDER))
        for part in relative.parts[:-1]:
            above = _opened(opened, _open(part, _FOLDER | _NO_LINK, above, path))
        file = _open(relative.name, os.O_RDONLY | _NO_LINK | _NO_WAIT | getattr(os, "O_CLOEXEC", 0), above, path)
        kind = os.fstat(file).st_mode
        if not stat.S_ISREG(kind):
            os.close(file)
            if stat.S_ISDIR(kind):
                raise IsADirectoryError(errno.EISDIR, "a folder; name a file in it", path)
            raise PermissionError(errno.EACCES, "no regular file", path)
        return os.fdopen(file, "rb"), relative


def files_beneath(folder: Path, path: str = "") -> Iterator[tuple[PurePath, int]]:
    """Yield the regular files of one name below `path`, a folder below `folder`, with their sizes, by name.

    Paths are relative to `folder`. Links are passed over. Raises OSError as `open_beneath` does for `path` itself;
    folders below it that cannot be read are passed over.
    """
    relative = PurePath() if PurePath(path) in (PurePath(), folder) else _relative(folder, path)
    with contextlib.ExitStack() as opened:
        above = _opened(opened, os.open(folder, _FOLDER))
        for part in relative.parts:
            above = _opened(opened, _open(part, _FOLDER | _NO_LINK, above, path))
        for below, folders, names, at in os.fwalk(".", dir_fd=above, follow_symlinks=False):
            folders.sort()
            for name in sorted(names):
                with contextlib.suppress(OSError):
                    found = os.stat(name, dir_fd=at, follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                        yield relative / below / name, found.st_size


def _relative(folder: Path, path: str) -> PurePath:
    given = PurePath(path)
    if given.is_absolute() and given.is_relative_to(folder):
        given = given.relative_to(folder)
    if given.is_absolute() or ".." in given.parts:
        raise PermissionError(errno.EACCES, f"lies outside of {folder}", path)
    if not given.parts:
        raise IsADirectoryError(errno.EISDIR, "a folder; name a file in it", path or ".")
    return given


def _opened(stack: contextlib.ExitStack, descriptor: int) -> int:
    stack.callback(os.close, descriptor)
    return descriptor


def _open(part: str, flags: int, above: int, path: str) -> int:
    try:
        return os.open(part, flags, dir_fd=above)
    except OSError as error:
        # A link is ELOOP; where a folder is wanted, ENOTDIR on Linux.
        is_link = error.errno == errno.ELOOP or (error.errno == errno.ENOTDIR and _is_link(part, above))
        if is_link:
            raise PermissionError(errno.EACCES, "is a link or lies behind one", path) from None
        raise OSError(error.errno, error.strerror, path) from None


def _is_link(part: str, above: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(part, dir_fd=above, follow_symlinks=False).st_mode)
    except OSError:
        return False


__all__ = ["files_beneath", "open_beneath"]
