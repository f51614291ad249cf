"""A folder that holds a reduction under way, so that a later one goes on where this one ended.

    reduction.json   the original's key, the test, and the best candidate's size
    best.hlo         the best candidate
    best.npz         its arguments: device0_arg0, device0_arg1, ...
    answers.jsonl    what was asked: a line for each candidate's key
"""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution import Program, storable
from hlotool.passes.read import parse
from hlotool.reduction.candidate import Array, Candidate
from hlotool.reduction.codes import OTHER_STATE
from hlotool.reduction.oracle import Interest
from hlotool.reduction.reducer import Options
from hlotool.text import print_module

#: writes a file whole or not at all
Writer = Callable[[Path, bytes], None]
#: what a folder holds, the first file first
_FILES = ("reduction.json", "best.hlo", "best.npz", "answers.jsonl")
#: bytes that each of them may have
_MOST = 1 << 30


@dataclass
class State:
    """The folder; `write` puts files there."""

    folder: Path
    write: Writer

    def resume(self, original: Candidate, test: Interest, options: Options) -> None:
        """Let the options know what an earlier reduction found, and keep what this one finds.

        Raises HloError (R130) where the folder holds another reduction, or files that are none of a reduction's.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._require_own_files()
        about = {"original": original.key, "test": repr(test)}
        file = self.folder / "reduction.json"
        if file.exists():
            self._require_same(file, about)
            options.known.update(self._answers())
            options.resumed = self._best(original)
        else:
            self.write(file, (json.dumps(about, indent=2) + "\n").encode())
        options.keep, options.hear_answer = self._keep, self._note

    def _require_own_files(self) -> None:
        """Whatever has one of our names is ours to write over: no link, no pipe, and never without a description."""
        for name in _FILES:
            try:
                found = os.lstat(self.folder / name)
            except FileNotFoundError:
                other = next((n for n in _FILES if os.path.lexists(self.folder / n)), "")
                if name == _FILES[0] and other:
                    raise self._refused(f"the folder holds {other}, and it is no folder of a reduction") from None
                continue
            if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
                raise self._refused(f"{name} in the folder is no plain file of its own")
            if found.st_size > _MOST:
                raise self._refused(f"{name} in the folder is too large")

    def _refused(self, why: str) -> HloError:
        return HloError([Diagnostic(OTHER_STATE, why, filename=str(self.folder), help="give --state another folder")])

    def _require_same(self, file: Path, about: dict[str, str]) -> None:
        try:
            found = json.loads(file.read_text("utf-8"))
        except (ValueError, OSError, RecursionError):
            found = None
        if not isinstance(found, dict) or any(found.get(k) != v for k, v in about.items()):
            raise self._refused("the folder belongs to the reduction of another module, of other arguments, or with "
                                "another test")

    def _answers(self) -> dict[str, bool]:
        found: dict[str, bool] = {}
        file = self.folder / "answers.jsonl"
        if file.exists():
            for line in file.read_text("utf-8", "replace").splitlines():
                try:  # the last line may have been cut short
                    key, answer = json.loads(line)
                except (ValueError, TypeError, RecursionError):
                    continue
                if isinstance(key, str) and isinstance(answer, bool):
                    found[key] = answer
        return found

    def _best(self, original: Candidate) -> Candidate | None:
        file = self.folder / "best.hlo"
        if not file.exists():
            return None
        try:
            module = parse(file.read_text("utf-8", "surrogateescape"), str(file))
            rows = None
            if original.rows is not None:
                rows = read_rows((self.folder / "best.npz").read_bytes(), Program(module))
        except (HloError, OSError, ValueError, KeyError, RecursionError):
            return None
        return Candidate(module, rows)

    def _keep(self, candidate: Candidate) -> None:
        if candidate.rows is not None:
            self.write(self.folder / "best.npz", rows_as_bytes(candidate.rows))
        self.write(self.folder / "best.hlo", print_module(candidate.module).encode("utf-8", "surrogateescape"))

    def _note(self, key: str, answer: bool) -> None:
        with (self.folder / "answers.jsonl").open("a", encoding="utf-8") as out:
            out.write(json.dumps([key, answer]) + "\n")


def rows_as_bytes(rows: Sequence[Sequence[Array]]) -> bytes:
    """An .npz file with the arguments of every device."""
    import numpy as np

    out = io.BytesIO()
    arrays = {f"device{d}_arg{n}": storable(a) for d, row in enumerate(rows) for n, a in enumerate(row)}
    np.savez(out, allow_pickle=True, **arrays)
    return out.getvalue()


def read_rows(data: bytes, program: Program) -> list[list[Array]]:
    """The arguments of such a file for a program. Raises HloError, ValueError or KeyError where it holds others."""
    from hlotool.execution import fitted, read_array_file

    arrays = read_array_file(data, "arguments.npz")
    return [fitted(program, [_typed(arrays[f"device{d}_arg{n}"], shape.dtype.numpy)
                             for n, shape in enumerate(program.parameters)]) for d in range(program.devices)]


def _typed(array: Array, dtype: Array) -> Array:
    """NumPy stores bf16 and narrow floats as raw bytes; they take their type again."""
    return array.view(dtype) if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize else array
