"""Powers of integers: what the reference says of negative exponents, which no NumPy function has."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool


@pytest.mark.parametrize("element_type, kind", [("s8", np.int8), ("s32", np.int32), ("s64", np.int64)])
def test_negative_exponents(element_type: str, kind: type) -> None:
    """1 and -1 stay themselves (by parity), all others give 0."""
    base = np.array([1, 1, -1, -1, -1, 2, -2, 3, 0, -2, 5], kind)
    power = np.array([-1, -2, -1, -2, -3, -1, -2, -1, -1, 3, 0], kind)
    module = hlotool.parse(f"ENTRY e {{ a = {element_type}[11] parameter(0)  b = {element_type}[11] parameter(1) "
                           f"ROOT p = {element_type}[11] power(a, b) }}")
    (found,) = hlotool.execute(module, [base, power], executor="reference")
    assert found.tolist() == [1, 1, -1, 1, -1, 0, 0, 0, 0, -8, 1]
