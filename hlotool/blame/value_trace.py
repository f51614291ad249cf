"""Values of chosen instructions, by name: `w[3]/s` is s in what w calls for the fourth time.

Where w calls several computations with an s (a loop its condition and its body), the name says in which: `w[3]/body/s`.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import Any

from hlotool.blame.cuts import part
from hlotool.diagnostics import HloError
from hlotool.execution import ARGUMENTS, Executor, Moment, Path, Program, RunningCall, evaluate_program, rows_of
from hlotool.ir import HloComputation, HloInstruction
from hlotool.ir.arrays import Array
from hlotool.passes.edit import is_cuttable


def trace(program: Program, arguments: Sequence[Sequence[Array]], executor: Executor,
          patterns: Sequence[str]) -> dict[str, Array]:
    """The values, on the first device, of the instructions whose names match a pattern (`dot*`, `while.3`).

    On the reference of every computation, at each time that it runs; other executors give those of the entry, as
    further results, which may keep a compiler from fusing them. Raises HloError where nothing matches.
    """
    found = (_on_reference if executor.name == "reference" else _on_executor)(program, arguments, executor, patterns)
    if not found:
        where = "module" if executor.name == "reference" else "entry computation"
        raise HloError.of(ARGUMENTS, f"no instruction of the {where} that gives an array is called "
                                     f"{' or '.join(patterns)}",
                          filename=program.filename)
    return found


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern.removeprefix("%")) for pattern in patterns)


class TracedNames:
    """Names of the values of one module: an instruction's, behind the calls that lead there."""

    def __init__(self) -> None:
        self._shared: dict[tuple[HloInstruction, HloComputation], frozenset[str]] = {}

    def name(self, path: Path, instruction: HloInstruction) -> str:
        """The name of an instruction's value in a call."""
        words: list[str] = []
        above: RunningCall | None = None
        for call in path:
            words.append(f"{self._own(above, call.caller)}[{call.iteration}]/")
            above = call
        return "".join(words) + self._own(above, instruction)

    def _own(self, call: RunningCall | None, instruction: HloInstruction) -> str:
        """The name in a computation, with that of the computation where another one of the same caller has it too."""
        if call is None or instruction.name not in self._shared_names(call):
            return instruction.name
        return f"{call.computation.name}/{instruction.name}"

    def _shared_names(self, call: RunningCall) -> frozenset[str]:
        key = (call.caller, call.computation)
        if key not in self._shared:
            own = {i.name for i in call.computation.instructions}
            others = {i.name for c in call.caller.called_computations() if c is not call.computation
                      for i in c.instructions}
            self._shared[key] = frozenset(own & others)
        return self._shared[key]


def _on_reference(program: Program, arguments: Sequence[Sequence[Array]], executor: Executor,
                  patterns: Sequence[str]) -> dict[str, Array]:
    found: dict[str, Array] = {}
    names = TracedNames()

    def watch(moment: Moment) -> Any:
        if not moment.device and moment.instruction.shape.is_array and _matches(moment.instruction.name, patterns):
            found[names.name(moment.path, moment.instruction)] = moment.value
        return moment.value

    evaluate_program(program, arguments, watch)
    return found


def _on_executor(program: Program, arguments: Sequence[Sequence[Array]], executor: Executor,
                 patterns: Sequence[str]) -> dict[str, Array]:
    entry = program.module.entry
    chosen = [i for i in entry.instructions if i.shape.is_array and is_cuttable(i) and _matches(i.name, patterns)]
    if not chosen:
        return {}
    whole = part(program, entry, chosen)
    values = executor.run(whole.program, [rows_of(entry.parameters(), whole.fed, arguments)])[0][0]
    return {i.name: value for i, value in zip(chosen, values, strict=True)}
