"""Styles of HLO text: XLA's printers differ by version and options in what no reader cares for.

    HloModule m, entry_computation_layout=...     HloModule m, entry_computation_layout=...

    %c (x: f32[2]) -> f32[2] {                    c {
      %x = f32[2]{0} parameter(0)                   x = f32[2]{0} parameter(0)
      ROOT %y = f32[2]{0} negate(f32[2]{0} %x)      ROOT y = f32[2]{0} negate(x)
    }                                             }

A module that was read from the text of such a printer is printed in its style, so that an edit of one instruction
changes one line. The style is found in the text when somebody prints: reading is not concerned with it. Texts that
people laid out, and modules that come from elsewhere, have the style of `PrintOptions()`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hlotool.grammars import plain, terminal
from hlotool.ir import HloModule, deferred
from hlotool.text.tokens import MODULE_WORD, NAME, OPCODE, TABLES


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """Options of printing; the defaults give text that XLA reads back as the same module.

    The names follow XLA's HloPrintOptions. `elide_above` replaces constants of more elements by `{...}`; None
    keeps them all. `canonical` renames computations and instructions by their order, so that two modules that
    differ in names only print alike. `operand_index` and `shape_index` are the marks `/*index=5*/` in front of every
    fifth operand and element of a shape. `gaps` are the line feeds behind the header, behind the stack-frame tables,
    between computations, and at the end.
    """

    percent: bool = True
    operand_shapes: bool = False
    layouts: bool = True
    metadata: bool = True
    backend_config: bool = True
    elide_above: int | None = None
    canonical: bool = False
    program_shapes: bool = True
    #: also where the root is an operation that XLA gives a shape of its own, whatever is written (send, infeed, ...)
    every_program_shape: bool = False
    operand_index: bool = True
    shape_index: bool = True
    #: such marks in shardings of tuples
    sharding_index: bool = False
    #: the marks `/*i0=1*/` in literals of more than three dimensions
    literal_index: bool = False
    #: attributes that stand behind the metadata
    behind_metadata: frozenset[str] = frozenset()
    #: blanks between the parameters of entry_computation_layout (since 2023), which were counted later
    layout_blanks: bool = True
    #: a comma between a mesh without device_ids and its dimensions (2025)
    mesh_comma: bool = False
    #: a colon behind the module's name (2017 and 2018)
    header_colon: bool = False
    #: attributes of the module in the order in which they were read, instead of the order of today
    header_as_read: bool = False
    gaps: tuple[int, int, int, int] = (2, 3, 2, 1)
    #: instructions of a computation from which on its name stands behind its closing brace, as a comment
    named_ends: int | None = None
    #: bodies that were read in place of a computation's name stay there, as in XLA's canonical form
    inline_bodies: bool = False


TODAY = PrintOptions()
#: the styles that have names
STYLES = {
    "today": TODAY,
    "xla": PrintOptions(sharding_index=True, literal_index=True, behind_metadata=frozenset({"backend_config"}),
                        gaps=(2, 3, 2, 2)),
    "short": PrintOptions(percent=False, program_shapes=False, operand_index=False, metadata=False),
    "long": PrintOptions(operand_shapes=True),
}

_FEEDS = r"\n*+"
_COMPUTATION = (rf"(?:{terminal('lines', 'ENTRY')})?+%?{NAME} (?:\([^\n]*+(?<=\{{)|\{{)\n"
                # A list of bodies in place of names ends with a brace that begins a line.
                r"(?:  [^\n]++\n|\}[^\n]*+\n(?=  |\}))++\}[^\n]*+")
_TABLE = rf"(?:(?:{'|'.join(TABLES)})\n(?:\d[^\n]*+\n)*+)"
#: a text as printers write it, its groups the line feeds of `gaps`
_PRINTED = deferred(
    # A table of the header that stands on lines of its own ends with a brace that begins a line.
    lambda: rf"{MODULE_WORD} [^\n]*+(?:(?<=\{{)\n(?:(?!\}})[^\n]*+\n)*+\}}[^\n]*+)*+"
    rf"(?P<header>{_FEEDS})(?:{_TABLE}(?P<tables>{_FEEDS}))*+"
    rf"{_COMPUTATION}(?:(?P<between>\n{_FEEDS}){_COMPUTATION})*+(?P<end>{_FEEDS})")
#: what the headers of printers hold, and those of people hardly ever; signs are the other sign of a printer
_PRINTERS_HEADER = deferred(lambda: rf"{MODULE_WORD} [^\n]*?, entry_computation_layout=")
#: two parameters in the header without a blank between them; elements of tuples always have one
_PACKED_LAYOUT = deferred(lambda: rf"{MODULE_WORD} [^\n]*?, entry_computation_layout=\{{\([^\n]*?[\]}})],[a-z(]")
_SHARDING_INDEX = deferred(lambda: rf"{terminal('lines', 'INDEX_COMMENT')}\{{")
_MESH_COMMA = deferred(lambda: r"\bmesh\[[^\]\n]*\], \[")
_STATEMENT = r"\n  (?:ROOT )?"
_SIGN = deferred(lambda: rf"{_STATEMENT}(%?)")
_HEADER = rf"\n(?:{terminal('lines', 'ENTRY')})?+%?{NAME} "
_SIGNATURE, _NO_SIGNATURE = deferred(lambda: rf"{_HEADER}\("), deferred(lambda: rf"{_HEADER}\{{\n")
_OPERANDS = deferred(
    lambda: rf'{_STATEMENT}%?{NAME} = [^\n"]*? (?!constant\(|parameter\(|b\(|nan\(){OPCODE}\((?:%?{NAME}[,)]|([^)%]))')
_OPERAND = rf"(?:[a-z]\w*\[[^\]\n]*\](?:\{{[^}}\n]*\}})? )?%?{NAME}"
_OPERAND_INDEX = deferred(lambda: rf"{terminal('lines', 'INDEX_COMMENT')}{_OPERAND}[,)]")
_SHAPE_INDEX = deferred(lambda: rf"{terminal('lines', 'INDEX_COMMENT')}(?:\(|[a-z]\w*\[)")
#: the sixth of several shapes or operands that has no number
_UNMARKED_OPERAND = deferred(lambda: rf"{_STATEMENT}[^\n\"]*? {OPCODE}\((?:{_OPERAND}, ){{5}}{_OPERAND}[,)]")
_UNMARKED_SHAPE = deferred(lambda: r"\((?:[a-z]\w*\[[^\]\n(]*\](?:\{[^}\n]*\})?, ){5}[a-z]\w*\[")
#: a line that begins a computation, or one that ends it with its name
_BEGIN_OR_NAMED_END = deferred(lambda: rf"^(?:[^\s}}][^\n]*+(?<=\{{)|(?P<end>\}}) // {NAME})$", re.M)
_INLINE_BODY = deferred(lambda: r"[={,]\n +\{\n")
_BEHIND_METADATA = deferred(lambda: rf"metadata={plain('attribute', 'metadata')}, ([\w\-]+)=")


def style_of(module: HloModule) -> PrintOptions:
    """Return the style of the text that a module was read from; today's where no printer of XLA wrote it."""
    source = module.source
    if source is None:
        return TODAY
    if source.style is None:
        source.style = style_of_text(source.text)
    style: PrintOptions = source.style
    return style


def style_of_text(text: str) -> PrintOptions:
    """Return the style of a text; today's where no printer of XLA wrote it.

    >>> style_of_text("HloModule m\\n\\nENTRY %e {\\n  ROOT %x = f32[] parameter(0)\\n}\\n\\n").gaps
    (2, 3, 2, 2)
    """
    found = _PRINTED.fullmatch(text)
    # A header may quote a module, which says nothing about this text.
    program = text[found.start("header"):] if found is not None else ""
    sign = _SIGN.search(program)
    if found is None or sign is None or not (sign[1] or _PRINTERS_HEADER.match(text)):
        return TODAY
    operands = _OPERANDS.search(program)
    return PrintOptions(
        percent=bool(sign[1]),
        operand_shapes=operands is not None and operands[1] is not None,
        program_shapes=bool(_SIGNATURE.search(program)),
        every_program_shape=not _NO_SIGNATURE.search(program),
        operand_index=bool(_OPERAND_INDEX.search(program)) or not _UNMARKED_OPERAND.search(program),
        shape_index=bool(_SHAPE_INDEX.search(program)) or not _UNMARKED_SHAPE.search(program),
        sharding_index=bool(_SHARDING_INDEX.search(program)),
        literal_index="{ /*i0=0*/" in program,
        behind_metadata=frozenset(_BEHIND_METADATA.findall(program)),
        layout_blanks=not _PACKED_LAYOUT.match(text),
        mesh_comma=bool(_MESH_COMMA.search(program)),
        header_colon=text.startswith(":", text.find("\n") - 1),
        header_as_read=True,
        gaps=_gaps(found),
        named_ends=_named_ends(program),
        inline_bodies=bool(_INLINE_BODY.search(program)))


def _named_ends(program: str) -> int | None:
    """Return the fewest instructions of a computation whose end has its name; None where none has."""
    counts, begin = list[int](), 0
    for line in _BEGIN_OR_NAMED_END.finditer(program):
        if line["end"]:
            counts.append(program.count("\n", begin, line.start()) - 1)
        else:
            begin = line.end()
    return min(counts, default=None)


def _gaps(found: re.Match[str]) -> tuple[int, int, int, int]:
    """Return the line feeds of `PrintOptions.gaps`."""
    _, tables, between, _ = TODAY.gaps
    if found["tables"] is not None:
        tables = len(found["tables"]) + 1  # a row of a table ends with a line feed of its own
    if found["between"] is not None:
        between = len(found["between"])
    return len(found["header"]), tables, between, len(found["end"])


__all__ = ["STYLES", "TODAY", "PrintOptions", "style_of", "style_of_text"]
