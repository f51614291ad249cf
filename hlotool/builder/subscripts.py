"""`x[...]`: NumPy's basic indexing as slices, reversals and reshapes; indices of the program as dynamic slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand

if TYPE_CHECKING:
    from hlotool.builder.core import Core


def indexed(b: Core, operand: XlaOp, key: Any) -> XlaOp:
    """The part of an array that a key names, or the element of a tuple."""
    if operand.shape.is_tuple:
        demand(isinstance(key, int), ARGUMENTS, f"a tuple is indexed by a number, not by {key!r}")
        number = key + len(operand.shape.elements) if key < 0 else key
        return b.emit("get-tuple-element", [operand], {"index": number})
    keys = _whole(operand, key if isinstance(key, tuple) else (key,))
    found = _cut(b, operand, [k for k in keys if k is not None])
    return _shaped(b, found, keys)


def _whole(operand: XlaOp, keys: tuple[Any, ...]) -> list[Any]:
    """A key for each dimension, None for new ones; the ellipsis replaced."""
    used = sum(k is not None and k is not Ellipsis for k in keys)
    demand(used <= operand.rank, ARGUMENTS, f"{used} indices, {operand.name} is {operand.shape.text(False)}")
    dots = [i for i, k in enumerate(keys) if k is Ellipsis]
    demand(len(dots) <= 1, ARGUMENTS, "an index has one ... at most")
    rest = [slice(None)] * (operand.rank - used)
    at = dots[0] if dots else len(keys)
    return [*keys[:at], *rest, *keys[at + bool(dots):]]


def _cut(b: Core, operand: XlaOp, keys: list[Any]) -> XlaOp:
    """Slices along every dimension; a number leaves a dimension of size 1."""
    rows, reversed_dims = [], []
    for d, (k, size) in enumerate(zip(keys, operand.dims, strict=True)):
        if isinstance(k, XlaOp):
            rows.append((0, size, 1))
        elif isinstance(k, slice):
            start, stop, step = k.indices(size)
            if step < 0:
                count = len(range(start, stop, step))
                reversed_dims.append(d)
                start, stop, step = start + (count - 1) * step, start + 1, -step
                rows.append((start, stop, step) if count else (0, 0, 1))
            else:
                rows.append((start, max(start, stop), step))
        else:
            demand(isinstance(k, int) and -size <= k < size, ARGUMENTS,
                   f"index {k!r} of dimension {d}, which has {size} elements")
            rows.append((k % size, k % size + 1, 1))
    found = operand
    if any(r != (0, n, 1) for r, n in zip(rows, operand.dims, strict=True)):
        found = b.emit("slice", [operand], {"slice": tuple(rows)})
    if reversed_dims:
        found = b.emit("reverse", [found], {"dimensions": tuple(reversed_dims)})
    moving = {d: k for d, k in enumerate(keys) if isinstance(k, XlaOp)}
    if moving:
        kind = next(iter(moving.values())).element_type
        starts = [moving.get(d) if d in moving else b.operand(0, kind) for d in range(found.rank)]
        sizes = tuple(1 if d in moving else n for d, n in enumerate(found.dims))
        found = b.emit("dynamic-slice", [found, *starts], {"dynamic_slice_sizes": sizes})
    return found


def _shaped(b: Core, found: XlaOp, keys: list[Any]) -> XlaOp:
    """Dimensions indexed by a number dropped, new ones put in."""
    sizes, d = [], 0
    for k in keys:
        if k is None:
            sizes.append(1)
            continue
        if isinstance(k, slice):
            sizes.append(found.dims[d])
        d += 1
    if tuple(sizes) == found.dims:
        return found
    return b.emit("reshape", [found], shape=found.shape.with_dims(tuple(sizes)))
