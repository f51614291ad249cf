"""What may become of a question to a child process, beside an answer."""

from __future__ import annotations


class Crashed(Exception):
    """The process ended without an answer; the message holds the last lines that it wrote."""


class TimedOut(Exception):
    """No answer in time; the process was killed."""


class OutOfMemory(Exception):
    """The work needs more memory than it may take; the process goes on, or was started again."""


class Refusal(Exception):
    """What a task in the child could not do: the kind of failure (compile, run, unsupported) and a sentence."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(kind, message)

    def __str__(self) -> str:
        return self.message
