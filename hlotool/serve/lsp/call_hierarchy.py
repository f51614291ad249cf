"""Callers and callees of computations: fusions, loops, branches, reductions and calls."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from hlotool.diagnostics import visible
from hlotool.ir import HloComputation
from hlotool.serve.lsp.document import Document, ModulePart
from hlotool.serve.lsp.features import Places
from hlotool.serve.lsp.names import Occurrence
from hlotool.serve.lsp.symbols import extents

#: computations of one answer
MOST_CALLS = 1000


def called_here(document: Document, places: Places, at: lsp.Position) -> list[lsp.CallHierarchyItem]:
    """Return the computation that is named at a place, or the one around it."""
    place = document.at(*places.read(at))
    if place is None:
        return []
    part, offset = place
    named = part.names.at(offset)
    if named is not None and isinstance(named.item, HloComputation):
        return list(_items(part, places, named.item))
    around = [c for c, start, end in extents(part) if start <= offset <= end]
    return list(_items(part, places, around[0])) if around else []


def incoming(document: Document, places: Places, item: lsp.CallHierarchyItem) -> list[lsp.CallHierarchyIncomingCall]:
    """Return the computations that call one, each with the places where they name it."""
    found = _named_by(document, places, item)
    if found is None:
        return []
    part, named = found
    callers: dict[HloComputation, list[Occurrence]] = {}
    for occurrence in part.names.of(named):
        if not occurrence.is_definition and occurrence.owner is not None:
            callers.setdefault(occurrence.owner, []).append(occurrence)
    return [lsp.CallHierarchyIncomingCall(shown, _ranges(part, places, at))
            for caller, at in list(callers.items())[:MOST_CALLS] for shown in _items(part, places, caller)]


def outgoing(document: Document, places: Places, item: lsp.CallHierarchyItem) -> list[lsp.CallHierarchyOutgoingCall]:
    """Return the computations that one calls, each with the places where it names them."""
    found = _named_by(document, places, item)
    if found is None:
        return []
    part, computation = found[0], found[1].item
    called: dict[HloComputation, list[Occurrence]] = {}
    for instruction in computation.instructions:
        if instruction.offset >= 0 and instruction.called_computations():
            for statement in part.names.statements(instruction.offset, instruction.offset):
                for occurrence in statement:
                    if isinstance(occurrence.item, HloComputation) and not occurrence.is_definition:
                        called.setdefault(occurrence.item, []).append(occurrence)
    return [lsp.CallHierarchyOutgoingCall(shown, _ranges(part, places, at))
            for callee, at in list(called.items())[:MOST_CALLS] for shown in _items(part, places, callee)]


def _named_by(document: Document, places: Places, item: lsp.CallHierarchyItem
              ) -> tuple[ModulePart, Occurrence] | None:
    """Return the computation that an item stands for, where the text still names one there."""
    place = document.at(*places.read(item.selection_range.start))
    named = place[0].names.at(place[1]) if place is not None else None
    return (place[0], named) if place and named and isinstance(named.item, HloComputation) else None


def _ranges(part: ModulePart, places: Places, named: list[Occurrence]) -> list[lsp.Range]:
    return [places.of(part, o.start, o.end) for o in dict.fromkeys(named)]


def _items(part: ModulePart, places: Places, computation: HloComputation) -> Iterator[lsp.CallHierarchyItem]:
    """Yield a computation that has a name in the text."""
    start, text = computation.offset, part.source.text
    if start < 0 or not text.startswith(computation.name, start):
        return
    count = len(computation.instructions)
    is_entry = computation is part.module.entry
    area = places.of(part, start, start + len(computation.name))
    yield lsp.CallHierarchyItem(
        visible(computation.name), lsp.SymbolKind.Function, places.uri, area, area,
        detail=f"{'ENTRY, ' if is_entry else ''}{count:,} instruction{'' if count == 1 else 's'}")
