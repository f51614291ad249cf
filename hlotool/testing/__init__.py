"""Assertions for tests: what programs compute, what they are, and what a compiler has made of them.

    from hlotool.testing import assert_collectives, assert_donated, assert_same, assert_same_hlo

    def test_my_pass():
        assert_same(before, after)

    def test_what_is_lowered():
        assert_same_hlo(jax.jit(step).lower(x), "golden/step.hlo")       # HLOTOOL_UPDATE=1 writes the file anew

    def test_communication():
        assert_collectives(jax.jit(step).lower(x).compile(), {"all-reduce": 2})

A program is whatever `hlotool.read` takes: text, a file, `Lowered` and `Compiled` objects of JAX. Nothing is imported
before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.ir import lazily

if TYPE_CHECKING:
    from hlotool.testing.counted_collectives import Collective, assert_collectives, assert_no, collectives
    from hlotool.testing.optimisations import assert_donated, assert_fused, assert_no_f32_in_bf16
    from hlotool.testing.sameness import assert_same, assert_same_hlo

__all__ = [
    "Collective", "assert_collectives", "assert_donated", "assert_fused", "assert_no", "assert_no_f32_in_bf16",
    "assert_same", "assert_same_hlo", "collectives",
]

__getattr__ = lazily(__name__, {
    "counted_collectives": ("Collective", "assert_collectives", "assert_no", "collectives"),
    "optimisations": ("assert_donated", "assert_fused", "assert_no_f32_in_bf16"),
    "sameness": ("assert_same", "assert_same_hlo"),
})
