"""The programs that are installed, and how they answer an interrupt before a command begins and after it ends.

A command answers an interrupt itself. While its modules are imported, and while the process ends, Python would print a
traceback; here the process ends with the exit code that shells expect. So that this holds from the first moment, this
file imports nothing that Python has not imported when it starts.
"""

import _signal  # type: ignore[import-not-found]  # `signal` takes time to import
import gc
import os
import sys

# Spelt out, for typing is a module that takes time to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

#: libraries whose threads may still run as C++ destroys what they belong to, which aborts the process
_WITH_THREADS = frozenset({"pyarrow", "duckdb"})


def hlotool() -> int:
    """Run `hlotool` with the arguments of the process; return the exit code."""
    _begin()
    from hlotool.cli import main

    return _ended(main())


def hlo_lint() -> int:
    """Run `hlo-lint`, which is `hlotool lint`; return the exit code."""
    _begin()
    from hlotool.cli import main_lint

    return _ended(main_lint())


def hlo_to_stablehlo() -> int:
    """Run `hlo-to-stablehlo`, which is `hlotool convert`; return the exit code."""
    _begin()
    from hlotool.cli import main_convert

    return _ended(main_convert())


def hlo_conformance() -> int:
    """Run `hlo-conformance`, which is `hlotool conform`; return the exit code."""
    _begin()
    from hlotool.cli import main_conform

    return _ended(main_conform())


def _begin() -> None:
    # What is imported stays: to look through it for garbage again and again takes 20 ms of a short command's 270.
    # within_limits enables the collection again for a command's work.
    gc.disable()
    _heed_interrupts()


def _ended(code: int) -> int:
    """Return the exit code; what is left is not looked through for garbage once more, which takes another 20 ms."""
    # CPython notes an interrupt that leaves the code of a string, as dataclasses run it, and after `python -m` ends the
    # process by the signal even where the interrupt was answered; other code of a string takes the note back
    # (Python/pythonrun.c: run_eval_code_obj).
    exec("")
    if hasattr(gc, "freeze"):  # PyPy has none
        gc.freeze()
    if not _WITH_THREADS.isdisjoint(sys.modules):
        _end_without_destructors(code)
    return code


def _end_without_destructors(code: int) -> None:
    """End the process as Python ends, but for what C++ destroys then."""
    import atexit
    import contextlib

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # what a command printed was flushed when it ended
            stream.flush()
    os._exit(code)


def _heed_interrupts() -> None:
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # else whoever started us wants none heeded
        _signal.signal(_signal.SIGINT, end_at_interrupt)


def end_at_interrupt(number: int, frame: "FrameType | None") -> None:
    """End the process, whatever it is at. What it has printed was flushed when its command ended."""
    program = os.path.basename(sys.argv[0]) if sys.argv else ""
    words = ["hlotool" if program in ("", "__main__.py") else program, *(w for w in sys.argv[1:2] if w.isalpha())]
    try:  # noqa: SIM105 - contextlib may be just being imported
        os.write(2, f"{' '.join(words)}: interrupted\n".encode(errors="replace"))
    except OSError:
        pass
    os._exit(128 + number)  # as shells count
