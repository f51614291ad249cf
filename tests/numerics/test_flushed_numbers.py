"""What a processor that reads subnormal numbers as zeros gives is never wrong; the same given of other numbers is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.execution import Program, evaluate_program
from hlotool.numerics import Draws, Known, judge, sample_program, shadow_program

INF, NAN = np.inf, np.nan
CONSTANT = "ENTRY e { x = TYPE[1] parameter(0)  c = TYPE[1] constant({NUMBER})  ROOT r = TYPE[1] "
F32, BF16 = CONSTANT.replace("TYPE", "f32"), CONSTANT.replace("TYPE", "bf16")
BITS = "ENTRY e { x = f32[1] parameter(0)  u = s32[1] constant({NUMBER})  c = f32[1] bitcast-convert(u)  " \
       "ROOT r = f32[1] multiply(x, c) }"
DOT = "ENTRY e { x = f32[1] parameter(0)  c = f32[1] constant({NUMBER})  " \
      "ROOT r = f32[] dot(x, c), lhs_contracting_dims={0}, rhs_contracting_dims={0} }"
CLAMP = "ENTRY e { x = f32[1] parameter(0)  a = f32[1] parameter(1)  l = f32[1] constant({NUMBER})  " \
        "h = f32[1] constant({5})  c = f32[1] clamp(l, a, h)  ROOT r = f32[1] multiply(x, c) }"
COMPARE = "ENTRY e { x = f32[1] parameter(0)  c = f32[1] constant({NUMBER})  " \
          "ROOT r = pred[1] compare(c, x), direction=GT }"
#: programs with a place for a number, arguments, and what is given where that number is read as zero
READ_AS_ZERO = [
    (F32 + "multiply(x, c) }", [[INF]], [NAN]), (BF16 + "multiply(c, x) }", [[-INF]], [NAN]),
    (F32 + "divide(x, c) }", [[0.0]], [NAN]), (BITS, [[INF]], [NAN]), (DOT, [[1e38]], 0.0),
    (CLAMP, [[INF], [0.0]], [NAN]), (COMPARE, [[0.0]], [False])]
SCALED = """ENTRY e {{
  a = {0}[1,2] parameter(0)
  b = {0}[1,2] parameter(1)
  s = {1}[1,{3}] parameter(2)
  t = {1}[1,1] parameter(3)
  ROOT r = {2}[1,1] scaled-dot(a, b, s, t), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
}}"""
#: types of operands, scales and result; operands and scales; what a processor gives that flushes
SCALED_CASES = [
    # an operand beside what overflows while it is scaled
    (("bf16", "bf16", "f32", 1), [[3e38, 0]], [[1e-38, 0]], [[-2]], [[1]], NAN),
    # a scale of f8e8m0fnu that is subnormal in the result's type
    (("bf16", "f8e8m0fnu", "bf16", 1), [[1, 1]], [[1, 1]], [[2.0**60]], [[2.0**-127]], 0),
    (("f32", "f8e8m0fnu", "f32", 1), [[2.0**100, 0]], [[2.0**30, 0]], [[2.0**-127]], [[1]], 0),
    # a product that is subnormal, and what makes up for it
    (("bf16", "bf16", "bf16", 2), [[1e-30, 0]], [[1e38, 0]], [[1e-9, 1]], [[1]], 0),
    (("bf16", "bf16", "bf16", 2), [[1e-30, 1]], [[INF, 1]], [[1e-9, 1]], [[1]], NAN)]


def is_wrong(text: str, arguments: list[Any], given: Any) -> bool:
    """Whether a value is wrong, with as many samples as the command takes before it says so."""
    program = Program(hlotool.parse(text))
    rows = [[np.array(a).astype(s.dtype.numpy) for a, s in zip(arguments, program.parameters, strict=True)]]

    def drawn(count: int, draws: Draws) -> list[np.ndarray]:
        return [sample_program(program, rows, (draws, seed))[0][0] for seed in range(count)]

    evidence = Known(evaluate_program(program, rows)[0][0], shadow_program(program, rows)[0][0],
                     drawn(16, Draws.ALL), lambda draws: drawn(8, draws))
    return judge(np.array(given).astype(program.results[0].dtype.numpy), evidence).is_wrong


@pytest.mark.parametrize(("text", "arguments", "given"), READ_AS_ZERO)
def test_a_subnormal_that_is_no_result_may_be_read_as_zero(text: str, arguments: list[Any], given: Any) -> None:
    tiny, normal = ("1e-40", "1e-3") if "s32" not in text else ("71362", str(0x3F000000))
    assert not is_wrong(text.replace("NUMBER", tiny), arguments, given)
    assert is_wrong(text.replace("NUMBER", normal), arguments, given)


@pytest.mark.parametrize(("kinds", "lhs", "rhs", "scale", "other", "given"), SCALED_CASES)
def test_what_scales_make_of_operands_may_be_flushed(kinds: tuple[Any, ...], lhs: Any, rhs: Any, scale: Any,
                                                     other: Any, given: float) -> None:
    assert not is_wrong(SCALED.format(*kinds), [lhs, rhs, scale, other], [[given]])


@pytest.mark.parametrize("kinds", [("bf16", "bf16", "bf16", 2), ("f32", "f32", "f32", 2),
                                   ("bf16", "f8e8m0fnu", "f32", 2)])
@pytest.mark.parametrize("given", [0.0, NAN, INF, 20.0, 40.0])
def test_without_subnormals_a_scaled_dot_is_held_to_its_value(kinds: tuple[Any, ...], given: float) -> None:
    assert not is_wrong(SCALED.format(*kinds), [[[1, 2]], [[3, 4]], [[2, 1]], [[2]]], [[28.0]])
    assert is_wrong(SCALED.format(*kinds), [[[1, 2]], [[3, 4]], [[2, 1]], [[2]]], [[given]])
