"""Budgets by hand."""

from __future__ import annotations

import math

import pytest

from hlotool.numerics import Tolerance


@pytest.mark.parametrize("name", ["ulps", "rtol", "atol"])
@pytest.mark.parametrize("value", [-1.0, math.nan])
def test_what_is_no_budget_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match="a tolerance is at least 0"):
        Tolerance(**{name: value})


def test_any_difference_may_be_allowed() -> None:
    assert Tolerance(ulps=math.inf).ulps == math.inf and Tolerance() == Tolerance(0.0, 0.0, 0.0)
