"""The fields of a `metadata={...}` text."""

from __future__ import annotations

import re

from hlotool.grammars import terminal

_FIELD = re.compile(rf"([\w.\-]+)=({terminal('terminals', 'STRING')}|\{{[^{{}}]*\}}|[^\s,{{}}]+)")


def read_fields(text: str) -> dict[str, str]:
    """Field name to its text, in order; strings without quotes, escapes as written.

    >>> read_fields('{op_name="jit(f)/add" source_line=3}')
    {'op_name': 'jit(f)/add', 'source_line': '3'}
    """
    return {name: value[1:-1] if value[0] in "\"'" else value for name, value in _FIELD.findall(text)}
