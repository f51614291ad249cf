"""Numbers that say where a device's part is, with others tried in their place until all results are right.

    a table            with an entry for each device, where entries do not grow along an axis as the others do
    a step             by which the first index of each device's part grows along an axis
    a device's number  computed with another number than the device's own
    a range            of an iota or a constant, which each device has a part of
    a bound            of a loop or of a mask that is one too large or too small
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.blame.parts_run import Key, PartsRun
from hlotool.blame.small_edits import edit_of
from hlotool.blame.whole_values import is_same
from hlotool.distributed import steps_along_axes, tables_along_axes
from hlotool.execution import numbered
from hlotool.ir import HloInstruction, dtype_of_numpy
from hlotool.ir.arrays import np
from hlotool.ops import opcodes, with_flag

#: operations that compute each element of their operands' elements at the same place, or have no operand
ELEMENTWISE = with_flag("elementwise") | opcodes(lambda flow: flow.forwards) | {"broadcast", "constant"}
#: other directions of a comparison
_DIRECTIONS, _EQUALITIES = ("LT", "LE", "GT", "GE"), ("EQ", "NE")
#: ranges that are tried in place of one, and sizes of steps
_RANGES, _SIZES = 12, 8
#: entries at most of a table of which two are exchanged
_EXCHANGED = 8


@dataclass
class NumberRepairs:
    """Trials of other numbers in one run."""

    run: PartsRun
    #: True for an instruction that does what it should, and what is guilty of an instruction's value
    is_innocent: Callable[[Key], bool]
    behind: Callable[[Key], Key]

    def __post_init__(self) -> None:
        sizes = {d for p in self.run.partition.part.parameters for d in p.dims if d > 0}
        self.sizes = sorted(sizes)[:_SIZES]

    def of(self, key: Key) -> tuple[Key, str] | None:
        """Return the number that is guilty, and how; None if that is not proved."""
        instruction, values = key[1], self.run.parts[key]
        if instruction.opcode == "partition-id" or not instruction.shape.is_array:
            return None
        if not dtype_of_numpy(values[0].dtype).is_integral:
            return self._range(key)
        if instruction.opcode == "constant" and instruction.shape.dims == (self.run.devices,):
            held = tuple(int(n) for n in values[0])
            tables = [*tables_along_axes(held, self.run.grid), *(_exchanged(held) if self._is_looked_up(key) else ())]
            if said := self._table(key, held, tables):
                return key, said
        if self._is_number(key):
            last = self._last_number(key)
            behind = self.behind(last)
            return behind, "it is not the device's own number" if behind == last else (
                f"{last[1].name} computes of it, and is not the device's own number")
        if instruction.shape.dims:
            return self._range(key)
        return self._step(key)

    def _is_looked_up(self, key: Key) -> bool:
        """Return True if a table is read at the device's own number, by all that read it."""
        return all(u.opcode == "dynamic-slice" and u.operands[0] is key[1] and u.operands[1].opcode == "partition-id"
                   for u in self.run.users.get(key[1], ()))

    def _table(self, key: Key, held: Sequence[int], tables: Sequence[Sequence[int]]) -> str:
        dtype = self.run.parts[key][0].dtype
        for table in tables:
            if fits(dtype, *table) and self.run.is_mended(values={key: [np.array(table, dtype)] * self.run.devices}):
                return _differences(held, table)
        return ""

    def _step(self, key: Key) -> tuple[Key, str] | None:
        """Try other first indices of each device's part; a constant by which they are multiplied is guilty of them."""
        values = self.run.parts[key]
        held = tuple(int(v) for v in values)
        if key[1].opcode not in ELEMENTWISE or len(set(held)) < 2 or 1 in held:
            return None  # steps of one are numbers of devices
        for table in steps_along_axes(held, self.run.grid, self.sizes):
            if fits(values[0].dtype, *table) and self.run.is_mended(
                    values={key: [np.asarray(n, values[0].dtype) for n in table]}):
                return self._factor(key, held, table) or (
                    key, f"{_differences(held, table)}: parts have {table[1] or max(table)} elements")
        return None

    def _factor(self, key: Key, held: Sequence[int], table: Sequence[int]) -> tuple[Key, str] | None:
        """Return the constant operand of a product that with another number gives the table."""
        for operand in key[1].operands if key[1].opcode == "multiply" else ():
            at = key[0], operand
            if operand.opcode != "constant" or at not in self.run.parts:
                continue
            own = self.run.parts[at][0]
            found = {divmod(t * int(own), h) if h else (-1, t) for h, t in zip(held, table, strict=True)} - {(-1, 0)}
            (other, rest), *more = found
            if not rest and not more and fits(own.dtype, other) and \
                    self.run.is_mended_with(operand, np.asarray(other, own.dtype)):
                return at, f"it is {int(own)}; the value needs {other}"
        return None

    def bound(self, key: Key) -> tuple[Key, str] | None:
        """Try numbers that are one more, one less, or the size of something, in the place of a constant one."""
        instruction = key[1]
        if instruction.opcode != "constant" or instruction.shape.dims or not dtype_of_numpy(
                self.run.parts[key][0].dtype).is_integral:
            return None
        held, dtype = int(self.run.parts[key][0]), self.run.parts[key][0].dtype
        near = dict.fromkeys([held + 1, held - 1, *(s for s in self.sizes if held < 2 * s and s < 2 * held)])
        for other in near:
            if held > 1 and other != held and fits(dtype, other) and self.run.is_mended_with(
                    instruction, np.asarray(other, dtype)):
                return key, f"it is {held}; the value needs {other}"
        return None

    def _range(self, key: Key) -> tuple[Key, str] | None:
        """Try each device's part of an iota or a constant of the whole program."""
        instruction, values = key[1], self.run.parts[key]
        if not instruction.shape.dims or not all(is_same(values[0], v) for v in values):
            return None
        tried = [t for t in self.run.wholes.like(values[0]) if not t.of.operands and t.whole.shape != values[0].shape
                 and t.of.opcode in ("iota", "constant") and any(is_same(p, values[0]) for p in t.parts)
                 and not all(is_same(p, values[0]) for p in t.parts)]
        for tiles in tried[:_RANGES]:
            if self.run.is_mended(values={key: tiles.parts}):
                return key, (f"it is the same part of {tiles.of.name} of the whole program on each device; "
                             "the value needs each device's own")
        return None

    def direction(self, key: Key) -> str:
        """Try the other directions of a comparison."""
        own = key[1].attributes.get("direction")
        if own is None or str(own) in _EQUALITIES:
            return ""
        for other in _DIRECTIONS:
            if other != str(own) and self.run.is_mended_by(
                    edit_of(key[1], attributes=key[1].attributes | {"direction": other})):
                return f"it compares by {own}; the value needs {other}"
        return ""

    def _is_number(self, key: Key) -> bool:
        """Return True if the results are right with the device's own number in place of a computed one."""
        instruction, values = key[1], self.run.parts[key]
        if instruction.opcode not in ELEMENTWISE or instruction.opcode == "constant" or instruction.shape.dims \
                or not dtype_of_numpy(values[0].dtype).is_integral:
            return False
        numbers = [int(v) for v in values]
        own = list(range(self.run.devices))
        is_other = numbers != own and len(set(numbers)) > 1 and set(numbers) <= set(own) and fits(values[0].dtype, *own)
        return is_other and self.run.is_mended(values={key: [np.asarray(d, values[0].dtype) for d in own]})

    def _last_number(self, key: Key) -> Key:
        """Return the last of several elementwise instructions that compute the device's number one from the other."""
        while True:
            users = self.run.users.get(key[1], ())
            further = [(key[0], u) for u in users if len(users) == 1]
            if key[1].opcode == "constant" or not further or further[0] not in self.run.parts \
                    or [int(v) for v in self.run.parts[key]] == [
                        int(np.ravel(v)[0]) for v in self.run.parts[further[0]]] \
                    or self.is_innocent(further[0]) or not self._is_number(further[0]):
                return key
            key = further[0]


def fits(dtype: Any, *numbers: int) -> bool:
    """Return True if an array of a type of whole numbers holds the numbers."""
    kind = dtype_of_numpy(dtype)
    high = 1 << (kind.bits - kind.is_signed)
    return all(-high * kind.is_signed <= n < high for n in numbers)


def _exchanged(table: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield a short table with two of its entries exchanged; of two entries it would be another device's number."""
    if not 2 < len(table) <= _EXCHANGED:
        return
    for a, b in itertools.combinations(range(len(table)), 2):
        if table[a] != table[b]:
            yield tuple(table[b] if n == a else table[a] if n == b else t for n, t in enumerate(table))


def _differences(held: Sequence[int], table: Sequence[int]) -> str:
    """Return the entries of a table that are wrong, devices with the same ones together."""
    wrong: dict[tuple[int, int], list[int]] = {}
    for device, (a, b) in enumerate(zip(held, table, strict=True)):
        if a != b:
            wrong.setdefault((a, b), []).append(device)
    return "it holds " + ", ".join(f"{a} at {numbered(devices)}, and {b} is needed"
                                   for (a, b), devices in wrong.items())


def constant_behind(instruction: HloInstruction) -> HloInstruction | None:
    """Return the constant of which a value is made without other operands; None where there is none."""
    while instruction.opcode in ELEMENTWISE and len(instruction.operands) == 1:
        instruction = instruction.operands[0]
    return instruction if instruction.opcode == "constant" else None
