"""The shadow as an executor: the program at higher precision, its results rounded to their own types at the end."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.execution import Executor, PerDevice, Program, Results, library_versions, run_limit
from hlotool.ir.arrays import np
from hlotool.numerics.higher_precision import own, shadow_program


class Shadow(Executor):
    """Evaluates each instruction on f64, and those of f64 on more."""

    names = ("shadow",)

    def runs_here(self, program: Program) -> bool:
        """Where it is asked for."""
        return self.options.in_process

    def compute(self, work: Program, argument_sets: Sequence[PerDevice], infeed: PerDevice) -> Results:
        with run_limit(self.options.time_limit):
            return [[[own(leaf, shape) for leaf, shape in zip(row, work.results, strict=True)]
                     for row in shadow_program(work, arguments)] for arguments in argument_sets]

    def facts(self) -> dict[str, str]:
        return {**library_versions(), "platform": "numpy", "widest": np.dtype(np.longdouble).name}
