"""How far random programs reach: the shapes, types and values of attributes that the recipe of each operation draws.

A recipe that no longer draws a case, or that draws what it should not, tests less than before, and nothing else would
say so. tests/golden/drawn.txt holds what is reached; `pytest --update-golden` rewrites it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from cases import GOLDEN

from hlotool.conformance import ConformanceCase
from hlotool.conformance.generate import generate
from hlotool.ops import OPS

#: element type -> programs: enough for all edges, and for nearly each choice of a recipe to be taken
_PROGRAMS = {"f32": 10, "c64": 6, "s8": 6}
_ATTRIBUTE = re.compile(r", ([\w\-]+)=((?:\{(?:[^{}]|\{[^{}]*\})*\}|[^,{}\s]+))")


def reached(opcode: str, cases: Iterable[ConformanceCase]) -> list[str]:
    """What programs of an operation hold, a line for each property."""
    found: dict[str, set[str]] = defaultdict(set)
    for case in cases:
        found["programs"] |= {case.edge}
        found["devices"] |= {f"{case.replicas}x{case.partitions}"}
        found["inputs"] |= {f"{a.ndim}" for row in case.arguments for a in row}
        for line in re.findall(rf"^.* = .* {re.escape(opcode)}\(.*$", case.text, re.M):
            result, _, rest = line.partition(f" {opcode}(")
            shapes = re.findall(r"(\w+)\[([^\]]*)\]", result)
            found["types"] |= {type_ for type_, _ in shapes}
            found["sizes"] |= {size for _, sizes in shapes for size in sizes.split(",") if size}
            for name, value in _ATTRIBUTE.findall(rest):
                found[name] |= set(re.findall(r"-?\d+|[A-Za-z_][\w\-]*", value))
    return [f"{opcode}", *(f"  {name}: {' '.join(sorted(values, key=in_order))}" for name, values in found.items())]


def in_order(word: str) -> tuple[int, str]:
    return (int(word), word) if word.lstrip("-").isdigit() else (1 << 40, word)


def test_what_is_drawn(update_golden: bool) -> None:
    lines = [line for opcode, record in OPS.items() if record.draw is not None for line in reached(
        opcode, (case for dtype, count in _PROGRAMS.items() for case in generate(opcode, dtype, 1, count)))]
    path = GOLDEN / "drawn.txt"
    if update_golden:
        path.write_text("\n".join(lines) + "\n")
    assert lines == path.read_text().splitlines(), "pytest --update-golden accepts what is drawn now"
