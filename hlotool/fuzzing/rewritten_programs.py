"""Programs rewritten by what changes no bit (wrappings.py): a compiler must give the same for both."""

from __future__ import annotations

import random
from dataclasses import replace

from hlotool.fuzzing.metamorphic import can_outline, outline, wrap_value
from hlotool.fuzzing.test_program import Rows, Subject, copied
from hlotool.ir import HloInstruction, HloModule
from hlotool.ir.arrays import Array
from hlotool.passes.edit import Editing, alone
from hlotool.passes.read import parse


def wrapped(module: HloModule, rows: Rows, dice: random.Random, count: int) -> int:
    """Wrap so many instructions of the entry, in place; how many were. `rows` get the values of what is added."""
    done = 0
    for _ in range(count):
        choices = [i for i in module.entry.instructions if i.opcode not in ("tuple", "constant")]
        if not choices:
            break
        target = dice.choice(choices)
        made = _piece(target, dice)
        if made is None:
            continue
        piece, operands, added = made
        Editing(module).splice(target, piece, operands)
        for row in rows:
            row.extend(added)
        done += 1
    return done


def _piece(target: HloInstruction, dice: random.Random
           ) -> tuple[HloModule, tuple[HloInstruction, ...], list[Array]] | None:
    if target.opcode != "parameter" and can_outline(target) and dice.random() < 0.5:
        piece, added = outline(target, dice)
        own, inner = alone(target, "inner"), piece["inner"]
        inner.instructions, inner.root = own.instructions, own.root
        return piece, target.operands, added
    found = wrap_value(target, dice)
    return None if found is None else (found[0], (target,), found[1])


def rewriting_of(subject: Subject, dice: random.Random) -> Subject | None:
    """A rewriting of a program that gives the same bits; None where nothing in it can be wrapped."""
    module, rows = parse(subject.text, "rewritten"), copied(subject.rows)
    if not wrapped(module, rows, dice, dice.randint(1, 3)):
        return None
    return replace(subject, generator="rewritten", text=str(module), rows=rows, original=subject.text,
                   original_rows=subject.rows)
