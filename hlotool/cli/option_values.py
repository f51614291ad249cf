"""Readers of the values of options. Each raises ArgumentTypeError for what it cannot read."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

#: kinds of arguments that are made without looking at the program
ARGUMENT_KINDS = ("random", "positive", "special")
#: processes at most that one command is told to start
_MOST_PROCESSES = 256
_Limit = TypeVar("_Limit", int, float)


def seconds(text: str) -> float:
    """A time, in seconds."""
    from hlotool.process import seconds_in

    return _read(seconds_in, text)


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Reads a whole number that has bounds."""
    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text} is no whole number") from None
        if value < least or (most is not None and value > most):
            bounds = f"at least {least}" if most is None else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"{text} is not {bounds}")
        return value

    return read


def processes(least: int = 1) -> Callable[[str], int]:
    """Reads how many processes share the work."""
    return whole_number(least, _MOST_PROCESSES)


def error_budget(text: str) -> float:
    """A number that an error may have at most, which is none below 0."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of at least 0")
    return value


def size(text: str) -> int:
    """A size of memory in bytes: 500MB, 4GiB."""
    from hlotool.process import bytes_in

    found = _read(bytes_in, text)
    if not found:
        raise argparse.ArgumentTypeError("no memory is too little")
    return found


def _read(reader: Callable[[str], _Limit], text: str) -> _Limit:
    try:
        return reader(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
