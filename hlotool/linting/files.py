"""Linting files: one after the other, or in several processes with a bar that shows how far they are."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.dumps import dump_name, sort_folder
from hlotool.grammars import beginning
from hlotool.ir import HloModule, Source, deferred, no_collection
from hlotool.linting.codes import INTERNAL, WORKER_DIED
from hlotool.linting.linter import lint_module
from hlotool.linting.settings import Settings
from hlotool.text.folder_files import files_fitting, found_in, note_found
from hlotool.text.input_files import Input, joined, read_inputs

#: makes the module of an input, of HLO text by nothing but reading it; raises HloError
Reader: TypeAlias = Callable[[Input], HloModule]

#: processes are worth their start for this many files and bytes
_MANY_FILES, _MANY_BYTES = 4, 2_000_000
_STATEMENT = deferred(lambda: rf"\s*+{beginning('hlo', 'instruction', before=('WORD',))}([\w.\-]+)\s*=\s")


@dataclass(slots=True)
class FileFindings:
    """The findings of one file."""

    filename: str
    diagnostics: list[Diagnostic] = field(default_factory=list)
    #: the instruction and the statement that each finding is about
    statements: list[tuple[str, str]] = field(default_factory=list)
    suppressed: int = 0
    is_unreadable: bool = False
    #: the text, where it was kept
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class LintJob:
    """How to lint a file; goes to other processes."""

    settings: Settings
    reader: Reader
    #: whether statements are needed, for finding the same finding in other dumps
    with_statements: bool = False
    #: whether texts with findings are kept, which other processes would have to send
    with_source: bool = False

    def __call__(self, path: str) -> FileFindings:
        """Lint the modules of a file; whatever goes wrong is a diagnostic."""
        if self.settings.plugins:
            from hlotool.linting.plugins import load_plugins

            load_plugins(self.settings.plugins)
        done = FileFindings(path)
        try:
            for given in read_inputs([path]):
                done.filename = given.filename
                self._lint(given, done)
        except HloError as error:
            done.diagnostics += error.diagnostics
            done.is_unreadable = True
        except (Exception, RecursionError) as error:
            if os.environ.get("HLOTOOL_TRACEBACK"):
                raise
            done.diagnostics.append(Diagnostic(
                INTERNAL, f"a bug in hlotool, please report it: {type(error).__name__}: {error}", filename=path,
                help="HLOTOOL_TRACEBACK=1 shows where"))
        if not self.with_statements:
            done.statements = []
        if not done.diagnostics:
            done.source = None
        return done

    def _lint(self, given: Input, done: FileFindings) -> None:
        dump = dump_name(os.path.basename(given.filename))
        settings = self.settings.of_file(given.filename, dump.stage if dump else "")
        with no_collection():
            try:
                module = self.reader(given)
            except HloError as error:
                found, suppressed = settings.apply(error.diagnostics), 0
            else:
                found, suppressed = lint_module(module, settings, is_just_read=given.kind == "hlo")
        # What was imported has no places of its own, and is told apart by its file.
        found = [d if d.filename == given.filename else replace(d, filename=given.filename) for d in found]
        if self.with_source and given.source is not None:
            done.source = joined(done.source, given.source)
        done.suppressed += suppressed
        done.diagnostics += found
        if self.with_statements:
            done.statements += [_statement(given.source, d) for d in found]


def _statement(source: Source | None, found: Diagnostic) -> tuple[str, str]:
    line = source.line(found.line) if source is not None and found.line else ""
    name = _STATEMENT.match(line)
    return (name[1] if name else "", line)


def find_files(paths: Iterable[str], settings: Settings, *, follows: bool = True) -> tuple[list[str], Counter[str]]:
    """Files to lint, folders sorted out and patterns resolved; and what was skipped in the folders.

    Without `follows` no link that is found is among them.
    """
    found: list[str] = []
    skipped: Counter[str] = Counter()
    for path in paths:
        if not os.path.exists(path) and glob.has_magic(path):
            found += files_fitting(path, follows=follows) or [path]
        elif not os.path.isdir(path):
            found.append(path)
        else:
            folder = sort_folder(path, follows=follows)
            kept = [f for f in folder.files if not settings.fits(f, settings.exclude)]
            skipped += folder.skipped
            skipped["excluded"] += len(folder.files) - len(kept)
            # The reader reports a folder without any.
            found += kept or ([] if folder.files or folder.skipped else [path])
    return list(dict.fromkeys(found)), +skipped


def lint_each(paths: Sequence[str], job: LintJob, jobs: int = 0) -> Iterator[tuple[str, FileFindings]]:
    """Each file with its findings, as they are done."""
    number = jobs or _jobs_for(paths)
    if number <= 1 or len(paths) < 2 or "-" in paths:
        here = replace(job, with_source=True)
        yield from ((path, here(path)) for path in paths)
        return
    yield from _in_processes(paths, job, min(number, len(paths)))


class SourceTexts(Mapping[str, Source]):
    """The texts of files with findings, read again when they are asked for, where they were not kept."""

    def __init__(self, files: Iterable[FileFindings]) -> None:
        self._known = {f.filename: f.source for f in files if f.diagnostics}

    def __getitem__(self, filename: str) -> Source:
        source = self._known[filename]
        if source is None:
            source = self._known[filename] = _text(filename)
        return source

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _text(filename: str) -> Source:
    source: Source | None = None
    try:
        for given in read_inputs([filename]):
            if given.source is not None:
                source = joined(source, given.source)
    except HloError:  # it is what the findings are about
        pass
    return source or Source("", filename)


def _jobs_for(paths: Sequence[str]) -> int:
    files = [p for p in paths if p != "-" and os.path.isfile(p)]
    if len(files) < _MANY_FILES or sum(map(os.path.getsize, files)) < _MANY_BYTES:
        return 1
    from hlotool.process import processors

    return processors()


def _in_processes(paths: Sequence[str], job: LintJob, number: int) -> Iterator[tuple[str, FileFindings]]:
    """Each path with its findings, as they are done; a process that dies costs one file."""
    from hlotool.process import answers, note_progress

    # The largest first, so that no process is left with a long one at the end.
    ordered, folder = _largest_first(paths), os.getcwd()
    note_progress(max(map(_size, ordered), default=0))
    questions = [(folder, job, path, found_in(path)) for path in ordered]
    for at, found in answers("hlotool.linting.files:lint_file_in", questions, number):
        yield ordered[at], found if isinstance(found, FileFindings) else _lost(ordered[at], found)


def lint_file_in(folder: str, job: LintJob, path: str, found: str | None) -> FileFindings:
    """The findings of a file whose path counts from a folder: what children are asked for."""
    os.chdir(folder)
    note_found(path, found)
    try:
        return job(path)
    finally:
        os.chdir(os.sep)


def _lost(path: str, reason: Exception) -> FileFindings:
    return FileFindings(path, [Diagnostic(
        WORKER_DIED, f"the process that looked at this file was ended: {reason}", filename=path,
        help="it may have run out of memory: try fewer processes with --jobs")])


def _largest_first(paths: Iterable[str]) -> list[str]:
    return sorted(paths, key=lambda p: -_size(p))


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.isfile(path) else 0
