"""Where a value was made, for people and for programs.

    div (in b1, called by y), iteration 5 of w, train.py:53
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypedDict

from hlotool.diagnostics import HloError, Origin
from hlotool.execution import UNSUPPORTED, Path, Program, RunningCall, leaves, located
from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.passes.origins import origin_of


class CallRecord(TypedDict):
    """A call on the way from the entry to an instruction."""

    instruction: str
    computation: str
    iteration: int | None


class PlaceRecord(TypedDict):
    """An instruction, its place in the text, and the line of the program that made it; null where nothing is named."""

    instruction: str | None
    opcode: str | None
    shape: str | None
    computation: str | None
    iteration: Annotated[int | None, "the round of the innermost loop, from 0"]
    calls: Annotated[list[CallRecord] | None, "from the entry to the computation"]
    hlo_file: str | None
    hlo_line: int | None
    hlo_column: int | None
    file: Annotated[str | None, "of the program that made the module"]
    line: int | None
    source: Annotated[str | None, "file:line of that program"]
    function: str | None
    op_name: str | None


def no_place() -> PlaceRecord:
    """Return the record of no instruction."""
    return {"instruction": None, "opcode": None, "shape": None, "computation": None, "iteration": None, "calls": None,
            "hlo_file": None, "hlo_line": None, "hlo_column": None, "file": None, "line": None, "source": None,
            "function": None, "op_name": None}


@dataclass(frozen=True)
class InstructionPlace:
    """An instruction of a module, at one point of its run."""

    module: HloModule
    instruction: HloInstruction
    #: the calls that lead there
    path: Path = ()

    @property
    def computation(self) -> HloComputation:
        """The computation that holds the instruction."""
        return self.path[-1].computation if self.path else self.module.entry

    @property
    def iterations(self) -> tuple[int, ...]:
        """The iterations, from 0, of the loops around the instruction, the outermost first."""
        return tuple(call.iteration for call in self.path if is_loop(call.caller))

    @property
    def origin(self) -> Origin | None:
        """The line of the program: the instruction's own, that of a constant's user, or of the innermost call."""
        users = [u for u in self.computation.instructions if self.instruction in u.operands]
        # The text gives constants no lines.
        nearest = users[:1] if self.instruction.opcode == "constant" else []
        for instruction in (self.instruction, *nearest, *(call.caller for call in reversed(self.path))):
            found = origin_of(self.module, instruction)
            if found is not None and found.file:
                return found
        return origin_of(self.module, self.instruction)

    @property
    def line(self) -> tuple[int, int]:
        """Line and column in the module's text; 0 where it has none."""
        position = self.module.position(self.instruction)
        return position.line, position.column

    def __str__(self) -> str:
        return self.instruction.name + (f" in {self.computation.name}{self._way()}" if self.path else "")

    def _way(self) -> str:
        """`, iteration 5 of w`, one for each call, the innermost first."""
        steps = [f"iteration {c.iteration} of {c.caller.name}" if is_loop(c.caller) else f"called by {c.caller.name}"
                 for c in reversed(self.path)]
        return "".join(f", {step}" for step in steps)

    def as_json(self) -> PlaceRecord:
        """The fields of a report that say where; file and line are those of the program that made the module."""
        origin, (line, column) = self.origin, self.line
        iterations = self.iterations
        return {
            "instruction": self.instruction.name,
            "opcode": self.instruction.opcode,
            "shape": self.instruction.shape.text(layout=False),
            "computation": self.computation.name,
            "iteration": iterations[-1] if iterations else None,
            "calls": [{"instruction": c.caller.name, "computation": c.computation.name, "iteration": c.iteration}
                      for c in self.path],
            "hlo_file": self.module.source.filename if self.module.source else None,
            "hlo_line": line or None, "hlo_column": column or None,
            "file": origin.file if origin else None,
            "line": origin.line or None if origin else None,
            "source": f"{origin.file}:{origin.line}" if origin and origin.file and origin.line else None,
            "function": origin.function or None if origin else None,
            "op_name": origin.op_name or None if origin else None,
        }


def is_loop(instruction: HloInstruction) -> bool:
    """Return True if the computations that an instruction calls run more than once, one run after the other."""
    return instruction.opcode in ("while", "scan")


def path_into(module: HloModule, instruction: HloInstruction) -> Path:
    """Return the first calls that lead to an instruction, of the first rounds of loops."""
    callers, parents = module.callers(), module.parents()
    home, path = parents[instruction], tuple[RunningCall, ...]()
    while callers.get(home):
        caller = callers[home][0]
        path = (RunningCall(caller, home, 0), *path)
        home = parents[caller]
    return path


def result_maker(root: HloInstruction, result: int) -> HloInstruction:
    """The instruction that makes a leaf of the result; what only hands it on is passed by."""
    while root.opcode == "tuple":
        owners = [(o, n) for o in root.operands for n in range(sum(1 for _ in leaves(o.shape)))]
        if result >= len(owners):
            return root
        root, result = owners[result]
    if root.opcode == "get-tuple-element" and root.operands[0].opcode not in ("parameter", "get-tuple-element"):
        maker = root.operands[0]
        return result_maker(maker.operands[int(root.attributes["index"])], 0) if maker.opcode == "tuple" else maker
    return root


def require_partitioned(program: Program) -> None:
    """Raise HloError for a program with a region that is partitioned by hand, as its parts are no values of it."""
    border = program.manual_region
    if border is not None:
        raise HloError([located(program.module, border, UNSUPPORTED,
                                "no instruction is looked for beside a region that is partitioned by hand: give the "
                                "module after partitioning")])
