"""Text in XLA's MHLO dialect, which no binding reads any more, in StableHLO's and CHLO's operations of its names.

    %0 = mhlo.add %a, %a {mhlo.sharding = "{replicated}"}   ->   %0 = stablehlo.add %a, %a {mhlo.sharding = ...}
"""

from __future__ import annotations

import re
from typing import Any

#: a string, comment or symbol (a call of @mhlo.tan), which stays; or a word of the dialect: an operation, an attribute,
#: a type
_WORD = re.compile(r'"mhlo\.(?P<quoted>\w+)"(?=\s*\()|"(?:[^"\\]|\\.)*"|//[^\n]*'
                   r"|(?P<mark>[#!]?)(?<!@)\bmhlo(?P<dot>\.?)(?P<name>\w*)")


def in_stablehlo(text: str, context: Any) -> str:
    """The text with every operation, attribute and type of MHLO that StableHLO or CHLO has too written as theirs."""

    def dialect_of(name: str) -> str | None:
        return next((d for d in ("stablehlo", "chlo") if context.is_registered_operation(f"{d}.{name}")), None)

    def written(found: re.Match[str]) -> str:
        if found["quoted"]:
            dialect = dialect_of(found["quoted"])
            return f'"{dialect}.{found["quoted"]}"' if dialect else found[0]
        if found["name"] is None:
            return found[0]
        if found["mark"]:
            return f"{found['mark']}stablehlo{found['dot']}{found['name']}"
        dialect = dialect_of(found["name"])
        return f"{dialect}.{found['name']}" if dialect and found["dot"] else found[0]

    return _WORD.sub(written, text)
