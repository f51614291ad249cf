"""Strings that make a backtracking pattern work hardest: what a repetition takes, many times, and then what fails."""

from __future__ import annotations

import re
import re._constants as c
import re._parser as parser
from collections.abc import Iterator
from typing import Any

#: characters that mean something in the texts that are read
_CANDIDATES = " a0/\"\\\n,.%-({=:'AZ_x*[<?#"
_VARIANTS = 4
_REPEATS = (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT)
_CATEGORIES = {c.CATEGORY_DIGIT: r"\d", c.CATEGORY_NOT_DIGIT: r"\D", c.CATEGORY_SPACE: r"\s",
               c.CATEGORY_NOT_SPACE: r"\S", c.CATEGORY_WORD: r"\w", c.CATEGORY_NOT_WORD: r"\W"}


def pumped(pattern: re.Pattern[str], length: int) -> Iterator[str]:
    """Strings of about `length` characters for each repetition of a pattern that has no bound."""
    for before, bodies in _repetitions(list(parser.parse(pattern.pattern, pattern.flags)), ""):
        for body in bodies:
            for end in ("", "\0", "\n\0"):
                yield before + body * (length // len(body)) + end


def _repetitions(nodes: list[Any], before: str) -> Iterator[tuple[str, list[str]]]:
    """What stands in front of each unbounded repetition, and examples of what is repeated."""
    for code, value in nodes:
        if code in _REPEATS:
            _, most, inner = value
            bodies = {b for b in (_example(list(inner), n) for n in range(_VARIANTS)) if b}
            if most == c.MAXREPEAT and bodies:
                yield before, sorted(bodies)
        for inner in _inside(code, value):
            yield from _repetitions(inner, before)
        before += _example([(code, value)], 0)


def _inside(code: Any, value: Any) -> list[list[Any]]:
    if code in _REPEATS:
        return [list(value[2])]
    if code is c.SUBPATTERN:
        return [list(value[3])]
    if code is c.ATOMIC_GROUP:
        return [list(value)]
    if code is c.BRANCH:
        return [list(part) for part in value[1]]
    if code in (c.ASSERT, c.ASSERT_NOT):
        return [list(value[1])]
    return []


def _example(nodes: list[Any], variant: int) -> str:
    """A string that the nodes match, of several the one of a number."""
    pieces = []
    for code, value in nodes:
        if code is c.LITERAL:
            pieces.append(chr(value))
        elif code is c.NOT_LITERAL:
            pieces.append(next(ch for ch in _CANDIDATES[variant:] if ord(ch) != value))
        elif code is c.ANY:
            pieces.append("a /,"[variant % 4])
        elif code is c.IN:
            fitting = [ch for ch in _CANDIDATES if _fits(ch, value)] or [_first(value)]
            pieces.append(fitting[variant % len(fitting)])
        elif code in _REPEATS:
            pieces.append(_example(list(value[2]), variant) * max(value[0], min(1, value[1])))
        elif code is c.BRANCH:
            pieces.append(_example(list(value[1][variant % len(value[1])]), variant))
        elif code in (c.SUBPATTERN, c.ATOMIC_GROUP):
            pieces.append(_example(_inside(code, value)[0], variant))
    return "".join(pieces)


def _fits(char: str, items: list[Any]) -> bool:
    is_negated = items[0][0] is c.NEGATE
    return is_negated != any(_is_of(char, code, value) for code, value in items)


def _is_of(char: str, code: Any, value: Any) -> bool:
    if code is c.LITERAL:
        return ord(char) == value
    if code is c.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    return code is c.CATEGORY and re.match(_CATEGORIES[value], char) is not None


def _first(items: list[Any]) -> str:
    code, value = items[0]
    return chr(value if code is c.LITERAL else value[0] if code is c.RANGE else ord("\t"))
