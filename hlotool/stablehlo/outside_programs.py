"""The work of isolated.py's child process on a program from outside."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Collection, Sequence
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.stablehlo.expansion import expanded, refined_for
from hlotool.stablehlo.mlir_input import generic_of, read_program


def rewritten(source: str | bytes) -> bytes:
    """Read, write, and read what was written."""
    out = io.BytesIO()
    read_program(source, isolate=False).operation.write_bytecode(out)
    read_program(out.getvalue(), isolate=False)
    return out.getvalue()


def verified(source: str | bytes) -> None:
    """Read, which verifies."""
    read_program(source, isolate=False)


def generic(source: str | bytes) -> str:
    """Read, and print in the form that every reader takes."""
    return generic_of(read_program(source, isolate=False))


def passed(source: str | bytes, types: Sequence[str] | None, kept: Collection[str] | None) -> str | None:
    """Run the passes that a program needs before it is imported; None for one that MLIR does not read."""
    try:
        program: Any = read_program(source, isolate=False)
    except HloError:
        return None
    if types is not None:
        program = refined_for(program, types)
    if kept is not None:
        program = expanded(program, kept)
    return generic_of(program)


def kernel_text(data: bytes) -> str:
    """A module of dialects that need not be known, as generic text without locations."""
    from jax.extend.mlir import ir

    from hlotool.stablehlo.context import make_context

    context = make_context()
    context.allow_unregistered_dialects = True
    with contextlib.suppress(ImportError, AttributeError):  # jaxlib may have no Mosaic for TPUs
        from jaxlib.mosaic.python import tpu

        tpu.register_dialect(context)
    text: str = ir.Module.parse(data, context).operation.get_asm(enable_debug_info=False, print_generic_op_form=True)
    return text
