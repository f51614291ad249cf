"""What became of a program's instructions in another one, told by the values that they compute.

Both are run on the reference with the same arguments, and the values of every instruction are fingerprinted, those of
called computations and fusions too. An instruction of the first program *became* the one of the second that has its
value: first of the same opcode, then of any; then one that holds the same elements in another order or type of shape
(a transpose, a layout); then one that is near it, as another order of summation makes it. What has no value of its own
(one number everywhere, or that of a parameter) says nothing and is counted apart.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.blame.nonfinite import FOLDS
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution import UNSUPPORTED, Moment, Program, evaluate_program, require_one_signature
from hlotool.ir import HloComputation, HloInstruction
from hlotool.ops import Elements, opcodes
from hlotool.process import work_time

Array: TypeAlias = Any
Rows: TypeAlias = Sequence[Sequence[Array]]

#: fates, in the order in which they are looked for, and what each means
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
#: shares of the largest element that two ways to compute a value may be apart, by the type
_NEAR = {"float64": 1e-10, "complex128": 1e-10, "float32": 1e-4, "complex64": 1e-4, "float16": 1e-2, "bfloat16": 4e-2}


@dataclass(slots=True)
class _Seen:
    """An instruction that has run: what it gave, at each run of its computation."""

    instruction: HloInstruction
    is_fused: bool
    #: the fusion or call that it stands in, as the entry sees it
    inside: str
    exact: list[bytes] = field(default_factory=list)
    unordered: list[bytes] = field(default_factory=list)
    first: Array = None
    is_plain: bool = True


@dataclass(slots=True)
class ValueMatch:
    """One instruction of the first program and what it became."""

    instruction: HloInstruction
    fate: str
    partner: HloInstruction | None = None
    #: the fusion or call that the partner stands in
    inside: str = ""


@dataclass(slots=True)
class ValueMatches:
    """What became of each instruction of the first program, in the order in which they ran."""

    rows: list[ValueMatch]
    #: instructions of the second program with values that none of the first has
    new: list[HloInstruction]
    #: numbers of the results, leaf by leaf, that are neither equal nor near
    different: list[int]

    def counts(self) -> Counter[str]:
        """How many instructions have each fate."""
        return Counter(row.fate for row in self.rows)

    def summary(self) -> str:
        """The counts in one sentence."""
        counts = self.counts()
        told = ", ".join(f"{counts[f]} {f}" for f in VALUE_FATES if counts[f])
        results = f"; results that differ: {', '.join(map(str, self.different))}" if self.different else ""
        return f"{len(self.rows)} operations: {told}; {len(self.new)} operations after with new values{results}"

    def lines(self, each: bool = False) -> Iterator[tuple[str, str]]:
        """For each fate what met it: by opcode with counts, or each instruction."""
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
        """The report as plain data."""
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


def match_values(before: Program, after: Program, arguments: Rows, *, seconds: float = 120.0) -> ValueMatches:
    """What became of each instruction of `before` in `after`, both run on the reference with the same arguments.

    Raises HloError where the two take other arguments, where the reference cannot run one, or not in `seconds`.
    """
    require_one_signature(before, after, of_results=False)
    deadline = work_time() + seconds
    (left, ours), (right, theirs) = (_Watch(program, deadline).run(arguments) for program in (before, after))
    plain = {_exact(a) for row in arguments for a in row}
    by_exact: dict[bytes, _Alike] = defaultdict(_Alike)
    by_elements: dict[bytes, _Alike] = defaultdict(_Alike)
    near: dict[tuple[str, int], list[_Seen]] = defaultdict(list)
    for seen in right:
        for key in dict.fromkeys(seen.exact):
            by_exact[key].add(seen)
        for key in dict.fromkeys(seen.unordered):
            by_elements[key].add(seen)
        if seen.first is not None:
            near[seen.first.dtype.name, seen.first.size].append(seen)
    taken: set[HloInstruction] = set()
    rows = []
    for seen in left:
        if seen.is_plain or seen.exact[0] in plain:
            rows.append(ValueMatch(seen.instruction, "plain"))
            continue
        row = _row(seen, by_exact, by_elements, near, taken)
        if row.partner is not None:
            taken.add(row.partner)
        rows.append(row)
    known = {k for s in left for k in (*s.exact, *s.unordered)} | plain
    new = [s.instruction for s in right if s.instruction not in taken and not s.is_plain
           and not known.intersection((*s.exact, *s.unordered))]
    pairs = itertools.zip_longest(*(itertools.chain.from_iterable(rows) for rows in (ours, theirs)))
    different = [n for n, (a, b) in enumerate(pairs) if a is None or b is None or not _are_near(a, b)]
    return ValueMatches(rows, new, different)


def _row(seen: _Seen, by_exact: dict[bytes, _Alike], by_elements: dict[bytes, _Alike],
         near: dict[tuple[str, int], list[_Seen]], taken: set[HloInstruction]) -> ValueMatch:
    """The fate of one instruction whose value says something."""
    opcode = seen.instruction.opcode
    same = next((by_exact[k] for k in seen.exact if k in by_exact), None)
    if same is not None and (best := same.best(taken, opcode)) is not None:
        return ValueMatch(seen.instruction, "fused" if best.is_fused else "kept", best.instruction, best.inside)
    moved = next((by_elements[k] for k in seen.unordered if k in by_elements), None)
    for fate, alike in (("rewritten", same), ("moved", moved)):
        if alike is not None and (best := alike.best(taken)) is not None:
            return ValueMatch(seen.instruction, fate, best.instruction, best.inside)
    found = _near(seen, near)
    if found:
        best = min(found, key=lambda s: s.instruction in taken)
        return ValueMatch(seen.instruction, "rounded", best.instruction, best.inside)
    return ValueMatch(seen.instruction, "unknown" if found is None else "gone")


class _Alike:
    """What gives one value, which many instructions may; asked for the next one that stands for no other."""

    def __init__(self) -> None:
        #: by opcode, and "" for all of them
        self._seen: dict[str, list[_Seen]] = defaultdict(list)
        #: how many at the beginning of each list stand for others
        self._passed: dict[str, int] = defaultdict(int)

    def add(self, seen: _Seen) -> None:
        for opcode in ("", seen.instruction.opcode):
            self._seen[opcode].append(seen)

    def best(self, taken: set[HloInstruction], opcode: str = "") -> _Seen | None:
        """The first that stands for no other yet, or the first; None where there is none of the opcode."""
        if not (found := self._seen.get(opcode)):
            return None
        while self._passed[opcode] < len(found) and found[self._passed[opcode]].instruction in taken:
            self._passed[opcode] += 1
        return found[self._passed[opcode] % len(found)]


def _near(seen: _Seen, near: dict[tuple[str, int], list[_Seen]]) -> list[_Seen] | None:
    """What is apart from a value by roundings only, element by element; None where it was not looked for."""
    if seen.first is None or len(near[seen.first.dtype.name, seen.first.size]) > _MOST_NEAR:
        return None
    found = [other for other in near[seen.first.dtype.name, seen.first.size]
             if not other.is_plain and _are_near(seen.first, other.first)]
    return [s for s in found if s.instruction.opcode == seen.instruction.opcode] or found


def _are_near(one: Array, other: Array) -> bool:
    """Whether arrays of one type are equal but for roundings; NaN and infinities stand at the same places."""
    import numpy as np

    if one.dtype != other.dtype or one.size != other.size or _exact(one) == _exact(other):
        return bool(one.dtype == other.dtype and one.size == other.size)
    share = _NEAR.get(one.dtype.name)
    if share is None:
        return False
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    a, b = (x.astype(wide).reshape(-1) for x in (one, other))
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(b[finite]).all():
        return False
    return bool(np.max(np.abs(a - b)[finite], initial=0.0) <= share * np.max(np.abs(a[finite]), initial=0.0))


class _Watch:
    """Runs a program on the reference and keeps what each of its instructions gives."""

    def __init__(self, program: Program, deadline: float) -> None:
        self._program = program
        self._deadline = deadline
        self._seen: dict[HloInstruction, _Seen] = {}
        self._kept = 0
        self._fused = _fused(program)

    def run(self, arguments: Rows) -> tuple[list[_Seen], list[list[Array]]]:
        """What was seen, in the order of first runs, and the results of every device."""
        results = evaluate_program(self._program, arguments, self._see)
        return list(self._seen.values()), results

    def _see(self, moment: Moment) -> Any:
        instruction, value = moment.instruction, moment.value
        if work_time() > self._deadline:
            raise HloError([Diagnostic(UNSUPPORTED, "the reference has not run the program in the time that was given",
                                       filename=self._program.filename,
                                       help="give a smaller program, or more time")])
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
        import numpy as np

        flat = np.ascontiguousarray(value).reshape(-1)
        seen.exact.append(_exact(flat))
        seen.unordered.append(_elements(flat))
        seen.is_plain &= _is_plain(flat)
        if seen.first is None and self._kept + flat.nbytes < _KEPT:
            self._kept += flat.nbytes
            seen.first = np.array(flat)


def _fused(program: Program) -> set[HloInstruction]:
    """The instructions of fused computations."""
    callees: set[HloComputation] = set()
    for instruction in program.module.instructions():
        if instruction.opcode == "fusion":
            callees.update(instruction.called_computations())
    return {i for c in callees for i in c.instructions}


def _is_plain(flat: Array) -> bool:
    """Whether an array says nothing of where it comes from: one number everywhere, unless that is a single fraction."""
    import numpy as np

    if flat.size == 1 and flat.dtype.name in _NEAR:
        number = flat.astype(np.complex128)[0]
        return bool(not np.isfinite(number) or (number == np.round(number) and abs(number) <= _SMALL))
    bits = flat.view(np.uint8).reshape(flat.size, -1) if flat.size else flat
    return not flat.size or bool((bits == bits[0]).all())


def _exact(array: Array) -> bytes:
    """The same for the same elements in the same order, whatever the dimensions."""
    import numpy as np

    array = np.ascontiguousarray(array)
    return hashlib.blake2b(array.tobytes(), digest_size=16, key=array.dtype.name.encode()).digest()


def _elements(flat: Array) -> bytes:
    """The same for the same elements in any order."""
    import numpy as np

    bits = flat.view(f"V{flat.dtype.itemsize}") if flat.dtype.itemsize not in (1, 2, 4, 8) else \
        flat.view(f"u{flat.dtype.itemsize}")
    return _exact(np.sort(bits)) + str(flat.dtype.name).encode()
