"""The child process of `child.py`: answers `(task, arguments, memory)` questions on its pipes until they close.

A task is "module:function" of hlotool. An answer is a word and what belongs to it: ("ok", value), ("diagnostics",
list), ("refused", kind, sentence), ("memory", sentence), ("broken", sentence), and ("crashed", exit code) in place of
one that crashed. The process starts as a script under
`python -I`, so that nothing in the current folder, the user's folder or PYTHON* variables is imported; where hlotool
and its libraries lie, the parent says.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import pickle
import select
import signal
import sys
import threading
from typing import Any

#: prctl's number for "send me a signal when my parent ends" (linux/prctl.h)
_PR_SET_PDEATHSIG = 1


def serve(configuration: dict[str, Any]) -> None:
    """Answer questions until the other end closes."""
    if configuration["has_lasting_parent"]:
        die_with_parent(configuration["parent"])
    _find_libraries(configuration["paths"], configuration["own"])
    _forget_limit()
    answers = os.dup(1)
    os.dup2(2, 1)  # what a runtime prints must not stand between the frames
    if configuration["imports"]:
        from hlotool.process import forkserver

        if forkserver.IS_THERE:
            for name in configuration["imports"]:
                with contextlib.suppress(Exception):  # a question that needs it says so
                    importlib.import_module(name)
            server = os.getpid()

            def in_fork(stage: Any) -> None:
                die_with_parent(server)
                _confine(configuration)
                _answer_questions(answers, stage)

            forkserver.serve(in_fork, answers)
    _confine(configuration)
    _end_with_questions()
    _answer_questions(answers, bytearray(1))


def _confine(configuration: dict[str, Any]) -> None:
    """Enter the sandbox, where this child has one; nothing of a module was read until now."""
    if configuration["writable"] is not None:
        from hlotool.process.sandbox import confine

        confine(configuration["writable"])


def _answer_questions(answers: int, stage: Any) -> None:
    """Answer questions until there are none; `stage[0]` says what this process is at: see frames.py."""
    from hlotool.process.frames import ANSWERING, LENGTH_BYTES, WAITING, WORKING, framed, length_in

    with open(0, "rb", closefd=False) as questions, open(answers, "wb", closefd=False) as stream:
        while head := questions.read(LENGTH_BYTES):
            task, arguments, memory = pickle.loads(questions.read(length_in(head)))
            stage[0] = WORKING
            data = _pickled(_answer(task, arguments, memory))
            stage[0] = ANSWERING
            stream.write(framed(data))
            stream.flush()
            stage[0] = WAITING


def _end_with_questions() -> None:
    """Leave no orphan: whatever ends the parent ends this process too.

    The system's signal follows the thread that started the child, so it is asked for only where that is the main one;
    a thread that waits for the other end of the pipe to close serves everywhere, but when native code keeps Python
    from running threads.
    """
    if hasattr(select, "poll"):
        threading.Thread(target=_wait_for_hang_up, daemon=True).start()


def _find_libraries(paths: list[str], own: str) -> None:
    """Import from the parent's folders too, and hlotool from nowhere but where the parent has it from."""
    sys.path.extend(p for p in paths if p not in sys.path)
    found = importlib.util.find_spec("hlotool")
    if found is None or found.origin is None or os.path.realpath(found.origin) != os.path.realpath(
            os.path.join(own, "hlotool", "__init__.py")):
        sys.path.insert(0, own)


def _forget_limit() -> None:
    """Lift what the parent allowed itself: a runtime's start is not counted, and each question brings its own limit."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def die_with_parent(parent: int) -> None:
    """Let the system end this process when the thread that started it ends."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before that
        os._exit(1)


def _wait_for_hang_up() -> None:
    poll = select.poll()
    poll.register(0, 0)  # hang-ups are reported unasked; input is the main thread's
    while not any(event & select.POLLHUP for _, event in poll.poll()):
        pass
    os._exit(1)


def _answer(task: str, arguments: tuple[Any, ...], memory: int | None) -> tuple[Any, ...]:
    from hlotool.diagnostics import HloError
    from hlotool.process.failures import OutOfMemory, Refusal
    from hlotool.process.memory import limit_memory

    limit_memory(memory)
    module, _, name = task.partition(":")
    try:
        return "ok", getattr(importlib.import_module(module), name)(*arguments)
    except HloError as error:
        return "diagnostics", error.diagnostics
    except Refusal as error:
        return "refused", error.kind, error.message
    except (MemoryError, OutOfMemory) as error:
        return "memory", str(error)
    except ImportError as error:  # what is half imported stays so
        return "broken", f"{type(error).__name__}: {error}"
    except RecursionError:
        return "refused", "unsupported", "the module is nested too deeply"
    except Exception as error:  # every failure of a runtime is an answer; the parent names the module
        return "refused", "run", f"{type(error).__name__}: {error}"


def _pickled(answer: tuple[Any, ...]) -> bytes:
    try:
        return pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return pickle.dumps(("memory", "the answer does not fit into memory"))
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        return pickle.dumps(("refused", "run", f"the answer cannot be handed over: {error}"))


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
