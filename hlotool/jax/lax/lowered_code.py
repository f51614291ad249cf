"""Code of `to_jax_code`, traced by JAX: the module that it computes.

The code is written from a stranger's module, so it is traced in a child process, whose imports, folder and environment
are its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.ir import HloModule, Shape
from hlotool.ir.arrays import np
from hlotool.jax.lax.codes import NOT_RUNNING
from hlotool.process import Crashed, OutOfMemory, Refusal, TimedOut, shared_child
from hlotool.stablehlo import from_stablehlo

#: seconds for importing JAX and tracing
_LIMIT = 300.0


def lowered_code(text: str, parameters: Sequence[Shape]) -> HloModule:
    """Return the module that JAX makes of `main`, called with arrays of these shapes. Raises HloError (J102).

    Arrays of tuples are arguments of their own, as in StableHLO, which has no tuples there.
    """
    try:
        bytecode = shared_child("jax", {"JAX_PLATFORMS": "cpu"}, writable=()).ask(
            "hlotool.jax.lax.lowered_code:lowered_here", text, _described(parameters), timeout=_LIMIT)
    except (Crashed, TimedOut, OutOfMemory, Refusal) as error:
        message = error.message if isinstance(error, Refusal) else str(error)
        raise HloError.of(NOT_RUNNING, f"JAX does not run the code: {message}") from None
    return from_stablehlo(bytecode)


def _described(parameters: Sequence[Shape]) -> list[tuple[str, tuple[int, ...]]]:
    """Return the arrays of shapes as a child takes them: NumPy's name of the element type, and the dimensions."""
    return [(array.dtype.numpy_name, array.dims) for shape in parameters for _, array in shape.leaves()]


def lowered_here(text: str, arrays: list[tuple[str, tuple[int, ...]]]) -> bytes:
    """Return the child's part: the program in StableHLO's bytecode."""
    import io

    import jax
    import ml_dtypes

    arguments = [(dims, np.dtype(getattr(ml_dtypes, name, None) or name)) for name, dims in arrays]
    names: dict[str, Any] = {"__name__": "written"}
    wide = jax.config.jax_enable_x64
    try:
        exec(compile(text, "<written code>", "exec"), names)
        lowered = jax.jit(names["main"], keep_unused=True).lower(*(jax.ShapeDtypeStruct(*a) for a in arguments))
    finally:
        jax.config.update("jax_enable_x64", wide)
    found = io.BytesIO()
    lowered.compiler_ir("stablehlo").operation.write_bytecode(found)
    return found.getvalue()
