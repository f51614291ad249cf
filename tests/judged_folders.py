"""Folders of dumps, honest ones and ones with a planted fault: which pass `bisect` blames, and which instruction.

    python tests/judged_folders.py [--steps a,b] [--first N] [--count N] [--seed N]

Prints a line for each folder, and the table at the end: passes that are blamed in honest folders (there should be
none), planted passes and instructions that are named, innocent ones. The programs are training steps at bf16, f16, f8
and with both mixed, with their gradients (tests/training_steps.py), compiled here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import planted_passes
import training_steps

from hlotool.bisection import BisectOptions, judge_chain
from hlotool.dumps import read_folder

#: seeds that are tried until one of them plants a fault that shows
_SEEDS = 20


def compiled(home: Path, name: str) -> Path:
    """Return the folder of a step's dumps, which is made where there is none."""
    subprocess.run([sys.executable, training_steps.__file__, str(home), name], check=True, capture_output=True,
                   env=os.environ | {"JAX_PLATFORMS": "cpu"})
    return home / name


def wrong_passes(folder: Path, budget: float) -> list[tuple[str, str | None]]:
    """Return the dumps after which a pass is wrong, each with the instruction that is named."""
    chain, = (c for c in read_folder(folder).chains if c.name == "jit_step")
    found = judge_chain(chain, BisectOptions(budget=budget))
    return [(Path(p.after.path).name, p.blame.place.instruction.name if p.blame is not None and p.blame.place else None)
            for p in found.wrong]


def judged(name: str, home: Path, seed: int, budget: float) -> Counter[str]:
    """Print what is found of a step's folder, and of it with a fault."""
    folder, met = compiled(home, name), Counter[str]()
    begun = time.process_time()
    blamed = wrong_passes(folder, budget)
    met["honest"], met["honest, a pass blamed"] = 1, bool(blamed)
    print(f"{name:34} honest   {'LIE ' + str(blamed) if blamed else 'right'}  {time.process_time() - begun:.0f} s",
          flush=True)
    fault = next((p for n in range(_SEEDS) if (p := planted_passes.plant(folder, home / "planted", seed + n))), None)
    if fault is None:
        return met
    begun = time.process_time()
    wrong = wrong_passes(home / "planted", budget)
    met["planted"], (file, instruction) = 1, wrong[0] if wrong else ("", None)
    met["planted, its pass first"] = file == fault.file
    met["planted, no pass"] = not wrong
    met["planted, an innocent pass"] = bool(wrong) and file != fault.file
    met["planted, its instruction"] = instruction in (fault.instruction, *fault.holds)
    met["planted, an innocent instruction"] = instruction is not None and not met["planted, its instruction"]
    print(f"{name:34} {fault.kind:10} {fault.instruction} after {fault.file}: {file or 'no pass'}, "
          f"{instruction or 'no instruction'}  {time.process_time() - begun:.0f} s", flush=True)
    return met


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", default="", help="their names, between commas")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=4.0)
    args = parser.parse_args()
    names = args.steps.split(",") if args.steps else list(training_steps.STEPS)[args.first:args.first + args.count]
    total: Counter[str] = Counter()
    for _name in names:
        with tempfile.TemporaryDirectory() as _home:
            total += judged(_name, Path(_home), args.seed, args.budget)
    for _what in ("honest", "honest, a pass blamed", "planted", "planted, its pass first", "planted, no pass",
                  "planted, an innocent pass", "planted, its instruction", "planted, an innocent instruction"):
        print(f"{total[_what]:4} {_what}")
