"""One edit in a dump's text: what blame between two modules has to find.

    operation   another one of the same shape          constant    another number
    operands    the two of a difference, exchanged     slice       moved by one place, of the same size
    direction   of a comparison, turned round          iota        along another dimension
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from planted_faults import large

import hlotool
from hlotool.blame.reference_run import FOLDS
from hlotool.execution import Program, evaluate_program
from hlotool.ir import HloComputation, HloInstruction
from hlotool.numerics import Known, judge

SWAPPED = {"add": "subtract", "subtract": "add", "multiply": "add", "divide": "multiply", "maximum": "minimum",
           "minimum": "maximum", "exponential": "tanh", "tanh": "sine", "sine": "cosine", "cosine": "sine",
           "negate": "abs", "abs": "negate", "sqrt": "tanh", "rsqrt": "tanh", "log": "tanh", "logistic": "tanh",
           "and": "or", "or": "and", "xor": "or", "floor": "ceil", "log-plus-one": "tanh"}
TURNED = {"LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT", "EQ": "NE", "NE": "EQ"}


def operation(i: HloInstruction, line: str) -> str:
    return re.sub(rf"(\s){i.opcode}\(", rf"\1{SWAPPED[i.opcode]}(", line, count=1) if i.opcode in SWAPPED else line


def operands(i: HloInstruction, line: str) -> str:
    if i.opcode not in ("subtract", "divide", "select") or len({o.shape.dims for o in i.operands[-2:]}) > 1:
        return line
    start = line.index(f"{i.opcode}(")
    end = line.index(")", start)
    first, second = (re.compile(rf"%?{re.escape(o.name)}(?![\w.\-])") for o in i.operands[-2:])
    one, two = first.search(line, start, end), second.search(line, start, end)
    if i.operands[-1] is i.operands[-2] or one is None or two is None or one.end() > two.start():
        return line
    return line[:one.start()] + two[0] + line[one.end():two.start()] + one[0] + line[two.end():]


def direction(i: HloInstruction, line: str) -> str:
    return re.sub(r"direction=(\w\w)", lambda m: "direction=" + TURNED[m[1]], line) if i.opcode == "compare" else line


def constant(i: HloInstruction, line: str) -> str:
    held = re.search(r"constant\(([-+.\w]+)\)", line)
    if i.opcode != "constant" or held is None or "inf" in held[1] or "nan" in held[1]:
        return line
    if held[1] in ("true", "false"):
        number = {"true": "false", "false": "true"}[held[1]]
    else:
        number = repr(float(held[1]) * 1.5 + 0.25) if i.shape.dtype.is_floating else str(int(held[1]) + 1)
    return line[:held.start(1)] + number + line[held.end(1):]


def shifted(i: HloInstruction, line: str) -> str:
    found = re.search(r"slice=\{([^}]*)\}", line)
    if i.opcode != "slice" or found is None:
        return line
    parts = re.findall(r"\[[\d:]+\]", found[1])
    for number, (part, size) in enumerate(zip(parts, i.operands[0].shape.dims, strict=True)):
        low, high, *stride = map(int, part[1:-1].split(":"))
        step = 1 if high < size else -1
        if low + step >= 0 and high + step <= size:
            parts[number] = "[" + ":".join(map(str, (low + step, high + step, *stride))) + "]"
            return line[:found.start(1)] + ", ".join(parts) + line[found.end(1):]
    return line


def iota(i: HloInstruction, line: str) -> str:
    return re.sub(r"iota_dimension=(\d+)", lambda m: f"iota_dimension={(int(m[1]) + 1) % i.shape.rank}",
                  line) if i.opcode == "iota" and i.shape.rank > 1 else line


EDITS: tuple[Callable[[HloInstruction, str], str], ...] = (operation, operands, direction, constant, shifted, iota)


def edited(program: Program, instruction: HloInstruction, edit: Callable[[HloInstruction, str], str]) -> Program | None:
    """The program with that edit in the instruction's line; None where it has nothing to edit."""
    source = program.module.source
    assert source is not None
    lines = source.text.split("\n")
    number = program.module.position(instruction).line - 1
    if not re.match(rf"\s*(ROOT )?%?{re.escape(instruction.name)} = ", lines[number]):
        return None
    line = edit(instruction, lines[number])
    if line == lines[number]:
        return None
    return Program(hlotool.parse("\n".join([*lines[:number], line, *lines[number + 1:]]), "edited.hlo"))


def edits(program: Program, rows, count: int, seed: int) -> Iterator[tuple[HloComputation, HloInstruction, Program]]:
    """Edits that change a result by a thousandth and more, of many opcodes, half of them in called computations."""
    places: dict[HloInstruction, HloComputation] = {}

    def watch(moment):
        if not any(call.caller.opcode in FOLDS for call in moment.path):
            places[moment.instruction] = moment.path[-1].computation if moment.path else program.module.entry
        return moment.value

    right = evaluate_program(program, rows, watch)
    generator, met, done = random.Random(seed), Counter(), 0
    every, called = defaultdict(list), defaultdict(list)
    for instruction, computation in places.items():
        for found in (every, called) if computation is not program.module.entry else (every,):
            found[instruction.opcode].append((computation, instruction))
    for _ in range(60 * count):
        if done == count:
            return
        opcodes = called if called and done % 2 else every
        computation, instruction = generator.choice(opcodes[generator.choice(sorted(opcodes))])
        try:
            made = (edited(program, instruction, e) for e in generator.sample(EDITS, len(EDITS)))
            changed = next((m for m in made if m is not None), None)
            wrong = evaluate_program(changed, rows) if changed is not None else right
        except hlotool.HloError:  # the edit has no value
            continue
        if met[instruction.opcode] < max(2, count // 3) and any(
                judge(w, Known(r)).is_wrong and large(w, r, 1e-3) for ws, rs in zip(wrong, right, strict=True)
                for w, r in zip(ws, rs, strict=True)):
            met[instruction.opcode] += 1
            done += 1
            yield computation, instruction, changed
