"""QR in LAPACK's form, as calls that XLA's compilers know, and what lies nearby.

Where a compiler does not know them, lifting writes their loops: see hlotool.builder.linalg.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.linalg.matrices import matrix
from hlotool.builder.problems import demand
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods

_KINDS = ("f32", "f64", "c64", "c128")


def _given(b: Methods, value: Any, what: str) -> XlaOp:
    made = matrix(b, value, what)
    demand(made.element_type in _KINDS, ARGUMENTS, f"{what} takes {', '.join(_KINDS)}; it is given "
           f"{made.shape.text(False)}")
    return made


@function(name="Qr")
def qr_form(b: Methods, a: Any) -> XlaOp:
    """R on and above the diagonal with the tails of Householder's vectors below it, and their factors: a tuple."""
    made = _given(b, a, "Qr")
    taus = Shape.array(made.element_type, (*made.dims[:-2], min(made.dims[-2:])))
    return b.emit("custom-call", [made], {"custom_call_target": "Qr"}, Shape.tuple(made.shape.without_layout(), taus))


@function()
def product_of_elementary_householder_reflectors(b: Methods, a: Any, taus: Any) -> XlaOp:
    """The columns of the product of reflections 1 - tau v v^H, whose vectors stand below the diagonal of a."""
    made, factors = _given(b, a, "ProductOfElementaryHouseholderReflectors"), b.operand(taus)
    demand(factors.element_type == made.element_type and factors.dims[:-1] == made.dims[:-2]
           and factors.rank == made.rank - 1 and factors.dims[-1] <= min(made.dims[-2:]), ARGUMENTS,
           f"taus has a factor for each reflection of a, {made.shape.text(False)}; it is {factors.shape.text(False)}")
    return b.emit("custom-call", [made, factors], {
        "custom_call_target": "ProductOfElementaryHouseholderReflectors"}, made.shape.without_layout())


@function()
def qr_explicit(b: Methods, a: Any, full_matrices: bool = True) -> XlaOp:
    """Q and R of the form that Qr gives: a tuple; Q is square, or as wide as a is at most."""
    made = _given(b, a, "QrExplicit")
    rows, columns = made.dims[-2:]
    found = qr_form(b, made)
    form, taus = (b.GetTupleElement(found, i) for i in range(2))
    wide, least = form, min(rows, columns)
    if full_matrices and rows > columns:
        wide = b.PadInDim(form, 0.0, form.rank - 1, 0, rows - columns)
    elif rows < columns or not full_matrices:
        wide = b.SliceInDim(form, 0, least, 1, form.rank - 1)
    q = product_of_elementary_householder_reflectors(b, wide, taus)
    r = b.UpperTriangle(form)
    return b.Tuple([q, r if full_matrices else b.SliceInDim(r, 0, least, 1, r.rank - 2)])
