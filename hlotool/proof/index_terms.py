"""Questions for solvers about elements of arrays: can two of them differ, for any sizes, indices and values?

Elements are those of hlotool.ops.index_maps. In the domain ANY operations are functions of which nothing is known, but
that some commute: what is proved there holds in all domains. REALS are numbers that are not rounded, INTEGERS wrap
around at 32 bits, FLOATS are IEEE 754's of 32 bits.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from typing import TypeAlias

from hlotool.ir import DTYPES, DType, Shape
from hlotool.ir.arrays import np
from hlotool.ops import OPS, REAL, Applied, ConstraintError, bits_term, real_facts, sort_of
from hlotool.ops.index_maps import Condition, Count, Element, Folded, Mapped, Read, Scalar, Selected, WholeNumber
from hlotool.proof.queries import NoSort
from hlotool.proof.solvers import Decision, Reply, asked


class NumberDomain(Enum):
    """The numbers that elements are."""

    ANY = "any"
    REALS = "reals"
    INTEGERS = "integers"
    FLOATS = "floats"


#: the element type of a domain's numbers, and of those that stand for them where types are inferred
_TYPES: dict[NumberDomain, tuple[DType | None, str]] = {
    NumberDomain.ANY: (None, "f32"), NumberDomain.REALS: (REAL, "f32"), NumberDomain.INTEGERS: (DTYPES["s32"], "s32"),
    NumberDomain.FLOATS: (DTYPES["f32"], "f32")}
#: a term and its kind: "pred", or "" for a number of the domain
_Term: TypeAlias = "tuple[str, str]"


@dataclass
class IndexQuery:
    """The lines of questions about elements in one domain."""

    domain: NumberDomain
    #: conditions that hold, on sizes and operands
    given: tuple[Condition, ...] = ()
    #: names of sizes and indices
    wholes: tuple[str, ...] = ()
    effort: int = 2
    #: questions that may still be asked
    left: int = 400
    solvers: set[str] = field(default_factory=set)
    _lines: dict[str, None] = field(default_factory=dict)
    _calls: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def may_differ(self, one: Element, other: Element, within: Condition = "true", extra: Iterable[str] = ()) -> Reply:
        """Ask whether two elements without folds can differ where a condition holds. Raises NoSort."""
        first, second = self.term(one)[0], self.term(other)[0]
        return self._ask((within, f"(not (= {first} {second}))"), extra)

    def is_contradicted(self) -> bool:
        """Return True if what is given holds nowhere, or functions have values nowhere."""
        return self._ask((), (), has_facts=False).answer is Decision.EQUAL

    def never(self, condition: Condition, extra: Iterable[str] = ()) -> bool:
        """Return True if a condition is proved to hold nowhere; of `extra` whole numbers, too."""
        if condition in ("true", "false"):
            return condition == "false"
        return self._ask((condition,), extra).answer is Decision.EQUAL

    def always(self, condition: Condition, within: Condition = "true", extra: Iterable[str] = ()) -> bool:
        """Return True if a condition is proved to hold wherever another one does."""
        return condition == "true" or self.never(f"(and {within} (not {condition}))", extra)

    def _ask(self, wanted: tuple[str, ...], extra: Iterable[str], *, has_facts: bool = True) -> Reply:
        if self.left <= 0:
            return Reply(Decision.UNKNOWN)
        self.left -= 1
        defined, facts, functions = real_facts(self._calls) if self.domain is NumberDomain.REALS else ([], [], {})
        lines = ["(set-logic ALL)", *(f"(declare-const {n} Int)" for n in dict.fromkeys((*self.wholes, *extra))),
                 *self._lines, *(f"(declare-fun {n} ({' '.join(['Real'] * count)}) Real)"
                                 for n, count in functions.items() if self._calls)]
        claims = [*self.given, *wanted, *defined, *(facts if has_facts and self._calls else ())]
        text = "\n".join([*lines, *(f"(assert {c})" for c in claims if c != "true"), ""])
        reply = asked(text, (), self.effort)
        self.solvers.update([reply.by] if reply.by else ())
        return reply

    def term(self, element: Element) -> _Term:
        """Return an element without folds as a term, with its kind. Raises NoSort."""
        match element:
            case Read(name, places, kind):
                self._declare(name, ["Int"] * len(places), kind)
                return _call(name, [p.text for p in places]), kind
            case Scalar(text):
                return self._number(text)
            case Count(place):
                return self._count(place), ""
            case Selected(when, yes, no):
                one, other = self.term(yes), self.term(no)
                return (one[0] if one == other else f"(ite {when} {one[0]} {other[0]})"), one[1]
            case Mapped():
                return self._function(element)
        raise NoSort("a fold" if isinstance(element, Folded) else "an index")

    def _sort(self, kind: str) -> str:
        dtype, _ = _TYPES[self.domain]
        if kind == "pred":
            return "Bool"
        return "Element" if dtype is None else str(sort_of(dtype))

    def _declare(self, name: str, operands: list[str], kind: str) -> None:
        if self.domain is NumberDomain.ANY:
            self._lines.setdefault("(declare-sort Element 0)")
        self._lines.setdefault(f"(declare-fun {name} ({' '.join(operands)}) {self._sort(kind)})")

    def _number(self, text: str) -> _Term:
        dtype, _ = _TYPES[self.domain]
        if text in ("true", "false"):
            return text, "pred"
        if dtype is None:
            name = f"|number {text}|"
            self._declare(name, [], "")
            return name, ""
        with contextlib.suppress(ValueError, OverflowError):
            if dtype == REAL and float(text) - float(text) == 0:
                number = format(Decimal(text.lstrip("-")), "f")
                number += "" if "." in number else ".0"
                return (f"(- {number})" if float(text) < 0 else number), ""
            if dtype.is_integral:
                return bits_term(dtype, int(text) % (1 << dtype.bits)), ""
            if dtype.is_floating:
                return bits_term(dtype, int(np.array(float(text), dtype.numpy).view(f"u{dtype.bits // 8}"))), ""
        raise NoSort(text)

    def _count(self, place: WholeNumber) -> str:
        if self.domain is NumberDomain.REALS:
            return f"(to_real {place.text})"
        if self.domain is NumberDomain.INTEGERS:
            return f"((_ int2bv 32) {place.text})"
        self._declare("of_index", ["Int"], "")
        self._lines.setdefault(f"(assert (= (of_index 0) {self._number('0')[0]}))")
        return f"(of_index {place.text})"

    def _function(self, element: Mapped) -> _Term:
        operands = [self.term(o) for o in element.operands]
        terms = [t for t, _ in operands]
        if element.opcode == "select" and operands[0][1] == "pred":
            return f"(ite {' '.join(terms)})", operands[1][1]
        dtype, stand_in = _TYPES[self.domain]
        record, attributes = OPS[element.opcode], dict(element.attributes)
        kind = _kind(element, tuple(k or stand_in for _, k in operands))
        if dtype is not None or all(k == "pred" for _, k in operands):
            types = [DTYPES["pred"] if k == "pred" else dtype or REAL for _, k in operands]
            given = Applied(types[0], DTYPES["pred"] if kind == "pred" else dtype or REAL, attributes)
            if len(set(types)) == 1 and record.smt is not None and (term := record.smt(given, *terms)) is not None:
                self._calls += [(element.opcode, tuple(terms))] if dtype == REAL and element.opcode == "divide" else []
                return term, kind
        return self._unknown(element, operands, kind)

    def _unknown(self, element: Mapped, operands: list[_Term], kind: str) -> _Term:
        """Return the result of a function of which only that is known that it is one, or that it commutes."""
        terms, is_real = [t for t, _ in operands], self.domain is NumberDomain.REALS
        if is_real:
            if element.attributes or kind or any(k for _, k in operands):
                raise NoSort(element.opcode)
            self._calls.append((element.opcode, tuple(terms)))
            return _call(element.opcode, terms), ""
        words = [element.opcode, *(k or "number" for _, k in operands), *(f"{k}={v}" for k, v in element.attributes)]
        name = f"|{' '.join(words).translate({ord(c): '/' for c in '|' + chr(92)})}|"
        sorts = [self._sort(k) for _, k in operands]
        self._declare(name, sorts, kind)
        if commutes(element) and len(set(sorts)) == 1:
            self._lines.setdefault(f"(assert (forall ((a {sorts[0]}) (b {sorts[0]})) (! (= ({name} a b) ({name} b a)) "
                                   f":pattern (({name} a b)))))")
        return _call(name, terms), kind


def _call(name: str, terms: list[str]) -> str:
    return f"({name} {' '.join(terms)})" if terms else name


def commutes(element: Mapped) -> bool:
    """Return True if operands of an operation may change places."""
    types = str(dict(element.attributes).get("types", "f32"))
    return OPS[element.opcode].commutes(DTYPES[types.rpartition(">")[2]])


def _kind(element: Mapped, types: tuple[str, ...]) -> str:
    """Return the kind of an elementwise operation's result. Raises NoSort."""
    if (known := dict(element.attributes).get("types")) is not None:
        return "pred" if str(known).endswith("->pred") else ""
    for given in (types, tuple("s32" if t == "f32" else t for t in types)):
        with contextlib.suppress(ConstraintError, TypeError, KeyError):
            found = OPS[element.opcode].infer(*(Shape.array(t) for t in given), declared=None,
                                              **dict(element.attributes))
            return "pred" if found.element_type == "pred" else ""
    raise NoSort(element.opcode)


def has_fold(element: Element) -> bool:
    """Return True if an element is made of a fold anywhere."""
    match element:
        case Folded():
            return True
        case Selected(_, yes, no):
            return has_fold(yes) or has_fold(no)
        case Mapped(_, operands):
            return any(map(has_fold, operands))
    return False


def with_operands(element: Mapped, *operands: Element) -> Mapped:
    """Return the same operation on other elements."""
    return replace(element, operands=operands)
