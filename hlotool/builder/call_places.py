"""Where in the user's Python a builder was called."""

from __future__ import annotations

import itertools
import os
import sys
from dataclasses import dataclass
from types import FrameType

#: the folder of the builder
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: files between a user's `with` and the builder
_BETWEEN = (HERE, os.path.dirname(os.__file__) + os.sep + "contextlib.py")


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A range of a Python file, and the builder's function called there.

    Line and column count from 1, and 0 stands for nothing known.
    """

    filename: str = "<unknown>"
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    function: str = ""


def caller() -> FrameType | None:
    """The innermost frame outside the builder."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        frame = frame.f_back
    return frame


def place_of(frame: FrameType | None) -> CallPlace:
    """The expression that a frame is at."""
    if frame is None:
        return CallPlace()
    positions = itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    line, end_line, column, end_column = next(positions, (None,) * 4)
    if line is None or column is None or end_column is None:
        return CallPlace(frame.f_code.co_filename, frame.f_lineno, 1, frame.f_lineno, 2)
    return CallPlace(frame.f_code.co_filename, line, column + 1, end_line or line, end_column + 1)
