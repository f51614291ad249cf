"""Python's collection of cyclic garbage, put off while modules are made or walked."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

#: with fewer new objects Python's own collection may begin at once: looking through them takes some microseconds
_FEW = 2_000
#: so many objects may go among the old ones before these are looked through
_MANY = 2_000_000


class _OldObjects:
    """Counts of objects: those that became old since the last full collection, and those that it left."""

    promoted = 0
    left = 0


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
    Python does not count what gets old in this way, so it is counted here: a process that reads one module after the
    other would otherwise keep what is garbage of each for ever. Where somebody has frozen objects it is left alone.
    """
    new = gc.get_count()[0]
    if new < _FEW or not hasattr(gc, "freeze") or gc.get_freeze_count():  # PyPy has none
        return
    gc.freeze()
    gc.unfreeze()
    _OldObjects.promoted += new
    if _OldObjects.promoted > max(_MANY, 2 * _OldObjects.left):
        gc.collect()
        _OldObjects.left, _OldObjects.promoted = len(gc.get_objects(generation=2)), 0
