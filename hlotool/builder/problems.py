"""How a call is refused: an exception on the way to the diagnostic that names the user's line."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator


class Refused(Exception):
    """A fault of a call: the code, a sentence with the values, and advice."""

    def __init__(self, code: str, message: str, help: str = "") -> None:
        self.code = code
        self.message = message
        self.help = help
        super().__init__(f"{message} [{code}]")


def demand(holds: bool, code: str, message: str, help: str = "") -> None:
    """Raise Refused unless it holds."""
    if not holds:
        raise Refused(code, message, help)


@contextlib.contextmanager
def marking_users() -> Iterator[None]:
    """Mark exceptions raised inside as those of the user's own function, which are passed on as they are."""
    try:
        yield
    except Exception as error:
        error.add_note(_USERS)
        raise


def is_users(error: Exception) -> bool:
    """Return True if the user's own function raised it."""
    return _USERS in getattr(error, "__notes__", ())


_USERS = "raised by a function that a builder traced"


class SemanticsWarning(UserWarning):
    """A call that means something else in the document chosen than it does today; the message ends in its code."""


def warn(message: str, filename: str, line: int) -> None:
    """Warn at a line of the user's."""
    warnings.warn_explicit(message, SemanticsWarning, filename, line)
