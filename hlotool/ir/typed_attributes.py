"""Attributes as type checkers see them: a mapping whose values have the types that belong to their names.

The types stand in the stub beside this file, which attribute_stub.py writes.
"""

from typing import Any


class TypedAttributes(dict[str, Any]):
    """Values by attribute name."""

    __slots__ = ()
