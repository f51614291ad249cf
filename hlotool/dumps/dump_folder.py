"""Folders of dumps: which files hold modules, and the dumps of each module as a chain in the order of passes.

A file whose name tells that it holds a module, and which cannot be read, stays in its chain as a gap; files without a
module are counted. One file that holds many dumps (`IR Dump After ...` of MLIR, a log) is a chain by itself.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from hlotool.diagnostics import Diagnostic, HloError, Severity, first_few
from hlotool.dumps.codes import NO_CHAIN, NOT_A_DUMP
from hlotool.dumps.dump_names import DumpName, dump_name, other_kind, without_suffix
from hlotool.ir import HloModule, Source, deferred, with_line_feeds
from hlotool.text.folder_files import files_below, open_regular
from hlotool.text.input_files import SUFFIXES, Input, bytes_of, files_of, inputs_of, uncompressed

#: the line that MLIR prints in front of each dump of --mlir-print-ir-after-all
_BANNER = deferred(
    lambda: r"^[ \t]*// -----// IR Dump (?P<when>After|Before) (?P<what>.+?)(?: Failed)? //----- //[ \t]*$",
    re.M)
#: modules of one name among which the start of a chain without one is looked for
_LOOKED_BACK = 64
#: a line of HLO text, for files whose names do not tell
_LOOKS_LIKE_HLO = deferred(
    lambda: rb"^[ \t]*(?:HloModule\b|ENTRY\b|(?:ROOT )?%?[\w.\-]+ = \S.*\w\(|%?[\w.\-]+ (?:\(.*\) -> .*)?\{[ \t]*$)",
    re.M)
_SNIFFED = 1 << 16
#: kinds of files without a module in their names that may hold many dumps
_PRINTED = ("text that is no HLO", "logs", "MLIR of kernels")
_SAME = "the same modules as protobuf"


@dataclass(slots=True)
class SortedFolder:
    """The files of a folder and those below it: the ones that may hold modules, and the kinds of the others."""

    path: str
    #: in the order of their names; in a folder of XLA's dumps without MLIR and without protobuf of modules that are
    #: there as text
    files: list[str] = field(default_factory=list)
    #: file -> kind; "" for files that nobody expects to be read
    others: dict[str, str] = field(default_factory=dict)

    @property
    def is_dump(self) -> bool:
        """True if XLA wrote the folder."""
        return any(_is_xla_dump(f) for f in self.files)

    @property
    def skipped(self) -> Counter[str]:
        """Other files per kind."""
        return Counter(kind for kind in self.others.values() if kind)


def sort_folder(path: str, *, follows: bool = True) -> SortedFolder:
    """Return the files of a folder sorted by names and, for plain texts, by their first lines.

    Links out of the folder are not among them, without `follows` no links at all.
    """
    folder = SortedFolder(path)
    names = sorted(files_below(path, follows=follows))
    dumps = {f for f in names if _is_xla_dump(f)}
    texts = {without_suffix(f): f for f in dumps if not f.removesuffix(".gz").endswith(".pb")}
    for file in names:
        if not os.path.isfile(file):  # a named pipe, a socket, a device, a link to nothing
            folder.others[file] = "no regular files"
        elif file in dumps and texts.get(without_suffix(file), file) != file:
            folder.others[file] = _SAME
        elif file in dumps or (kind := _kind(file, bool(dumps))) is None:
            folder.files.append(file)
        else:
            folder.others[file] = kind
    return folder


def _is_xla_dump(file: str) -> bool:
    found = dump_name(os.path.basename(file))
    return found is not None and not found.is_mlir


def _kind(file: str, is_dump: bool) -> str | None:
    """Return the kind of a file that holds no module, "" for one that nobody expects to be read; None for others."""
    name = os.path.basename(file).removesuffix(".gz")
    is_known = name.endswith(SUFFIXES)
    if not is_dump and not is_known:
        return ""
    if kind := other_kind(name, is_dump):
        return kind
    if is_dump and name.endswith((".mlir", ".mlirbc")):
        return "StableHLO or MLIR of the same module"
    if name.endswith(".txt") and not name.endswith(".hlo.txt") and not _looks_like_hlo(file):
        return "text that is no HLO"
    return None if is_known else "other files"


def _looks_like_hlo(file: str) -> bool:
    """Return True if the beginning of a file may be HLO; a compressed or unreadable one may."""
    try:
        with open_regular(file) as stream:
            head = stream.read(_SNIFFED)
    except OSError:
        return True
    return head.startswith(b"\x1f\x8b") or not head.strip() or _LOOKS_LIKE_HLO.search(head) is not None


@dataclass(eq=False)
class Dump:
    """A module between two passes."""

    name: DumpName
    path: str
    #: the module's text where the file holds several
    part: Source | None = None
    module: HloModule | None = None
    #: the reasons for which there is no module
    problems: list[Diagnostic] = field(default_factory=list)

    @property
    def label(self) -> str:
        """`algsimp (simplification)`: the pass that the dump was made after."""
        where = f" ({self.name.pipeline})" if self.name.pipeline and self.name.pipeline != "mlir" else ""
        return f"{self.name.after}{where}"


@dataclass
class Chain:
    """The dumps of one module, in the order of passes."""

    name: str
    number: int
    stamp: str
    dumps: list[Dump] = field(default_factory=list)

    @property
    def title(self) -> str:
        """`module_0012.jit_f`, the beginning of XLA's names; the name alone for MLIR."""
        is_mlir = bool(self.dumps) and self.dumps[0].name.is_mlir
        return self.name if is_mlir else f"module_{self.number:04}.{self.name}"


@dataclass
class DumpFolder:
    """The chains of a folder."""

    path: str
    chains: list[Chain]
    #: files that are no dumps of modules
    beside: int = 0
    #: modules of which there is one dump only, so that nothing can be compared
    alone: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)


def read_folder(path: str | Path, wanted: Callable[[str], bool] | None = None) -> DumpFolder:
    """Return the chains of a folder (or of one file of many dumps), unread. Raises HloError where there is none.

    `wanted` tells by a module's name if its chain is asked for.
    """
    root = Path(path)
    if not str(path) or not root.exists():
        files_of(path)
        bytes_of(root)
    found = DumpFolder(str(path), [])
    every = chains_of(_dumps(root, found))
    asked = [c for c in every if wanted is None or wanted(c.name)]
    found.chains = [c for c in asked if len(c.dumps) > 1]
    found.alone = len(asked) - len(found.chains)
    if every and not asked:
        names = sorted({c.name for c in every})
        raise HloError.of(NO_CHAIN, f"{path} holds no dumps of a module of the name that is asked for",
                          filename=str(path), help=f"it holds those of {first_few(names, 8)}")
    if not found.chains:
        raise HloError.of(
            NO_CHAIN, f"{path} holds no two dumps of one module", filename=str(path),
            help="XLA writes such folders with XLA_FLAGS='--xla_dump_to=FOLDER --xla_dump_hlo_pass_re=.*'")
    return found


def dumps_of(files: Iterable[str]) -> Iterator[Dump]:
    """Return the files whose names are those of dumped modules, unread."""
    for file in files:
        name = dump_name(os.path.basename(file))
        if name is not None:
            yield Dump(name, file)


def chains_of(dumps: Iterable[Dump]) -> list[Chain]:
    """Return the dumps of each module in the order of passes, those of a module whose number changed as one chain."""
    chains: dict[tuple[str, str, int, str], Chain] = {}
    for dump in dumps:
        name, folder = dump.name, Path(dump.path).parent
        key = str(folder), name.stamp, name.number, name.module
        chain = chains.setdefault(key, Chain(name.module or folder.name, name.number, name.stamp))
        chain.dumps.append(dump)
    for chain in chains.values():
        chain.dumps.sort(key=lambda d: (d.name.rank, d.path))
    return _joined(list(chains.values()))


def _dumps(root: Path, found: DumpFolder) -> Iterator[Dump]:
    """Return the dumps of a folder, or of one file; what is none is counted in `found`."""
    if root.is_file():
        yield from _dumps_of(str(root), None, found)
        return
    folder = sort_folder(str(root))
    for file in sorted([*folder.files, *folder.others]):
        kind = folder.others.get(file)
        if kind == _SAME:
            found.beside += 1
        elif kind != "no regular files":
            yield from _dumps_of(file, kind, found)


def _dumps_of(file: str, kind: str | None, found: DumpFolder) -> Iterator[Dump]:
    """Return the dumps in a file of a kind; None: of one that may hold a module."""
    if named := list(dumps_of([file])):
        yield from named
        return
    name = os.path.basename(file)
    plain = name.removesuffix(".gz")
    may_be_printed = kind is None or kind in _PRINTED or plain.endswith((".mlir", ".log"))
    if may_be_printed and (parts := list(_printed_after_passes(file))):
        yield from parts
        return
    found.beside += 1
    if kind is None and not other_kind(plain) and plain.endswith(SUFFIXES) and plain != "module.mlir":
        found.diagnostics.append(Diagnostic(
            NOT_A_DUMP, f"{name} is not named as a dump between passes, and is left out", Severity.INFO, filename=file))


def _printed_after_passes(file: str) -> Iterator[Dump]:
    """Return the modules that one file holds, each after a line that names the pass."""
    try:
        text = with_line_feeds(uncompressed(bytes_of(Path(file)), file).decode("utf-8", "surrogateescape"))
    except HloError:
        return
    banners = list(_BANNER.finditer(text))
    number = 0
    for begin, after in itertools.zip_longest(banners, banners[1:]):
        part = text[begin.end():after.start() if after is not None else len(text)]
        if (begin["when"] == "Before" and number) or not part.strip():
            continue
        label = "input" if begin["when"] == "Before" else begin["what"]
        source = Source(part, file, 1 + text.count("\n", 0, begin.end()))
        yield Dump(DumpName("", 0, os.path.basename(file), (1, number), "mlir", label, ""), file, source)
        number += 1


def _joined(chains: list[Chain]) -> list[Chain]:
    """Return the chains, those of one module whose number changed on the way as one."""
    found: list[Chain] = []
    #: name and stamp -> chains with a start, which one without may go on
    started: dict[tuple[str, str], list[Chain]] = {}
    for chain in sorted(chains, key=lambda c: (c.stamp, c.number, c.name)):
        key = chain.name, chain.stamp
        can_go_on = not chain.dumps[0].name.is_start
        latest = started.get(key, [])[-_LOOKED_BACK:][::-1] if can_go_on else []
        before = next((c for c in latest if _goes_on(c, chain)), None)
        if before is None:
            found.append(chain)
            if chain.dumps[0].name.is_start:
                started.setdefault(key, []).append(chain)
        else:
            before.dumps += chain.dumps
    return found


def _goes_on(before: Chain, after: Chain) -> bool:
    """Return True if the second chain is the rest of the first: it has no start, and its passes come later."""
    first, last, following = before.dumps[0], before.dumps[-1], after.dumps[0]
    return (Path(first.path).parent == Path(following.path).parent and first.name.is_start
            and not following.name.is_start and last.name.rank < following.name.rank)


class DumpReader:
    """Reads dumps; files of the same text are one module."""

    def __init__(self) -> None:
        self._known: dict[bytes, HloModule] = {}

    def read(self, dump: Dump) -> None:
        """Fill in the module of a dump, or the reason for which there is none."""
        if dump.module is not None or dump.problems:
            return
        try:
            dump.module = self._module(dump)
        except HloError as error:
            first = error.diagnostics[0]
            said = f"{Path(dump.path).name} cannot be read: {first.message}"
            dump.problems = [replace(first, code=NOT_A_DUMP, message=said, severity=Severity.WARNING,
                                     filename=dump.path)]
        except (RecursionError, MemoryError) as error:
            dump.problems = [Diagnostic(NOT_A_DUMP, f"{Path(dump.path).name} cannot be read: it is too large or too "
                                        f"deeply nested ({type(error).__name__})", Severity.WARNING,
                                        filename=dump.path)]

    def _module(self, dump: Dump) -> HloModule:
        if dump.part is not None:
            key = dump.part.text.encode("utf-8", "surrogateescape")
            if key not in self._known:
                self._known[key] = _parsed(Input(dump.path, "mlir", dump.part))
            return self._known[key]
        data = bytes_of(Path(dump.path))
        known = self._known.get(data)
        if known is None:
            inputs = inputs_of(data, dump.path)
            if not inputs:
                raise HloError.of(NOT_A_DUMP, "it is empty", filename=dump.path)
            known = self._known[data] = _parsed(inputs[0])
        return known


def _parsed(given: Input) -> HloModule:
    """Return the module of an input. Raises HloError."""
    from hlotool.stablehlo import module_of_input

    return module_of_input(given)
