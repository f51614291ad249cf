"""Products and convolutions."""

from __future__ import annotations

from hlotool.ir import HloInstruction
from hlotool.jax.lax.codes import NotWritable
from hlotool.jax.lax.function_code import FunctionCode, dtype_of, refuses, writes
from hlotool.jax.lax.python_literals import element_type

refuses("JAX's scaled_dot takes scales of other forms", "scaled-dot")

_PRECISIONS = {"default": "DEFAULT", "high": "HIGH", "highest": "HIGHEST"}


@writes("dot")
def _dot(code: FunctionCode, i: HloInstruction) -> str:
    a = i.attributes
    contracting = tuple(a.get("lhs_contracting_dims", ())), tuple(a.get("rhs_contracting_dims", ()))
    batch = tuple(a.get("lhs_batch_dims", ())), tuple(a.get("rhs_batch_dims", ()))
    return f"lax.dot_general({', '.join(code.operands(i)[:2])}, {(contracting, batch)}{_how(i)})"


@writes("ragged-dot")
def _ragged_dot(code: FunctionCode, i: HloInstruction) -> str:
    a = i.attributes
    contracting = tuple(a.get("lhs_contracting_dims", ())), tuple(a.get("rhs_contracting_dims", ()))
    batch = tuple(a.get("lhs_batch_dims", ())), tuple(a.get("rhs_batch_dims", ()))
    numbers = (f"lax.RaggedDotDimensionNumbers({(contracting, batch)}, {list(a['lhs_ragged_dims'])}, "
               f"{list(a.get('rhs_group_dims', ()))})")
    return f"lax.ragged_dot_general({', '.join(code.operands(i))}, {numbers}{_how(i)})"


def _how(i: HloInstruction) -> str:
    """Return the keywords for precision and for the type of the result."""
    said = ""
    if algorithm := i.attributes.get("algorithm", ""):
        preset = algorithm.removeprefix("dot_").upper()
        if not preset.isidentifier():
            raise NotWritable(f"JAX knows no algorithm {algorithm}")
        said += f", precision=lax.DotAlgorithmPreset.{preset}"
    elif words := i.attributes.get("operand_precision", ()):
        unknown = [w for w in words if w not in _PRECISIONS]
        if unknown:
            raise NotWritable(f"JAX knows no precision {unknown[0]}")
        names = [f"lax.Precision.{_PRECISIONS[w]}" for w in words[:2]]
        if set(words) != {"default"}:
            said += f", precision={names[0] if len(set(names)) == 1 else '(' + ', '.join(names) + ')'}"
    left, right = dtype_of(i.operands[0]), dtype_of(i.operands[1])
    if left.name != right.name or left.name != i.shape.element_type:
        said += f", preferred_element_type={element_type(i.shape.element_type)}"
    return said


@writes("convolution")
def _convolution(code: FunctionCode, i: HloInstruction) -> str:
    a = i.attributes
    labels, rows = a["dim_labels"], a["window"].dimensions if a.get("window") is not None else ()
    if "?" in labels.lhs + labels.rhs + labels.output:
        raise NotWritable("JAX's convolutions have no dimensions without a meaning")
    lhs, rhs = code.operands(i)[:2]
    spatial = [str(n) for n in range(len(rows))]
    reversed_ = tuple(labels.rhs.index(n) for n, row in zip(spatial, rows, strict=True) if row.reversal)
    if reversed_:
        rhs = f"lax.rev({rhs}, {reversed_})"
    numbers = ", ".join(str(tuple(side.index(letter) for letter in [*first, *spatial]))
                        for side, first in ((labels.lhs, "bf"), (labels.rhs, "oi"), (labels.output, "bf")))
    said = [tuple(r.stride for r in rows), [(r.pad_low, r.pad_high) for r in rows]]
    more = {"lhs_dilation": tuple(r.base_dilation for r in rows),
            "rhs_dilation": tuple(r.window_dilation for r in rows)}
    keywords = "".join(f", {name}={value}" for name, value in more.items() if any(d != 1 for d in value))
    keywords += "".join(f", {name}={a[name]}" for name in ("feature_group_count", "batch_group_count")
                        if a.get(name, 1) != 1)
    return (f"lax.conv_general_dilated({lhs}, {rhs}, {said[0]}, {said[1]}{keywords}, "
            f"dimension_numbers=lax.ConvDimensionNumbers({numbers}){_how(i)})")
