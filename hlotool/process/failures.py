"""The ends of a question to a child process, other than an answer."""

from __future__ import annotations


class Crashed(Exception):
    """The process ended without an answer; the message holds the last lines that it wrote."""


class TimedOut(Exception):
    """No answer in time; the process was killed."""


class OutOfMemory(Exception):
    """The work needs more memory than it may take; the process goes on, or was started again."""


class Refusal(Exception):
    """A failure of a task in the child: its kind (compile, run, unsupported) and a sentence."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(kind, message)

    def __str__(self) -> str:
        return self.message
