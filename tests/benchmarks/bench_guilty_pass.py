"""How often the guilty pass is named: `python tests/benchmarks/bench_guilty_pass.py MISCOMPILES/public`.

Each record is a module with arguments that show a wrong value, and says which of XLA's passes is guilty. The module is
compiled by an executor that dumps every pass, and the dumps are judged on those arguments, as `hlotool bisect` does.
"""

from __future__ import annotations

import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hlotool
from hlotool.bisection import BisectOptions, judge_compilation
from hlotool.diagnostics import HloError
from hlotool.execution import Program, fitted

#: how records say that no pass is guilty: every dump is right, or the fault comes before the first one
NOT_A_PASS = ("code generation", "conversion of StableHLO")


@dataclass(frozen=True)
class Named:
    """A record, the pass that it names, and the one that was found."""

    id: str
    wanted: str
    found: str
    instruction: str
    #: the rewrite rule that was quoted
    rule: str
    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether the pass is the record's; where no pass is guilty, whether none is blamed."""
        if self.wanted.startswith(NOT_A_PASS):
            return not self.found
        return self.found == self.wanted


def records(folder: Path) -> list[dict[str, str]]:
    """The records of wrong values."""
    found = [tomllib.loads(f.read_text("utf-8")) for f in sorted(folder.glob("*.toml"))]
    return [r for r in found if r["expect"] == "differ"]


def named(folder: Path, record: dict[str, str]) -> Named:
    """The guilty pass of a record's module."""
    begun = time.monotonic()
    module = hlotool.parse((folder / record["module"]).read_text("utf-8"))
    program = Program(module)
    rows: list[list[object]] = [[]] * program.devices
    if "arguments" in record:
        with np.load(folder / record["arguments"], allow_pickle=False) as arrays:
            given = [typed(arrays[name], shape.dtype.numpy)
                     for name, shape in zip(sorted(arrays.files), program.parameters, strict=True)]
        rows = [fitted(program, given)] * program.devices
    try:
        judged = judge_compilation(module, rows, options=BisectOptions(tuple(rows[0]), budget=20.0))
    except HloError as error:
        return Named(record["id"], record["pass"], f"failed: {error.diagnostics[0].message[:60]}", "", "",
                     time.monotonic() - begun)
    wrong = judged.wrong[0] if judged is not None and judged.wrong else None
    place = wrong.blame.place if wrong is not None and wrong.blame is not None else None
    blamed = place.instruction.name if place is not None else ""
    return Named(record["id"], record["pass"], wrong.changed_by if wrong is not None else "", blamed,
                 wrong.rule if wrong is not None else "", time.monotonic() - begun)


def typed(array: np.ndarray, dtype: object) -> np.ndarray:
    """NumPy stores narrow floats as raw bytes; they take their type again."""
    return array.view(dtype) if array.dtype.kind == "V" else array


def main() -> None:
    folder = Path(sys.argv[1])
    found = []
    for record in records(folder):
        one = named(folder, record)
        found.append(one)
        print(f"{'right' if one.is_right else 'WRONG':<6} {one.id:<28} {one.wanted[:28]:<29} {one.found:<24} "
              f"{one.instruction:<14} {one.seconds:.1f} s  {one.rule[:60]}", flush=True)
    passes = [n for n in found if not n.wanted.startswith(NOT_A_PASS)]
    rest = [n for n in found if n.wanted.startswith(NOT_A_PASS)]
    print(f"guilty pass named: {sum(n.is_right for n in passes)} of {len(passes)}; "
          f"no pass blamed where none is guilty: {sum(n.is_right for n in rest)} of {len(rest)}")


if __name__ == "__main__":
    main()
