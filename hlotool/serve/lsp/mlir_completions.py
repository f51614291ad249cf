"""Offers an editor completions at a place of MLIR text: operations, values, symbols, types, words, attributes.

The line up to the place says what is expected there; values are those that the program has at that place.
"""

from __future__ import annotations

import bisect
import re
import string
from collections.abc import Iterable, Iterator

from lsprotocol import types as lsp

from hlotool import mlir
from hlotool.ir import DTYPES
from hlotool.ops import OPS
from hlotool.serve.lsp.document import MlirPart
from hlotool.serve.lsp.features import Places, summary

#: entries of a list of values at most; of more the nearest ones
MOST_VALUES = 300
_KINDS = lsp.CompletionItemKind
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|[{}]')
_OPEN_STRING = re.compile(r'^(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*"(?:[^"\\]|\\.)*$')
_NAME = r"%[\w$.\-]+(?::\d+)?"
_BEGINS_OPERATION = re.compile(rf'^\s*(?:{_NAME}(?:\s*,\s*{_NAME})*\s*=\s*)?"?([A-Za-z_][\w.$]*)?$')
_OPERATION = re.compile(rf'^\s*(?:{_NAME}(?:\s*,\s*{_NAME})*\s*=\s*)?"?([A-Za-z_][\w.$]*)')
_VALUE = re.compile(r"%([\w$.\-]*(?:#\d*)?)$")
_SYMBOL = re.compile(r"@([\w$.\-]*)$")
_ELEMENT = re.compile(r"(?:tensor|vector|complex)<(?:[\d?]+x)*([a-z]\w*)?$")
_WORD = string.ascii_letters + string.digits + "_"
_TYPES = ("tensor<", "tuple<", "complex<", "!stablehlo.token", "index")


def mlir_completion(part: MlirPart, places: Places, at: lsp.Position) -> list[lsp.CompletionItem]:
    """Return what may stand at a place of MLIR text."""
    line, column = places.read(at)
    before = places.lines[line - 1][:column - 1] if line <= len(places.lines) else ""
    if (begun := _BEGINS_OPERATION.match(before)) is not None:
        return _operations(places, at, begun[1] or "")
    if "//" in _STRING_OR_COMMENT.sub(lambda m: "//" if m[0][0] == "/" else "", before) or _OPEN_STRING.match(before):
        return []
    offset = places.lines.starts[line - 1] + column - 1
    if (found := _VALUE.search(before)) is not None:
        return _values(part, offset, found[1])
    if _SYMBOL.search(before) is not None:
        return [_item(name, _KINDS.Function) for name in part.names.symbols()]
    if _ELEMENT.search(before) is not None:
        return [_item(d.mlir, _KINDS.TypeParameter, f"{d.family}, {d.bits} bits") for d in DTYPES.values()]
    operation = _OPERATION.match(before)
    if operation is None:
        return []
    if before.count("{") > before.count("}"):
        return _listed(mlir.attribute_names(operation[1]), _KINDS.Property)
    if _is_type_wanted(before[operation.end():]):
        return _listed(_TYPES, _KINDS.TypeParameter)
    return _listed(mlir.words_of_form(operation[1]), _KINDS.Keyword)


def _is_type_wanted(before: str) -> bool:
    """Return True behind a colon, an arrow, or a comma of the types behind one, with a type begun or not."""
    rest = before.rstrip(_WORD).removesuffix("!").rstrip()
    return rest.endswith((":", "->")) or (rest.endswith(",") and any(sign in rest for sign in ":>("))


def _item(label: str, kind: lsp.CompletionItemKind, detail: str = "") -> lsp.CompletionItem:
    return lsp.CompletionItem(label, kind=kind, detail=detail or None)


def _listed(words: Iterable[str], kind: lsp.CompletionItemKind) -> list[lsp.CompletionItem]:
    return [_item(word, kind) for word in words]


def _operations(places: Places, at: lsp.Position, typed: str) -> list[lsp.CompletionItem]:
    """Return every operation; its name takes the place of what is typed, in which an editor sees several words."""
    begin = lsp.Position(at.line, at.character - places.codec.client_num_units(typed))
    documented = {name: opcode for opcode, record in OPS.items() for name in record.lowering.names}
    return [lsp.CompletionItem(name, kind=_KINDS.Function, filter_text=name,
                               documentation=next(summary(documented.get(name, "")), None),
                               text_edit=lsp.TextEdit(lsp.Range(begin, at), name))
            for name in mlir.operation_names()]


def _values(part: MlirPart, offset: int, typed: str) -> list[lsp.CompletionItem]:
    """Return the values at a place, the nearest first."""
    fitting = [(name, value) for name, value in _visible(part, offset) if typed.partition("#")[0] in name]
    found = []
    for number, (name, value) in enumerate(fitting[:MOST_VALUES]):
        item = _item(name, _KINDS.Variable, mlir.value_text(value.type))
        item.sort_text = f"{number:04}"
        found.append(item)
    return found


def _visible(part: MlirPart, offset: int) -> Iterator[tuple[str, mlir.SsaValue]]:
    """Yield the values that the text in front of a place defines in the regions around it, the nearest first."""
    seen: set[str] = set()
    inner: mlir.Operation | None = None
    for operation, block in _around(part, offset):
        inside = block.operations[:bisect.bisect_left(block.operations, offset, key=lambda o: o.start)]
        # an operation whose region the place is in has no results yet
        for values in (*(o.results for o in reversed(inside) if o is not inner), block.arguments):
            for name, value in zip(mlir.written_names(values), values, strict=True):
                if name and name not in seen:
                    seen.add(name)
                    yield name, value
        if operation.name in ("func.func", "builtin.module"):
            return
        inner = operation


def _around(part: MlirPart, offset: int) -> Iterator[tuple[mlir.Operation, mlir.Block]]:
    """Yield the blocks that a place is in, the innermost first, each with the operation that holds it."""
    last = part.names.before(offset)
    if last is None:
        return
    waiting, depth = last, 0
    for sign in _STRING_OR_COMMENT.finditer(part.source.text, last.start, offset):
        depth += (sign[0] == "{") - (sign[0] == "}")
    if depth > 0 and last.regions:  # in a region of this operation
        blocks = [b for r in last.regions for b in r.blocks]
        yield from ((last, b) for b in blocks[:1])
    while (holder := part.names.holders.get(waiting)) is not None:
        if depth >= 0:
            yield holder
        depth += 1
        waiting = holder[0]
