"""Linting: syntax errors, verification findings and rules; configuration, suppressions, baselines, folders of dumps."""

from typing import TYPE_CHECKING

from hlotool.ir import lazily
from hlotool.linting.linter import left, lint, lint_module
from hlotool.linting.settings import FAIL_ON, Settings

if TYPE_CHECKING:
    from hlotool.linting.baseline import baseline_text, read_baseline
    from hlotool.linting.by_pass import Introduced, introduced
    from hlotool.linting.cache import Cache, cache_file, lint_cached
    from hlotool.linting.codes import INTERNAL
    from hlotool.linting.config import changes_of, read_config
    from hlotool.linting.config_places import find_config
    from hlotool.linting.files import FileFindings, LintJob, SourceTexts, find_files, lint_each
    from hlotool.linting.fixes import compatible, fix_file
    from hlotool.linting.plugins import load_plugins
    from hlotool.linting.repetition import aggregated
    from hlotool.linting.sound_fixes import Trials, faults_of_file
    from hlotool.linting.user_cache import cache_folder

__all__ = [
    "FAIL_ON", "INTERNAL", "Cache", "FileFindings", "Introduced", "LintJob", "Settings", "SourceTexts", "Trials",
    "aggregated", "baseline_text", "cache_file", "cache_folder", "changes_of", "compatible", "faults_of_file",
    "find_config", "find_files", "fix_file", "introduced", "left", "lint", "lint_cached", "lint_each",
    "lint_module", "load_plugins", "read_baseline", "read_config",
]

__getattr__ = lazily(__name__, {
    "baseline": ("baseline_text", "read_baseline"),
    "by_pass": ("Introduced", "introduced"),
    "cache": ("Cache", "cache_file", "lint_cached"),
    "codes": ("INTERNAL",),
    "config": ("changes_of", "read_config"),
    "config_places": ("find_config",),
    "files": ("FileFindings", "LintJob", "SourceTexts", "find_files", "lint_each"),
    "fixes": ("compatible", "fix_file"),
    "plugins": ("load_plugins",),
    "repetition": ("aggregated",),
    "sound_fixes": ("Trials", "faults_of_file"),
    "user_cache": ("cache_folder",),
})
