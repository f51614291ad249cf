"""Names of a folder: definitions in HLO and StableHLO files below it, found in their text without reading it as HLO.

What is looked at is bounded: files, their bytes and the answer. Files that are open count as they are now.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lsprotocol import types as lsp

from hlotool.diagnostics import visible
from hlotool.text.folder_files import files_below, found_in, open_regular

#: answers, files, and bytes of all files
MOST_SYMBOLS, MOST_FILES, MOST_BYTES = 300, 5000, 256_000_000
#: files whose text is kept for the next letter that is typed
_KEPT = 64
#: files that are listed, to tell how many were not looked at
_MOST_LISTED = 20_000
_SUFFIXES = (".hlo", ".hlo.txt", ".txt", ".mlir")
#: a line that defines: an instruction, a computation, or a function of MLIR
_INSTRUCTION = r"(?:ROOT[ \t]+)?%?([A-Za-z_][\w.\-]*)[ \t]*=[ \t]"
_COMPUTATION = r"(ENTRY[ \t]+)?%?([A-Za-z_][\w.\-]*)[ \t]*(?:\([^\n]*\)[ \t]*->[^\n]*)?\{[ \t]*$"
_FUNCTION = r"func\.func[^@\n]*@([\w$.\-]+)"
_DEFINITION = re.compile(rf"[ \t]*(?:{_INSTRUCTION}|{_COMPUTATION}|{_FUNCTION})")
_KINDS = lsp.SymbolKind


def folder_symbols(folders: list[Path], open_texts: Mapping[Path, str], query: str
                   ) -> tuple[list[lsp.WorkspaceSymbol], int]:
    """Return definitions whose names hold the query, of any case, and how many files were not looked at."""
    wanted = query.strip().lstrip("%@")
    if not wanted:
        return [], 0
    found: list[lsp.WorkspaceSymbol] = []
    files = _files(folders)
    left, room = max(0, len(files) - MOST_FILES), MOST_BYTES
    for number, file in enumerate(files[:MOST_FILES]):
        text = open_texts.get(file)
        if text is None:
            room -= _size(file)
            text = _text(file) if room >= 0 else None
        if text is None:
            left += room < 0
            continue
        found += _in_text(file, text, wanted, MOST_SYMBOLS - len(found))
        if len(found) >= MOST_SYMBOLS:
            return found, left + len(files[:MOST_FILES]) - number - 1
    return found, left


def _files(folders: list[Path]) -> list[Path]:
    """Return the files of folders that are none of tools: no `.git`, no `node_modules`."""
    found = (Path(file) for folder in folders
             for file in files_below(str(folder), lambda name: name.endswith(_SUFFIXES))
             if not any(p.startswith(".") or p == "node_modules" for p in Path(file).relative_to(folder).parts))
    return list(dict.fromkeys(itertools.islice(found, _MOST_LISTED)))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _text(file: Path) -> str | None:
    """Return the text of a file; None for one that is not HLO or StableHLO, or cannot be read."""
    try:
        stamp = file.stat()
        return _read(file, stamp.st_mtime_ns, stamp.st_size)
    except OSError:
        return None


@functools.lru_cache(_KEPT)
def _read(file: Path, changed: int, size: int) -> str | None:
    """Read a file, which is another one once it was changed."""
    with open_regular(file, found_in(str(file))) as stream:
        data = stream.read(MOST_BYTES)
    if file.suffix == ".txt" and b"HloModule" not in data[:4096]:
        return None
    return data.decode("utf-8", "replace")


def _in_text(file: Path, text: str, wanted: str, most: int) -> Iterator[lsp.WorkspaceSymbol]:
    """Yield the definitions of a text whose names hold some letters, each once."""
    at, count = -1, 0
    for hit in re.finditer(re.escape(wanted), text, re.IGNORECASE):
        begin = text.rfind("\n", 0, hit.start()) + 1
        end = text.find("\n", hit.end())
        if begin <= at:
            continue
        defined = _DEFINITION.match(text[begin:len(text) if end < 0 else end])
        if defined is None:
            continue
        number = next(n for n in (1, 3, 4) if defined[n] is not None)
        start, behind = defined.span(number)
        if not start <= hit.start() - begin < behind:
            continue
        at, count = begin, count + 1
        line = text.count("\n", 0, begin)
        place = lsp.Range(lsp.Position(line, start), lsp.Position(line, behind))
        yield lsp.WorkspaceSymbol(lsp.Location(file.as_uri(), place), visible(defined[number]),
                                  _KINDS.Variable if number == 1 else _KINDS.Function, container_name=file.name)
        if count >= most:
            return
