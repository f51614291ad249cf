"""A moment at which whoever asks children wants no more answers, whatever limit each question has of its own."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar

_MOMENT: ContextVar[float | None] = ContextVar("the moment when questions end", default=None)


@contextlib.contextmanager
def ends_at(moment: float | None) -> Iterator[None]:
    """Within it no question on this thread is waited for past a moment of time.monotonic(); None: no such moment.

    A question that is still open then is TimedOut, and so is at once one that is asked later.
    """
    token = _MOMENT.set(moment)
    try:
        yield
    finally:
        _MOMENT.reset(token)


def time_left(seconds: float) -> float:
    """How many of so many seconds there are until the moment; never less than none."""
    moment = _MOMENT.get()
    return seconds if moment is None else max(0.0, min(seconds, moment - time.monotonic()))
