"""The man page says what the commands take today."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
import write_man_page


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="argparse breaks long lines of usage elsewhere from 3.13 on")
def test_the_man_page_is_todays() -> None:
    assert write_man_page.PAGE.read_text("utf-8") == write_man_page.man_page(), "python tests/write_man_page.py"


@pytest.mark.skipif(shutil.which("man") is None, reason="no man on this machine")
def test_man_shows_the_page_without_a_complaint() -> None:
    done = subprocess.run(["man", "--warnings", "-l", str(write_man_page.PAGE)], capture_output=True, text=True,
                          env={"PATH": "/usr/bin:/bin", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}, check=True, timeout=60)
    assert "HLOTOOL(1)" in done.stdout and "hlotool compare" in done.stdout and not done.stderr
