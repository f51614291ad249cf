"""Questions for solvers, in SMT-LIB: can one element of two values differ?

Elementwise operations make each element of their result of one element of each operand, so that one element stands for
all. Everything else is cut off: its element is an unknown, the same for the same value. Values are those of a numbering
(hlotool.passes.equality).

Solvers know one NaN. Bits that are read of an unknown float are bits of its own; of which computed floats bits may be
read, `collapsed` holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hlotool.ir import DTYPES, DType, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops import OPS, Applied, bits_term, flow_of_opcode, sort_of
from hlotool.passes.equality import Node, Numbering

#: selects of selects that bits are looked for through
_DEEPEST = 8
#: signed integers by their width
_WORDS = {t.bits: t for t in DTYPES.values() if t.family == "signed"}


class NoSort(Exception):
    """A value whose element type no theory has."""


@dataclass
class ElementQuery:
    """The lines of one question, and the values that are unknown in it."""

    numbering: Numbering
    #: a value -> the one that stands for all that are known to be equal to it
    same: Callable[[int], int] = int
    lines: list[str] = field(default_factory=list)
    #: the names of unknown elements, and the values that they are of
    unknowns: dict[str, int] = field(default_factory=dict)
    #: True if functions are in it of which a solver knows nothing: an answer "they differ" means nothing then
    is_abstract: bool = False
    #: values that are given to functions of which nothing is known, as if all NaNs were one
    collapsed: set[int] = field(default_factory=set)
    #: the terms of floats -> those of their bits
    _bits: dict[str, str] = field(default_factory=dict)
    _terms: dict[int, str] = field(default_factory=dict)
    _declared: set[str] = field(default_factory=set)

    def ask(self, one: int, other: int, when: int | None = None) -> str:
        """Return the text that asks whether an element of two values can differ, where a condition holds.

        NaNs are one, zeros are two. Raises NoSort.
        """
        both = [self.term(n) for n in (one, other)]
        if when is not None:
            self.lines.append(f"(assert {self.term(when)})")
        return "\n".join(["(set-logic ALL)", *self.lines, f"(assert (not (= {' '.join(both)})))", ""])

    def term(self, number: int) -> str:
        """Return the term of a value's element, whose definition it adds.

        Raises NoSort where an element type is complex, or no IEEE 754 float.
        """
        waiting = [number]
        while waiting:
            at = waiting[-1]
            missing = [n for n in sources(self.numbering, at) if n not in self._terms]
            if missing and at not in self._terms:
                waiting += missing
                continue
            waiting.pop()
            if at not in self._terms:
                self._terms[at] = self._defined(at)
        return self._terms[number]

    def _defined(self, number: int) -> str:
        node = self.numbering.nodes[number]
        if (source := _same_element(self.numbering, node)) is not None:
            return self._terms[source]
        sort = _sort(node)
        array = self.numbering.array(number)
        if array is not None and (bits := _splat_bits(array, node.shapes[0].dtype)) is not None:
            return bits_term(node.shapes[0].dtype, bits)
        name = f"t{number}"
        if is_recast(self.numbering, node):
            self.lines.append(f"(define-fun {name} () {sort} {self._recast(node, name)})")
            return name
        if not is_elementwise(node):
            return self._unknown(self.same(number), sort)
        operands = [self._terms[n] for n in node.operands]
        types = [_shape(self.numbering.nodes[n]).dtype for n in node.operands]
        record = OPS[node.opcode]
        chooses = record.element_types == ("pred",) and len(types) > 1
        if len(set(types[chooses:])) > 1 or (chooses and types[0].family != "pred"):
            raise NoSort(f"{node.opcode} takes other operands")  # the module is not valid
        meaning = record.smt
        asked_bits = [self._bits_of(n) for n in node.operands] if str(node.given("type")) == "TOTALORDER" else []
        if asked_bits and all(asked_bits):
            types, operands = [_WORDS[types[0].bits]] * 2, [_ordered(b, types[0].bits) for b in asked_bits if b]
            node = node.instead("compare", node.shapes[0], node.operands, direction=node.given("direction"))
        term = meaning(Applied(types[0], node.shapes[0].dtype, dict(node.attributes)), *operands) if meaning else None
        self.lines.append(f"(define-fun {name} () {sort} {term or self._applied(node, operands)})")
        return name

    def _unknown(self, number: int, sort: str) -> str:
        name = f"u{number}"
        if name not in self.unknowns:
            self.unknowns[name] = number
            self.lines.append(f"(declare-const {name} {sort})")
        return name

    def _recast(self, node: Node, name: str) -> str:
        """Return an element that is read as another type of the same width."""
        (operand,), made = node.operands, node.shapes[0].dtype
        bits = self._bits_of(operand)
        if bits is None:
            return self._applied(node, [self._terms[operand]])
        if not made.is_floating:
            return bits
        self._bits[name] = bits
        return f"((_ to_fp {made.exponent_bits} {made.mantissa_bits + 1}) {bits})"

    def _bits_of(self, number: int, depth: int = 0) -> str | None:
        """Return the bits of a value's element; None for floats that are computed: their NaN may be any."""
        node, term = self.numbering.nodes[number], self._terms[number]
        kind = _shape(node).dtype
        if not kind.is_floating:
            return term
        if node.opcode == "select" and depth < _DEEPEST:
            yes, no = (self._bits_of(n, depth + 1) for n in node.operands[1:])
            return f"(ite {self._terms[node.operands[0]]} {yes} {no})" if yes and no else None
        array = self.numbering.array(number)
        if array is not None and (known := _splat_bits(array, kind)) is not None:
            return f"#b{known:0{kind.bits}b}"
        if term in self.unknowns and term not in self._bits:
            self._bits[term] = f"{term}.bits"
            self.lines += [f"(declare-const {term}.bits (_ BitVec {kind.bits}))",
                           f"(assert (= {term} ((_ to_fp {kind.exponent_bits} {kind.mantissa_bits + 1}) {term}.bits)))"]
        return self._bits.get(term)

    def _applied(self, node: Node, operands: list[str]) -> str:
        """Return the result of a function of which only that is known that it is one."""
        self.is_abstract = True
        self.collapsed.update(node.operands)
        shapes = [_shape(self.numbering.nodes[n]) for n in node.operands]
        sorts = [_sort(self.numbering.nodes[n]) for n in node.operands]
        # Two types may have one sort: s32 and u32 are bit vectors.
        words = [node.opcode, *(s.element_type for s in (*shapes, _shape(node))),
                 *(f"{k}={v}" for k, v in node.attributes)]
        name = " ".join(words).translate({ord(c): "/" for c in "|\\"})
        if name not in self._declared:
            self._declared.add(name)
            self.lines.append(f"(declare-fun |{name}| ({' '.join(sorts)}) {_sort(node)})")
        return f"(|{name}| {' '.join(operands)})"


def sources(numbering: Numbering, number: int) -> tuple[int, ...]:
    """Return the values of whose elements a value's element is made; none for unknowns and constants."""
    node = numbering.nodes[number]
    if is_elementwise(node) or is_recast(numbering, node):
        return node.operands
    source = _same_element(numbering, node)
    return () if source is None else (source,)


def is_elementwise(node: Node) -> bool:
    """Return True if each element of the result is made of one element of each operand, without a computation."""
    record = OPS.get(node.opcode)
    return (record is not None and "elementwise" in record.flags and len(node.shapes) == 1 and node.shapes[0].is_array
            and len(node.operands) == len(record.operands))


def is_recast(numbering: Numbering, node: Node) -> bool:
    """Return True if each element of the result has the bits of one of the operand, and both types have a sort."""
    source = numbering.shape(node.operands[0]) if node.opcode == "bitcast-convert" else None
    return source is not None and source.dims == node.shapes[0].dims and all(
        s.dtype.family != "pred" and sort_of(s.dtype) is not None for s in (source, node.shapes[0]))


def _ordered(bits: str, width: int) -> str:
    """Return a signed number for the bits of a float, so that numbers are ordered as IEEE 754's totalOrder orders."""
    return f"(ite (bvslt {bits} (_ bv0 {width})) (bvxor {bits} (_ bv{2 ** (width - 1) - 1} {width})) {bits})"


def _same_element(numbering: Numbering, node: Node) -> int | None:
    """Return the operand of which a value has the element at the same place, or the only one."""
    if len(node.operands) != 1 or len(node.shapes) != 1 or not node.shapes[0].is_array:
        return None
    flow, source = flow_of_opcode(node.opcode), numbering.nodes[node.operands[0]]
    if len(source.shapes) != 1 or not source.shapes[0].is_array:
        return None
    given, made = source.shapes[0], node.shapes[0]
    if given.element_type != made.element_type:
        return None
    is_only = given.is_static and given.size == 1
    return node.operands[0] if (flow.forwards and given.dims == made.dims) or (flow.repeats and is_only) else None


def _shape(node: Node) -> Shape:
    if len(node.shapes) != 1 or not node.shapes[0].is_array:
        raise NoSort(node.opcode)
    return node.shapes[0]


def _sort(node: Node) -> str:
    found = sort_of(_shape(node).dtype)
    if found is None:
        raise NoSort(_shape(node).text(False))
    return found


def _splat_bits(array: Array, kind: DType) -> int | None:
    """Return the bits of the elements of an array that are all the same; None: they are not."""
    flat = array.reshape(-1)
    if not flat.size or kind.is_complex:
        return None
    found = np.unique(flat.view(f"u{flat.dtype.itemsize}") if kind.is_floating else flat)
    return int(found[0]) % (1 << kind.bits) if len(found) == 1 else None


def as_numbers(bits: Mapping[str, str], query: ElementQuery) -> dict[int, Any]:
    """Return the elements, as NumPy scalars, that a solver's bits (`0101`) give the unknowns of a query."""
    return {query.unknowns[name]: _number(text, _shape(query.numbering.nodes[query.unknowns[name]]).dtype)
            for name, text in bits.items()}


def _number(text: str, kind: DType) -> Any:
    value = int(text, 2)
    if kind.is_floating:
        return np.array(value, f"u{kind.bits // 8}").view(kind.numpy)[()]
    value -= (1 << kind.bits) if kind.is_integral and kind.is_signed and value >> (kind.bits - 1) else 0
    return np.array(value).astype(kind.numpy)[()]
