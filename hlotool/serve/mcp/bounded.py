"""Answers of a size that an agent can take: long lists and texts are cut, and say by how much."""

from __future__ import annotations

import json
from typing import Any

#: characters of an answer at most, as JSON
MOST = 20_000


def bounded(value: Any, most: int = MOST) -> Any:
    """Return the value itself where it is small enough as JSON, else with its lists and texts cut, the longest first.

    A list that was cut ends with {"left_off": how many}; a text ends with how many characters are missing.
    """
    cut, kept = value, max(_longest(value), 1)
    while _size(cut) > most and kept:
        cut, kept = _cut(value, kept, most // 4), kept // 2
    return cut if _size(cut) <= most else {"left_off": "the answer is too long; ask for less"}


def _size(value: Any) -> int:
    """The number of characters as servers send it: indented, with every character of a string escaped that may be."""
    return len(json.dumps(value, indent=2))


def _longest(value: Any) -> int:
    if isinstance(value, dict):
        return max(map(_longest, value.values()), default=0)
    if isinstance(value, list):
        return max(len(value), max(map(_longest, value), default=0))
    return 0


def _cut(value: Any, items: int, characters: int) -> Any:
    if isinstance(value, dict):
        return {key: _cut(inner, items, characters) for key, inner in value.items()}
    if isinstance(value, list):
        kept = [_cut(inner, items, characters) for inner in value[:items]]
        return [*kept, {"left_off": len(value) - items}] if len(value) > items else kept
    if isinstance(value, str) and len(value) > characters:
        return f"{value[:characters]} ... and {len(value) - characters} characters more"
    return value
