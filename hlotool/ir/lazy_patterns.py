"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, AnyStr


class _DeferredPattern:
    """A pattern that is made at the first use of one of its methods, each of which is found once."""

    def __init__(self, expression: Callable[[], Any], flags: int) -> None:
        self._expression = expression
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._expression(), self._flags), name)
        setattr(self, name, found)
        return found


def deferred(expression: Callable[[], AnyStr | re.Pattern[AnyStr]], flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled when it is first used, for its methods; functions of `re` do not take it.

    Most patterns are for what is wrong or unusual in a text. Compiling all of them as their files were imported was
    a fourth of the time of a short command.
    """
    found: Any = _DeferredPattern(expression, flags)
    compiled: re.Pattern[AnyStr] = found
    return compiled
