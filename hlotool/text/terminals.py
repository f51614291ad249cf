"""The terminals of the grammars as regular expressions, without loading a parser generator.

Scanning needs speed, the grammars are the one definition: so the scanner's patterns are put together from the
grammars' own terminals, read here from the .lark files.
"""

from __future__ import annotations

import functools
import importlib.resources
import re

_TERMINAL = re.compile(r"^([A-Z][A-Z0-9_]*)(?:\.\d+)?\s*:\s*/(.*)/([a-z]*)\s*$", re.M)


@functools.cache
def terminals(grammar: str) -> dict[str, str]:
    """Terminal name to its regular expression, for the terminals of a grammar file that are one expression."""
    text = importlib.resources.files("hlotool.grammars").joinpath(f"{grammar}.lark").read_text("utf-8")
    return {name: f"(?{flags}:{body})" if flags else body.replace("\\/", "/")
            for name, body, flags in _TERMINAL.findall(text)}
