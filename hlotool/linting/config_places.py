"""Places of configuration: the file, and the place of a key or value in its text, which tomllib does not tell."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from hlotool.diagnostics import HloError
from hlotool.linting.codes import BAD_FILE
from hlotool.process import read_plain_text

#: keys from the outside in; numbers count the tables of an array
KeyPath: TypeAlias = tuple[str | int, ...]
#: names of configuration files
NAMES = ("hlotool.toml", "pyproject.toml")
#: bytes of a configuration at most
MOST_BYTES = 1 << 20

_HEADER = re.compile(r"^[ \t]*+(\[\[?+)[ \t]*+([^\]\n]++)\]\]?", re.M)
_PART = r"""(?:[\w\-]+|"[^"\n]*"|'[^'\n]*')"""
_KEY = re.compile(rf"^[ \t]*({_PART}(?:[ \t]*\.[ \t]*{_PART})*)[ \t]*=", re.M)


def find_config(paths: Iterable[Path]) -> Path | None:
    """Return the configuration file nearest to the linted files, else to the current folder, upward from each.

    One that another user put into a folder to which everybody may write (/tmp) is passed over.
    """
    for start in (*paths, Path()):
        nearest = Path(os.path.realpath(start))
        for folder in (nearest, *nearest.parents):
            for name in NAMES:
                file = folder / name
                if file.is_file() and not _is_planted(file) and (name != "pyproject.toml" or _has_table(file)):
                    return file
    return None


def _is_planted(file: Path) -> bool:
    """Return True for a file of another user in a folder to which everybody may write."""
    try:
        is_open = bool(os.stat(file.parent).st_mode & stat.S_IWOTH)
        return is_open and os.name == "posix" and os.lstat(file).st_uid not in (0, os.geteuid())
    except OSError:
        return True  # it went away


def _has_table(file: Path) -> bool:
    try:
        text = read_plain_text(file, BAD_FILE, "the configuration", MOST_BYTES)
    except HloError:
        return False
    return re.search(r"^[ \t]*+\[++\s*+tool\s*+\.\s*+hlotool\b", text, re.M) is not None


class KeyPlaces:
    """The places of the tables and keys of a text, found in one pass."""

    def __init__(self, text: str) -> None:
        self.text = text
        #: path -> the range of the key, and where the next one begins
        self._places: dict[KeyPath, tuple[int, int, int]] = {}
        for path, start, end, stop in _keys(text):
            self._places.setdefault(path, (start, end, stop))

    def place_of(self, path: KeyPath, value: str | None = None) -> tuple[int, int]:
        """The range of the key at a path, or of a string in its value; of the nearest table around it, if need be."""
        known = next((n for n in range(len(path), 0, -1) if path[:n] in self._places), 0)
        start, end, stop = self._places[path[:known]] if known else (0, 1, len(self.text))
        if value is not None:
            quoted = re.compile(rf"""["']{re.escape(value)}["']""").search(self.text, end, stop)
            if quoted:
                return quoted.span()
        if known < len(path) and isinstance(path[-1], str):  # within an inline table
            inner = re.compile(rf"""(?<![\w\-])["']?{re.escape(path[-1])}["']?(?=\s*=)""").search(self.text, end, stop)
            if inner:
                return inner.span()
        return start, end


def _keys(text: str) -> Iterator[tuple[KeyPath, int, int, int]]:
    """Every table and key: its path, its range, and where the next one begins."""
    marks = sorted([*_HEADER.finditer(text), *_KEY.finditer(text)], key=lambda m: m.start())
    table: KeyPath = ()
    counts: Counter[KeyPath] = Counter()
    for number, mark in enumerate(marks):
        stop = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        if mark.re is _HEADER:
            table = _parts(mark[2])
            if mark[1] == "[[":
                counts[table] += 1
                table = (*table, counts[table] - 1)
            yield table, mark.start(2), mark.start(2) + len(mark[2].rstrip()), stop
        else:
            yield (*table, *_parts(mark[1])), mark.start(1), mark.end(1), stop


def _parts(text: str) -> KeyPath:
    return tuple(part.strip("\"'") for part in re.findall(_PART, text))
