"""Settings of a run: selected and ignored rules, severities, the profile, files of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from fnmatch import fnmatch
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from hlotool.diagnostics import Diagnostic, Severity
from hlotool.ir import deferred, lazy_dataclass

if TYPE_CHECKING:
    from hlotool.passes.lints import Rule

#: what `severity` may say, and what it makes of a finding; None: it is left out
SEVERITIES: Mapping[str, Severity | None] = {
    "error": Severity.ERROR, "warning": Severity.WARNING, "info": Severity.INFO, "off": None}
#: what `fail-on` may say, and the severities that make the exit code 1
FAIL_ON: Mapping[str, tuple[Severity, ...]] = {
    "error": (Severity.ERROR,), "warning": (Severity.ERROR, Severity.WARNING), "info": tuple(Severity), "never": ()}
#: codes that say that the input cannot be read, or what was asked for cannot be done: nothing turns them off
_UNUSABLE = deferred(lambda: r"[PRXEC]\d+")
_CODE_START = deferred(lambda: r"[A-Z]+\d*")


@lazy_dataclass(frozen=True, slots=True)
class Override:
    """Settings of some files: those whose path or name fits a pattern, or whose dump is of one of the stages."""

    files: tuple[str, ...]
    changes: Mapping[str, Any]
    stages: tuple[str, ...] = ()


@lazy_dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be configured; a name here is the key of the configuration file, hyphens as underscores."""

    #: the rules of which stage of compilation hold, see hlotool.passes.verify.verifier
    profile: str = "unoptimized"
    #: codes, their beginnings, names, categories, ALL; empty: the rules that are on by default
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    #: ignored whatever selects it: what overrides of single files ignore
    never: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    #: options of rules, by rule name
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    overrides: tuple[Override, ...] = ()
    #: patterns of files in folders that are passed over
    exclude: tuple[str, ...] = ()
    fail_on: str = "error"
    baseline: str = ""
    #: frames of one rule in one file, errors apart; 0: all
    max_per_rule: int = 10
    unused_suppressions: bool = True
    require_reason: bool = False
    #: entry points of installed packages whose rules are loaded, "*" for all; none unless a configuration names them
    plugins: tuple[str, ...] = ()
    #: profiles of the configuration file: what each changes
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: the folder that patterns of files are relative to, and the configuration file
    root: str = ""
    file: str = ""

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """These settings with some of them replaced; selections that extend and mappings are added to.

        A profile that the configuration declares stands for what it changes.
        """
        own = self.profiles.get(changes.get("profile", ""))
        merged = dict(changes) if own is None else {**changes, "profile": "unoptimized", **own}
        for name in ("extend_select", "ignore", "never"):
            if name in merged:
                merged[name] = (*getattr(self, name), *merged[name])
        for name in ("severity", "rules"):
            if name in merged:
                merged[name] = {**getattr(self, name), **merged[name]}
        return replace(self, **merged)

    def of_file(self, path: str, stage: str = "") -> Settings:
        """The settings of one file, and of the stage that its dump is of."""
        found = self
        for override in self.overrides:
            if (not override.files or self.fits(path, override.files)) \
                    and (not override.stages or stage in override.stages):
                found = found.changed(_of_override(override.changes))
        return found

    def fits(self, path: str, patterns: Iterable[str]) -> bool:
        """Return True if a path, relative to the root or whole, or its last part fits one of the patterns."""
        pure = PurePath(path)
        names = {pure.name, pure.as_posix()}
        if self.root and pure.is_relative_to(self.root):
            names.add(pure.relative_to(self.root).as_posix())
        return any(fnmatch(name, pattern) for name in names for pattern in patterns)

    def selects(self, rule: Rule) -> bool:
        """Return True if a lint rule is to be run."""
        return self._has(rule.code, rule.name, rule.category, rule.default_on and not self.select)

    def names(self, rule: Rule) -> bool:
        """Return True if a lint rule was asked for by its code, its name, or the beginning of its code."""
        return any(_fit(s, rule.code, rule.name, rule.category) >= 0 for s in (*self.select, *self.extend_select))

    def apply(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """The findings that are not ignored, each with its severity."""
        if not (self.ignore or self.never or self.severity or self.select):
            return list(diagnostics)
        return [d for found in diagnostics if (d := self._applied(found)) is not None]

    def _applied(self, found: Diagnostic) -> Diagnostic | None:
        if found.severity is Severity.ERROR and _UNUSABLE.fullmatch(found.code):
            return found
        category = _category(found.code)
        is_default = bool(category) or not self.select or found.severity is Severity.ERROR
        if not self._has(found.code, found.name, category, is_default):
            return None
        fit, wanted = max(((_fit(s, found.code, found.name, category), s) for s in self.severity), default=(-1, ""))
        if fit < 0:
            return found
        severity = SEVERITIES[self.severity[wanted]]
        return None if severity is None else replace(found, severity=severity)

    def _has(self, code: str, name: str, category: str, is_default: bool) -> bool:
        """Return True if the selection of a code is more exact than its exclusion."""
        if not (self.never or self.ignore or self.select or self.extend_select):
            return is_default
        if any(_fit(s, code, name, category) >= 0 for s in self.never):
            return False
        selected = max((_fit(s, code, name, category) for s in (*self.select, *self.extend_select)), default=-1)
        ignored = max((_fit(s, code, name, category) for s in self.ignore), default=-1)
        return max(selected, 0 if is_default else -1) > ignored


def _of_override(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the changes of an override: if it selects nothing, it ignores rules that are selected elsewhere, too."""
    if "ignore" not in changes or "select" in changes or "extend_select" in changes:
        return changes
    return {**{k: v for k, v in changes.items() if k != "ignore"}, "never": changes["ignore"]}


def selector_fits(selector: str, found: Diagnostic) -> bool:
    """Return True if a code, the beginning of one, a name, a category or ALL names the finding's rule."""
    return _fit(selector, found.code, found.name, _category(found.code)) >= 0


def _category(code: str) -> str:
    """The category of a lint's code; '' for others, which have none."""
    from hlotool.passes.lints import RULES

    return RULES[code].category if code in RULES else ""


def _fit(selector: str, code: str, name: str, category: str) -> int:
    """How exactly a selector names a code: -1 not at all, 0 as one of all, the more the longer."""
    if selector in (code, name):
        return 1000
    if selector == "ALL":
        return 0
    if selector == category:
        return 1
    if _CODE_START.fullmatch(selector) and code.startswith(selector):
        return 1 + len(selector)
    return 1 if code.startswith(f"{selector}-c") else -1
