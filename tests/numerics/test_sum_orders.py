"""Which explicit sums have an order that is open, and what other orders give."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.execution import Program
from hlotool.numerics import Draws, sample_program

FOUR = "".join(f"{name} = f32[1] parameter({n})\n" for n, name in enumerate("wxyz"))


def samples(body: str, *values: float, strict: bool = False) -> set[float]:
    program = Program(hlotool.parse(f"HloModule m\nENTRY e {{\n{FOUR}{body}\n}}\n"))
    row = [np.float32([v]) for v in (*values, 0, 0, 0, 0)[:4]]
    draws = Draws.STRICT if strict else Draws.ALL
    return {float(sample_program(program, [row], (draws, seed))[0][0][0]) for seed in range(24)}


SUM = "a = f32[1] add(w, x)\nROOT r = f32[1] add(a, y)"


def test_large_terms_that_cancel_swallow_the_small_one_or_not() -> None:
    assert samples(SUM, 1e30, -1e30, 1.0, strict=True) == {0.0, 1.0}
    assert max(map(abs, samples(SUM, 1e30, -1e30, 1.0))) > 1e20


def test_overflow_hangs_on_the_order() -> None:
    found = samples(SUM, 3e38, 3e38, -3e38)
    assert np.inf in found and any(2.9e38 < f < 3.1e38 for f in found)


def test_four_terms_are_taken_in_pairs_too() -> None:
    found = samples("a = f32[1] add(w, x)\nb = f32[1] add(a, y)\nROOT r = f32[1] add(b, z)", 1e30, 1.0, 1.0, -1e30,
                    strict=True)
    assert found == {0.0, 1.0, 2.0}


@pytest.mark.parametrize("body", [
    "n = f32[1] negate(y)\na = f32[1] add(w, x)\nROOT r = f32[1] add(a, n)",
    "a = f32[1] add(w, x)\nROOT r = f32[1] subtract(a, y)",
    "c = f32[1] constant({5})\nd = f32[1] constant({7})\na = f32[1] add(w, c)\nROOT r = f32[1] add(a, d)",
    "a = f32[1] add(w, x)\nb = f32[1] add(a, y)\nROOT r = f32[1] multiply(a, b)"],
    ids=["a negative", "a difference", "two constants", "a partial sum with another user"])
def test_an_order_that_is_meant_is_kept(body: str) -> None:
    assert len(samples(body, 1e8, 3.0, 1e8, strict=True)) == 1


def test_each_device_adds_up_its_own_terms() -> None:
    program = Program(hlotool.parse("""HloModule m, replica_count=3
ENTRY e {
  x = f32[2] parameter(0)
  id = u32[] replica-id()
  f = f32[] convert(id)
  b = f32[2] broadcast(f), dimensions={}
  a = f32[2] add(x, b)
  ROOT s = f32[2] add(a, x)
}
"""))
    rows = [[np.float32([10.0**device, 3])] for device in range(3)]
    for seed in range(4):
        found = sample_program(program, rows, seed)
        for device in range(3):
            np.testing.assert_allclose(found[device][0], 2 * rows[device][0] + device, rtol=1e-6)
