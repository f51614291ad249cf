"""Configuration files: `[tool.hlotool]` of pyproject.toml, or hlotool.toml, found upward from what is linted.

Whatever is wrong in one is a diagnostic at its line.
"""

from __future__ import annotations

import functools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from hlotool.diagnostics import CODES, Diagnostic, HloError, Severity, at, did_you_mean, find_code
from hlotool.ir import Source
from hlotool.linting.codes import BAD_FILE, BAD_SETTING, UNKNOWN_RULE, UNKNOWN_SETTING
from hlotool.linting.config_places import MOST_BYTES, KeyPath, KeyPlaces
from hlotool.linting.plugins import load_plugins
from hlotool.linting.settings import FAIL_ON, SEVERITIES, Override, Settings
from hlotool.passes.lints import CATEGORIES, RULES
from hlotool.passes.verify import PROFILES
from hlotool.process import read_plain_text

#: problems of one code that are told
_MOST_OF_A_CODE = 10
_Check: TypeAlias = Callable[["_SettingsReader", KeyPath, Any], Any]


def read_config(file: Path, *, is_chosen: bool = True) -> Settings:
    """The settings of a configuration file. Raises HloError with everything that is wrong in it.

    One that nobody chose, found upward from what is linted, may not name plugins unless the current folder is in its
    tree: it came with the files, and plugins are code. Nor may it name a baseline outside of its tree.
    """
    import tomllib  # not at the top: most runs read no configuration

    text = read_plain_text(file, BAD_FILE, "the configuration", MOST_BYTES)
    source = Source(text, str(file))
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HloError([_syntax(source, str(error))]) from error
    except RecursionError as error:
        raise HloError([_syntax(source, "arrays or tables are nested too deeply")]) from error
    except ValueError as error:  # a number of thousands of digits, which Python does not read
        raise HloError([_syntax(source, str(error).partition(";")[0])]) from error
    start: KeyPath = ("tool", "hlotool") if file.name == "pyproject.toml" else ()
    for key in ("tool", "hlotool") if start else ():
        tables = tables.get(key, {}) if isinstance(tables, Mapping) else {}
    reader = _SettingsReader(source, start)
    root = Path(os.path.realpath(file)).parent  # Path.resolve raises an error of its own for links in a circle
    reader.may_load = is_chosen or Path.cwd().is_relative_to(root)
    changes = reader.table((), tables, KEYS)
    if not is_chosen and not Path(os.path.realpath(root / changes.get("baseline", ""))).is_relative_to(root):
        reader.problem(BAD_SETTING, "the baseline lies outside of the folder of the configuration", ("baseline",),
                       help="name the configuration with --config to let it")
    reader.raise_problems()
    settings = _made(changes)
    return replace(settings, root=str(root), file=str(file),
                   baseline=str(root / settings.baseline) if settings.baseline else "")


def settings_of(config: Mapping[str, Any]) -> Settings:
    """The settings of a mapping with the names of a configuration file. Raises HloError."""
    return _made(changes_of(config, "<config>"))


def changes_of(values: Mapping[str, Any], filename: str, profiles: Iterable[str] = ()) -> dict[str, Any]:
    """Checked changes of settings that stand in no file, such as a command line's. Raises HloError."""
    reader = _SettingsReader(Source("", filename), ())
    reader.profiles = (*PROFILES, *profiles)
    changes = reader.table((), values, KEYS)
    reader.raise_problems()
    return changes


def _made(changes: Mapping[str, Any]) -> Settings:
    return replace(Settings(), profiles=changes.get("profiles", {})).changed(changes)


def _syntax(source: Source, message: str) -> Diagnostic:
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    line, column = (int(found[1]), int(found[2])) if found and found[1] else (source.text.count("\n") + 1, 1)
    return Diagnostic(BAD_FILE, f"no TOML: {message[:found.start()] if found else message}", line=line, column=column,
                      end_line=line, end_column=column + 1, filename=source.filename)


class _SettingsReader:
    """Checks the values of one file; problems are collected."""

    def __init__(self, source: Source, start: KeyPath) -> None:
        self.source = source
        self.start = start
        self._places = KeyPlaces(source.text)
        self._problems: list[Diagnostic] = []
        self._counts: Counter[str] = Counter()
        self.profiles: tuple[str, ...] = PROFILES
        #: whether plugins may be loaded
        self.may_load = True

    def problem(self, code: str, message: str, path: KeyPath, value: Any = None,
                help: str | Callable[[], str] = "") -> None:
        """Report at a key, or at a string of its value; of each code the first ones are told, the others counted."""
        self._counts[code] += 1
        if self._counts[code] > _MOST_OF_A_CODE:
            return
        help = help if isinstance(help, str) else help()
        if not self.source.text:
            self._problems.append(Diagnostic(code, message, filename=self.source.filename, help=help))
            return
        start, end = self._places.place_of((*self.start, *path), value)
        self._problems.append(at(self.source, start, end, code, message, severity=Severity.ERROR, help=help))

    def raise_problems(self) -> None:
        """Raises HloError where there are problems."""
        for code, count in self._counts.items():
            if (more := count - _MOST_OF_A_CODE) > 0:
                said = f"{more} more problem{'' if more == 1 else 's'} of this kind"
                self._problems.append(Diagnostic(code, said, filename=self.source.filename))
        if self._problems:
            raise HloError(self._problems)

    def table(self, path: KeyPath, values: Any, keys: Mapping[str, _Check]) -> dict[str, Any]:
        """The checked values of a table, names with underscores."""
        if not isinstance(values, Mapping):
            self.problem(BAD_SETTING, f"{_name(path)} is {_shown(values)}; it is a table", path)
            return {}
        if not path:
            self._prepare(values)
        found: dict[str, Any] = {}
        for key, value in values.items():
            check = keys.get(key.replace("_", "-"))
            if check is None:
                self.problem(UNKNOWN_SETTING, f"there is no setting {key}", (*path, key),
                             help=functools.partial(_advice, key, keys, f"there are {', '.join(keys)}"))
                continue
            found[key.replace("-", "_")] = check(self, (*path, key), value)
        if "per_file_ignores" in found:
            found["overrides"] = (*found.pop("per_file_ignores"), *found.get("overrides", ()))
        return found

    def _prepare(self, values: Mapping[str, Any]) -> None:
        """Know the profiles that the values declare, and the rules of packages, before any is named."""
        if isinstance(own := values.get("profiles"), Mapping):
            self.profiles = (*PROFILES, *own)
        if (wanted := values.get("plugins")) and _are_plugins(wanted):
            if self.may_load:
                load_plugins(("*",) if wanted is True else tuple(wanted))
            else:
                self.problem(BAD_SETTING, "a configuration of another folder than the current one loads no plugins",
                             ("plugins",), help="name the file with --config to let it")

    @functools.cached_property
    def selectors(self) -> set[str]:
        """Codes, names and categories, those of plugins that are loaded included."""
        return {"ALL", *CODES, *(c.name for c in CODES.values()), *CATEGORIES.values(),
                *(r.category for r in RULES.values())}

    def is_selector(self, selector: str) -> bool:
        """Return True if a selector names rules: a code, the beginning of one, a name, a category or ALL."""
        if selector in self.selectors or find_code(selector) or find_code(f"{selector}-c1"):
            return True
        return re.fullmatch(r"[A-Z]+\d*", selector) is not None and any(code.startswith(selector) for code in CODES)

    def wrong(self, path: KeyPath, value: Any, wanted: str) -> None:
        """Report a value that is not what its key takes."""
        self.problem(BAD_SETTING, f"{_name(path)} is {_shown(value)}; it is {wanted}", path,
                     value if isinstance(value, str) else None)


def _name(path: KeyPath) -> str:
    return ".".join(str(p) for p in path) or "the configuration"


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def _advice(word: str, known: Iterable[str], otherwise: str = "") -> str:
    return did_you_mean(word, known) or otherwise


def _switch(reader: _SettingsReader, path: KeyPath, value: Any) -> bool:
    if not isinstance(value, bool):
        reader.wrong(path, value, "true or false")
    return bool(value)


def _plugins(reader: _SettingsReader, path: KeyPath, value: Any) -> tuple[str, ...]:
    if not _are_plugins(value):
        reader.wrong(path, value, "a list of names of entry points, or true for every one that is installed")
        return ()
    return ("*",) * value if isinstance(value, bool) else tuple(value)


def _are_plugins(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value))


def _number(reader: _SettingsReader, path: KeyPath, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        reader.wrong(path, value, "a number, 0 or more")
        return 0
    return value


def _path(reader: _SettingsReader, path: KeyPath, value: Any) -> str:
    if not isinstance(value, str) or "\0" in value:
        reader.wrong(path, value, "a path")
        return ""
    return value


def _texts(reader: _SettingsReader, path: KeyPath, value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
        reader.wrong(path, value, "a list of strings")
        return ()
    return tuple(value)


def _one_of(words: Iterable[str]) -> _Check:
    def check(reader: _SettingsReader, path: KeyPath, value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            reader.problem(BAD_SETTING, f"{_name(path)} is {_shown(value)}; it is one of {', '.join(words)}", path,
                           value if isinstance(value, str) else None, functools.partial(_advice, str(value), words))
        return str(value)
    return check


def _profile(reader: _SettingsReader, path: KeyPath, value: Any) -> str:
    found: str = _one_of(reader.profiles)(reader, path, value)
    return found


def _selectors(reader: _SettingsReader, path: KeyPath, value: Any) -> tuple[str, ...]:
    found = _texts(reader, path, value)
    for selector in found:
        _require_selector(reader, selector, path, selector)
    return found


def _require_selector(reader: _SettingsReader, selector: str, path: KeyPath, value: str | None = None) -> None:
    if not reader.is_selector(selector):
        reader.problem(UNKNOWN_RULE, f"no rule is called {selector}", path, value, functools.partial(
            _advice, selector, reader.selectors, "`hlotool lint --rules` lists codes, names and categories"))


def _severities(reader: _SettingsReader, path: KeyPath, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        reader.wrong(path, value, "a table of codes and severities")
        return {}
    for selector, severity in value.items():
        _require_selector(reader, selector, (*path, selector))
        _one_of(SEVERITIES)(reader, (*path, selector), severity)
    return dict(value)


def _per_file(reader: _SettingsReader, path: KeyPath, value: Any) -> tuple[Override, ...]:
    if not isinstance(value, Mapping):
        reader.wrong(path, value, "a table of patterns and codes")
        return ()
    return tuple(Override((pattern,), {"ignore": _selectors(reader, (*path, pattern), codes)})
                 for pattern, codes in value.items())


def _overrides(reader: _SettingsReader, path: KeyPath, value: Any) -> tuple[Override, ...]:
    if not isinstance(value, (list, tuple)):
        reader.wrong(path, value, "an array of tables")
        return ()
    made = []
    for number, table in enumerate(value):
        changes = reader.table((*path, number), table, {"files": _texts, "stages": _stages, **_CHANGES})
        files, stages = changes.pop("files", ()), changes.pop("stages", ())
        if not files and not stages:
            reader.problem(BAD_SETTING, "an override says for which files or stages it is", (*path, number),
                           help='add files = ["..."] or stages = ["after_optimizations"]')
        made.append(Override(files, changes, stages))
    return tuple(made)


def _stages(reader: _SettingsReader, path: KeyPath, value: Any) -> tuple[str, ...]:
    found = _texts(reader, path, value)
    for stage in found:
        _one_of(("before_optimizations", "between_passes", "after_optimizations"))(reader, path, stage)
    return found


def _profiles(reader: _SettingsReader, path: KeyPath, value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, Mapping):
        reader.wrong(path, value, "a table of profiles")
        return {}
    keys = {**_CHANGES, "profile": _one_of(PROFILES), "fail-on": _one_of(FAIL_ON)}
    return {name: reader.table((*path, name), table, keys)
            for name, table in value.items()}


def _rule_options(reader: _SettingsReader, path: KeyPath, value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, Mapping):
        reader.wrong(path, value, "a table of rules and their options")
        return {}
    found = {}
    for name, options in value.items():
        rule = next((r for r in RULES.values() if name in (r.name, r.code)), None)
        if rule is None:
            reader.problem(UNKNOWN_RULE, f"there is no rule {name}", (*path, name),
                           help=functools.partial(_advice, name, [n for r in RULES.values() for n in (r.name, r.code)]))
            continue
        checks = {option.replace("_", "-"): _like(default) for option, default in rule.options.items()}
        found[rule.name] = reader.table((*path, name), options, checks)
    return found


def _like(default: Any) -> _Check:
    """A check that a value is of the type of a rule's default."""
    def check(reader: _SettingsReader, path: KeyPath, value: Any) -> Any:
        if isinstance(default, (tuple, list, frozenset)):
            return type(default)(_texts(reader, path, value))
        is_number = isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool)
        if type(value) is not type(default) and not is_number:
            reader.wrong(path, value, f"a value like {_shown(default)}")
        return value
    return check


#: what overrides and profiles may change
_CHANGES: Mapping[str, _Check] = {
    "profile": _profile, "select": _selectors, "extend-select": _selectors, "ignore": _selectors,
    "severity": _severities, "rules": _rule_options,
}
#: every key of a configuration file
KEYS: Mapping[str, _Check] = {
    **_CHANGES, "fail-on": _one_of(FAIL_ON), "baseline": _path, "exclude": _texts, "max-per-rule": _number,
    "unused-suppressions": _switch, "require-reason": _switch, "plugins": _plugins, "per-file-ignores": _per_file,
    "overrides": _overrides, "profiles": _profiles,
}
