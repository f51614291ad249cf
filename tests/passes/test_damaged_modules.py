"""Public operations on modules that a program damaged: HloError or an answer, and no other exception."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

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
OPERATIONS: dict[str, Callable[[hlotool.HloModule], Any]] = {
    "verify": hlotool.verify, "lint": hlotool.lint, "print": str, "infer_shapes": hlotool.infer_shapes,
    "diff": lambda m: (hlotool.diff(m, GOOD), hlotool.diff(GOOD, m)), "to_stablehlo": hlotool.to_stablehlo,
    "convert": hlotool.convert, "cost": hlotool.cost, "peak_memory": hlotool.peak_memory,
    "fingerprint": hlotool.fingerprint, "to_records": hlotool.to_records, "to_networkx": hlotool.to_networkx,
    "to_python": to_python, "page": lambda m: module_page("m", m),
    "svg": as_svg,
    "execute": lambda m: hlotool.execute(m, [[1.0, 2.0, 3.0, 4.0]], "reference"),
}
#: the last ones start processes or draw, and are tried less often
SELDOM = {"page": 5, "execute": 20, "svg": 5}


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
