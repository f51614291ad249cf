"""What the system says of memory, and what is taken where it says nothing."""

from __future__ import annotations

import os
import pathlib

import pytest

from hlotool.process.memory import free_memory, taken_memory


@pytest.mark.parametrize(("text", "size"), [
    ("MemTotal:  9 kB\nMemFree:  3 kB\nMemAvailable:    2048 kB\nBuffers: 1 kB\n", 2 << 20),
    ("MemTotal:  9 kB\n", 1 << 62), ("MemAvailable:\n", 1 << 62), ("MemAvailable: many kB\n", 1 << 62)])
def test_free_memory(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pathlib.Path, "read_text", lambda self, encoding=None: text)
    assert free_memory() == size


@pytest.mark.parametrize(("text", "pages"), [("10 20 30 40 50 60 70\n", 60), ("10 20\n", 0), ("a b c d e f g\n", 0)])
def test_taken_memory(text: str, pages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pathlib.Path, "read_text", lambda self, encoding=None: text)
    assert taken_memory() == pages * os.sysconf("SC_PAGE_SIZE")


def test_without_files_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: pathlib.Path, encoding: str | None = None) -> str:
        raise FileNotFoundError(self)

    monkeypatch.setattr(pathlib.Path, "read_text", missing)
    assert (free_memory(), taken_memory()) == (1 << 62, 0)
