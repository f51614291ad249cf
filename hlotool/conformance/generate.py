"""Random programs as cases: for an operation and an element type, what its record's recipe draws.

    for case in generate("gather", "f32", seed=0, count=20): ...

The first program of each pair is plain, the following ones show one edge each that the recipe or the element type
has (out-of-bounds indices, NaN, empty dimensions); after those, chance decides. The same seed gives the same programs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from hlotool.conformance.case import ConformanceCase
from hlotool.diagnostics import HloError
from hlotool.ops import OPS, Draw, Undrawable, draw_program
from hlotool.passes.read import parse
from hlotool.passes.verify import verify

#: the suite that these cases belong to
SUITE = "ops"


def generate(opcode: str, dtype: str, seed: int = 0, count: int = 8) -> Iterator[ConformanceCase]:
    """So many random programs; none where the operation does not take the element type.

    Raises HloError for a recipe that draws an invalid program: a fault of the operation's record.
    """
    dice = random.Random(f"{opcode}/{dtype}/{seed}")
    untried: list[str] = []
    edges: list[str] = []
    for number in range(count):
        edge = untried.pop(0) if untried else dice.choice(["", *edges]) if number else ""
        try:
            drawn = draw_program(OPS[opcode], dtype, seed * 1000 + number, edge)
            case = _case(drawn, number)
        except Undrawable:
            return
        except HloError as error:
            if number == 0 and all(d.code.startswith(f"{opcode}-c") for d in error.diagnostics):
                return  # its constraints exclude the element type
            raise
        yield case
        new = [e for e in drawn.edges if e not in edges]
        edges += new
        untried += [e for e in new if e != edge]


def _case(drawn: Draw, number: int) -> ConformanceCase:
    module = parse(drawn.text(), f"{drawn.opcode}-{drawn.dtype}-{number}.hlo")
    if problems := [d for d in verify(module) if d.severity == "error"]:
        raise HloError(problems)
    edge = drawn.edge_wanted or "random"
    return ConformanceCase(
        id=f"{drawn.opcode}/{drawn.dtype}/{number}-{edge.replace(' ', '-')}", suite=SUITE, opcode=drawn.opcode,
        dtype=drawn.dtype, text=str(module),
        arguments=tuple(map(tuple, drawn.arguments)), replicas=drawn.replicas, partitions=drawn.partitions, edge=edge,
        source=f"random program {number} of {drawn.opcode}",
        infeed=tuple(map(tuple, drawn.infeed)) if any(drawn.infeed) else (),
        only_shapes=drawn.only_shapes)
