"""Answers an editor's requests about a place or a document, in the language server protocol's types.

Places of the protocol count lines from 0 and columns in the units that the client chose; `Places` converts.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Iterator

from lsprotocol import types as lsp
from pygls.workspace import PositionCodec

from hlotool.diagnostics import Diagnostic, Edit, HloError, Severity, visible
from hlotool.ir import HloComputation, HloInstruction, Position
from hlotool.ops import OPS, ConstraintError, Op
from hlotool.passes.formatting import format_text
from hlotool.passes.origins import origin_of
from hlotool.serve.lsp.attribute_pages import attribute_page
from hlotool.serve.lsp.document import Document, MlirPart, ModulePart
from hlotool.serve.lsp.names import Item, Occurrence
from hlotool.serve.lsp.offered_fixes import OfferedFixes
from hlotool.serve.lsp.text_lines import Lines

_SEVERITY = {Severity.ERROR: lsp.DiagnosticSeverity.Error, Severity.WARNING: lsp.DiagnosticSeverity.Warning,
             Severity.INFO: lsp.DiagnosticSeverity.Information}
_WORD = re.compile(r"[\w.\-]+")
#: characters of a statement that a hover shows
_SHOWN = 400
#: between the first and the last line that formatting changes; of more, all are replaced
_MOST_COMPARED = 4000


class Places:
    """Converts between a text's lines and columns, counted from 1 in characters, and the client's."""

    def __init__(self, document: Document, codec: PositionCodec, uri: str) -> None:
        self.lines, self.codec, self.uri = document.lines, codec, uri

    def place(self, at: Position) -> lsp.Position:
        """Return the client's position of a line and column; what has no place stands at the start."""
        given = lsp.Position(max(0, min(at.line, len(self.lines)) - 1), max(0, at.column - 1))
        line = self.lines[given.line] if self.lines else ""
        if line.isascii():  # of a line of 100,000 characters the units are not counted one by one
            return lsp.Position(given.line, min(given.character, len(line)))
        return self.codec.position_to_client_units(self.lines, given)

    def range(self, start: Position, end: Position) -> lsp.Range:
        return lsp.Range(self.place(start), self.place(end))

    def of(self, part: ModulePart | MlirPart, start: int, end: int) -> lsp.Range:
        """Return the range of two offsets of a module's text."""
        return self.range(part.source.position(start), part.source.position(end))

    def read(self, position: lsp.Position) -> tuple[int, int]:
        """Line and column of a client's position."""
        inside = lsp.Position(min(max(position.line, 0), len(self.lines)), max(position.character, 0))
        found = self.codec.position_from_client_units(self.lines, inside)
        return found.line + 1, found.character + 1

    def location(self, part: ModulePart | MlirPart, occurrence: Occurrence) -> lsp.Location:
        return lsp.Location(self.uri, self.of(part, occurrence.start, occurrence.end))


def diagnostics(findings: Iterable[Diagnostic], places: Places) -> list[lsp.Diagnostic]:
    """Findings as an editor shows them, with their second places and their rule's address."""
    return [lsp.Diagnostic(
        range=places.range(Position(d.line, d.column), Position(d.end_line, d.end_column)),
        message="\n".join(visible(t) for t in (d.message, d.help) if t), severity=_SEVERITY[d.severity], code=d.code,
        code_description=lsp.CodeDescription(d.link) if d.link else None, source="hlotool",
        related_information=[lsp.DiagnosticRelatedInformation(
            lsp.Location(places.uri, places.range(n.start, n.end or n.start)), visible(n.message))
            for n in d.notes if n.start is not None]) for d in findings]


# Hover

def hover(document: Document, places: Places, at: lsp.Position) -> lsp.Hover | None:
    """Return the definition of a name with its inferred shape, or the documentation of an opcode."""
    line, column = places.read(at)
    place = document.at(line, column)
    if place is not None and (named := place[0].names.at(place[1])) is not None:
        return hover_page(_about(place[0], named.item), places.of(place[0], named.start, named.end))
    word = _word_at(*place) if place else None
    if place is None or word is None:
        return None
    part, (name, start) = place[0], word
    is_attribute = part.source.text.startswith("=", start + len(name))
    page = attribute_page(name, _opcode_at(part, start)) if is_attribute else \
        documentation(OPS[name]) if name in OPS else None
    return hover_page(page, places.of(part, start, start + len(name))) if page is not None else None


def _opcode_at(part: ModulePart, offset: int) -> str:
    """Return the opcode of the statement around an offset; nothing in a header."""
    around = part.names.defined_at(offset)
    return around.opcode if isinstance(around, HloInstruction) else ""


def hover_page(text: str, where: lsp.Range) -> lsp.Hover:
    """Return a page of Markdown for a range."""
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), where)


def _word_at(part: ModulePart, offset: int) -> tuple[str, int] | None:
    """Return the word around an offset, and where it starts."""
    text = part.source.text
    start = offset
    while start > 0 and _WORD.match(text, start - 1):
        start -= 1
    found = _WORD.match(text, start)
    return (found[0], start) if found and found.end() >= offset else None


def _about(part: ModulePart, item: Item) -> str:
    if isinstance(item, HloComputation):
        # In a text with errors a parameter may lack its number.
        found = [i for i in item.instructions if i.opcode == "parameter"]
        found.sort(key=lambda p: p.attributes.get("parameter_number", len(found)))
        parameters = ", ".join(f"{p.name}: {p.shape}" for p in found)
        return block_of_code(f"{item.name} ({parameters}) -> {item.root.shape if item.root else '?'}") \
            + f"\n\n{len(item.instructions)} instructions"
    number = [str(item.attributes["parameter_number"])] if item.attributes.get("parameter_number") is not None else []
    operands = ", ".join([*number, *(f"{o.shape} {o.name}" for o in item.operands)])
    shown = block_of_code(f"{item.name} = {item.shape} {item.opcode}({operands})"[:_SHOWN])
    return "\n\n".join([shown, *_inferred(item), *_made_by(part, item), *summary(item.opcode)])


def _inferred(item: HloInstruction) -> Iterator[str]:
    """Yield the shape by the operation's rule, where it is not the one that is written."""
    record = OPS.get(item.opcode)
    seen = itertools.chain(item.operands, *(c.instructions for c in item.called_computations()))
    if record is None or any(i.shape is None for i in seen):  # where that could not be read
        return
    try:
        shape = record.infer_instruction(item)
    except ConstraintError as error:
        yield f"{_inline(error.label)}: {_plain(error.message)}"
        return
    yield f"inferred: {_inline(str(shape))}"


def _made_by(part: ModulePart, item: HloInstruction) -> Iterator[str]:
    if (origin := origin_of(part.module, item)) is not None:
        yield f"from {_inline(str(origin))}"
    if origin is not None and origin.op_name and origin.file:
        yield _inline(origin.op_name)


def summary(opcode: str) -> Iterator[str]:
    """Yield the first paragraph of an operation's documentation, where it is known."""
    if opcode in OPS:
        yield f"**{opcode}**: {' '.join(OPS[opcode].doc.partition(chr(10) * 2)[0].split())}"


def block_of_code(text: str, language: str = "hlo") -> str:
    """Return a block of code that no back quote of the text ends."""
    fence = "`" * max(3, 1 + _longest_quote(text))
    return f"{fence}{language}\n{visible(text)}\n{fence}"


def _inline(text: str) -> str:
    """Code within a sentence, whatever the text holds."""
    if "`" not in text:
        return f"`{visible(text)}`"
    fence = "`" * (1 + _longest_quote(text))
    return f"{fence} {visible(text)} {fence}"


def _longest_quote(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _plain(text: str) -> str:
    """Text of a file that is no Markdown, HTML or address for its reader."""
    return re.sub(r"([\\`*_{}\[\]()<>#+!|~&:@]|(?<=www)\.)", r"\\\1", visible(text))


def documentation(record: Op) -> str:
    """Return an operation's page: its signature, its documentation with the constraints, its source."""
    operands = [*record.operands[:-1], f"*{record.operands[-1]}"] if record.is_variadic else record.operands
    attributes = [a.name if a.is_required else f"{a.name}?" for a in record.attributes]
    signature = f"{record.opcode}({', '.join(operands)}){''.join(f', {a}=' for a in attributes)}"
    return "\n\n".join([block_of_code(signature), record.doc.replace("\nC", "  \nC"), f"*{record.source}*"])


# Names

def definition(document: Document, places: Places, at: lsp.Position) -> lsp.Location | None:
    """Return the place where the name at a place is defined."""
    found = document.name_at(*places.read(at))
    target = found[0].names.definition(found[1]) if found else None
    return places.location(found[0], target) if found and target else None


def references(document: Document, places: Places, at: lsp.Position, with_definition: bool) -> list[lsp.Location]:
    """Return every place that names what is named here."""
    found = document.name_at(*places.read(at))
    if found is None:
        return []
    part, occurrence = found
    return [places.location(part, o) for o in part.names.of(occurrence) if with_definition or not o.is_definition]


def highlights(document: Document, places: Places, at: lsp.Position) -> list[lsp.DocumentHighlight]:
    """Return the same, for the editor to mark."""
    kinds = lsp.DocumentHighlightKind
    found = document.name_at(*places.read(at))
    if found is None:
        return []
    part, occurrence = found
    return [lsp.DocumentHighlight(places.of(part, o.start, o.end), kinds.Write if o.is_definition else kinds.Read)
            for o in part.names.of(occurrence)]


class CannotRename(Exception):
    """Why a name stays as it is."""


def renameable(document: Document, places: Places, at: lsp.Position) -> lsp.Range | None:
    """Return the range of the name at a place, when it can be changed."""
    found = document.name_at(*places.read(at))
    return places.of(found[0], found[1].start, found[1].end) if found else None


def rename(document: Document, places: Places, at: lsp.Position, new_name: str) -> lsp.WorkspaceEdit:
    """Return the edits that give another name. Raises CannotRename for one that is none, or is taken."""
    found = document.name_at(*places.read(at))
    if found is None:
        raise CannotRename("no instruction or computation is named here")
    part, occurrence = found
    if refusal := part.names.refusal(occurrence, new_name):
        raise CannotRename(refusal)
    edits = [lsp.TextEdit(places.of(part, o.start, o.end), new_name.lstrip("%@")) for o in part.names.of(occurrence)]
    return lsp.WorkspaceEdit(changes={places.uri: edits})


# Changes

def quick_fixes(offered: OfferedFixes, places: Places, chosen: lsp.Range) -> list[lsp.CodeAction]:
    """Return the fixes of findings in a range, and one that makes every safe fix of the document."""
    actions = []
    for finding in offered.findings:
        shown = diagnostics([finding], places)[0]
        if shown.range.start.line > chosen.end.line or shown.range.end.line < chosen.start.line:
            continue
        actions += [lsp.CodeAction(fix.message, kind=lsp.CodeActionKind.QuickFix, diagnostics=[shown],
                                   is_preferred=fix.is_safe, edit=_workspace_edit(fix.edits, places))
                    for fix in finding.fixes if offered.is_sound(finding, fix)]
    if offered.together:
        actions.append(lsp.CodeAction("Make all safe fixes of hlotool", kind=lsp.CodeActionKind.SourceFixAll,
                                      edit=_workspace_edit(offered.together, places)))
    return actions


def _workspace_edit(edits: Iterable[Edit], places: Places) -> lsp.WorkspaceEdit:
    return lsp.WorkspaceEdit(changes={places.uri: [lsp.TextEdit(places.range(e.start, e.end), e.replacement)
                                                   for e in edits]})


def formatting(document: Document, places: Places) -> list[lsp.TextEdit] | None:
    """The lines that one format changes, comments in their places; None where that cannot be, which leaves the text."""
    text = _formatted(document)
    if text is None:
        return None
    return [_line_edit(*change) for change in _changed_lines(list(places.lines), list(Lines(text)))]


def _formatted(document: Document) -> str | None:
    try:
        return format_text(document.text, document.filename)[0]
    except HloError:
        return None


def range_formatting(document: Document, places: Places, chosen: lsp.Range) -> list[lsp.TextEdit] | None:
    """Return the edits of `formatting` that lie within some lines; None where none can be made."""
    whole = formatting(document, places)
    if whole is None:
        return None
    first, behind = chosen.start.line, chosen.end.line + (chosen.end.character > 0 or chosen.end == chosen.start)
    found = []
    for edit in whole:
        start, end, new = edit.range.start.line, edit.range.end.line, list(Lines(edit.new_text))
        if len(new) == end - start:  # each line has its own replacement
            kept = range(max(start, first), min(end, behind))
            found += [_line_edit(n, n + 1, [new[n - start]]) for n in kept if new[n - start] != places.lines[n]]
        elif first <= start and end <= behind:
            found.append(edit)
    return found


def _line_edit(start: int, end: int, replacement: list[str]) -> lsp.TextEdit:
    return lsp.TextEdit(lsp.Range(lsp.Position(start, 0), lsp.Position(end, 0)), "".join(replacement))


def _changed_lines(before: list[str], after: list[str]) -> Iterator[tuple[int, int, list[str]]]:
    """Return the lines that differ: the first, the one after the last, and their replacement."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    last = 0
    while last < min(len(before), len(after)) - same and before[-1 - last] == after[-1 - last]:
        last += 1
    old, new = before[same:len(before) - last], after[same:len(after) - last]
    if max(len(old), len(new)) > _MOST_COMPARED:
        yield same, same + len(old), new
        return
    # Lines that come often, such as closing braces, begin no match: the search would be quadratic.
    for kind, start, end, low, high in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if kind != "equal":
            yield same + start, same + end, new[low:high]
