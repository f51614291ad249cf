"""Finds the pass that changes what a module computes, in a folder of dumps or in a compilation of a program."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hlotool.bisection.chain_judge import BisectOptions, judge_chain
from hlotool.bisection.dumped_passes import judge_compilation
from hlotool.bisection.pass_verdicts import ChainVerdict, PassVerdict
from hlotool.bisection.two_folders import Parting, compare_folders
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.dumps import NO_CHAIN, DumpReader, read_folder
from hlotool.execution import Program, arguments_for, fitted, read_module
from hlotool.ir import HloModule
from hlotool.ir.arrays import Array


@dataclass
class Bisection:
    """The verdict on each pass of each module, or the passes after which two folders part."""

    #: of one folder, or one compilation: a module's passes each
    modules: list[ChainVerdict] = field(default_factory=list)
    #: of two folders: a module of both each
    partings: list[Parting] = field(default_factory=list)
    #: of two folders: modules that one of them lacks
    unpaired: list[str] = field(default_factory=list)
    #: findings about the folder: files that could not be read
    notes: list[Diagnostic] = field(default_factory=list)

    @property
    def passes(self) -> list[PassVerdict]:
        """Every verdict in order: on a pass, or on a pair of dumps after the same pass of two folders."""
        return [v for m in self.modules for v in m.passes] + [v for p in self.partings for v in p.pairs]

    @property
    def wrong(self) -> list[PassVerdict]:
        """The verdicts on passes that change what a module computes."""
        return [v for v in self.passes if v.verdict == "wrong"]

    @property
    def verdict(self) -> str:
        """The worst verdict: wrong, none (nothing known of a pass), agrees (on what was tried) or equal (proved)."""
        said = {m.verdict for m in self.modules} | {v.verdict for p in self.partings for v in p.pairs}
        return next((v for v in ("wrong", "none", "agrees", "equal") if v in said), "none")

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The findings about the folder, its modules, and passes that are wrong."""
        return [*self.notes, *(d for m in self.modules for d in m.diagnostics),
                *(d for v in self.wrong for d in v.diagnostics)]


def bisect(dumps: Any, against: str | os.PathLike[str] | None = None, *, module: str | None = None,
           arguments: Sequence[Array] | None = None, seed: int = 0, time_budget: float = 4.0, time_limit: float = 60.0,
           counts_extremes: bool | None = None, executor: str = "pjrt:cpu",
           progress: Callable[[str], None] = lambda _: None) -> Bisection:
    """Judge every pass of a compiler: equal (proved), agreeing on all arguments that were tried, or wrong.

    `dumps` is the path of a folder that --xla_dump_to wrote, of a folder of MLIR passes, or of a file of
    --mlir-print-ir-after-all; anything else that `hlotool.read` takes is compiled by `executor`, one of XLA's clients,
    and its passes are judged. With `against`, the path of a second folder, dumps after the same passes are held against
    each other. `module` is a pattern of modules' names ("jit_*"). `arguments` are the entry's, a flat list of arrays;
    without them sets are made from `seed`, for `time_budget` seconds of processor time a module. `time_limit` is in
    seconds, for one run and for one search for an instruction. `counts_extremes` tells whether differences at the ends
    of the range count; by default they do in small programs. Raises HloError where there are no dumps to judge, or a
    program does not compile.
    """
    options = BisectOptions(tuple(arguments) if arguments is not None else None, seed, time_budget, time_limit,
                            counts_extremes, progress)
    if not _is_dump(dumps):
        return Bisection([_compiled(read_module(dumps), executor, options)])

    def wanted(name: str) -> bool:
        return module is None or fnmatch.fnmatchcase(name, module)

    folder = read_folder(Path(dumps), wanted)
    if against is not None:
        found, unpaired = compare_folders(folder, read_folder(Path(against), wanted), options)
        return Bisection([], found, unpaired, folder.diagnostics)
    reader = DumpReader()
    return Bisection([judge_chain(chain, options, reader) for chain in folder.chains], notes=folder.diagnostics)


def _is_dump(source: Any) -> bool:
    """Return True for a path that is no file of one program."""
    if not isinstance(source, (str, os.PathLike)) or (isinstance(source, str) and ("\n" in source or "{" in source)):
        return False
    if not os.path.isfile(source):
        return True
    try:
        return bool(read_folder(Path(source)).chains)
    except HloError:
        return False


def _compiled(module: HloModule, executor: str, options: BisectOptions) -> ChainVerdict:
    """Return the verdict on a compilation; HloError where none of its passes is dumped."""
    program = Program(module)
    rows = [fitted(program, options.arguments) if options.arguments is not None else
            arguments_for(program, options.seed + d) for d in range(program.devices)]
    found = judge_compilation(module, rows, executor, options)
    if found is None:
        raise HloError.of(NO_CHAIN, f"{executor} writes no dumps of its passes", filename=program.filename)
    return found
