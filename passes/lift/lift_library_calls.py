"""Writes the library calls of CPU, GPU and TPU compilers as the operations that they stand for.

    ENTRY main {                                  ENTRY main {
      a = f32[2,3] parameter(0)                     a = f32[2,3] parameter(0)
      b = f32[3,4] parameter(1)                     b = f32[3,4] parameter(1)
      ROOT g = f32[2,4] custom-call(a, b),          ROOT g = f32[2,4] dot(a, b),
        custom_call_target="__cublas$gemm",           lhs_contracting_dims={1}, rhs_contracting_dims={0}
        backend_config={...}                      }
    }

A call whose configuration does not say enough stays, and why is among the module's notes. The rules are in
the files lift_library_*.py beside this one, a family of calls each, which are passes of their own and found by their
names; LAPACK's routines as loops are in hlotool.builder.linalg.lapack.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

from hlotool.diagnostics import Diagnostic, HloError, Severity, define
from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.ops import ConstraintError
from hlotool.passes import library_files
from hlotool.passes.edit import ComputationEditor, Editing, clone_module
from hlotool.passes.instruction_findings import report
from hlotool.passes.lift.library_calls import RULES, Call, Unclear

UNCLEAR = define("L201", "unclear-library-call", "a library call whose configuration does not say what it computes",
                 "XLA, custom calls of its CPU and GPU compilers")

NO_CALLS = define("L202", "no-library-calls", "a package that should declare library calls, and does not")

#: the group of entry points under which packages declare library calls
GROUP = "hlotool.library_calls"

#: modules that declare rules: the files of this folder whose names begin so. LAPACK's routines are written with the
#: builder, which stands on this room: they are loaded as other packages' rules are, by name.
_FAMILIES = (*(f"hlotool.passes.lift.{file}" for file in library_files()), "hlotool.builder.linalg.lapack")

#: exceptions of a rule on a configuration that is not as compilers write it
_MISREADINGS = (KeyError, IndexError, TypeError, ValueError, AttributeError, ConstraintError)


class Lifted(NamedTuple):
    """One library call: its target, and why it stays ('' where it was lifted)."""

    instruction: HloInstruction
    target: str
    reason: str = ""


def lift_library_calls(module: HloModule) -> HloModule:
    """Return the same module, changed in place, without library calls that say what they compute."""
    _note(module, lift_library_calls_recovering(module))
    return module


def lift_targets(module: HloModule, *families: str) -> HloModule:
    """`lift_library_calls` for the rules of one file or room, or of several."""
    targets = frozenset(t for t in known_targets() if RULES[t].__module__.startswith(families))
    _note(module, _lift(module, targets))
    return module


def lift_library_calls_recovering(module: HloModule) -> list[Lifted]:
    """Change the module in place; gives every library call that was met."""
    return _lift(module, known_targets())


def known_targets() -> frozenset[str]:
    """Return the targets of library calls that have a rule."""
    for family in _FAMILIES:
        importlib.import_module(family)
    return frozenset(RULES)


def load_library_calls(packages: Iterable[str]) -> None:
    """Declare the rules of installed packages: what their entry points of the group `hlotool.library_calls` load.

        [project.entry-points."hlotool.library_calls"]
        house = "house_kernels.hlo"          a module that declares rules with @on_target

    Only packages that somebody names are loaded. Raises HloError for one that is not installed, declares nothing, or
    cannot be loaded.
    """
    from importlib import metadata

    problems = []
    for package in packages:
        try:
            points = metadata.distribution(package).entry_points.select(group=GROUP)
            if not points:
                problems.append(Diagnostic(NO_CALLS, f"{package} declares no library calls ({GROUP})"))
            for point in points:
                point.load()
        except metadata.PackageNotFoundError:
            problems.append(Diagnostic(NO_CALLS, f"no package {package} is installed"))
        except Exception as error:  # whatever another package raises
            problems.append(Diagnostic(NO_CALLS, f"the library calls of {package} cannot be loaded: "
                                                 f"{type(error).__name__}: {error}"))
    if problems:
        raise HloError(problems)


def without_library_calls(module: HloModule, kept: Callable[[], frozenset[str]] = frozenset
                          ) -> tuple[HloModule, list[Lifted]]:
    """Return the module itself where it calls no library that is known here, else a changed copy; and what was met.

    `kept` gives targets that stay, for whoever runs the module has them.
    """
    calling = {c for c in module.computations if any(i.opcode == "custom-call" for i in c.instructions)}
    targets = known_targets() - kept() if calling else frozenset[str]()
    calling = {c for c in calling if _calls(c, targets)}
    if not calling:
        return module, []
    copy = clone_module(module, calling.__contains__)
    return copy, _lift(copy, targets)


def _note(module: HloModule, lifted: list[Lifted]) -> None:
    module.notes = [*module.notes, *(
        report(module, one.instruction, UNCLEAR, f"{one.target} stays a library call: {one.reason}",
               severity=Severity.INFO) for one in lifted if one.reason)]


def _calls(computation: HloComputation, targets: frozenset[str]) -> bool:
    return any(i.attributes.get("custom_call_target") in targets for i in computation.instructions)


def _lift(module: HloModule, targets: frozenset[str]) -> list[Lifted]:
    editor, found = Editing(module), []
    for computation in list(module.computations):
        if _calls(computation, targets):
            found.extend(_lift_computation(editor, computation, targets))
    return found


def _lift_computation(editor: Editing, computation: HloComputation, targets: frozenset[str]) -> list[Lifted]:
    edit, found = ComputationEditor(editor, computation), []
    for instruction in edit.lines():
        target = instruction.attributes.get("custom_call_target")
        if instruction.opcode == "custom-call" and target in targets:
            found.append(Lifted(instruction, target, _lift_call(edit, instruction, target)))
    return found


def _lift_call(edit: ComputationEditor, instruction: HloInstruction, target: str) -> str:
    """Rewrite one call; why it could not be, or ''."""
    mark = edit.mark()
    try:
        values = RULES[target](Call(edit, instruction))
        _replace(edit, instruction, values, mark)
    except Unclear as error:
        edit.rewind(mark)
        return str(error)
    except _MISREADINGS as error:
        edit.rewind(mark)
        return f"its configuration or operands are not as expected: {error}"
    return ""


def _replace(edit: ComputationEditor, instruction: HloInstruction,
             values: HloInstruction | tuple[HloInstruction, ...], mark: int) -> None:
    """Let the call be what computes its value; `mark` is where the lines of its rewriting begin."""
    parts = values if isinstance(values, tuple) else (values,)
    shapes = instruction.shape.members
    is_whole = not isinstance(values, tuple) and instruction.shape.is_tuple
    wanted = (instruction.shape,) if is_whole else shapes
    if [p.shape.without_layout() for p in parts] != [s.without_layout() for s in wanted]:
        raise Unclear(f"it gives {', '.join(p.shape.text(False) for p in parts)}, its shape is "
                      f"{instruction.shape.text(False)}")
    order = {n: v for n, v in instruction.attributes.items() if n == "control-predecessors"}
    if instruction.shape.is_tuple and not is_whole:
        edit.become(instruction, "tuple", parts, order)
    elif edit.take_back(parts[0], mark):
        edit.become(instruction, parts[0].opcode, parts[0].operands, {**parts[0].attributes, **order})
    else:
        edit.become(instruction, "copy", parts, order)
