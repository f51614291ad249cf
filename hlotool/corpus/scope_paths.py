"""Scopes of op_names, as queries name them."""

from __future__ import annotations

import re

#: what stands around the name of a scope where JAX transformed it: jvp(, transpose(, jit(
_WRAPPER = re.compile(r"[\w.\-]+\(|\)")


def scope_path(scope: str) -> str:
    """The scopes of an op_name without what JAX's transformations put around them, between slashes.

    >>> scope_path("jit(step)/transpose(jvp(attention))/dot_general")
    '/step/attention/dot_general/'
    """
    return f"/{_WRAPPER.sub('', scope).strip('/')}/"
