"""The table of executors: each file of this folder declares one, as a class (see executor.py), under its names.

    reference        the NumPy functions of hlotool.ops, instruction by instruction (also called numpy)
    stablehlo        StableHLO's own reference interpreter
    pjrt:PLATFORM    StableHLO bytecode compiled and run by a PJRT client: pjrt:cpu, any platform that JAX finds, or the
                     library of a plugin by its path; with options (pjrt_clients.py)

`_OF_ROOMS` lists those that a room above this one declares. Executors of other packages are in the entry point group
`hlotool.executors` (name = "module:Class"), and are loaded only when somebody gives their name.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from importlib.util import find_spec

from hlotool.diagnostics import HloError, declared, nearest
from hlotool.execution.codes import UNKNOWN_EXECUTOR
from hlotool.execution.executor import Executor, Options

#: the entry point group of other packages' executors
GROUP = "hlotool.executors"
#: files of rooms above this one that declare an executor
_OF_ROOMS = ("hlotool.numerics.shadow_executor",)


@functools.cache
def executor_classes() -> Mapping[str, type[Executor]]:
    """Return the class of each name of hlotool's own executors, other names included."""
    found: dict[str, type[Executor]] = {}
    for name in (*(f"{__name__}.{entry.name}" for entry in pkgutil.iter_modules(__path__)), *_OF_ROOMS):
        module = importlib.import_module(name)
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Executor) and value.__module__ == module.__name__:
                found |= dict.fromkeys(value.names, value)
    return found


def executor_names() -> tuple[str, ...]:
    """The executors as help and messages list them: pjrt:PLATFORM, reference, ..."""
    classes = dict.fromkeys(executor_classes().values())
    return tuple(sorted(f"{c.names[0]}:{c.parameter}" if c.parameter else c.names[0] for c in classes))


def executor_named(name: str, options: Options | float | None = None) -> Executor:
    """The executor of that name; a number stands for options of that time limit. Raises HloError when there is none."""
    if not isinstance(options, Options):
        options = Options() if options is None else Options(time_limit=options)
    first, colon, argument = name.partition(":")
    found = executor_classes().get(first) or declared(
        GROUP, first, "executor", UNKNOWN_EXECUTOR, lambda one: isinstance(one, type) and issubclass(one, Executor),
        "no subclass of hlotool.execution.Executor")
    if found is None or bool(found.parameter) is not bool(colon and argument) or "\0" in name or _is_list(name):
        known = ", ".join(executor_names())
        raise HloError.of(UNKNOWN_EXECUTOR, f"no executor is called {name!r}; there are {known}",
                          filename="--executors", help=_advice(name))
    if missing := [top for top in dict.fromkeys(i.partition(".")[0] for i in found.imports) if find_spec(top) is None]:
        raise HloError.of(UNKNOWN_EXECUTOR, f"the executor {name} needs {missing[0]}, which is not installed",
                          filename="--executors",
                          help="--executors reference computes without it; pip install jax")
    return found(found.argument_of(argument), options)


def _is_list(name: str) -> bool:
    """Return True for names of several executors between commas; options may have commas of their own."""
    first, comma, rest = name.partition(",")
    return bool(comma) and "+" not in first and "/" not in name and rest.partition(":")[0] in executor_classes()


def _advice(name: str) -> str:
    """Return the executor that a name may mean; cpu is pjrt:cpu."""
    if "," in name:
        return f"write spaces between the names: --executors {name.replace(',', ' ')}"
    meant: dict[str, str] = {}
    for first, found in executor_classes().items():
        names = {f"{first}:{word}": word for word in found.parameters} or {first: first}
        for full, word in names.items():
            meant |= {full: full, word: full}
            meant.setdefault(first, full)
    near = nearest(name, meant)
    return f"did you mean {meant[near[0]]}?" if near else ""


def is_ours(name: str) -> bool:
    """Return True if a name is that of one of hlotool's own executors with no more than a platform and numbers.

    No file is read or written, and no other package's code runs, because of it.
    """
    first, _, argument = name.partition(":")
    found = executor_classes().get(first)
    return found is not None and not found.reads_files and found.is_harmless(argument)


def executor_name(name: str) -> str:
    """The one name of an executor that may have several: reference for numpy. Raises HloError when there is none."""
    return executor_named(name).name
