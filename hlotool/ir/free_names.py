"""Names of computations and instructions: as text can hold them, and not yet taken."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hlotool.ir.dtypes import is_type_word


def sanitized_name(name: str) -> str:
    """Return a name as text can hold it. XLA: NameUniquer::GetSanitizedName."""
    name = re.sub(r"[^\w.\-]", "_", name, flags=re.ASCII)
    if name and not (name[0].isalpha() or name[0] == "_"):
        name = "_" + name[1:]
    if is_of_backends(name):
        name = "a" + name[1:]
    return f"{name}_" if is_type_word(name) else name


def is_of_backends(name: str) -> bool:
    """Return True if a name begins as those that backends keep for themselves, which no instruction may have."""
    return name.startswith("__") and not name.startswith("__xla_")


def unique_name(wanted: str, taken: Iterable[str]) -> str:
    """`wanted`, or `wanted.1`, `wanted.2`, ... : the first that is not taken, as long as numbers are taken in order.

    After a few steps the search gallops, so that naming many things costs little. A word for a type gets an
    underscore, as XLA's name uniquer gives it one: among operands it would be read as a type.
    """
    if is_type_word(wanted):
        wanted += "_"
    names = taken if isinstance(taken, (set, dict)) else set(taken)
    if wanted not in names:
        return wanted
    taken_number, number = 0, 1
    while f"{wanted}.{number}" in names:
        taken_number, number = number, number + 1 if number < 16 else 2 * number
    while number - taken_number > 1:
        middle = (taken_number + number) // 2
        if f"{wanted}.{middle}" in names:
            taken_number = middle
        else:
            number = middle
    return f"{wanted}.{number}"
