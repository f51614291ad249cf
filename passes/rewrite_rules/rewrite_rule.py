"""Reads the rewrites of rules.toml."""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from dataclasses import dataclass

from hlotool.ir import DTYPES

#: float types on which rules are tried, and integer types
FLOATS = (*(d.name for d in DTYPES.values() if d.is_floating and d.bits == 8 and d.specials != "no sign"),
          "bf16", "f16", "f32")
_INTEGERS = ("s8", "u8")
TYPES = (*FLOATS, *_INTEGERS)


@dataclass(frozen=True)
class RewriteRule:
    """A rewrite of one pattern into another."""

    before: str
    after: str
    #: "float", "integer", "any" or "matrix"
    of: str = "float"
    #: a condition on the operands under which the rule is evaluated a second time
    when: str = ""

    def __str__(self) -> str:
        return f"{self.before} -> {self.after}"


@functools.cache
def rules() -> tuple[RewriteRule, ...]:
    """Return all rules, in the order of the file."""
    text = importlib.resources.files("hlotool.passes.rewrite_rules").joinpath("rules.toml").read_text("utf-8")
    return tuple(RewriteRule(**row) for row in tomllib.loads(text)["rule"])


def types_of(rule: RewriteRule) -> tuple[str, ...]:
    """Return the element types on which a rule is tried."""
    return {"float": FLOATS, "integer": _INTEGERS}.get(rule.of, TYPES)
