"""Findings of files, kept for the next run: by its content, the settings that hold for it, and the version.

One SQLite file in the user's cache folder. A value is compressed JSON with its checksum: what is damaged, of another
form or not there is linted again, and nothing that stands in the file is ever run. Runs beside each other share it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import importlib.metadata
import json
import os
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hlotool.diagnostics import Diagnostic, Edit, Fix, HloError, Note, Origin, Severity
from hlotool.dumps import dump_name
from hlotool.ir import Position
from hlotool.linting.codes import INTERNAL, WORKER_DIED
from hlotool.linting.files import FileFindings, LintJob
from hlotool.linting.user_cache import cache_folder
from hlotool.process import OwnFiles
from hlotool.text.folder_files import open_regular

#: bytes of all values, and of one when it is decompressed
LARGEST, _LARGEST_VALUE = 256 << 20, 64 << 20
#: seconds to wait for another run that writes
_PATIENCE = 2.0
#: codes that speak of the machine, of limits or of the way to the content, which another run may find otherwise
_NOT_KEPT = ("R", "E", "X", INTERNAL, WORKER_DIED)
_TABLE = "CREATE TABLE IF NOT EXISTS findings (key TEXT PRIMARY KEY, sum TEXT, value BLOB, used REAL)"


def cache_file() -> Path | None:
    """Where findings are kept; None where the user has no home."""
    folder = cache_folder()
    return folder / "findings.sqlite" if folder is not None else None


class Cache:
    """Findings of earlier runs. Whatever goes wrong with the file, it is as if nothing were in it."""

    def __init__(self, file: Path | None, largest: int = LARGEST) -> None:
        self._largest = largest
        self._new: dict[str, bytes] = {}
        self._used: list[str] = []
        self._connection = self._opened(file) if file is not None else None

    def get(self, key: str, filename: str) -> FileFindings | None:
        """Return the findings of a file of such content."""
        if self._connection is None:
            return None
        try:
            row = self._connection.execute("SELECT sum, value FROM findings WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error:
            return None
        if row is None or not isinstance(row[1], bytes) or row[0] != _sum(row[1]):
            return None
        found = decoded(row[1], filename)
        if found is not None:
            self._used.append(key)
        return found

    def put(self, key: str, found: FileFindings) -> None:
        """Keep what was found, unless it may be found otherwise by the next run."""
        if found.is_unreadable or any(d.code.startswith(_NOT_KEPT) or d.filename != found.filename
                                      or found.filename in d.message for d in found.diagnostics):
            return
        self._new[key] = encoded(found)

    def close(self) -> None:
        """Write what is new, and make room."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        now = time.time()
        with contextlib.suppress(sqlite3.Error), contextlib.closing(connection):
            with connection:
                connection.executemany("INSERT OR REPLACE INTO findings VALUES (?, ?, ?, ?)",
                                       [(key, _sum(value), value, now) for key, value in self._new.items()])
                connection.executemany("UPDATE findings SET used = ? WHERE key = ?", [(now, key) for key in self._used])
            self._make_room(connection)

    def _make_room(self, connection: sqlite3.Connection) -> None:
        taken = connection.execute("SELECT total(length(value)) FROM findings").fetchone()[0]
        if taken <= self._largest:
            return
        gone = []
        for key, size in connection.execute("SELECT key, length(value) FROM findings ORDER BY used"):
            gone.append((key,))
            taken -= size
            if taken <= self._largest // 2:
                break
        with connection:
            connection.executemany("DELETE FROM findings WHERE key = ?", gone)
        connection.execute("VACUUM")

    @staticmethod
    def _opened(file: Path) -> sqlite3.Connection | None:
        """The file, made anew where it is none of ours; None where that cannot be."""
        for _ in range(2):
            try:
                file.parent.mkdir(0o700, parents=True, exist_ok=True)
                OwnFiles(file.parent, INTERNAL).require(file.name)
                connection = sqlite3.connect(file, timeout=_PATIENCE)
                connection.execute(_TABLE)
                connection.execute("SELECT key, sum, value, used FROM findings LIMIT 1")
            except sqlite3.OperationalError as error:
                if "no such column" not in str(error):  # it is locked, or there is no room, or no right to write
                    return None
            except sqlite3.DatabaseError:
                pass
            except (OSError, HloError):
                return None
            else:
                return connection
            with contextlib.suppress(OSError):
                file.unlink()
        return None


def key_of(path: str, job: LintJob) -> tuple[str, tuple[int, ...]] | None:
    """Return the key of a file's findings, and figures that tell if it was changed; None if nothing is kept."""
    settings = job.settings
    if path == "-" or settings.plugins or not hasattr(job.reader, "__qualname__"):
        return None
    try:
        if not os.path.isfile(path):  # who opens a pipe, and closes it, ends its writer
            return None
        with open_regular(path) as file:
            about = os.fstat(file.fileno())
            content = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
    base = os.path.basename(path)
    dump = dump_name(base)
    told = settings.of_file(path, dump.stage if dump else "")
    parts = [version(), content, base, f"{job.reader.__module__}.{job.reader.__qualname__}", job.with_statements,
             _plain(told)]
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return key, (about.st_size, about.st_mtime_ns, about.st_ino)


def is_unchanged(path: str, about: Sequence[int]) -> bool:
    """Return True if a file is unchanged since its key was made."""
    try:
        now = os.stat(path)
    except OSError:
        return False
    return (now.st_size, now.st_mtime_ns, now.st_ino) == tuple(about)


def lint_cached(paths: Sequence[str], job: LintJob, cache: Cache,
                lint: Callable[[Sequence[str]], Iterator[tuple[str, FileFindings]]]
                ) -> Iterator[tuple[str, FileFindings]]:
    """Each file with its findings: what is known at once, the others by `lint` as they are done."""
    keys, left = {}, []
    try:
        for path in paths:
            made = key_of(path, job)
            known = cache.get(made[0], path) if made is not None else None
            if known is None:
                left.append(path)
                if made is not None:
                    keys[path] = made
                continue
            yield path, known
        for path, found in lint(left):
            if path in keys and is_unchanged(path, keys[path][1]):
                cache.put(keys[path][0], found)
            yield path, found
    finally:
        cache.close()


@functools.cache
def version() -> str:
    """Return a digest of the installation: its files and their times, Python, and the packages that read StableHLO."""
    root = Path(__file__).parents[1]
    files = []
    for folder, inner, names in os.walk(root, followlinks=True):
        inner[:] = [name for name in inner if name != "__pycache__"]
        for name in names:
            about = os.stat(os.path.join(folder, name))
            files.append((os.path.relpath(os.path.join(folder, name), root), about.st_size, about.st_mtime_ns))
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        files.append((importlib.metadata.version("jaxlib"), 0, 0))
    return hashlib.sha256(repr((sorted(files), sys.version)).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Settings as JSON has them."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    return value if isinstance(value, (str, int, float, bool)) or value is None else repr(value)


# Values

def encoded(found: FileFindings) -> bytes:
    """Findings as compressed JSON; the name of the file is not in it."""
    record = [found.suppressed, found.statements, [_record(d) for d in found.diagnostics]]
    return zlib.compress(json.dumps(record).encode("ascii"), 1)


def decoded(data: bytes, filename: str) -> FileFindings | None:
    """Findings of a file of that name; None for data that is not of the form."""
    try:
        text = zlib.decompressobj().decompress(data, _LARGEST_VALUE)
        suppressed, statements, diagnostics = json.loads(text)
        return FileFindings(filename, [_diagnostic(d, filename) for d in diagnostics],
                            [(_text(a), _text(b)) for a, b in statements], _number(suppressed))
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, zlib.error):
        return None


def _record(d: Diagnostic) -> list[Any]:
    notes = [[n.message, _pair(n.start), _pair(n.end)] for n in d.notes]
    fixes = [[f.message, _pair(f.start), _pair(f.end), f.replacement, f.is_safe,
              [[_pair(e.start), _pair(e.end), e.replacement] for e in f.also]] for f in d.fixes]
    origin = None if d.origin is None else [d.origin.file, d.origin.line, d.origin.column, d.origin.function,
                                            d.origin.op_name]
    place = [d.line, d.column, d.end_line, d.end_column]
    return [d.code, d.message, str(d.severity), *place, notes, d.help, fixes, origin]


def _diagnostic(record: Any, filename: str) -> Diagnostic:
    code, message, severity, line, column, end_line, end_column, notes, advice, fixes, origin = record
    found = Diagnostic(_text(code), _text(message), Severity(severity), _number(line), _number(column),
                       _number(end_line), _number(end_column), filename,
                       tuple([Note(_text(m), _position(a), _position(b)) for m, a, b in notes]), _text(advice),
                       tuple([_fix(f) for f in fixes]))
    if origin is None:
        return found
    file, line, column, function, op_name = origin
    return replace(found, origin=Origin(_text(file), _number(line), _number(column), _text(function), _text(op_name)))


def _fix(record: Any) -> Fix:
    message, start, end, replacement, is_safe, also = record
    return Fix(_text(message), _place(start), _place(end), _text(replacement), is_safe is True,
               tuple([Edit(_place(a), _place(b), _text(r)) for a, b, r in also]))


def _pair(position: Position | None) -> list[int] | None:
    return None if position is None else [position.line, position.column]


def _position(pair: Any) -> Position | None:
    return None if pair is None else _place(pair)


def _place(pair: Any) -> Position:
    line, column = pair
    return Position(_number(line), _number(column))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(value)
    return value


def _sum(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()
