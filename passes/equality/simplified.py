"""The normal form after what frontends' converters simplify: one expression for the forms that always give the same.

    c = f32[] constant(2)                             c = f32[4] constant({2,2,2,2})
    b = f32[4] broadcast(c), dimensions={}            y = f32[4] multiply(c, x)
    y = f32[4] multiply(x, b)

have one expression. Each step holds bit by bit (payloads of NaN apart), whatever the arguments are: SIMPLIFICATIONS
names them all, and `Simplified.used` those that were needed. CONVERSIONS names what holds but for the sign of a zero or
a last digit; it counts only where one of the two is known to be made of the other.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.ir import DType, HloComputation, HloInstruction, HloModule, Padding, Shape, SliceDimension
from hlotool.ir.arrays import Array, np
from hlotool.ops import OPS, Op
from hlotool.passes.equality.normal_form import ASPECTS, Expressions, NotComparable
from hlotool.passes.equality.structure import Aspects, bits_of, module_attributes

#: what two modules may differ in and still be the same to `Simplified`: a name, and how
SIMPLIFICATIONS = {
    "operand-order": "the order of the operands of a commutative operation, and of a comparison and its direction",
    "movements": "reshapes, broadcasts and transposes that follow each other, or insert and drop dimensions of size 1; "
                 "slices of parts of a concatenation, and its empty parts",
    "iotas": "whether an iota of several dimensions is one, or a broadcast of one",
    "folded": "whether operations on constants, and what constants decide, are carried out, or their result is written "
              "down",
    "neutral": "operations that leave an operand as it is: conversions to its type, times one, less zero, and with all "
               "bits set, whole slices, reversals of nothing, padding by nothing, folding one element, parts of a "
               "complex number that was put together of them",
    "loop-order": "the order of what a loop carries",
    "topk": "whether a topk says that it is stable: StableHLO's is, and so is what every executor makes of HLO's",
}

#: what converters of frontends do beside that does not hold to the last bit: a name, and how far it is off
CONVERSIONS = {
    "zero-sums": "adding zero to floats, which turns -0 into 0 and leaves all else as it is",
    "rounded": "logarithms, powers and the like of constants: whoever carries them out rounds their last digits",
}

_MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}
#: operations whose neutral element changes some floats: -0 + 0 is 0
_NOT_NEUTRAL_TO_FLOATS = frozenset({"add", "power"})
#: what a compiler is told about one instruction: it would be lost with the instruction
_SAID = frozenset({"sharding", "frontend_attributes", "control-predecessors"})
#: headers of modules that frontends' converters leave out or put in: how results are laid out
_HEADERS = frozenset({"entry_computation_layout"})
#: elements of a constant that is computed with
_FOLDED = 4096


@dataclass(slots=True)
class Simplified(Expressions):
    """Numbered expressions, simplified."""

    #: the names of the simplifications that were applied
    used: set[str] = field(default_factory=set)
    #: whether what CONVERSIONS names is no difference either
    is_converted: bool = False
    _arrays: dict[int, Array] = field(default_factory=dict)
    #: constants that were computed with functions that are rounded
    _rounded: set[int] = field(default_factory=set)

    def _node(self, own: Hashable, operands: tuple[int, ...], instruction: HloInstruction | None,
              computation: HloComputation | None) -> int:
        opcode = own[0] if isinstance(own, tuple) and own else None
        if opcode == "constant":
            return self._written(own, instruction, computation)
        if instruction is not None and isinstance(opcode, str) and instruction.opcode == opcode \
                and not _SAID.intersection(instruction.attributes):
            step = self._steps_of(opcode)
            found = step(self, instruction, operands, computation) if step else None
            if found is None:
                found = self._elementwise(instruction, opcode, operands, computation)
            if found is not None:
                return found
            own, operands = self._ordered(own, instruction, operands)
        return Expressions._node(self, own, operands, instruction, computation)

    def _steps_of(self, opcode: str) -> _Step | None:
        """The step of an operation, where it has one."""
        return _STEPS.get(opcode)

    # Constants

    def _written(self, own: Any, instruction: HloInstruction | None, computation: HloComputation | None) -> int:
        """A constant: one of equal elements is the broadcast of a scalar, without regard to where it came from."""
        number = Expressions._node(self, own, (), instruction, computation)
        shape, data = own[1], own[2]
        if isinstance(shape, Shape) and shape.is_array and isinstance(data, bytes) and number not in self._arrays:
            dtype = shape.dtype.numpy
            if dtype is not None and len(data) == np.dtype(dtype).itemsize and shape.size:
                self._arrays[number] = np.broadcast_to(np.frombuffer(data, dtype)[0], shape.dims)
            elif dtype is not None and len(data) == np.dtype(dtype).itemsize * shape.size:
                self._arrays[number] = np.frombuffer(data, dtype).reshape(shape.dims)
        return number

    def _constant_of(self, array: Array, shape: Shape, i: HloInstruction, computation: HloComputation | None) -> int:
        key = ("constant", shape.without_layout(), bits_of(np.reshape(array, shape.dims)))
        return self._written(key, i, computation)

    def _elementwise(self, i: HloInstruction, opcode: str, operands: tuple[int, ...],
                     computation: HloComputation | None) -> int | None:
        """The value of an elementwise operation on constants, or the operand that it leaves as it is."""
        record = OPS.get(opcode)
        if record is None or "elementwise" not in record.flags or not i.shape.is_array or not i.shape.is_static:
            return None
        arrays = [self._arrays.get(n) for n in operands]
        is_rounded = self.is_converted and (opcode in _ROUNDED or not self._rounded.isdisjoint(operands))
        if all(a is not None for a in arrays) and operands and i.shape.size <= _FOLDED and (
                opcode in _FOLDABLE or is_rounded):
            with np.errstate(all="ignore"):
                value = record.evaluate(*arrays, **_keywords(record.evaluate, i))
            if isinstance(value, np.ndarray | np.generic) and value.dtype == i.shape.dtype.numpy \
                    and np.shape(value) == i.shape.dims:
                self.used.add("folded")
                found = self._constant_of(np.asarray(value), i.shape, i, computation)
                return self._nearly(found) if is_rounded else found
        if opcode == "compare" and operands[0] == operands[1] and not (
                i.operands[0].shape.dtype.is_floating or i.operands[0].shape.dtype.is_complex):
            self.used.add("folded")  # floats may be NaN, which is not equal to itself
            is_so = i.attributes.get("direction") in ("EQ", "LE", "GE")
            return self._constant_of(np.full(i.shape.dims, is_so), i.shape, i, computation)
        if opcode == "compare" and i.attributes.get("direction") == "NE" and (truth := arrays[1]) is not None \
                and truth.dtype == np.bool_ and truth.size and not any(truth.strides) and not truth.reshape(-1)[0]:
            return self._neutral(operands[0], True)
        return self._without_neutral(i, record, operands)

    def _without_neutral(self, i: HloInstruction, record: Op, operands: tuple[int, ...]) -> int | None:
        """What an operation gives where one side is known to decide: the other operand, or that side itself."""
        if len(operands) != 2:
            return None
        for one, other in ((1, 0), (0, 1)) if "commutative" in record.flags else ((1, 0),):
            array = self._arrays.get(operands[one])
            if array is None or not array.size or any(array.strides):
                continue
            if self._is_neutral(i.opcode, record, i.shape.dtype, array):
                return self._neutral(operands[other], True)
            if _absorbs(i.opcode, array):
                self.used.add("folded")
                return operands[one]
        return None

    def _is_neutral(self, opcode: str, record: Op, dtype: DType, array: Array) -> bool:
        """Whether equal elements are the neutral one of an operation, to the bit: -0 is not 0."""
        # Of complex numbers, even one changes what is infinite: 0 times infinity is NaN.
        if record.identity is None or dtype.is_complex or not array.size:
            return False
        one = array.reshape(-1)[:1]
        if dtype.is_floating and opcode in _NOT_NEUTRAL_TO_FLOATS:
            if opcode == "add" and not one.any() and (self.is_converted or bool(np.signbit(one).all())):
                # Only adding +0 changes anything: -0 becomes 0.
                self.used.update(() if np.signbit(one).all() else ("zero-sums",))
                return True
            return False
        element = record.identity(dtype)
        written = np.asarray(element).astype(dtype.numpy)
        if dtype.is_floating and float(written) != element:
            return False  # small types lack infinities, or zero
        return one.tobytes() == written.tobytes()

    def _nearly(self, number: int) -> int:
        """A constant that was met before and differs by what rounding explains, else this one."""
        value = self._arrays[number]
        self._rounded.add(number)
        self.used.add("rounded")
        if value.dtype.kind not in "fc" or value.dtype.itemsize < 4 or not np.isfinite(value).all():
            return number
        slack = _SLACK * np.finfo(value.dtype).eps * np.abs(value)
        for other, array in self._arrays.items():
            if other not in self._rounded and array.dtype == value.dtype and array.shape == value.shape and bool(
                    (np.abs(array - value) <= slack).all()):
                return other
        return number

    # Orders

    def _ordered(self, own: Any, i: HloInstruction, operands: tuple[int, ...]) -> tuple[Hashable, tuple[int, ...]]:
        record = OPS.get(i.opcode)
        if len(operands) != 2 or operands[0] <= operands[1] or record is None:
            return own, operands
        if "commutative" in record.flags:
            self.used.add("operand-order")
            return own, (operands[1], operands[0])
        if i.opcode == "compare":
            given = dict(own[2])
            if str(given.get("direction")) in _MIRRORED:
                given["direction"] = _MIRRORED[str(given["direction"])]
                self.used.add("operand-order")
                return (*own[:2], tuple(given.items()), *own[3:]), (operands[1], operands[0])
        return own, operands

    # Movements

    def _reshaped(self, number: int, shape: Shape, i: HloInstruction, computation: HloComputation | None) -> int:
        """A reshape of a reshape is one; to the shape that there is, none; constants are written in the new one."""
        shape = shape.without_layout()
        node = self.nodes[number]
        own = node.own
        if isinstance(own, tuple) and own[0] == "reshape":
            self.used.add("movements")
            return self._reshaped(node.operands[0], shape, i, computation)
        if self._shape(number) is shape:
            return number
        if (array := self._arrays.get(number)) is not None and array.size <= _FOLDED:
            self.used.add("movements")
            return self._constant_of(array, shape, i, computation)
        if isinstance(own, tuple) and own[0] == "constant" and array is not None and array.size and not any(
                array.strides):
            return self._constant_of(array, shape, i, computation)
        return Expressions._node(self, ("reshape", shape), (number,), i, computation)

    def _transposed(self, number: int, source: Shape, order: tuple[int, ...], i: HloInstruction,
                    computation: HloComputation | None) -> int:
        """A transpose of a transpose is one; one that moves only dimensions of size 1 is a reshape."""
        own = self.nodes[number].own
        if isinstance(own, tuple) and own[0] == "transpose" and (
                inner_source := self._shape(self.nodes[number].operands[0])) is not None:
            inner_order = dict(own[2])["dimensions"]
            self.used.add("movements")
            return self._transposed(self.nodes[number].operands[0], inner_source,
                                    tuple(inner_order[d] for d in order), i, computation)
        moved = [d for d in order if source.dims[d] != 1]
        result = Shape(source.element_type, tuple(source.dims[d] for d in order))
        if moved == sorted(moved):
            return self._reshaped(number, result, i, computation)
        if (array := self._arrays.get(number)) is not None and array.size <= _FOLDED:
            self.used.add("folded")
            return self._constant_of(array.transpose(order), result, i, computation)
        if len(moved) == len(order):
            return Expressions._transposed(self, number, source, order, i, computation)
        # Dimensions of size 1 are put in and out by reshapes.
        self.used.add("movements")
        kept = sorted(moved)
        narrow = Shape(source.element_type, tuple(source.dims[d] for d in kept))
        inner = self._reshaped(number, narrow, i, computation)
        made = Expressions._transposed(self, inner, narrow, tuple(kept.index(d) for d in moved), i, computation)
        return self._reshaped(made, result, i, computation)

    def _spread(self, number: int, shape: Shape, dimensions: tuple[int, ...], i: HloInstruction,
                computation: HloComputation | None) -> int:
        """A broadcast, of and to shapes without dimensions of size 1, which are put in and out by reshapes."""
        source = self._shape(number)
        if source is None or list(dimensions) != sorted(dimensions):
            return Expressions._node(self, ("broadcast", shape.without_layout(), dimensions), (number,), i, computation)
        kept = [d for d, n in enumerate(shape.dims) if n != 1]
        narrow = Shape(shape.element_type, tuple(shape.dims[d] for d in kept))
        places = tuple(kept.index(d) for n, d in zip(source.dims, dimensions, strict=True) if n != 1)
        inner = self._reshaped(number, Shape(source.element_type, tuple(n for n in source.dims if n != 1)), i,
                               computation)
        if len(places) != len(source.dims) or len(kept) != shape.rank:
            self.used.add("movements")
        if len(places) == len(kept):
            return self._reshaped(inner, shape, i, computation)
        if (array := self._arrays.get(inner)) is not None and (array.size == 1 or shape.size <= _FOLDED):
            index = tuple(slice(None) if d in places else None for d in range(len(kept)))
            return self._constant_of(np.broadcast_to(array[index], narrow.dims), shape, i, computation)
        node = self.nodes[inner]
        if isinstance(node.own, tuple) and node.own[0] == "broadcast" and len(node.own) == 3:
            self.used.add("movements")
            places = tuple(places[d] for d in node.own[2])
            inner = node.operands[0]
        made = Expressions._node(self, ("broadcast", narrow.without_layout(), places), (inner,), i, computation)
        return self._reshaped(made, shape, i, computation)

    def reshape(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        if len(operands) != 1 or self._shape(operands[0]) is None or not i.shape.is_static:
            return None
        return self._reshaped(operands[0], i.shape, i, computation)

    def broadcast(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        if len(operands) != 1 or self._shape(operands[0]) is None or not i.shape.is_static:
            return None
        return self._spread(operands[0], i.shape, tuple(i.attributes.get("dimensions") or ()), i, computation)

    def iota(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        if not i.shape.is_static or i.shape.rank == 0:
            return None
        dimension = i.attributes.get("iota_dimension", 0)
        row = Shape(i.shape.element_type, (i.shape.dims[dimension],)).without_layout()
        if row.dims == (1,) and row.dtype.numpy is not None:
            self.used.add("folded")
            return self._constant_of(np.zeros(i.shape.dims, row.dtype.numpy), i.shape, i, computation)
        inner = Expressions._node(self, ("iota", (row,)), (), i, computation)
        if i.shape.rank == 1:
            return inner
        self.used.add("iotas")
        return self._spread(inner, i.shape, (dimension,), i, computation)

    # Operations that leave their operand as it is

    def convert(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        source = self._shape(operands[0])
        return self._neutral(operands[0], source is i.shape.without_layout())

    def slice(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        """A slice of one part of a concatenation is a slice of that part; one that takes everything is none."""
        return self._cut(operands[0], tuple(i.attributes.get("slice") or ()), i, computation)

    def _cut(self, operand: int, taken: tuple[SliceDimension, ...], i: HloInstruction,
             computation: HloComputation | None) -> int | None:
        """What the slice of a value is, whose shape is that of the instruction."""
        node = self.nodes[operand]
        if isinstance(node.own, tuple) and node.own[0] == "concatenate":
            dimension, at = node.own[2][0], taken[node.own[2][0]]
            before = 0
            for part in node.operands:
                shape = self._shape(part)
                if shape is None:
                    return None
                size = shape.dims[dimension]
                if before <= at.start and at.limit <= before + size:
                    moved = dataclasses.replace(at, start=at.start - before, limit=at.limit - before)
                    self.used.add("movements")
                    operand, taken = part, (*taken[:dimension], moved, *taken[dimension + 1:])
                    break
                before += size
        if self._shape(operand) is i.shape.without_layout():
            return self._neutral(operand, True)
        array = self._arrays.get(operand)
        if array is not None and array.size <= _FOLDED and i.shape.is_static and i.shape.size:
            self.used.add("folded")
            cut = tuple(slice(t.start, t.limit, t.stride) for t in taken)
            return self._constant_of(array[cut], i.shape, i, computation)
        own = ("slice", (i.shape.without_layout(),), taken)
        return Expressions._node(self, own, (operand,), i, computation)

    def dynamic_slice(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None
                      ) -> int | None:
        """A slice at starts that are known, and clamped as they are when it runs, is a slice."""
        source = self._shape(operands[0])
        starts = [self._arrays.get(n) for n in operands[1:]]
        sizes = i.shape.dims
        if source is None or not i.shape.is_static or len(starts) != source.rank:
            return None
        known = [int(s) for s in starts if s is not None and s.ndim == 0]
        if len(known) != source.rank:
            return None
        begins = [min(max(s, 0), n - size) for s, n, size in zip(known, source.dims, sizes, strict=True)]
        taken = tuple(SliceDimension(s, s + size, 1) for s, size in zip(begins, sizes, strict=True))
        self.used.add("folded")
        return self._cut(operands[0], taken, i, computation)

    def pad(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        """Padding by nothing."""
        padding = i.attributes.get("padding")
        rows = padding.dimensions if isinstance(padding, Padding) else ()
        is_none = all(not (row.low or row.high or row.interior) for row in rows)
        return self._neutral(operands[0], is_none and self._shape(operands[0]) is i.shape.without_layout())

    def reverse(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        dimensions = i.attributes.get("dimensions") or ()
        array = self._arrays.get(operands[0])
        if array is not None and array.size <= _FOLDED:
            self.used.add("folded")
            return self._constant_of(np.flip(array, dimensions), i.shape, i, computation)
        return self._neutral(operands[0], i.shape.is_static and all(i.shape.dims[d] <= 1 for d in dimensions))

    def reduce(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        """Folding what has one element from the neutral one on leaves that element."""
        source = i.operands[0].shape
        dimensions = tuple(i.attributes.get("dimensions") or ())
        if len(i.operands) != 2 or not source.is_static or any(source.dims[d] != 1 for d in dimensions):
            return None
        folded = i.attributes["to_apply"].root
        record, init = OPS.get(folded.opcode), self._arrays.get(operands[1])
        if record is None or init is None or "commutative" not in record.flags or len(set(folded.operands)) != 2 or any(
                o.opcode != "parameter" or o.shape.element_type != source.element_type for o in folded.operands):
            return None
        if not self._is_neutral(folded.opcode, record, source.dtype, init):
            return None
        self.used.add("neutral")
        return self._reshaped(operands[0], i.shape, i, computation)

    def select(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        """One of both where the predicate is known to be the same everywhere, or both are one."""
        if operands[1] == operands[2]:
            self.used.add("folded")
            return operands[1]
        chosen = self._arrays.get(operands[0])
        if chosen is not None and chosen.size and not any(chosen.strides):
            self.used.add("folded")
            return operands[1] if chosen.reshape(-1)[0] else operands[2]
        if i.operands[0].shape.is_scalar and i.shape.rank and i.shape.is_static:
            self.used.add("movements")
            whole = self._spread(operands[0], Shape("pred", i.shape.dims), (), i, computation)
            own = ("select", (i.shape.without_layout(),), (), 0)
            return Expressions._node(self, own, (whole, *operands[1:]), i, computation)
        return None

    def conditional(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None
                    ) -> int | None:
        """The branch that a known index chooses, and what all branches give alike."""
        branches = operands[1:]
        if not i.shape.is_array or len(branches) != len(i.called_computations()):
            return None
        if len(set(branches)) == 1:
            self.used.add("folded")
            return branches[0]
        index = self._arrays.get(operands[0])
        if index is None:
            return None
        self.used.add("folded")
        if index.dtype == np.bool_:
            return branches[not index]
        return branches[int(index)] if 0 <= index < len(branches) else branches[-1]

    def transpose(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        source = self._shape(operands[0])
        if source is None:
            return None
        return self._transposed(operands[0], source, tuple(i.attributes.get("dimensions") or ()), i, computation)

    def concatenate(self, i: HloInstruction, operands: tuple[int, ...],
                    computation: HloComputation | None) -> int | None:
        """A concatenation of concatenations in the same dimension is one."""
        dimension, flat = tuple(i.attributes.get("dimensions") or ()), list[int]()
        for operand in operands:
            own = self.nodes[operand].own
            if (shape := self._shape(operand)) is not None and not shape.size:
                continue
            is_same = isinstance(own, tuple) and own[0] == "concatenate" and own[2] == dimension
            flat.extend(self.nodes[operand].operands if is_same else (operand,))
        if len(flat) != len(operands):
            self.used.add("movements")
        if len(flat) == 1:
            return flat[0]
        arrays = [self._arrays.get(n) for n in flat]
        if i.shape.is_static and i.shape.size <= _FOLDED and (parts := [a for a in arrays if a is not None]) and len(
                parts) == len(flat):
            self.used.add("folded")
            return self._constant_of(np.concatenate(parts, dimension[0]), i.shape, i, computation)
        return Expressions._node(self, ("concatenate", (i.shape.without_layout(),), dimension), tuple(flat), i,
                                 computation)

    def topk(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        """A topk that is stable is one."""
        if not i.attributes.get("is_stable"):
            return None
        self.used.add("topk")
        attributes = tuple([(k, v) for k, v in ASPECTS.attributes(i, lambda c: 0) if k != "is_stable"])
        own = ("topk", tuple(s.without_layout() for _, s in i.shape.leaves()), attributes, 0)
        return Expressions._node(self, own, operands, i, computation)

    def part(self, i: HloInstruction, operands: tuple[int, ...], computation: HloComputation | None) -> int | None:
        """The real or imaginary part of what was just put together of two."""
        own = self.nodes[operands[0]].own
        is_made = isinstance(own, tuple) and own[0] == "complex"
        return self._neutral(self.nodes[operands[0]].operands[i.opcode == "imag"] if is_made else 0, is_made)

    def _neutral(self, operand: int, is_neutral: bool) -> int | None:
        if not is_neutral:
            return None
        self.used.add("neutral")
        return operand

    def _loop_state(self, changing: Iterable[int], start: list[int], shapes: list[Shape]) -> list[int]:
        ordered = sorted(changing, key=lambda n: (str(shapes[n]), start[n]))
        if ordered != sorted(ordered):
            self.used.add("loop-order")
        return ordered


def same_up_to(left: HloModule, right: HloModule, *, is_converted: bool = False) -> tuple[str, ...] | None:
    """The simplifications up to which two modules are the same; None where they differ, or are too large to tell.

    is_converted: `left` was made of `right` by a frontend's converter, and so CONVERSIONS are no differences either.
    """
    headers = [{k: v for k, v in module_attributes(m, Aspects()).items() if k not in _HEADERS} for m in (left, right)]
    if headers[0] != headers[1]:
        return None
    expressions = Simplified(is_converted=is_converted)
    try:
        is_same = expressions.module(left) == expressions.module(right)
    except NotComparable:
        return None
    names = (*SIMPLIFICATIONS, *CONVERSIONS)
    return tuple(name for name in names if name in expressions.used) if is_same else None


def _absorbs(opcode: str, array: Array) -> bool:
    """Whether equal elements are the result of an operation, whatever is beside them."""
    one = array.reshape(-1)[0]
    if opcode == "and" or (opcode == "multiply" and array.dtype.kind in "iub"):
        return not one
    return opcode == "or" and bool(np.invert(one) == 0)


def _keywords(evaluate: Callable[..., Any], i: HloInstruction) -> dict[str, Any]:
    """What an operation's function is told beside its operands."""
    wanted = inspect.signature(evaluate).parameters
    told: dict[str, Any] = {**i.attributes, "shape": i.shape}
    return {k: v for k, v in told.items() if k in wanted}


_Step: TypeAlias = "Callable[[Any, HloInstruction, tuple[int, ...], HloComputation | None], int | None]"
_STEPS: dict[str, _Step] = {
    "reshape": Simplified.reshape, "broadcast": Simplified.broadcast, "iota": Simplified.iota,
    "convert": Simplified.convert, "slice": Simplified.slice, "reverse": Simplified.reverse,
    "pad": Simplified.pad, "dynamic-slice": Simplified.dynamic_slice,
    "transpose": Simplified.transpose, "concatenate": Simplified.concatenate,
    "topk": Simplified.topk, "reduce": Simplified.reduce, "select": Simplified.select,
    "conditional": Simplified.conditional, "real": Simplified.part, "imag": Simplified.part,
}
#: operations whose values are exact, so that every executor folds them to the same bits
_FOLDABLE = frozenset({"add", "subtract", "multiply", "divide", "negate", "abs", "sign", "and", "or", "xor", "not",
                       "compare", "select", "maximum", "minimum", "convert", "shift-left", "shift-right-logical",
                       "shift-right-arithmetic", "floor", "ceil", "sqrt", "remainder"})
#: operations whose last digits are up to who carries them out
_ROUNDED = frozenset({"cbrt", "cosine", "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic",
                      "power", "rsqrt", "sine", "tan", "tanh"})
#: units of rounding by which constants that are computed may differ
_SLACK = 4
