"""The report in a bundle: values on both sides and at higher precision, the guilty operation, versions."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import re
from dataclasses import dataclass, field
from typing import Any

from hlotool.blame import blame
from hlotool.diagnostics import HloError
from hlotool.execution import Program, describe_executor, evaluate_program, executor_named, library_versions
from hlotool.ir import HloInstruction
from hlotool.ir.arrays import np
from hlotool.numerics import shadow_program
from hlotool.ops import OPS, flow_of
from hlotool.reduction.bundle_archive import Bundle
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.guilty_pass import GuiltyPass
from hlotool.reduction.oracle import Failure, Interest, Observation, WrongResult, wrong_results
from hlotool.text import print_module

#: environment variables that change what a compiler does
FLAGS = ("XLA_FLAGS", "JAX_ENABLE_X64", "JAX_DEFAULT_MATMUL_PRECISION", "TF_XLA_FLAGS")
#: executors that a report asks beside the two of a verdict
_OTHERS = ("stablehlo",)
#: elements of an argument that a report shows
_SHOWN = 16


@dataclass
class Account:
    """Facts about a wrong value."""

    index: tuple[int, ...] = ()
    result: int = 0
    device: int = 0
    #: executor -> the element that it gives
    values: dict[str, str] = field(default_factory=dict)
    guilty: HloInstruction | None = None
    together: tuple[HloInstruction, ...] = ()


def bundle_of(candidate: Candidate, test: Interest, seen: Observation, command: str = "") -> Bundle:
    """The bundle of a failure that was seen."""
    sign = seen.signs[0]
    if isinstance(test, Failure) and test.message:
        test = test.plain(seen.said)
        sign = test.sign
    made = Bundle(candidate, test, sign, seen.said, versions=versions_here(test), command=command,
                  flags={name: os.environ[name] for name in FLAGS if os.environ.get(name)})
    account = None
    if isinstance(test, WrongResult):
        program, rows = Program(candidate.module), candidate.rows or []
        made.actual = _run(test.executor, program, rows, test.time_limit) or []
        made.expected = _reference(program, rows)
        account = _account(test, candidate, program)
    made.issue = issue_text(made, account)
    return made


def versions_here(test: Interest) -> dict[str, str]:
    """Return what a failure may depend on, in this place: versions of hlotool, its libraries, and the executor."""
    executor = getattr(test, "executor", "reference")
    try:
        found = describe_executor(executor)
    except HloError:
        found = {}
    ours = {"hlotool": importlib.metadata.version("hlotool"), **library_versions()}
    return ours | {k: str(v) for k, v in found.items()}


def _run(executor: str, program: Program, rows: Any, time_limit: float) -> list[list[Any]] | None:
    try:
        return executor_named(executor, time_limit).run(program, [rows])[0]
    except HloError:
        return None


def _reference(program: Program, rows: Any) -> list[list[Any]]:
    try:
        return evaluate_program(program, rows)
    except HloError:
        return []


def _account(test: WrongResult, candidate: Candidate, program: Program) -> Account | None:
    """The worst element on every executor, and the guilty instruction."""
    found = wrong_results(test, candidate)
    if not found:
        return None
    worst = max(found, key=lambda j: (j.kind, j.problem))
    made = Account(worst.worst)
    if not worst.problem and worst.kinds.size:
        made.values[test.executor] = str(worst.given[worst.worst])
        made.values[test.against] = str(worst.reference[worst.worst])
    _add_others(made, test, program, candidate.rows or [], worst)
    try:
        guilty = blame(program, candidate.rows or [], executor_named(test.executor, test.time_limit), seconds=20.0)
    except HloError:
        guilty = None
    if guilty is not None:
        made.guilty, made.together = guilty.place.instruction, guilty.together
    return made


def _add_others(made: Account, test: WrongResult, program: Program, rows: Any, worst: Any) -> None:
    """The same element at higher precision, and on further executors."""
    reference = _reference(program, rows)
    place = next(((d, n) for d, row in enumerate(reference) for n, leaf in enumerate(row)
                  if leaf.shape == worst.reference.shape and leaf.tobytes() == worst.reference.tobytes()), None)
    if place is None:
        return
    made.device, made.result = place
    rounded = program.results[place[1]]
    if rounded.is_array and rounded.dtype.family in ("float", "complex"):
        with contextlib.suppress(HloError, ValueError, TypeError, IndexError):
            made.values["at higher precision"] = f"{shadow_program(program, rows)[place[0]][place[1]][made.index]:.17g}"
    for name in _OTHERS:
        given = _run(name, program, rows, test.time_limit) if name not in (test.executor, test.against) else None
        if given is not None:
            made.values[name] = str(given[place[0]][place[1]][made.index])


def issue_text(bundle: Bundle, account: Account | None) -> str:
    """The report: what happens, how to see it, why it is a bug, versions."""
    module = bundle.candidate.module
    parts = [f"# {_title(bundle, account)}", "## Description", _description(bundle),
             "```\n" + print_module(module).strip() + "\n```"]
    if bundle.candidate.rows:
        parts += ["Arguments:", _arguments(bundle)]
    parts += ["## Reproduction", "```\npip install hlotool\nhlotool bundle run bug.zip\n```"]
    if bundle.command:
        parts.append(f"The bundle was made by {_code(bundle.command)}.")
    if account is not None and account.values:
        parts += ["## Values", _table(account)]
    parts += ["## Why this is a bug", _reason(bundle, account), "## System information", _system(bundle)]
    return "\n\n".join(parts) + "\n"


def _title(bundle: Bundle, account: Account | None) -> str:
    executor = getattr(bundle.test, "executor", "")
    opcode = account.guilty.opcode if account is not None and account.guilty is not None else ""
    if isinstance(bundle.test, GuiltyPass):
        return f"{executor}: {bundle.sign}" + (f", {opcode}" if opcode else "")
    if isinstance(bundle.test, WrongResult):
        return f"{executor}: {bundle.sign} result" + (f" of {opcode}" if opcode else "")
    return f"{executor}: {_inline(bundle.said or bundle.sign)[:100]}"


def _description(bundle: Bundle) -> str:
    if isinstance(bundle.test, WrongResult):
        return f"{bundle.test.executor} gives another value than {bundle.test.against} for this module: " \
               f"{_inline(bundle.said)}."
    return f"{bundle.test.describe()}: {_inline(bundle.said)}"


def _inline(text: str) -> str:
    """A text of others in a line of Markdown."""
    return re.sub(r"\s+", " ", re.sub(r"([`*_<>\[\]|#])", r"\\\1", text))


def _arguments(bundle: Bundle) -> str:
    lines = []
    for device, row in enumerate(bundle.candidate.rows or ()):
        for number, array in enumerate(row):
            shown = np.array2string(array, threshold=_SHOWN, separator=", ").replace("\n", "")
            where = f"device {device}, " if len(bundle.candidate.rows or ()) > 1 else ""
            lines.append(f"- {where}parameter {number}: `{array.dtype}{list(array.shape)}` `{shown}`")
    return "\n".join(lines)


def _table(account: Account) -> str:
    where = f"Result {account.result}, element [{', '.join(map(str, account.index))}]"
    where += f" of device {account.device}:" if account.device else ":"
    rows = "\n".join(f"| {name} | `{value}` |" for name, value in account.values.items())
    return f"{where}\n\n| executor | value |\n|---|---|\n{rows}"


def _reason(bundle: Bundle, account: Account | None) -> str:
    module = bundle.candidate.module
    if not isinstance(bundle.test, WrongResult):
        return ("The module is valid: every operation keeps the constraints of its specification, as `hlotool lint` "
                "checks them, so a compiler must take it. It holds " + _operations(list(module.instructions())) + ".")
    if account is None:
        return "The executors disagree, and the specification leaves no choice here."
    guilty = [i for i in (account.guilty, *account.together) if i is not None]
    parts = []
    if account.guilty is not None:
        along = f" compiled together with {_operations(list(account.together))}" if account.together else ""
        parts.append(f"The first instruction with a wrong value is `{account.guilty.name}` "
                     f"({account.guilty.opcode}){along}; what it is given is right.")
    parts += [f"> {said}" for said in dict.fromkeys(filter(None, map(_specified, guilty)))]
    exact = account.values.get("at higher precision")
    if exact is not None:
        parts.append(f"Evaluated at higher precision the element is `{exact}`. The spread of legal roundings, found by "
                     "evaluating the program with perturbed ones, does not reach what "
                     f"{bundle.test.executor} gives.")
    else:
        parts.append("These operations are exact: there is no rounding that could explain the difference.")
    return "\n\n".join(parts)


def _operations(instructions: list[HloInstruction]) -> str:
    computing = (i.opcode for i in instructions if not flow_of(i).is_trivial)
    return ", ".join(dict.fromkeys(computing))


def _specified(instruction: HloInstruction) -> str:
    """Return what the specification says of an operation: its meaning in one sentence, and the source."""
    record = OPS.get(instruction.opcode)
    if record is None or not record.doc:
        return ""
    first = " ".join(record.doc.split("\n\n", 1)[0].split())
    source = f" ({record.source})" if record.source else ""
    return f"`{instruction.opcode}`: {first}{source}"


def _system(bundle: Bundle) -> str:
    known = {**bundle.versions, **bundle.flags}
    return "\n".join(f"- {name}: {_code(value)}" for name, value in known.items())


def _code(text: str) -> str:
    """A text of others as code in a line of Markdown."""
    return "`" + re.sub(r"\s+", " ", text.replace("`", "'")) + "`"
