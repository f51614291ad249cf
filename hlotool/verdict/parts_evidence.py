"""Judges what all devices make of a program's parts, and tells roundings of long sums over devices from faults.

A sum over 4,096 devices rounds more often than the samples of the whole program do. What is off by no more than that is
no difference if both programs give the same at higher precision.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hlotool.diagnostics import HloError
from hlotool.distributed import Partition, Version
from hlotool.execution import OutOfTime
from hlotool.ir import dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.numerics import Evidence, Judgement, Kind

#: the share of an error that the two programs may differ by at higher precision
_EXACT = 1e-3


@dataclass(eq=False)
class PartsEvidence:
    """The evidence about a program and its partitioned form on one row of whole arguments."""

    partition: Partition
    whole: Evidence
    row: Sequence[Array]

    def judge(self, result: int, version: Version) -> Judgement:
        """Return the verdict on one value of a whole result that some devices have. Raises HloError as `Evidence`."""
        judged = self.whole.judge(version.array, 0, result)
        kind = dtype_of_numpy(version.array.dtype)
        if not judged.is_wrong or judged.problem or not kind.is_floating:
            return judged
        with np.errstate(all="ignore"):
            largest = float(np.abs(self.whole.reference[0][result].astype(np.float64)).max(initial=0.0))
            allowed = self.partition.part.devices * 2.0 ** -kind.mantissa_bits * largest
            if not (judged.error[judged.wrong] <= allowed).all():
                return judged
            return self._excused(judged, result, allowed)

    def _excused(self, judged: Judgement, result: int, allowed: float) -> Judgement:
        """Return a verdict with roundings within what is allowed, where the programs agree at higher precision."""
        versions = self._shadow[result] if self._shadow is not None else []
        if len(versions) != 1:
            return judged
        exact = np.abs(versions[0].array - self.whole.results("shadow")[0][result])
        is_rounding = judged.wrong & (exact <= _EXACT * judged.error)
        return replace(judged, kinds=np.where(is_rounding, np.asarray(Kind.WITHIN, judged.kinds.dtype), judged.kinds),
                       tolerance=np.where(is_rounding, allowed, judged.tolerance)).count()

    @functools.cached_property
    def _shadow(self) -> list[list[Version]] | None:
        """The whole results that the devices make at higher precision; None where they make none."""
        try:
            return self.partition.made(Evidence(self.partition.part, self.partition.given(self.row)).results("shadow"))
        except (HloError, OutOfTime):
            return None
