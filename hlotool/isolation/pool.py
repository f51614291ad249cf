"""Several processes for many pieces of work: they end with this one, and at once where it is interrupted."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from hlotool.isolation.worker import die_with_parent


@contextlib.contextmanager
def process_pool(number: int) -> Iterator[ProcessPoolExecutor]:
    """So many processes; an exception in the block, an interrupt too, ends them whatever they are at."""
    import multiprocessing

    # A process with threads, Python's or a runtime's, must not be forked: what they hold would stay held.
    is_plain = threading.active_count() == 1 and "jaxlib" not in sys.modules and hasattr(os, "fork")
    context = multiprocessing.get_context("fork" if is_plain else "spawn")
    # Signals are left to this process, which is the parent of forked and of spawned ones.
    pool = ProcessPoolExecutor(number, context, _begin, (os.getpid(),))
    try:
        yield pool
    except BaseException:
        # The pool has no public way to give up what is begun (Python 3.14 has kill_workers).
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.kill()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _begin(parent: int) -> None:
    """Interrupts are for the process that started this one; its end is the end of this one too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(parent)
