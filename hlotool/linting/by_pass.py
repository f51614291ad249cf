"""The pass that introduced a finding: it lies between a dump without the finding and the next, which has it.

A finding is recognised in the next dump by its instruction, else by its statement, its message, or the operation of the
program that it comes from, each without the numbers and layouts that passes change; every finding of one dump is paired
with one of the next.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hlotool.diagnostics import Diagnostic, Note
from hlotool.diagnostics.fingerprint import normal
from hlotool.dumps import Dump, DumpName, chains_of, dumps_of
from hlotool.linting.files import FileFindings

_LAYOUT = re.compile(r"(?<=\])\{[\d,:TSE()*]*\}")


@dataclass(slots=True)
class Introduced:
    """The findings that the passes of one module introduced."""

    module: str
    #: the files of its dumps
    files: frozenset[str]
    #: findings that were there before the first pass
    before: int = 0
    #: each with a note that names the pass
    diagnostics: list[Diagnostic] = field(default_factory=list)
    #: pass in words -> [findings that it introduced, those of them that are there at the end]
    passes: dict[str, list[int]] = field(default_factory=dict)

    @property
    def dumps(self) -> int:
        """Dumps of the module."""
        return len(self.files)


@dataclass(slots=True)
class _Tracked:
    diagnostic: Diagnostic
    keys: tuple[tuple[str, ...], ...]
    #: its place in the result if it was introduced; -1 before the first pass
    origin: int = -1


def introduced(files: Iterable[FileFindings]) -> Iterator[Introduced]:
    """Return what each module's passes introduced, for modules with several dumps.

    Findings of other files belong to no pass; `files` of the results tells which files are covered.
    """
    findings = {f.filename: f for f in files}
    for chain in chains_of(dumps_of(findings)):
        if len(chain.dumps) > 1:
            yield _of_chain(chain.title, chain.dumps, findings)


def _of_chain(title: str, dumps: Sequence[Dump], findings: Mapping[str, FileFindings]) -> Introduced:
    result = Introduced(title, frozenset(d.path for d in dumps))
    made: list[tuple[Diagnostic, str, DumpName]] = []
    previous: list[_Tracked] = []
    last: DumpName | None = None
    ended: dict[int, str] = {}
    for dump, file in ((d.name, findings[d.path]) for d in dumps):
        current = [_Tracked(d, _keys(d, *s)) for d, s in zip(file.diagnostics, file.statements, strict=False)]
        new, gone = _matched(previous, current)
        if last is None:
            result.before = len(current)
        else:
            for found in new:
                found.origin = len(made)
                made.append((found.diagnostic, dump.maker, last))
            ended.update((found.origin, dump.maker) for found in gone if found.origin >= 0)
        previous, last = current, dump
    for number, (diagnostic, maker, before) in enumerate(made):
        counts = result.passes.setdefault(maker, [0, 0])
        counts[0] += 1
        counts[1] += number not in ended
        stays = f"removed by {ended[number]}" if number in ended else "it stays to the last dump"
        note = Note(f"introduced by {maker}; {stays}; absent {_where(before)}")
        result.diagnostics.append(replace(diagnostic, notes=(*diagnostic.notes, note)))
    return result


def _where(dump: DumpName) -> str:
    return dump.stage.replace("_", " ") if dump.step < 0 else f"in dump {dump.step:04}"


def _keys(found: Diagnostic, name: str, statement: str) -> tuple[tuple[str, ...], ...]:
    """Return the keys by which a finding may be recognised, the surest first."""
    program = found.origin.op_name if found.origin is not None else ""
    plain = normal(_LAYOUT.sub("", statement))
    return (
        (found.code, "name", name) if name else (),
        (found.code, "statement", plain) if plain else (),
        (found.code, "message", normal(_LAYOUT.sub("", found.message))),
        (found.code, "program", program) if program else (),
    )


def _matched(previous: Sequence[_Tracked], current: Sequence[_Tracked]) -> tuple[list[_Tracked], list[_Tracked]]:
    """Return findings of the current dump that the previous one does not have, and the other way round."""
    left, new = list(previous), list(current)
    for level in range(4):
        by_key: dict[tuple[str, ...], list[_Tracked]] = defaultdict(list)
        for found in reversed(left):
            if found.keys[level]:
                by_key[found.keys[level]].append(found)
        taken: set[int] = set()
        unmatched = []
        for found in new:
            same = by_key.get(found.keys[level]) if found.keys[level] else None
            if same:
                old = same.pop()
                found.origin = old.origin
                taken.add(id(old))
            else:
                unmatched.append(found)
        left = [f for f in left if id(f) not in taken]
        new = unmatched
    return new, left
