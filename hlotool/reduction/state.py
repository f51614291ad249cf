"""A folder that holds a reduction under way, so that a later one goes on where this one ended.

    reduction.json   the original's key, the test, and the best candidate's size
    best.hlo         the best candidate
    best.npz         its arguments: device0_arg0, device0_arg1, ...
    answers.jsonl    what was asked: a line for each candidate's key
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from hlotool.diagnostics import HloError
from hlotool.execution import Program, npz_bytes
from hlotool.ir.arrays import Array
from hlotool.passes.read import parse
from hlotool.process import OwnFiles
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.codes import OTHER_STATE
from hlotool.reduction.oracle import Interest
from hlotool.reduction.reducer import ReduceOptions
from hlotool.text import print_module

#: names of the files of a folder, the description first
_FILES = ("reduction.json", "best.hlo", "best.npz", "answers.jsonl")


class State:
    """The folder of a reduction."""

    def __init__(self, folder: Path) -> None:
        self.files = OwnFiles(folder, OTHER_STATE, "give --state another folder")

    def resume(self, original: Candidate, test: Interest, options: ReduceOptions) -> None:
        """Let the options know what an earlier reduction found, and keep what this one finds.

        Raises HloError (R130) where the folder holds another reduction, or files that are none of a reduction's.
        """
        self._require_own_files()
        about = {"original": original.key, "test": repr(test)}
        if self.files.read(_FILES[0]) is not None:
            found = self.files.record(_FILES[0])
            if not isinstance(found, dict) or any(found.get(k) != v for k, v in about.items()):
                raise self.files.refused("the folder belongs to the reduction of another module, of other arguments, "
                                         "or with another test")
            options.known.update(self._answers())
            options.resumed = self._best(original)
        else:
            self.files.write(_FILES[0], (json.dumps(about, indent=2) + "\n").encode())
        options.keep, options.hear_answer = self._keep, self._note

    def _require_own_files(self) -> None:
        """Raises HloError where a name is there and no file of ours, or where there is no description of the others."""
        self.files.require(*_FILES)
        there = set(self.files.names()) & set(_FILES)
        if there and _FILES[0] not in there:
            raise self.files.refused(f"the folder holds {min(there)}, and it is no folder of a reduction")

    def _answers(self) -> dict[str, bool]:
        return {row[0]: row[1] for row in self.files.records("answers.jsonl") if isinstance(row, list)
                and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], bool)}

    def _best(self, original: Candidate) -> Candidate | None:
        text = self.files.read("best.hlo")
        if text is None:
            return None
        try:
            module = parse(text.decode("utf-8", "surrogateescape"), str(self.files.path / "best.hlo"))
            rows = None
            if original.rows is not None:
                rows = read_rows(self.files.read("best.npz") or b"", Program(module))
        except (HloError, OSError, ValueError, KeyError, RecursionError):
            return None
        return Candidate(module, rows)

    def _keep(self, candidate: Candidate) -> None:
        if candidate.rows is not None:
            self.files.write("best.npz", rows_as_bytes(candidate.rows))
        self.files.write("best.hlo", print_module(candidate.module).encode("utf-8", "surrogateescape"))

    def _note(self, key: str, answer: bool) -> None:
        self.files.append("answers.jsonl", [key, answer])


def rows_as_bytes(rows: Sequence[Sequence[Array]]) -> bytes:
    """Return an .npz file with the arguments of every device."""
    return npz_bytes({f"device{d}_arg{n}": a for d, row in enumerate(rows) for n, a in enumerate(row)})


def read_rows(data: bytes, program: Program) -> list[list[Array]]:
    """Return the arguments of such a file for a program. Raises HloError, ValueError or KeyError for others."""
    from hlotool.execution import fitted, read_array_file, typed

    arrays = read_array_file(data, "arguments.npz")
    return [fitted(program, [typed(arrays[f"device{d}_arg{n}"], shape)
                             for n, shape in enumerate(program.parameters)]) for d in range(program.devices)]
