"""A moment at which whoever asks children wants no more answers, whatever limit each question has of its own."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from contextvars import ContextVar

from hlotool.process.work_clock import work_time

#: what is waited for at most, however much longer somebody wants to wait: clocks of the system end somewhere
_LONGEST = 1e8
_MOMENT: ContextVar[float | None] = ContextVar("the moment when questions end", default=None)


@contextlib.contextmanager
def ends_at(moment: float | None) -> Iterator[None]:
    """Within it no question on this thread is waited for past a moment of `work_time()`; None: no such moment.

    A question that is still open then is TimedOut, and so is at once one that is asked later.
    """
    token = _MOMENT.set(moment)
    try:
        yield
    finally:
        _MOMENT.reset(token)


def time_left(seconds: float) -> float:
    """Return the seconds left until the moment, `seconds` at most; never less than 0 nor more than a clock holds."""
    moment = _MOMENT.get()
    seconds = min(seconds, _LONGEST)
    return seconds if moment is None else max(0.0, min(seconds, moment - work_time()))


def seconds_in(text: str) -> float:
    """Return the time limit that a text says in seconds. Raises ValueError.

    >>> seconds_in("60"), seconds_in("0.5")
    (60.0, 0.5)
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise ValueError(f"{text!r} is no time; seconds are a number above 0")
    return seconds
