"""Linting: syntax errors and verification findings of a text."""

import sys
from types import ModuleType
from typing import Any

from hlotool.diagnostics import Diagnostic
from hlotool.lint.lint import lint

__all__ = ["lint"]


class _Callable(ModuleType):
    """`hlotool.lint(text)` is the function, also once the room of that name has been imported."""

    def __call__(self, *args: Any, **kwargs: Any) -> list[Diagnostic]:
        return lint(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
