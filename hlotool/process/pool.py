"""Several child processes at one kind of work: each question to the next child that is free.

They are the children of `child.py`: none sees the current folder or forks a process that has threads, none outlives
this one, and one that dies costs the question that it was at.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.process.child import Child
from hlotool.process.failures import Crashed, OutOfMemory, Refusal, TimedOut
from hlotool.process.supervision import note_progress

#: seconds for a question that has no limit of its own
_LONG = 1e7


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def answers(task: str, questions: Sequence[tuple[Any, ...]], processes: int) -> Iterator[tuple[int, Any]]:
    """Yield the number of each question with its answer, as they come; an exception in place of an answer is one, too.

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
            done.put((number, answer_of(child, task, questions[number])))
        child.close()

    for child in children:
        threading.Thread(target=work, args=(child,), daemon=True).start()
    try:
        for _ in questions:
            answer = done.get()
            note_progress()
            yield answer
    finally:
        left.clear()
        for child in children:
            child.close()


def answer_of(child: Child, task: str, question: tuple[Any, ...], timeout: float = _LONG) -> Any:
    """Return a child's answer, or the exception in its place; `task` is "module:function" of hlotool."""
    try:
        return child.ask(task, *question, timeout=timeout)
    except (Crashed, TimedOut, OutOfMemory, Refusal, HloError) as error:
        return error
    except Exception as error:  # of the pipe; whoever asked hears of it
        return Crashed(f"{type(error).__name__}: {error}")
