"""Slips of the pen: characters that word processors put in, and names that are nearly right."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from hlotool.diagnostics import nearest
from hlotool.ir import deferred

#: what word processors put in place of signs; the surrogates are bytes of Windows-1252 that are no UTF-8
_PLAIN_SIGNS = {**dict.fromkeys("\u201c\u201d\u201e\u201f\udc93\udc94\xab\xbb", '"'),
                **dict.fromkeys("\u2018\u2019\u201a\u201b\udc91\udc92", "'"),
                **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\udc96\udc97", "-"),
                **dict.fromkeys("\xa0\u202f\u2007\u200b\ufeff", "a space")}
_TYPOGRAPHIC = deferred(lambda: f"[{''.join(_PLAIN_SIGNS)}]")
#: names longer than this, and more names than that, are not compared with a misspelt one: comparing is slow
_LONGEST_NAME, _MOST_COMPARED = 100, 5000


def typographic_advice(text: str, start: int, end: int) -> str:
    """Return the plain form of the first typographic character of a range; '' where there is none."""
    found = _TYPOGRAPHIC.search(text, start, end)
    if found is None:
        return ""
    return f"{ascii(found[0])[1:-1]} is a character of typesetting: write {_PLAIN_SIGNS[found[0]]}"


def similar_names(name: str, known: Iterable[str], cutoff: float) -> list[str]:
    """At most two of the known names that are most like a name.

    >>> similar_names("broadcst.1", ["broadcast.1", "add.1"], 0.75)
    ['broadcast.1']
    """
    if len(name) > _LONGEST_NAME:
        return []
    like = (k for k in known if abs(len(k) - len(name)) <= 3 and (k[:1] == name[:1] or k[-1:] == name[-1:]))
    return nearest(name, itertools.islice(like, _MOST_COMPARED), 2, cutoff)
