"""Arguments with which every operation meets its boundaries: wanted values are carried back to parameters.

Each instruction wishes for operand values (`Op.boundaries`, its element types, the turning points of its function, the
constants that it is compared with). A wish goes back through what moves values and through arithmetic that can be
undone, into callers of the computation, until it stands at a parameter: there it is a value worth trying.

    s = s32[] add(i, 3)      a dynamic-slice wishes that s is 5, so i should be 2
    e = f32[] exponential(x) x should be 88.7, where e overflows
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from hlotool.execution import Program, leaves
from hlotool.ir import DType, HloComputation, HloInstruction, HloModule, Shape
from hlotool.ops import OPS, Elements, int_limits, limits, opcodes, operand_for, source_of, turning_points

Path: TypeAlias = tuple[int, ...]
Values: TypeAlias = tuple[float, ...]

#: values kept for a parameter leaf, steps taken for one wish, and steps in all
_MOST_VALUES, _MOST_STEPS, _MOST_IN_ALL = 96, 400, 60_000
#: opcodes whose first operand's elements are the result's, moved
_MOVES = opcodes(lambda flow: flow.moves or flow.folds or flow.elements is Elements.FORWARDED) | {"reduce-precision"}


class Wishes:
    """Values worth trying, by parameter leaf, and what else is known of the leaves."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.module: HloModule = program.module
        #: for each leaf the wished values, in the order of discovery
        self.values: list[dict[float, None]] = [{} for _ in program.parameters]
        #: for each leaf the largest valid index where it serves as one
        self.bounds: dict[int, int] = {}
        #: leaves whose numbers must be sorted, or different, for the program to mean anything
        self.sorted: set[int] = set()
        self.unique: set[int] = set()
        #: leaves that decide how often a loop runs
        self.counts: set[int] = set()
        #: numbers that leaves must hold: initial values of what a partitioner splits, each part begins with one
        self.identities: dict[int, Any] = {}
        self._leaf = leaves_by_path(self.module.entry)
        self._callers = _callers(self.module)
        self._seen: set[tuple[int, Path, float]] = set()
        self._left = _MOST_IN_ALL
        self._gather()

    def _gather(self) -> None:
        for computation in self.module.computations:
            for instruction in computation.instructions:
                record = OPS.get(instruction.opcode)
                if record is None:
                    continue
                for number, values in boundaries_of(instruction).items():
                    if number < len(instruction.operands):
                        self.want(instruction.operands[number], values)
                self._note_roles(instruction)

    def want(self, instruction: HloInstruction, values: Sequence[float], path: Path = ()) -> None:
        """Wish for those values of an instruction."""
        steps = _MOST_STEPS
        waiting = [(instruction, path, float(v)) for v in values]
        while waiting and steps and self._left:
            steps, self._left = steps - 1, self._left - 1
            at, where, value = waiting.pop()
            key = (id(at), where, value)
            if key in self._seen or math.isnan(value):
                continue
            self._seen.add(key)
            leaf = self._leaf.get((id(at), where))
            if leaf is not None:
                if len(self.values[leaf]) < _MOST_VALUES:
                    self.values[leaf][value] = None
                continue
            waiting += list(self._before(at, where, value))

    def leaves_behind(self, instruction: HloInstruction, path: Path = ()) -> list[int]:
        """The leaves that an instruction's values come from, as a wish goes; those with the fewest steps first."""
        found: list[int] = []
        seen: set[tuple[int, Path]] = set()
        waiting = deque([(instruction, path)])
        while waiting and len(seen) < _MOST_STEPS:
            at, where = waiting.popleft()
            if (id(at), where) in seen:
                continue
            seen.add((id(at), where))
            leaf = self._leaf.get((id(at), where))
            if leaf is not None:
                found.append(leaf)
            else:
                waiting += [(a, p) for a, p, _ in self._before(at, where, 0.5)]
        return found

    def _before(self, at: HloInstruction, path: Path, value: float) -> Iterator[tuple[HloInstruction, Path, float]]:
        """Values of operands, or of a caller's, that make this value."""
        opcode, operands = at.opcode, at.operands
        if opcode == "parameter":
            for call, number, inner in self._callers.get(id(at), ()):
                yield call.operands[number], (*inner, *path), value
        elif opcode == "get-tuple-element":
            yield operands[0], (int(at.attributes["index"]), *path), value
        elif opcode == "tuple" and path:
            yield operands[path[0]], path[1:], value
        elif opcode == "while":
            yield operands[0], path, value
        elif opcode in ("call", "fusion", "map") or opcode == "conditional":
            for called in at.called_computations():
                yield called.root, path, value
        elif opcode == "sort" and path:
            yield operands[path[0]], (), value
        elif opcode == "concatenate":
            yield from ((o, (), value) for o in operands)
        elif opcode in ("select", "dynamic-update-slice", "clamp", "scatter"):
            yield from ((o, (), value) for o in operands[opcode == "select":3] if o.shape.dims == at.shape.dims)
        elif opcode in _MOVES and operands:
            yield operands[0], () if operands[0].shape.is_array else path, value
        elif at.shape.is_array and at.shape.element_type == "pred":
            return
        elif len(operands) == 1 and operands[0].shape.is_array and (inverse := OPS[opcode].curve.inverse) is not None:
            yield from ((operands[0], (), v) for v in _undone(inverse, value))
        elif len(operands) == 2 and at.shape.is_array:
            yield from self._through_pair(at, value)

    def _through_pair(self, at: HloInstruction, value: float) -> Iterator[tuple[HloInstruction, Path, float]]:
        for number, (operand, other) in enumerate(zip(at.operands, reversed(at.operands), strict=True)):
            if not operand.shape.is_array or operand.shape.element_type != at.shape.element_type:
                continue
            known = constant_of(other)
            if known is None:
                yield operand, (), value
                continue
            yield from ((operand, (), v) for v in _pair_undone(at.opcode, number, value, known, at.shape.dtype))

    def _note_roles(self, instruction: HloInstruction) -> None:
        opcode, operands = instruction.opcode, instruction.operands
        if opcode in ("dynamic-slice", "dynamic-update-slice", "gather", "scatter"):
            for number, values in boundaries_of(instruction).items():
                if number >= len(operands):
                    continue
                top = max(0, int(max(values)) - 1 - (opcode != "scatter"))
                for leaf in self.leaves_behind(operands[number]):
                    self.bounds[leaf] = min(top, self.bounds.get(leaf, top))
                    if instruction.attributes.get("indices_are_sorted") in (True, "true"):
                        self.sorted.add(leaf)
                    if instruction.attributes.get("unique_indices") in (True, "true"):
                        self.unique.add(leaf)
        elif opcode in ("reduce", "reduce-window") and self.program.partitioning == "automatic" and len(operands) == 2:
            root = instruction.called_computations()[0].root
            identity = OPS[root.opcode].identity if root.opcode in OPS and operands[1].shape.is_array else None
            if identity is not None:
                for leaf in self.leaves_behind(operands[1]):
                    self.identities[leaf] = identity(operands[1].shape.dtype)
        elif opcode == "while":
            condition = instruction.attributes["condition"].root
            for operand in condition.operands:
                self.counts.update(n for n in self.leaves_behind(operand)
                                   if self.program.parameters[n].dtype.is_integral)


def boundaries_of(instruction: HloInstruction) -> dict[int, Values]:
    """The operand values at which an instruction changes its behaviour, by operand."""
    record = OPS.get(instruction.opcode)
    if record is None:
        return {}
    if record.boundaries is not None:
        try:
            found = {n: tuple(v) for n, v in record.boundaries(instruction).items()}
        except (IndexError, KeyError, TypeError):
            return {}  # an instruction that breaks its operation's rules has none
    else:
        found = {}
    operands = instruction.operands
    if "elementwise" not in record.flags or not operands or not operands[0].shape.is_array:
        return found
    if len(operands) == 1 and operands[0].shape.dtype.is_floating:
        found[0] = (*found.get(0, ()), *turning_points(instruction.opcode, operands[0].shape.element_type))
    for number, operand in enumerate(operands):
        others = [c for o in operands if o is not operand and (c := constant_of(o)) is not None]
        if operand.shape.is_array:
            ends = int_limits(operand.shape.dtype) if operand.shape.dtype.is_integral else ()
            found[number] = (*found.get(number, ()), *ends, *_beside(others, operand.shape.dtype),
                             *_overflowing(instruction, number))
    return found


def _beside(numbers: Sequence[float], kind: DType) -> Iterator[float]:
    """The numbers and their neighbours in an element type."""
    for number in numbers:
        if kind.is_integral:
            low, high = int_limits(kind)
            yield from (v for v in (number, number - 1, number + 1) if low <= v <= high)
        elif kind.is_floating and math.isfinite(number):
            step = abs(number) * 2.0**-kind.mantissa_bits or 2.0**-20
            yield from (number, number + step, number - step, -number)


def _overflowing(instruction: HloInstruction, number: int) -> Iterator[float]:
    """Operand values that take a sum or product with a constant to the end of its type, and past it."""
    if instruction.opcode not in ("add", "subtract", "multiply", "divide") or len(instruction.operands) != 2:
        return
    kind = instruction.shape.dtype
    known = constant_of(instruction.operands[1 - number])
    if known is None or not (kind.is_integral or kind.is_floating):
        return
    for end in limits(kind):
        for value in _pair_undone(instruction.opcode, number, end, known, kind):
            yield value
            yield value + 1 if kind.is_integral else value * 2


def constant_of(instruction: HloInstruction) -> float | None:
    """The one number that an instruction holds everywhere, where that is written."""
    instruction = source_of(instruction, lambda flow: flow.keeps_numbers)
    if instruction.opcode != "constant" or not instruction.shape.is_array or instruction.shape.size != 1:
        return None
    literal = instruction.attributes.get("literal")
    try:
        value = complex(literal.array.reshape(-1)[0])  # type: ignore[union-attr]
    except (AttributeError, TypeError, ValueError, IndexError):
        return None
    return value.real if not value.imag else None


def constants_of(module: HloModule) -> list[float]:
    """The numbers that a program is written with, each once; of long arrays none."""
    return constants_in(*module.computations)


def constants_in(*computations: HloComputation) -> list[float]:
    """The numbers that computations are written with, each once; of long arrays none."""
    found: dict[float, None] = {}
    for instruction in (i for c in computations for i in c.instructions):
        if instruction.opcode == "constant" and (value := constant_of(instruction)) is not None:
            found[value] = None
    return list(found)[:64]


def _undone(inverse: Callable[[float], Sequence[float]], value: float) -> Sequence[float]:
    try:
        return inverse(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        return ()


def _pair_undone(opcode: str, number: int, value: float, known: float, kind: DType) -> Sequence[float]:
    """The operand that with a known one gives a value."""
    try:
        if opcode == "add":
            return (value - known,)
        if opcode == "subtract":
            return (value + known,) if number == 0 else (known - value,)
        if opcode == "multiply" and known:
            return (value // known if kind.is_integral else value / known,)
        if opcode == "divide":
            return (value * known,) if number == 0 else (known / value,) if value else ()
        if opcode == "power":
            return (abs(value) ** (1 / known),) if number == 0 and known else ()
    except (OverflowError, ZeroDivisionError):
        return ()
    return (value,)


def leaves_by_path(entry: HloComputation) -> dict[tuple[int, Path], int]:
    """(parameter, place in its tuple) -> number of the leaf."""
    found: dict[tuple[int, Path], int] = {}
    for parameter in entry.parameters():
        for path in _paths(parameter.shape):
            found[id(parameter), path] = len(found)
    return found


def _paths(shape: Shape) -> Iterator[Path]:
    if shape.is_tuple:
        for number, element in enumerate(shape.elements):
            yield from ((number, *rest) for rest in _paths(element))
    elif any(True for _ in leaves(shape)):
        yield ()


def _callers(module: HloModule) -> dict[int, list[tuple[HloInstruction, int, Path]]]:
    """Parameter of a called computation -> where its values come from: the call and its operand."""
    found: dict[int, list[tuple[HloInstruction, int, Path]]] = {}
    for call in module.instructions():
        for which, computation in enumerate(call.called_computations()):
            for parameter in computation.parameters():
                number = int(parameter.attributes.get("parameter_number", 0))
                operand = operand_for(call, which, number)
                if operand is not None:
                    found.setdefault(id(parameter), []).append((call, operand, ()))
    return found
