"""The schema of configuration files says what is read: what it allows is read, what it refuses is refused."""

from __future__ import annotations

import functools
import tomllib
from typing import Any

import pytest

from hlotool.diagnostics import HloError
from hlotool.linting.config import KEYS, changes_of
from hlotool.linting.config_schema import PATH, config_schema, schema_text

jsonschema = pytest.importorskip("jsonschema")


@functools.cache
def validator() -> Any:
    """Made once: the schema itself is checked by a test of its own."""
    return jsonschema.Draft202012Validator(config_schema())


def test_the_file_is_todays() -> None:
    assert PATH.read_text("utf-8") == schema_text(), "run python -m hlotool.linting.config_schema"


def test_every_key_is_in_it() -> None:
    schema = config_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(KEYS) <= set(schema["properties"])


@pytest.mark.parametrize("text", [
    'select = ["W1", "ALL"]\nignore = ["W105"]\nfail-on = "warning"', 'fail_on = "error"\nmax-per-rule = 0',
    'profile = "gpu"\nunused-suppressions = true\nplugins = false',
    '[severity]\nW105 = "error"', '[per-file-ignores]\n"a/*.hlo" = ["W105"]',
    '[[overrides]]\nfiles = ["*.hlo"]\nselect = ["V"]', '[[overrides]]\nstages = ["after_optimizations"]\nignore = []',
    '[profiles.mine]\nprofile = "cpu"\nfail-on = "never"\nselect = ["W"]'])
def test_what_it_allows_is_read(text: str) -> None:
    values = tomllib.loads(text)
    validator().validate(values)
    changes_of(values, "hlotool.toml")


@pytest.mark.parametrize("text", [
    'selects = ["W1"]', 'select = "W1"', 'fail-on = "always"', "max-per-rule = -1", 'max-per-rule = "2"',
    "unused-suppressions = 1", "plugins = 3", '[severity]\nW105 = "fatal"', "[[overrides]]\nselect = []",
    '[[overrides]]\nstages = ["never"]', '[profiles.mine]\nprofile = "tpu9"', "[rules.no-such-rule]\nx = 1",
    '[per-file-ignores]\n"a" = "W1"'])
def test_what_it_refuses_is_refused(text: str) -> None:
    values = tomllib.loads(text)
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(values)
    with pytest.raises(HloError):
        changes_of(values, "hlotool.toml")


def test_options_of_rules() -> None:
    from hlotool.passes.lints import RULES

    with_options = [r for r in RULES.values() if r.options]
    assert with_options
    for rule in with_options:
        values = {"rules": {rule.name: {n: list(v) if isinstance(v, (tuple, frozenset)) else v
                                        for n, v in rule.options.items()}}}
        validator().validate(values)
        changes_of(values, "hlotool.toml")
        with pytest.raises(jsonschema.ValidationError):
            validator().validate({"rules": {rule.name: {"no-such-option": 1}}})
