"""hlotool: reads, checks, prints, lifts, builds and runs XLA's HLO.

    module = hlotool.parse(text, filename="dump.hlo")
    module = hlotool.read("dump.pb")  # or StableHLO, bytes, a file, jax.jit(f).lower(x), a function with arguments
    str(module)                       # HLO text again
    hlotool.verify(module)            # -> list of Diagnostic
    hlotool.lint(text)                # syntax and verification, for all problems at once
    hlotool.to_stablehlo(module)      # -> jax.extend.mlir ir.Module
    hlotool.from_stablehlo(mlir)      # -> HloModule
    hlotool.execute(module, arguments, executor="pjrt:cpu")
    hlotool.convert(anything)         # HLO to StableHLO, StableHLO to HLO
    hlotool.compare(module)           # the module on two executors
    hlotool.isolate(module)           # the instruction that makes NaN, or that an executor gets wrong
    hlotool.bisect("dumps/")          # the pass that changes what a module computes
    hlotool.reduce(module)            # the smallest module that still shows a failure
    hlotool.diff(a, b)                # differences, matched by structure
    hlotool.cost(module)              # .flops, .bytes_read, .peak_memory, .communication; loops as often as they run
    hlotool.OPS["dot"]                # the record of an operation

Everything is imported when it is first used, so that `import hlotool` costs next to nothing.
"""

from __future__ import annotations

import importlib

# Spelt out, for typing is a module that `python -m hlotool` would look for in the current folder first.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hlotool.bisection import bisect
    from hlotool.blame import compare, isolate
    from hlotool.builder import XlaBuilder
    from hlotool.diagnostics import Diagnostic, Fix, HloError, Severity
    from hlotool.execution import execute
    from hlotool.ir import HloComputation, HloInstruction, HloModule, Literal, Shape
    from hlotool.linting import lint
    from hlotool.ops import OPS
    from hlotool.passes.cost import cost, module_cost, peak_memory
    from hlotool.passes.edit.editor import Editing, editing
    from hlotool.passes.equality import diff, fingerprint
    from hlotool.passes.infer_shapes import infer_shapes
    from hlotool.passes.module_tables import to_networkx, to_records
    from hlotool.passes.origins import origin_of
    from hlotool.passes.read import parse
    from hlotool.passes.verify import verify
    from hlotool.reduction import reduce
    from hlotool.stablehlo import convert, from_stablehlo, read, read_all, to_stablehlo
    from hlotool.text import PrintOptions, print_module

__version__ = "1.0.0"

#: public name -> (room, name there)
_PUBLIC = {
    "OPS": ("hlotool.ops", "OPS"),
    "Diagnostic": ("hlotool.diagnostics", "Diagnostic"),
    "Editing": ("hlotool.passes.edit", "Editing"),
    "Fix": ("hlotool.diagnostics", "Fix"),
    "HloComputation": ("hlotool.ir", "HloComputation"),
    "HloError": ("hlotool.diagnostics", "HloError"),
    "HloInstruction": ("hlotool.ir", "HloInstruction"),
    "HloModule": ("hlotool.ir", "HloModule"),
    "Literal": ("hlotool.ir", "Literal"),
    "PrintOptions": ("hlotool.text", "PrintOptions"),
    "Severity": ("hlotool.diagnostics", "Severity"),
    "Shape": ("hlotool.ir", "Shape"),
    "XlaBuilder": ("hlotool.builder", "XlaBuilder"),
    "bisect": ("hlotool.bisection", "bisect"),
    "compare": ("hlotool.blame", "compare"),
    "convert": ("hlotool.stablehlo", "convert"),
    "cost": ("hlotool.passes.cost", "cost"),
    "diff": ("hlotool.passes.equality", "diff"),
    "editing": ("hlotool.passes.edit", "editing"),
    "execute": ("hlotool.execution", "execute"),
    "fingerprint": ("hlotool.passes.equality", "fingerprint"),
    "from_stablehlo": ("hlotool.stablehlo", "from_stablehlo"),
    "infer_shapes": ("hlotool.passes.infer_shapes", "infer_shapes"),
    "isolate": ("hlotool.blame", "isolate"),
    "lint": ("hlotool.linting", "lint"),
    "module_cost": ("hlotool.passes.cost", "module_cost"),
    "origin_of": ("hlotool.passes.origins", "origin_of"),
    "parse": ("hlotool.passes.read", "parse"),
    "peak_memory": ("hlotool.passes.cost", "peak_memory"),
    "print_module": ("hlotool.text", "print_module"),
    "read": ("hlotool.stablehlo", "read"),
    "read_all": ("hlotool.stablehlo", "read_all"),
    "reduce": ("hlotool.reduction", "reduce"),
    "to_networkx": ("hlotool.passes.module_tables", "to_networkx"),
    "to_records": ("hlotool.passes.module_tables", "to_records"),
    "to_stablehlo": ("hlotool.stablehlo", "to_stablehlo"),
    "verify": ("hlotool.passes.verify", "verify"),
}

__all__ = [
    "OPS", "Diagnostic", "Editing", "Fix", "HloComputation", "HloError", "HloInstruction", "HloModule", "Literal",
    "PrintOptions", "Severity", "Shape", "XlaBuilder", "bisect", "compare", "convert", "cost", "diff", "editing",
    "execute", "fingerprint", "from_stablehlo", "infer_shapes", "isolate", "lint", "module_cost", "origin_of", "parse",
    "peak_memory", "print_module", "read", "read_all", "reduce", "to_networkx", "to_records", "to_stablehlo", "verify",
]


#: functions whose first arguments may be whatever hlotool.read takes: name -> how many of them
_TAKING_PROGRAMS = {
    "cost": 1, "diff": 2, "fingerprint": 1, "infer_shapes": 1, "module_cost": 1, "peak_memory": 1, "print_module": 1,
    "to_networkx": 1, "to_records": 1, "to_stablehlo": 1, "verify": 1}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'hlotool' has no attribute {name!r}")
    room, inner = _PUBLIC[name]
    value = getattr(importlib.import_module(room), inner)
    from hlotool.ir import set_html_printer

    set_html_printer(_drawn)
    if name in _TAKING_PROGRAMS:
        value = _taking_programs(value, _TAKING_PROGRAMS[name])
    globals()[name] = value
    return value


def _drawn(module: HloModule) -> str:
    """Return a module as notebooks show it; the room that draws is imported when the first one is shown."""
    shown: str = importlib.import_module("hlotool.view").notebook_cell(module)
    return shown


def _taking_programs(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return the function with its first `count` parameters read by `hlotool.read` where they are no modules yet."""
    import functools
    import inspect
    import os
    from typing import Any

    from hlotool.ir import HloModule

    signature = inspect.signature(function)
    names = list(signature.parameters)[:count]
    program = HloModule | str | bytes | os.PathLike[str] | Any

    @functools.wraps(function)
    def taking(*given: Any, **keywords: Any) -> Any:
        bound = signature.bind(*given, **keywords)
        for name in names:
            if not isinstance(bound.arguments[name], HloModule):
                bound.arguments[name] = importlib.import_module("hlotool.stablehlo").read(bound.arguments[name])
        return function(*bound.args, **bound.kwargs)

    taking.__signature__ = signature.replace(parameters=[  # type: ignore[attr-defined]
        p.replace(annotation=program) if n in names else p for n, p in signature.parameters.items()])
    taking.__annotations__ = function.__annotations__ | dict.fromkeys(names, program)
    return taking


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
