"""Files written whole or not at all, so that an interrupt, a kill or another program never costs a user their text.

The new contents are written to a file without a name, which vanishes with the process; only when they are complete does
it get a name beside the old file, and takes its place in the next instant. No system call does both at once, so that
instant belongs to a process of its own, which a kill of this one does not reach. Where the system knows no files
without names, the name says whose it is, and the next writer clears away what a killed one left.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import signal
import stat
import time
import warnings
from collections.abc import Iterable
from pathlib import Path

from hlotool.diagnostics import HloError, define
from hlotool.ir import deferred

NOT_REWRITTEN = define("R120", "file-not-rewritten", "A file that is not written, because something would be lost: it "
                       "changed since it was read, has other names (hard links), or another form; or it is a pipe "
                       "that nobody reads.")

#: seconds in which the reader of a named pipe may still come
_WAIT_FOR_READER = 5.0
#: seconds in which a file is named and moved
_PATIENCE = 5.0
_LEFT_BEHIND = deferred(lambda: r"\..+\.hlotool-(\d+)~")
#: device and number of the files that the command at work has read
_READ: set[tuple[int, int]] = set()


def note_read(path: str | Path) -> None:
    """Remember a file that the command at work reads, so that no result of it takes the file's place."""
    with contextlib.suppress(OSError, ValueError):
        file = os.stat(path)
        if stat.S_ISREG(file.st_mode):
            _READ.add((file.st_dev, file.st_ino))


def forget_read() -> None:
    """Another command begins."""
    _READ.clear()


def write_beside(path: Path, data: bytes, *, is_named: bool = True) -> None:
    """Write a result that is something else than what the command read: a report, values, an archive.

    Raises HloError (R120) where the file is one that the command read, under whatever name: it would be lost; and as
    `write_whole` does.
    """
    require_beside(path)
    write_whole(path, data, is_named=is_named)


def require_beside(path: str | Path) -> None:
    """Raises HloError (R120) where a file is one that the command read."""
    with contextlib.suppress(OSError, ValueError):
        file = os.stat(path)
        if (file.st_dev, file.st_ino) in _READ:
            raise _refused(Path(path), "the command reads this file, and what is written is not its text",
                           "give the result another name")


def require_plain(path: Path) -> None:
    """Raises HloError (R120) for a link, a pipe or a device at a name that nobody gave, but that follows from one."""
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        raise _refused(path, "it is no file of its own, and was not named", "remove it, or give another name")


def with_ending(path: Path, ending: str) -> Path:
    """The file beside one, of another ending: out.npz of out.hlo. Raises IsADirectoryError for `.` and `/`."""
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return path.with_suffix(ending)


def write_whole(path: Path, data: bytes, *, read: bytes | None = None, is_named: bool = True) -> None:
    """Write a file; through a symbolic link to its target, whose mode, owner and extended attributes stay.

    `read` are the bytes that the new ones were made from. Raises HloError (R120) where the file holds others by now,
    where it has several names, of which only one would get the new contents, or is a link, a pipe or a device whose
    name follows from another one (not `is_named`). Raises OSError as opening does.
    """
    if not is_named:
        require_plain(path)
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        before = path.stat()  # a pipe that /dev/stdout leads to has no name of its own
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before.st_mode):  # /dev/stdout, a named pipe: nothing to replace
        _write_into(path, before.st_mode, data)
        return
    if before is not None:
        if before.st_nlink > 1:
            raise _refused(path, f"the file has {before.st_nlink} names (hard links); only this one would change",
                           "copy it to a file of its own first")
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    _clear_left_behind(target)
    name = target.parent / f".{target.name[:100]}.hlotool-{os.getpid()}~"
    handle, has_name = _opened(target.parent, name)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            _take_after(handle, before, target)
            os.fsync(handle)
            _check_unchanged(path, target, before, read)
            if not has_name:
                _named_and_moved(handle, name, target)
        if has_name:
            os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _write_into(path: Path, mode: int, data: bytes) -> None:
    """Write to what is no regular file. Raises HloError (R120) for a pipe that nobody reads: it would wait for ever."""
    until = time.monotonic() + _WAIT_FOR_READER
    while True:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC | (os.O_NONBLOCK if stat.S_ISFIFO(mode) else 0))
            break
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(mode):
                raise
            if time.monotonic() > until:
                raise _refused(path, "no process reads this pipe", "start its reader first") from None
            time.sleep(0.02)
    os.set_blocking(handle, True)
    with os.fdopen(handle, "wb") as out:
        out.write(data)


def each_once(paths: Iterable[str]) -> list[str]:
    """Paths without those that name a file which an earlier one named: `a.hlo ./a.hlo`, and links to it."""
    found: dict[object, str] = {}
    for path in paths:
        try:
            file = os.stat(path)
            key: object = (file.st_dev, file.st_ino) if stat.S_ISREG(file.st_mode) else path
        except (OSError, ValueError):
            key = path
        found.setdefault(key, path)
    return list(found.values())


def _opened(folder: Path, name: Path) -> tuple[int, bool]:
    """A new file to write to, and whether it has the name already."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        try:
            return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600), False
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT):
                raise
    return os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600), True


def _named_and_moved(handle: int, name: Path, target: Path) -> None:
    """Give an open file without a name that of the target, in a process that ends when this is done. Raises OSError."""
    mover = _forked()
    if not mover:
        code = 1
        try:
            os.setsid()
            _name(handle, name)
            os.replace(name, target)
            code = 0
        except OSError as error:
            code = error.errno if error.errno is not None and 0 < error.errno < 256 else errno.EIO
        finally:
            os._exit(code)
    status = _ended(mover)
    if status is None:  # It waited for a lock. What it did not do is done here, where a kill would leave the name.
        if os.fstat(handle).st_nlink == 0:
            _name(handle, name)
        if os.path.lexists(name):
            os.replace(name, target)
        return
    code = os.waitstatus_to_exitcode(status)
    if code:
        raise OSError(code if code > 0 else errno.EIO, os.strerror(code if code > 0 else errno.EIO), str(target))


def _forked() -> int:
    """A fork that is to make system calls and end, beside threads whose locks it must not wait for.

    A program in its place would have to start an interpreter for each file. Without the collector, for JAX has it
    call into its library, where a thread may have held a lock.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 and JAX warn of forks beside threads
            warnings.simplefilter("ignore", RuntimeWarning)
            return os.fork()
    finally:
        if collects:
            gc.enable()


def _ended(process: int) -> int | None:
    """The status of a child once it has ended; None for one that does not in time, which is killed."""
    until, pause = time.monotonic() + _PATIENCE, 0.0005
    while time.monotonic() < until:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return status
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    return None if os.WIFSIGNALED(status) else status


def _name(handle: int, name: Path) -> None:
    """Give an open file without a name one."""
    folder = os.open(name.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Only with a folder to start from does Python ask the system to follow the link in /proc.
        os.link(f"/proc/self/fd/{handle}", name.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _take_after(handle: int, before: os.stat_result | None, target: Path) -> None:
    """Give the new file the owner, mode and extended attributes of the old one. Raises OSError where it cannot."""
    if before is None:
        os.fchmod(handle, 0o666 & ~_umask())
        return
    now = os.fstat(handle)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        os.fchown(handle, before.st_uid, before.st_gid)
    os.fchmod(handle, stat.S_IMODE(before.st_mode))
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):  # a file system without them
            for attribute in os.listxattr(target):
                os.setxattr(handle, attribute, os.getxattr(target, attribute))


def _check_unchanged(path: Path, target: Path, before: os.stat_result | None, read: bytes | None) -> None:
    if before is None:
        if read is not None or target.exists():
            raise _refused(path, "the file was removed, or made, while its new text was")
        return
    now = target.stat()
    same = (now.st_dev, now.st_ino, now.st_mtime_ns, now.st_size) == (before.st_dev, before.st_ino, before.st_mtime_ns,
                                                                      before.st_size)
    if not same or (read is not None and target.read_bytes() != read):
        raise _refused(path, "somebody changed the file since it was read", "run the command again")


def _clear_left_behind(target: Path) -> None:
    """Remove the files of writers that were killed between naming a file and moving it to its place."""
    prefix = f".{target.name[:100]}.hlotool-"
    with contextlib.suppress(OSError):
        for entry in os.scandir(target.parent):
            left = _LEFT_BEHIND.fullmatch(entry.name) if entry.name.startswith(prefix) else None
            if left is not None and not _is_alive(int(left[1])):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _is_alive(process: int) -> bool:
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _refused(path: Path, message: str, help: str = "") -> HloError:
    return HloError.of(NOT_REWRITTEN, f"not written: {message}", filename=str(path), help=help)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
