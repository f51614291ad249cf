"""What a platform's own precision of products may change, and what it may not."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.execution import Program, executor_named
from hlotool.numerics import Evidence, shadow_program

DOT = """HloModule product
ENTRY e {
  a = f32[16,64] parameter(0)
  b = f32[64,16] parameter(1)
  ROOT d = f32[16,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}WORDS
}
"""


def cut(array, bits):
    """Operands with so many bits of mantissa, rounded as tensor cores take them."""
    mantissa, exponent = np.frexp(array.astype(np.float64))
    return np.ldexp(np.rint(mantissa * 2.0 ** (bits + 1)) / 2.0 ** (bits + 1), exponent)


@pytest.mark.parametrize(("words", "executor", "bits", "is_wrong"), [
    ("", "pjrt:cuda", 10, False),
    (", operand_precision={default,default}", "pjrt:cuda", 10, False),
    (", operand_precision={highest,highest}", "pjrt:cuda", 10, True),
    (", algorithm=dot_f32_f32_f32", "pjrt:cuda", 10, True),
    (", algorithm=dot_tf32_tf32_f32", "pjrt:cpu", 10, False),
    ("", "pjrt:cuda", 5, True),
    ("", "pjrt:tpu", 7, False),
    ("", "pjrt:cpu", 10, True)])
def test_operands_that_a_platform_cuts(words, executor, bits, is_wrong):
    generator = np.random.default_rng(3)
    a, b = (generator.normal(size=s).astype(np.float32) for s in ((16, 64), (64, 16)))
    program = Program(hlotool.parse(DOT.replace("WORDS", words)))
    arguments = [[a, b]]
    evidence = Evidence(program, arguments, product_bits=executor_named(executor).product_bits)
    given = (cut(a, bits) @ cut(b, bits)).astype(np.float32)
    assert evidence.judge(given).is_wrong is is_wrong
    exact = shadow_program(program, arguments)[0][0].astype(np.float32)
    assert not evidence.judge(exact).is_wrong
