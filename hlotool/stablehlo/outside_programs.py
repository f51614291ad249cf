"""The work of isolated.py's child process on a program from outside."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence

from hlotool.ir import HloModule, Shape
from hlotool.stablehlo.import_stablehlo import from_stablehlo
from hlotool.stablehlo.mlir_input import read_program


def imported(source: str | bytes, arg_shapes: Sequence[Shape | Sequence[int] | str] | None) -> HloModule:
    """Read and import."""
    module = from_stablehlo(source, arg_shapes=arg_shapes, isolate=False)
    module.imported_from = None  # who asks has the text
    return module


def rewritten(source: str | bytes) -> bytes:
    """Read, write, and read what was written."""
    out = io.BytesIO()
    read_program(source, isolate=False).operation.write_bytecode(out)
    read_program(out.getvalue(), isolate=False)
    return out.getvalue()


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
