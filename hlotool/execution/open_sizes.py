"""Programs whose parameters leave sizes open, for arguments that fix them.

    x = f32[?] parameter(0)                      x = f32[4] parameter(0)
    y = f32[?] negate(x)         given f32[4]    y = f32[4] negate(x)
"""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.execution.sizes import leaves
from hlotool.ir import UNBOUNDED, HloModule, Shape
from hlotool.ir.arrays import Array, np


def open_parameters(module: HloModule) -> tuple[Shape, ...]:
    """Return the leaves of the entry's parameters where one of them has a size that is not known, else nothing."""
    found = tuple(s for p in module.entry.parameters() for s in leaves(p.shape))
    return found if any(UNBOUNDED in s.dims for s in found) else ()


def closed(module: HloModule, arguments: Sequence[Array]) -> HloModule:
    """Return the module for arguments that fix the sizes that its parameters leave open.

    StableHLO's refinement of shapes carries the sizes on. Raises HloError for arguments that the parameters do not
    take, and where sizes stay open.
    """
    parameters = open_parameters(module)
    if not parameters or len(parameters) != len(arguments):
        return module
    from hlotool.stablehlo import from_stablehlo, to_stablehlo

    shapes = [s.with_dims(tuple(np.shape(a))) if UNBOUNDED in s.dims else s
              for s, a in zip(parameters, arguments, strict=True)]
    return from_stablehlo(str(to_stablehlo(module)), arg_shapes=shapes)
