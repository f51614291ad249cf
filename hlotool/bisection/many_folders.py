"""Compares dump folders of several hosts or versions: the modules that are not the same, and where they differ.

Dumps are paired by module, pass, and how often that pass was dumped before, whatever the numbers in their names and the
host; other files by their path below the folder. Files of equal bytes are the same unread; others of one name are
parsed and told apart by fingerprint, for which names and metadata do not count, and for modules of different
fingerprints the first instruction that differs is named. Files that cannot be read are the same only where their bytes
are.

The dumps of a module stand in the order of its compilation. The first one that differs says where the folders part;
what follows from it is counted.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from hlotool.diagnostics import HloError, visible
from hlotool.dumps import DumpName, dump_name, sort_folder
from hlotool.ir import HloInstruction, HloModule
from hlotool.passes.equality import Diff, ModuleChange, diff, fingerprint
from hlotool.passes.origins import origin_of
from hlotool.text.folder_files import open_regular
from hlotool.text.input_files import NO_FILES, bytes_of, files_of

#: gives the modules of a file's bytes and its name; raises HloError
Read: TypeAlias = Callable[[bytes, str], list[HloModule]]
#: names of folders that a line lists
_LISTED = 4


@dataclass(frozen=True)
class ModuleVersion:
    """A module that one or several folders have under a name; `difference` is that from the first version."""

    folders: tuple[str, ...]
    file: str
    difference: str = ""


@dataclass(frozen=True)
class FolderRow:
    """A module of the folders: its versions, most folders first, and the folders that lack it."""

    name: str
    #: the module that is dumped, without the place in its compilation
    module: str
    versions: tuple[ModuleVersion, ...]
    missing: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """True if every folder has the same module."""
        return len(self.versions) == 1 and not self.missing


@dataclass
class FoldersDiff:
    """The result of `diff_folders`. True if all folders hold the same modules."""

    folders: tuple[str, ...]
    rows: list[FolderRow] = field(default_factory=list)

    def __bool__(self) -> bool:
        return all(row.is_same for row in self.rows)

    @property
    def different(self) -> list[FolderRow]:
        """The modules that are not the same everywhere."""
        return [row for row in self.rows if not row.is_same]

    def summary(self) -> str:
        """Return the verdict in a sentence."""
        same = len(self.rows) - len(self.different)
        modules = "1 module" if len(self.rows) == 1 else f"{len(self.rows)} modules"
        return f"{len(self.folders)} folders, {modules}: {same} the same everywhere" + (
            "" if self else f", {len(self.different)} not")

    def lines(self, *, every: bool = False) -> Iterator[tuple[str, str]]:
        """Yield the report line by line, each with its kind as those of Diff.

        Of the dumps of a module the first that differs is shown; those behind it are counted, or shown with `every`.
        """
        for _, group in itertools.groupby(self.different, key=lambda row: row.module):
            rows = list(group)
            parting = next((n for n, row in enumerate(rows) if len(row.versions) > 1), len(rows))
            shown, folded = (rows, []) if every else (rows[:parting + 1], rows[parting + 1:])
            for row in shown:
                yield from self._of_row(row)
            if folded:
                yield "part", f"  {_folded(folded)}"

    def _of_row(self, row: FolderRow) -> Iterator[tuple[str, str]]:
        yield "head", f"{row.name}: {_counted(row, len(self.folders))}"
        for version in row.versions[1:]:
            yield "~", f"  {_listed(version.folders)}: {version.difference}"
        if row.missing:
            yield "-", f"  {_listed(row.missing)}: no such module"

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {"folders": list(self.folders), "modules": len(self.rows), "equal": bool(self), "different": [
            {"name": row.name, "module": row.module, "missing": list(row.missing), "versions": [
                {"folders": list(v.folders), "file": v.file, "difference": v.difference} for v in row.versions]}
            for row in self.different]}


def diff_folders(folders: Sequence[str | Path], read: Read, *, layouts: bool = True) -> FoldersDiff:
    """Compare the modules of two and more folders. Raises HloError for a folder without modules."""
    names = tuple(str(f) for f in folders)
    held = [_files(Path(f)) for f in folders]
    digests = _digests(path for files in held for paths in files.values() for path in paths)
    versions = _Versions(read, digests, layouts)
    found = FoldersDiff(names)
    for key in _in_order(held):
        found.rows.extend(_rows(key, names, [files.get(key, []) for files in held], versions))
    return found


class _Key(NamedTuple):
    """The module that a file holds a dump of, or the path of another file, and the place in its compilation."""

    module: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.module}, {self.place}" if self.place else self.module


def _in_order(held: Sequence[dict[_Key, list[Path]]]) -> list[_Key]:
    """Return the keys of all folders: modules by name, and the dumps of each in the order of its compilation.

    A dump that only another folder has stands behind the one that it has before it.
    """
    found: dict[str, list[_Key]] = defaultdict(list)
    for files in held:
        before: dict[str, int] = {}
        for key in files:
            known = found[key.module]
            if key not in known:
                known.insert(before.get(key.module, -1) + 1, key)
            before[key.module] = known.index(key)
    return [key for module in sorted(found) for key in found[module]]


def _files(folder: Path) -> dict[_Key, list[Path]]:
    """Return the files of modules below a folder by their keys, in their order. Raises HloError (R002)."""
    files_of(folder)
    found: dict[_Key, list[Path]] = defaultdict(list)
    seen: Counter[tuple[Path, str, int, str, str]] = Counter()
    for path in sorted(map(Path, sort_folder(str(folder)).files), key=_order):
        name = dump_name(path.name)
        if name is None:
            found[_Key(str(path.relative_to(folder)))].append(path)
            continue
        label = _label(name)
        same = path.parent, name.stamp, name.number, name.module, label
        seen[same] += 1
        place = "" if path.parent == folder else f"{path.parent.relative_to(folder)}/"
        times = f" ({seen[same]})" if name.step >= 0 else ""
        found[_Key(f"{place}{name.module or 'module'}", f"{label}{times}")].append(path)
    if not found:
        raise HloError.of(NO_FILES, f"the folder {folder} holds no module, only what compilers leave beside "
                          "them", filename=str(folder))
    return found


def _order(path: Path) -> tuple[Path, str, int, tuple[int, ...], str]:
    """Return a key that sorts the dumps of a module along its compilation."""
    name = dump_name(path.name)
    return (path.parent, "", -1, (), path.name) if name is None \
        else (path.parent, name.stamp, name.number, name.rank, path.name)


def _label(name: DumpName) -> str:
    """Return the place of a dump in the compilation without its number, which other versions of a compiler change.

    `after algsimp in simplification` between passes, `cpu_after_optimizations` outside of them.
    """
    if name.step < 0:
        return name.after
    return f"after {name.after}" + (f" in {name.pipeline}" if name.pipeline and not name.is_mlir else "")


def _digests(paths: Iterable[Path]) -> dict[Path, bytes]:
    """Return the digest of each file; b"" for one that cannot be read."""
    def digest(path: Path) -> bytes:
        try:
            with open_regular(path) as stream:
                return hashlib.file_digest(stream, "sha256").digest()
        except OSError:
            return b""

    listed = list(paths)
    with ThreadPoolExecutor() as pool:
        return dict(zip(listed, pool.map(digest, listed), strict=True))


@dataclass(frozen=True)
class _Mark:
    """The mark of a module: the fingerprints of what its files hold, or their bytes if they cannot be parsed.

    Files of equal bytes that stand for nothing else are known by these, too.
    """

    key: str
    #: why nothing could be read
    problem: str = field(default="", compare=False)


class _Versions:
    """The contents of files, each read once, and the differences of contents."""

    def __init__(self, read: Read, digests: dict[Path, bytes], layouts: bool) -> None:
        self.read, self.digests, self.layouts = read, digests, layouts
        self._marks: dict[bytes, _Mark] = {}
        self._differences: dict[tuple[_Mark, _Mark], str] = {}

    def mark(self, path: Path, is_alone: bool) -> _Mark:
        """Return the mark of a file's module; if no other file differs (`is_alone`), nothing is read."""
        digest = self.digests[path]
        if not digest:  # nobody knows what is in it, so it is no other file's equal
            return self._read_mark(path, f"unread {path}")
        if is_alone:
            return _Mark(digest.hex())
        if digest not in self._marks:
            self._marks[digest] = self._read_mark(path, digest.hex())
        return self._marks[digest]

    def _read_mark(self, path: Path, unread: str) -> _Mark:
        """Return the mark of a file's modules; `unread` is its key if there are none."""
        try:
            modules = self.read(bytes_of(path), str(path))
            found = " ".join(fingerprint(m, layouts=self.layouts) for m in modules)
        except HloError as error:
            return _Mark(unread, error.diagnostics[0].message)
        except (RecursionError, MemoryError) as error:
            return _Mark(unread, f"it is too large or too deeply nested ({type(error).__name__})")
        return _Mark(found) if found else _Mark(unread, "it holds no module")

    def difference(self, most: Path, other: Path) -> str:
        """Return the difference of a file's module from the one that most folders have."""
        marks = self.mark(most, False), self.mark(other, False)
        if marks not in self._differences:
            self._differences[marks] = self._told(most, other, *marks)
        return self._differences[marks]

    def _told(self, most: Path, other: Path, most_mark: _Mark, other_mark: _Mark) -> str:
        if most_mark.problem and other_mark.problem:
            return f"other bytes, and neither can be read: {other_mark.problem}"
        if other_mark.problem:
            return f"cannot be read: {other_mark.problem}"
        if most_mark.problem:
            return f"can be read; {most} cannot be read: {most_mark.problem}"
        one, two = self.read(bytes_of(most), str(most)), self.read(bytes_of(other), str(other))
        if len(one) != len(two):
            return f"{len(two)} {'module' if len(two) == 1 else 'modules'} in the file, {len(one)} elsewhere"
        for left, right in zip(one, two, strict=True):
            if not (found := diff(left, right, layouts=self.layouts)):
                return _first(found)
        return _beside_changes(one, two)


def _rows(key: _Key, folders: Sequence[str], held: Sequence[Sequence[Path]], versions: _Versions
          ) -> Iterator[FolderRow]:
    """Yield the modules of one name; of several in a folder those of one fingerprint belong together, then in order."""
    is_alone = len({versions.digests[p] for paths in held for p in paths}) == 1
    marks = [[(versions.mark(p, is_alone), p) for p in paths] for paths in held]
    count = max(map(len, held))
    for number, row in enumerate(_paired(marks, count)):
        groups: dict[_Mark, list[tuple[str, Path]]] = defaultdict(list)
        for folder, entry in zip(folders, row, strict=True):
            if entry is not None:
                groups[entry[0]].append((folder, entry[1]))
        ordered = sorted(groups.values(), key=lambda g: -len(g))
        first = ordered[0][0][1]
        yield FolderRow(str(key) if count == 1 else f"{key} ({number + 1} of {count})", key.module, tuple(
            ModuleVersion(tuple(f for f, _ in group), str(group[0][1]),
                          versions.difference(first, group[0][1]) if group is not ordered[0] else "")
            for group in ordered),
            tuple(f for f, entry in zip(folders, row, strict=True) if entry is None))


def _paired(marks: Sequence[list[tuple[_Mark, Path]]], count: int) -> list[list[tuple[_Mark, Path] | None]]:
    """Return for each folder the row of each of its files of one name: by mark, then in order."""
    rows: list[list[tuple[_Mark, Path] | None]] = [[None] * len(marks) for _ in range(count)]
    #: the rows in which a mark stands
    known: dict[_Mark, list[int]] = defaultdict(list)
    # The fullest folder first, for it has a file in each row.
    for folder in sorted(range(len(marks)), key=lambda n: -len(marks[n])):
        free = {mark: deque(numbers) for mark, numbers in known.items()}
        taken, waiting = set[int](), []
        for entry in marks[folder]:
            row = next(_popped(free.get(entry[0], deque()), taken), None)
            if row is None:
                waiting.append(entry)
            else:
                rows[row][folder] = entry
                taken.add(row)
        left = (row for row in range(count) if row not in taken)
        for entry, row in zip(waiting, left, strict=False):
            rows[row][folder] = entry
            known[entry[0]].append(row)
    return rows


def _popped(numbers: deque[int], taken: set[int]) -> Iterator[int]:
    """Return those that are not taken, from the front, and take them."""
    while numbers:
        if (number := numbers.popleft()) not in taken:
            yield number


# What is said

def _first(found: Diff) -> str:
    """Return the first difference of two modules, with the sources of both sides."""
    if found.header and not found.changes:
        part = found.header[0]
        return f"header {part.name} is {visible(part.right) or 'absent'}, elsewhere {visible(part.left) or 'absent'}"
    changes = sorted(found.changes, key=_place)
    change = changes[0]
    rest = f"; {len(changes) - 1} more differ" if len(changes) > 1 else ""
    return f"{_change(change, found)}{rest}"


def _beside_changes(one: Sequence[HloModule], two: Sequence[HloModule]) -> str:
    """Return the difference of modules whose instructions are all pairs."""
    names = [n for left, right in zip(one, two, strict=True) for n in (*left.attributes, *right.attributes)
             if left.attributes.get(n) != right.attributes.get(n)]
    if names:
        return f"the same instructions, another header: {', '.join(dict.fromkeys(names))}"
    left, right = (sorted(i.opcode for m in modules for i in m.instructions()) for modules in (one, two))
    if left != right:
        return "the same results, with other instructions that are dead or repeat others"
    return "the same instructions in another order"


def _place(change: ModuleChange) -> tuple[int, int]:
    """Return the place of a change in the text: instructions first, by the side that has one."""
    item = change.right or change.left
    return (0, item.offset) if item is not None else (1, 0)


def _change(change: ModuleChange, found: Diff) -> str:
    if change.left is None and change.right is None:
        side = change.left_computation or change.right_computation
        return f"computation {side.name if side else ''} is {'absent' if change.right_computation is None else 'new'}"
    if change.left is None and change.right is not None:
        return f"{_told_of(change.right, found.right)} is new"
    if change.right is None and change.left is not None:
        return f"{_told_of(change.left, found.left)} is absent"
    assert change.left is not None and change.right is not None
    parts = ", ".join(f"{p.name} {p.right or 'absent'} instead of {p.left or 'absent'}" for p in change.parts)
    return f"{_told_of(change.right, found.right)}: {parts}; elsewhere {_told_of(change.left, found.left)}"


def _told_of(instruction: HloInstruction, module: HloModule) -> str:
    """Return `add %x (train.py:12)`, with the op_name if no file is known."""
    origin = origin_of(module, instruction)
    where = (f"{origin.file}:{origin.line}" if origin.file else origin.op_name) if origin is not None else ""
    return f"{instruction.opcode} %{instruction.name}" + (f" ({where})" if where else "")


def _counted(row: FolderRow, folders: int) -> str:
    if len(row.versions) == 1:
        return f"{len(row.missing)} of {folders} folders lack it"
    others = sum(len(v.folders) for v in row.versions[1:])
    return (f"{len(row.versions)} versions; {_listed(row.versions[0].folders)} "
            f"{'has' if len(row.versions[0].folders) == 1 else 'have'} one, {others} of {folders} another")


def _folded(rows: Sequence[FolderRow]) -> str:
    """Count the dumps behind the one at which the folders part."""
    other = sum(len(row.versions) > 1 for row in rows)
    counts = [f"{other} dump{'s' * (other != 1)} behind it differ{'s' * (other == 1)}, too"] if other else []
    if lacking := len(rows) - other:
        counts.append(f"{lacking} dump{'s' * (lacking != 1)} behind it {'is' if lacking == 1 else 'are'} "
                      "not in every folder")
    last = rows[-1].name.removeprefix(f"{rows[-1].module}, ")
    return f"{', '.join(counts)}; the last one is {last}; --all shows each"


def _listed(folders: Sequence[str]) -> str:
    shown = ", ".join(folders[:_LISTED])
    return shown if len(folders) <= _LISTED else f"{shown} and {len(folders) - _LISTED} more"
