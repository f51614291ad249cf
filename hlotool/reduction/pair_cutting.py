"""Steps for two modules of one signature whose results differ on the reference.

Where both have a value, it may be handed in: given the same arguments, what follows still differs. So of both modules
as much is kept as lies between values that they share and the first that they do not.

    left                            right                           what is left of both
    b = f32[4] sine(x)              b = f32[4] sine(x)              b = f32[4] parameter(0)
    c = f32[4] sqrt(b)              c = f32[4] rsqrt(b)             c = sqrt(b)        c = rsqrt(b)
    d = f32[4] add(c, x)            d = f32[4] add(c, x)
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from hlotool.execution import leaves
from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule
from hlotool.ir.arrays import Array
from hlotool.passes.edit import Editing, Section, all_inlined, is_cuttable, results_of, section
from hlotool.reduction.candidate import Candidate, Rows
from hlotool.reduction.entry_values import EntryValues, values_of
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import SearchState

#: pairs of instructions that are tried, those with the least between them first
_MOST = 48


def inline_pair(work: SearchState) -> bool:
    """Inline calls and fusions in both modules."""
    base = work.best
    assert base.other is not None
    left, right = all_inlined(base.module), all_inlined(base.other)
    return work.try_each([lambda: Candidate(left, base.rows, right)], "inlined")


def cut_pair(work: SearchState) -> bool:
    """Keep what lies between values that both have and a pair that differs."""
    base = work.best
    found = work.asker.first(itertools.islice(_cuts(base), _MOST))
    if found is None or found[1].size >= base.size:
        return False
    work.accept(found[1], "cut", keeps_values=False)
    return True


@dataclass
class _Side:
    """One of the modules, with its values."""

    module: HloModule
    values: EntryValues
    #: instruction -> a digest of its value on every device
    keys: dict[HloInstruction, bytes]

    @staticmethod
    def of(module: HloModule, rows: Rows) -> _Side:
        values = values_of(Candidate(module, rows))
        keys = {}
        for instruction in module.entry.instructions:
            if is_cuttable(instruction) and instruction.opcode != "constant":
                key = _digest(instruction, values, len(rows))
                if key is not None:
                    keys[instruction] = key
        return _Side(module, values, keys)

    @property
    def entry(self) -> HloComputation:
        return self.module.entry

    def between(self, target: HloInstruction, shared: set[bytes]) -> tuple[int, set[HloInstruction]]:
        """How many instructions lie between shared values and a target, and which are cut."""
        seen, cut, waiting = {target}, set[HloInstruction](), list(target.operands)
        while waiting:
            instruction = waiting.pop()
            if instruction in seen or instruction in cut:
                continue
            if self.keys.get(instruction) in shared or instruction.opcode == "parameter":
                cut.add(instruction)
            else:
                seen.add(instruction)
                waiting.extend(instruction.operands)
        called = {c: len(c.instructions) for i in seen for c in i.called_computations()}
        return len(seen) + len(cut) + sum(called.values()), cut


def _digest(instruction: HloInstruction, values: EntryValues, devices: int) -> bytes | None:
    found = hashlib.blake2b(instruction.shape.text(layout=False).encode(), digest_size=16)
    for device in range(devices):
        arrays = values.leaves(instruction, device)
        if arrays is None:
            return None
        for array in arrays:
            found.update(array.tobytes())
    return found.digest()


def _cuts(base: Candidate) -> Iterator[Maker]:
    assert base.other is not None
    rows = base.rows or []
    left, right = _Side.of(base.module, rows), _Side.of(base.other, rows)
    shared = set(left.keys.values()) & set(right.keys.values())
    found: list[tuple[int, int, HloInstruction, HloInstruction, set[HloInstruction], set[HloInstruction]]] = []
    for a, b in _pairs(left, right):
        if left.keys.get(a) is None or left.keys.get(a) == right.keys.get(b):
            continue
        (one, cut_left), (two, cut_right) = left.between(a, shared), right.between(b, shared)
        found.append((one + two, len(found), a, b, cut_left, cut_right))
    for _, _, a, b, cut_left, cut_right in sorted(found, key=lambda f: f[:2]):
        yield partial(_joined, base, left, right, (a, b), (cut_left, cut_right))


def _pairs(left: _Side, right: _Side) -> Iterable[tuple[HloInstruction, HloInstruction]]:
    """Instructions that may stand for each other: results in order, and those of one name and shape."""
    found = dict.fromkeys(zip(results_of(left.entry), results_of(right.entry), strict=False))
    names = {i.name: i for i in left.entry.instructions}
    for instruction in right.entry.instructions:
        partner = names.get(instruction.name)
        if partner is not None and partner.shape.compatible(instruction.shape):
            found[partner, instruction] = None
    return [(a, b) for a, b in found if is_cuttable(a) and a.opcode != "parameter" and b.opcode != "parameter"
            and a.shape.compatible(b.shape)]


def _joined(base: Candidate, left: _Side, right: _Side, targets: tuple[HloInstruction, HloInstruction],
            cuts: tuple[set[HloInstruction], set[HloInstruction]]) -> Candidate:
    """Both sections, with one list of parameters."""
    header = base.module.attributes
    kept = Attributes({n: header[n] for n in ("replica_count", "num_partitions") if n in header})
    parts = [section(side.module, side.entry, [target], cut, kept)
             for side, target, cut in zip((left, right), targets, cuts, strict=True)]
    numbers: dict[object, int] = {}
    order: list[tuple[_Side, HloInstruction]] = []
    for side, part in zip((left, right), parts, strict=True):
        for fed in part.fed:
            key = _parameter_key(side, fed)
            if key not in numbers:
                numbers[key] = len(numbers)
                order.append((side, fed))
    for side, part in zip((left, right), parts, strict=True):
        _renumber(side, part, numbers, order)
    devices = range(len(base.rows or []))
    rows = [[leaf for side, fed in order for leaf in _leaves(side, fed, device)] for device in devices]
    return Candidate(parts[0].module, rows, parts[1].module)


def _parameter_key(side: _Side, fed: HloInstruction) -> object:
    """The same for what both modules get from one argument."""
    return side.keys.get(fed) or ("parameter", fed.parameter_number)


def _renumber(side: _Side, part: Section, numbers: Mapping[object, int],
              order: Sequence[tuple[_Side, HloInstruction]]) -> None:
    """Number the parameters as both modules have them; what only the other one takes stands there unused.

    Two parameters of one value become one.
    """
    edit, entry = Editing(part.module), part.module.entry
    taken: dict[int, HloInstruction] = {}
    twins: dict[HloInstruction, HloInstruction] = {}
    for parameter, source in zip(entry.parameters(), part.fed, strict=True):
        number = numbers[_parameter_key(side, source)]
        if number in taken:
            twins[parameter] = taken[number]
        else:
            taken[number] = parameter
            parameter.attributes = Attributes(parameter.attributes | {"parameter_number": number})
    edit.replace_uses(twins, entry)
    entry.instructions = [i for i in entry.instructions if i not in twins]
    for number, (_, source) in enumerate(order):
        if number not in taken:
            edit.insert(entry, "parameter", source.shape.without_layout(), (), {"parameter_number": number},
                        name=source.name, before=entry.instructions[0])


def _leaves(side: _Side, fed: HloInstruction, device: int) -> list[Array]:
    import numpy as np

    known = side.values.leaves(fed, device)
    return known if known is not None else [np.zeros(s.dims, s.dtype.numpy) for s in leaves(fed.shape)]
