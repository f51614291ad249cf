"""The programs that are installed, and how they answer an interrupt before a command begins and after it ends.

A command answers an interrupt itself. While its modules are imported, and while the process ends, Python would print a
traceback; here the process ends with the exit code that shells expect. So that this holds from the first moment, this
file imports nothing that Python has not imported when it starts.
"""

import _signal  # type: ignore[import-not-found]  # `signal` takes time to import
import os
import sys

# Spelt out, for typing is a module that takes time to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def hlotool() -> int:
    """Run `hlotool` with the arguments of the process; return the exit code."""
    _heed_interrupts()
    from hlotool.cli import main

    return main()


def hlo_lint() -> int:
    """Run `hlo-lint`, which is `hlotool lint`; return the exit code."""
    _heed_interrupts()
    from hlotool.cli import main_lint

    return main_lint()


def hlo_to_stablehlo() -> int:
    """Run `hlo-to-stablehlo`, which is `hlotool convert`; return the exit code."""
    _heed_interrupts()
    from hlotool.cli import main_convert

    return main_convert()


def hlo_conformance() -> int:
    """Run `hlo-conformance`, which is `hlotool conform`; return the exit code."""
    _heed_interrupts()
    from hlotool.cli import main_conform

    return main_conform()


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
