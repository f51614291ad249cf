"""A program under test: its text, its arguments, and where it comes from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hlotool.ir.arrays import Array

#: arguments of every device, leaf by leaf
Rows: TypeAlias = list[list[Array]]


@dataclass(frozen=True, eq=False)
class Subject:
    """A program with the arguments that it is run on; it follows from the seed, the batch and its number."""

    #: the generator: operation, composed, rule, dump, rewritten
    generator: str
    #: what it is about: gather/f32, a rule's text, a dump's file
    name: str
    text: str
    rows: Rows
    #: the rule of a simplifier whose left side it holds
    rule: str = ""
    #: of one operation: its element type, and what is special about it
    opcode: str = ""
    element_type: str = ""
    edge: str = ""
    #: what this one is a rewriting of, which gives the same bits; empty: nothing
    original: str = ""
    original_rows: Rows = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """Sources and questions of a campaign."""

    seed: int = 0
    executor: str = "pjrt:cpu"
    #: generators by name; each batch holds some of each
    generators: tuple[str, ...] = ("operation", "composed", "rule", "rewritten")
    #: files whose sections are mutated
    dumps: tuple[str, ...] = ()
    #: programs in a batch
    size: int = 64
    #: seconds for one run
    time_limit: float = 10.0
    #: also programs that are known to end the executor's process
    with_known: bool = False


def dice_of(plan: Plan, batch: int, number: int) -> random.Random:
    """The dice of one program: the same for the same plan, whoever throws them and when."""
    return random.Random(f"{plan.seed}/{batch}/{number}")


def copied(rows: Sequence[Sequence[Array]]) -> Rows:
    """Rows as lists of their own."""
    return [list(row) for row in rows]
