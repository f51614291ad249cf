"""hlotool: reads, checks, prints, lifts, builds and runs XLA's HLO.

    module = hlotool.parse(text, filename="dump.hlo")
    module = hlotool.read("dump.pb")  # or StableHLO, bytes, a file, jax.jit(f).lower(x), a function with arguments
    str(module)                       # HLO text again
    hlotool.verify(module)            # -> list of Diagnostic
    hlotool.lint(text)                # syntax and verification, for all problems at once
    hlotool.to_stablehlo(module)      # -> jax.extend.mlir ir.Module
    hlotool.from_stablehlo(mlir)      # -> HloModule
    hlotool.execute(module, arguments, executor="pjrt:cpu")
    hlotool.compare(module)           # the module on two executors
    hlotool.diff(a, b)                # what differs, matched by structure
    hlotool.module_cost(module)       # flops and traffic, loops counted as often as they run
    hlotool.peak_memory(module)       # bytes that it needs at once
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

    from hlotool.blame import compare
    from hlotool.builder import XlaBuilder
    from hlotool.diagnostics import Diagnostic, Fix, HloError, Severity
    from hlotool.execution import execute
    from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape
    from hlotool.linting import lint
    from hlotool.ops import OPS
    from hlotool.passes.cost import module_cost, peak_memory
    from hlotool.passes.editing import Editing, editing
    from hlotool.passes.equality import diff, fingerprint
    from hlotool.passes.infer_shapes import infer_shapes
    from hlotool.passes.module_tables import to_networkx, to_records
    from hlotool.passes.origins import origin_of
    from hlotool.passes.read import parse
    from hlotool.passes.verify import verify
    from hlotool.stablehlo import from_stablehlo, read, read_all, to_stablehlo
    from hlotool.text import PrintOptions, print_module

__version__ = "0.1.0"

#: public name -> (room, name there)
_PUBLIC = {
    "OPS": ("hlotool.ops", "OPS"),
    "Diagnostic": ("hlotool.diagnostics", "Diagnostic"),
    "Editing": ("hlotool.passes.editing", "Editing"),
    "Fix": ("hlotool.diagnostics", "Fix"),
    "HloComputation": ("hlotool.ir", "HloComputation"),
    "HloError": ("hlotool.diagnostics", "HloError"),
    "HloInstruction": ("hlotool.ir", "HloInstruction"),
    "HloModule": ("hlotool.ir", "HloModule"),
    "PrintOptions": ("hlotool.text", "PrintOptions"),
    "Severity": ("hlotool.diagnostics", "Severity"),
    "Shape": ("hlotool.ir", "Shape"),
    "XlaBuilder": ("hlotool.builder", "XlaBuilder"),
    "compare": ("hlotool.blame", "compare"),
    "diff": ("hlotool.passes.equality", "diff"),
    "editing": ("hlotool.passes.editing", "editing"),
    "execute": ("hlotool.execution", "execute"),
    "fingerprint": ("hlotool.passes.equality", "fingerprint"),
    "from_stablehlo": ("hlotool.stablehlo", "from_stablehlo"),
    "infer_shapes": ("hlotool.passes.infer_shapes", "infer_shapes"),
    "lint": ("hlotool.linting", "lint"),
    "module_cost": ("hlotool.passes.cost", "module_cost"),
    "origin_of": ("hlotool.passes.origins", "origin_of"),
    "parse": ("hlotool.passes.read", "parse"),
    "peak_memory": ("hlotool.passes.cost", "peak_memory"),
    "print_module": ("hlotool.text", "print_module"),
    "read": ("hlotool.stablehlo", "read"),
    "read_all": ("hlotool.stablehlo", "read_all"),
    "to_networkx": ("hlotool.passes.module_tables", "to_networkx"),
    "to_records": ("hlotool.passes.module_tables", "to_records"),
    "to_stablehlo": ("hlotool.stablehlo", "to_stablehlo"),
    "verify": ("hlotool.passes.verify", "verify"),
}

__all__ = [
    "OPS", "Diagnostic", "Editing", "Fix", "HloComputation", "HloError", "HloInstruction", "HloModule",
    "PrintOptions", "Severity", "Shape", "XlaBuilder", "compare", "diff", "editing", "execute", "fingerprint",
    "from_stablehlo", "infer_shapes", "lint", "module_cost", "origin_of", "parse", "peak_memory", "print_module",
    "read", "read_all", "to_networkx", "to_records", "to_stablehlo", "verify",
]


#: functions whose first arguments may be whatever hlotool.read takes: name -> how many of them
_TAKING_PROGRAMS = {
    "diff": 2, "fingerprint": 1, "infer_shapes": 1, "module_cost": 1, "peak_memory": 1, "print_module": 1,
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
    """A module as notebooks show it; what draws is imported when the first one is shown."""
    shown: str = importlib.import_module("hlotool.view").notebook_cell(module)
    return shown


def _taking_programs(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The function with its first arguments, up to `count`, read by `hlotool.read` where they are no modules yet."""
    import functools

    from hlotool.ir import HloModule

    @functools.wraps(function)
    def taking(*given: Any, **keywords: Any) -> Any:
        programs = [a if isinstance(a, HloModule) else importlib.import_module("hlotool.stablehlo").read(a)
                    for a in given[:count]]
        return function(*programs, *given[count:], **keywords)

    return taking


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
