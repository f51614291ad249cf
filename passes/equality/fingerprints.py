"""One short name for what a module computes, the same wherever and whenever it is taken."""

from __future__ import annotations

import dataclasses
import hashlib

from hlotool.ir import HloModule
from hlotool.text import PrintOptions, print_module

_PLAIN = PrintOptions(canonical=True, metadata=False)


def fingerprint(module: HloModule, *, layouts: bool = True) -> str:
    """A SHA-256 in hexadecimal digits of the module without its names and metadata.

    Modules of one fingerprint are the same program; the same program in another order of independent instructions has
    another one: `diff` tells. Without `layouts`, layouts count for nothing.
    """
    bare = dataclasses.replace(module, name="m", tables={})  # the tables hold what metadata refers to
    text = print_module(bare, _PLAIN if layouts else dataclasses.replace(_PLAIN, layouts=False))
    return hashlib.sha256(text.replace("HloModule m", "HloModule", 1).encode("utf-8", "surrogateescape")).hexdigest()
