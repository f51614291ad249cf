"""A page is one file that needs no other and no network: a template, the shared style, scripts, and packed data.

A page about files carries a Content-Security-Policy that names the scripts and styles of its template by their hashes.
Whatever a file smuggles into it as markup therefore neither runs nor loads anything.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

_PART = re.compile(r"\{\{(\w+)\}\}")
_INLINE = re.compile(r"<(style|script)>(.*?)</\1>", re.S)


@cache
def style() -> str:
    """Return the style that all pages begin with."""
    return resources.files("hlotool.diagnostics.pages").joinpath("style.css").read_text("utf-8")


@cache
def head() -> str:
    """Return the beginning of every page, up to the title."""
    return resources.files("hlotool.diagnostics.pages").joinpath("head.html").read_text("utf-8").rstrip("\n")


@cache
def hlo_text() -> str:
    """Return the script that colours HLO."""
    return resources.files("hlotool.diagnostics.pages").joinpath("hlo_text.js").read_text("utf-8")


def filled(template: str, parts: Mapping[str, str]) -> str:
    """Return the template with `{{NAME}}` replaced by parts, which are HTML, CSS or JavaScript already.

    `{{HEAD}}` is what pages begin with, `{{STYLE}}` the shared style, `{{HLO_TEXT}}` the script that colours HLO,
    and `{{CSP}}`, in front of every style and script, the policy. Raises KeyError for a part that is not given.
    """
    given = {"HEAD": head(), "STYLE": style(), "HLO_TEXT": hlo_text(), **parts}
    code = _INLINE.sub(lambda found: _put(found[0], given), template)
    return _put(template, {"CSP": policy(code), **given})


def _put(template: str, parts: Mapping[str, str]) -> str:
    return _PART.sub(lambda found: parts[found[1]], template)


def policy(code: str) -> str:
    """Return the policy of a page: nothing from elsewhere, and of styles and scripts only those of its template.

    `code` is the template with its styles and scripts filled in, and nothing else: what stands in other parts of the
    page comes from files, and must not be allowed by a hash of itself.
    """
    hashes: dict[str, list[str]] = {"style": [], "script": []}
    for kind, text in _INLINE.findall(code):
        digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
        hashes[kind].append(f"'sha256-{digest}'")
    rules = ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "img-src data:",
             *(f"{kind}-src {' '.join(found)}" for kind, found in hashes.items() if found)]
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'


def plain(text: str) -> str:
    """Text without lone surrogates, which browsers do not read; they become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def packed(text: str) -> str:
    """Return a text as base64 of gzip, which needs no escaping anywhere; lone surrogates become question marks."""
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 6, mtime=0)).decode("ascii")


def script_data(value: Any) -> str:
    """Return a value as JSON for a script element of data: nothing in it can end the element."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
