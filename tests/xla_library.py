"""XLA's own reader of HLO, as jaxlib ships it: a peer that tests hold hlotool against."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import jaxlib
import pytest

#: the module with hlo_module_from_text, HloPrintOptions and the like, which was a part of _jax until jaxlib 0.10.0
xla_hlo: Any = importlib.import_module("jaxlib._hlo" if importlib.util.find_spec("jaxlib._hlo") else "jaxlib._jax")

#: (0, 10, 2) of jaxlib 0.10.2
VERSION = tuple(int(part) for part in jaxlib.__version__.split(".")[:3] if part.isdecimal())


def since(version: tuple[int, ...], what: str) -> pytest.MarkDecorator:
    """Skips a test of what the libraries in jaxlib have since a version."""
    return pytest.mark.skipif(version > VERSION, reason=f"{what}: jaxlib {'.'.join(map(str, version))} and later")
