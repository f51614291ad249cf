"""A module as the page's script reads it: columns of numbers that compress well, and the text beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from hlotool.diagnostics.pages import plain
from hlotool.ir import HloComputation, HloInstruction, HloModule, kind_of
from hlotool.passes.origins import origin_of
from hlotool.passes.read import parse
from hlotool.passes.verify import require_usable
from hlotool.text import print_value
from hlotool.view.folding import Fold, fold_computation
from hlotool.view.neighbourhood import passed_values, returned_values
from hlotool.view.overlays import Values, columns_of, costs_of, findings_of, values_of

if TYPE_CHECKING:
    from hlotool.passes.equality import Became, Diff

#: a shape is told in so many characters
_LONGEST_SHAPE = 200


@dataclass
class ViewedModule:
    """A module that has a text, with numbers for its instructions and computations."""

    name: str
    module: HloModule
    instructions: list[HloInstruction]
    numbers: dict[HloInstruction, int]
    lines: list[int]

    @property
    def text(self) -> str:
        assert self.module.source is not None
        return self.module.source.text


def viewed(name: str, module: HloModule) -> ViewedModule:
    """The module ready to be shown; one that was not read from HLO text is printed and read, so that it has a text."""
    require_usable(module)
    instructions = list(module.instructions())
    if module.source is None or any(i.offset < 0 for i in instructions):
        module = parse(str(module), name)
        instructions = list(module.instructions())
    numbers = {i: n for n, i in enumerate(instructions)}
    return ViewedModule(name, module, instructions, numbers, [module.position(i).line for i in instructions])


def module_record(shown: ViewedModule, values: Values | None = None, *, lints: bool = True) -> dict[str, Any]:
    """All that the page knows of a module but its text; numbers of instructions count through the computations."""
    module, numbers = shown.module, shown.numbers
    assert module.source is not None
    computations = {c: n for n, c in enumerate(module.computations)}
    folds, fold_of = _folds(module)
    opcodes, shapes, scopes, sources = _Words(), _Words(), _Words(), _Words()
    origins = [origin_of(module, i) for i in shown.instructions]
    record: dict[str, Any] = {
        "name": plain(shown.name), "module": plain(module.name), "first": module.source.first_line,
        "entry": computations[module.entry],
        "computations": [[plain(c.name), module.position(c).line, numbers[c.instructions[0]], len(c.instructions),
                          numbers[c.root]] for c in module.computations],
        "folds": folds,
        "names": [plain(i.name) for i in shown.instructions],
        "opcode": [opcodes(i.opcode) for i in shown.instructions],
        "shape": [shapes(_shape(i)) for i in shown.instructions],
        "fold": [fold_of[i] for i in shown.instructions],
        "line": _steps(shown.lines),
        "arity": [len(i.operands) for i in shown.instructions],
        # Nearby instructions use each other, so distances repeat where numbers would not.
        "operands": [n - numbers[o] for n, i in enumerate(shown.instructions) for o in i.operands],
        "calls": [[n, *(computations[c] for c in called)] for n, i in enumerate(shown.instructions)
                  if (called := [c for c in i.called_computations() if c in computations])],
        "passed": [[numbers[source], numbers[parameter]] for source, parameter in passed_values(module)],
        "returned": [[numbers[root], numbers[caller]] for root, caller in returned_values(module)],
        "scope": [scopes(plain(i.metadata.op_name) if i.metadata is not None else "") for i in shown.instructions],
        "source": [sources(plain(f"{o.file}:{o.line}" if o is not None and o.file and o.line else ""))
                   for o in origins],
        "sharding": [[n, plain(print_value(kind_of("sharding"), s))] for n, i in enumerate(shown.instructions)
                     if i.attributes and (s := i.attributes.get("sharding")) is not None],
        "costs": costs_of(module, numbers),
    }
    record |= {"opcodes": opcodes.all, "shapes": shapes.all, "scopes": scopes.all, "sources": sources.all}
    if lints:
        record["findings"] = _cleaned(findings_of(module, {line: n for n, line in enumerate(shown.lines)}))
    if values is not None:
        lines, states = values_of(values, module, numbers)
        record["values"] = [[n, states[n], [plain(line) for line in found]] for n, found in lines.items()]
        columns, lost = columns_of(values, module, numbers)
        record["columns"] = [[plain(heading), is_number, [[n, plain(v) if isinstance(v, str) else v] for n, v in rows]]
                             for heading, is_number, rows in columns]
        record["lost"] = lost
    return record


def match_record(left: ViewedModule, right: ViewedModule, found: Diff) -> dict[str, Any]:
    """Return the record of a pairing: the partner of each instruction on the left, and the differences."""
    pairs = found.pairs()
    partners = [right.numbers.get(pairs[i], -1) if i in pairs else -1 for i in left.instructions]
    gone, new = (_inside(module, changes) for module, changes in (
        (left, [c.left_computation for c in found.changes if c.kind == "removed computation"]),
        (right, [c.right_computation for c in found.changes if c.kind == "added computation"])))
    return {
        "summary": plain(found.summary()),
        # -1: none; otherwise how much later the partner stands, from 0 upwards or below -1
        "partner": [-1 if p < 0 else _distance(p - n) for n, p in enumerate(partners)],
        "removed": sorted(gone.union(left.numbers[c.left] for c in found.changes if c.left and not c.right)),
        "added": sorted(new.union(right.numbers[c.right] for c in found.changes if c.right and not c.left)),
        "changed": [[left.numbers[c.left], right.numbers[c.right],
                     [[p.name, _short(plain(p.left)), _short(plain(p.right))] for p in c.parts]]
                    for c in found.changes if c.left is not None and c.right is not None],
        "header": [[p.name, _short(plain(p.left)), _short(plain(p.right))] for p in found.header],
    }


def fates_record(left: ViewedModule, right: ViewedModule, found: Became) -> dict[str, Any]:
    """Return the record of a program and its optimised form: the fate of each operation, and what went into fusions.

    Parameters of the entries are pairs by their numbers; constants and other operations that are free have no fate.
    """
    partners = dict(zip(left.module.entry.parameters(), right.module.entry.parameters(), strict=False))
    partners |= {i: stand_for_it[0] for i, (_, stand_for_it) in found.places.items() if stand_for_it}
    fused_by = {i: call for call in right.module.find_all("fusion") for c in call.called_computations()
                for i in c.instructions}
    went_into: dict[HloInstruction, list[int]] = {}
    for instruction, (_, stand_for_it) in found.places.items():
        for fusion in dict.fromkeys(fused_by[i] for i in stand_for_it if i in fused_by):
            went_into.setdefault(fusion, []).append(left.numbers[instruction])
    steps = [right.numbers[partners[i]] - n if i in partners else None for n, i in enumerate(left.instructions)]
    return {
        "summary": plain(f"{PurePath(right.name).name} is {PurePath(left.name).name} optimised. {found.summary()}"),
        "partner": [-1 if step is None else _distance(step) for step in steps],
        "removed": [], "changed": [], "header": [], "added": sorted(right.numbers[i] for i in found.added),
        "fates": [[left.numbers[i], fate, [right.numbers[o] for o in stand_for_it]]
                  for i, (fate, stand_for_it) in found.places.items()],
        "into": [[right.numbers[fusion], sorted(parts)] for fusion, parts in went_into.items()],
    }


def _inside(module: ViewedModule, computations: Iterable[HloComputation | None]) -> set[int]:
    return {module.numbers[i] for c in computations if c is not None for i in c.instructions}


def _distance(step: int) -> int:
    """Return a distance without -1, which means that there is none."""
    return step if step >= 0 else step - 1


def _folds(module: HloModule) -> tuple[list[list[Any]], dict[HloInstruction, int]]:
    """[label, kind, parent, work] of each fold, those of computations first; and the fold of each instruction."""
    trees = [fold_computation(c) for c in module.computations]
    rows: list[list[Any]] = [[plain(tree.label), tree.kind, -1, tree.work()] for tree in trees]
    fold_of: dict[HloInstruction, int] = {}
    for number, tree in enumerate(trees):
        stack: list[tuple[int, Fold]] = [(number, tree)]
        while stack:
            mine, fold = stack.pop()
            for item in fold.items:
                if isinstance(item, Fold):
                    stack.append((len(rows), item))
                    rows.append([plain(item.label), item.kind, mine, item.work()])
                else:
                    fold_of[item] = mine
    return rows, fold_of


class _Words:
    """Texts that repeat, by numbers."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.all)
            self.all.append(text)
        return number


def _shape(instruction: HloInstruction) -> str:
    return _short(instruction.shape.text(False))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHAPE else f"{text[:_LONGEST_SHAPE - 1]}…"


def _steps(numbers: list[int]) -> list[int]:
    """Return the numbers as differences from one to the next."""
    return [b - a for a, b in zip([0, *numbers], numbers, strict=False)]


def _cleaned(rows: list[list[Any]]) -> list[list[Any]]:
    return [[plain(v) if isinstance(v, str) else v for v in row] for row in rows]


def step_counts(found: Diff | None) -> Mapping[str, int]:
    """Return the amount of change that a pass made."""
    if found is None:
        return {}
    return {"changed": found.count("changed"),
            "removed": found.count("removed") + found.count("removed computation"),
            "added": found.count("added") + found.count("added computation"), "header": len(found.header)}
