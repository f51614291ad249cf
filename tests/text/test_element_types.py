"""What the table of element types says is what NumPy and ml_dtypes know of the same types."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from hlotool.ir import DTYPES

FLOATS = [d for d in DTYPES.values() if d.is_floating]


@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_the_range_of_a_float_is_that_of_its_type(kind) -> None:
    known = ml_dtypes.finfo(kind.numpy)
    assert float(kind.largest) == float(known.max)
    assert float(kind.least) == float(known.min)
    below = np.nextafter(known.max, kind.numpy.type(0)) if kind.specials != "no sign" else known.max
    assert kind.specials == "no sign" or float(kind.largest_ulp) == float(known.max) - float(below)


@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_a_float_has_the_special_values_that_the_table_says(kind) -> None:
    patterns = np.arange(1 << min(kind.bits, 16), dtype=np.uint64)
    if kind.bits > 16:  # the upper half decides
        patterns = patterns << np.uint64(kind.bits - 16)
    with np.errstate(invalid="ignore"):  # NaNs are what it is about
        values = patterns.astype(f"u{kind.numpy.itemsize}").view(kind.numpy).astype(np.float64)
    assert bool(np.isinf(values).any()) == (kind.specials == "ieee")
    assert bool(np.isnan(values).any()) == (kind.specials != "none")
    assert bool(np.signbit(values[values == 0]).any()) == (kind.specials in ("ieee", "one", "none"))
    assert bool((values < 0).any()) == (kind.specials != "no sign")


@pytest.mark.parametrize(("name", "part"), [("c64", "f32"), ("c128", "f64"), ("s4", "s4"), ("bf16", "bf16")])
def test_parts_of_complex_numbers(name: str, part: str) -> None:
    assert DTYPES[name].component is DTYPES[part]


def test_narrow_types_are_floats_of_a_byte_and_what_does_not_fill_one() -> None:
    wide = {name for name, kind in DTYPES.items() if not kind.is_narrow}
    assert wide == {"pred", *(f"{sign}{bits}" for sign in "su" for bits in (8, 16, 32, 64)), "f16", "bf16", "f32",
                    "f64", "c64", "c128"}


@pytest.mark.parametrize("kind", [d for d in DTYPES.values() if d.is_integral or d.is_floating], ids=str)
def test_a_number_has_the_bits_of_its_type(kind) -> None:
    assert kind.bits == (ml_dtypes.iinfo if kind.is_integral else ml_dtypes.finfo)(kind.numpy).bits
