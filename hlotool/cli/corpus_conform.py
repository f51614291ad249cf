"""The task of `hlotool corpus` that judges an executor by what modules give on it, as `hlotool conform` does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from hlotool.corpus import VERDICTS, Task, plain
from hlotool.ops import OPS
from hlotool.text.input_files import Input

#: the executor that is judged
_EXECUTOR = "pjrt:cpu"


def verdicts(given: Input) -> Iterator[tuple[str, dict[str, Any]]]:
    """The verdict on each case of a module: what its comments state, or made arguments and the reference's values."""
    from hlotool.conformance import cases_of, executors_of, judge_case, sections

    name, text = _text_of(given)
    stem = PurePath(given.filename).name.removesuffix(".hlo")
    opcode = stem if stem in OPS else ""  # as a suite of `hlotool conform` has it
    for section in sections(text, given.filename):
        for case in cases_of(section, "corpus", stem, opcode):
            for executor in executors_of(case, [_EXECUTOR]):
                found = judge_case(case, executor)
                ulps = found.worst.ulps if found.worst is not None else None
                yield VERDICTS.name, {
                    "module": plain(name), "case": plain(case.id), "executor": executor, "status": str(found.status),
                    "detail": plain(found.detail), "agreement": found.agreement, "seconds": found.seconds,
                    "ulps": ulps if ulps is not None and math.isfinite(ulps) else None}


def _text_of(given: Input) -> tuple[str, str]:
    """The module's name, and its text with the comments that state a case."""
    from hlotool.diagnostics import HloError
    from hlotool.stablehlo import module_of_input
    from hlotool.text import print_module

    try:
        module = module_of_input(given)
    except HloError:
        if given.source is None or "// error:" not in given.source.text:
            raise
        return "", given.source.text  # a text that is to be refused
    return module.name, given.source.text if given.kind == "hlo" and given.source is not None else print_module(module)


#: the task
CONFORM_TASK = Task("conform", f"verdicts on {_EXECUTOR}, as `hlotool conform` gives them", f"{__name__}:verdicts",
                    (VERDICTS,))
