"""The clock of budgets stops while a process waits for a processor, and goes on while it works, sleeps or hangs."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from hlotool.diagnostics import Diagnostic
from hlotool.process import Child, TimedOut, note_progress, supervised, work_time
from hlotool.process.work_clock import waited_by, waited_by_all

can_tell = pytest.mark.skipif(not pathlib.Path("/proc/self/schedstat").exists() or not hasattr(os, "fork"),
                              reason="this system does not tell how long a process waits")
#: other programs on the one processor that is left
OTHERS = 3
#: each of them: it tells when it has started, and never rests
ENDLESS = "print('runs', flush=True)\nwhile True: pass"


@contextlib.contextmanager
def busy_processor() -> Iterator[None]:
    """This process and its children share one processor with others that never rest."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    others = [subprocess.Popen([sys.executable, "-S", "-c", ENDLESS], stdout=subprocess.PIPE) for _ in range(OTHERS)]
    try:
        for other in others:
            assert other.stdout is not None and other.stdout.readline() == b"runs\n"
        yield
    finally:
        for other in others:
            other.kill()
            other.communicate()
        os.sched_setaffinity(0, allowed)


def work_for(seconds: float) -> None:
    """Use so much of a processor."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


#: the same in a child
WORK = "import time\nu = time.process_time() + {}\nwhile time.process_time() < u: pass"


def test_the_clock_goes_on_while_nothing_is_done() -> None:
    before = work_time()
    time.sleep(0.3)
    assert work_time() - before > 0.29


def share_counted(work: Callable[[], object]) -> float:
    """Return how much of the time that work takes is counted. Of several attempts one may get an idle processor."""
    begun, before = time.monotonic(), work_time()
    work()
    return (work_time() - before) / (time.monotonic() - begun)


@can_tell
def test_the_clock_stops_while_others_have_the_processor() -> None:
    with busy_processor():
        assert any(share_counted(lambda: work_for(0.3)) < 0.6 for _ in range(5))
        before = work_time()
        work_for(0.3)
        assert work_time() - before > 0.25


@can_tell
def test_a_child_that_gets_no_processor_has_not_used_up_its_time() -> None:
    """It needs 0.3 s of a processor, in which more than 0.9 s pass."""
    child = Child({})
    try:
        with busy_processor():
            assert child.ask("operator:add", 1, 2, timeout=60) == 3
            assert any(share_counted(lambda: child.ask("builtins:exec", WORK.format(0.3), timeout=0.9)) < 0.6
                       for _ in range(5))
            with pytest.raises(TimedOut):
                child.ask("builtins:exec", WORK.format(600), timeout=0.2)
            with pytest.raises(TimedOut):
                child.ask("time:sleep", 600, timeout=0.2)
    finally:
        child.close()


@can_tell
def test_a_command_that_gets_no_processor_has_not_used_up_its_time() -> None:
    with busy_processor():
        assert watched(lambda: work_for(0.3), 0.9, None) == (7, [])


def watched(work: Callable[[], object], seconds: float | None, stalled: float | None) -> tuple[int, list[Diagnostic]]:
    """Return the exit code of work that ends with 7, and what was told."""
    def working() -> int:
        try:
            work()
        finally:
            os._exit(7)

    told: list[Diagnostic] = []

    def tell(found: Diagnostic) -> int:
        told.append(found)
        return 2

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    try:
        return supervised(working, seconds, tell, stalled), told
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def several_steps() -> None:
    for _ in range(6):
        work_for(0.3)
        note_progress()


def a_large_file() -> None:
    note_progress(1 << 20)
    work_for(1.5)


def a_question(code: str, timeout: float) -> None:
    child = Child({})
    try:
        child.ask("builtins:exec", code, timeout=timeout)
    finally:
        child.close()


@can_tell
@pytest.mark.parametrize("work", [
    lambda: time.sleep(2), several_steps, a_large_file, lambda: a_question(WORK.format(1.5), 600)],
    ids=["waits", "steps", "large file", "question with a limit of its own"])
def test_honest_work_without_a_time_limit_ends_by_itself(work: Callable[[], object]) -> None:
    assert watched(work, None, 0.8) == (7, [])


@can_tell
@pytest.mark.parametrize("work", [lambda: work_for(600), lambda: a_question(WORK.format(600), 1e7)],
                         ids=["itself", "a child"])
def test_a_command_without_progress_ends(work: Callable[[], object]) -> None:
    code, told = watched(work, None, 0.4)
    assert code == 2 and [(d.code, d.message.split(";")[0]) for d in told] == [
        ("E113", "no progress within 0.4 s of processor time")]


def test_of_a_process_that_is_gone_nothing_is_known() -> None:
    gone = subprocess.Popen([sys.executable, "-S", "-c", ""])
    gone.wait()
    assert waited_by(gone.pid) == waited_by_all(gone.pid) == 0
