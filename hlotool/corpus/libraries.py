"""The libraries of the extra `corpus`, imported when they are first needed."""

from __future__ import annotations

import importlib
from typing import Any

from hlotool.corpus.codes import NO_LIBRARY
from hlotool.diagnostics import HloError

#: top-level module -> the package that holds it
PACKAGES = {"dask": "dask", "distributed": "distributed", "duckdb": "duckdb", "fsspec": "fsspec", "pyarrow": "pyarrow"}


def library(name: str) -> Any:
    """The module of that name. Raises HloError (R170) where its package is not installed."""
    package = PACKAGES[name.partition(".")[0]]
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == name.partition(".")[0]:
            said = f"work on corpora needs the package {package}, which is not installed"
        else:
            said = f"the package {package} cannot be loaded: {error}"
        raise HloError.of(NO_LIBRARY, said, filename="<command>", help="pip install 'hlotool[corpus]'") from error
