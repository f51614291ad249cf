"""A test of interest that is a program of the user's.

    hlotool reduce model.hlo --command 'python check.py'          the file is the last argument
    hlotool reduce model.hlo --command 'check {} --args {args}'   or stands where the braces are

Exit code 0: the failure is still there; 1 (or another): it is not; 125: the program cannot say. The command is cut into
words as a shell does, and no shell runs it. It starts in the current folder, and one that takes too long is ended,
with every process that it started.
"""

from __future__ import annotations

import io
import os
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hlotool.ir.arrays import Array
from hlotool.process import UserProgram
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle import NOTHING, Interest, Observation
from hlotool.text import print_module

#: the exit code of a program that cannot say; `git bisect` has the same
CANNOT_SAY = 125
#: bytes of a command's last words that are shown
_SHOWN = 300


@dataclass(frozen=True)
class Command(Interest):
    """A command that ends with 0 as long as the failure is there."""

    words: tuple[str, ...] = ()
    #: of the file: .hlo, or .mlir for StableHLO text
    suffix: str = ".hlo"
    time_limit: float = 60.0

    is_own_process: ClassVar[bool] = True

    @property
    def takes_arguments(self) -> bool:
        """Return True if the command gets a file of arguments."""
        return any("{args}" in word for word in self.words)

    def describe(self) -> str:
        return f"`{shlex.join(self.words)}` ends with 0"

    def look(self, candidate: Candidate) -> Observation:
        with tempfile.TemporaryDirectory(prefix="hlotool-reduce-") as folder:
            file = Path(folder) / f"candidate{self.suffix}"
            file.write_bytes(form_of(candidate, self.suffix))
            arguments = Path(folder) / "candidate.npz"
            if self.takes_arguments:
                arguments.write_bytes(arrays_as_bytes(candidate.rows[0] if candidate.rows else ()))
            words = [w.replace("{args}", str(arguments)).replace("{}", str(file)) for w in self.words]
            if not any("{}" in w for w in self.words):
                words.append(str(file))
            return self._answer(words)

    def _answer(self, words: list[str]) -> Observation:
        with tempfile.TemporaryFile() as said:
            try:
                code = UserProgram(words, said).wait(self.time_limit)
            except OSError as error:
                return Observation((), f"{words[0]}: {error.strerror}", is_unknown=True)
            if code is None:
                return Observation((), f"{words[0]} takes more than {self.time_limit:g} s", is_unknown=True)
            said.seek(0, os.SEEK_END)
            said.seek(max(0, said.tell() - _SHOWN))
            last = said.read().decode(errors="replace").strip()
        if code == 0:
            return Observation(("exit code 0",), last)
        return Observation((), last, is_unknown=True) if code == CANNOT_SAY else NOTHING


def words_of(text: str) -> tuple[str, ...]:
    """A command line as words. Raises ValueError for one that does not end, or that is empty."""
    words = tuple(shlex.split(text))
    if not words:
        raise ValueError("the command is empty")
    return words


def form_of(candidate: Candidate, suffix: str) -> bytes:
    """The module as a file of that name holds it: HLO text, StableHLO text, or bytecode. Raises HloError."""
    if suffix not in (".mlir", ".mlirbc"):
        return print_module(candidate.module).encode("utf-8", "surrogateescape")
    from hlotool.stablehlo import to_stablehlo

    made = to_stablehlo(candidate.module)
    if suffix == ".mlir":
        return (str(made) + "\n").encode()
    out = io.BytesIO()
    made.operation.write_bytecode(out)
    return out.getvalue()


def arrays_as_bytes(arrays: Sequence[Array]) -> bytes:
    """An .npz file of arg0, arg1, ..."""
    from hlotool.execution import npz_bytes

    return npz_bytes({f"arg{n}": a for n, a in enumerate(arrays)})
