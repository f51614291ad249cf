"""Folders as bytes, so that they are mutated and kept as any other input.

    // ===== FILE dump/module_0001.m.before_optimizations.txt
    HloModule m ...
    // ===== LINK elsewhere -> ../target
    // ===== PIPE waits

Names lead nowhere outside of the folder; what the bytes of a name cannot be on this system is left out.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from mutations import Mutation

_MARK = re.compile(rb"^// ===== (FILE|LINK|PIPE|FOLDER) ([^\n]*)\n", re.M)
#: files in one folder at most: a name costs a system call or two
_MOST = 64


def packed(files: Mapping[str, bytes]) -> bytes:
    """The bytes of a folder of plain files; each content gets a line end, which `unpack` takes off."""
    return b"".join(b"// ===== FILE %s\n%s\n" % (name.encode(), data) for name, data in files.items())


def unpack(data: bytes, folder: Path) -> None:
    """Make the folder that bytes stand for."""
    marks = list(_MARK.finditer(data))
    for mark, after in list(itertools.zip_longest(marks, marks[1:]))[:_MOST]:
        content = data[mark.end():after.start() if after is not None else len(data)].removesuffix(b"\n")
        with contextlib.suppress(OSError, ValueError):
            _make(folder, mark[1], mark[2], content)


def _make(folder: Path, kind: bytes, words: bytes, content: bytes) -> None:
    name, _, target = words.partition(b" -> ")
    parts = [part for part in name.split(b"/") if part not in (b"", b".", b"..")]
    path = folder.joinpath(*map(os.fsdecode, parts or [b"nameless"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(path):
        return
    if kind == b"LINK":
        path.symlink_to(os.fsdecode(target.replace(b"..", b"").lstrip(b"/") or b"nothing"))
    elif kind == b"PIPE":
        os.mkfifo(path)
    elif kind == b"FOLDER":
        path.mkdir()
    else:
        path.write_bytes(content)


def some_entries(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Files left out, doubled under another name, exchanged, or turned into links and pipes."""
    marks = list(_MARK.finditer(data))
    entries = [[m[1], m[2], data[m.end():a.start() if a is not None else len(data)]]
               for m, a in itertools.zip_longest(marks, marks[1:])]
    if not entries:
        return data
    at = rng.randrange(len(entries))
    what = rng.randrange(6)
    if what == 0:
        del entries[at]
    elif what == 1:
        entries.append([entries[at][0], entries[at][1] + rng.choice((b".1", b"/a", b".gz", b".hlo")), entries[at][2]])
    elif what == 2:
        other = rng.randrange(len(entries))
        entries[at][2], entries[other][2] = entries[other][2], entries[at][2]
    elif what == 3:
        entries[at][0] = rng.choice((b"PIPE", b"FOLDER"))
    elif what == 4:
        entries[at][0] = b"LINK"
        entries[at][1] += b" -> " + rng.choice((*(e[1] for e in entries), b"nothing"))
    else:
        entries[at][1] = rng.choice(entries)[1].replace(b"_", rng.choice((b"_", b".", b"-", b"__")))
    return b"".join(b"// ===== %s %s\n%s" % (kind, name, content) for kind, name, content in entries)


def in_one_file(mutation: Mutation) -> Mutation:
    """The same mutation, of the content of one file."""

    def mutated(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
        marks = list(_MARK.finditer(data))
        if not marks:
            return data
        at = rng.randrange(len(marks))
        start, end = marks[at].end(), marks[at + 1].start() if at + 1 < len(marks) else len(data)
        return data[:start] + mutation(rng, data[start:end], others).rstrip(b"\n") + b"\n" + data[end:]

    return mutated
