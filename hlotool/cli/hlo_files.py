"""Files of text that a command rewrites in place: what is read as text comes back in the same form."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from hlotool.cli.console import encoded, write_bytes
from hlotool.cli.whole_files import NOT_REWRITTEN, each_once, write_whole
from hlotool.diagnostics import HloError
from hlotool.ir import lazy_dataclass, with_line_feeds
from hlotool.text.input_files import bytes_of, files_of, inputs_of, read_stream, uncompressed

_KINDS = {"mlir": "StableHLO text", "bytecode": "StableHLO bytecode", "proto": "a protobuf message"}


@lazy_dataclass(frozen=True, slots=True)
class HloFile:
    """A file that holds HLO or StableHLO text, maybe compressed."""

    name: str
    #: as it is on disk; what is written must replace exactly this
    data: bytes
    #: with the line ends of the file
    text: str
    #: "hlo" or "stablehlo"
    form: str = "hlo"

    def write(self, text: str) -> None:
        """Write other text in the form that was read: compressed, marked, with its line ends. Raises HloError."""
        data = encoded(text.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in self.text else text)
        data = b"\xef\xbb\xbf" * uncompressed(self.data, self.name).startswith(b"\xef\xbb\xbf") + data
        if uncompressed(self.data, self.name) is not self.data:
            data = gzip.compress(data, mtime=0)
        if self.name == "<stdin>":
            write_bytes(data)
        elif data != self.data:
            write_whole(Path(self.name), data, read=self.data)


def read_hlo_file(name: str, kinds: Sequence[str] = ("hlo",)) -> HloFile:
    """The text of a file, or of standard input (`-`). Raises HloError for a file of another form than those named."""
    shown = "<stdin>" if name == "-" else name
    data = read_stream(sys.stdin.buffer, shown) if name == "-" else bytes_of(files_of(name)[0])
    found = {given.kind for given in inputs_of(data, shown)}
    other = next((kind for kind in sorted(found) if kind not in kinds), None)
    if other is not None:
        texts = "HLO and StableHLO" if "mlir" in kinds else "HLO"
        raise HloError.of(
            NOT_REWRITTEN, f"only {texts} text can be rewritten in place, this is {_KINDS[other]}", filename=shown,
            help="`hlotool convert -o FILE.hlo` writes its HLO text to a file of its own")
    text = uncompressed(data, shown).decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    kept = text if "\r\n" in text else with_line_feeds(text)
    return HloFile(shown, data, kept, "stablehlo" if "mlir" in found else "hlo")


def files_to_rewrite(paths: Iterable[str]) -> list[str]:
    """The files of paths, folders and patterns, each once however it is named. Raises HloError (R001, R002)."""
    found: list[str] = []
    for path in paths:
        found += [path] if path == "-" else [os.fspath(file) for file in files_of(path, follows=False)]
    return each_once(found)
