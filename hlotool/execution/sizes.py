"""How large what runs may be: arrays against memory, devices against threads; asked before anything is allocated."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

from hlotool.diagnostics import format_bytes
from hlotool.ir import UNBOUNDED, Shape
from hlotool.process import available_memory

#: devices of one module
MOST_DEVICES = 1 << 16
#: devices that run each by itself: a thread of the reference, or a device of PJRT's CPU client
MOST_THREADS = 256


def leaves(shape: Shape) -> Iterator[Shape]:
    """The array shapes inside a shape, in order; tokens carry no data and are left out."""
    if shape.is_tuple or shape.is_buffer:
        for element in shape.elements:
            yield from leaves(element)
    elif not shape.is_token:
        yield shape


def bytes_of(shape: Shape) -> int:
    """Bytes that NumPy takes for an array; narrow types take a byte an element. 0 for what has no size."""
    if not shape.is_array or UNBOUNDED in shape.dims:
        return 0
    return math.prod(shape.dims) * max(1, (shape.dtype.bits + 7) // 8)


@functools.lru_cache(maxsize=4096)
def _largest(shape: Shape) -> Shape:
    return max(leaves(shape), key=bytes_of, default=shape)


def too_large(shape: Shape) -> str:
    """Return what is wrong with the largest array of a shape, as the end of a sentence; empty where it fits."""
    largest = _largest(shape)
    size, available = bytes_of(largest), available_memory()
    if size <= available:
        return ""
    return f"{largest.text(layout=False)} takes {format_bytes(size)}, and {format_bytes(available)} may be taken"
