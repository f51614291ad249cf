"""Runs HLO text whole in a child process, from reading it to its values.

Nothing that a text holds can end the caller or keep it waiting: reading, lifting, compiling, running and evaluating all
happen in the child, within one time limit. A child that ended, or was ended, is started again for the next text; its
start is not counted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution.codes import COMPILE_ERROR, CRASH, RUN_ERROR, TIMEOUT, UNKNOWN_EXECUTOR, UNSUPPORTED
from hlotool.execution.process import Crashed, Process, TimedOut

Array: TypeAlias = Any
#: leaves by device
PerDevice: TypeAlias = Sequence[Sequence[Array]]

#: seconds for a runtime to start
START_LIMIT = 180.0
#: devices that a CPU client offers at least
HOST_DEVICES = 8
#: other names of the reference
_REFERENCE = ("numpy", "reference")


def run_text(text: str, arguments: PerDevice, executor: str, *, infeed: PerDevice = (), devices: int = 1,
             time_limit: float = 60.0, filename: str = "<string>") -> list[list[Array]]:
    """The results of every device, leaf by leaf, for the arguments of every device.

    `executor` is numpy (or reference), stablehlo, or pjrt:PLATFORM; `infeed` is what the host hands to each device.
    Raises HloError: what is wrong with the text, or a code of codes.py for what became of it.
    """
    found: list[list[Array]] = _asked(executor, devices, "text", (text, filename, executor, arguments, infeed),
                                      time_limit, filename)
    return found


def text_arguments(text: str, kind: str, seed: int = 0, *, time_limit: float = 60.0,
                   filename: str = "<string>") -> list[list[Array]]:
    """Made arguments of every device of a module; the kinds are those of arguments.py. Raises HloError."""
    found: list[list[Array]] = _asked("numpy", 1, "arguments", (text, filename, kind, seed), time_limit, filename)
    return found


def text_findings(text: str, *, legalize: bool = False, time_limit: float = 60.0,
                  filename: str = "<string>") -> list[Diagnostic]:
    """Every error of a text: of its syntax, else of its verification.

    `legalize` writes forms of another time as today's first. Raises HloError for a crash or a time-out.
    """
    found: list[Diagnostic] = _asked("numpy", 1, "findings", (text, filename, legalize), time_limit, filename)
    return found


def describe_executor(executor: str) -> dict[str, str]:
    """What stands behind an executor: its platform, devices and the versions of its libraries. Raises HloError."""
    return dict(_asked(executor, 1, "describe", (executor,), START_LIMIT, ""))


def checked_executor(executor: str) -> str:
    """The name of an executor, the reference as `numpy`. Raises HloError for a name that none has."""
    name = "numpy" if executor in _REFERENCE else executor
    if name not in ("numpy", "stablehlo") and not (name.startswith("pjrt:") and len(name) > len("pjrt:")):
        raise HloError([Diagnostic(UNKNOWN_EXECUTOR, f"no executor is called {executor!r}; there are numpy, stablehlo "
                                                     "and pjrt:PLATFORM", filename="--executor")])
    return name


def _asked(executor: str, devices: int, task: str, question: tuple[Any, ...], time_limit: float,
           filename: str) -> Any:
    def failure(code: str, message: str) -> HloError:
        return HloError([Diagnostic(code, message, filename=filename)])

    name = checked_executor(executor)
    child = _child(name, max(HOST_DEVICES, devices))
    try:
        if not child.is_running:
            child.ask(("ready", (name,)), START_LIMIT)
        kind, value = child.ask((task, question), time_limit)
    except Crashed as error:
        raise failure(CRASH, f"{name} crashed: {error}") from error
    except TimedOut as error:
        raise failure(TIMEOUT, f"{name} gave {error}") from error
    if kind == "ok":
        problems, found = value
        if problems:
            raise HloError(problems)
        return found
    code = {"compile": COMPILE_ERROR, "unsupported": UNSUPPORTED}.get(kind, RUN_ERROR)
    raise failure(code, f"{name}: {value}")


def close_children() -> None:
    """End the child processes; the next question starts new ones."""
    for child in _children.values():
        child.close()


#: executor and devices -> child
_children: dict[tuple[str, int], Process] = {}


def _child(name: str, devices: int) -> Process:
    """The child of an executor for that many CPU devices, both fixed when its runtime starts."""
    if (name, devices) in _children:
        return _children[name, devices]
    platform = name.removeprefix("pjrt:") if name.startswith("pjrt:") else "cpu"
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}".strip()
    # No other platform is started: a GPU's client takes most of its memory at once.
    found = Process({"XLA_FLAGS": flags, "JAX_PLATFORMS": platform, "TF_CPP_MIN_LOG_LEVEL": "3"})
    _children[name, devices] = found
    return found


# What follows runs in the child. Answers are (problems, value): problems are what HloError carries.

Answer: TypeAlias = "tuple[list[Diagnostic], Any]"


def answer(text: str, filename: str, executor: str, arguments: PerDevice, infeed: PerDevice) -> Answer:
    """Read, lift and run."""
    try:
        return [], _results(_program(text, filename), executor, arguments, infeed)
    except HloError as error:
        return error.diagnostics, None


def answer_arguments(text: str, filename: str, kind: str, seed: int) -> Answer:
    """Make arguments; each device draws numbers of its own."""
    from hlotool.execution.arguments import arguments_for

    try:
        program = _program(text, filename)
    except HloError as error:
        return error.diagnostics, None
    return [], [arguments_for(program, seed + device, kind) for device in range(program.devices)]


def answer_findings(text: str, filename: str, legalize: bool) -> Answer:
    """Read and verify."""
    from hlotool.diagnostics import Severity
    from hlotool.passes.legalize import legalized
    from hlotool.passes.read import parse
    from hlotool.passes.verify import verify

    try:
        module = parse(text, filename)
        found = verify(legalized(module) if legalize else module)
    except HloError as error:
        found = error.diagnostics
    return [], sorted((d for d in found if d.severity is Severity.ERROR), key=lambda d: (d.line, d.column))


def answer_ready(executor: str) -> Answer:
    """Import what the executor needs, so that no text pays for it."""
    import numpy as np

    from hlotool.execution.arguments import arguments_for

    text = "HloModule ready\nENTRY e { a = f32[1] parameter(0)  ROOT b = f32[1] negate(a) }"
    program = _program(text, "ready")
    with np.errstate(all="ignore"):
        return [], _results(program, executor, [arguments_for(program)] * program.devices, ())


def answer_describe(executor: str) -> Answer:
    """Names and versions."""
    import importlib.metadata
    import platform

    versions = {name: importlib.metadata.version(name) for name in ("numpy", "ml_dtypes", "jaxlib")}
    found = {"platform": "numpy", "machine": platform.machine(), "system": platform.system(),
             "python": platform.python_version(), **versions}
    if executor.startswith("pjrt:"):
        from jax.extend import backend

        client = backend.get_backend(executor.removeprefix("pjrt:"))
        found |= {"platform": str(client.platform), "platform_version": str(client.platform_version).strip(),
                  "device": str(client.local_devices()[0].device_kind)}
    elif executor == "stablehlo":
        found["platform"] = "stablehlo"
    return [], found


def _program(text: str, filename: str) -> Any:
    from hlotool.execution.program import Program
    from hlotool.passes.read import parse

    return Program(parse(text, filename))


def _results(program: Any, executor: str, arguments: PerDevice, infeed: PerDevice) -> list[list[Array]]:
    from hlotool.execution.program import fitted

    if len(arguments) != program.devices:
        from hlotool.execution.codes import ARGUMENTS

        raise HloError([Diagnostic(ARGUMENTS, f"the module runs on {program.devices} devices, arguments are given for "
                                              f"{len(arguments)}")])
    given = [fitted(program, row) for row in arguments]
    if executor in _REFERENCE:
        from collections import deque

        from hlotool.execution.devices import Queues
        from hlotool.execution.evaluate import evaluate_program

        queues = [Queues(deque(row)) for row in infeed] if infeed else None
        return evaluate_program(program, given, queues=queues)
    if infeed:
        raise HloError([Diagnostic(UNSUPPORTED, f"{executor}: nothing feeds the module's infeeds")])
    if executor == "stablehlo":
        return _on_interpreter(program, given)
    from hlotool.execution import pjrt

    job = pjrt.Job(executor.removeprefix("pjrt:"), program.stablehlo, program.replicas, program.partitions,
                   program.partitioning)
    return pjrt.answer(job, [given])[0]


def _on_interpreter(program: Any, given: PerDevice) -> list[list[Array]]:
    from hlotool.execution import interpreter

    if program.partitioning == "automatic":
        raise HloError([Diagnostic(UNSUPPORTED, "stablehlo: the interpreter does not partition modules")])
    return interpreter.answer(program.stablehlo, program.replicas, program.partitions, [given])[0]
