"""Modules as StableHLO bytecode, for who wants nothing else of them."""

from __future__ import annotations

import io
import threading
from typing import Any

from hlotool.ir import HloModule
from hlotool.stablehlo.context import make_context
from hlotool.stablehlo.export_stablehlo import to_stablehlo
from hlotool.stablehlo.options import LiftOptions

#: bytes of programs after which a context is let go: what it has once held it holds as long as it lives
_MOST = 1 << 21
#: as many for a program that was given up on its way
_GIVEN_UP = 1 << 14


class _Kept(threading.local):
    """A context for this thread's next program. To make one takes twenty times as long as to lift a small program."""

    context: Any = None
    written: int = 0


_KEPT = _Kept()


def to_bytecode(module: HloModule, *, options: LiftOptions | None = None) -> bytes:
    """Return the result of `to_stablehlo` as bytecode of this version of MLIR. Raises HloError as it does."""
    context, _KEPT.context = _KEPT.context, None
    if context is None:
        context, _KEPT.written = make_context(), 0
    out = io.BytesIO()
    try:
        to_stablehlo(module, context, options=options).operation.write_bytecode(out)
    finally:
        _KEPT.written += len(out.getvalue()) or _GIVEN_UP
        if _KEPT.written < _MOST:
            _KEPT.context = context
    return out.getvalue()
