"""The JSON schema of configuration files, for editors: derived from the keys that are read and from the rules' options.

`python -m hlotool.linting.config_schema` writes it to config.schema.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hlotool.linting.config import KEYS
from hlotool.linting.settings import FAIL_ON, SEVERITIES
from hlotool.passes.lints import RULES
from hlotool.passes.verify import PROFILES

PATH = Path(__file__).parent / "config.schema.json"

_TEXTS = {"type": "array", "items": {"type": "string"}}
_CODES = {"$ref": "#/$defs/codes"}
#: what overrides and profiles may change
_CHANGES = ("profile", "select", "extend-select", "ignore", "severity", "rules")
_STAGES = ("before_optimizations", "between_passes", "after_optimizations")


def config_schema() -> dict[str, Any]:
    """The schema of hlotool.toml, and of `[tool.hlotool]`. Names of rules and of own profiles are not all listed."""
    kinds: dict[str, Any] = {
        "profile": {"type": "string", "description": f"{', '.join(PROFILES)}, or one of `profiles`"},
        "select": _CODES, "extend-select": _CODES, "ignore": _CODES,
        "severity": {"type": "object", "additionalProperties": {"enum": list(SEVERITIES)}},
        "rules": {"$ref": "#/$defs/rules"},
        "fail-on": {"enum": list(FAIL_ON)}, "baseline": {"type": "string"}, "exclude": _TEXTS,
        "max-per-rule": {"type": "integer", "minimum": 0},
        "unused-suppressions": {"type": "boolean"}, "require-reason": {"type": "boolean"},
        "plugins": {"anyOf": [{"type": "boolean"}, _TEXTS]},
        "per-file-ignores": {"type": "object", "additionalProperties": _CODES},
    }
    changes = {name: kinds[name] for name in _CHANGES}
    stages = {"type": "array", "items": {"enum": list(_STAGES)}}
    override = {**_table({**changes, "files": _TEXTS, "stages": stages}),
                "anyOf": [{"required": ["files"]}, {"required": ["stages"]}]}
    own = _table({**changes, "profile": {"enum": list(PROFILES)}, "fail-on": kinds["fail-on"]})
    kinds |= {"overrides": {"type": "array", "items": override},
              "profiles": {"type": "object", "additionalProperties": own}}
    rules = _table({name: _options(rule.options) for rule in RULES.values() for name in (rule.name, rule.code)})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "hlotool.toml",
            "$defs": {"codes": {**_TEXTS, "description": "codes, beginnings of codes, names and categories of rules"},
                      "rules": rules},
            **_table({name: kinds[name] for name in KEYS})}


def _table(keys: Mapping[str, Any]) -> dict[str, Any]:
    """A table of keys, which may be written with hyphens and with underscores."""
    both = {spelling: kind for name, kind in keys.items() for spelling in dict.fromkeys((name, name.replace("-", "_")))}
    return {"type": "object", "additionalProperties": False, "properties": both}


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    return _table({name.replace("_", "-"): _like(default) for name, default in options.items()})


def _like(default: Any) -> dict[str, Any]:
    """Return the schema of the value that replaces a rule's default."""
    if isinstance(default, (tuple, list, frozenset)):
        return _TEXTS
    return {"type": {bool: "boolean", int: "integer", float: "number", str: "string"}[type(default)]}


def schema_text() -> str:
    """The file's text."""
    return json.dumps(config_schema(), separators=(",", ":")).replace('},"', '},\n"') + "\n"


if __name__ == "__main__":
    PATH.write_text(schema_text(), "utf-8")
