"""Judges the passes that an executor's compiler runs on a module, which it is asked to dump."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

from hlotool.bisection.chain_judge import BisectOptions, judge_chain
from hlotool.bisection.pass_verdicts import ChainVerdict, PassVerdict
from hlotool.dumps import read_folder
from hlotool.execution import Options as RunOptions
from hlotool.execution import Program, executor_named
from hlotool.ir import HloModule
from hlotool.ir.arrays import Array
from hlotool.process import scratch_folder

#: processor seconds for the passes of a small module
_BUDGET = 20.0
#: flags by which XLA writes the module after every pass, besides that of the folder
_DUMPED = (("xla_dump_hlo_as_text", True), ("xla_dump_hlo_pass_re", ".*"))


def judge_compilation(module: HloModule, rows: Sequence[Sequence[Array]], executor: str = "pjrt:cpu",
                      options: BisectOptions | None = None) -> ChainVerdict | None:
    """Return the verdict on each pass of a compilation of the module by one of XLA's clients, on those arguments.

    None where it writes no dumps. Raises HloError where the module does not compile, or does not run.
    """
    options = options or BisectOptions()
    with tempfile.TemporaryDirectory(prefix="passes-", dir=scratch_folder()) as folder:
        asked = executor_named(executor, RunOptions(
            options.time_limit, compile_options=(("xla_dump_to", folder), *_DUMPED)))
        asked.run(Program(module), [rows])
        chains = read_folder(folder).chains
        return judge_chain(max(chains, key=lambda c: len(c.dumps)), options) if chains else None


def judge_small(module: HloModule, rows: Sequence[Sequence[Array]], executor: str = "pjrt:cpu",
                time_limit: float = 60.0) -> ChainVerdict | None:
    """Return `judge_compilation` of a small module on those arguments alone, where extreme ones count as others do."""
    arguments = tuple(rows[0]) if rows else None
    return judge_compilation(module, rows, executor, BisectOptions(
        arguments, budget=_BUDGET, time_limit=time_limit, counts_extremes=True))


def first_wrong_pass(module: HloModule, rows: Sequence[Sequence[Array]], executor: str = "pjrt:cpu",
                     time_limit: float = 60.0) -> PassVerdict | None:
    """Return the first pass of a small module's compilation that changes its results on those arguments.

    None where no pass is to blame, or none is dumped. Raises HloError where the module does not compile, or run.
    """
    judged = judge_small(module, rows, executor, time_limit)
    return next(iter(judged.wrong), None) if judged is not None else None
