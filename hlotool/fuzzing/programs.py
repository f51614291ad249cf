"""The generators by name, and the programs of a batch."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from hlotool.diagnostics import HloError
from hlotool.fuzzing.drawn_programs import composed_program, operation_program
from hlotool.fuzzing.dump_programs import dump_program, section_program
from hlotool.fuzzing.open_values import normal_rows
from hlotool.fuzzing.rewritten_programs import rewriting_of
from hlotool.fuzzing.rule_programs import rule_program
from hlotool.fuzzing.sharded_programs import sharded
from hlotool.fuzzing.test_program import Plan, Subject, dice_of
from hlotool.ir import HloModule

#: element types that executors lack: StableHLO has no integers of one bit, XLA no floats of six
_ABSENT = re.compile(r"\b(f6e2m3fn|f6e3m2fn|s1|u1)\[")
#: throws of the dice for one program at most
_TRIES = 12


def _rewritten(dice: random.Random, plan: Plan) -> Subject | None:
    """A rewriting of what another generator draws."""
    others = [g for g in plan.generators if g not in ("rewritten", "sharded")] or ["operation", "rule"]
    first = GENERATORS[dice.choice(others)](dice, plan)
    return rewriting_of(first, dice) if first is not None else None


def _sharded(dice: random.Random, plan: Plan) -> Subject | None:
    """Draw shardings of what another generator draws; rules are left to their own, which needs no devices."""
    others = [g for g in plan.generators if g in ("operation", "composed", "dump")] or ["operation", "composed"]
    first = GENERATORS[dice.choice(others)](dice, plan)
    return sharded(first, dice) if first is not None else None


#: name -> what draws a program; None: the dice showed none
GENERATORS: Mapping[str, Callable[[random.Random, Plan], Subject | None]] = {
    "operation": lambda dice, plan: operation_program(dice),
    "composed": lambda dice, plan: composed_program(dice),
    "rule": lambda dice, plan: rule_program(dice),
    "dump": lambda dice, plan: dump_program(dice, plan.dumps),
    "rewritten": _rewritten,
    "sharded": _sharded,
}


def programs_of(plan: Plan, batch: int) -> list[Subject]:
    """The programs of a batch: some of each generator."""
    draws = [GENERATORS[name] for name in plan.generators]
    return _drawn(plan, batch, lambda dice, number: draws[number % len(draws)](dice, plan))


def programs_of_module(plan: Plan, module: HloModule, name: str) -> list[Subject]:
    """As many programs as a batch has, or fewer: mutated sections of a module that runs (execution.Program)."""
    return _drawn(plan, 0, lambda dice, _: section_program(dice, module, name))


def _drawn(plan: Plan, batch: int, draw: Callable[[random.Random, int], Subject | None]) -> list[Subject]:
    found = []
    for number in range(plan.size):
        dice = dice_of(plan, batch, number)
        for _ in range(_TRIES):
            try:
                made = draw(dice, number)
            except HloError:  # a recipe drew what is no module
                continue
            if made is not None and not _ABSENT.search(made.text):
                found.append(replace(made, rows=normal_rows(made.rows), original_rows=normal_rows(made.original_rows)))
                break
    return found
