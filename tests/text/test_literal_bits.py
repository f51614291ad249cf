"""Literals of a few elements are made without NumPy, and are those that NumPy's way makes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hlotool.ir import DTYPES, Kind, Literal, Shape
from hlotool.text import literal_of_bits, print_value


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16"])
def test_floats_are_those_that_numpy_prints(name: str) -> None:
    dtype, draw = DTYPES[name], random.Random(name)
    decided = 0
    for bits in [0, 1 << dtype.bits - 1, *(draw.getrandbits(dtype.bits) for _ in range(2000)),
                 *(int(np.array(v, dtype.numpy).view(f"u{dtype.bits // 8}")) for v in (0.1, 1.5, 999.9, float("inf")))]:
        found = literal_of_bits(Shape.array(name), [bits])
        array = np.array(bits, f"u{dtype.bits // 8}").view(dtype.numpy)
        if found is not None:
            decided += 1
            assert found.text == print_value(Kind.LITERAL, Literal(Shape.array(name), array)).split(" ")[-1]
            assert found.array.tobytes() == array.tobytes()
    assert decided > 50


def test_arrays_of_integers_truths_and_complex_numbers() -> None:
    def text(name: str, dims: tuple[int, ...], numbers: list[int]) -> str | None:
        found = literal_of_bits(Shape.array(name, dims), numbers)
        return None if found is None else found.text

    assert text("s8", (2, 2), [1, -2, 3, 4]) == "{ {1, -2}, {3, 4} }"
    assert text("pred", (), [1]) == "true" and text("pred", (2,), [1, 0]) == "{1, 0}"
    assert text("c64", (), [0x3F800000, 0]) == "(1, 0)"
    assert text("f32", (), [0x7FC00001]) is None and text("f8e5m2", (), [1]) is None
