"""The executors of this house."""

from collections.abc import Sequence
from typing import Any

from hlotool.execution import Executor, Program, evaluate_program


class Halves(Executor):
    """The reference with its results halved: an executor with a fault, to see who notices."""

    names = ("halves",)

    def runs_here(self, program: Program) -> bool:
        """Return True: it needs no child process, which native code does."""
        return True

    def compute(self, work: Program, argument_sets: Sequence[Any], infeed: Any) -> list[list[list[Any]]]:
        """Return the results by set of arguments, device and leaf."""
        return [[[leaf / 2 for leaf in leaves] for leaves in evaluate_program(work, a)] for a in argument_sets]
