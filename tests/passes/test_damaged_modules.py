"""Public operations on modules that a program damaged: HloError or an answer, and no other exception."""

from __future__ import annotations

import dataclasses
import inspect
import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from damaged_modules import DAMAGES, damaged

import hlotool
from hlotool.builder import to_python
from hlotool.view import as_svg, module_page

SAMPLES = pathlib.Path(__file__).parents[2] / "samples" / "models"
SMALL = """HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0)
  z = f32[] constant(0)
  k = f32[4] constant({1, 2, 3, 4})
  y = f32[4] multiply(x, k)
  ROOT r = f32[] reduce(y, z), dimensions={0}, to_apply=add }
"""
#: modules; 1,000 and more at night
COUNT = 1200 if os.environ.get("HLOTOOL_NIGHTLY") else 3 * len(DAMAGES)
GOOD = hlotool.parse(SMALL)
ARGUMENTS = [np.float32([1, 2, 3, 4])]


#: the printer's options that are on or off
SWITCHES = {f.name: not f.default for f in dataclasses.fields(hlotool.PrintOptions) if isinstance(f.default, bool)}


def _edited(module: hlotool.HloModule) -> None:
    """Edit as a pass does: a new root, and what is not used any more is left out."""
    with hlotool.editing(module) as edit:
        root = module.entry.root
        edit.replace_uses({root: edit.insert(module.entry, "copy", root.shape, [root])})
        edit.sort()
        edit.sweep()


def _instructions(module: hlotool.HloModule) -> list[hlotool.HloInstruction]:
    """The instructions that are in lists of computations; anything may stand in place of a list."""
    computations = module.computations if isinstance(module.computations, list) else []
    return [i for c in computations if isinstance(c.instructions, list) for i in c.instructions]


OPERATIONS: dict[str, Callable[[hlotool.HloModule], Any]] = {
    "verify": hlotool.verify, "lint": hlotool.lint, "print": str, "infer_shapes": hlotool.infer_shapes,
    "print_module": lambda m: [hlotool.print_module(m, hlotool.PrintOptions(**{name: value}))
                               for name, value in SWITCHES.items()],
    "diff": lambda m: (hlotool.diff(m, GOOD), hlotool.diff(GOOD, m)), "to_stablehlo": hlotool.to_stablehlo,
    "convert": lambda m: (hlotool.convert(m), hlotool.convert(m, to="hlo")), "read": hlotool.read,
    "read_all": lambda m: list(hlotool.read_all(m)), "cost": lambda m: hlotool.cost(m, "h100"),
    "module_cost": hlotool.module_cost, "peak_memory": hlotool.peak_memory,
    "fingerprint": hlotool.fingerprint, "to_records": hlotool.to_records, "to_networkx": hlotool.to_networkx,
    "origin_of": lambda m: [hlotool.origin_of(m, i) for i in _instructions(m)],
    "to_python": to_python, "page": lambda m: module_page("m", m), "notebook": lambda m: m._repr_html_(),
    "svg": as_svg,
    "execute": lambda m: (hlotool.execute(m, ARGUMENTS, "reference"), hlotool.execute(m, ARGUMENTS)),
    "compare": lambda m: (hlotool.compare(m, time_budget=0.1), hlotool.compare(GOOD, m, time_budget=0.1)),
    "isolate": lambda m: (hlotool.isolate(m, inputs=["random"]), hlotool.isolate(m, GOOD, inputs=["random"])),
    "bisect": lambda m: hlotool.bisect(m, arguments=ARGUMENTS),
    "reduce": lambda m: hlotool.reduce(m, GOOD, jobs=1, time_limit=5.0),
    "editing": _edited,  # the last one, which changes the module
}
#: these start processes or draw, and are tried less often
SELDOM = {"page": 5, "notebook": 5, "svg": 5, "execute": 20, "compare": 20, "isolate": 20, "bisect": 20, "reduce": 20}


def test_only_hlo_errors_come_out_of_public_operations() -> None:
    texts = [SMALL, *(t for f in sorted(SAMPLES.rglob("*.hlo")) if len(t := f.read_text("utf-8")) < 8000)]
    bare = []
    for number, (name, module) in enumerate(damaged(texts, COUNT)):
        for operation, work in OPERATIONS.items():
            if number % SELDOM.get(operation, 1) == 0:
                try:
                    work(module)
                except hlotool.HloError as error:
                    assert error.diagnostics
                except Exception as error:
                    bare.append(f"{operation} of {name}: {type(error).__name__}: {error}")
    assert not bare, "\n".join(bare)


def test_every_public_function_is_tried() -> None:
    functions = {name for name in hlotool.__all__ if inspect.isfunction(getattr(hlotool, name))}
    assert functions - {"parse", "from_stablehlo"} <= set(OPERATIONS)


@pytest.mark.parametrize("constant", ["pred[1000000000,4] constant(true)", "s8[9999999999] constant(-1)",
                                      "c64[1000000000] constant((0, 1))"])
def test_an_array_of_one_number_has_a_size(constant: str) -> None:
    with pytest.raises(hlotool.HloError, match="too many to be made of one number") as caught:
        hlotool.parse(f"HloModule m\nENTRY e {{\n  ROOT c = {constant} }}")
    assert caught.value.diagnostics[0].line == 3


@pytest.mark.parametrize("line", ["c = pred[1000000000,4] constant(false)", "p = pred[9999999999] parameter(0)"])
def test_no_array_is_made_of_zeros_and_parameters(line: str) -> None:
    one, other = (hlotool.parse(f"HloModule {name}\nENTRY e {{\n  ROOT {line} }}") for name in "mn")
    assert hlotool.diff(one, other).is_equal
    assert hlotool.to_stablehlo(one) is not None
