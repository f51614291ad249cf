"""Differences that are no roundings: choices of the specification, ties, ranges of types, and what only moves data."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.execution import Program
from hlotool.numerics import Evidence, Kind

SET = "set { a = f32[] parameter(0)\n  ROOT b = f32[] parameter(1) }\n"
ADD = "add { a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b) }\n"
LT = ("lt { p = s32[] parameter(0)\n  q = s32[] parameter(1)\n  a = f32[] parameter(2)\n  b = f32[] parameter(3)\n"
      "  ROOT r = pred[] compare(p, q), direction=LT }\n")
POINTS = ("update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
          "to_apply=set")
KEYED = ("s = (s32[4], f32[4]) sort(k, x), dimensions={{0}}{}, to_apply=lt\n"
         "ROOT g = f32[4] get-tuple-element(s), index=1")


def kind(body: str, arguments: list, given: object, computations: str = "") -> Kind:
    """The verdict on a result of a program on those arguments."""
    program = Program(hlotool.parse(f"HloModule m\n{computations}ENTRY e {{\n{body}\n}}\n"))
    rows = [[np.asarray(a).astype(s.dtype.numpy) for a, s in zip(arguments, program.parameters, strict=True)]]
    return Evidence(program, rows).judge(np.asarray(given).astype(program.results[0].dtype.numpy)).kind


X4 = "x = f32[4] parameter(0)\n"
TIE, ABOVE = 1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-20
CASES = {
    "updates of one element in another order": (
        X4 + "u = f32[2] parameter(1)\ni = s32[2,1] constant({{1},{1}})\nROOT s = f32[4] scatter(x, i, u), " + POINTS,
        [[1, 2, 3, 4], [8, 9]], [1, 8, 3, 4], SET, Kind.OPEN),
    "an element that no update meets": (
        X4 + "u = f32[2] parameter(1)\ni = s32[2,1] constant({{1},{1}})\nROOT s = f32[4] scatter(x, i, u), " + POINTS,
        [[1, 2, 3, 4], [8, 9]], [1, 8, 3, 5], SET, Kind.WRONG),
    "equal keys of a sort that need not be stable": (
        "k = s32[4] parameter(0)\nx = f32[4] parameter(1)\n" + KEYED.format(""),
        [[1, 1, 2, 3], [5, 6, 7, 8]], [6, 5, 7, 8], LT, Kind.OPEN),
    "equal keys of a stable sort": (
        "k = s32[4] parameter(0)\nx = f32[4] parameter(1)\n" + KEYED.format(", is_stable=true"),
        [[1, 1, 2, 3], [5, 6, 7, 8]], [6, 5, 7, 8], LT, Kind.WRONG),
    "other keys of a sort that need not be stable": (
        "k = s32[4] parameter(0)\nx = f32[4] parameter(1)\n" + KEYED.format(""),
        [[1, 1, 2, 3], [5, 6, 7, 8]], [5, 6, 8, 7], LT, Kind.WRONG),
    "the bits of a NaN": (X4 + "l = f32[4] log(x)\nROOT b = s32[4] bitcast-convert(l)", [[-1, 1, 1, 1]],
                          [2143289345, 0, 0, 0], "", Kind.OPEN),
    "the bits of a number": (X4 + "ROOT b = s32[4] bitcast-convert(x)", [[0, 1, 2, 3]],
                             [0, 1065353217, 1073741824, 1077936128], "", Kind.WRONG),
    "a part of a window that is dropped as a whole": (
        "x = s32[4] parameter(0)\nu = s32[2] parameter(1)\ni = s32[1] constant({3})\n"
        "ROOT s = s32[4] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add",
        [[1, 2, 3, 4], [8, 9]], [1, 2, 3, 12], ADD, Kind.WRONG),
    "a reversed array": (X4 + "ROOT r = f32[4] reverse(x), dimensions={0}", [[1, 2, 3, 4]], [1, 2, 3, 4], "",
                         Kind.WRONG),
    "one last place of what is only moved": (
        X4 + "ROOT r = f32[4] negate(x)", [[1, 2, 3, 4]], [np.nextafter(np.float32(-1), np.float32(-2)), -2, -3, -4],
        "", Kind.WRONG),
    "one last place of a sum": (X4 + "ROOT r = f32[4] add(x, x)", [[1, 2, 3, 4]],
                                [np.nextafter(np.float32(2), np.float32(3)), 4, 6, 8], "", Kind.WITHIN),
    "what may be a constant that was rounded": (
        X4 + "c = f32[4] constant({0.1, 0.1, 0.1, 0.1})\nROOT r = f32[8] concatenate(x, c), dimensions={0}",
        [[1, 2, 3, 4]], [1, 2, 3, 4, np.nextafter(np.float32(0.1), np.float32(1)), 0.1, 0.1, 0.1], "", Kind.WITHIN),
    "an exact tie, away from zero": (X4 + "ROOT r = bf16[4] convert(x)", [[TIE, 1, 2, 3]], [1 + 2.0**-7, 1, 2, 3], "",
                                     Kind.WRONG),
    "an exact tie, to even": (X4 + "ROOT r = bf16[4] convert(x)", [[TIE, 1, 2, 3]], [1, 1, 2, 3], "", Kind.EQUAL),
    "above a tie": (X4 + "ROOT r = bf16[4] convert(x)", [[ABOVE, 1, 2, 3]], [1, 1, 2, 3], "", Kind.WRONG),
    "a tie of f8": (X4 + "ROOT r = f8e4m3fn[4] convert(x)", [[1 + 2.0**-4, 1, 2, 3]], [1 + 2.0**-3, 1, 2, 3], "",
                    Kind.WRONG),
    "a tie of what was rounded before": (
        X4 + "e = f32[4] multiply(x, x)\nROOT r = bf16[4] convert(e)", [[np.sqrt(TIE), 1, 2, 3]],
        [1 + 2.0**-7, 1, 4, 9], "", Kind.WITHIN),
    "a wide number rounded twice": (
        "x = f64[1] parameter(0)\nROOT r = bf16[1] convert(x)", [[1 + 2.0**-8 + 2.0**-40]], [1.0], "", Kind.WITHIN),
    "fewer bits, ties away from zero": (
        X4 + "ROOT r = f32[4] reduce-precision(x), exponent_bits=8, mantissa_bits=7", [[TIE, 1, 2, 3]],
        [1 + 2.0**-7, 1, 2, 3], "", Kind.WRONG),
    "the root of a square that overflows": (
        "x = f16[1] parameter(0)\nm = f16[1] multiply(x, x)\nROOT r = f16[1] sqrt(m)", [[-358.25]], [358.25], "",
        Kind.NON_FINITE),
    "the root of a square in more bits": (
        "x = f16[1] parameter(0)\nm = f16[1] multiply(x, x)\nROOT r = f16[1] sqrt(m)", [[3.3]], [3.3], "", Kind.EQUAL),
    "zeros in their order": (
        X4 + "z = f32[4] constant({0, 0, 0, 0})\nm = f32[4] maximum(x, z)\no = f32[4] constant({1, 1, 1, 1})\n"
        "ROOT d = f32[4] divide(o, m)", [[-0.0, 1, 2, 4]], [-np.inf, 1, 0.5, 0.25], "", Kind.NON_FINITE),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_no_rounding(name: str) -> None:
    body, arguments, given, computations, wanted = CASES[name]
    assert kind(body, arguments, given, computations) is wanted
