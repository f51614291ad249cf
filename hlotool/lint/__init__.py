"""Linting: syntax errors, verification findings and rules; configuration, suppressions, baselines, folders of dumps."""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hlotool.diagnostics import Diagnostic
from hlotool.lint.lint import lint, lint_module
from hlotool.lint.settings import FAIL_ON, Settings

if TYPE_CHECKING:
    from hlotool.lint.baseline import baseline_text, read_baseline
    from hlotool.lint.by_pass import Introduced, introduced
    from hlotool.lint.config import changes_of, read_config
    from hlotool.lint.dumps import read_folder
    from hlotool.lint.files import FileFindings, Job, Texts, find_files, lint_files
    from hlotool.lint.fixes import fix_file
    from hlotool.lint.places import find_config
    from hlotool.lint.plugins import load_plugins

#: what is imported when it is first used: name -> file of this room
_LATER = {
    "FileFindings": "files", "Introduced": "by_pass", "Job": "files", "Texts": "files", "baseline_text": "baseline",
    "changes_of": "config", "find_config": "places", "find_files": "files", "fix_file": "fixes",
    "introduced": "by_pass", "lint_files": "files", "load_plugins": "plugins", "read_baseline": "baseline",
    "read_config": "config", "read_folder": "dumps",
}
__all__ = [
    "FAIL_ON", "FileFindings", "Introduced", "Job", "Settings", "Texts", "baseline_text", "changes_of", "find_config",
    "find_files", "fix_file", "introduced", "lint", "lint_files", "lint_module", "load_plugins", "read_baseline",
    "read_config", "read_folder",
]


class _Callable(ModuleType):
    """`hlotool.lint(text)` is the function, also once the room of that name has been imported."""

    def __call__(self, *args: Any, **kwargs: Any) -> list[Diagnostic]:
        return lint(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module 'hlotool.lint' has no attribute {name!r}")
        value = self.__dict__[name] = getattr(importlib.import_module(f"hlotool.lint.{_LATER[name]}"), name)
        return value


sys.modules[__name__].__class__ = _Callable
