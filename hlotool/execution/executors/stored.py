"""Values from a file as an executor: what a device of the user's own gave, saved as .npz.

An HloSnapshot (.pb, .pb.gz) gives the result that it records. The arrays of an .npz are taken by name where the
program's results have names there (result0, result1, ... as `hlotool run --output` writes them), else in the order of
their names; the same for every set of arguments, so give those too. Arrays with names of instructions are compared
with what these give (hlotool.blame.stored_values).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hlotool.execution.array_files import read_array_file, typed
from hlotool.execution.executor import Executor, PerDevice, Results
from hlotool.execution.program import Program
from hlotool.ir.arrays import Array
from hlotool.process import Refusal
from hlotool.text.folder_files import open_regular


class Stored(Executor):
    """Gives what a file holds."""

    names = ("stored",)
    parameter = "FILE"
    reads_files = True
    computes = False

    def runs_here(self, program: Program) -> bool:
        """Always: nothing is computed."""
        return True

    def compute(self, work: Program, argument_sets: Sequence[PerDevice], infeed: PerDevice) -> Results:
        arrays = self._arrays(work)
        count = len(work.results)
        if len(arrays) not in (count, count * work.devices):
            raise Refusal("unsupported", f"{self.argument} holds {len(arrays)} arrays, the module has {count} results")
        rows = [arrays[d * count:(d + 1) * count] if len(arrays) > count else arrays for d in range(work.devices)]
        return [rows for _ in argument_sets]

    def _recorded(self) -> list[Array] | None:
        """The result of the run that an HloSnapshot holds; None for other files."""
        from hlotool.proto import looks_like_proto, read_snapshot
        from hlotool.text.input_files import bytes_of, uncompressed

        path = Path(self.argument)
        if not path.is_file():
            return None
        with open_regular(path) as stream:
            head = stream.read(4096)
        if not head.startswith(b"\x1f\x8b") and not looks_like_proto(head):
            return None
        data = uncompressed(bytes_of(path), self.argument)
        if not looks_like_proto(data):
            return None
        found = read_snapshot(data, self.argument)
        if found is None or found.result is None:
            raise Refusal("unsupported", f"{self.argument} holds no recorded result")
        return list(found.result)

    def stored_arrays(self) -> dict[str, Any] | None:
        return None if self._recorded() is not None else read_array_file(self.argument)

    def _arrays(self, work: Program) -> list[Array]:
        if (recorded := self._recorded()) is not None:
            return recorded
        held = read_array_file(self.argument)
        names = [f"result{n}" for n in range(len(held))]
        arrays = [held[n] for n in (names if set(names) == set(held) else sorted(held))]
        # NumPy stores bf16 and the small floats as raw bytes.
        shapes = list(work.results) * (len(arrays) // max(1, len(work.results)))
        return [typed(a, s) for a, s in zip(arrays, shapes, strict=False)]
