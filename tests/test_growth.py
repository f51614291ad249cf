"""Work grows with the size of a module, not with its square: calls are counted, so that no clock is asked.

tests/benchmarks/bench_growth.py measures times, of larger programs and of what happens inside of a call too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import hlotool
from hlotool.builder import to_python
from hlotool.linting import Settings
from hlotool.linting.fixes import fix

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

from growth_programs import PROGRAMS

_SIZE = 100
#: calls for twice as much against calls for as much; 2 is linear, 4 quadratic
_MOST = 2.3
#: fixes that are not sound together are halved until they are, which costs a logarithm
_MOST_TO_FIX = 2.8


def _calls(work: Callable[[], object]) -> int:
    """How many functions, of Python and of C, are called."""
    count = 0

    def counted(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    except hlotool.HloError:
        pass
    finally:
        sys.setprofile(None)
    return count


def _everything(text: str) -> dict[str, Callable[[], object]]:
    commands: dict[str, Callable[[], object]] = {
        "parse": lambda: hlotool.parse(text),
        "lint": lambda: hlotool.lint(text, config=Settings(select=("ALL",))),
        "fix": lambda: fix(text, settings=Settings(select=("ALL",)), unsafe=True),
    }
    try:
        module, other = hlotool.parse(text), hlotool.parse(text)
    except hlotool.HloError:
        return commands
    commands["print"] = lambda: str(module)
    if not hlotool.verify(module):
        commands["diff"] = lambda: hlotool.diff(module, other)
        commands["py"] = lambda: to_python(module)
    return commands


@pytest.mark.parametrize("name", PROGRAMS)
def test_calls_grow_with_the_program(name: str) -> None:
    program = PROGRAMS[name]
    for work in _everything(program(8)).values():  # imports and memories of what is the same in all
        _calls(work)
    single = {what: _calls(work) for what, work in _everything(program(_SIZE)).items()}
    double = {what: _calls(work) for what, work in _everything(program(2 * _SIZE)).items()}
    most = {what: (_MOST_TO_FIX if what == "fix" else _MOST) * count + 2000 for what, count in single.items()}
    steep = {what: (single[what], count) for what, count in double.items() if count > most[what]}
    assert not steep


def test_squares_are_seen() -> None:
    def square(n: int) -> int:
        return _calls(lambda: [abs(i * k) for i in range(n) for k in range(n)])

    assert square(40) > 3.5 * square(20)
