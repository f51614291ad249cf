"""Pairs of modules, the second with one fault planted in its instructions: what `isolate A B` has to name.

    faults    another operation, direction, constant; operands exchanged; a slice, a padding, an iota, a window moved; a
              loop that takes an old element along; branches exchanged; an update left out; an operand transposed
    ways      same        the first module itself with the fault
              renamed     the same with other names and no metadata
              optimised   what a compiler made of the first module, with the fault
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import planted_edits
from planted_edits import SWAPPED

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import Moment, Program, evaluate_program
from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule
from hlotool.numerics import Evidence
from hlotool.passes.edit import clone_module

TURNED_ROUND = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "NE", "NE": "EQ"}


def operation(_: HloModule, __: HloComputation, i: HloInstruction) -> bool:
    other = SWAPPED.get(i.opcode)
    if other is None or not (i.shape.dtype.is_floating or (other in SWAPPED.values() and i.opcode in (
            "add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor"))):
        return False
    i.opcode = other
    return True


def direction(_: HloModule, __: HloComputation, i: HloInstruction) -> bool:
    if i.opcode != "compare":
        return False
    i.attributes = i.attributes | {"direction": TURNED_ROUND[i.attributes["direction"]]}
    return True


def exchanged(_: HloModule, __: HloComputation, i: HloInstruction) -> bool:
    if i.opcode not in ("subtract", "divide", "select", "remainder", "power", "concatenate", "dot", "complex"):
        return False
    *rest, one, other = i.operands
    if (not rest and i.opcode == "select") or one is other or one.shape.dims != other.shape.dims:
        return False
    i.operands = (*rest, other, one)
    return True


def stale(m: HloModule, c: HloComputation, i: HloInstruction) -> bool:
    """The root of a loop's body takes an element of the state as it was."""
    if i is not c.root or i.opcode != "tuple" or not any(
            u.opcode == "while" and u.attributes["body"] is c for u in m.instructions()):
        return False
    [state] = c.parameters()
    old = {int(g.attributes["index"]): g for g in c.instructions
           if g.opcode == "get-tuple-element" and g.operands[0] is state}
    places = [n for n, o in enumerate(i.operands) if n in old and old[n] is not o and o.shape.dims]
    if not places:
        return False
    i.operands = (*i.operands[:places[-1]], old[places[-1]], *i.operands[places[-1] + 1:])
    return True


def branches(_: HloModule, __: HloComputation, i: HloInstruction) -> bool:
    if i.opcode != "conditional":
        return False
    if "branch_computations" in i.attributes:
        i.attributes = i.attributes | {"branch_computations": i.attributes["branch_computations"][::-1]}
    else:
        i.attributes = i.attributes | {"true_computation": i.attributes["false_computation"],
                                       "false_computation": i.attributes["true_computation"]}
    return True


def left_out(_: HloModule, __: HloComputation, i: HloInstruction) -> bool:
    """An update is left out: a copy of what it updates."""
    if i.opcode not in ("dynamic-update-slice", "scatter") or i.shape.is_tuple:
        return False
    i.opcode, i.operands, i.attributes = "copy", i.operands[:1], Attributes()
    return True


def transposed(_: HloModule, c: HloComputation, i: HloInstruction) -> bool:
    """A square operand is transposed first."""
    if i.opcode not in ("dot", "multiply", "add", "subtract"):
        return False
    one, *rest = i.operands
    if len(one.shape.dims) != 2 or one.shape.dims[0] != one.shape.dims[1] or one.opcode in ("broadcast", "constant"):
        return False
    made = HloInstruction("planted", "transpose", one.shape, (one,), Attributes({"dimensions": (1, 0)}))
    c.instructions.insert(c.instructions.index(i), made)
    i.operands = (made, *rest)
    return True


def moved(pattern: str, change: Callable[[re.Match[str]], str], *opcodes: str) -> Callable[[HloInstruction, str], str]:
    """An edit of the text of an instruction's line."""
    def edit(i: HloInstruction, line: str) -> str:
        return re.sub(pattern, change, line, count=1) if i.opcode in opcodes else line

    return edit


def _shifted_padding(found: re.Match[str]) -> str:
    low, high = int(found[2]), int(found[3])
    step = 1 if high > 0 else -1
    return f"{found[1]}{low + step}_{high - step}"


def _turned_list(found: re.Match[str]) -> str:
    numbers = found[2].split(",")
    return f"{found[1]}{','.join(numbers[::-1])}{found[3]}"


#: edits of lines, by name
LINES: dict[str, Callable[[HloInstruction, str], str]] = {
    "constant": planted_edits.constant, "slice": planted_edits.shifted, "iota": planted_edits.iota,
    "padding": moved(r"(padding=|pad=)(\d+)_(\d+)", _shifted_padding, "pad", "convolution", "reduce-window"),
    "contraction": moved(r"(lhs_contracting_dims=\{)(\d)(\})", lambda f: f"{f[1]}{1 - int(f[2]) % 2}{f[3]}", "dot"),
    "dimensions": moved(r"(dimensions=\{)([\d,]+)(\})", _turned_list, "transpose", "broadcast"),
    "reverse": moved(r"(dimensions=\{)(\d)(\})", lambda f: f"{f[1]}{1 - int(f[2]) % 2}{f[3]}", "reverse"),
}
#: edits of instructions, by name
EDITS: dict[str, Callable[[HloModule, HloComputation, HloInstruction], bool]] = {
    "operation": operation, "direction": direction, "exchanged": exchanged, "stale": stale, "branches": branches,
    "left out": left_out, "transposed": transposed}


@dataclass
class Planted:
    """A module with a fault, and the instructions that may be named for it."""

    name: str
    kind: str
    way: str
    left: Program
    right: Program
    rows: Sequence[Sequence[Any]]
    wanted: frozenset[str]
    #: instructions that call the computation of the fault
    enclosing: frozenset[str]


def planted(name: str, left: Program, base: Program, rows: Sequence[Sequence[Any]], way: str, count: int, seed: int
            ) -> Iterator[Planted]:
    """Yield pairs of `left` and `base` with one fault that shows; `base` is `left` or its optimised form."""
    generator, evidence = random.Random(seed), Evidence(left, rows)
    every = defaultdict(list)
    for place in _run(base, rows):
        every[place[1].opcode].append(place)
    met: Counter[str] = Counter()
    kinds = [*EDITS, *LINES]
    for attempt in range(12 * count):
        if met.total() == count:
            return
        kind = kinds[(attempt + seed) % len(kinds)]
        if met[kind] >= max(1, count // 5):
            continue
        for opcode in generator.sample(sorted(every), len(every)):
            place = generator.choice(every[opcode])
            made = faulty(base, *place, kind)
            if made is None:
                continue
            if shows(evidence, made, rows):
                guilty = [i.name for c in made.module.computations for i in c.instructions
                          if (c.name, i.name) == (place[0].name, place[1].name) or i.name == "planted"]
                module, names = renamed(made.module, generator) if way == "renamed" else (made.module, {})
                right = Program(hlotool.parse(str(module), f"{name}-{kind}.hlo"))
                wanted = frozenset(names.get(n, n) for n in guilty)
                yield Planted(name, kind, way, left, right, rows, wanted, _enclosing(right, wanted))
                met[kind] += 1
                break


def _run(program: Program, rows: Sequence[Sequence[Any]]) -> list[tuple[HloComputation, HloInstruction]]:
    """The instructions that run, those of reducers too, each with its computation."""
    found: dict[HloInstruction, HloComputation] = {}

    def watch(moment: Moment) -> Any:
        found[moment.instruction] = moment.path[-1].computation if moment.path else program.module.entry
        return moment.value

    evaluate_program(program, rows, watch, sees_parts=True)
    return [(c, i) for i, c in found.items() if i.shape.is_array or i.opcode in ("tuple", "conditional")]


def faulty(base: Program, computation: HloComputation, instruction: HloInstruction, kind: str) -> Program | None:
    """A copy with a fault in an instruction; None where it cannot be planted."""
    try:
        if kind in LINES:
            return planted_edits.edited(base, instruction, LINES[kind])
        copies: dict[Any, Any] = {}
        module = clone_module(base.module, copies=copies)
        if not EDITS[kind](module, copies[computation], copies[instruction]):
            return None
        return Program(hlotool.parse(str(module), "faulty.hlo"))
    except (HloError, ValueError, KeyError, StopIteration):
        return None


def shows(evidence: Evidence, made: Program, rows: Sequence[Sequence[Any]]) -> bool:
    try:
        if hlotool.verify(made.module):
            return False
        given = evaluate_program(made, rows)
        return any(evidence.judge(value, device, result).is_wrong for device, row in enumerate(given)
                   for result, value in enumerate(row))
    except HloError:
        return False


def renamed(made: HloModule, generator: random.Random) -> tuple[HloModule, dict[str, str]]:
    """A copy with other names and no metadata, and the new names."""
    module, names = clone_module(made), {}
    every = list(module.instructions())
    numbers = generator.sample(range(1000, 1000 + 2 * len(every)), len(every))
    for number, instruction in zip(numbers, every, strict=True):
        names[instruction.name] = f"v{number}"
        instruction.name, instruction.metadata = f"v{number}", None
    for number, computation in enumerate(generator.sample(module.computations, len(module.computations))):
        computation.name = f"c{number}"
    return module, names


def _enclosing(program: Program, names: frozenset[str]) -> frozenset[str]:
    """The instructions that call the computation of one of those, directly or not."""
    holding = {c for c in program.module.computations if any(i.name in names for i in c.instructions)}
    found: set[str] = set()
    while True:
        callers = [(i.name, c) for c in program.module.computations for i in c.instructions
                   if holding.intersection(i.called_computations())]
        if found.issuperset(n for n, _ in callers):
            return frozenset(found)
        found.update(n for n, _ in callers)
        holding.update(c for _, c in callers)
