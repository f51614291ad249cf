"""Opens files that a user names, and waits for no pipe for ever: a shell's `*` names pipes, too."""

from __future__ import annotations

import errno
import os
import stat
import time
from io import BufferedReader
from pathlib import Path

from hlotool.text.folder_files import OPENED

#: seconds in which somebody must begin to write to a pipe with a name, and between two looks at it
_PATIENCE, _PAUSE = 60.0, 0.02
#: where pipes without a name have one while they are open
_OPEN_FILES = ("/dev/fd/", "/dev/std", "/proc/")


def open_input(path: str | Path) -> tuple[bytes, BufferedReader]:
    """Open what a user names for reading; return what was read of it already, and the file.

    Raises OSError as opening does, TimeoutError for a pipe with a name to which nobody writes.
    """
    handle = os.open(path, OPENED)
    try:
        mode = os.fstat(handle).st_mode
        is_pipe = stat.S_ISFIFO(mode) and not str(path).startswith(_OPEN_FILES)
        begin = _begin_of_pipe(handle, path) if is_pipe else b""
        if not stat.S_ISREG(mode) and hasattr(os, "set_blocking"):
            os.set_blocking(handle, True)
        return begin, open(handle, "rb", closefd=True)
    except BaseException as error:
        os.close(handle)
        if isinstance(error, IsADirectoryError):
            error.filename = str(path)
        raise


def _begin_of_pipe(handle: int, path: str | Path) -> bytes:
    """Return the first bytes of a pipe, none where its writer takes its time. Raises TimeoutError without a writer."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        try:
            if begin := os.read(handle, 1 << 16):
                return begin
        except BlockingIOError:  # a writer is there
            return b""
        time.sleep(_PAUSE)
    raise TimeoutError(errno.ETIMEDOUT, "no process writes to this pipe", str(path))
