"""Python's collection of cyclic garbage, put off while modules are made or walked."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """A large module is many objects, none of them garbage: looking through them again and again only takes time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _promote()
            gc.enable()


def _promote() -> None:
    """Put what was made among the old objects, or the first collection would walk through all of it at once.

    Freezing takes every object out of the generations, thawing puts them into the oldest, and neither looks at one.
    Where somebody has frozen objects it is left alone.
    """
    if hasattr(gc, "freeze") and not gc.get_freeze_count():  # PyPy has none
        gc.freeze()
        gc.unfreeze()
