"""Outcome of one case on one executor."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field


class Status(enum.StrEnum):
    """Kinds of outcomes of a case."""

    PASS = "pass"
    MISMATCH = "mismatch"
    #: it differs by no more than the last bits of its operands, or a flushed subnormal, can make of it
    UNDECIDED = "undecided"
    COMPILE_ERROR = "compile error"
    RUN_ERROR = "run-time error"
    CRASH = "crash"
    TIME_OUT = "time-out"
    UNSUPPORTED = "unsupported"
    #: it failed, and in a new process it passed
    FLAKY = "flaky"


@dataclass(frozen=True)
class Worst:
    """The element that is farthest away."""

    result: int
    device: int
    index: tuple[int, ...]
    value: str
    expected: str
    #: the value at higher precision; empty where nobody had to ask
    exact: str
    ulps: float
    #: elements that are wrong or undecided, and in all
    outside: int
    size: int


@dataclass(frozen=True)
class CaseOutcome:
    """A status and the reason for it."""

    status: Status
    detail: str = ""
    #: the kind of its worst element (hlotool.verdict.Kind); empty where nothing was compared
    agreement: str = ""
    worst: Worst | None = None
    seconds: float = field(default=0.0, compare=False)
