"""Relates the values of a program on all devices to whole values, instruction by instruction.

The rules stand with the operations (hlotool.ops.relation_rules). Here is what calls: functions are gone into; a loop is
carried by induction: its state is taken for unknown arrays, of which each device has a tile, and the body has to give
tiles of the same kind again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from hlotool.execution import NotSplit, Program, border_of
from hlotool.ir import HloComputation, HloInstruction, Placement, Shape, UnlistedDevicesError, post_order
from hlotool.ir.arrays import Array, np
from hlotool.ops import TARGETS, Calls, flow_of, is_border
from hlotool.ops.relation_rules import carried
from hlotool.ops.relation_values import array_of, one_view
from hlotool.ops.relations import NotCarried, Pieces, Read, Relations, Rows, TermView, Value
from hlotool.passes.loop_states import invariant_places
from hlotool.process import work_time

#: times that the tiles of a loop's state are guessed anew
_MOST_GUESSES = 4


def tile_of(relations: Relations, value: TermView | Pieces, placement: Placement, sizes: Sequence[int]
            ) -> TermView | Pieces:
    """Return what a whole value is in each device's part, of these sizes."""
    if isinstance(value, TermView) and (own := _assembled_of(value)) is not None and own[1] == placement:
        return own[0]
    places = _places(placement, len(sizes))
    units = tuple(tuple(int(a == b) for b in range(len(sizes))) for a in range(len(sizes)))
    return relations.moved(value, units, places * np.asarray(sizes, np.int64), sizes)


def _places(placement: Placement, rank: int) -> Array:
    """Return the tile of each device, a row for each."""
    return np.asarray(placement.places, np.int64).reshape(len(placement.places), rank)


def _assembled_of(view: TermView) -> tuple[TermView | Pieces, Placement] | None:
    """Return the parts of which a whole value was made, and their places, where it is all of that."""
    rank = len(view.dims)
    units = tuple(tuple(int(a == b and view.dims[b] != 1) for b in range(rank)) for a in range(rank))
    if view.term.kind != "assembled" or view.rows != units or view.offsets.array.any():
        return None
    return view.term.key[1], view.term.key[2]


@dataclass
class Walk:
    """One program's values on all devices."""

    relations: Relations
    program: Program
    #: the time of work at which it ends
    until: float
    #: the values of instructions that are run once, by instruction; of the others the last
    values: dict[HloInstruction, Value | None] = field(default_factory=dict)
    #: why instructions have no value, where their operands have
    reasons: dict[HloInstruction, str] = field(default_factory=dict)
    _calls: dict[Any, Any] = field(default_factory=dict)
    _depth: int = 0

    def run(self, computation: HloComputation, arguments: Sequence[Any]) -> Any:
        """Return what a computation gives; None stands for what is not known."""
        values = self.values
        for instruction in post_order(computation):
            if instruction.opcode == "parameter":
                values[instruction] = arguments[instruction.parameter_number]
                continue
            values[instruction] = self._value(instruction, [values[o] for o in instruction.operands])
        return values[computation.root]

    def _value(self, instruction: HloInstruction, operands: Sequence[Any]) -> Any:
        flow = flow_of(instruction)
        if not flow.packs and not flow.enters and any(not _is_known(o) for o in operands):
            return None
        if work_time() > self.until:
            raise NotCarried("time is over")
        try:
            _require_plain(instruction)
            if flow.enters:
                return self._entered(instruction, flow.calls, operands)
            if instruction.opcode == "custom-call":
                return self._custom_call(instruction, operands)
            return carried(self.relations, instruction, operands)
        except (NotCarried, UnlistedDevicesError) as error:
            self.reasons[instruction] = str(error)
            return None

    def _entered(self, instruction: HloInstruction, calls: Calls, operands: Sequence[Any]) -> Any:
        if calls is Calls.LOOP:
            return self._loop(instruction, operands[0])
        if calls is Calls.BRANCHES:
            return self._branches(instruction, operands)
        (computation,) = instruction.called_computations()
        return self._called(computation, operands)

    def _called(self, computation: HloComputation, operands: Sequence[Any]) -> Any:
        key = (computation, tuple(operands), self._depth)
        if key not in self._calls:
            self._calls[key] = self.run(computation, operands)
        return self._calls[key]

    def _custom_call(self, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        if is_border(instruction):
            return self._border(instruction, operands)
        if only_marks(instruction):
            return operands[0]
        return carried(self.relations, instruction, operands)

    # regions that are partitioned by hand

    def _border(self, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        devices = self.relations.devices
        try:
            border = border_of(self.program.module, instruction, devices)
        except NotSplit as error:
            raise NotCarried(str(error)) from error
        found = []
        shapes = instruction.shape.members
        for value, parts, shape in zip(map(array_of, operands), border.parts, shapes, strict=True):
            rank = len(shape.dims)
            placement = Placement(tuple(n for _, n in parts[0]) + (1,) * (rank - len(parts[0])),
                                  tuple(tuple(p for p, _ in part) + (0,) * (rank - len(part)) for part in parts))
            found.append(tile_of(self.relations, value, placement, shape.dims) if border.enters
                         else self._assembled(value, placement, shape))
        return tuple(found) if instruction.shape.is_tuple else found[0]

    def _assembled(self, value: TermView | Pieces, placement: Placement, shape: Shape) -> TermView | Pieces:
        """Return the whole value of which each device has its part; devices with one part have to have it alike."""
        sizes = value.dims
        starts = _places(placement, len(sizes)) * np.asarray(sizes, np.int64)
        if isinstance(value, TermView):
            rows = np.asarray(value.rows, np.int64).reshape(len(value.rows), len(sizes))
            base = value.offsets.array - starts @ rows.T
            if (base == base[:1]).all() and all(
                    n > 1 or c == 1 for n, c in zip(sizes, placement.counts, strict=True)):
                return self.relations.view(value.term, value.rows, self.relations.table(base[:1]), shape.dims)
        _require_alike(value, placement)
        term = self.relations.term(("assembled", value, placement, shape.dims), value.element_type,
                                   [(0, n) for n in shape.dims])
        units = tuple(tuple(int(a == b) for b in range(len(sizes))) for a in range(len(sizes)))
        return self.relations.view(term, units, self.relations.same((0,) * len(sizes)), shape.dims)

    # branches and loops

    def _branches(self, instruction: HloInstruction, operands: Sequence[Any]) -> Any:
        if not _is_known(operands[0]):
            return None
        index, computations = one_view(operands[0]), instruction.called_computations()
        if index.dims or not index.offsets.is_same:
            raise NotCarried("the branch depends on the device")
        results = [self._called(c, [o]) for c, o in zip(computations, operands[1:], strict=True)]
        return self._chosen(index, results, instruction.shape)

    def _chosen(self, index: TermView, results: Sequence[Any], shape: Shape) -> Any:
        if any(r is None for r in results):
            return None
        if shape.is_tuple:
            return tuple(self._chosen(index, [r[n] for r in results], s) for n, s in enumerate(shape.elements))
        if all(r == results[0] for r in results):
            return results[0]

        def function(views: Sequence[TermView]) -> TermView:
            return self.relations.combined("conditional", shape.element_type, [Read(v) for v in views], shape.dims)

        spread = self.relations.moved(index, (), np.zeros((1, 0), np.int64), shape.dims)
        return self.relations.each(function, [spread, *map(array_of, results)], shape.dims)

    def _loop(self, instruction: HloInstruction, start: Any) -> Any:
        condition, body = instruction.attributes["condition"], instruction.attributes["body"]
        shape = instruction.shape
        if not shape.is_tuple:
            raise NotCarried("a loop without a tuple")
        if not isinstance(start, tuple) or any(s.is_tuple for s in shape.elements):
            raise NotCarried("the state of the loop is no flat tuple")
        kept = invariant_places(body)
        if any(not _is_known(v) for v in start):
            return None
        self._depth += 1
        try:
            return _Induction(self, shape, list(start), kept, condition, body, self._depth).result()
        finally:
            self._depth -= 1


@dataclass
class _Induction:
    """A loop whose state is carried: tiles of unknown arrays, which the body makes tiles of others."""

    walk: Walk
    shape: Shape
    start: list[Value]
    #: places of the state that the body forwards
    kept: frozenset[int]
    condition: HloComputation
    body: HloComputation
    depth: int

    def result(self) -> Value:
        """Return the state after the loop. Raises NotCarried."""
        private = {n for n, v in enumerate(self.start) if n not in self.kept and not isinstance(v, TermView)}
        while True:
            try:
                return self._induced(private)
            except _NoTile as error:
                private.add(error.number)

    def _induced(self, private: Set[int]) -> Value:
        """Return the state after the loop, of which some parts are each device's own. Raises _NoTile for others."""
        tiles = {n: _tiles(one_view(v)) for n, v in enumerate(self.start) if n not in self.kept | private}
        for _ in range(_MOST_GUESSES):
            state = tuple(v if n in self.kept else self._own(n, ("private", self.depth, n)) if n in private
                          else self._state(n, tiles[n]) for n, v in enumerate(self.start))
            made = self.walk.run(self.body, [state])
            if not isinstance(made, tuple) or not all(map(_is_known, made)):
                raise NotCarried("the body of the loop is not carried")
            if (split := next((n for n in tiles if not isinstance(made[n], TermView)), None)) is not None:
                raise _NoTile(split)
            again = {n: _merged_tiles(tiles[n], _tiles(one_view(made[n]))) for n in tiles}
            if all((again[n] == tiles[n]).all() for n in tiles):
                return self._ended(state, made, tiles, private)
            changed = next(n for n in tiles if not np.array_equal(again[n], tiles[n]))
            tiles = again
        raise _NoTile(changed)

    def _state(self, number: int, tiles: Array) -> TermView:
        shape = self.shape.elements[number]
        relations = self.walk.relations
        key = ("state", self.depth, number, shape.rank)  # other loops carry other arrays there
        term = relations.term(key, shape.element_type, [(None, None)] * shape.rank)
        units = tuple(tuple(int(a == b) for b in range(shape.rank)) for a in range(shape.rank))
        return relations.view(term, units, relations.table(tiles), shape.dims)

    def _own(self, number: int, key: tuple[Hashable, ...]) -> TermView:
        """Return an array that each device has for itself: a coordinate of its term counts the devices."""
        shape, relations = self.shape.elements[number], self.walk.relations
        term = relations.term((*key, shape.dims), shape.element_type,
                              [(0, relations.devices), *((0, n) for n in shape.dims)])
        rows = ((0,) * shape.rank, *(tuple(int(a == b) for b in range(shape.rank)) for a in range(shape.rank)))
        table = np.zeros((relations.devices, shape.rank + 1), np.int64)
        table[:, 0] = np.arange(relations.devices)
        return relations.view(term, rows, relations.table(table), shape.dims)

    def _ended(self, state: Value, made: Sequence[Value], tiles: dict[int, Array], private: Set[int]) -> Value:
        relations = self.walk.relations
        goes_on = self.walk.run(self.condition, [state])
        if not _is_known(goes_on):
            raise NotCarried("the condition of the loop is not carried")
        goes_on = one_view(goes_on)
        if not goes_on.offsets.is_same:
            raise NotCarried("the condition of the loop depends on the device")
        key = (goes_on.term.number, tuple(map(int, goes_on.offsets.array[0])), tuple(
            (n, _closed(one_view(self.start[n]), t, n), _closed(one_view(made[n]), t, n)) for n, t in tiles.items()),
            tuple((n, self.start[n], made[n]) for n in sorted(private)))
        found = []
        for n, value in enumerate(self.start):
            if n in self.kept:
                found.append(value)
                continue
            if n in private:
                found.append(self._own(n, ("loop", key, n)))
                continue
            shape = self.shape.elements[n]
            units = tuple(tuple(int(a == b) for b in range(shape.rank)) for a in range(shape.rank))
            term = relations.term(("loop", key, n), shape.element_type, [(None, None)] * shape.rank)
            found.append(relations.view(term, units, relations.table(tiles[n]), shape.dims))
        return tuple(found)


class _NoTile(Exception):
    """A part of a loop's state is no tile of the same kind after a round."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def only_marks(instruction: HloInstruction) -> bool:
    """Return True for a custom call that gives its operand."""
    return instruction.attributes.get("custom_call_target") in TARGETS and len(instruction.operands) == 1 and (
        instruction.shape.compatible(instruction.operands[0].shape)) and not is_border(instruction)


def _require_plain(instruction: HloInstruction) -> None:
    """Raise NotCarried for sizes that are known only when the program runs, and for computations in flight."""
    if not all(s.is_static for _, s in instruction.shape.leaves() if s.is_array):
        raise NotCarried("its size is known when it runs")
    flow = flow_of(instruction)
    if flow.enters and flow.step is not None:
        raise NotCarried("a computation in flight")


def _is_known(value: Any) -> bool:
    return value is not None and (not isinstance(value, tuple) or all(map(_is_known, value)))


def _tiles(view: TermView) -> Array:
    """Return where each device's tile begins, as far as one dimension alone tells of a coordinate; else zeros."""
    offsets = view.offsets.array
    found = np.zeros((len(offsets), len(view.dims)), np.int64)
    taken = set()
    for k in range(len(view.dims)):
        for t, row in enumerate(view.rows):
            if row[k] == 1 and sum(map(bool, row)) == 1:
                found[:, k] = offsets[:, t] - offsets[:, t].min()
                taken.add(t)
                break
    free = [k for k, n in enumerate(view.dims) if n == 1]
    for t, row in enumerate(view.rows):
        if t not in taken and not any(row) and (offsets[:, t] != offsets[0, t]).any() and free:
            found[:, free.pop(0)] = offsets[:, t] - offsets[:, t].min()
    return found


def _merged_tiles(one: Array, other: Array) -> Array:
    """Return both guesses of tiles, dimension by dimension: what is not zero counts."""
    one, other = np.broadcast_arrays(one, other)
    return np.where((one != 0).any(axis=0), one, other)


def _closed(view: TermView, tiles: Array, number: int) -> tuple[int, Rows, tuple[int, ...]]:
    """Return a view whose tiles begin there, as a function of whole indices. Raises _NoTile for a part of a state."""
    rows, constants = [], []
    for t, row in enumerate(view.rows):
        rest = view.offsets.array[:, t] - tiles @ np.asarray(row, np.int64)
        coefficients = list(row)
        for k, n in enumerate(view.dims):
            steps = tiles[:, k]
            if n == 1 and (steps != steps[0]).any() and (rest != rest[0]).any():
                at = int(np.argmax(steps != steps[0]))
                factor = (rest[at] - rest[0]) // (steps[at] - steps[0])
                if (rest - factor * steps == rest[0] - factor * steps[0]).all():
                    coefficients[k], rest = int(factor), rest - factor * steps
        if (rest != rest[0]).any():
            raise _NoTile(number)
        rows.append(tuple(coefficients))
        constants.append(int(rest[0]))
    return view.term.number, tuple(rows), tuple(constants)


def _require_alike(value: TermView | Pieces, placement: Placement) -> None:
    """Raise NotCarried unless devices that have one part have the same there."""
    tables = [value.offsets] if isinstance(value, TermView) else [
        t for p in value.pieces for t in (p.low, p.high, p.view.offsets)]
    seen: dict[Any, list[Any]] = {}
    for device, place in enumerate(placement.places):
        row = [t.array[device if len(t.array) > 1 else 0].tolist() for t in tables]
        if seen.setdefault(place, row) != row:
            raise NotCarried("devices of one part have several values of it")


def leaves_of(value: Any, shape: Shape) -> Iterator[Any]:
    """Yield the arrays of a value; None for those that are not known."""
    if shape.is_tuple:
        for n, element in enumerate(shape.elements):
            yield from leaves_of(value[n] if isinstance(value, tuple) else None, element)
    elif not shape.is_token:
        yield value


def nested_arguments(program: Program, made: Callable[[int, Shape], TermView | Pieces]) -> list[Any]:
    """Return the arguments of a program's entry, made leaf by leaf."""
    numbers = iter(range(1 << 30))

    def one(shape: Shape) -> Any:
        if shape.is_tuple:
            return tuple(map(one, shape.elements))
        return made(next(numbers), shape)

    return [one(p.shape) for p in program.module.entry.parameters()]


__all__ = ["Walk", "leaves_of", "nested_arguments", "only_marks", "tile_of"]
