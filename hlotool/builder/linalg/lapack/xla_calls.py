"""The calls of linear algebra that XLA's builder makes and its compilers expand, as on TPUs: matrices as they stand."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.builder import XlaBuilder, XlaOp
from hlotool.builder.linalg.lapack.routine import Config, xla_call
from hlotool.builder.linalg.systems import order_of_rows
from hlotool.ir import Shape
from hlotool.passes.lift import Unclear


@xla_call("LuDecomposition", 1)
def lu(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> list[XlaOp]:
    """L and U with rows exchanged, the rows exchanged with, from 0, and the order of the rows."""
    found = b.LuDecomposition(operands[0])
    return [b.GetTupleElement(found, n) for n in range(3)]


def _options(text: str) -> Config:
    """`lower,sort,rounds,tolerance`; the last two stand for how XLA iterates."""
    words = [w.strip() for w in text.strip('"').split(",")]
    if len(words) != 4 or not set(words[:2]) <= {"0", "1"}:
        raise Unclear(f"its configuration {text!r} does not say whether the lower triangle is read and values are "
                      "sorted, and then a number of rounds and a tolerance")
    return {"lower": int(words[0]), "sort": int(words[1])}


@xla_call("Eigh", 1, _options)
def eigh(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> list[XlaOp]:
    """Eigenvectors and eigenvalues of symmetric matrices, one triangle of which is read."""
    found = b.SelfAdjointEig(operands[0], bool(config["lower"]), sort_eigenvalues=bool(config["sort"]))
    return [b.GetTupleElement(found, n) for n in range(2)]


@xla_call("cu_lu_pivots_to_permutation", 1)
@xla_call("hip_lu_pivots_to_permutation", 1)
def permutation(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> list[XlaOp]:
    """The order of rows after exchanges, both from 0. Source: jax/_src/lax/linalg.py, lu_pivots_to_permutation."""
    return [order_of_rows(b, operands[0], results[0].dims)]
