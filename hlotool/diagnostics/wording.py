"""Wording of messages: number and verb of "1 dimension is given", lists in words, and why a file cannot be read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from hlotool.ir import deferred

#: what messages count, as they write it for several
_NOUNS = {plural: singular for singular, plural in (
    *((noun, noun + "s") for noun in (
        "argument", "array", "attribute", "bit", "block", "bound", "buffer", "byte", "channel", "character",
        "case", "computation", "device", "dimension", "dump", "element", "feature", "file", "finding", "group",
        "instruction", "letter", "level", "member", "module", "number", "one", "operand", "pair", "parameter",
        "partition", "place", "program", "range", "region", "replica", "result", "round", "row", "scalar", "set",
        "shape", "sharding", "size", "stride", "tile", "time", "token", "update", "value", "window")),
    ("axis", "axes"), ("batch", "batches"), ("branch", "branches"), ("class", "classes"), ("loss", "losses"),
    ("pass", "passes"), ("entry", "entries"), ("index", "indices"),
    ("leaf", "leaves"))}
_VERBS = {"are": "is", "have": "has", "give": "gives", "take": "takes", "need": "needs", "follow": "follows",
          "match": "matches", "do": "does", "were": "was"}
#: a 1 that counts: no part of a shape, a range, a name or a larger number
_ONE = deferred(
    lambda: r"(there are )?(?<![\w.,:/=+\-\[\]{}()<>#%'\"])1 ((?:[a-z]+ )?)("
    + "|".join(sorted(_NOUNS, key=len, reverse=True)) + r")\b(?: (" + "|".join(_VERBS) + r")\b)?")


def agreed(message: str) -> str:
    """Return the message with "1 dimensions are" as "1 dimension is".

        >>> agreed("slice has 2 ranges, the operand f32[3] has 1 dimensions")
        'slice has 2 ranges, the operand f32[3] has 1 dimension'
        >>> agreed("1 start indices are given")
        '1 start index is given'
    """
    return _ONE.sub(_singular, message) if "1 " in message else message


def _singular(found: re.Match[str]) -> str:
    there, adjective, noun, verb = found.groups(default="")
    return f"{'there is ' if there else ''}1 {adjective}{_NOUNS[noun]}{f' {_VERBS[verb]}' if verb else ''}"


def reason_of(error: BaseException) -> str:
    """Why something cannot be read: what the system says, without its numbers and Python's names for them.

    >>> reason_of(FileNotFoundError(2, "No such file or directory", "a.hlo")), reason_of(MemoryError())
    ('No such file or directory', 'MemoryError')
    """
    return str(getattr(error, "strerror", None) or str(error) or type(error).__name__)


def in_words(words: Sequence[str], last: str = "or") -> str:
    """Return at least one word as a list in words.

    >>> in_words(["f16", "f32", "f64"])
    'f16, f32 or f64'
    """
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else words[0]


def first_few(words: Iterable[str], most: int) -> str:
    """Return the first words, with dots for the rest.

    >>> first_few(["x", "y", "z"], 2)
    'x, y, ...'
    """
    shown = list(itertools.islice(words, most + 1))
    return ", ".join([*shown[:most], *["..."] * (len(shown) > most)])
