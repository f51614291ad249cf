"""Python processes that others start for us import nothing from the current folder.

Children of ours start under `python -I` (child.py). Libraries start Python by `-c` or `-m`, which would import from the
current folder: multiprocessing, pytest-xdist, a cluster. They inherit the environment, which tells Python not to.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

#: environment variable by which `--no-sandbox` reaches children
SWITCH = "HLOTOOL_NO_SANDBOX"
#: the folder that this hlotool is imported from
OWN_FOLDER = Path(__file__).parents[2]


@contextlib.contextmanager
def safe_imports() -> Iterator[None]:
    """Within it neither this process nor a Python process that it starts imports from the current folder.

    A current folder that this hlotool is imported from is the one exception.
    """
    environment, path = {name: os.environ.get(name) for name in ("PYTHONSAFEPATH", "PYTHONPATH")}, list(sys.path)
    os.environ.update(safe_environment())
    sys.path[:] = outside_current(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        for name, value in environment.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def safe_environment() -> dict[str, str]:
    """Return the variables that keep Python from importing from the current folder, wherever it starts."""
    given = outside_current([*os.environ.get("PYTHONPATH", "").split(os.pathsep), *_own_if_current()])
    return {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(given)}


def outside_current(paths: list[str]) -> list[str]:
    """Return the absolute paths among those given, without the current folder unless hlotool is imported from there."""
    here = os.path.realpath(os.getcwd()) if os.path.isdir(".") and not _own_if_current() else ""
    return [p for p in paths if os.path.isabs(p) and os.path.realpath(p) != here]


def _own_if_current() -> list[str]:
    """Return the folder of this hlotool where it is the current one."""
    return [str(OWN_FOLDER)] if os.path.isdir(".") and os.path.samefile(OWN_FOLDER, ".") else []
