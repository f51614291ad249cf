"""Closed standard streams and readers that have seen enough: silence, never a traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest

TOOL = f"{sys.executable} -m hlotool"


@pytest.mark.parametrize("line", [
    f"{TOOL} -h | head -1", f"{TOOL} lint --help >&-", f"{TOOL} lint - <&-", f"{TOOL} --version >&-",
    f"{TOOL} fmt - <&- >&-",
    f"{TOOL} ops 2>&- | head -1"])
def test_no_traceback(line: str) -> None:
    ran = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    shown = ran.stdout + ran.stderr
    assert "Traceback" not in shown and "Error" not in shown and "a bug in hlotool" not in shown


def test_what_threads_of_libraries_do_at_the_end_is_not_waited_for() -> None:
    """Destructors of C++ abort where a thread still runs; what Python does at the end is done."""
    program = """
import atexit, ctypes, os, sys
from hlotool.programs import hlotool
aborted = ctypes.CFUNCTYPE(None)(os.abort)
ctypes.CDLL(None).__cxa_atexit(ctypes.cast(aborted, ctypes.c_void_p), None, None)
atexit.register(print, "the end")
sys.modules["duckdb"] = sys
sys.argv = ["hlotool", "--version"]
sys.exit(hlotool())
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0 and ended.stdout.endswith("\nthe end\n"), ended
