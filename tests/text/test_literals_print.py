"""Numbers are printed with as few digits as read back to them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hlotool.ir import DTYPES
from hlotool.text.literals_print import _short_of

NARROW = [d for d in DTYPES.values() if d.is_floating and d.bits <= 8]


def significant(text: str) -> int:
    """Return how many digits a number in decimal has between its zeros."""
    return len(text.lower().partition("e")[0].replace("-", "").replace(".", "").strip("0"))


@pytest.mark.parametrize("kind", NARROW, ids=str)
def test_narrow_numbers_have_as_few_digits_as_read_back(kind) -> None:
    bits = np.arange(1 << kind.bits, dtype=np.uint8)
    for value in bits.view(kind.numpy) if kind.bits == 8 else bits.astype(kind.numpy):
        wide = float(value)
        if not math.isfinite(wide) or not wide:
            continue
        text = _short_of(kind, value, wide)
        assert kind.numpy.type(float(text)) == value, text
        fewer = [f"{wide:.{digits}g}" for digits in range(1, significant(text))]
        assert [t for t in fewer if kind.numpy.type(float(t)) == value] == [], text


def test_what_is_no_number_has_its_word() -> None:
    assert _short_of(DTYPES["f8e5m2"], math.inf, math.inf) == "inf"
    assert _short_of(DTYPES["f8e5m2"], -math.inf, -math.inf) == "-inf"
