"""Tests of interest that look at the module alone, in this process; and executors with a fault."""

from __future__ import annotations

import itertools
import pathlib
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hlotool.ir import HloInstruction
from hlotool.process import close_children
from hlotool.reduction import Candidate, Interest, Observation

NOTHING = Observation()


@dataclass(frozen=True)
class Fed(Interest):
    """An instruction of one opcode takes what one of another opcode gives, in any computation."""

    user: str = ""
    operand: str = ""
    is_own_process: ClassVar[bool] = True

    def describe(self) -> str:
        return f"{self.operand} feeds {self.user}"

    def look(self, candidate: Candidate) -> Observation:
        found = any(i.opcode == self.user and any(o.opcode == self.operand for o in i.operands)
                    for i in candidate.module.instructions())
        return Observation(("fed",), "fed") if found else NOTHING


@dataclass(frozen=True)
class Holds(Interest):
    """The module has instructions of all those opcodes."""

    opcodes: tuple[str, ...] = ()
    is_own_process: ClassVar[bool] = True

    def describe(self) -> str:
        return f"holds {', '.join(self.opcodes)}"

    def look(self, candidate: Candidate) -> Observation:
        here = {i.opcode for i in candidate.module.instructions()}
        return Observation(("holds",), "holds") if here.issuperset(self.opcodes) else NOTHING


@dataclass(frozen=True)
class SetAnew(Interest):
    """A loop's body hands on a value that it does not take from its state, and another one negated."""

    is_own_process: ClassVar[bool] = True

    def describe(self) -> str:
        return "an f32 that a body sets anew"

    def look(self, candidate: Candidate) -> Observation:
        bodies = [i.attributes["body"] for i in candidate.module.instructions() if i.opcode == "while"]
        ends = [[o for o in b.root.operands if o.shape.element_type == "f32"] for b in bodies
                if b.root.opcode == "tuple"]
        found = any(any(o.opcode not in ("get-tuple-element", "parameter", "negate") for o in end) and any(
            o.opcode == "negate" and o.operands[0].opcode == "get-tuple-element" for o in end) for end in ends)
        return Observation(("anew",), "anew") if found else NOTHING


@dataclass(frozen=True)
class Sometimes(Interest):
    """The same, but it shows in two of three askings only."""

    opcodes: tuple[str, ...] = ()
    turns: Any = field(default_factory=itertools.count, compare=False)
    is_own_process: ClassVar[bool] = True

    def describe(self) -> str:
        return "sometimes"

    def look(self, candidate: Candidate) -> Observation:
        return NOTHING if next(self.turns) % 3 == 1 else Holds(self.opcodes).look(candidate)


EXECUTORS = '''
import os

import numpy as np

from hlotool.execution import Executor, evaluate_program


class Wrong(Executor):
    """The reference, but for the square root of what was squared."""

    names = ("wrong",)

    def compute(self, work, argument_sets, infeed):
        def rebind(instruction, function, keywords):
            if instruction.opcode != "sqrt" or instruction.operands[0].opcode != "multiply":
                return function, keywords
            return lambda x, **named: function(x, **named) + np.asarray(1, x.dtype), keywords

        return [evaluate_program(work, rows, rebind=rebind) for rows in argument_sets]


class Crashing(Executor):
    """The reference, which ends its process where it meets a reverse."""

    names = ("crashing",)

    def compute(self, work, argument_sets, infeed):
        if any(i.opcode == "reverse" for i in work.module.instructions()):
            os.write(2, b"F1121 compiler.cc:17] Check failed: rank < 7")
            os._exit(134)
        return [evaluate_program(work, rows) for rows in argument_sets]
'''


def install_executors(folder: pathlib.Path, monkeypatch: Any) -> None:
    """Make the executors `wrong` and `crashing` known in this process and its children."""
    (folder / "planted_executors.py").write_text(EXECUTORS)
    about = folder / "planted-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[hlotool.executors]\nwrong = planted_executors:Wrong\ncrashing = planted_executors:Crashing\n")
    monkeypatch.syspath_prepend(folder)
    close_children()  # those that run know other folders


def named(module: Any, opcode: str) -> list[HloInstruction]:
    """The instructions of an opcode."""
    return [i for i in module.instructions() if i.opcode == opcode]
