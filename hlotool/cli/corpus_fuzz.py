"""The task of `hlotool corpus` that looks for bugs of an executor in what modules hold, as `fuzz --dumps` does."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from typing import Any

from hlotool.corpus import CAMPAIGNS, SIGHTINGS, Task, plain
from hlotool.text import TODAY, print_module
from hlotool.text.input_files import Input

#: the executor that is judged
_EXECUTOR = "pjrt:cpu"
#: programs that are made of a module at most
_PROGRAMS = 16
#: for one run: a module with a loop without end shall not take all of the time that an input has
_SECONDS = 2.0


def sightings(given: Input) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the findings of mutated sections of a module, which follow from the module's text."""
    from hlotool.conformance import ConformanceCase, written
    from hlotool.execution import Program
    from hlotool.fuzzing import Plan, judge_programs, programs_of_module
    from hlotool.stablehlo import module_of_input

    module = module_of_input(given)
    seed = int.from_bytes(hashlib.sha256(print_module(module, TODAY).encode()).digest()[:8])
    plan = Plan(seed, _EXECUTOR, size=_PROGRAMS, time_limit=_SECONDS)
    found = judge_programs(plan, 0, programs_of_module(plan, Program(module).module, module.name))
    begin = {"module": plain(module.name), "executor": _EXECUTOR}
    yield CAMPAIGNS.name, {**begin, "programs": found.programs, "outcomes": list(found.outcomes.items())}
    for sighting in found.sightings:
        subject = sighting.subject
        case = ConformanceCase(f"section-{sighting.number}", "corpus", "", "", subject.text, replicas=len(subject.rows),
                               arguments=tuple(map(tuple, subject.rows)))
        yield SIGHTINGS.name, {**begin, "kind": sighting.kind, "said": plain(sighting.said),
                               "case": plain(written(case, longest=sys.maxsize))}


#: the task
FUZZ_TASK = Task("fuzz", f"mutated sections of each module, run on {_EXECUTOR} and judged", f"{__name__}:sightings",
                 (CAMPAIGNS, SIGHTINGS))
