"""Offers an editor completions at a place: element types, opcodes, operands, attributes and their values.

The line up to the place says what is expected there. A list has at most MOST_OFFERED entries; of more, the nearest ones
that begin with or hold what is typed, and the editor is told to ask again as more is typed.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Sequence

from lsprotocol import types as lsp

from hlotool.ir import BARE_TYPES, DTYPES, KINDS, HloComputation, HloInstruction, Kind
from hlotool.ops import COMMON_ATTRIBUTES, OPS, Op
from hlotool.serve.lsp.document import Document
from hlotool.serve.lsp.features import Places, summary
from hlotool.serve.lsp.mlir_completions import mlir_completion

MOST_OFFERED = 300
#: meshes of a text that are looked at
_MOST_MESHES = 1000
_SHAPE = r"(?:\([^=]*\)|[a-z]\w*\[[^=]*?\](?:\{[^}]*\})?)"
_OPENS_OPERANDS = re.compile(rf"=\s*{_SHAPE}\s+([a-z][\w\-]*)\(.*$")
_OPENS_OPCODE = re.compile(rf"=\s*{_SHAPE}\s+[\w\-]*$")
#: what stands in front of a type, and the type so far: the types of a tuple in front of the last one are whole
_TYPE_BEGINS = re.compile(r"[\w.\-]\s+=\s*|[(,]\s*%?[\w.\-]+:\s*|->\s*")
_TYPE_SO_FAR = re.compile(r"\(?(?:[a-z]\w*\[[^=()\[\]]*\](?:\{[^{}]*\})?,\s*)*[a-z]?\w*")
#: places at most at which a type may begin that are looked at, from the end of a line
_MOST_BEGUN = 50
#: the attribute whose value is being written, and the value so far; braces and quotes of the value are open
_OPENS_VALUE = re.compile(r"""[,\s]([a-z][\w\-]*)=((?:[%\w.\-]*|"[^"]*|\{[^={}]*))$""")
_OPENS_SHARDING = re.compile(r"[,\s]sharding=(\{(?:[^{}]|\{[^{}]*\})*(?:\{[^{}]*)?)$")
_OPENS_METADATA = re.compile(r"[,\s](metadata|frontend_attributes|backend_config)=\{[^{}]*$")
_MESH = re.compile(r"mesh\[([^\]\n]{0,1000})\]")
_AXIS = re.compile(r"""['"]?([\w.\-]+)['"]?=\d+""")
_TYPED = re.compile(r"[\w.\-]*$")
_OF_NAMES = "%._-" + string.ascii_letters + string.digits
#: words that a sharding may begin with, beside a mesh
_SHARDING_WORDS = ("replicated", "manual", "unknown", "unreduced", "maximal device=", "devices=[")
_KINDS = lsp.CompletionItemKind

Offer = list[lsp.CompletionItem] | lsp.CompletionList


def completion(document: Document, places: Places, at: lsp.Position) -> Offer:
    """Return what may stand at a place of a text."""
    if document.mlir is not None:
        return mlir_completion(document.mlir, places, at)
    line, column = places.read(at)
    before = places.lines[line - 1][:column - 1] if line <= len(places.lines) else ""
    if _OPENS_OPCODE.search(before):
        return [lsp.CompletionItem(opcode, kind=_KINDS.Function, detail=", ".join(record.operands),
                                   documentation=next(summary(opcode), "")) for opcode, record in OPS.items()]
    opened = _OPENS_OPERANDS.search(before)
    if opened is None or (record := OPS.get(opened[1])) is None:
        return _types() if _opens_type(before) else []
    if _is_open(before[opened.start(1):]):
        return _operands(document, line, before, opened.start())
    if (sharding := _OPENS_SHARDING.search(before)) is not None:
        return _of_sharding(document, sharding[1])
    if (begun := _OPENS_VALUE.search(before)) is not None:
        return _values(document, line, record, begun[1], begun[2])
    return [] if _OPENS_METADATA.search(before) else _attributes(record)


def _opens_type(before: str) -> bool:
    """Return True if a type is being written at the end of a text."""
    begun = [m.end() for m in _TYPE_BEGINS.finditer(before)]
    return any(_TYPE_SO_FAR.fullmatch(before, at) for at in reversed(begun[-_MOST_BEGUN:]))


def _is_open(call: str) -> bool:
    return call.count("(") > call.count(")")


def _types() -> list[lsp.CompletionItem]:
    return [lsp.CompletionItem(name, kind=_KINDS.TypeParameter, detail=f"{dtype.family}, {dtype.bits} bits",
                               insert_text=f"{name}[") for name, dtype in DTYPES.items()] + [
        lsp.CompletionItem(name, kind=_KINDS.TypeParameter, insert_text=f"{name}[]") for name in BARE_TYPES]


def _attributes(record: Op) -> list[lsp.CompletionItem]:
    own = [lsp.CompletionItem(a.name, kind=_KINDS.Property, insert_text=f"{a.name}=", sort_text=f"0{n:03}",
                              detail=f"{a.kind.value}{'' if a.is_required else ', optional'}")
           for n, a in enumerate(record.attributes)]
    return own + [lsp.CompletionItem(name, kind=_KINDS.Property, insert_text=f"{name}=", detail="of every operation",
                                     documentation=meaning, sort_text=f"1{name}")
                  for name, meaning in COMMON_ATTRIBUTES.items()]


def _values(document: Document, line: int, record: Op, name: str, typed: str) -> Offer:
    """Return the possible values of an attribute where they can be listed."""
    attribute = record.attribute(name)
    kind = attribute.kind if attribute is not None else KINDS.get(name)
    if attribute is not None and attribute.words:
        return _listed(attribute.words, _KINDS.EnumMember)
    if kind in (Kind.BOOL, Kind.BOOLS):
        return _listed(("true", "false"), _KINDS.Value)
    if kind in (Kind.COMPUTATION, Kind.COMPUTATIONS):
        return _named(_computations(document, line), typed, _of_computation)
    if kind is Kind.INSTRUCTIONS:
        return _named(_visible(document, line, 1), typed, _of_instruction)
    return []


def _listed(words: Iterable[str], kind: lsp.CompletionItemKind) -> list[lsp.CompletionItem]:
    return [lsp.CompletionItem(word, kind=kind) for word in words]


def _of_sharding(document: Document, typed: str) -> list[lsp.CompletionItem]:
    """Return axes of the mesh inside of a dimension; at the start of a sharding its forms, with the text's meshes."""
    own = _MESH.search(typed)
    if typed == "{":
        meshes = dict.fromkeys(found[0] for found, _ in zip(_MESH.finditer(document.text), range(_MOST_MESHES),
                                                            strict=False))
        return [*_listed(meshes, _KINDS.Struct), *_listed(_SHARDING_WORDS, _KINDS.Keyword)]
    if own is None or typed.count("{") < 2:
        return []
    is_quoted = typed.rpartition("{")[2].count("'") % 2
    return [lsp.CompletionItem(axis[1], kind=_KINDS.EnumMember, detail=f"axis {axis[0].replace(chr(39), '')}",
                               insert_text=axis[1] if is_quoted else f"'{axis[1]}'") for axis in _AXIS.finditer(own[1])]


# Names

def _operands(document: Document, line: int, before: str, opened: int) -> Offer:
    return _named(_visible(document, line, _defined_at(before[:opened])), before, _of_instruction)


def _named(items: Sequence[HloInstruction] | Sequence[HloComputation], before: str,
           shown: Callable[..., lsp.CompletionItem]) -> Offer:
    """Return entries of names: of too many, the last of those that hold what is typed."""
    if len(items) <= MOST_OFFERED:
        return [shown(i) for i in items]
    match = _TYPED.search(before)
    typed = match[0] if match is not None else ""
    fitting = [i for i in items if typed in i.name]
    fitting.sort(key=lambda i: i.name.startswith(typed))
    chosen = fitting[-MOST_OFFERED:]
    found = [shown(i) for i in reversed(chosen)]
    for number, item in enumerate(found):
        item.sort_text = f"{number:04}"
    return lsp.CompletionList(is_incomplete=True, items=found)


def _of_instruction(instruction: HloInstruction) -> lsp.CompletionItem:
    return lsp.CompletionItem(instruction.name, kind=_KINDS.Variable,
                              detail=f"{instruction.shape} {instruction.opcode}")


def _of_computation(computation: HloComputation) -> lsp.CompletionItem:
    return lsp.CompletionItem(computation.name, kind=_KINDS.Value)


def _defined_at(before: str) -> int:
    """Return the column of the name that a line ends with: of what is being defined, which is no operand of itself."""
    return 1 + len(before.rstrip().rstrip(_OF_NAMES).rstrip().removesuffix("ROOT"))


def _computations(document: Document, line: int) -> list[HloComputation]:
    """Return the computations above a line, without the one around it."""
    place = document.at(line, 1)
    if place is None:
        return []
    return [c for c in place[0].module.computations if 0 <= c.offset < place[1]][:-1]


def _visible(document: Document, line: int, column: int) -> list[HloInstruction]:
    """Return the instructions of the computation around a place that stand in front of it."""
    place = document.at(line, column)
    if place is None:
        return []
    part, offset = place
    around = max((c for c in part.module.computations if 0 <= c.offset <= offset), key=lambda c: c.offset, default=None)
    return [i for i in around.instructions if 0 <= i.offset < offset] if around is not None else []
