"""Steps that make arrays smaller: sizes, ranks and element types, everywhere where one is found.

    f32[128,64] -> f32[2,64]      the size 128 becomes 2 in every shape, slice, window and argument
    f32[2,1] -> f32[2]            the dimensions [2,1] become [2]
    bf16[2] -> f32[2]             one element type becomes another

What an operation infers from its operands is inferred again; the verifier says which changes fit together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hlotool.ir import DTYPES, Attributes, HloInstruction, HloModule, Literal, Padding, Shape, Window
from hlotool.ir.arrays import Array, np
from hlotool.numerics import Rows
from hlotool.ops import keeps_order
from hlotool.passes.edit import Editing, clone_module
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import SearchState

#: places in an argument from which on fewer elements are taken
_OFFSETS = 8
#: how far from a size another one may be that changes by the same difference (7 beside 8)
_BESIDE = 4
#: instructions up to which sizes are tried one by one
_SMALL = 200


def hands_on(instruction: HloInstruction) -> bool:
    """Return True for an operation that gives the values of its operand, in another shape or type."""
    return keeps_order(instruction) or instruction.opcode == "convert"


@dataclass(frozen=True)
class Resizing:
    """How arrays become smaller."""

    #: of a size, and of nothing else
    sizes: Mapping[int, int]
    #: of all dimensions of an array
    dims: Mapping[tuple[int, ...], tuple[int, ...]]
    element_types: Mapping[str, str]
    #: where arguments and literals are cut: 0 at the front, 1 at the end
    place: float = 0.0

    def shape(self, shape: Shape) -> Shape:
        """A shape made smaller."""
        if shape.is_tuple:
            return Shape.tuple(*map(self.shape, shape.elements))
        if not shape.is_array:
            return shape
        dims = self.dims.get(shape.dims)
        dynamic = shape.dynamic if dims is None else ()
        if dims is None:
            dims = tuple(self.sizes.get(d, d) for d in shape.dims)
        # A layout of other dimensions says nothing of these.
        layout = shape.layout if len(dims) == shape.rank else None
        return Shape.array(self.element_types.get(shape.element_type, shape.element_type), dims, layout, dynamic)

    def array(self, array: Array, wanted: Shape) -> Array:
        """An array of that shape: a window of the given one."""
        found = array
        while found.ndim > wanted.rank:
            axis = next((n for n, size in enumerate(found.shape)
                         if n >= wanted.rank or size != wanted.dims[n]), found.ndim - 1)
            found = (np.take(found, self._first(found.shape[axis], 1), axis=axis) if found.shape[axis]
                     else np.zeros(np.delete(found.shape, axis), found.dtype))
        places = tuple(slice(first := self._first(size, min(size, new)), first + min(size, new))
                       for size, new in zip(found.shape, wanted.dims, strict=True))
        found = found[places]
        if found.shape != wanted.dims:
            found = np.resize(found, wanted.dims)
        with np.errstate(all="ignore"):
            return np.ascontiguousarray(found).reshape(wanted.dims).astype(wanted.dtype.numpy)

    def _first(self, size: int, new: int) -> int:
        return round((size - new) * self.place)

    def attributes(self, instruction: HloInstruction) -> Attributes:
        """The attributes of an instruction, whose operands have their new shapes already."""
        changed: dict[str, Any] = {}
        for name, value in instruction.attributes.items():
            match name:
                case "dynamic_slice_sizes" | "slice_sizes":
                    changed[name] = tuple(self.sizes.get(v, v) if isinstance(v, int) else v for v in value)
                case "slice":
                    sizes = instruction.operands[0].shape.dims
                    changed[name] = tuple(_sliced(d, n, self) for d, n in zip(value, sizes, strict=False))
                case "window":
                    changed[name] = Window(tuple(replace(d, size=self.sizes.get(d.size, d.size))
                                                 for d in value.dimensions))
                case "padding" if isinstance(value, Padding):
                    changed[name] = value
        return instruction.attributes | changed if changed else instruction.attributes


def _sliced(dimension: Any, size: int, resizing: Resizing) -> Any:
    limit = min(resizing.sizes.get(dimension.limit, dimension.limit), size)
    length = dimension.limit - dimension.start
    start = min(dimension.start, max(0, limit - resizing.sizes.get(length, length)))
    return replace(dimension, start=start, limit=max(start, limit))


def resized(base: Candidate, resizing: Resizing) -> Candidate | None:
    """The candidate with smaller arrays; None where nothing changes."""
    if base.other is None:
        module = _resized(base.module, resizing)
        return None if module is None else Candidate(module, _rows(base.rows, module.entry.parameters(), resizing))
    pair = [_resized(m, resizing) for m in (base.module, base.other)]
    if not any(pair):
        return None
    left, right = (_without_copies(new or clone_module(old)) for new, old in zip(
        pair, (base.module, base.other), strict=True))
    return Candidate(left, _rows(base.rows, left.entry.parameters(), resizing), right)


def _without_copies(module: HloModule) -> HloModule:
    """Leave out what gives its operand as it is, now that the shapes are the same."""
    edit = Editing(module)
    edit.replace_uses({i: i.operands[0] for i in module.instructions()
                       if hands_on(i) and i.shape.without_layout() == i.operands[0].shape.without_layout()})
    edit.sweep()
    return module


def _resized(given: HloModule, resizing: Resizing) -> HloModule | None:
    module = clone_module(given)
    changed = False
    for computation in module.computations:
        for instruction in computation.instructions:
            shape = resizing.shape(instruction.shape)
            changed |= shape is not instruction.shape
            instruction.shape = shape
        for instruction in computation.instructions:
            instruction.attributes = resizing.attributes(instruction)
            literal = instruction.attributes.get("literal")
            if isinstance(literal, Literal) and literal.shape.is_array and literal.shape != instruction.shape:
                if literal.is_elided:
                    return None
                plain = instruction.shape.without_layout()
                instruction.attributes = instruction.attributes | {
                    "literal": Literal(plain, resizing.array(literal.array, plain))}
    if not changed:
        return None
    module.attributes = module.attributes.without("entry_computation_layout")
    Editing(module).renew_shapes()
    return module


def _rows(rows: Rows | None, parameters: list[HloInstruction], resizing: Resizing) -> Rows | None:
    if rows is None:
        return None
    shapes = [s for p in parameters for _, s in p.shape.leaves() if s.is_array]
    return [[resizing.array(leaf, shape) for leaf, shape in zip(row, shapes, strict=True)] for row in rows]


def resize(work: SearchState) -> bool:
    """Smaller sizes, then fewer dimensions, then plainer element types."""
    if work.best.size > _SMALL:
        return False
    changed = work.try_all(_smaller_sizes, "sizes")
    changed = work.try_all(_fewer_dimensions, "ranks") or changed
    return work.try_all(_plainer_types, "element types") or changed


def _makers(base: Candidate, resizings: Iterator[Resizing]) -> Iterator[Maker]:
    for resizing in resizings:
        yield partial(resized, base, resizing)


def _shapes(base: Candidate) -> list[Shape]:
    """Return the shapes of all arrays."""
    modules = [base.module] if base.other is None else [base.module, base.other]
    return [s for m in modules for i in m.instructions() for _, s in i.shape.leaves() if s.is_array]


def _smaller_sizes(base: Candidate) -> Iterator[Maker]:
    yield from _makers(base, _sizes(base))


def _sizes(base: Candidate) -> Iterator[Resizing]:
    shapes = _shapes(base)
    sizes = sorted({d for s in shapes for d in s.dims if d > 1}, reverse=True)
    most = {size: max(int(s.size) for s in shapes if size in s.dims) for size in sizes}
    for size in sorted(sizes, key=lambda s: -most[s]):
        smaller = dict.fromkeys(n for n in (1, 2, 3, 4, size // 4, size // 2, 3 * size // 4, 7 * size // 8,
                                            size - 1) if 0 < n < size)
        for new in smaller:
            for together in _together(size, new, sizes):
                for place in _places(size, new, base.rows is not None):
                    yield Resizing(together, {}, {}, place)


def _together(size: int, new: int, sizes: list[int]) -> Iterator[dict[int, int]]:
    """Yield the sizes that change with one: none, its multiples, its neighbours."""
    yield {size: new}
    multiples = {s: s // size * new for s in sizes if s % size == 0}
    if len(multiples) > 1:
        yield multiples
    beside = {s: s - size + new for s in sizes if abs(s - size) < _BESIDE and s - size + new > 0}
    if len(beside) > 1:
        yield beside


def _places(size: int, new: int, has_arguments: bool) -> Iterator[float]:
    yield 0.0
    if has_arguments:
        count = min(_OFFSETS, size - new)
        yield from (n / count for n in range(count, 0, -1))


def _fewer_dimensions(base: Candidate) -> Iterator[Maker]:
    def every() -> Iterator[Resizing]:
        dims = {s.dims for s in _shapes(base) if s.dims}
        for given in sorted(dims, key=len, reverse=True):
            fewer = dict.fromkeys([(), *(given[:n] + given[n + 1:] for n in range(len(given)))])
            for new in fewer:
                yield Resizing({}, {given: new}, {}, 0.0)
                if base.rows is not None and base.elements > len(base.rows):
                    yield Resizing({}, {given: new}, {}, 1.0)

    yield from _makers(base, every())


#: element types by family, the plainest one first
_PLAINEST: Callable[[str], str] = {"float": "f32", "signed": "s32", "unsigned": "s32", "complex": "c64"}.get  # type: ignore[assignment]


def _plainer_types(base: Candidate) -> Iterator[Maker]:
    def every() -> Iterator[Resizing]:
        used = {s.element_type for s in _shapes(base)}
        for name in sorted(used):
            new = _PLAINEST(DTYPES[name].family)
            if new is not None and new != name:
                yield Resizing({}, {}, {name: new})

    yield from _makers(base, every())
