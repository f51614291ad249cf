"""Waiting for other processes, for as long as a busy machine may need."""

from __future__ import annotations

import time
from collections.abc import Callable

#: seconds after which a test gives up; nothing is judged by them, they only end a test whose process hangs
PATIENCE = 300.0


def wait_until(holds: Callable[[], object], message: str = "it did not happen") -> None:
    """Return when `holds` does; fail with the message where that never comes."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, message
        time.sleep(0.02)
