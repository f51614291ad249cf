"""The suite `ops`: for every operation and element type, programs drawn from the registry.

One type of each kind gets a plain program and one for each edge that the operation has for it: special values, empty
dimensions, indices out of bounds. The other types get the plain program and one edge, unless a number is asked for.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from hlotool.conformance.case import ConformanceCase
from hlotool.conformance.generate import generate
from hlotool.conformance.selection import Selection
from hlotool.ir import DTYPES
from hlotool.ops import OPS

#: element types that get every edge
THOROUGH = ("pred", "s32", "u8", "f32", "bf16", "c64")
#: programs for each other type
_BRIEF = 2
#: no operation has as many edges
_ENOUGH = 64


def ops_cases(selection: Selection) -> Iterator[ConformanceCase]:
    """The chosen cases of the suite."""
    for opcode in filter(selection.takes_op, OPS):
        for element_type in filter(selection.takes_type, DTYPES):
            yield from _cases(opcode, element_type, selection)


def _cases(opcode: str, element_type: str, selection: Selection) -> Iterator[ConformanceCase]:
    if selection.count:
        yield from generate(opcode, element_type, selection.seed, selection.count)
        return
    drawn = generate(opcode, element_type, selection.seed, _ENOUGH)
    if element_type not in THOROUGH:
        yield from itertools.islice(drawn, _BRIEF)
        return
    seen: set[str] = set()
    for case in drawn:
        if case.edge in seen:  # the edges are through, chance has begun
            return
        seen.add(case.edge)
        yield case
