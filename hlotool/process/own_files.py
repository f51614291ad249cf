"""Files of ours in a folder of somebody's: states, plans, results, caches, locks, baselines.

Such a folder may hold anything under our names: links to elsewhere, pipes, devices, files without end. So a file counts
as ours only if it is a regular file of one name and of bounded size. It is opened without following links and without
waiting, and looked at only once it is open; folders on the way are no links either. Files are written whole, under
another name first, and what is removed fits our own pattern in full.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hlotool.diagnostics import HloError, reason_of
from hlotool.ir import lazy_dataclass

#: bytes that a file of ours may have
MOST_BYTES = 1 << 30
#: names in a folder that are looked at
_MOST_NAMES = 1 << 22
_UNFINISHED = re.compile(r"\.unfinished-\d+-(?P<name>.+)")
#: flags of every file and folder that is opened: no links, no waiting for pipes, none of it for child processes
_SAFE = os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0)


@lazy_dataclass(frozen=True, slots=True)
class OwnFiles:
    """Files in the folder `path` and its subfolders, named by paths from there (`inputs/part-1`).

    Whatever is not ours raises HloError with `code` and `help`; what the system refuses raises OSError.
    """

    path: Path
    code: str
    help: str = ""

    def read(self, name: str, most: int = MOST_BYTES) -> bytes | None:
        """Return the bytes of a file; None where there is none. Raises HloError where it is no file of ours."""
        try:
            with self._opened(name, os.O_RDONLY, most) as handle, open(handle, "rb", closefd=False) as stream:
                data = stream.read(most + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if len(data) > most:  # it grew
            raise self.refused(f"{name} in it is too large")
        return data

    def record(self, name: str) -> Any:
        """Return the value of a JSON file; None where there is none, and for text of another form."""
        return _value(self.read(name) or b"null")

    def records(self, name: str) -> Iterator[Any]:
        """Return the values of the lines of a file, without lines of another form, which killed writers leave."""
        for line in (self.read(name) or b"").split(b"\n"):
            if (value := _value(line)) is not None:
                yield value

    def require(self, *names: str) -> None:
        """Raises HloError where one of the names is there and no file of ours."""
        for name in names:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError), self._folder(name) as (folder, base):
                self._check(os.stat(base, dir_fd=folder, follow_symlinks=False), name, MOST_BYTES)

    def write(self, name: str, data: bytes, *, is_lasting: bool = True) -> None:
        """Write a file whole or not at all, with the folders on its way. Raises HloError for what is not ours.

        One that is not `is_lasting` may be lost where the machine stops, and costs less.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with self._folder(name, makes=True) as (folder, base):
            with contextlib.suppress(FileNotFoundError):
                self._check(os.stat(base, dir_fd=folder, follow_symlinks=False), name)
            unfinished = f".unfinished-{os.getpid()}-{base}"
            with contextlib.suppress(FileNotFoundError):
                os.unlink(unfinished, dir_fd=folder)
            handle = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _SAFE, 0o666, dir_fd=folder)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(data)
                    stream.flush()
                    if is_lasting:
                        os.fsync(handle)
                os.replace(unfinished, base, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(unfinished, dir_fd=folder)
                raise

    def append(self, name: str, value: Any) -> None:
        """Add a line with a JSON value to a file. Raises HloError where it is no file of ours."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        with self._opened(name, flags) as handle, open(handle, "ab", closefd=False) as stream:
            stream.write(json.dumps(value).encode() + b"\n")

    def names(self, below: str = "") -> list[str]:
        """Return the names in the folder, or in a folder of it; none where that is not there."""
        try:
            with self._folder(f"{below}/x" if below else "x") as (folder, _), os.scandir(folder) as entries:
                return sorted(entry.name for entry in itertools.islice(entries, _MOST_NAMES))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def remove_others(self, below: str, wanted: Sequence[str] | set[str], ours: re.Pattern[str]) -> None:
        """Remove what a folder holds beside the `wanted`: regular files whose names fit `ours`, and unfinished ones."""
        for name in self.names(below):
            unfinished = _UNFINISHED.fullmatch(name)
            if name in wanted or not ours.fullmatch(unfinished["name"] if unfinished is not None else name):
                continue
            with contextlib.suppress(FileNotFoundError), self._folder(f"{below}/{name}") as (folder, base):
                if stat.S_ISREG(os.stat(base, dir_fd=folder, follow_symlinks=False).st_mode):
                    os.unlink(base, dir_fd=folder)

    @contextlib.contextmanager
    def lock(self, name: str, message: str) -> Iterator[None]:
        """Hold a file against other processes of this machine. Raises HloError with `message` where one holds it."""
        try:
            import fcntl
        except ImportError:  # a system without such locks
            yield
            return
        self.path.mkdir(parents=True, exist_ok=True)
        with self._opened(name, os.O_RDWR | os.O_CREAT) as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise self.refused(message) from error
            yield

    def refused(self, why: str) -> HloError:
        """Return the error of a folder that cannot be used."""
        return HloError.of(self.code, why, filename=str(self.path), help=self.help)

    @contextlib.contextmanager
    def _folder(self, name: str, makes: bool = False) -> Iterator[tuple[int, str]]:
        """Open the folder of a file: its handle, and the file's name there."""
        *parts, base = name.split("/")
        handle = os.open(self.path, _FOLDER)
        try:
            for number, part in enumerate(parts, 1):
                if makes:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, dir_fd=handle)
                try:
                    inner = os.open(part, _FOLDER | _SAFE, dir_fd=handle)
                except OSError as error:
                    if error.errno in (errno.ELOOP, errno.ENOTDIR):
                        raise self.refused(f"{'/'.join(parts[:number])} in it is no folder of its own") from error
                    raise
                os.close(handle)
                handle = inner
            yield handle, base
        finally:
            os.close(handle)

    @contextlib.contextmanager
    def _opened(self, name: str, flags: int, most: int = MOST_BYTES) -> Iterator[int]:
        """Open a file of ours: its handle. Raises HloError for any other."""
        with self._folder(name) as (folder, base):
            try:
                handle = os.open(base, flags | _SAFE, 0o666, dir_fd=folder)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):  # a link, a pipe without readers, a folder
                    raise self._not_plain(name) from error
                raise
        try:
            self._check(os.fstat(handle), name, most)
            yield handle
        finally:
            os.close(handle)

    def _check(self, found: os.stat_result, name: str, most: int | None = None) -> None:
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise self._not_plain(name)
        if most is not None and found.st_size > most:
            raise self.refused(f"{name} in it is too large")

    def _not_plain(self, name: str) -> HloError:
        return self.refused(f"{name} in it is no plain file of its own")


def read_plain(path: Path, code: str, what: str, most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a file that a user or a configuration names: regular, also behind a link, and bounded.

    `what` is the file in words. Raises HloError with `code`.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as stream:  # a folder cannot be opened
            is_plain = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
            data = stream.read(most + 1) if is_plain else b""
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise HloError.of(code, f"{what} cannot be read: {reason_of(error)}", filename=str(path)) from error
    if not is_plain or len(data) > most:
        why = f"it has more than {most} bytes" if is_plain else "it is no regular file"
        raise HloError.of(code, f"{what} cannot be read: {why}", filename=str(path))
    return data


def read_plain_text(path: Path, code: str, what: str, most: int = MOST_BYTES) -> str:
    """Return the text of such a file. Raises HloError with `code`, for one that is no UTF-8 too."""
    try:
        return read_plain(path, code, what, most).decode("utf-8")
    except UnicodeDecodeError as error:
        raise HloError.of(code, f"{what} cannot be read: {reason_of(error)}", filename=str(path)) from error


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _value(text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
