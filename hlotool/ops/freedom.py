"""How correct implementations of an operation may differ from each other: its freedom, a field beside `Op.ulps`.

Roundings move numbers by last places. Choices give other elements, other orders or other bits: there are values that
the specification leaves to the implementation, however exactly it computes.
"""

from __future__ import annotations

import enum

from hlotool.ir import HloInstruction
from hlotool.ops.table import OPS


class Freedom(enum.Enum):
    """The difference that is allowed between two correct implementations of an operation on the same operands."""

    #: nothing: elements are moved, chosen, or need no rounding
    EXACT = "exact"
    #: nothing, but subnormal operands may be read as zeros
    READS = "reads"
    #: nothing: the nearest number of the type that is named, ties to even
    NEAREST = "nearest"
    #: IEEE 754 defines the result of floats to the last bit; compilers fuse it with others, and reassociate it
    IEEE = "ieee"
    #: each element, by some last places
    ROUNDED = "rounded"
    #: the same; compilers write it as several operations of the type
    EXPANDED = "expanded"
    #: products are added up in an order of the implementation's own
    SUMS = "sums"
    #: the result is as exact as if its operands had been rounded
    BACKWARD = "backward"
    #: terms are folded in an order of the implementation's own
    TERMS = "terms"
    #: the same under the places of a window
    WINDOWS = "windows"
    #: the same of different devices
    DEVICES = "devices"
    #: the order in which updates meet one element
    UPDATES = "updates"
    #: the order of elements of which none comes before the other
    TIES = "ties"
    #: the bits of NaN
    BITS = "bits"
    #: conventions of a library: signs and phases of vectors, values where it found none
    LIBRARY = "library"

    @property
    def rounds(self) -> bool:
        """True if results of the operation differ by roundings."""
        return self not in _UNROUNDED

    @property
    def is_choice(self) -> bool:
        """True if the specification leaves values of the result to the implementation."""
        return self in _CHOICES

    @property
    def defined(self) -> bool:
        """True if all implementations give one result, subnormals aside."""
        return self in _DEFINED


_DEFINED = frozenset({Freedom.EXACT, Freedom.READS, Freedom.NEAREST})
_CHOICES = frozenset({Freedom.UPDATES, Freedom.TIES, Freedom.BITS, Freedom.LIBRARY})
_UNROUNDED = _DEFINED | {Freedom.TIES, Freedom.BITS}


def freedom_of(instruction: HloInstruction) -> Freedom:
    """Return the freedom of an instruction's operation; of an unknown one, EXACT."""
    record = OPS.get(instruction.opcode)
    return Freedom.EXACT if record is None else record.freedom


def with_freedom(*freedoms: Freedom) -> frozenset[str]:
    """Return the operations that have one of these freedoms."""
    return frozenset(opcode for opcode, record in OPS.items() if record.freedom in freedoms)
