"""Who does the parts of a run: processes of this machine, or the workers of Dask's scheduler.

Both give each part once, whatever becomes of the processes: an input that ends one has a row that says so, and a part
whose worker was killed is done by another.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hlotool.corpus.codes import NO_ENGINE
from hlotool.corpus.corpus_inputs import store_environment
from hlotool.corpus.libraries import library
from hlotool.corpus.part_work import PartDone, PartWork, Stopped, do_part
from hlotool.corpus.result_folder import RunPart
from hlotool.diagnostics import HloError, visible
from hlotool.process import Child, processors

#: the engines by name, and who does the work
ENGINES = {"local": "processes of this machine",
           "dask": "the workers of the Dask scheduler at --scheduler; without one, local"}
#: seconds between two looks at what is going on
_GLANCE = 0.5
#: parts that wait at the scheduler for each of its threads
_AHEAD = 3
#: seconds to reach a scheduler, and to let go of it
_TO_REACH, _TO_CLOSE = 20, 1


def local(parts: Sequence[RunPart], work: PartWork, processes: int, watch: Callable[[], None]) -> Iterator[PartDone]:
    """Do the parts in so many processes of this machine. `watch` is called now and then."""
    left, done = deque(parts), queue.SimpleQueue[PartDone | BaseException]()
    environment = store_environment(itertools.chain.from_iterable(part.inputs for part in parts))
    children = [Child(environment) for _ in range(min(processes, len(parts)))]
    stopped = threading.Event()

    def go_on() -> None:
        if stopped.is_set():
            raise Stopped

    def serve(child: Child) -> None:
        try:
            while True:
                done.put(do_part(child, work, left.popleft(), go_on))
        except IndexError:  # nothing is left
            pass
        except Stopped:
            pass
        except BaseException as error:  # whoever waits hears of it
            done.put(error)
        finally:
            child.close()

    threads = [threading.Thread(target=serve, args=(child,), daemon=True) for child in children]
    for thread in threads:
        thread.start()
    try:
        for _ in parts:
            yield _next(done, watch)
    finally:
        stopped.set()
        left.clear()
        for child in children:
            child.close()
        # A thread that is within a library when Python ends would end the process with an abort.
        until = time.monotonic() + _TO_CLOSE
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))


def _next(done: queue.SimpleQueue[PartDone | BaseException], watch: Callable[[], None]) -> PartDone:
    while True:
        watch()
        try:
            found = done.get(timeout=_GLANCE)
        except queue.Empty:
            continue
        if isinstance(found, BaseException):
            raise found
        return found


def dask(parts: Sequence[RunPart], work: PartWork, watch: Callable[[], None], scheduler: str) -> Iterator[PartDone]:
    """Do the parts on the workers of the scheduler at an address.

    A part whose worker is killed is given to another one; one that ended several workers is done in this process's own
    children. Raises HloError (E174) where the scheduler cannot be reached.
    """
    distributed = library("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # a worker that is killed is no news here
    with _client(scheduler) as client, client.as_current():
        threads = max(1, sum(client.nthreads().values()))
        waiting = iter(parts)
        running = {client.submit(in_worker, work, part, _version(), pure=False): part
                   for part in itertools.islice(waiting, threads * _AHEAD)}
        while running:
            watch()
            with contextlib.suppress(TimeoutError):
                distributed.wait(list(running), timeout=_GLANCE, return_when="FIRST_COMPLETED")
            for future in [f for f in running if f.done()]:
                yield _result(future, running.pop(future), work, watch)
                future.release()
                for part in itertools.islice(waiting, 1):
                    running[client.submit(in_worker, work, part, _version(), pure=False)] = part


def _result(future: Any, part: RunPart, work: PartWork, watch: Callable[[], None]) -> PartDone:
    try:
        found: PartDone = future.result()
    except library("distributed").KilledWorker:
        return next(local([part], work, 1, watch))
    except (HloError, OSError):
        raise
    except Exception as error:  # whatever a library of the worker says
        raise _no_engine(f"a worker cannot do its work: {type(error).__name__}: {error}") from error
    return found


@contextlib.contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    distributed = library("distributed")
    try:
        client = distributed.Client(scheduler, timeout=_TO_REACH, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise _no_engine(f"the scheduler {visible(scheduler)} cannot be reached: {error}") from error
    try:
        if not client.nthreads():
            raise _no_engine(f"the scheduler {visible(scheduler)} has no workers")
        yield client
    finally:
        with contextlib.suppress(Exception):  # it may be gone
            client.close(timeout=_TO_CLOSE)


def _no_engine(message: str) -> HloError:
    return HloError.of(NO_ENGINE, message, filename="--engine dask", help="`--engine local` needs no scheduler")


# In the workers

_OF_THREAD = threading.local()


def in_worker(work: PartWork, part: RunPart, version: str) -> PartDone:
    """Do a part in a worker of Dask; each of its threads has a child of its own. Raises HloError (E174)."""
    if version != _version():
        raise _no_engine(f"a worker has hlotool {_version()}, not {version}")
    environment = store_environment(part.inputs)
    known: tuple[int, Child] | None = getattr(_OF_THREAD, "child", None)
    if known is None or known[0] != os.getpid() or known[1].environment != environment:
        if known is not None and known[0] == os.getpid():
            known[1].close()
        _OF_THREAD.child = known = os.getpid(), Child(environment)
    return do_part(known[1], work, part)


def _version() -> str:
    """The version of hlotool and of the forms of results."""
    from hlotool import __version__
    from hlotool.corpus.result_tables import VERSION

    return f"{__version__} ({VERSION})"


def default_processes() -> int:
    """As many as there are processors for this process."""
    return processors()
