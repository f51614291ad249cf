<<<<<<< HEAD
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
=======
"""Several child processes at one kind of work: each question to the next child that is free.

They are the children of `child.py`: none sees the current folder or forks a process that has threads, none outlives
this one, and one that dies costs the question that it was at.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.isolation.child import Child
from hlotool.isolation.failures import Crashed, OutOfMemory, Refusal, TimedOut

#: seconds for a question that has no limit of its own
_LONG = 1e6


def answers(task: str, questions: Sequence[tuple[Any, ...]], processes: int) -> Iterator[tuple[int, Any]]:
    """The number of each question with its answer, as they come; an exception in place of an answer is one, too.

    `task` is "module:function" of hlotool. What ends the iteration ends the processes: an interrupt, no more interest.
    """
    left, done = deque(range(len(questions))), queue.SimpleQueue[tuple[int, Any]]()
    children = [Child({}) for _ in range(min(processes, len(questions)))]

    def work(child: Child) -> None:
        while left:
            try:
                number = left.popleft()
            except IndexError:
                break
            done.put((number, _answer(child, task, questions[number])))
        child.close()

    for child in children:
        threading.Thread(target=work, args=(child,), daemon=True).start()
    try:
        for _ in questions:
            yield done.get()
    finally:
        left.clear()
        for child in children:
            child.close()


def _answer(child: Child, task: str, question: tuple[Any, ...]) -> Any:
    try:
        return child.ask(task, *question, timeout=_LONG)
    except (Crashed, TimedOut, OutOfMemory, Refusal, HloError) as error:
        return error
    except Exception as error:  # of the pipe; whoever asked hears of it
        return Crashed(f"{type(error).__name__}: {error}")
>>>>>>> ec2ab77 (Folders are linted and tried by isolated children: no fork with threads, no orphan, partial results after an interrupt; conform imports nothing from what it tests, and a case that fails now and then is flaky)
