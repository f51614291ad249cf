"""Linting: syntax errors, verification findings and rules; configuration, suppressions, baselines, folders of dumps."""

import sys
from types import ModuleType
from typing import Any

from hlotool.diagnostics import Diagnostic
from hlotool.lint.lint import lint, lint_module
from hlotool.lint.settings import FAIL_ON, Settings

__all__ = ["FAIL_ON", "Settings", "lint", "lint_module"]


class _Callable(ModuleType):
    """`hlotool.lint(text)` is the function, also once the room of that name has been imported."""

    def __call__(self, *args: Any, **kwargs: Any) -> list[Diagnostic]:
        return lint(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
