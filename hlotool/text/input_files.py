"""Files, folders and streams to texts: compression, logs, several modules in a file, forms told apart by content."""

from __future__ import annotations

import glob
import gzip
import io
import itertools
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from hlotool.diagnostics import HloError, define, nearest, reason_of
from hlotool.grammars import BYTECODE_MAGIC, terminal
from hlotool.ir import Source, deferred, lazy_dataclass, with_line_feeds
from hlotool.text.folder_files import files_below, files_fitting, found_in, open_regular
from hlotool.text.named_files import open_input
from hlotool.text.tokens import ANY_COMMENT, MODULE_WORD

UNREADABLE = define("R001", "unreadable-file", "a file that is missing, may not be read or is not whole")
NO_FILES = define("R002", "no-input-files", "a folder or pattern that holds no file of a known kind")
TOO_LARGE = define("R003", "too-large-file", "a file that holds, or decompresses to, more than is read")

#: bytes of a file that are read at most, decompressed; real dumps stay below a tenth of it
MOST_BYTES = 1 << 30
#: of what decompresses: dumps shrink to a tenth or a fiftieth. What shrinks more was made to cost time, beyond so many
#: bytes, whatever is in it
_MOST_RATIO, _UNSUSPECTED = 300, 1 << 26
#: hear how many bytes of a file were read; the last one is asked
_HEARERS: list[Callable[[int], object]] = [lambda size: None]
#: files of a folder that the name of a missing one is compared with
_MOST_BESIDE = 2000
#: suffixes of the files that are taken from a folder; a named file may have any
SUFFIXES = (".hlo", ".hlo.txt", ".txt", ".mlir", ".mlirbc", ".pb", ".hlo.pb")
_GZIP = b"\x1f\x8b"
#: what loggers write in front of a line: glog (I0521 12:04:45.883483 1509 file.cc:186]), absl, ISO time stamps
_LOG_PREFIX = deferred(
    lambda: r"^(?:[IWEF]\d{4}(?:\d{4})? [\d:.]+ +\d+ [\w./\-]+:\d+\] ?"
    r"|\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?:? (?:[IWEF] |INFO |DEBUG |WARNING )?(?:[\w./\-]+:\d+\] ?)?)",
    re.M)
#: the mark itself and nothing after it, as MLIR's tools have it: longer rows of dashes are comments within a module
PROGRAM_SEPARATOR = "// -----"
_SEPARATOR = deferred(lambda: rf"^[ \t]*{PROGRAM_SEPARATOR}[ \t]*$", re.M)
_MODULE_LINE = deferred(lambda: rf"^[ \t]*{terminal('hlo', '_HLO_MODULE')}", re.M)
_COMMENT = deferred(lambda: ANY_COMMENT)
#: what only MLIR's text has, at the start of a line or anywhere; no part of it can match in two ways. HLO has names of
#: StableHLO's operations in its strings: custom_call_target="stablehlo.dot", op_name="f/stablehlo.dot".
_MLIR = deferred(lambda: r"^[ \t]*+(?:(?:\"?builtin\.)?module|(?:func\.)?func)\b"
                   r"|(?<![/\w])(?<!=[\"'])\bstablehlo\.\w|#loc\d*+ = loc", re.M)
#: how protobuf's text form of a module's message begins, and the first field
PROTO_TEXT = deferred(lambda: rb"(?:\xef\xbb\xbf)?(?:\s|#[^\n]*+\n)*+(?:(?P<first>hlo|hlo_module)\s*+:?\s*+[{<]\s*+"
                      rb"\w++\s*+[:{<]|(?:name|entry_computation_name)\s*+:\s*+[\"'])")


@lazy_dataclass(frozen=True, slots=True)
class Input:
    """One module's worth of input. `kind` is hlo or mlir, in `source`; bytecode or proto (in text, too), in `data`."""

    filename: str
    kind: str
    source: Source | None = None
    data: bytes = b""


def read_inputs(paths: Iterable[str | Path], stdin: BinaryIO | None = None) -> Iterator[Input]:
    """Yield every module of files, folders (recursively, by suffix), glob patterns and `-` (standard input).

    Raises HloError (R001, R002) for a path that gives nothing to read, when its turn comes.
    """
    for path in paths:
        if str(path) == "-":
            stream = stdin if stdin is not None else sys.stdin.buffer
            yield from inputs_of(read_stream(stream, "<stdin>"), "<stdin>")
            continue
        for file in files_of(path):
            yield from inputs_of(bytes_of(file), str(file))


def files_of(given: str | Path, *, follows: bool = True) -> list[Path]:
    """Return the files that a path of a command line stands for. Raises HloError (R001, R002) where there are none.

    Of what is found in a folder links out of it are no part (folder_files.py), without `follows` no links at all.
    """
    if not str(given):
        raise HloError.of(UNREADABLE, "an empty word is no path", "", "the current folder is `.`; is a variable empty?")
    path = Path(given)
    if path.is_dir():
        found = sorted(f for f in map(Path, files_below(str(path), _is_known, follows=follows)) if f.is_file())
        if not found:
            raise HloError.of(NO_FILES, f"the folder {path} holds no HLO or MLIR file", str(path),
                              f"files are known by their suffixes: {' '.join(SUFFIXES)}, each also with .gz")
        return found
    if not path.exists() and glob.has_magic(str(path)):
        found = [Path(f) for f in files_fitting(str(path), follows=follows)]
        if not found:
            raise HloError.of(NO_FILES, f"no file fits the pattern {path}", str(path))
        return found
    return [path]


def _is_known(name: str) -> bool:
    return name.removesuffix(".gz").endswith(SUFFIXES)


def bytes_of(file: Path) -> bytes:
    """Return the contents of a file. Raises HloError (R001, R003)."""
    try:
        folder = found_in(str(file))
        begin, stream = open_input(file) if folder is None else (b"", open_regular(file, folder))
        with stream:
            return read_stream(stream, str(file), begin=begin)
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        said = f"{file} cannot be read: {reason_of(error)}"
        raise HloError.of(UNREADABLE, said, str(file), _named_alike(file)) from error


def _named_alike(file: Path) -> str:
    """Return the question whether a file that is missing was meant to be one beside it."""
    try:
        beside = [] if file.exists() else sorted(itertools.islice(os.listdir(file.parent), _MOST_BESIDE))
    except (OSError, ValueError):
        return ""
    found = nearest(file.name, beside, cutoff=0.75)
    return f"did you mean {file.with_name(found[0])}?" if found else ""


def hear_reading(hear: Callable[[int], object]) -> None:
    """Let a function hear how many bytes of a file were read until now, whenever some were."""
    _HEARERS.append(hear)


def read_stream(stream: BinaryIO | gzip.GzipFile, filename: str, most: int | None = None, begin: bytes = b"") -> bytes:
    """Return all that a stream gives behind its beginning, in pieces: what gives without end is stopped, say a device.
    """
    parts, size, most = [begin], len(begin), MOST_BYTES if most is None else most
    while part := stream.read(1 << 22):
        parts.append(part)
        size += len(part)
        _HEARERS[-1](size)
        if size > most:
            raise HloError.of(TOO_LARGE, f"more than {most >> 20} MiB to read", filename,
                              "a dump of that size is no module; is this file, or what is compressed in it, another "
                              "one?")
    return b"".join(parts)


def inputs_of(data: bytes, filename: str) -> list[Input]:
    """Return the modules that the bytes of a file hold; the form is told by content, not by name."""
    data = uncompressed(data, filename)
    data = _serialized_export(data) or data
    if data.startswith(BYTECODE_MAGIC):
        return [Input(filename, "bytecode", data=data)]
    if _is_binary(data) or PROTO_TEXT.match(data):
        return [Input(filename, "proto", data=data)]
    # Bytes that are not UTF-8 come back as they were when the text is written the same way.
    text = with_line_feeds(data.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
    if is_mlir(text):
        return [Input(filename, "mlir", Source(part.text, filename, part.first_line))
                for part in split_programs(text, filename)]
    return [Input(filename, "hlo", source) for source in split_modules(text, filename)]


def _serialized_export(data: bytes) -> bytes | None:
    """Return the bytecode inside of what `jax.export.Exported.serialize` gives, a FlatBuffer; None for other bytes.

    A FlatBuffer begins with the place of its root table, which begins with how far in front of it its layout stands; a
    vector of bytes has its length in front. Source: the FlatBuffers internals document.
    """
    at = data.find(BYTECODE_MAGIC, 8)
    if at < 0:
        return None
    root = int.from_bytes(data[:4], "little")
    layout = root - int.from_bytes(data[root:root + 4], "little", signed=True)
    fields, length = data[layout:layout + 2] if layout >= 4 else b"", int.from_bytes(data[at - 4:at], "little")
    is_table = 4 <= int.from_bytes(fields, "little") < 256 and fields[0] % 2 == 0 if len(fields) == 2 else False
    return data[at:at + length] if is_table and 4 < length <= len(data) - at else None


def is_mlir(text: str) -> bool:
    """Return True if a text is MLIR's, StableHLO say, and not HLO."""
    if _has_module_line(text):
        return False
    bare = _COMMENT.sub("", text)
    return _MLIR.search(bare) is not None and not _has_module_line(bare)


def _has_module_line(text: str) -> bool:
    """Return True if a line begins a module; searching for the word takes a tenth of a search at every line."""
    at = text.find(MODULE_WORD)
    while at >= 0:
        if _MODULE_LINE.match(text, text.rfind("\n", 0, at) + 1):
            return True
        at = text.find(MODULE_WORD, at + 1)
    return False


def uncompressed(data: bytes, filename: str) -> bytes:
    """Return the bytes themselves, or what is in them where they are a gzip file. Raises HloError (R001, R003)."""
    if data.startswith(_GZIP):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
                data = read_stream(stream, filename, min(MOST_BYTES, most_grown(len(data))))
        except (OSError, EOFError, zlib.error) as error:
            raise HloError.of(UNREADABLE, f"{filename} is not a whole gzip file: {error}", filename) from error
    return data


def most_grown(packed: int) -> int:
    """Return the bytes that so many compressed ones may hold."""
    return max(_UNSUSPECTED, _MOST_RATIO * packed)


def _is_binary(data: bytes) -> bool:
    """Return True if bytes are a protobuf message rather than text: control characters that no text has."""
    head = data[:4096]
    return any(b < 9 or 13 < b < 27 for b in head) and not head.lstrip().startswith((b"HloModule", b"ENTRY"))


def split_modules(text: str, filename: str = "<string>") -> list[Source]:
    """One source for each module of a text, with its place in the file kept.

    Modules are separated by `// -----` lines, or by the next `HloModule` line. Prefixes that a logger wrote in
    front of every line are blanked out, so that columns stay what they are in the file.
    """
    parts = []
    for part in split_programs(without_log_prefixes(text), filename):
        starts = [m.start() for m in _MODULE_LINE.finditer(part.text) if not _is_quoted(part.text, m.start())]
        if len(starts) < 2:
            parts.append(part)
            continue
        bounds = [0, *starts[1:], len(part.text)]
        for begin, end in itertools.pairwise(bounds):
            parts.append(Source(part.text[begin:end], filename,
                                part.first_line + part.text.count("\n", 0, begin)))
    return parts


def _is_quoted(text: str, start: int) -> bool:
    """Return True for a module line right behind a quotation mark: a header's recovery table quotes modules."""
    return text[max(0, start - 100):start].rstrip().endswith('"')


def split_programs(text: str, filename: str) -> list[Source]:
    """Return the parts of a text between `// -----` lines that hold more than white space; at least one."""
    parts, begin = [], 0
    for found in [*_SEPARATOR.finditer(text), None]:
        end = len(text) if found is None else found.start()
        if text[begin:end].strip():
            parts.append(Source(text[begin:end], filename, 1 + text.count("\n", 0, begin)))
        if found is not None:
            begin = found.end()
    return parts or [Source(text, filename)]


def without_log_prefixes(text: str) -> str:
    """Return the text with logger prefixes replaced by blanks, and what was logged before the module emptied."""
    first = _MODULE_LINE.search(text)
    if first is not None and not _LOG_PREFIX.search(text, 0, first.start()):
        return text
    if not _LOG_PREFIX.search(text):
        return text
    blanked = _LOG_PREFIX.sub(lambda m: " " * len(m[0]), text)
    first = _MODULE_LINE.search(blanked)
    if first is None:
        return text
    return re.sub(r"[^\n]", " ", blanked[:first.start()]) + blanked[first.start():]


def joined(before: Source | None, part: Source) -> Source:
    """Return the text of a file as far as it was read, its parts at their lines."""
    if before is None and part.first_line == 1:
        return part
    text = before.text if before is not None else ""
    missing = part.first_line - 1 - text.count("\n")
    return Source(text + "\n" * max(0, missing) + part.text, part.filename)
