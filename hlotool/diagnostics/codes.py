"""The catalogue of rule codes: what every diagnostic's code means and where the rule comes from."""

from __future__ import annotations

from collections.abc import Callable

from hlotool.ir import lazy_dataclass


@lazy_dataclass(frozen=True, slots=True)
class Code:
    """One entry: the stable code, its readable name, what it means, and the source of the rule."""

    code: str
    name: str
    summary: str
    source: str = ""


CODES: dict[str, Code] = {}
#: rooms that know codes which stand elsewhere, such as the constraints of operations: code to entry, or None
FINDERS: list[Callable[[str], Code | None]] = []


def define(code: str, name: str, summary: str, source: str = "") -> str:
    """Add a code to the catalogue; returns the code. Raises AssertionError when it is already taken."""
    assert code not in CODES, f"{code} is defined twice"
    CODES[code] = Code(code, name, summary, source)
    return code


def find_code(code: str) -> Code | None:
    """Return the entry of a code: of the catalogue, or of a room that keeps codes of its own."""
    if code in CODES:
        return CODES[code]
    return next((found for finder in FINDERS if (found := finder(code)) is not None), None)
