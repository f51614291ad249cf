"""Checks that code written for a module computes the same as the module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.ir import HloModule

if TYPE_CHECKING:
    from hlotool.verdict import Comparison


def check_code(module: HloModule, text: str, seconds: float = 10.0) -> Comparison:
    """Run code of `hlotool.jax.lax.to_jax_code` and compare it with its module, on arguments that are searched.

    JAX traces the code in a child process; what it makes of it and the module are compared on the reference and on
    pjrt:cpu, as `hlotool compare` does with two modules. Raises HloError (J102) where JAX refuses the code.
    """
    from hlotool.blame import compare
    from hlotool.jax.lax import lowered_code

    traced = lowered_code(text, [p.shape for p in module.entry.parameters()])
    return compare(module, traced, time_budget=seconds)
