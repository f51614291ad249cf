"""The rules of rules.toml."""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A rewrite of one pattern into another."""

    before: str
    after: str
    #: "float", "integer", "any" or "matrix"
    of: str = "float"
    #: a condition on the operands under which it is looked at once more
    when: str = ""

    def __str__(self) -> str:
        return f"{self.before} -> {self.after}"


@functools.cache
def rules() -> tuple[Rule, ...]:
    """All rules, in the order of the file."""
    text = importlib.resources.files("hlotool.folds").joinpath("rules.toml").read_text("utf-8")
    return tuple(Rule(**row) for row in tomllib.loads(text)["rule"])
