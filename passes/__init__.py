"""Passes over a module; PASSES finds those that transform modules by name.

A folder is a subject: `verify` checks constraints, `legalize` brings forms of other times up to date, `lift` rewrites
operations that StableHLO lacks, `lints` finds programs that are legal but probably unintended, `equality` compares two
modules, `cost` counts the cost of running one. The files beside them serve all of these.

Passes of other packages are entry points (name = "module:function"); one is loaded when somebody names it:

    [project.entry-points."hlotool.passes"]
    merge-negations = "house_hlo.passes:merge_negations"
"""

from __future__ import annotations

import functools
import importlib
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from hlotool.ir import HloModule

#: function from a module to the transformed one, which may be the same object; keyword parameters are its options
Pass: TypeAlias = Callable[..., HloModule]
#: the entry point group of other packages' passes
GROUP = "hlotool.passes"


def library_files() -> tuple[str, ...]:
    """Return the files of `lift` that lift library calls: each is a pass of its name with the rules of a family."""
    return tuple(sorted(path.stem for path in pathlib.Path(__file__).parent.glob("lift/lift_library_*.py")))


@functools.cache
def _homes() -> Mapping[str, str]:
    """Return the modules that hold the passes, by name; the function's name has underscores for hyphens."""
    return {
        "dce": "hlotool.passes.dce",
        "legalize": "hlotool.passes.legalize.legalizer",
        **{name.replace("_", "-"): f"hlotool.passes.lift.{name}" for name in library_files()},
        "shrink-mesh": "hlotool.passes.shrink_mesh",
        "outline-fusions": "hlotool.passes.lift.fusion_calls",
        "outline-random-state": "hlotool.passes.lift.random_state_calls",
    }


class _Passes(Mapping[str, Pass]):
    """Passes by name, imported when asked for: reading a module must not load every operation.

    A pass of an installed package is found by its name, and is not listed. Raises HloError where it cannot be loaded.
    """

    def __getitem__(self, name: str) -> Pass:
        if name not in _homes():
            return _of_package(name)
        found: Pass = getattr(importlib.import_module(_homes()[name]), name.replace("-", "_"))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_homes())

    def __len__(self) -> int:
        return len(_homes())


def _of_package(name: str) -> Pass:
    """Return the pass that a package declares. Raises KeyError if none does, HloError if it cannot be loaded."""
    from hlotool.diagnostics import declared
    from hlotool.passes.codes import BAD_PASS

    found: Pass | None = declared(GROUP, name, "pass", BAD_PASS, callable, "no function")
    if found is None:
        raise KeyError(name)
    return found


def installed_passes() -> dict[str, str]:
    """Return the names of passes of installed packages, and the packages; none of their code is loaded."""
    from importlib.metadata import entry_points

    return {point.name: f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value
            for point in entry_points(group=GROUP)}


PASSES: Mapping[str, Pass] = _Passes()
