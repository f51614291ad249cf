"""State of each device of a run, for functions that take the place of operations' own and remember something.

Devices run on threads of their own, or in step on one (lockstep.py): what one has left behind is not the next one's.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any


class _Running(threading.local):
    """The device whose instruction a thread runs."""

    device = 0


_RUNNING = _Running()


class DeviceState(threading.local):
    """Named values, of each device its own."""

    def __init__(self) -> None:
        self._values: dict[tuple[int, str], Any] = {}

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """Return the value of that name for the device that runs; `make` gives it where there is none yet."""
        key = _RUNNING.device, name
        if key not in self._values:
            self._values[key] = make()
        return self._values[key]


@contextlib.contextmanager
def running(device: int) -> Iterator[None]:
    """Run the block as a part of a device's run."""
    before, _RUNNING.device = _RUNNING.device, device
    try:
        yield
    finally:
        _RUNNING.device = before
