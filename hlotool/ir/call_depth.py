"""Room for deeper calls than Python's limit, which is one for all threads of a process."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

_LOCK = threading.Lock()
#: what the threads that are inside ask for, and the limit before the first of them
_asked: list[int] = []
_before: list[int] = []


@contextlib.contextmanager
def deeper_calls(most: int) -> Iterator[None]:
    """Let calls be nested `most` deep; the last thread that leaves puts the process's limit back."""
    with _LOCK:
        if not _asked:
            _before[:] = [sys.getrecursionlimit()]
        _asked.append(most)
        sys.setrecursionlimit(max(*_before, *_asked))
    try:
        yield
    finally:
        with _LOCK:
            _asked.remove(most)
            sys.setrecursionlimit(max(_before + _asked))
