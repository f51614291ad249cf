"""The catalogue of rule codes: what every diagnostic's code means and where the rule comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """One entry: the stable code, its readable name, what it means, and the source of the rule."""

    code: str
    name: str
    summary: str
    source: str = ""


CODES: dict[str, Code] = {}


def define(code: str, name: str, summary: str, source: str = "") -> str:
    """Add a code to the catalogue; returns the code. Raises AssertionError when it is already taken."""
    assert code not in CODES, f"{code} is defined twice"
    CODES[code] = Code(code, name, summary, source)
    return code
