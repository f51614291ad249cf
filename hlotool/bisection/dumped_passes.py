"""The passes that an executor's compiler runs on a module: it is asked to dump them, and the dumps are judged."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

from hlotool.bisection.chain_judge import Options, judge_chain
from hlotool.bisection.pass_verdicts import ChainVerdict, PassVerdict
from hlotool.dumps import read_folder
from hlotool.execution import Options as RunOptions
from hlotool.execution import Program, executor_named
from hlotool.ir import HloModule
from hlotool.ir.arrays import Array

#: processor seconds for the passes of a small module
_BUDGET = 20.0
#: what makes XLA write the module after every pass, beside the folder for it
_DUMPED = (("xla_dump_hlo_as_text", True), ("xla_dump_hlo_pass_re", ".*"))


def judge_compilation(module: HloModule, rows: Sequence[Sequence[Array]], executor: str = "pjrt:cpu",
                      options: Options | None = None) -> ChainVerdict | None:
    """The verdict on each pass of a compilation of the module by one of XLA's clients, on those arguments.

    None where it writes no dumps. Raises HloError where the module does not compile, or does not run.
    """
    options = options or Options()
    with tempfile.TemporaryDirectory(prefix="hlotool-passes-") as folder:
        asked = executor_named(executor, RunOptions(
            options.time_limit, compile_options=(("xla_dump_to", folder), *_DUMPED)))
        asked.run(Program(module), [rows])
        chains = read_folder(folder).chains
        return judge_chain(max(chains, key=lambda c: len(c.dumps)), options) if chains else None


def judge_small(module: HloModule, rows: Sequence[Sequence[Array]], executor: str = "pjrt:cpu",
                time_limit: float = 60.0) -> ChainVerdict | None:
    """`judge_compilation` of a small module, on nothing but those arguments, extreme ones as good as others."""
    arguments = tuple(rows[0]) if rows else None
    return judge_compilation(module, rows, executor, Options(
        arguments, budget=_BUDGET, time_limit=time_limit, counts_extremes=True))


def first_wrong_pass(module: HloModule, rows: Sequence[Sequence[Array]], executor: str = "pjrt:cpu",
                     time_limit: float = 60.0) -> PassVerdict | None:
    """The first pass of a small module's compilation after which the reference gives something else on those arguments.

    None where no pass is to blame, or none is dumped. Raises HloError where the module does not compile, or run.
    """
    judged = judge_small(module, rows, executor, time_limit)
    return next(iter(judged.wrong), None) if judged is not None else None
