"""Grammars with one definition ruined: an alternative, an optional part, or a member of a class left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hlotool.grammars.notation import _DEFINITION, _PIECE

_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:[:>=!]|<[=!]))?|\)|\||[*+?]\+?|\{\d*,?\d*\}|.", re.S)
_MEMBER = re.compile(r"\\.-\\?.|\\.|[^\\]-[^\]]|.", re.S)


def ruined(source: str) -> Iterator[tuple[str, str, str]]:
    """(definition, what was left out, the grammar's text without it), for everything that can be left out."""
    for found in _DEFINITION.finditer(source):
        body = found[3]
        for start, end in dict.fromkeys(_of_body(body)):
            begin = found.start(3)
            yield found[2], body[start:end].strip(), source[:begin + start] + source[begin + end:]


def _of_body(body: str) -> Iterator[tuple[int, int]]:
    pieces = [(m.lastgroup, m[0], m.start(), m.end()) for m in _PIECE.finditer(body) if m.lastgroup != "space"]
    yield from _parts([(text if kind in ("sign", "arrow") else "x", start, end) for kind, text, start, end in pieces])
    for kind, text, start, _ in pieces:
        if kind == "regex":
            yield from ((start + 1 + a, start + 1 + b) for a, b in _of_regex(text[1:-1]))


def _of_regex(text: str) -> Iterator[tuple[int, int]]:
    atoms = [(m[0], m.start(), m.end()) for m in _ATOM.finditer(text)]
    yield from _parts([("(" if a[0] == "(" else a[0] + a[1:].replace("+", "") if a[0] in "*+?" else a if a in ")|"
                        else "x", start, end) for a, start, end in atoms])
    for atom, start, _ in atoms:
        members = list(_MEMBER.finditer(atom[1:-1])) if atom[0] == "[" and len(atom) > 2 else []
        if len(members) > 1 + (atom[1:2] == "^"):
            yield from ((start + 1 + m.start(), start + 1 + m.end()) for m in members if m[0] != "^")


def _parts(signs: list[tuple[str, int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges of alternatives, each with its bar, and of what may be absent, with the sign that says so."""
    stack: list[list[int]] = [[0]]  # for each open bracket, the indices at which its alternatives begin
    opened: list[int] = [-1]
    last = 0  # where the part before a repetition sign begins
    for index, (sign, _, _) in enumerate([*signs, (")", 0, 0)]):
        if sign in ("(", "["):
            stack.append([index + 1])
            opened.append(index)
        elif sign == "|":
            stack[-1].append(index + 1)
        elif sign in (")", "]"):
            begins, begin = stack.pop(), opened.pop()
            if len(begins) > 1:
                bounds = [*begins, index + 1]
                for number, first in enumerate(begins):
                    stop = bounds[number + 1] - 2  # the last piece of the alternative
                    if stop >= first:
                        yield (signs[first][1], signs[stop + 1][1] if number == 0 else signs[stop][2]) \
                            if number == 0 else (signs[first - 1][1], signs[stop][2])
            if sign == "]":
                yield signs[begin][1], signs[index][2]
            last = begin
        elif sign[0] in "?*" and index:
            yield signs[last][1], signs[index][2]
        if sign not in (")", "]") and sign[0] not in "?*+":
            last = index
