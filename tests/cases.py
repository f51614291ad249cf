"""Reads files of cases; hlotool/conformance/samples.py says what stands in them.

Golden files (tests/golden) have an input and an expectation in each case, split by `// ==>`; `Case.halves` gives
both and `check_golden` compares or, under `pytest --update-golden`, rewrites.
"""

from __future__ import annotations

import pathlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hlotool.conformance.samples import literal, sections

__all__ = ["GOLDEN", "SAMPLES", "Case", "bits", "check_close", "check_golden", "literal", "load", "load_ops"]

SAMPLES = pathlib.Path(__file__).parents[1] / "samples"

GOLDEN = pathlib.Path(__file__).parent / "golden"

_ARROW = "\n// ==>\n"


def bits(array: Any) -> bytes:
    """Return the bytes of an array in which every NaN is the same: its sign depends on the processor that made it."""
    found = np.stack([array.real, array.imag]) if np.iscomplexobj(array) else np.array(array)
    is_nan = found != found  # noqa: PLR0124 - asked of types for which NumPy has no isnan
    if is_nan.any():
        found[is_nan] = np.nan
    return found.tobytes()


@dataclass
class Case:
    """One case of a sample file. `text` keeps its line numbers relative to the case."""

    path: pathlib.Path
    line: int
    text: str
    directives: list[tuple[str, int, str]] = field(default_factory=list)

    def values(self, key: str, replica: int = 0) -> list[str]:
        return [v for k, r, v in self.directives if k == key and r == replica]

    @property
    def name(self) -> str:
        return (self.values("name") or [f"line {self.line}"])[0]

    @property
    def id(self) -> str:
        return f"{self.path.stem}:{self.line}"

    @property
    def errors(self) -> list[str]:
        """The codes of the expected diagnostics."""
        return [v.strip().strip("[]") for v in self.values("error")]

    @property
    def is_bad(self) -> bool:
        return bool(self.errors)

    @property
    def replicas(self) -> int:
        return int((self.values("replicas") or ["1"])[0])

    @property
    def halves(self) -> tuple[str, str]:
        """What stands before `// ==>`, directives included, and what after."""
        before, _, after = self.text.partition(_ARROW)
        return before, after

    def inputs(self, replica: int = 0) -> list[Any]:
        """The arguments as arrays."""
        return [literal(v) for v in self.values("input", replica)]

    def expected(self, replica: int = 0) -> list[Any]:
        """The expected leaves of the result as arrays."""
        return [literal(v) for v in self.values("expect", replica)]


def load(path: pathlib.Path) -> list[Case]:
    """The cases of one file."""
    return [Case(path, s.line, s.text, list(s.directives)) for s in sections(path.read_text())]


def check_golden(case: Case, found: str, *, update: bool) -> None:
    """The case's expectation is `found`; with `update` the file is rewritten so that it is."""
    before, expected = case.halves
    if update and expected.strip() != found.strip():
        text = case.path.read_text()
        changed = f"{before.rstrip()}{_ARROW}{found.strip()}\n"
        case.path.write_text(text.replace(case.text.strip("\n"), changed.strip("\n"), 1))
        return
    where = f"{case.path.name}, {case.name}"
    assert found.strip() == expected.strip(), f"{where}; pytest --update-golden accepts this:\n{found}"


def load_ops(opcodes: set[str] | None = None) -> list[Case]:
    """The cases of samples/ops, of those opcodes only where given."""
    files = sorted((SAMPLES / "ops").glob("*.hlo"))
    return [c for f in files if opcodes is None or f.stem in opcodes for c in load(f)]


def check_close(found: Any, expected: Any, ulps: float) -> None:
    """Equal within a number of units in the last place, each half of a complex number by itself; integers exactly.

    NaN equals NaN, and zeros keep their signs.
    """
    import numpy as np

    from hlotool.numerics import ulp_distance

    assert found.shape == expected.shape and found.dtype == expected.dtype, (found, expected)
    if expected.dtype.kind == "c":
        for a, b in ((found.real, expected.real), (found.imag, expected.imag)):
            check_close(a.copy(), b.copy(), ulps)
    elif expected.dtype.kind in "iub" or expected.dtype.name.startswith(("int", "uint")):
        np.testing.assert_array_equal(found, expected)
    else:
        distance = np.max(ulp_distance(found, expected), initial=0)
        assert distance <= ulps, f"{found} is {distance} ulps from {expected}"
