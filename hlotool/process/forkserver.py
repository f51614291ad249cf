"""Answers questions in a forked process, and forks the next one when that crashes.

Importing a runtime takes longer than most questions. This process imports it once and never starts it, so that it has
no threads whose locks a fork could inherit held; the fork starts the runtime and answers. Where the fork ends at work
on a question, its end is the answer, ("crashed", exit code), and another fork waits for the next question.

Whatever else ends the fork ends this process alike: then nobody knows how much of a question or an answer lies in the
pipes.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import select
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from hlotool.process.frames import WAITING, WORKING, framed

#: whether the system has what is needed here: forks that are safe after imports, and descriptors of processes
IS_THERE = sys.platform == "linux" and hasattr(os, "pidfd_open")


def serve(answer_questions: Callable[[mmap.mmap], None], answers: int) -> NoReturn:
    """Fork processes that answer questions, one after another, until the questions end.

    `answer_questions` notes in its argument, memory that it shares with this process, what it is at: WORKING on a
    question that it has read whole, and no answer begun. `answers` is the descriptor for answers.
    """
    stage = mmap.mmap(-1, 1)
    while True:
        stage[0] = WAITING
        process = os.fork()
        if not process:
            _work(answer_questions, stage)
        code = _exit_code(process)
        if stage[0] != WORKING:
            _end_alike(code)
        with open(answers, "wb", closefd=False) as stream:
            stream.write(framed(pickle.dumps(("crashed", code))))


def _work(answer_questions: Callable[[mmap.mmap], None], stage: mmap.mmap) -> NoReturn:
    code = 1
    try:
        answer_questions(stage)
        code = 0
    finally:  # nothing of what this process was forked of goes on here
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)


def _exit_code(process: int) -> int:
    """The exit code of a process, a signal as a negative number; where nobody asks any more, it and this one end."""
    descriptor = os.pidfd_open(process)
    try:
        poll = select.poll()
        poll.register(0, 0)  # hang-ups are reported unasked; input is the fork's
        poll.register(descriptor, select.POLLIN)
        while not (ready := dict(poll.poll())).get(descriptor):
            if ready.get(0, 0) & (select.POLLHUP | select.POLLERR):
                _end_all(process)
    finally:
        os.close(descriptor)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _end_all(process: int) -> NoReturn:
    """End the fork and take note of its end, then whatever it started, and this process."""
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    if os.getpgrp() == os.getpid():  # it leads a group of its own
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _end_alike(code: int) -> NoReturn:
    if code < 0:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)
