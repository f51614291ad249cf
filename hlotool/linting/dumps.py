"""What the files of an `--xla_dump_to` folder are: of which module, at which stage, after which pass.

    module_0016.jit_step.before_optimizations.txt
    module_0016.jit_step.0007.simplification.after_algsimp.before_simplify-sorts.txt
    module_0016.jit_step.cpu_after_optimizations.txt
    module_0016.jit_step.cpu_after_optimizations-buffer-assignment.txt          is no HLO

Source: xla/service/dump.cc, FilenameFor and DumpHloModuleBetweenPassesIfEnabled.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hlotool.text.input_files import SUFFIXES

_MODULE = re.compile(r"(?:(?P<stamp>\d{10,})\.)?module_(?P<number>\d+)\.(?P<rest>.+)")
_STAGE = re.compile(r"(?P<module>.+?)\.(?:sm_[\d.]+[a-z]?_)?(?:[a-z]+_)?(?P<stage>(?:before|after)_optimizations)")
_PASS = re.compile(r"(?P<module>.+?)\.(?P<index>\d{4,})\.(?P<pipeline>.+?)\.after_(?P<after>.+?)"
                   r"(?:\.before_(?P<before>.+))?")
#: endings of files that hold HLO, longest first
_HLO_ENDINGS = (".hlo.txt", ".hlo.pb", ".txt", ".hlo", ".pb")
#: what the names of other files of a dump contain, and what those files are
_OTHERS: Mapping[str, str] = {
    "buffer-assignment": "buffer assignment", "live-range": "live ranges", "memory-usage-report": "memory usage",
    "memory-report": "memory usage", "thunk_sequence": "thunks", "thunk-sequence": "thunks", "debug_options": "options",
    "flagfile": "options", "execution_profile": "profiles", "autotune_results": "autotuning results",
    "snapshot": "arguments", "hlo_metadata": "metadata", "gpu_target_config": "options",
    "compile_options": "options", "topology": "options",
}
#: endings of other files
_OTHER_ENDINGS: Mapping[str, str] = {
    ".ll": "LLVM IR", ".bc": "LLVM IR", ".o": "object files", ".s": "assembly", ".ptx": "assembly",
    ".cubin": "object files", ".hsaco": "object files", ".dot": "graphs", ".html": "graphs", ".svg": "graphs",
    ".textproto": "options", ".pbtxt": "options", ".json": "JSON", ".log": "logs",
    ".mlir": "StableHLO or MLIR of the same module", ".mlirbc": "StableHLO or MLIR of the same module",
}
#: how HLO text looks, for files whose names do not say
_LOOKS_LIKE_HLO = re.compile(
    rb"^[ \t]*(?:HloModule\b|ENTRY\b|(?:ROOT )?%?[\w.\-]+ = \S.*\w\(|%?[\w.\-]+ (?:\(.*\) -> .*)?\{[ \t]*$)", re.M)
_SNIFFED = 1 << 16


@dataclass(frozen=True, slots=True)
class DumpName:
    """What the name of a dumped module says."""

    module: str
    number: int
    #: before_optimizations, after_optimizations or between_passes
    stage: str
    stamp: str = ""
    index: int = -1
    pipeline: str = ""
    #: the pass after which it was dumped, and the next one; "" where the name does not say
    after: str = ""
    before: str = ""

    @property
    def order(self) -> float:
        """Grows along the compilation."""
        return {"before_optimizations": -1.0, "after_optimizations": float("inf")}.get(self.stage, float(self.index))

    @property
    def maker(self) -> str:
        """What made the module as it is here, in words."""
        if self.stage == "before_optimizations":
            return "the frontend"
        if self.stage == "after_optimizations":
            return "what follows the last dumped pass"
        is_start = self.after == "pipeline-start"
        return f"what precedes {self.pipeline}" if is_start else f"{self.after} in {self.pipeline}"


def dump_name(name: str) -> DumpName | None:
    """The parts of a dumped module's file name; None for any other name.

    >>> dump_name("module_0003.jit_f.0007.simplification.after_algsimp.before_dce.txt").maker
    'algsimp in simplification'
    """
    stem = _without_ending(name)
    found = _MODULE.fullmatch(stem) if stem else None
    if found is None:
        return None
    number, stamp = int(found["number"]), found["stamp"] or ""
    if step := _PASS.fullmatch(found["rest"]):
        return DumpName(step["module"], number, "between_passes", stamp, int(step["index"]), step["pipeline"],
                        step["after"], step["before"] or "")
    if stage := _STAGE.fullmatch(found["rest"]):
        return DumpName(stage["module"], number, stage["stage"], stamp)
    return None


def _without_ending(name: str) -> str:
    name = name.removesuffix(".gz")
    return next((name.removesuffix(e) for e in _HLO_ENDINGS if name.endswith(e)), "")


@dataclass(slots=True)
class Folder:
    """The files of a folder that are to be looked at, and what the others are, counted."""

    path: str
    files: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def is_dump(self) -> bool:
        """Whether XLA wrote it."""
        return any(dump_name(os.path.basename(f)) for f in self.files)


def read_folder(path: str) -> Folder:
    """Sort the files of a folder and those below it."""
    folder = Folder(path)
    names = sorted(os.path.join(where, name) for where, _, files in os.walk(path) for name in files)
    dumps = {f for f in names if dump_name(os.path.basename(f))}
    stems = {_without_ending(f): f for f in dumps if not f.removesuffix(".gz").endswith(".pb")}
    for file in names:
        if not os.path.isfile(file):  # a named pipe, a socket, a device, a link to nothing
            folder.skipped["no regular files"] += 1
        elif file in dumps and stems.get(_without_ending(file), file) != file:
            folder.skipped["the same modules as protobuf"] += 1
        elif reason := "" if file in dumps else _reason(file, bool(dumps)):
            folder.skipped[reason] += 1
        elif file in dumps or file.removesuffix(".gz").endswith(SUFFIXES):
            folder.files.append(file)
    return folder


def _reason(file: str, is_dump: bool) -> str:
    """Why a file is none to look at; '' for one that is."""
    name = os.path.basename(file).removesuffix(".gz")
    if is_dump or _MODULE.fullmatch(name):
        for word, what in _OTHERS.items():
            if word in name:
                return what
    ending = os.path.splitext(name)[1]
    if is_dump and ending in _OTHER_ENDINGS:
        return _OTHER_ENDINGS[ending]
    if name.endswith(".txt") and not name.endswith(".hlo.txt") and not _looks_like_hlo(file):
        return "text that is no HLO"
    return "other files" if is_dump and not name.endswith(SUFFIXES) else ""


def _looks_like_hlo(file: str) -> bool:
    """Whether the beginning of a file may be HLO; a compressed or unreadable one may."""
    try:
        with open(file, "rb") as stream:
            head = stream.read(_SNIFFED)
    except OSError:
        return True
    return head.startswith(b"\x1f\x8b") or not head.strip() or _LOOKS_LIKE_HLO.search(head) is not None


def by_module(files: Iterable[str]) -> Iterator[tuple[str, list[tuple[DumpName, str]]]]:
    """The dumps of each module, a name for it first, in the order of its compilation."""
    groups: dict[tuple[str, str, int, str], list[tuple[DumpName, str]]] = {}
    for file in files:
        dump = dump_name(os.path.basename(file))
        if dump is not None:
            key = (str(Path(file).parent), dump.stamp, dump.number, dump.module)
            groups.setdefault(key, []).append((dump, file))
    for (_, _, number, module), dumps in sorted(groups.items()):
        yield f"module_{number:04}.{module}", sorted(dumps, key=lambda pair: pair[0].order)
