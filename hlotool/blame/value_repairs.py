"""Values that an instruction of a partitioned program should have, tried until all results are right.

    tiles          of the value that the whole program has at its place
    a total        added up over the devices of an axis, which no collective does
    a multiple     of a value of the whole program: a factor is missing, or another one is needed
    another value  of the whole program than the one that a user takes there
    repeated       an operand that all devices have, added on each of them to a sum that is added up over them
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from hlotool.blame.collective_repairs import COLLECTIVES
from hlotool.blame.number_repairs import constant_behind
from hlotool.blame.parts_run import Key, PartsRun
from hlotool.blame.whole_values import Tiles, Total, is_same
from hlotool.distributed import groups_along_axes
from hlotool.execution import numbered
from hlotool.ir import HloInstruction, dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.ops import OPS, flow_of, is_a
from hlotool.passes.equality import op_name

#: values that are tried in an instruction's place, totals, and siblings that are tried together
_DEMANDS, _TOTALS, _SIBLINGS = 16, 4, 4


@dataclass
class ValueRepairs:
    """Trials of other values of instructions in one run; `partners` are their counterparts by name."""

    run: PartsRun
    partners: dict[HloInstruction, HloInstruction]
    #: the tiles by which the results were right
    last: Tiles | None = None
    _held: dict[Key, list[Tiles]] = field(default_factory=dict)

    def held(self, key: Key) -> list[HloInstruction]:
        """Return the values of the whole program of which devices hold the tiles."""
        return [tiles.of for tiles in self._tiles(key)]

    def is_own(self, key: Key) -> bool:
        """Return True if each device holds what it holds in a region of the whole program that is partitioned."""
        return any(tiles.placement is None for tiles in self._tiles(key))

    def _tiles(self, key: Key) -> list[Tiles]:
        if key not in self._held:
            values = self.run.parts.get(key)
            self._held[key] = self.run.wholes.held(values) if values and all(v is not None for v in values) else []
        return self._held[key]

    def demanded(self, key: Key) -> list[HloInstruction]:
        """Return the values of the whole program that an instruction's value should be, by its users and itself."""
        return list(dict.fromkeys([*self.named(key[1]), *self._by_users(key), *self.alike(key)]))

    def named(self, instruction: HloInstruction) -> list[HloInstruction]:
        """Return the same by names alone."""
        found = [self.partners[user].operands[n] for user in self.run.users.get(instruction, ())
                 if user in self.partners for n, o in enumerate(user.operands) if o is instruction]
        own = [self.partners[instruction]] if instruction in self.partners else self._of_name(instruction)
        return list(dict.fromkeys(w for w in (*found, *own) if w in self.run.wholes))

    def _of_name(self, instruction: HloInstruction) -> list[HloInstruction]:
        """Return what has the name of a copy that takes the place of another operation."""
        name = op_name(instruction) if flow_of(instruction).forwards else ""
        found = [w for w in self.run.wholes.instructions if name and op_name(w) == name]
        return found if any(w.opcode in COLLECTIVES for w in found) else []

    def alike(self, key: Key) -> list[HloInstruction]:
        """Return what does in the whole program what an instruction does, to at least one of its operands."""
        path, instruction = key
        found: list[tuple[int, int, HloInstruction]] = []
        for whole in self._of_opcode(instruction):
            known = sum(w in self.held((path, o)) for w, o in zip(whole.operands, instruction.operands, strict=True))
            if known:
                found.append((-known, len(found), whole))
        return [whole for _, _, whole in sorted(found, key=lambda f: f[:2])]

    def _of_opcode(self, instruction: HloInstruction) -> Iterator[HloInstruction]:
        for whole in self.run.wholes.instructions:
            if whole.opcode == instruction.opcode and whole.shape.rank == instruction.shape.rank \
                    and len(whole.operands) == len(instruction.operands):
                yield whole

    def _by_users(self, key: Key) -> Iterator[HloInstruction]:
        path, instruction = key
        for user in self.run.users.get(instruction, ()):
            if len(user.operands) > 1 and user.shape.is_array:
                for whole in self.alike((path, user)):
                    yield from (w for w, o in zip(whole.operands, user.operands, strict=True) if o is instruction)

    # Repairs that are tried

    def total(self, key: Key, totals: Sequence[Total]) -> tuple[Key, str] | None:
        """Try the sum over an axis, or the mean, which no collective makes."""
        if self._is_reduced(key):
            return None
        for total in totals[:_TOTALS]:
            if self.run.is_mended(values={key: total.tiles.parts}):
                found = self._without_total(key, total)
                return None if found[0][1].opcode == "parameter" else found
        return None

    def _without_total(self, key: Key, total: Total) -> tuple[Key, str]:
        """Name what takes part of a total where another instruction has it all; else the part, behind its copies."""
        path, instruction = key
        users = self.run.users.get(instruction, [])
        whole = [u for u in users if total.tiles.of in self.held((path, u))]
        rest = [u for u in users if u not in whole]
        if whole and len(rest) == 1:
            return (path, rest[0]), f"it takes {instruction.name}, a part of a sum; the value needs {whole[0].name}"
        path, instruction = self.run.maker(key)
        users = self.run.users.get(instruction, [])
        while len(users) == 1 and flow_of(users[0]).forwards and (path, users[0]) in self.run.parts:
            instruction, users = users[0], self.run.users.get(users[0], [])
        return (path, instruction), (
            f"each device has its own part of a {total.kind}, which is never taken together; "
            f"the value needs an all-reduce over {self.run.along(total.groups)}")

    def _is_reduced(self, key: Key) -> bool:
        """Return True if a collective takes all that is computed of a value element by element, behind fusions, too."""
        seen, waiting = set(), [key]
        while waiting:
            path, instruction = waiting.pop()
            users = [(path, u) for u in self.run.users.get(instruction, [])]
            if not users and path and instruction is path[-1].computation.root and flow_of(path[-1].caller).in_place:
                waiting.append((path[:-1], path[-1].caller))
                continue
            inner = [u for u in users if u[1].opcode not in COLLECTIVES]
            if not users or not all(is_a(u, "elementwise") or flow_of(u).rearranges for _, u in inner):
                return False
            waiting += [u for u in inner if u not in seen]
            seen.update(inner)
        return True

    def repeated(self, key: Key, totals: dict[HloInstruction, list[Total]]) -> str:
        """Try what an operand is on one device of those over which the other one is added up."""
        path, instruction = key
        if not is_a(instruction, "elementwise") or len(instruction.operands) != 2 or "direction" in \
                instruction.attributes:
            return ""
        evaluate = OPS[instruction.opcode].evaluate
        operands = [self.run.parts.get((path, o)) for o in instruction.operands]
        for n, other in ((0, 1), (1, 0)):
            rows, partial = operands[n], operands[other]
            for total in totals.get(instruction.operands[other], ())[:_TOTALS]:
                if rows is None or partial is None or not all(
                        is_same(rows[g[0]], rows[d]) for g in total.groups for d in g):
                    continue
                first = {g[0] for g in total.groups}
                once = [r if d in first else np.zeros_like(r) for d, r in enumerate(rows)]
                pairs = zip(*((once, partial) if n == 0 else (partial, once)), strict=True)
                with np.errstate(all="ignore"):
                    made = [np.asarray(evaluate(a, b)) for a, b in pairs]
                if self.run.is_mended(values={key: made}):
                    return (f"{instruction.operands[n].name} is counted on each of {len(total.groups[0])} devices "
                            f"whose values are added up; it belongs to one of them, or behind the sum over "
                            f"{self.run.along(total.groups)}")
        return ""

    def replaced(self, key: Key) -> tuple[Key, HloInstruction] | None:
        """Try, for one operand, the value that a counterpart takes there; the operand is another value of the whole.

        Return the operand and the value that it should be.
        """
        path, instruction = key
        for whole in self.alike(key)[:_TOTALS]:
            for wanted, operand in zip(whole.operands, instruction.operands, strict=True):
                at = (path, operand)
                if at not in self.run.parts or wanted in self.held(at) or not self.held(at) \
                        or wanted not in self.run.wholes:
                    continue
                for tiles in self.run.wholes.placed(wanted, self.run.parts[at][0]):
                    if self.run.is_mended(values={at: tiles.parts}):
                        return at, wanted
        return None

    def multiple(self, key: Key) -> tuple[Key, str] | None:
        """Try the value of the whole program of which an instruction's is a multiple."""
        for n, (factor, tiles) in enumerate(self.run.wholes.multiples(self.run.parts[key])):
            if n < _DEMANDS and self.run.is_mended(values={key: tiles.parts}):
                self.last = tiles
                said = f"it is {_factor(factor)} times {tiles.of.name} of the whole program"
                constant = self._guilty_constant(key[1], tiles.of, factor)
                return ((key[0], constant), f"its value makes {key[1].name} {_factor(factor)} times {tiles.of.name} "
                        "of the whole program") if constant is not None else (key, said)
        return None

    def factor(self, key: Key) -> tuple[Key, str] | None:
        """Try a factor that is larger or smaller by the number of devices of some axes."""
        own = [c for c in map(constant_behind, key[1].operands) if c is not None]
        is_open = len(own) == 1 and is_a(key[1], "elementwise") and self._is_open(key)
        value = self._value_of(own[0]) if is_open else None
        if value is None or not dtype_of_numpy(value.dtype).is_floating or len(key[1].operands) != 2:
            return None
        for size in sorted({len(groups[0]) for groups in groups_along_axes(self.run.grid)}):
            for other in (value * value.dtype.type(size), value / value.dtype.type(size)):
                if self.run.is_mended_with(own[0], np.asarray(other)):
                    return (key[0], own[0]), f"it is {value} in {key[1].name}; the value needs {other}"
        return None

    def _is_open(self, key: Key) -> bool:
        """Return True if a way leads from an instruction to the root of its computation beside all right values."""
        path, instruction = key
        computation = path[-1].computation if path else self.run.partition.part.module.entry
        seen, waiting = {computation.root}, [computation.root]
        while waiting:
            at = waiting.pop()
            if at is instruction:
                return True
            if not self.held((path, at)):
                waiting += [o for o in at.operands if o not in seen]
                seen.update(at.operands)
        return False

    def _value_of(self, constant: HloInstruction) -> Array | None:
        return next((v[0] for (_, i), v in self.run.parts.items() if i is constant), None)

    def _guilty_constant(self, instruction: HloInstruction, whole: HloInstruction, factor: float
                         ) -> HloInstruction | None:
        """Return the constant by which a product or quotient is a multiple: one that the whole program has not."""
        own = [c for c in map(constant_behind, instruction.operands) if c is not None]
        if len(own) != 1 or not is_a(instruction, "elementwise"):
            return None
        value = self._value_of(own[0])
        theirs = [c for c in map(constant_behind, whole.operands) if c is not None]
        if value is None or any(is_same(t.parts[0], value) for t in self.run.wholes.like(value) if t.of in theirs):
            return None
        return own[0] if any(self.run.is_mended_with(own[0], np.asarray(v).astype(value.dtype))
                             for v in (value / factor, value * factor)) else None

    def tiles(self, key: Key, wanted: Sequence[Tiles]) -> str:
        """Try the tiles of values of the whole program, those first that agree on most devices."""
        values = self.run.parts[key]
        for tiles in self._ordered(values, wanted)[:_DEMANDS]:
            if self.run.is_mended(values={key: tiles.parts}):
                self.last = tiles
                wrong = [d for d, (a, b) in enumerate(zip(tiles.parts, values, strict=True)) if not is_same(a, b)]
                return (f"it should hold the tiles of {tiles.of.name} of the whole program, "
                        f"and does not on {numbered(wrong)}")
        return ""

    def _ordered(self, values: Sequence[Array], wanted: Sequence[Tiles]) -> list[Tiles]:
        seen: set[tuple[bytes, ...]] = set()
        found = []
        for n, tiles in enumerate(wanted):
            alike = sum(map(is_same, tiles.parts, values))
            digest = tuple(p.tobytes() for p in tiles.parts)
            if digest not in seen and alike < len(values):
                seen.add(digest)
                found.append((-alike, n, tiles))
        return [tiles for _, _, tiles in sorted(found, key=lambda f: f[:2])]

    def wanted(self, key: Key) -> list[Tiles]:
        """Return what an instruction may have to hold: what is demanded, then what the same operation makes."""
        part = self.run.parts[key][0]
        demanded = self.demanded(key)
        like = self.run.wholes.like(part)
        return [*(t for w in demanded for t in like if t.of is w),
                *(t for t in like if t.of not in demanded and t.of.opcode == key[1].opcode),
                *(t for t in like if t.of not in demanded and t.of.opcode != key[1].opcode)]

    def siblings(self, key: Key, all_of: Sequence[HloInstruction]) -> str:
        """Try several that do the same to the same operands, together: each the tiles of another value."""
        keys = [(key[0], i) for i in all_of if (key[0], i) in self.run.parts]
        if not 1 < len(keys) <= _SIBLINGS:
            return ""
        wholes = list(dict.fromkeys(t.of for t in self.run.wholes.like(self.run.parts[key][0])
                                    if t.of.opcode == key[1].opcode))
        for begin in range(len(wholes) - len(keys) + 1):
            rows = [list(self.run.wholes.placed(w, self.run.parts[k][0]))
                    for k, w in zip(keys, wholes[begin:], strict=False)]
            for alike in zip(*rows, strict=False):
                if self.run.is_mended(values={k: t.parts for k, t in zip(keys, alike, strict=True)}):
                    return (f"it should hold the tiles of {alike[0].of.name} of the whole program, and does not; "
                            f"nor do {', '.join(k[1].name for k in keys[1:])} those that they should")
        return ""


def _factor(number: float) -> str:
    near = Fraction(number).limit_denominator(4096)
    return str(near) if abs(float(near) - number) < 1e-4 * abs(number) else f"{number:.6g}"


def counterparts(run: PartsRun) -> dict[HloInstruction, HloInstruction]:
    """Return the counterparts of instructions: by op_name, opcode, and the counterparts of their operands."""
    by_name: dict[tuple[str, str], list[HloInstruction]] = {}
    for instruction in run.wholes.instructions:
        by_name.setdefault((op_name(instruction), instruction.opcode), []).append(instruction)
    found: dict[HloInstruction, HloInstruction] = {}
    taken: set[HloInstruction] = set()
    for _, instruction in run.keys:
        if not op_name(instruction) or instruction in found:
            continue
        known = [c for c in by_name.get((op_name(instruction), instruction.opcode), ())
                 if c not in taken and c.shape.rank == instruction.shape.rank
                 and c.shape.element_type == instruction.shape.element_type
                 and len(c.operands) == len(instruction.operands)]
        fitting = next((c for c in known if all(found.get(o, w) is w or o.opcode in COLLECTIVES
                                                for o, w in zip(instruction.operands, c.operands, strict=True))), None)
        if fitting is not None:
            found[instruction] = fitting
            taken.add(fitting)
    return found
