"""The tasks of `hlotool corpus` that take modules to StableHLO and back, with the stages of `hlotool roundtrip`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import Any

from hlotool.cli.inputs import Loaded
from hlotool.corpus import JOURNEYS, Task, bounded, plain
from hlotool.text.input_files import Input


def journey(given: Input) -> Iterator[tuple[str, dict[str, Any]]]:
    """A module's way there and back, without executing anything."""
    return _journey(given, skip=("run",))


def journey_with_runs(given: Input) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same, and both modules executed and compared."""
    return _journey(given, skip=())


def _journey(given: Input, skip: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    from hlotool.cli.parsers import parser_of
    from hlotool.cli.roundtrip_stages import take

    args: argparse.Namespace = parser_of("roundtrip", "hlotool roundtrip").parse_args(["-"])
    args.skip = skip
    row = take(Loaded(given.filename, given), args)
    ulps = row.worst.get("run")
    yield JOURNEYS.name, {
        "module": plain(row.module), "instructions": bounded(row.instructions), "stages": list(row.stages.items()),
        "worst_ulps": ulps if ulps is not None and math.isfinite(ulps) else None,
        "codes": [plain(d.code) for d in row.diagnostics], "seconds": row.seconds}


#: the tasks
JOURNEY_TASKS = tuple(Task(name, what, f"{__name__}:{function.__name__}", (JOURNEYS,)) for name, what, function in (
    ("roundtrip", "the stages of `hlotool roundtrip` that run nothing", journey),
    ("roundtrip-run", "all of its stages, on pjrt:cpu", journey_with_runs)))
