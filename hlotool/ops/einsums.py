"""StableHLO's einsum, read as a dot: "zab,zbc->zac", "...ab,...bc->...ac", "ab,bc->a"."""

from __future__ import annotations

from hlotool.ir import HloInstruction, Literal
from hlotool.ir.arrays import np
from hlotool.ops.lowering import Reader

_DOTS = "..."


def lift_einsum(r: Reader) -> HloInstruction:
    """An einsum of two operands as a dot, its dimensions put in order.

    What stands in one operand alone is summed first. Source: XLA, xla/hlo/builder/lib/matrix.cc: Einsum.
    """
    lhs, rhs = r.operands()
    equation = r.string("einsum_config").replace(" ", "")
    left, right, out = _words(r, equation, lhs.shape.rank, rhs.shape.rank)
    if any(len(set(word)) != len(word) for word in (left, right, out)) or not set(out) <= set(left + right):
        r.refuse(f"the einsum {equation} takes a diagonal, or gives a dimension that no operand has")
    lhs, left = _summed(r, lhs, left, right + out)
    rhs, right = _summed(r, rhs, right, left + out)
    batch = [c for c in left if c in right and c in out]
    inner = [c for c in left if c in right and c not in out]
    order = batch + [c for c in left if c not in right] + [c for c in right if c not in left]
    sizes = {**dict(zip(right, rhs.shape.dims, strict=True)), **dict(zip(left, lhs.shape.dims, strict=True))}
    shape = r.shape()
    attributes = {name: tuple(map(word.index, letters)) for name, word, letters in (
        ("lhs_batch_dims", left, batch), ("lhs_contracting_dims", left, inner),
        ("rhs_batch_dims", right, batch), ("rhs_contracting_dims", right, inner)) if letters}
    made = r.add("dot", shape.with_dims(tuple(sizes[c] for c in order)), (lhs, rhs), attributes)
    if list(out) == order:
        return made
    return r.add("transpose", shape, (made,), {"dimensions": tuple(map(order.index, out))})


def _words(r: Reader, equation: str, *ranks: int) -> tuple[str, str, str]:
    """A letter for each dimension of the operands and of the result; digits stand for what `...` covers."""
    operands, arrow, out = equation.partition("->")
    words = operands.split(",")
    if not arrow or len(words) != 2 or any(w.count(_DOTS) > 1 for w in (*words, out)):
        r.refuse(f"the einsum {equation} is not of two operands")
    covered = [rank - len(w.replace(_DOTS, "")) if _DOTS in w else 0 for w, rank in zip(words, ranks, strict=True)]
    if min(covered) < 0 or max(covered) > len("0123456789"):
        r.refuse(f"the einsum {equation} does not fit operands of {ranks[0]} and {ranks[1]} dimensions")
    # Dimensions that `...` covers belong together from the last one on, as in NumPy.
    left, right = (w.replace(_DOTS, "9876543210"[10 - n:]) for w, n in zip(words, covered, strict=True))
    if (len(left), len(right)) != ranks:
        r.refuse(f"the einsum {equation} does not fit operands of {ranks[0]} and {ranks[1]} dimensions")
    return left, right, out.replace(_DOTS, "9876543210"[10 - max(covered):])


def _summed(r: Reader, operand: HloInstruction, word: str, others: str) -> tuple[HloInstruction, str]:
    """The operand without the dimensions that nothing else has: products with ones add them up."""
    for letter in [c for c in word if c not in others]:
        at = word.index(letter)
        ones = operand.shape.with_dims((operand.shape.dims[at],))
        values = np.ones(ones.dims, ones.dtype.numpy)
        made = r.add("constant", ones, (), {"literal": Literal(ones, values)})
        dims = operand.shape.dims[:at] + operand.shape.dims[at + 1:]
        operand = r.add("dot", operand.shape.with_dims(dims), (operand, made),
                        {"lhs_contracting_dims": (at,), "rhs_contracting_dims": (0,)})
        word = word.replace(letter, "")
    return operand, word
