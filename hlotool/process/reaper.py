"""The process between hlotool and a program of the user's: it starts the program, and ends all that came of it.

    python -I -S reaper.py RESULT PROGRAM [ARGUMENT ...]

A program may start others and leave them alone, in sessions of their own (`setsid`, a daemon's double fork). On Linux
they stay descendants of this process, which adopts orphans: it ends them when the program ends, and when its own
standard input closes, whatever ended the one that holds the other end. Elsewhere it ends the program's process group.
Where the file descriptor RESULT leads, one line says what became of the program: `code 3`, or `error 2` (an errno)
where it could not be started. What another service (systemd, cron, a container) starts for the program is out of reach.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time

#: prctl's number for "orphans among my descendants become my children" (linux/prctl.h)
_PR_SET_CHILD_SUBREAPER = 36
#: seconds for ending what is there: something may start processes as quickly as they are ended
_PATIENCE = 1.5


def main(result: int, words: list[str]) -> None:
    """Run a program to its end, or to that of standard input."""
    os.set_inheritable(result, False)
    _adopt_orphans()
    import subprocess  # not at the top: every command looks for descendants, and few start a program

    try:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        _say(result, f"error {error.errno or 0}")
        return
    closed = threading.Event()
    threading.Thread(target=_end_with_input, args=(process.pid, closed), daemon=True).start()
    code = process.wait()
    if not closed.is_set():  # else its end is no answer of its own
        _say(result, f"code {code}")
    _end_all(process.pid)


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError, ImportError):
            import ctypes

            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_with_input(program: int, closed: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 1 << 10):
            pass
    closed.set()
    _end_all(program)
    os._exit(1)


def _end_all(program: int) -> None:
    """End every descendant; what one of them started meanwhile is found when they are looked for again."""
    with contextlib.suppress(OSError):
        os.killpg(program, signal.SIGKILL)
    until = time.monotonic() + _PATIENCE
    while (left := descendants(os.getpid())) and time.monotonic() < until:
        for process in left:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.002)


def descendants(root: int) -> list[int]:
    """Return the processes below `root` that have not ended; none where the system does not list them."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                # pid (name) state parent ...; the name holds anything
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state not in (b"Z", b"X"):
                    children.setdefault(int(parent), []).append(int(name))
    found, rest = [], [root]
    while rest:
        below = children.get(rest.pop(), [])
        found += below
        rest += below
    return found


def _say(result: int, word: str) -> None:
    with contextlib.suppress(OSError):
        os.write(result, f"{word}\n".encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
