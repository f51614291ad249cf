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
