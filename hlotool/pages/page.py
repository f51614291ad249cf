"""A page is one file that needs no other and no network: a template, the shared style, scripts, and packed data.

Each page carries a Content-Security-Policy that names its own scripts and styles by their hashes. Whatever a file
smuggles into it as markup therefore neither runs nor loads anything.
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

#: where a template wants its policy; it stands in front of every style and script
CSP = "{{CSP}}"
_PART = re.compile(r"\{\{(\w+)\}\}")
_INLINE = re.compile(r"<(style|script)>(.*?)</\1>", re.S)


@cache
def style() -> str:
    """The style that all pages begin with."""
    return resources.files("hlotool.pages").joinpath("style.css").read_text("utf-8")


def filled(template: str, parts: Mapping[str, str]) -> str:
    """The template with `{{NAME}}` replaced by parts, which are HTML, CSS or JavaScript already.

    `{{STYLE}}` is the shared style and `{{CSP}}` the policy of the finished page. Raises KeyError for a part that is
    not given.
    """
    given = {"STYLE": style(), "CSP": CSP, **parts}
    return with_policy(_PART.sub(lambda found: given[found[1]], template))


def with_policy(page: str) -> str:
    """A page with its policy in the place of the first `{{CSP}}`."""
    return page.replace(CSP, _policy(page), 1)


def _policy(page: str) -> str:
    """The policy of a page: nothing from elsewhere, and of scripts and styles only those that stand in it."""
    hashes: dict[str, list[str]] = {"style": [], "script": []}
    for kind, text in _INLINE.findall(page):
        digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
        hashes[kind].append(f"'sha256-{digest}'")
    rules = ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "img-src data:",
             *(f"{kind}-src {' '.join(found)}" for kind, found in hashes.items() if found)]
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'


def packed(text: str) -> str:
    """A text as base64 of gzip, which needs no escaping anywhere; lone surrogates become question marks."""
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 6, mtime=0)).decode("ascii")


def script_data(value: Any) -> str:
    """A value as JSON for a script element of data: nothing in it can end the element."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
