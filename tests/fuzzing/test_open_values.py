"""Which programs leave their values open, so that no difference is a finding."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.fuzzing.open_values import differs_in_signs_of_zero, is_open, normal_rows

HEAD = """HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
twice { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, a) }
minus { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] subtract(a, b) }
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] maximum(a, b) }
wide { a = f32[] parameter(0)  b = f32[] parameter(1)  c = f64[] convert(a)  d = f64[] convert(b)
       s = f64[] add(c, d)  ROOT r = f32[] convert(s) }
pairs { a = f32[] parameter(0)  b = f32[] parameter(1)  c = f32[] parameter(2)  d = f32[] parameter(3)
        ROOT t = (f32[], f32[]) tuple(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT p = pred[] compare(a, b), direction=LT }
ENTRY e { x = f32[4] parameter(0)  start = f32[] parameter(1)  zero = f32[] constant(0)  one = f32[] constant(1)
  low = f32[] constant(-inf)  copied = f32[] copy(zero)
"""
PLAIN = [[np.ones(4, np.float32), np.float32(2)]]


@pytest.mark.parametrize(("root", "open_"), [
    ("f32[] reduce(x, zero), dimensions={0}, to_apply=add", False),
    ("f32[] reduce(x, copied), dimensions={0}, to_apply=add", False),
    ("f32[] reduce(x, one), dimensions={0}, to_apply=add", True),
    ("f32[] reduce(x, start), dimensions={0}, to_apply=add", True),
    ("f32[] reduce(x, low), dimensions={0}, to_apply=max", False),
    ("f32[] reduce(x, zero), dimensions={0}, to_apply=max", True),
    ("f32[] reduce(x, zero), dimensions={0}, to_apply=minus", True),
    ("f32[] reduce(x, zero), dimensions={0}, to_apply=twice", True),
    ("f32[] reduce(x, zero), dimensions={0}, to_apply=wide", True),
    ("(f32[], f32[]) reduce(x, x, one, one), dimensions={0}, to_apply=pairs", False),
    ("f32[4] all-reduce(x), to_apply=add", False), ("f32[4] all-reduce(x), to_apply=minus", True),
    ("f32[4] negate(x)", False)])
def test_folds(root: str, open_: bool) -> None:
    assert is_open(hlotool.parse(f"{HEAD} ROOT r = {root} }}"), PLAIN) is open_


@pytest.mark.parametrize(("value", "sorts", "folds"), [
    (1.0, False, False), (np.nan, True, False), (np.inf, False, False), (0.0, False, False),
    (1e-40, True, True), (np.finfo(np.float32).tiny, False, False)])
def test_arguments(value: float, sorts: bool, folds: bool) -> None:
    rows = [[np.array([1, value, 1, 1], np.float32), np.float32(2)]]
    sort = hlotool.parse(f"{HEAD} ROOT r = f32[4] sort(x), dimensions={{0}}, to_apply=less }}")
    fold = hlotool.parse(f"{HEAD} ROOT r = f32[] reduce(x, zero), dimensions={{0}}, to_apply=add }}")
    assert (is_open(sort, rows), is_open(fold, rows)) == (sorts, folds)


def test_subnormal_arguments_are_zeros_of_their_sign() -> None:
    given = np.array([1e-40, -1e-40, 1, np.finfo(np.float32).tiny], np.float32)
    ((found,),) = normal_rows([[given]])
    assert found.tolist() == [0, 0, 1, np.finfo(np.float32).tiny] and np.signbit(found).tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(("element_type", "open_"), [
    ("f32", False), ("f8e5m2", False), ("f8e5m2fnuz", True), ("f8e4m3fnuz", True), ("f8e4m3fn", True),
    ("f8e4m3", False)])
def test_reduce_precision_of_types_without_infinities(element_type: str, open_: bool) -> None:
    module = hlotool.parse(f"ENTRY e {{ x = {element_type}[2] parameter(0)  ROOT r = {element_type}[2] "
                           "reduce-precision(x), exponent_bits=3, mantissa_bits=1 }")
    assert is_open(module, [[np.ones(2, module.entry.root.shape.dtype.numpy)]]) is open_


@pytest.mark.parametrize(("values", "open_"), [
    ([1, 2, 3, 4], False), ([1e4, 1e4 + 1, 1e4, 1e4 + 1], True), ([0, 0, 0, 0], False), ([7, 7, 7, 7], True)])
def test_variances_that_cancel(values: list[float], open_: bool) -> None:
    """E[x^2] - E[x]^2 of numbers that are nearly the same keeps few digits, and is a legal way to compute it."""
    module = hlotool.parse("""ENTRY e { x = f32[4,1] parameter(0)  s = f32[1] parameter(1)  o = f32[1] parameter(2)
  ROOT b = (f32[4,1], f32[1], f32[1]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=1 }""")
    rows = [[np.array(values, np.float32).reshape(4, 1), np.ones(1, np.float32), np.zeros(1, np.float32)]]
    assert is_open(module, rows) is open_


def test_signs_of_zero_that_a_reduction_gives() -> None:
    fold = hlotool.parse(f"{HEAD} ROOT r = f32[4] reduce(x, zero), dimensions={{}}, to_apply=add }}")
    other = hlotool.parse(f"{HEAD} ROOT r = f32[4] negate(x) }}")
    given = np.float32([0.0, 1, np.nan, 2])
    assert differs_in_signs_of_zero(fold, given, np.float32([-0.0, 1, np.nan, 2]))
    assert not differs_in_signs_of_zero(fold, given, np.float32([-0.0, 1, np.nan, 3]))
    assert not differs_in_signs_of_zero(other, given, np.float32([-0.0, 1, np.nan, 2]))
