"""Colours of MLIR text: each word of some lines with its type, from the terminals of grammars/stablehlo.lark.

What a name stands for (a value, an argument, a symbol) is told by the program that was read, where it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lsprotocol import types as lsp

from hlotool import mlir
from hlotool.grammars import terminal
from hlotool.ir import deferred
from hlotool.serve.lsp.document import MlirPart
from hlotool.serve.lsp.mlir_names import Binding

_TYPES = lsp.SemanticTokenTypes


def _of(*names: str) -> str:
    return "|".join(f"(?:{terminal('stablehlo', name)})" for name in names)


#: words by what they are; of several that fit the first one is taken
_WORDS = deferred(lambda: "|".join(f"(?P<{name}>{pattern})" for name, pattern in (
    ("comment", _of("COMMENT")),
    ("generic", r'"[\w.$\-]+"(?=\s*\()'),
    ("string", r'"(?:[^"\\\n]|\\.)*"?'),
    ("value", _of("VALUE_NAME")),
    ("symbol", _of("SYMBOL")),
    ("label", _of("LABEL")),
    ("attribute", _of("DIALECT_ATTRIBUTE", "DIALECT_ATTRIBUTES", "ATTRIBUTE_ALIAS")),
    ("type", "|".join((_of("DIALECT_TYPE", "DIALECT_TYPES", "TYPE_ALIAS"),
                       r"\b(?:tensor|vector|memref|tuple|complex|index|none)\b",
                       rf"(?<![A-WYZa-wyz_.$])(?:{_of('INTEGER_TYPE', 'FLOAT_TYPE')})"))),
    ("declaring", r"\b(?:builtin\.module|module|func\.func|sdy\.mesh)\b(?![\w.$])"),
    ("operation", r"(?<![\w.$])(?:[a-z_]\w*\.[a-z_][\w.$]*|(?:return|call|constant)(?=\s*(?:[(@%:]|$)))"),
    ("property", r"[A-Za-z_][\w$.]*(?=\s*=(?!=))"),
    ("number", r"(?<![\w.$])-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d*(?:[eE][+\-]?\d+)?)?)(?![\w.])"),
    ("enumerator", r"(?<![\w.$])[A-Z][A-Z_0-9]*(?![\w.$])"),
    ("word", r"(?<![\w.$])[a-z_]\w*(?![\w.$])"),
    ("sign", r"->|[=:?*+]"))), re.ASCII)
_OF_WORD = {"comment": _TYPES.Comment, "generic": _TYPES.Method, "string": _TYPES.String, "value": _TYPES.Variable,
            "symbol": _TYPES.Function, "label": _TYPES.Function, "attribute": _TYPES.EnumMember, "type": _TYPES.Type,
            "declaring": _TYPES.Keyword, "operation": _TYPES.Method, "property": _TYPES.Property,
            "number": _TYPES.Number, "enumerator": _TYPES.EnumMember, "word": _TYPES.Keyword, "sign": _TYPES.Operator}


def coloured_words(part: MlirPart, lines: Sequence[str], first: int, behind: int
                   ) -> Iterator[tuple[int, int, str, lsp.SemanticTokenTypes, bool]]:
    """Yield row, column, text and type of each word of some lines, and True for those that define a name."""
    texts = [lines[row] for row in range(first, behind)]
    at = sum(map(len, (lines[row] for row in range(first))))
    named = {o.start: o for o in part.names.within(at, at + sum(map(len, texts)))}
    for row, line in enumerate(texts, first):
        for found in _WORDS.finditer(line):
            kind, occurrence = str(found.lastgroup), named.get(at + found.start() + 1)
            is_argument = occurrence is not None and _is_argument(occurrence.item)
            declared = (occurrence is not None and occurrence.is_definition) or (
                kind == "label" and not line[:found.start()].strip())
            yield row, found.start(), found[0], _TYPES.Parameter if is_argument else _OF_WORD[kind], declared
        at += len(line)


def _is_argument(item: object) -> bool:
    return isinstance(item, Binding) and not item.is_symbol and isinstance(item.values[0].owner, mlir.Block)
