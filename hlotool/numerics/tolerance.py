"""Budgets by hand, in place of the error model: how far apart two numbers may be, whatever the program costs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hlotool.ir import dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.numerics.judgement import Judgement, Kind, unlike
from hlotool.numerics.ulps import ulp_distance


@dataclass(frozen=True)
class Tolerance:
    """Two floats agree within `ulps` units in the last place, or within atol + rtol * |reference|; integers exactly.

    NaN agrees with NaN, and 0 with -0. Infinity agrees with itself only. Raises ValueError for NaN and below 0.
    """

    ulps: float = 0.0
    rtol: float = 0.0
    atol: float = 0.0

    def __post_init__(self) -> None:
        if not min(self.ulps, self.rtol, self.atol) >= 0 or math.isnan(self.ulps + self.rtol + self.atol):
            raise ValueError(f"a tolerance is at least 0, not {self}")

    def judge(self, given: Array, reference: Array) -> Judgement:
        """The verdict on each element of an array."""
        given, reference = np.asarray(given), np.asarray(reference)
        if (found := unlike(given, reference)) is not None:
            return found
        kind = dtype_of_numpy(given.dtype)
        distance = ulp_distance(given, reference)
        if not (kind.is_floating or kind.is_complex):
            kinds = np.where(distance == 0, Kind.EQUAL, Kind.WRONG).astype(np.int8)
            return Judgement(kinds, given, reference, None, np.zeros(given.shape), distance).count()
        wide = np.complex128 if kind.is_complex else np.float64
        with np.errstate(all="ignore"):
            d, r = given.astype(wide), reference.astype(wide)
            error = np.where(distance == 0, 0.0, np.abs(d - r))
            allowed = self.atol + self.rtol * np.abs(r)
            finite = np.isfinite(d) & np.isfinite(r)
            inside = finite & ((error <= allowed) | (distance <= self.ulps))
            kinds = np.where(distance == 0, Kind.EQUAL, np.where(inside, Kind.WITHIN, np.where(
                np.isfinite(d) != np.isfinite(r), Kind.NON_FINITE, Kind.WRONG))).astype(np.int8)
            error = np.where(np.isnan(error), np.inf, error)
            return Judgement(kinds, given, reference, None, allowed, error).count()


#: budgets with a name: what XLA's own tests of whole modules allow (run_hlo_module), NumPy's allclose, StableHLO's
#: check.expect_close, and the same bits
PRESETS = {"xla": Tolerance(rtol=1e-3, atol=1e-3), "numpy": Tolerance(rtol=1e-5, atol=1e-8),
           "stablehlo": Tolerance(ulps=3), "bitwise": Tolerance()}
