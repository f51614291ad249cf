"""Loops of Python inside of one operation, which may be long: they end when the evaluation's time is over."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import TypeVar

_Part = TypeVar("_Part")

_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check of an evaluation's time", default=None)


@contextlib.contextmanager
def checked_by(check: Callable[[], None]) -> Iterator[None]:
    """Within it, loops on this thread call `check` before each of their parts; what that raises ends them."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def in_time(parts: Iterable[_Part]) -> Iterator[_Part]:
    """The parts of a loop, as long as there is time."""
    check = _CHECK.get()
    for part in parts:
        if check is not None:
            check()
        yield part
