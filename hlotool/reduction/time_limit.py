"""The time that a search may take: of work, and of the user's."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from hlotool.process import work_time

#: how many times the limit a search on a busy machine may take by the clock on the wall
_SLOWER = 1.5


@dataclass
class TimeLimit:
    """So many seconds of work, and not much more by the clock on the wall, where other work takes the processors."""

    seconds: float = math.inf
    _work_begun: float = field(default_factory=work_time)
    _begun: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """Return the seconds that are left, less than 0 where time is over."""
        return min(self.seconds - (work_time() - self._work_begun),
                   _SLOWER * self.seconds - (time.monotonic() - self._begun))

    @property
    def is_over(self) -> bool:
        """Return True if no time is left."""
        return self.left() <= 0

    def part(self, share: float) -> TimeLimit:
        """Return the limit of the first part of the same time."""
        return TimeLimit(share * self.seconds, self._work_begun, self._begun)
