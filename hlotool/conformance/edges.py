"""The suite `ops`: for every operation and element type, programs drawn from the registry."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.conformance.case import Case
from hlotool.conformance.generate import generate
from hlotool.conformance.suites import Selection
from hlotool.ir import DTYPES
from hlotool.ops import OPS


def ops_cases(selection: Selection) -> Iterator[Case]:
    """The chosen cases: every edge that the operation has for the type, then random programs."""
    for opcode in filter(selection.takes_op, OPS):
        for element_type in filter(selection.takes_type, DTYPES):
            yield from generate(opcode, element_type, selection.seed, selection.count)
