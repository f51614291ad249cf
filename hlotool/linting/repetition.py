"""Repetition in what was found: one finding with a count for many of one kind, and one code for one statement."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from hlotool.diagnostics import Diagnostic, Note, Severity
from hlotool.diagnostics.fingerprint import normal
from hlotool.ir import Position, Source
from hlotool.passes.lints import RULES

#: as many findings of one kind as are still told one by one
_TOLD = 2
#: places that the one finding names beside its own
_PLACES = 3
_GRAVITY = {s: n for n, s in enumerate((Severity.ERROR, Severity.WARNING, Severity.INFO))}


def aggregated(found: Sequence[Diagnostic], sources: Mapping[str, Source]) -> list[Diagnostic]:
    """The findings in order, those of one kind in one file as one, and of the lints about a statement the gravest.

    Of one kind are findings of one code whose operations come from one line of the program or have one op_name, or
    whose sentences differ in the numbers of names only. Errors are never put together.
    """
    kept = one_a_statement(found, sources)
    groups = _groups(kept)
    return [_joined(d, groups[n]) for n, d in enumerate(kept) if n in groups]


def one_a_statement(found: Sequence[Diagnostic], sources: Mapping[str, Source]) -> list[Diagnostic]:
    """Without the lints about a statement that another one is about, which is as grave or graver."""
    places = [_statement(diagnostic, sources) for diagnostic in found]
    best: dict[tuple[str, int], Diagnostic] = {}
    for diagnostic, place in zip(found, places, strict=True):
        if place is not None and (place not in best or _GRAVITY[diagnostic.severity] < _GRAVITY[best[place].severity]):
            best[place] = diagnostic
    return [d for d, place in zip(found, places, strict=True) if place is None or best[place].code == d.code]


def _statement(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> tuple[str, int] | None:
    """The line of a lint's finding, where it holds one statement."""
    source = sources.get(diagnostic.filename)
    if diagnostic.code not in RULES or not diagnostic.line or source is None:
        return None
    line = source.line(diagnostic.line)
    return (diagnostic.filename, diagnostic.line) if line.count(" = ") == 1 else None


def _groups(found: Sequence[Diagnostic]) -> dict[int, list[Diagnostic]]:
    """The findings of one kind by the number of their first; those told one by one each by its own."""
    leader = list(range(len(found)))

    def first(n: int) -> int:
        while leader[n] != n:
            leader[n] = leader[leader[n]]
            n = leader[n]
        return n

    seen: dict[Hashable, int] = {}
    for n, diagnostic in enumerate(found):
        for key in _kinds(diagnostic):
            one, other = sorted((first(seen.setdefault(key, n)), first(n)))
            leader[other] = one
    groups: dict[int, list[Diagnostic]] = {}
    for n, diagnostic in enumerate(found):
        groups.setdefault(first(n), []).append(diagnostic)
    told = {n: [d] for n, d in enumerate(found) if len(groups[first(n)]) <= _TOLD}
    return {n: group for n, group in groups.items() if len(group) > _TOLD} | told


def _kinds(diagnostic: Diagnostic) -> Iterator[Hashable]:
    if diagnostic.severity is Severity.ERROR or not diagnostic.line:
        return
    about = diagnostic.filename, diagnostic.code, diagnostic.severity
    yield (*about, "said", normal(diagnostic.message))
    if (origin := diagnostic.origin) is not None:
        if origin.line:
            yield (*about, "line", origin.file, origin.line)
        if origin.op_name:
            yield (*about, "op_name", origin.op_name)


def _joined(first: Diagnostic, group: Sequence[Diagnostic]) -> Diagnostic:
    """One finding for all of a group, at the first place, with the next ones as notes."""
    if len(group) == 1:
        return first
    notes = [Note(d.message, Position(d.line, d.column), Position(d.end_line, d.end_column))
             for d in group[1:1 + _PLACES]]
    rest = len(group) - 1 - len(notes)
    if rest:
        notes.append(Note(f"and {rest} more; --each lists them"))
    return replace(first, message=f"{first.message} ({len(group)} findings of this kind)",
                   notes=(*first.notes, *notes))
