"""Finds the known word that an unknown one was meant to be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: characters that are taken for each other
_ALIKE = str.maketrans("0O1lLiI5S_", "oo11111ss-")
#: words that are like one are compared closely: as many as these, which have most characters in common
_COMPARED = 16
#: characters of a word that is compared
_LONGEST = 100
#: what slips of the pen cost beside another character, which costs 1
_CASE, _CONFUSED, _SWAPPED, _JOINT = 0.1, 0.2, 0.9, 0.3


def nearest(word: str, known: Iterable[str], count: int = 1, cutoff: float = 0.6) -> list[str]:
    """At most `count` known words that are most like a word, the nearest first; none where nothing is like it.

    Letters and digits that look alike, the case of letters, joints (- and _) and swapped neighbours count less than
    other characters. `cutoff` is the share of characters that must be common, as difflib has it.

    >>> nearest("W1O1", ["W511", "W101"])
    ['W101']
    >>> nearest("dto", ["do", "dot"])
    ['dot']
    """
    if len(word) > _LONGEST:
        return []
    folded: dict[str, list[str]] = {}
    for other in known:
        folded.setdefault(_folded(other), []).append(other)
    import difflib  # not at the top: most runs meet no unknown word

    close = difflib.get_close_matches(_folded(word), list(folded), _COMPARED, cutoff)
    others = [other for found in close for other in folded[found]]
    costs = {other: _distance(word, other) for other in others}

    def is_like(other: str) -> bool:
        length = max(len(word), len(other))
        # Of long words a beginning that many have in common, as API_VERSION_, makes them no more alike.
        return costs[other] <= min((1 - cutoff) * length, 1 + length / 4)

    return sorted(filter(is_like, others), key=lambda other: (costs[other], -_common(word, other)))[:count]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the question after a word that is not known: what is like it, or what it may stand for, or nothing.

    >>> did_you_mean("gte", ["gather", "get-tuple-element"])
    'did you mean get-tuple-element?'
    """
    listed = list(known)
    found = nearest(word, listed) or _abbreviated(word, listed)
    return f"did you mean {found[0]}?" if found else ""


def _abbreviated(word: str, known: Sequence[str]) -> list[str]:
    """The known words that a word may be short or long for: its initials, most of their beginning, its letters."""
    def is_short_for(short: str, long: str) -> bool:
        letters = iter(long)
        return 2 < len(short) < len(long) and (
            short in long or (short[0] == long[0] and all(letter in letters for letter in short)))

    def rank(other: str) -> tuple[bool, int, int]:
        initials = "".join(part[:1] for part in re.split("[-_.]", other))
        return initials != word, -_common(word, other), len(other)

    return sorted((other for other in known if is_short_for(word, other) or is_short_for(other, word)
                   or _common(word, other) > 3), key=rank)


def _common(one: str, two: str) -> int:
    """Return the number of characters that two words share at their beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))


def _folded(word: str) -> str:
    return word.translate(_ALIKE).lower()


def _distance(one: str, two: str) -> float:
    """Return the cost of making one word the other by inserted, deleted, replaced and swapped characters."""
    before: list[float] = []
    row = [0.0]
    for b in two:
        row.append(row[-1] + _alone(b))
    for n, a in enumerate(one):
        last, row = row, [row[0] + _alone(a)]
        for m, b in enumerate(two):
            cost = min(last[m] + _instead(a, b), last[m + 1] + _alone(a), row[m] + _alone(b))
            if n and m and a == two[m - 1] and b == one[n - 1]:
                cost = min(cost, before[m - 1] + _SWAPPED)
            row.append(cost)
        before = last
    return row[-1]


def _alone(character: str) -> float:
    return _JOINT if character in "-_." else 1.0


def _instead(a: str, b: str) -> float:
    if a == b:
        return 0.0
    if a.lower() == b.lower():
        return _CASE
    return _CONFUSED if _folded(a) == _folded(b) else 1.0
