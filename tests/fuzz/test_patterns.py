"""Every compiled pattern of the product against strings that make patterns backtrack: none needs more than linear time.

A pattern of which two parts match the same text takes 2^n or n*n steps for n characters. The limit is processor time: a
linear pattern takes a tenth of a millisecond here, a quadratic one a thousand times that.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fuzzing import Hang, processor_time
from pumping import pumped

import hlotool

_LENGTH, _SECONDS = 12_000, 0.1
#: modules that start something when they are imported
_SKIPPED = ("hlotool.__main__", "hlotool.process.worker", "hlotool.execution.worker", "hlotool.conformance.plugin")


def _patterns(value: Any, depth: int = 3) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth and isinstance(value, dict):
        for inner in value.values():
            yield from _patterns(inner, depth - 1)
    elif depth and isinstance(value, (list, tuple)):
        for inner in value:
            yield from _patterns(inner, depth - 1)


def _modules() -> list[str]:
    return sorted(m.name for m in pkgutil.walk_packages(hlotool.__path__, "hlotool.")
                  if not m.name.startswith(_SKIPPED) and ".samples" not in m.name)


def too_slow(pattern: re.Pattern[str]) -> str:
    """The beginning of a string that takes the pattern too long; '' for none."""
    for text in pumped(pattern, _LENGTH):
        try:
            with processor_time(_SECONDS):
                pattern.match(text)
                pattern.fullmatch(text)
        except Hang:
            return f"{text[:60]!r}..., {len(text)} characters"
    return ""


@pytest.mark.parametrize("name", _modules())
def test_patterns_are_linear(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(str(error))
    slow = {f"{variable}: {pattern.pattern[:200]}": found for variable, value in vars(module).items()
            for pattern in _patterns(value) if (found := too_slow(pattern))}
    assert not slow, slow


@pytest.mark.parametrize("pattern", [r"(//[^\n]*\s*)*x", r"(a|a)*b", r"\s*\s*x", r"(\w+,?)+;", r"[ab]*[bc]*b*!"])
def test_what_is_not_linear_is_found(pattern: str) -> None:
    assert too_slow(re.compile(pattern))


@pytest.mark.parametrize("pattern", [r"(?:\s+|//[^\n]*)*+", r"\w++\s*+=", r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'])
def test_what_is_linear_is_let_through(pattern: str) -> None:
    assert too_slow(re.compile(pattern)) == ""
