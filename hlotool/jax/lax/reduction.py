"""Reductions, and functions of scalars mapped over arrays."""

from __future__ import annotations

from hlotool.ir import HloComputation, HloInstruction
from hlotool.jax.lax.elementwise import plain_function
from hlotool.jax.lax.function_code import FunctionCode, refuses, writes

refuses("JAX's scan goes over whole rows and not over scalars", "scan")


def combiner(code: FunctionCode, computation: HloComputation, count: int) -> str:
    """Return a function of two values, of two tuples where `count` arrays are reduced together."""
    if count == 1:
        return plain_function(computation) or code.called(computation)
    return f"lambda a, b: {code.called(computation)}(*a, *b)"


@writes("reduce")
def _reduce(code: FunctionCode, i: HloInstruction) -> str:
    count = len(i.operands) // 2
    arrays, starts = code.operands(i)[:count], code.operands(i)[count:]
    given = [arrays[0], starts[0]] if not i.shape.is_tuple else [code.whole(arrays), code.whole(starts)]
    function = combiner(code, i.attributes["to_apply"], count if i.shape.is_tuple else 1)
    return f"lax.reduce({', '.join(given)}, {function}, {tuple(i.attributes.get('dimensions', ()))})"


@writes("map")
def _map(code: FunctionCode, i: HloInstruction) -> str:
    return f"jnp.vectorize({code.called(i.attributes['to_apply'])})({', '.join(code.operands(i))})"
