"""A computation folded into a tree that opens a few boxes at a time, however large it is.

    ENTRY main                                 parameters (120)
      decoder_block_0 (213)                    embedding (4)
      decoder_block_1 (213)           ->       decoder_block_{0…25} ×26
      ...                                        decoder_block_0 (213)
                                                   attention (101)

Instructions are sorted by the Python scope that their `op_name` tells; those that have none go where they are used.
Scopes that differ in a number alone are one repeated layer, and so are stretches of instructions that repeat. What is
still too long is cut into ranges.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, TypeAlias

from hlotool.ir import HloComputation, HloInstruction
from hlotool.ops import OPS, Calls, flow_of
from hlotool.passes.equality import op_name

Kind: TypeAlias = Literal["computation", "scope", "layers", "layer", "range", "parameters", "constants"]
Item: TypeAlias = "Fold | HloInstruction"

#: boxes that one opened fold shows at most
MOST_BOXES = 48
#: computations of so many instructions are shown as they are
_SMALL = 24
#: parameters that stand by themselves
_MOST_PARAMETERS = 8
#: instructions between folds that make a range
_FEWEST_IN_RUN = 6
#: siblings that make a repeated layer
_FEWEST_LAYERS = 3
#: a stretch that repeats has so many instructions at least
_SHORTEST_STRETCH = 3
#: operations that are told of a fold
_MOST_WORDS = 2
#: scopes of a name; what is deeper stands in the last of them
_DEEPEST = 50
_NUMBER = re.compile(r"\d+")


@dataclass(eq=False, slots=True)
class Fold:
    """A box that opens: its label, what kind of box it is, and what it holds in the order of the text."""

    label: str
    kind: Kind
    items: list[Item] = field(default_factory=list)

    def instructions(self) -> Iterator[HloInstruction]:
        """Yield all instructions inside, at any depth."""
        stack = [iter(self.items)]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
            elif isinstance(item, Fold):
                stack.append(iter(item.items))
            else:
                yield item

    def count(self) -> int:
        """Return the number of instructions inside."""
        return sum(1 for _ in self.instructions())

    def work(self) -> str:
        """Return the operations telling most about the fold, "3 dot, 12 multiply"; nothing where all of it is free."""
        counts = Counter(i.opcode for i in self.instructions() if not flow_of(i).is_free)
        chosen = sorted(counts, key=lambda opcode: (_rank(opcode), -counts[opcode], opcode))[:_MOST_WORDS]
        return ", ".join(f"{counts[opcode]} {opcode}" for opcode in chosen)

    def folds(self) -> Iterator[Fold]:
        """This fold and all folds inside, holders first."""
        stack = [self]
        while stack:
            found = stack.pop()
            yield found
            stack += [i for i in reversed(found.items) if isinstance(i, Fold)]


@cache
def _rank(opcode: str) -> int:
    """Return 0 for what exchanges, calls or sees many elements at once, 1 for single elements, 2 for moves."""
    record = OPS.get(opcode)
    if record is None or record.flow.effect or record.flow.calls is not Calls.NONE:
        return 0
    return 2 if record.flow.moves or record.flow.keeps else int("elementwise" in record.flags)


def fold_computation(computation: HloComputation) -> Fold:
    """Return the tree of a computation."""
    whole = Fold(computation.name, "computation")
    if len(computation.instructions) <= _SMALL:
        whole.items = list(computation.instructions)
        return whole
    scopes = _scopes(computation)
    whole.items = _by_scope(computation.instructions, scopes, 0)
    if sum(i.opcode == "parameter" for i in computation.instructions) > _MOST_PARAMETERS:
        whole.items = _gathered(whole.items, "parameter", "parameters")
    for fold in whole.folds():
        fold.items = _within_limits(fold.items)
    return whole


def opened(whole: Fold, most: int) -> list[Fold]:
    """Return the folds to open, holders first, so that a drawing of the tree has at most `most` boxes."""
    found, boxes, queue = [whole], len(whole.items), deque(i for i in whole.items if isinstance(i, Fold))
    while queue:
        fold = queue.popleft()
        if fold.kind not in ("parameters", "constants") and boxes + len(fold.items) <= most:
            boxes += len(fold.items)
            found.append(fold)
            queue += [i for i in fold.items if isinstance(i, Fold)]
    return found


# Scopes.


@cache
def scope_of(op_name: str) -> tuple[str, ...]:
    """Return the scopes of an operation's name, without the operation: `jit(f)/block_0/dot` is jit(f), block_0.

    So many at most that a tree of them can be walked through.
    """
    parts, depth, begin = [], 0, 0
    for n, character in enumerate(op_name):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth = max(0, depth - 1)
        elif character == "/" and not depth:
            parts.append(op_name[begin:n])
            begin = n + 1
    return tuple(p for p in parts if p)[:_DEEPEST]


def _scopes(computation: HloComputation) -> dict[HloInstruction, tuple[str, ...]]:
    """Return the scope of each instruction; one that names none stands where all of its users do."""
    found: dict[HloInstruction, tuple[str, ...]] = {}
    users = computation.users()
    for instruction in reversed(computation.instructions):
        named = op_name(instruction)
        if named and instruction.opcode != "parameter":
            found[instruction] = scope_of(named)
            continue
        if instruction.opcode == "parameter" or instruction is computation.root:
            found[instruction] = ()
            continue
        found[instruction] = _common([found.get(u, ()) for u in users.get(instruction, ())])
    return found


def _common(scopes: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the longest beginning that all scopes share."""
    if not scopes:
        return ()
    low, high = min(scopes), max(scopes)
    for n, part in enumerate(low):
        if n >= len(high) or high[n] != part:
            return low[:n]
    return low


def _by_scope(instructions: Sequence[HloInstruction], scopes: dict[HloInstruction, tuple[str, ...]], depth: int
              ) -> list[Item]:
    """Instructions sorted by the scope at a depth, those without one between them."""
    found: list[Item] = []
    inner: dict[str, list[HloInstruction]] = {}
    folds: dict[str, Fold] = {}
    for instruction in instructions:
        scope = scopes[instruction]
        if len(scope) <= depth:
            found.append(instruction)
            continue
        name = scope[depth]
        if name not in inner:
            inner[name] = []
            folds[name] = Fold(name, "scope")
            found.append(folds[name])
        inner[name].append(instruction)
    for name, fold in folds.items():
        fold.items = _by_scope(inner[name], scopes, depth + 1)
        while len(fold.items) == 1 and isinstance(only := fold.items[0], Fold):
            # A scope that holds one other scope is no step of its own.
            fold.label, fold.kind = (f"{fold.label}/{only.label}", only.kind)
            fold.items = only.items
    flat: list[Item] = []
    for item in found:
        alone = isinstance(item, Fold) and len(item.items) == 1
        flat.append(item.items[0] if isinstance(item, Fold) and alone else item)
    return _with_layers(flat)


# Layers.


def _with_layers(items: list[Item]) -> list[Item]:
    """Scopes whose names differ in one number, as one fold of layers."""
    alike: dict[str, list[Fold]] = {}
    for item in items:
        if isinstance(item, Fold) and item.kind == "scope" and _NUMBER.search(item.label):
            alike.setdefault(_NUMBER.sub("#", item.label), []).append(item)
    rows = {pattern: folds for pattern, folds in alike.items() if len(folds) >= _FEWEST_LAYERS}
    taken = {id(f): pattern for pattern, folds in rows.items() for f in folds}
    found: list[Item] = []
    made: set[str] = set()
    for item in items:
        pattern = taken.get(id(item))
        if pattern is None:
            found.append(item)
        elif pattern not in made:
            made.add(pattern)
            found.append(_layers(pattern, rows[pattern]))
    return found


def _layers(pattern: str, folds: list[Fold]) -> Fold:
    numbers = [_NUMBER.findall(f.label) for f in folds]
    columns = [[int(row[n]) if len(row[n]) < 19 else 0 for row in numbers] for n in range(len(numbers[0]))]
    shown = [str(c[0]) if len(set(c)) == 1 else f"{{{min(c)}…{max(c)}}}" for c in columns]
    pieces = pattern.split("#")
    label = "".join(piece + (shown[n] if n < len(shown) else "") for n, piece in enumerate(pieces))
    return Fold(f"{label} ×{len(folds)}", "layers", list(folds))


def _repeats(items: list[Item]) -> list[Item]:
    """Stretches of instructions that repeat one after the other, as folds of layers; the rest as it stands."""
    words = [_word(i) for i in items]
    found: list[Item] = []
    at = 0
    periods = {period: _times(words, period) for period in _likely_periods(words)}
    while at < len(items):
        best = max(((times[at], period) for period, times in periods.items()), default=(1, 1),
                   key=lambda pair: (pair[0] - 1) * pair[1] if pair[0] >= _FEWEST_LAYERS else 0)
        times, period = best
        if times < _FEWEST_LAYERS:
            found.append(items[at])
            at += 1
            continue
        layers = [Fold(_range_label(items[n:n + period]), "layer", items[n:n + period])
                  for n in range(at, at + times * period, period)]
        found.append(Fold(f"{period} instructions ×{times}", "layers", list(layers)))
        at += times * period
    return found


def _word(item: Item) -> Hashable:
    """Return a key that instructions of repeated stretches share."""
    return (item.opcode, item.shape.without_layout()) if isinstance(item, HloInstruction) else id(item)


def _likely_periods(words: list[Hashable]) -> list[int]:
    """Distances at which the same instructions come again most often."""
    last: dict[Hashable, int] = {}
    gaps: Counter[int] = Counter()
    for n, word in enumerate(words):
        if word in last and n - last[word] >= _SHORTEST_STRETCH:
            gaps[n - last[word]] += 1
        last[word] = n
    return [gap for gap, count in gaps.most_common(4) if count >= gap]


def _times(words: list[Hashable], period: int) -> list[int]:
    """Return the number of repetitions in a row, the first included, of the stretch of that length at each place."""
    #: from each place on, the words that come again after a period
    again = [0] * (len(words) + 1)
    for at in range(len(words) - period - 1, -1, -1):
        again[at] = again[at + 1] + 1 if words[at] == words[at + period] else 0
    return [1 + count // period for count in again]


# Ranges.


def _within_limits(items: list[Item]) -> list[Item]:
    """Return the items, gathered so that few enough are left: parameters, constants, stretches that repeat, ranges."""
    if len(items) <= MOST_BOXES:
        return items
    items = _gathered(_gathered(items, "parameter", "parameters"), "constant", "constants")
    if len(items) > MOST_BOXES:
        items = _repeats(items)
    return _cut(items)


def _gathered(items: list[Item], opcode: str, kind: Kind) -> list[Item]:
    """Return the instructions of an opcode, where they are many, as one fold in the place of the first."""
    chosen = [i for i in items if isinstance(i, HloInstruction) and i.opcode == opcode]
    if len(chosen) < _FEWEST_LAYERS or len(chosen) == len(items):
        return items
    fold = Fold(kind, kind, list(chosen))
    taken = set(map(id, chosen))
    first = next(n for n, i in enumerate(items) if id(i) in taken)
    rest: list[Item] = [i for i in items if id(i) not in taken]
    return [*rest[:first], fold, *rest[first:]]


def _cut(items: list[Item]) -> list[Item]:
    """Return the items in ranges, and those in ranges again, until few are left; a few folds stay beside the ranges."""
    folds = [i for i in items if isinstance(i, Fold)]
    if 0 < len(folds) <= MOST_BOXES // 2 and len(items) > MOST_BOXES:
        items = _runs(items)
        if len(items) > MOST_BOXES:
            plain = _in_ranges([i for i in items if not (isinstance(i, Fold) and i.kind != "range")], MOST_BOXES // 2)
            items = [*folds, *plain]
    return _in_ranges(items, MOST_BOXES)


def _runs(items: list[Item]) -> list[Item]:
    """Instructions between folds, where there are many, as ranges."""
    found: list[Item] = []
    for is_fold, group in itertools.groupby(items, lambda i: isinstance(i, Fold)):
        run = list(group)
        found += run if is_fold or len(run) < _FEWEST_IN_RUN else [Fold(_range_label(run), "range", run)]
    return found


def _in_ranges(items: list[Item], most: int) -> list[Item]:
    while len(items) > most:
        pieces = -(-len(items) // MOST_BOXES)
        size = -(-len(items) // pieces)
        parts = [items[n:n + size] for n in range(0, len(items), size)]
        items = [Fold(_range_label(part), "range", part) if len(part) > 1 else part[0] for part in parts]
    return items


def _range_label(items: Sequence[Item]) -> str:
    return f"{_edge(items[0], 0)} … {_edge(items[-1], -1)}"


def _edge(item: Item, side: int) -> str:
    """Return the name of the first or last thing in a range."""
    while isinstance(item, Fold) and item.kind in ("range", "layer"):
        item = item.items[side]
    return item.name if isinstance(item, HloInstruction) else item.label
