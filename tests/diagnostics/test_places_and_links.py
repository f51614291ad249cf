"""Places of diagnostics, links to their sources, and marks of second places, by themselves."""

from __future__ import annotations

import pytest

from hlotool.diagnostics.diagnostic import at
from hlotool.diagnostics.links import link
from hlotool.ir import Source


@pytest.mark.parametrize(("start", "end", "place"), [
    (0, 2, (1, 1, 1, 3)), (1, 2, (1, 2, 1, 3)), (1, 1, (1, 2, 1, 3)), (2, 2, (1, 3, 1, 4)), (2, 3, (1, 3, 1, 4)),
    (1, 4, (1, 2, 2, 2)), (3, 5, (2, 1, 2, 3)), (5, 5, (2, 3, 2, 4)), (5, 6, (2, 3, 2, 4)), (4, 99, (2, 2, 2, 3))])
def test_a_range_of_offsets_is_a_place(start: int, end: int, place: tuple[int, int, int, int]) -> None:
    """Offsets 2 and 5 are the ends of a line and of the text, which count as a character."""
    found = at(Source("ab\ncd"), start, end, "P001", "words")
    assert (found.line, found.column, found.end_line, found.end_column) == place


@pytest.mark.parametrize(("source", "code", "address"), [
    ("https://a.b/c and more", "", "https://a.b/c"), ("http://a.b", "", "http://a.b"),
    ("StableHLO specification, fft", "", "https://github.com/openxla/stablehlo/blob/main/docs/spec.md#fft"),
    ("StableHLO specification", "", "https://github.com/openxla/stablehlo/blob/main/docs/spec.md"),
    ("StableHLO compatibility", "", "https://github.com/openxla/stablehlo/blob/main/docs/compatibility.md"),
    ("XLA Operation Semantics", "dynamic-slice-c2", "https://openxla.org/xla/operation_semantics#dynamicslice"),
    ("XLA Operation Semantics", "W101", "https://openxla.org/xla/operation_semantics"),
    ("XLA Operation Semantics", "dynamic-slice-cx", "https://openxla.org/xla/operation_semantics"),
    ("house style", "", "")])
def test_links_to_sources(source: str, code: str, address: str) -> None:
    assert link(source, code) == address
