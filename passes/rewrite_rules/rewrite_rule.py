"""Reads the rewrites of rules.toml, and those about shapes of any size of shape_rules.toml."""

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

#: numbers over which rules are decided: without rounding, of 32 bits that wrap around, of IEEE 754
DOMAINS = ("reals", "integers", "floats")


@dataclass(frozen=True)
class RewriteRule:
    """A rewrite of one pattern into another."""

    before: str
    after: str
    #: "float", "integer", "any" or "matrix"
    of: str = "float"
    #: a condition on the operands under which the rule is evaluated a second time
    when: str = ""
    #: of a rule for all sizes: the operands with their sizes, `x[M,N], i[]:s32`
    operands: str = ""
    #: conditions on sizes and indices, without which it is not meant
    where: str = ""

    def __str__(self) -> str:
        return f"{self.before} -> {self.after}"

    @property
    def key(self) -> str:
        """The text that names a rule in the record of verdicts."""
        of = f" of {self.operands}" if self.operands else ""
        return f"{self}{of}" + (f" where {self.where}" if self.where else "")


@functools.cache
def rules() -> tuple[RewriteRule, ...]:
    """Return all rules, in the order of the file."""
    text = _text("rules.toml")
    return tuple(RewriteRule(**row) for row in tomllib.loads(text)["rule"])


@functools.cache
def shape_rules() -> tuple[RewriteRule, ...]:
    """Return the rules for all sizes, in the order of the file."""
    text = _text("shape_rules.toml")
    return tuple(RewriteRule(**row, of="sizes") for row in tomllib.loads(text)["rule"])


def _text(name: str) -> str:
    return importlib.resources.files("hlotool.passes.rewrite_rules").joinpath(name).read_text("utf-8")


def types_of(rule: RewriteRule) -> tuple[str, ...]:
    """Return the element types on which a rule is tried."""
    return {"float": FLOATS, "integer": _INTEGERS}.get(rule.of, TYPES)
