"""The reference: the NumPy functions of hlotool.ops, instruction by instruction."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.execution.devices import fed
from hlotool.execution.evaluate import evaluate_program
from hlotool.execution.executor import Executor, PerDevice, Results, library_versions
from hlotool.execution.program import Program
from hlotool.execution.run_limits import run_limit
from hlotool.execution.sizes import MOST_DEVICES
from hlotool.ops import is_any_foreign


class ReferenceExecutor(Executor):
    """Evaluates each instruction, on all devices in step."""

    names = ("reference", "numpy")
    most_devices = MOST_DEVICES

    def runs_here(self, program: Program) -> bool:
        """Where it is asked for, and where somebody declared operations of his own: no child knows those."""
        return self.options.in_process or is_any_foreign(program.module.instructions())

    def compute(self, work: Program, argument_sets: Sequence[PerDevice], infeed: PerDevice) -> Results:
        with run_limit(self.options.time_limit):
            return [evaluate_program(work, arguments, queues=fed(infeed)) for arguments in argument_sets]

    def writable(self) -> tuple[str, ...]:
        return ()

    def facts(self) -> dict[str, str]:
        return {**library_versions(), "platform": "numpy"}
