"""Removes what no result and no effect depends on: unused instructions, and computations that nothing calls.

    never { ... }                                 ENTRY main {
    ENTRY main {                                    x = f32[2] parameter(0)
      x = f32[2] parameter(0)              ->       ROOT y = f32[2] negate(x)
      unused = f32[2] add(x, x)                   }
      ROOT y = f32[2] negate(x)
    }
"""

from __future__ import annotations

from hlotool.ir import HloComputation, HloModule, callees_first, live, reachable
from hlotool.ops import Effects


def dce(module: HloModule) -> HloModule:
    """Return the same module, changed in place, without dead instructions and computations.

    Parameters stay, for they are the signature. Unknown operations count as having effects.
    """
    effects = Effects()
    for computation in callees_first(module):
        _drop_unused(computation, effects)
    reached = reachable([module.entry])
    module.computations = [c for c in module.computations if c in reached]
    return module


def _drop_unused(computation: HloComputation, effects: Effects) -> None:
    needed = live(computation, effects.of)
    if len(needed) != len(computation.instructions):
        computation.instructions = [i for i in computation.instructions if i in needed]
