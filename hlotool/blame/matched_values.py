"""Tells the fate of a program's instructions in another one by the values that they compute.

Both are run on the reference with the same arguments, and a digest is taken of the values of every instruction, of
called computations and fusions too. The partner of an instruction is one that has its value: first of the same opcode,
then of any; then one that holds the same elements in another order or other dimensions (a transpose, a layout); then
one that is near it, as another order of summation makes it. Values that many instructions have (one number everywhere,
or that of a parameter) pair nothing and are counted apart.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hlotool.blame.parts_run import PartsRun
from hlotool.blame.reference_run import FOLDS
from hlotool.diagnostics import HloError
from hlotool.distributed import partition_between
from hlotool.execution import UNSUPPORTED, Moment, Program, evaluate_program, require_one_signature, run_limit
from hlotool.ir import HloComputation, HloInstruction, dtype_of_numpy
from hlotool.ir.arrays import Array, digest, np
from hlotool.numerics import Rows
from hlotool.ops import Elements, opcodes
from hlotool.passes.equality import Candidates, ValueIndex, are_near
from hlotool.process import work_time

#: fates in the order in which they are tried, with the meaning of each
VALUE_FATES = {
    "kept": "the same operation gives the value, outside of fusions",
    "fused": "the same operation gives the value, in a fusion",
    "rewritten": "another operation gives the value",
    "moved": "the same elements stand there in another order or shape",
    "rounded": "an operation gives nearly the value",
    "plain": "one number everywhere, or a parameter's value: says nothing",
    "unknown": "no equal value; too large, or too many, to look for one that is near",
    "gone": "no value is equal or near: folded into what uses it, or not needed",
}
#: operations without a value of their own: another has it, or a computation that they call
_FORWARDING = opcodes(lambda flow: flow.is_free or flow.enters or flow.elements is Elements.FORWARDED) | {"reshape"}
#: runs of an instruction in loops that are looked at
_MOST_RUNS = 64
#: bytes of values that are kept to find near ones
_KEPT = 1 << 29
#: values of one type and size that one is held against
_MOST_NEAR = 200
#: whole numbers up to here turn up everywhere
_SMALL = 1 << 16


@dataclass(slots=True, eq=False)
class _Seen:
    """An instruction that has run, and its value in each run of its computation."""

    instruction: HloInstruction
    is_fused: bool
    #: the fusion that holds it, as the entry sees it; "" for none
    inside: str
    exact: list[bytes] = field(default_factory=list)
    unordered: list[bytes] = field(default_factory=list)
    first: Array | None = None
    is_plain: bool = True


@dataclass(slots=True)
class ValueMatch:
    """One instruction of the first program, its fate and its partner."""

    instruction: HloInstruction
    fate: str
    partner: HloInstruction | None = None
    #: the fusion that holds the partner
    inside: str = ""


@dataclass(slots=True)
class ValueMatches:
    """The fate of each instruction of the first program, in the order in which they ran."""

    rows: list[ValueMatch]
    #: instructions of the second program with values that none of the first has
    new: list[HloInstruction]
    #: numbers of the results, leaf by leaf, that are neither equal nor near
    different: list[int]

    def counts(self) -> Counter[str]:
        """Return how many instructions have each fate."""
        return Counter(row.fate for row in self.rows)

    def summary(self) -> str:
        """Return the counts in one sentence."""
        counts = self.counts()
        told = ", ".join(f"{counts[f]} {f}" for f in VALUE_FATES if counts[f])
        results = f"; results that differ: {', '.join(map(str, self.different))}" if self.different else ""
        return f"{len(self.rows)} operations: {told}; {len(self.new)} operations after with new values{results}"

    def lines(self, each: bool = False) -> Iterator[tuple[str, str]]:
        """Yield lines for each fate: opcodes with counts, or each instruction."""
        for fate, meaning in VALUE_FATES.items():
            rows = [r for r in self.rows if r.fate == fate]
            if not rows:
                continue
            yield "head", f"{fate} ({meaning}):"
            if each:
                yield from ((("-" if fate == "gone" else "~"), f"  {_told(row)}") for row in rows)
            else:
                counts = Counter(_kind(row) for row in rows)
                yield "~", "  " + ", ".join(f"{kind} x{n}" for kind, n in counts.most_common())
        if self.new:
            yield "head", "new (no operation before gives the value):"
            if each:
                yield from (("+", f"  {i.name} {i.opcode}") for i in self.new)
            else:
                yield "+", "  " + ", ".join(f"{o} x{n}" for o, n in Counter(i.opcode for i in self.new).most_common())

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {"operations": [{"name": r.instruction.name, "opcode": r.instruction.opcode, "fate": r.fate,
                                "became": r.partner.name if r.partner else None,
                                "became_opcode": r.partner.opcode if r.partner else None,
                                "inside": r.inside or None} for r in self.rows],
                "new": [{"name": i.name, "opcode": i.opcode} for i in self.new],
                "different_results": self.different}


def _kind(row: ValueMatch) -> str:
    own = row.instruction.opcode
    return own if row.partner is None or row.partner.opcode == own else f"{own} -> {row.partner.opcode}"


def _told(row: ValueMatch) -> str:
    own = f"{row.instruction.name} {row.instruction.opcode}"
    if row.partner is None:
        return own
    opcode = "" if row.partner.opcode == row.instruction.opcode else f" {row.partner.opcode}"
    return f"{own} -> {row.partner.name}{opcode}" + (f" in {row.inside}" if row.inside else "")


def _match_parts(run: PartsRun) -> ValueMatches:
    """Return the fate of each instruction of a whole program in its partitioned form: kept if its tiles are there."""
    there: dict[HloInstruction, list[HloInstruction]] = {}
    new: dict[HloInstruction, None] = {}
    for key in run.keys:
        held = run.wholes.held(run.parts[key])
        for tiles in held:
            there.setdefault(tiles.of, []).append(key[1])
        if not held and key[1].opcode not in _FORWARDING:
            new[key[1]] = None
    rows = []
    for instruction in run.wholes.instructions:
        if instruction.opcode in _FORWARDING:
            continue
        partners = sorted(there.get(instruction, ()), key=lambda p, own=instruction.opcode: p.opcode != own)
        fate = "plain" if not instruction.operands else "gone" if not partners else \
            "kept" if partners[0].opcode == instruction.opcode else "rewritten"
        rows.append(ValueMatch(instruction, fate, partners[0] if partners and instruction.operands else None))
    return ValueMatches(rows, list(new), run.wrong_results())


def match_values(before: Program, after: Program, arguments: Rows, *, seconds: float = 120.0) -> ValueMatches:
    """Return the fate of each instruction of `before` in `after`, both run on the reference with the same arguments.

    Of a program and its partitioned form the values of all devices are put together (parts_run.py). Raises HloError
    where the two take other arguments, where the reference cannot run one, or not in `seconds`.
    """
    partition = partition_between(before, after)
    if partition is not None:
        with run_limit(seconds):
            return _match_parts(PartsRun(partition, list(arguments[0]), work_time() + seconds))
    require_one_signature(before, after, of_results=False)
    deadline = work_time() + seconds
    (left, ours), (right, theirs) = (_Watch(program, deadline).run(arguments) for program in (before, after))
    plain = {digest(a) for row in arguments for a in row}
    there = _There(right)
    rows = [ValueMatch(seen.instruction, "plain") if seen.is_plain or seen.exact[0] in plain else there.match(seen)
            for seen in left]
    known = {k for s in left for k in (*s.exact, *s.unordered)} | plain
    new = [s.instruction for s in right if s not in there.taken and not s.is_plain
           and not known.intersection((*s.exact, *s.unordered))]
    pairs = itertools.zip_longest(*(itertools.chain.from_iterable(rows) for rows in (ours, theirs)))
    different = [n for n, (a, b) in enumerate(pairs) if a is None or b is None or not are_near(a, b)]
    return ValueMatches(rows, new, different)


class _There:
    """The instructions of the second program by their values; one is the partner of several if no other is left."""

    def __init__(self, seen: list[_Seen]) -> None:
        self.taken: set[_Seen] = set()
        self._by_value = Candidates[_Seen](self.taken)
        self._near = ValueIndex[_Seen](_MOST_NEAR)
        self._sizes: Counter[tuple[str, int]] = Counter()
        for each in seen:
            for key in dict.fromkeys(each.exact):
                self._by_value.add(each, key, (key, each.instruction.opcode))
            for key in dict.fromkeys(each.unordered):
                self._by_value.add(each, key)
            if each.first is not None:
                self._near.add(each, each.first)
                self._sizes[each.first.dtype.name, each.first.size] += 1

    def match(self, seen: _Seen) -> ValueMatch:
        """Return the fate of one instruction whose value is not plain."""
        opcode = seen.instruction.opcode
        fate, found = "kept", self._by_value.best(*((k, opcode) for k in seen.exact))
        if found is not None and found.is_fused:
            fate = "fused"
        if found is None:
            fate, found = "rewritten", self._by_value.best(*seen.exact)
        if found is None:
            fate, found = "moved", self._by_value.best(*seen.unordered)
        if found is None:
            fate, found = "rounded", self._nearest(seen)
        if found is None:
            return ValueMatch(seen.instruction, "unknown" if self._is_crowded(seen) else "gone")
        self.taken.add(found)
        return ValueMatch(seen.instruction, fate, found.instruction, found.inside)

    def _nearest(self, seen: _Seen) -> _Seen | None:
        """Return an instruction whose value differs by roundings only, one of the same opcode if there is any."""
        if seen.first is None or self._is_crowded(seen):
            return None
        found = [other for _, other in self._near.near(seen.first) if not other.is_plain]
        opcode = seen.instruction.opcode
        return min(found, default=None, key=lambda s: (s.instruction.opcode != opcode, s in self.taken))

    def _is_crowded(self, seen: _Seen) -> bool:
        """Return True if near values are not looked for: the value was not kept, or too many are of its size."""
        return seen.first is None or self._sizes[seen.first.dtype.name, seen.first.size] > _MOST_NEAR


class _Watch:
    """Runs a program on the reference and keeps what each of its instructions gives."""

    def __init__(self, program: Program, deadline: float) -> None:
        self._program = program
        self._deadline = deadline
        self._seen: dict[HloInstruction, _Seen] = {}
        self._kept = 0
        self._fused = _fused(program)

    def run(self, arguments: Rows) -> tuple[list[_Seen], list[list[Array]]]:
        """Return what was seen, in the order of first runs, and the results of every device."""
        results = evaluate_program(self._program, arguments, self._see)
        return list(self._seen.values()), results

    def _see(self, moment: Moment) -> Any:
        instruction, value = moment.instruction, moment.value
        if work_time() > self._deadline:
            raise HloError.of(UNSUPPORTED, "the reference has not run the program in the time that was given",
                              filename=self._program.filename,
                              help="give a smaller program, or more time")
        if moment.device or not instruction.shape.is_array or instruction.opcode in _FORWARDING \
                or any(call.caller.opcode in FOLDS for call in moment.path):
            return value
        seen = self._seen.get(instruction)
        if seen is None:
            inside = next((c.caller.name for c in reversed(moment.path) if c.caller.opcode == "fusion"), "")
            seen = self._seen[instruction] = _Seen(instruction, instruction in self._fused, inside)
        if len(seen.exact) < _MOST_RUNS:
            self._take(seen, value)
        return value

    def _take(self, seen: _Seen, value: Array) -> None:
        flat = np.ascontiguousarray(value).reshape(-1)
        seen.exact.append(digest(flat))
        seen.unordered.append(_elements(flat))
        seen.is_plain &= _is_plain(flat)
        if seen.first is None and self._kept + flat.nbytes < _KEPT:
            self._kept += flat.nbytes
            seen.first = np.array(flat)


def _fused(program: Program) -> set[HloInstruction]:
    """Return the instructions of fused computations."""
    callees: set[HloComputation] = set()
    for instruction in program.module.instructions():
        if instruction.opcode == "fusion":
            callees.update(instruction.called_computations())
    return {i for c in callees for i in c.instructions}


def _is_plain(flat: Array) -> bool:
    """Return True for arrays that many instructions may have: one number everywhere, but no single fraction."""
    kind = dtype_of_numpy(flat.dtype)
    if flat.size == 1 and (kind.is_floating or kind.is_complex):
        number = flat.astype(np.complex128)[0]
        return bool(not np.isfinite(number) or (number == np.round(number) and abs(number) <= _SMALL))
    bits = flat.view(np.uint8).reshape(flat.size, -1) if flat.size else flat
    return not flat.size or bool((bits == bits[0]).all())


def _elements(flat: Array) -> bytes:
    """Return a key that is equal for equal elements in any order."""
    bits = flat.view(f"V{flat.dtype.itemsize}") if flat.dtype.itemsize not in (1, 2, 4, 8) else \
        flat.view(f"u{flat.dtype.itemsize}")
    return digest(np.sort(bits)) + str(flat.dtype.name).encode()
