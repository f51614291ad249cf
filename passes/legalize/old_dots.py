"""The old forms of dot: dimension numbers that were left out.

    dot(a, b)                                                          2017: by rank
    dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={2}, ...       2018: rhs_batch_dims the same, and unsaid
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from hlotool.diagnostics import define
from hlotool.ir import Attributes, HloInstruction
from hlotool.ops import OPS, ConstraintError
from hlotool.passes.edit import ComputationEditor
from hlotool.passes.legalize.legacy_rules import HISTORY, Inexact, on_opcode

AMBIGUOUS_DOT = define("L102", "ambiguous-dot", "dimension numbers of a dot are left out, and the shapes do not say "
                       "which they were", HISTORY)
SPARSE_DOT = define("L104", "sparse-dot", "a dot with a sparse operand (2024), which nothing says any more", HISTORY)

#: choices that are tried; where there are more, too many dimensions are of one size to tell them apart
_TRIALS = 50_000
_NUMBERS = ("lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims")


@on_opcode("dot", when=lambda i: "sparsity" in i.attributes)
def sparse_dot(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """2024: an operand of which n of m elements are stored, with the places of them in a third operand."""
    raise Inexact(SPARSE_DOT, f"{instruction.name} multiplies with a sparse operand, which has no other form",
                  r"\bsparsity\s*=")


def _is_dot_of_2017(instruction: HloInstruction) -> bool:
    """Return True if the written result is that of the rule of 2017; by its rank it is no outer product then."""
    if len(instruction.operands) != 2 or any(name in instruction.attributes for name in _NUMBERS):
        return False
    lhs, rhs = (o.shape for o in instruction.operands)
    if not (lhs.is_array and rhs.is_array and lhs.rank and rhs.rank):
        return False
    place = max(0, rhs.rank - 2)
    left = lhs.dims[:-1] + rhs.dims[:place] + rhs.dims[place + 1:]
    return lhs.dims[-1] == rhs.dims[place] and instruction.shape.dims == left


@on_opcode("dot", when=_is_dot_of_2017)
def dot_by_rank(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """2017: the last dimension of lhs with the last but one, or only, of rhs; the outer product is what today reads."""
    lhs, rhs = (o.shape for o in instruction.operands)
    numbers = {"lhs_contracting_dims": (lhs.rank - 1,), "rhs_contracting_dims": (max(0, rhs.rank - 2),)}
    instruction.attributes = Attributes(numbers) | instruction.attributes


def _unsaid(instruction: HloInstruction) -> list[str]:
    """The names of the lists that one side has and the other has not."""
    numbers = instruction.attributes
    return [name for name in _NUMBERS if numbers.get(_other_side(name)) and not numbers.get(name)]


@on_opcode("dot", when=lambda i: len(i.operands) == 2 and bool(_unsaid(i)))
def dot_with_half(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """2018: batch dimensions were named on one side; the other's are added where the shapes leave one choice."""
    found = list(itertools.islice(_fitting(instruction), 2))
    if len(found) != 1:
        names = " and ".join(_unsaid(instruction))
        why = "several choices fit" if found else "no choice fits"
        raise Inexact(AMBIGUOUS_DOT, f"{instruction.name} leaves out {names}, and {why} the shapes")
    instruction.attributes = found[0]


def _fitting(instruction: HloInstruction) -> Iterator[Attributes]:
    """The attributes with every choice of what is unsaid that gives the written result."""
    given, missing = instruction.attributes, _unsaid(instruction)
    if not all(o.shape.is_array for o in instruction.operands):
        return
    places = [place for name in missing for place in _same_sizes(instruction, name)]
    if math.prod(map(len, places)) > _TRIALS:
        raise Inexact(AMBIGUOUS_DOT, f"{instruction.name} leaves out {' and '.join(missing)}, and too many choices fit")
    for picked in itertools.product(*places):
        numbers = iter(picked)
        chosen = [tuple(itertools.islice(numbers, len(given[_other_side(name)]))) for name in missing]
        attributes = given | dict(zip(missing, chosen, strict=True))
        trial = HloInstruction(instruction.name, "dot", instruction.shape, instruction.operands,
                               Attributes({n: attributes[n] for n in (*_NUMBERS, *attributes) if n in attributes}))
        try:
            inferred = OPS["dot"].infer_instruction(trial)
        except ConstraintError:
            continue
        if inferred.compatible(instruction.shape):
            yield trial.attributes


def _same_sizes(instruction: HloInstruction, name: str) -> Iterator[list[int]]:
    """For each dimension that the other side names, those of this side that have its size."""
    lhs, rhs = (o.shape.dims for o in instruction.operands)
    here, there = (rhs, lhs) if name.startswith("rhs") else (lhs, rhs)
    for said in instruction.attributes[_other_side(name)]:
        yield [d for d, size in enumerate(here) if 0 <= said < len(there) and size == there[said]]


def _other_side(name: str) -> str:
    return f"{'lhs' if name.startswith('rhs') else 'rhs'}{name[3:]}"
