"""Names of a room that stand in its files, which are imported when a name is first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def lazily(room: str, files: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a room: `files` are its files by name, with the names that are taken from each."""
    where = {name: file for file, names in files.items() for name in names}

    def find(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f"{room}.{where[name]}"), name)
        setattr(importlib.import_module(room), name, found)
        return found

    return find
