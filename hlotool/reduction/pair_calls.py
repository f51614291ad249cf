"""Two modules whose called computations become the entries, with the arguments of a call on which they differ.

    left                                      right                    what is left of both
    while(s), condition=c, body=b             while(s), ..., body=b    b on the state of an iteration to which both
                                                                       give the same, and after which they differ

Computations stand for each other where callers of one opcode call them under one attribute. A fold calls its reducer
for many elements at once: then one element is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from hlotool.diagnostics import HloError
from hlotool.execution import Moment, Path, flat
from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape, post_order
from hlotool.ir.arrays import Array, digest, np
from hlotool.numerics import Rows, is_nan
from hlotool.passes.edit import section
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.cutting import promote_each
from hlotool.reduction.entry_values import made_rows, results_on
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.pair_cutting import renumber
from hlotool.reduction.search_state import SearchState

#: the callers and their iterations that lead to a call
_Key: TypeAlias = tuple[tuple[str, int], ...]
#: calls of one computation on which the two differ that are tried
_MOST_CALLS = 3


def promote_pair(work: SearchState, *, is_made: bool = True) -> bool:
    """Let computations that both modules call be the entries. Return True if it helped.

    `is_made`: of a computation that the reference calls in no way that can be watched, arguments are made; only after
    what lies around its caller has been cut off it is certain that the two stand for each other.
    """
    return promote_each(work, lambda base: _promotions(base, is_made))


def _promotions(base: Candidate, is_made: bool) -> Iterator[Maker]:
    assert base.other is not None
    pairs = sorted(_called_pairs(base), key=lambda p: len(p[0].instructions) + len(p[1].instructions))
    if not pairs:
        return
    sides = [_recorded(m, base.rows or [], {p[n].name: p[n] for p in pairs})
             for n, m in enumerate((base.module, base.other))]
    for one, other in pairs:
        for keys in _differing_calls(sides[0], sides[1], one, other)[:_MOST_CALLS]:
            yield partial(_promoted, base, one, other, keys)
        if is_made and one.name not in sides[0] and other.name not in sides[1]:
            yield partial(_promoted_on_made, base, one, other)


def _called_pairs(base: Candidate) -> list[tuple[HloComputation, HloComputation]]:
    """Return the computations of one signature that stand for each other, those inside of them, too."""
    assert base.other is not None
    found: dict[tuple[HloComputation, HloComputation], None] = {}
    waiting = [(base.module.entry, base.other.entry)]
    while waiting:
        pair = waiting.pop()
        for one, other in _callers(*pair):
            for name, called in _called(one).items():
                partner = _called(other).get(name)
                if partner is not None and (called, partner) not in found:
                    waiting.append((called, partner))
                    found[called, partner] = None
    return [(a, b) for a, b in found if _have_one_signature(a, b)]


def _callers(one: HloComputation, other: HloComputation) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    """Yield callers of one opcode: by their order, or, where one side has more of them, by their names."""
    sides = [[i for i in post_order(c) if i.called_computations()] for c in (one, other)]
    for opcode in dict.fromkeys(i.opcode for i in sides[0]):
        left, right = ([i for i in side if i.opcode == opcode] for side in sides)
        if len(left) == len(right):
            yield from zip(left, right, strict=True)
        else:
            names = {i.name: i for i in right}
            yield from ((i, names[i.name]) for i in left if i.name in names)


def _called(caller: HloInstruction) -> dict[tuple[str, int], HloComputation]:
    found = {}
    for name, value in caller.attributes.items():
        for number, item in enumerate(value if isinstance(value, tuple) else (value,)):
            if isinstance(item, HloComputation):
                found[name, number] = item
    return found


def _have_one_signature(one: HloComputation, other: HloComputation) -> bool:
    """Return True if two computations take and give the same arrays, in tuples or not."""
    given = [[s.without_layout() for p in c.parameters() for _, s in p.shape.leaves()] for c in (one, other)]
    results = [[s.without_layout() for _, s in c.root.shape.leaves()] for c in (one, other)]
    return given[0] == given[1] and results[0] == results[1]


@dataclass
class _Call:
    """One call of a computation on one device: its arguments and its result."""

    arguments: list[Any] = field(default_factory=list)
    result: Any = None


class _Recorder:
    """Digests of all calls of computations, or the values of one call."""

    def __init__(self, computations: Mapping[str, HloComputation], wanted: _Key | None = None) -> None:
        self.roots = {name: c.root.name for name, c in computations.items()}
        self.wanted = wanted
        self.calls: dict[str, dict[_Key, dict[int, _Call]]] = {}

    def see(self, moment: Moment) -> Any:
        name = moment.path[-1].computation.name if moment.path else ""
        if name in self.roots:
            key = key_of(moment.path)
            if self.wanted in (None, key):
                calls = self.calls.setdefault(name, {}).setdefault(key, {})
                self._note(calls.setdefault(moment.device, _Call()), moment, self.roots[name])
        return moment.value

    def _note(self, call: _Call, moment: Moment, root: str) -> None:
        instruction = moment.instruction
        value = moment.value if self.wanted is not None else _digest(instruction.shape, moment.value)
        if instruction.opcode == "parameter":
            call.arguments.append(value)
        if instruction.name == root:
            call.result = value


def key_of(path: Path) -> _Key:
    """Return the callers and their iterations that lead to a moment."""
    return tuple((c.caller.name, c.iteration) for c in path)


def _digest(shape: Shape, value: Any) -> tuple[bytes, ...]:
    return tuple(np.asarray(leaf).shape.__repr__().encode() + digest(leaf) for leaf in flat(shape, value))


def _recorded(module: HloModule, rows: Rows, computations: Mapping[str, HloComputation], wanted: _Key | None = None
              ) -> dict[str, dict[_Key, list[_Call]]]:
    """Return the calls of computations by their names, device by device."""
    recorder = _Recorder(computations, wanted)
    results_on(module, rows, recorder.see)
    return {name: {key: [by_device[d] for d in sorted(by_device)] for key, by_device in calls.items()
                   if len(by_device) == len(rows)} for name, calls in recorder.calls.items()}


#: the calls of each computation
_Calls: TypeAlias = Mapping[str, Mapping[_Key, Sequence[_Call]]]


def _differing_calls(left: _Calls, right: _Calls, one: HloComputation, other: HloComputation
                     ) -> list[tuple[_Key, _Key]]:
    """Return calls of the two with the same arguments and other results.

    A result that the other module has for those arguments elsewhere is no fault: its computations come in another
    order.
    """
    partners: dict[Any, tuple[_Key, Any]] = {}
    for key, calls in right.get(other.name, {}).items():
        partners.setdefault(_arguments(calls), (key, _results(calls)))
    made = [{(_arguments(calls), _results(calls)) for by_key in side.values() for calls in by_key.values()}
            for side in (left, right)]
    found = []
    for key, calls in left.get(one.name, {}).items():
        given, result = _arguments(calls), _results(calls)
        partner = partners.get(given)
        if partner is not None and (given, result) not in made[1] and (given, partner[1]) not in made[0]:
            found.append((key, partner[0]))
    return found


def _arguments(calls: Sequence[_Call]) -> Any:
    return tuple(tuple(leaf for a in c.arguments for leaf in a) for c in calls)


def _results(calls: Sequence[_Call]) -> Any:
    return tuple(c.result for c in calls)


def _promoted(base: Candidate, one: HloComputation, other: HloComputation, keys: tuple[_Key, _Key]) -> Candidate | None:
    assert base.other is not None
    calls = [_recorded(module, base.rows or [], {c.name: c}, key).get(c.name, {}).get(key) for module, c, key in
             zip((base.module, base.other), (one, other), keys, strict=True)]
    if None in calls:
        return None
    rows = [_row(one, left, right) for left, right in zip(*calls, strict=True)]
    return None if None in rows else _as_entries(base, one, other, rows)  # type: ignore[arg-type]


def _promoted_on_made(base: Candidate, one: HloComputation, other: HloComputation) -> Candidate | None:
    """Return the computations on made arguments: a fold of one operation does not call its reducer."""
    made = _as_entries(base, one, other, [])
    try:
        return Candidate(made.module, made_rows(made.module, len(base.rows or [])), made.other)
    except HloError:
        return None


def _as_entries(base: Candidate, one: HloComputation, other: HloComputation, rows: Rows) -> Candidate:
    assert base.other is not None
    parts = [section(module, c, c.results()) for module, c in ((base.module, one), (base.other, other))]
    for part, computation in zip(parts, (one, other), strict=True):
        renumber(part, [p.parameter_number for p in part.fed], computation.parameters())
    return Candidate(parts[0].module, rows, parts[1].module)


def _row(computation: HloComputation, left: _Call, right: _Call) -> list[Array] | None:
    """Return the leaves of a call's arguments; of a call for many elements those of one on which the two differ."""
    parameters = computation.parameters()
    given = [np.asarray(leaf) for p, a in zip(parameters, left.arguments, strict=True) for leaf in flat(p.shape, a)]
    wanted = [s for p in parameters for _, s in p.shape.leaves() if s.is_array]
    if len(given) != len(wanted):
        return None
    if all(a.shape == s.dims for a, s in zip(given, wanted, strict=True)):
        return given
    if any(s.dims for s in wanted):
        return None
    place = _differing_place(computation.root.shape, left, right)
    return None if place is None else [np.asarray(a.reshape(-1)[place if a.size > 1 else 0]) for a in given]


def _differing_place(shape: Shape, left: _Call, right: _Call) -> int | None:
    for a, b in zip(flat(shape, left.result), flat(shape, right.result), strict=True):
        differs = np.flatnonzero(~((a == b) | (is_nan(a) & is_nan(b))))
        if differs.size:
            return int(differs[0])
    return None
