"""Einstein sums of one operand or two, as NumPy writes them: repeated letters, `...`, and results left out."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


def subscripts_first(args: Sequence[Any]) -> list[Any]:
    """C++'s order, `Einsum(x, y, "ij,jk->ik", precision)`, as that of this function."""
    at = next((i for i, a in enumerate(args[:3]) if isinstance(a, str)), 0)
    return [args[at], *args[:at], *([None] if at == 1 and len(args) > 2 else []), *args[at + 1:]] if at else list(args)


@function(regroup=subscripts_first)
def einsum(b: Methods, subscripts: str, lhs: Any, rhs: Any | None = None, precision_config: Any = None) -> XlaOp:
    """An Einstein sum of one operand or two: "ij,jk->ik", "ii", "...ij->...ji".

    A letter that an operand has twice is its diagonal. Without `->` the result has the letters that occur once, in
    alphabetical order.
    """
    given = [b.operand(o) for o in (lhs, rhs) if o is not None]
    parts, output = _letters(subscripts, given)
    found = [_diagonal(b, o, p) for o, p in zip(given, parts, strict=True)]
    sizes = [(c, n) for o, p in found for c, n in zip(p, o.dims, strict=True)]
    demand(len({*sizes}) == len({c for c, _ in sizes}), ARGUMENTS,
           f"{subscripts!r} gives one letter to dimensions of different sizes: {_shapes(given)}")
    if len(found) == 1:
        return _arranged(b, *_summed(b, *found[0], set(output)), output)
    (one, left), (two, right) = found
    one, left = _summed(b, one, left, {*output, *right})
    two, right = _summed(b, two, right, {*output, *left})
    batch = [c for c in left if c in right and c in output]
    summed = [c for c in left if c in right and c not in output]
    numbers = {"lhs_contracting_dimensions": tuple(map(left.index, summed)),
               "rhs_contracting_dimensions": tuple(map(right.index, summed)),
               "lhs_batch_dimensions": tuple(map(left.index, batch)),
               "rhs_batch_dimensions": tuple(map(right.index, batch))}
    letters = "".join([*batch, *(c for c in left if c not in right), *(c for c in right if c not in left)])
    return _arranged(b, b.DotGeneral(one, two, numbers, precision_config), letters, output)


def _shapes(given: list[XlaOp]) -> str:
    return ", ".join(o.shape.text(False) for o in given)


def _letters(subscripts: Any, given: list[XlaOp]) -> tuple[list[str], str]:
    """A letter for each dimension of each operand, and those of the result."""
    demand(isinstance(subscripts, str), ARGUMENTS,
           f"the subscripts are {type(subscripts).__name__}; they are a text such as 'ij,jk->ik'")
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    parts = inputs.split(",")
    demand(len(parts) <= 2, ARGUMENTS, f"{subscripts!r} names {len(parts)} operands; sums of more than two are not "
           "supported", "contract two at a time")
    demand(len(parts) == len(given), ARGUMENTS,
           f"{subscripts!r} names {len(parts)} operands, {len(given)} are given: {_shapes(given)}")
    for part in (*parts, output):
        strange = sorted(set(part.replace("...", "", 1)) - set(string.ascii_letters))
        demand(not strange, ARGUMENTS, f"{subscripts!r}: {part!r} holds {', '.join(map(repr, strange))}, a form that "
               "is not supported", "letters stand for dimensions, one `...` for any number of them, a comma stands "
               "between the operands, and `->` in front of the result")
    free = [c for c in reversed(string.ascii_letters) if c not in subscripts]
    hidden = max((o.rank - len(p) + 3 for o, p in zip(given, parts, strict=True) if "..." in p), default=0)
    spread = free[:max(hidden, 0)]
    found = []
    for operand, part in zip(given, parts, strict=True):
        own = operand.rank - len(part) + 3 if "..." in part else 0
        whole = part.replace("...", "".join(spread[len(spread) - own:]) if own > 0 else "")
        demand(own >= 0 and len(whole) == operand.rank, ARGUMENTS,
               f"{subscripts!r}: {part!r} is for an operand of shape {operand.shape.text(False)}, which has "
               f"{operand.rank} dimensions", "an operand has one letter for each dimension")
        found.append(whole)
    if not arrow:
        named = "".join(found)
        output = "".join(spread) + "".join(sorted(c for c in set(named) if named.count(c) == 1 and c not in spread))
    else:
        output = output.replace("...", "".join(spread))
    demand(len(set(output)) == len(output) and set(output) <= set("".join(found)), ARGUMENTS,
           f"{subscripts!r}: the result {output!r} is not supported; it takes each letter once, of those that the "
           "operands have")
    return found, output


def _diagonal(b: Methods, operand: XlaOp, letters: str) -> tuple[XlaOp, str]:
    """The operand with each of its letters once: what stands on the diagonal of those that it has more often."""
    for at, c in reversed(list(enumerate(letters))):
        first = letters.index(c)
        if first == at:
            continue
        demand(operand.dims[first] == operand.dims[at], ARGUMENTS,
               f"the letter {c!r} stands for {operand.dims[first]} and for {operand.dims[at]} elements of one operand")
        shape = Shape.array("s32", operand.dims)
        mask = b.Eq(b.Iota(shape, first), b.Iota(shape, at))
        kept = b.Select(mask, operand, b.ZerosLike(operand))
        operand, letters = b.Sum(kept, [at]), letters[:at] + letters[at + 1:]
    return operand, letters


def _summed(b: Methods, operand: XlaOp, letters: str, kept: set[str]) -> tuple[XlaOp, str]:
    """The operand summed over the letters that nobody else has."""
    axes = [i for i, c in enumerate(letters) if c not in kept]
    if not axes:
        return operand, letters
    return b.Sum(operand, axes), "".join(c for c in letters if c in kept)


def _arranged(b: Methods, operand: XlaOp, letters: str, output: str) -> XlaOp:
    order = [letters.index(c) for c in output]
    return operand if order == sorted(order) else b.Transpose(operand, order)
