"""Where this program keeps what it can make or fetch again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path | None:
    """The folder in the user's cache; None where the user has no home. It need not be there.

    Source: the XDG base directory specification, which says that relative paths count for nothing.
    """
    given = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(given):
        return Path(given) / "hlotool"
    try:
        return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "hlotool"
    except RuntimeError:
        return None
