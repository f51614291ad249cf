"""One short name for what a module computes, the same wherever and whenever it is taken."""

from __future__ import annotations

import hashlib

from hlotool.ir import HloModule
from hlotool.text import PrintOptions, print_module

_PLAIN = PrintOptions(canonical=True, metadata=False)


def fingerprint(module: HloModule, *, layouts: bool = True) -> str:
    """A SHA-256 in hexadecimal digits of the module without its names and metadata.

    Modules of one fingerprint are the same program; the same program in another order of independent instructions has
    another one: `diff` tells. Without `layouts`, layouts count for nothing.
    """
    text = print_module(module, PrintOptions(canonical=True, metadata=False, layouts=False) if not layouts else _PLAIN)
    header, _, body = text.partition("\n")
    named = header.replace(f"HloModule {module.name}", "HloModule", 1)
    return hashlib.sha256(f"{named}\n{body}".encode("utf-8", "surrogateescape")).hexdigest()
