"""Questions for solvers, in SMT-LIB: can one element of two values differ?

Elementwise operations make each element of their result of one element of each operand, so that one element stands for
all. Everything else is cut off: its element is an unknown, the same for the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from hlotool.ir import DType, HloInstruction, Shape
from hlotool.ir.arrays import np
from hlotool.ops import COMMON_ATTRIBUTES, OPS, flow_of
from hlotool.ops.smt import bits_term, sort_of

#: an instruction -> what it is known by: two of one key have equal elements
Key: TypeAlias = Callable[[HloInstruction], Hashable]


class NoSort(Exception):
    """A value whose element type no theory has."""


@dataclass
class Query:
    """The lines of one question, and what is asked of whom."""

    key: Key
    lines: list[str] = field(default_factory=list)
    #: the names of unknown elements, and the instructions that they stand for
    unknowns: dict[str, HloInstruction] = field(default_factory=dict)
    #: True if functions are in it of which a solver knows nothing: an answer "they differ" means nothing then
    is_abstract: bool = False
    _terms: dict[HloInstruction, str] = field(default_factory=dict)
    _by_key: dict[Hashable, str] = field(default_factory=dict)
    _declared: set[str] = field(default_factory=set)

    def term(self, instruction: HloInstruction) -> str:
        """Return the name of an instruction's element, whose definition it adds.

        Raises NoSort where an element type is complex, or no IEEE 754 float.
        """
        waiting = [instruction]
        while waiting:
            at = waiting[-1]
            missing = [o for o in self._needed(at) if o not in self._terms]
            if missing and at not in self._terms:
                waiting += missing
                continue
            waiting.pop()
            if at not in self._terms:
                self._terms[at] = self._defined(at)
        return self._terms[instruction]

    def ask(self, one: HloInstruction, other: HloInstruction, when: HloInstruction | None = None) -> str:
        """Return the text that asks whether an element of two values can differ, where a condition holds.

        NaNs are one, zeros are two. Raises NoSort.
        """
        both = [self.term(i) for i in (one, other)]
        if when is not None:
            self.lines.append(f"(assert {self.term(when)})")
        return "\n".join(["(set-logic ALL)", *self.lines, f"(assert (not (= {' '.join(both)})))", ""])

    def _needed(self, instruction: HloInstruction) -> tuple[HloInstruction, ...]:
        """Return the operands of which an instruction's element is made."""
        return tuple(instruction.operands) if _is_elementwise(instruction) else (
            (source,) if (source := _same_element(instruction)) is not None else ())

    def _defined(self, instruction: HloInstruction) -> str:
        if (source := _same_element(instruction)) is not None:
            return self._terms[source]
        if instruction.opcode == "constant" and (bits := _splat_bits(instruction)) is not None:
            _sort(instruction.shape)
            return bits_term(instruction.shape.dtype, bits)
        if not _is_elementwise(instruction):
            return self._unknown(instruction)
        operands = [self._terms[o] for o in instruction.operands]
        record = OPS.get(instruction.opcode)
        meaning = record.smt(instruction, *operands) if record is not None and record.smt is not None else None
        sort = _sort(instruction.shape)
        if meaning is None:
            meaning = self._applied(instruction, operands, sort)
        name = f"t{len(self._terms)}"
        self.lines.append(f"(define-fun {name} () {sort} {meaning})")
        return name

    def _unknown(self, instruction: HloInstruction) -> str:
        key = self.key(instruction)
        if key not in self._by_key:
            name = self._by_key[key] = f"u{len(self._by_key)}"
            self.unknowns[name] = instruction
            self.lines.append(f"(declare-const {name} {_sort(instruction.shape)})")
        return self._by_key[key]

    def _applied(self, instruction: HloInstruction, operands: list[str], sort: str) -> str:
        """Return the result of a function of which only that is known that it is one."""
        types = [o.shape.element_type for o in instruction.operands]
        words = [*types, "to", instruction.shape.element_type,
                 *sorted(f"{k}={v}" for k, v in instruction.attributes.items() if k not in COMMON_ATTRIBUTES)]
        name = f"{instruction.opcode} {' '.join(words)}".translate({ord(c): "/" for c in "|\\"})
        self._declare(f"|{name}|", [_sort(o.shape) for o in instruction.operands], sort)
        return f"(|{name}| {' '.join(operands)})"

    def _declare(self, name: str, of: list[str], sort: str) -> None:
        self.is_abstract = True
        if name not in self._declared:
            self._declared.add(name)
            self.lines.append(f"(declare-fun {name} ({' '.join(of)}) {sort})")


def _sort(shape: Shape) -> str:
    found = sort_of(shape.dtype) if shape.is_array else None
    if found is None:
        raise NoSort(shape.text(False))
    return found


def _is_elementwise(instruction: HloInstruction) -> bool:
    record = OPS.get(instruction.opcode)
    return (record is not None and "elementwise" in record.flags and instruction.shape.is_array
            and bool(instruction.operands) and not instruction.called_computations())


def _same_element(instruction: HloInstruction) -> HloInstruction | None:
    """Return the operand of which an instruction has the element at the same place, or the only one."""
    if not instruction.operands or not instruction.shape.is_array:
        return None
    source = instruction.operands[0]
    flow = flow_of(instruction)
    if not source.shape.is_array or source.shape.element_type != instruction.shape.element_type:
        return None
    is_same = source.shape.dims == instruction.shape.dims
    return source if (flow.forwards and is_same) or (flow.repeats and source.shape.size == 1) else None


def _splat_bits(instruction: HloInstruction) -> int | None:
    """Return the bits of the elements of a constant that are all the same; None: they are not, or are left out."""
    if not instruction.shape.is_array or instruction.literal.has_elided:
        return None
    array = np.asarray(instruction.literal.array).reshape(-1)
    kind: DType = instruction.shape.dtype
    if not array.size or kind.is_complex:
        return None
    if kind.is_floating:
        found = np.unique(array.view(f"u{array.dtype.itemsize}"))
        return int(found[0]) if len(found) == 1 else None
    found = np.unique(array)
    return int(found[0]) % (1 << kind.bits) if len(found) == 1 else None


def as_numbers(bits: Mapping[str, str], query: Query) -> dict[HloInstruction, object]:
    """Return the elements, as NumPy scalars, that a solver's bits (`0101`) give the unknowns of a query."""
    found: dict[HloInstruction, object] = {}
    for name, text in bits.items():
        instruction = query.unknowns[name]
        kind = instruction.shape.dtype
        if kind.family == "pred":
            found[instruction] = np.bool_(text in ("1", "true"))
        elif kind.is_floating:
            found[instruction] = np.array(int(text, 2), f"u{kind.bits // 8}").view(kind.numpy)[()]
        else:
            value = int(text, 2)
            value -= (1 << kind.bits) if kind.is_signed and value >> (kind.bits - 1) else 0
            found[instruction] = np.array(value).astype(kind.numpy)[()]
    return found
