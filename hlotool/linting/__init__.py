"""Linting: syntax errors, verification findings and rules; configuration, suppressions, baselines, folders of dumps."""

import importlib
from typing import TYPE_CHECKING, Any

from hlotool.linting.linter import left, lint, lint_module
from hlotool.linting.settings import FAIL_ON, Settings

if TYPE_CHECKING:
    from hlotool.linting.baseline import baseline_text, read_baseline
    from hlotool.linting.by_pass import Introduced, introduced
    from hlotool.linting.cache import Cache, cache_file, lint_cached
    from hlotool.linting.codes import INTERNAL
    from hlotool.linting.config import changes_of, read_config
    from hlotool.linting.config_places import find_config
    from hlotool.linting.files import FileFindings, LintJob, SourceTexts, find_files, lint_each, lint_files
    from hlotool.linting.fixes import compatible, fix_file
    from hlotool.linting.plugins import load_plugins
    from hlotool.linting.repetition import aggregated
    from hlotool.linting.sound_fixes import Trials, faults_of_file
    from hlotool.linting.user_cache import cache_folder

#: what is imported when it is first used: name -> file of this room
_LATER = {
    "Cache": "cache", "INTERNAL": "codes", "FileFindings": "files", "Introduced": "by_pass", "LintJob": "files",
    "SourceTexts": "files", "cache_file": "cache", "cache_folder": "user_cache", "lint_cached": "cache",
    "Trials": "sound_fixes", "compatible": "fixes", "faults_of_file": "sound_fixes",
    "aggregated": "repetition", "baseline_text": "baseline",
    "changes_of": "config", "find_config": "config_places", "find_files": "files", "fix_file": "fixes",
    "introduced": "by_pass", "lint_each": "files", "lint_files": "files", "load_plugins": "plugins",
    "read_baseline": "baseline", "read_config": "config",
}
__all__ = [
    "FAIL_ON", "INTERNAL", "Cache", "FileFindings", "Introduced", "LintJob", "Settings", "SourceTexts", "Trials",
    "aggregated", "baseline_text", "cache_file", "cache_folder", "changes_of", "compatible", "faults_of_file",
    "find_config", "find_files", "fix_file", "introduced", "left", "lint", "lint_cached", "lint_each", "lint_files",
    "lint_module", "load_plugins", "read_baseline", "read_config",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'hlotool.linting' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"hlotool.linting.{_LATER[name]}"), name)
    return value
