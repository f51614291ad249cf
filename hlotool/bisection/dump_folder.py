"""A folder of dumps as chains: the dumps of each module in the order of passes.

A file whose name says that it holds a module, and which cannot be read, stays in its chain as a gap; what is no dump
is counted. One file that holds many dumps (`IR Dump After ...` of MLIR, a log) is a chain by itself.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from hlotool.bisection.codes import NO_CHAIN, NOT_A_DUMP
from hlotool.bisection.dump_names import DumpName, dump_name, is_beside
from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.ir import HloModule, Source
from hlotool.text.input_files import Input, bytes_of, files_of, inputs_of, plain_text, uncompressed

#: what MLIR prints in front of each dump of --mlir-print-ir-after-all
_BANNER = re.compile(r"^[ \t]*// -----// IR Dump (?P<when>After|Before) (?P<what>.+?)(?: Failed)? //----- //[ \t]*$",
                     re.M)
#: modules of one name among which the start of a chain without one is looked for
_LOOKED_BACK = 64
#: files without numbers that hold one module each, for a folder that a person has put together
_SUFFIXES = (".hlo", ".txt", ".mlir", ".mlirbc", ".pb")


@dataclass(eq=False)
class Dump:
    """A module between two passes."""

    name: DumpName
    path: str
    #: the module's text where the file holds several
    part: Source | None = None
    module: HloModule | None = None
    #: why there is no module
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


@dataclass
class Folder:
    """What a folder holds."""

    path: str
    chains: list[Chain]
    #: files that are no dumps of modules
    beside: int = 0
    #: modules of which there is one dump only, so that nothing can be compared
    alone: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)


def read_folder(path: str | Path, wanted: Callable[[str], bool] | None = None) -> Folder:
    """The chains of a folder (or of one file of many dumps), unread. Raises HloError where there is none.

    `wanted` says of a module's name whether its chain is asked for.
    """
    root = Path(path)
    if not str(path) or not root.exists():
        files_of(path)
        bytes_of(root)
    found = Folder(str(path), [])
    chains: dict[tuple[str, str, int, str], Chain] = {}
    for file in sorted(p for p in root.rglob("*") if p.is_file()) if root.is_dir() else [root]:
        for dump in _dumps_of(file, root, found):
            name = dump.name
            place = str(file.parent), name.stamp, name.number, name.module
            chain = chains.setdefault(place, Chain(name.module or file.parent.name, name.number, name.stamp))
            chain.dumps.append(dump)
    for chain in chains.values():
        chain.dumps.sort(key=lambda d: (d.name.rank, d.path))
    asked = [c for c in _joined(list(chains.values())) if wanted is None or wanted(c.name)]
    found.chains = [c for c in asked if len(c.dumps) > 1]
    found.alone = len(asked) - len(found.chains)
    if not found.chains:
        raise HloError([Diagnostic(
            NO_CHAIN, f"{path} holds no two dumps of one module", filename=str(path),
            help="XLA writes such folders with XLA_FLAGS='--xla_dump_to=FOLDER --xla_dump_hlo_pass_re=.*'")])
    return found


def _dumps_of(file: Path, root: Path, found: Folder) -> Iterator[Dump]:
    name = dump_name(file.name)
    if name is not None:
        yield Dump(name, str(file))
        return
    plain = file.name.removesuffix(".gz")
    if root.is_file() or (plain.endswith((".mlir", ".log", ".txt")) and not _is_side_text(plain)):
        parts = list(_printed_after_passes(file))
        if parts:
            yield from parts
            return
    found.beside += 1
    if not is_beside(plain) and plain.endswith(_SUFFIXES) and plain != "module.mlir":
        found.diagnostics.append(Diagnostic(
            NOT_A_DUMP, f"{file.name} is not named as a dump between passes, and is left out", Severity.INFO,
            filename=str(file)))


def _is_side_text(name: str) -> bool:
    return name.endswith(".txt") and is_beside(name)


def _printed_after_passes(file: Path) -> Iterator[Dump]:
    """The modules that one file holds, each after a line that names the pass."""
    try:
        text = plain_text(uncompressed(bytes_of(file), str(file)).decode("utf-8", "surrogateescape"))
    except HloError:
        return
    banners = list(_BANNER.finditer(text))
    number = 0
    for begin, after in itertools.zip_longest(banners, banners[1:]):
        part = text[begin.end():after.start() if after is not None else len(text)]
        if (begin["when"] == "Before" and number) or not part.strip():
            continue
        label = "input" if begin["when"] == "Before" else begin["what"]
        source = Source(part, str(file), 1 + text.count("\n", 0, begin.end()))
        yield Dump(DumpName("", 0, file.name, (1, number), "mlir", label, ""), str(file), source)
        number += 1


def _joined(chains: list[Chain]) -> list[Chain]:
    """Chains of one module whose number changed on the way, as one."""
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
    """Whether the second chain is the rest of the first: it has no start, and its passes come later."""
    first, last, following = before.dumps[0], before.dumps[-1], after.dumps[0]
    return (Path(first.path).parent == Path(following.path).parent and first.name.is_start
            and not following.name.is_start and last.name.rank < following.name.rank)


class Reader:
    """Reads dumps; files of the same text are one module."""

    def __init__(self) -> None:
        self._known: dict[bytes, HloModule] = {}

    def read(self, dump: Dump) -> None:
        """Fill in the module of a dump, or why there is none."""
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
                self._known[key] = _module_of(Input(dump.path, "mlir", dump.part))
            return self._known[key]
        data = bytes_of(Path(dump.path))
        known = self._known.get(data)
        if known is None:
            inputs = inputs_of(data, dump.path)
            if not inputs:
                raise HloError([Diagnostic(NOT_A_DUMP, "it is empty", filename=dump.path)])
            known = self._known[data] = _module_of(inputs[0])
        return known


def _module_of(given: Input) -> HloModule:
    """The module of an input. Raises HloError."""
    if given.kind == "hlo":
        from hlotool.passes.read import parse_source

        assert given.source is not None
        return parse_source(given.source)
    if given.kind == "proto":
        from hlotool.proto import read_proto

        return read_proto(given.data, given.filename)
    from hlotool.stablehlo import from_stablehlo

    return from_stablehlo(given.source.text if given.source is not None else given.data)
