"""A run of the reference with every value that it makes, and values that are wanted carried back through it.

    y = u32[] multiply(x, 2654435761)
    c = pred[] compare(y, 12345), direction=EQ

12345 is wanted of y: as the factor is odd, x must be its product with the inverse modulo 2^32. What another operand
holds is taken from the run, so that this goes through branches, calls, and the rounds of loops. Where that operand
depends on the same argument, a few runs after one another come nearer (x ^ x >> 16). Nothing is believed: the arguments
are run, and the value is looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.diagnostics import HloError
from hlotool.execution import Moment, Path, Program, RunningCall, evaluate_program
from hlotool.ir import HloInstruction, dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.numerics import is_nan
from hlotool.ops import OPS, Calls, Elements, binary_opcode, flow_of, int_limits, limits, operand_for
from hlotool.verdict.boundary_arguments import leaves_by_path

#: where an instruction has a value: the calls that lead there, and itself
Place: TypeAlias = tuple[Path, HloInstruction]
#: values and elements of a run that are kept at most
MOST_MOMENTS, MOST_ELEMENTS = 8_000, 1 << 20
#: instructions that one wanted value is carried back through, on one way and on all
_LONGEST_WAY, _MOST_STEPS = 120, 1000
#: inversions after one another of one operation
_ROUNDS_TO_SETTLE = 12


class _TooLong(Exception):
    """A run makes more values than are kept."""


@dataclass(frozen=True)
class Wanted:
    """Numbers that an array should hold, and the elements for which that is so."""

    values: Array
    mask: Array


class TracedRun:
    """One run of a program for one device, or the beginning of a long one. Raises HloError as the evaluator does."""

    def __init__(self, program: Program, arguments: Sequence[Array]) -> None:
        self.program = program
        self.arguments = [np.array(a) for a in arguments]
        self.moments: dict[Place, Moment] = {}
        self._elements = 0
        self._leaf = leaves_by_path(program.module.entry)
        self._rounds: dict[tuple[Path, HloInstruction], int] = {}
        #: True if the run was ended before it had results
        self.is_cut = self._is_over = False
        try:
            evaluate_program(program, [self.arguments], self._keep)
        except _TooLong:
            self.is_cut = True
        self._is_over = True

    @property
    def work(self) -> int:
        """Return the cost of the run in elements; an instruction counts as many."""
        return self._elements + 100 * len(self.moments)

    def _keep(self, moment: Moment) -> Any:
        if self._is_over:  # what a reduction calls, of which a value is computed once more
            return moment.value
        self._elements += int(getattr(moment.value, "size", 1) or 1)
        if len(self.moments) >= MOST_MOMENTS or self._elements > MOST_ELEMENTS:
            raise _TooLong
        self.moments[moment.path, moment.instruction] = moment
        if moment.path and flow_of(moment.path[-1].caller).calls is Calls.LOOP:
            call = moment.path[-1]
            if call.computation is call.caller.attributes.get("body"):
                self._rounds[moment.path[:-1], call.caller] = call.iteration + 1
        return moment.value

    def rounds(self, path: Path, loop: HloInstruction) -> int:
        """Return how often a loop ran there."""
        return self._rounds.get((path, loop), 0)

    def places(self) -> dict[HloInstruction, list[Place]]:
        """Return the places of each instruction, in the order of the run."""
        found: dict[HloInstruction, list[Place]] = {}
        for place in self.moments:
            found.setdefault(place[1], []).append(place)
        return found

    def operand(self, place: Place, number: int) -> Array:
        """Return the value of an operand, an array."""
        return np.asarray(self.moments[place].operands[number])

    def with_operand(self, place: Place, number: int, wanted: Wanted, *, is_last_first: bool = False
                     ) -> list[Array] | None:
        """Return arguments that should give an operand, or the value (-1), those values; None where none are found.

        `is_last_first` changes the last operand of an operation where it can, in place of the first.
        """
        carrier = _Carrier(self, [a.copy() for a in self.arguments], is_last_first)
        with np.errstate(all="ignore"):
            at = place if number < 0 else (place[0], place[1].operands[number])
            is_found = carrier.carry(at, (), wanted)
        return carrier.arguments if is_found else None

    def leaf_of(self, instruction: HloInstruction, path: tuple[int, ...]) -> int | None:
        """Return the number of the argument that a parameter of the entry, or a part of it, is."""
        return self._leaf.get((id(instruction), path))


class _Carrier:
    """Carries wanted values back to arguments, which it changes."""

    def __init__(self, run: TracedRun, arguments: list[Array], is_last_first: bool) -> None:
        self.run, self.arguments, self.is_last_first = run, arguments, is_last_first
        self.left, self.depth = _MOST_STEPS, 0

    def carry(self, place: Place, within: tuple[int, ...], wanted: Wanted) -> bool:
        """Carry what is wanted of a value, or of a part of a tuple; True if an argument was changed."""
        self.left -= 1
        if self.left < 0 or self.depth >= _LONGEST_WAY or not wanted.mask.any():
            return False
        self.depth += 1
        try:
            return self._step(place, within, wanted)
        finally:
            self.depth -= 1

    def _step(self, place: Place, within: tuple[int, ...], wanted: Wanted) -> bool:
        path, at = place
        if at.opcode == "parameter":
            return self._to_caller(path, at, within, wanted)
        if (step := self._through_structure(place, within)) is not None:
            return any(self.carry(p, w, wanted) for p, w in step)
        if not at.shape.is_array or place not in self.run.moments:
            return False
        flow = flow_of(at)
        if flow.elements is Elements.CONVERTED or flow.elements is Elements.RECAST:
            return self._converted(place, wanted)
        if flow.moves and flow.calls is Calls.NONE:
            return self._moved(place, wanted)
        if at.opcode == "reduce":
            return self._folded(place, wanted)
        if at.shape.element_type == "pred":
            return self._truth(place, wanted)
        return self._computed(place, wanted)

    def _to_caller(self, path: Path, at: HloInstruction, within: tuple[int, ...], wanted: Wanted) -> bool:
        if not path:
            leaf = self.run.leaf_of(at, within)
            if leaf is None:
                return False
            array = self.arguments[leaf]
            if array.shape != wanted.values.shape:
                return False
            np.copyto(array, wanted.values.astype(array.dtype), where=wanted.mask)
            return True
        call, number = path[-1], int(at.attributes.get("parameter_number", 0))
        caller = call.caller
        if flow_of(caller).calls is Calls.LOOP:
            body = caller.attributes.get("body")
            if call.iteration and body is not None:
                before = RunningCall(caller, body, call.iteration - 1)
                return self.carry(((*path[:-1], before), body.root), within, wanted)
            return self.carry((path[:-1], caller.operands[0]), within, wanted)
        if not flow_of(caller).enters:
            return False
        operand = operand_for(caller, list(caller.called_computations()).index(call.computation), number)
        return operand is not None and self.carry((path[:-1], caller.operands[operand]), within, wanted)

    def _through_structure(self, place: Place, within: tuple[int, ...]) -> Iterator[Any] | None:
        """The places that hold the value of a tuple, of a part of one, or of a call; None for other instructions."""
        path, at = place
        flow = flow_of(at)
        if flow.elements is Elements.UNPACKED:
            return iter([((path, at.operands[0]), (int(at.attributes["index"]), *within))])
        if flow.elements is Elements.PACKED and within:
            return iter([((path, at.operands[within[0]]), within[1:])])
        if flow.forwards:
            return iter([((path, at.operands[0]), within)])
        if flow.calls is Calls.LOOP:
            return iter([self._after_loop(path, at, within)])
        if flow.enters:
            calls = [(*path, RunningCall(at, c, 0)) for c in at.called_computations()]
            return iter([((p, p[-1].computation.root), within) for p in calls
                         if (p, p[-1].computation.root) in self.run.moments])
        return None

    def _after_loop(self, path: Path, loop: HloInstruction, within: tuple[int, ...]) -> tuple[Place, tuple[int, ...]]:
        rounds = self.run.rounds(path, loop)
        if not rounds:
            return (path, loop.operands[0]), within
        body = loop.attributes["body"]
        return ((*path, RunningCall(loop, body, rounds - 1)), body.root), within

    def _converted(self, place: Place, wanted: Wanted) -> bool:
        path, at = place
        source = at.operands[0].shape
        if source.element_type == "pred" and at.opcode == "convert":
            return self.carry((path, at.operands[0]), (), Wanted(wanted.values != 0, wanted.mask))
        record = OPS["convert" if flow_of(at).elements is Elements.CONVERTED else at.opcode]
        back = np.asarray(record.evaluate(wanted.values, shape=source))
        mask = wanted.mask
        if mask.shape != back.shape:  # bits that became wider or narrower elements
            mask = np.asarray(np.broadcast_to(mask[..., None], back.shape) if back.ndim > mask.ndim
                              else mask.any(axis=-1))
        return back.shape == source.dims and self.carry((path, at.operands[0]), (), Wanted(back, np.array(mask)))

    def _moved(self, place: Place, wanted: Wanted) -> bool:
        """Elements of operands at other places: found by moving their numbers instead of them."""
        path, at = place
        moment = self.run.moments[place]
        operands, first = list(moment.operands), 0
        begins: list[tuple[int, int, int]] = []
        last = flow_of(at).sources[1]
        for number in range(flow_of(at).sources[0], len(operands) if last is None else last):
            array = np.asarray(operands[number])
            begins.append((number, first, first + array.size))
            operands[number] = np.arange(first, first + array.size).reshape(array.shape)
            first += array.size
        try:
            owners = np.asarray(moment.again(*operands)).reshape(-1)
        except (HloError, ValueError, TypeError, IndexError, AttributeError, OverflowError):
            return False
        mask, flat = wanted.mask.reshape(-1), wanted.values.reshape(-1)
        if owners.shape != mask.shape or owners.dtype.kind not in "iu":
            return False
        changed = False
        for number, low, high in begins:
            here = mask & (owners >= low) & (owners < high)
            if not here.any():
                continue
            array = np.array(moment.operands[number]).reshape(-1)
            chosen = np.zeros(array.shape, np.bool_)
            array[owners[here] - low], chosen[owners[here] - low] = flat[here], True
            dims = np.asarray(moment.operands[number]).shape
            changed |= self.carry((path, at.operands[number]), (), Wanted(array.reshape(dims), chosen.reshape(dims)))
        return changed

    def _folded(self, place: Place, wanted: Wanted) -> bool:
        """An element of each fold by one operation: the last one, and those that would not let it be the result."""
        path, at = place
        root = at.called_computations()[0].root
        moment, record = self.run.moments[place], OPS.get(binary_opcode(at.called_computations()[0]))
        if len(at.operands) != 2 or record is None or record.identity is None:
            return False
        values, dims = np.array(moment.operands[0]), at.attributes["dimensions"]
        axes = range(-len(dims), 0)
        rows = np.moveaxis(values, dims, axes).reshape(*wanted.values.shape, -1)
        if not rows.shape[-1]:
            return False
        given, goal = rows.copy(), wanted.values.astype(values.dtype)
        if "idempotent" in record.flags:
            kept = np.asarray(record.evaluate(rows, goal[..., None])) == goal[..., None]
            given = np.where(kept, rows, goal[..., None])
            given[..., -1] = goal
        else:
            given[..., -1] = record.identity(dtype_of_numpy(values.dtype))
            others = np.asarray(moment.again(self._unfolded(given, values, dims), moment.operands[1]))
            back = self._undone(root, 1, goal, [others, rows[..., -1]])
            if back is None:
                return False
            given[..., -1] = back
        chosen = wanted.mask[..., None] & (given != rows) & ~is_nan(given)
        return self.carry((path, at.operands[0]), (), Wanted(self._unfolded(given, values, dims),
                                                             self._unfolded(chosen, values, dims)))

    @staticmethod
    def _unfolded(rows: Array, values: Array, dims: Sequence[int]) -> Array:
        """Return the operand of folds, given a row for each fold, as an array with the operand's dimensions."""
        kept = [n for d, n in enumerate(values.shape) if d not in dims]
        return np.moveaxis(rows.reshape(*kept, *(values.shape[d] for d in dims)), range(-len(dims), 0), dims)

    def _truth(self, place: Place, wanted: Wanted) -> bool:
        """Truth values that a comparison or a logical operation gives."""
        path, at = place
        moment = self.run.moments[place]
        missed = Wanted(wanted.values, wanted.mask & (np.asarray(moment.value) != wanted.values))
        if not missed.mask.any():
            return True
        if at.opcode == "compare":
            return self.compared(place, missed)
        operands = [(path, o) for o in at.operands]
        curve = OPS[at.opcode].curve
        if len(operands) == 1:
            return at.opcode == "not" and self.carry(operands[0], (), Wanted(~missed.values, missed.mask))
        if curve.symbol == "&" or curve.on_truth == "and" or curve.symbol == "|" or curve.on_truth == "or":
            # All operands decide where the neutral truth is wanted, any one elsewhere.
            neutral = curve.symbol == "&" or curve.on_truth == "and"
            whole = Wanted(missed.values, missed.mask & (missed.values == neutral))
            changed = [self.carry(o, (), whole) for o in operands]
            single = Wanted(missed.values, missed.mask & (missed.values != neutral))
            return any(changed) | any(self.carry(o, (), single) for o in operands)
        return any(self.carry(o, (), Wanted(~np.asarray(moment.operands[n], np.bool_), missed.mask))
                   for n, o in enumerate(operands))

    def compared(self, place: Place, wanted: Wanted) -> bool:
        """Carry back the operands of a comparison that make it what is wanted: equal ones, or neighbours."""
        path, at = place
        left, right = (np.asarray(v) for v in self.run.moments[place].operands)
        direction = str(at.attributes.get("direction"))
        is_strict = (direction in ("LT", "GT", "NE")) == wanted.values
        upward = (direction in ("GT", "GE", "NE")) == wanted.values
        goals = []
        for number, held, up in ((0, right, upward), (1, left, ~upward)):
            beside = np.where(up, stepped(held, 1), stepped(held, -1)).astype(held.dtype)
            goals.append((number, np.where(is_strict, beside, held).astype(held.dtype)))
        return any(self.carry((path, at.operands[n]), (), Wanted(v, wanted.mask)) for n, v in goals)

    def _computed(self, place: Place, wanted: Wanted) -> bool:
        path, at = place
        moment, record = self.run.moments[place], OPS.get(at.opcode)
        if record is None or ("elementwise" not in record.flags and at.opcode != "clamp"):
            return False
        values = [np.asarray(v) for v in moment.operands]
        numbers = (1,) if at.opcode == "clamp" else range(len(values))
        for number in reversed(numbers) if self.is_last_first else numbers:
            back = self._undone(at, number, wanted.values, values)
            if back is None or back.shape != values[number].shape:
                continue
            back = self._settled(place, number, wanted.values, values, back)
            twins = [o is at.operands[number] for o in at.operands]
            if sum(twins) == 2 and at.opcode == "multiply":
                back = np.sqrt(wanted.values.astype(np.float64)).astype(back.dtype)
            elif sum(twins) == 2 and back.dtype.kind == "f":  # x + x: Newton's step
                back = ((back + values[number]) / 2).astype(back.dtype)
            mask = wanted.mask & ~is_nan(back)
            if self.carry((path, at.operands[number]), (), Wanted(back.astype(values[number].dtype), mask)):
                return True
        return False

    def _settled(self, place: Place, number: int, result: Array, values: Sequence[Array], back: Array) -> Array:
        """The operand where the other one is computed of it, too (x ^ x >> 16): inverted until it stays the same."""
        path, at = place
        other = self.run.moments.get((path, at.operands[1 - number])) if len(values) == 2 else None
        if other is None or at.operands[number] not in other.instruction.operands:
            return back
        for _ in range(_ROUNDS_TO_SETTLE):
            given = [back if o is at.operands[number] else v
                     for o, v in zip(other.instruction.operands, other.operands, strict=True)]
            both = [back, back]
            both[1 - number] = np.asarray(other.again(*given))
            following = self._undone(at, number, result, both)
            if following is None or np.array_equal(following, back):
                break
            back = following
        return back

    @staticmethod
    def _undone(at: HloInstruction, number: int, result: Array, values: Sequence[Array]) -> Array | None:
        curve = OPS[at.opcode].curve
        if at.opcode == "clamp":
            return result
        if curve.undo is not None and not (len(values) == 1 and curve.inverse and result.dtype.kind == "f"):
            try:
                return np.asarray(curve.undo(number, result, values))
            except (TypeError, ValueError):
                return None
        if curve.inverse is None or len(values) != 1 or at.shape.element_type != at.operands[0].shape.element_type:
            return None
        undone = np.vectorize(_first(curve.inverse), otypes=[np.float64])
        return np.asarray(undone(result.astype(np.float64)).astype(result.dtype))


def _first(inverse: Callable[[float], Sequence[float]]) -> Callable[[float], float]:
    def call(value: float) -> float:
        try:
            return next(iter(inverse(float(value))), float("nan"))
        except (ValueError, OverflowError, ZeroDivisionError):
            return float("nan")

    return call


def stepped(values: Array, by: int) -> Array:
    """Return the next numbers above, or below, of the same type; the ends stay themselves, as do imaginary parts."""
    kind = dtype_of_numpy(values.dtype)
    if kind.is_complex:
        return np.asarray(stepped(values.real, by) + 1j * values.imag).astype(values.dtype)
    if kind.family == "pred":
        return np.asarray(~values)
    if kind.is_integral:
        end = int_limits(kind)[by > 0]
        return np.where(values == end, values, values + np.asarray(by).astype(values.dtype)).astype(values.dtype)
    return np.asarray(np.nextafter(values, np.asarray(by * limits(kind)[0]).astype(values.dtype)))
