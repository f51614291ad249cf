"""Folders of dumps, honest ones and ones with a planted fault: which pass `bisect` blames, and which instruction.

    python tests/judged_folders.py [--first N] [--count N] [--python A,B] [--names "drawn 7,mlp_bf16_sgd"] [--seed N]
                                   [--keep FOLDER] [--reduce]

Programs are compiled by each of the interpreters in turn, so that several versions of jaxlib have their share:
training steps, drawn programs and models of libraries (tests/drawn_programs.py). Each folder is judged as it is, and
with one fault (tests/planted_passes.py). Prints a line for each, and the table at the end: passes that are blamed in
honest folders, and beside the planted one (there should be none), planted passes and instructions that are named,
innocents; with --reduce also how many pairs of modules around the blamed pass end at few instructions.
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

import drawn_programs
import planted_passes

import hlotool
from hlotool.bisection import BisectOptions, ChainVerdict, PassVerdict, judge_chain
from hlotool.dumps import read_folder
from hlotool.reduction import Candidate, ReduceOptions, Reduction, pair_test, reduce_candidate
from hlotool.text import print_module

#: seeds that are tried until one of them plants a fault that shows
_SEEDS = 20
ROWS = ("honest", "honest, a pass blamed", "planted", "planted, its pass first", "planted, no pass",
        "planted, an innocent pass", "planted, its instruction", "planted, an innocent instruction", "reduced",
        "reduced to few")
#: instructions of two modules that are reduced
FEW = 8


def compiled(folder: Path, name: str, python: str = sys.executable) -> str:
    """Dump a program's compilation into a folder, unless that is there; return the program's name."""
    made = subprocess.run([python, drawn_programs.__file__, str(folder), name], check=False, capture_output=True,
                          text=True, env=os.environ | {"JAX_PLATFORMS": "cpu"})
    if made.returncode:
        raise RuntimeError(f"{name} does not compile:\n{made.stderr[-2000:]}")
    return made.stdout.strip()


def judged_chain(folder: Path, budget: float = 4.0) -> ChainVerdict:
    """Judge the passes of a folder's program."""
    chain, = (c for c in read_folder(folder).chains if c.name == "jit_step")
    return judge_chain(chain, BisectOptions(budget=budget))


def named(verdict: PassVerdict) -> tuple[str, str | None]:
    """Return the file after a wrong pass, and the instruction that is named."""
    blame = verdict.blame
    return Path(verdict.after.path).name, blame.place.instruction.name if blame is not None and blame.place else None


def reduced(verdict: PassVerdict) -> Reduction:
    """Reduce the modules around a wrong pass, as `bisect --save-pair` and `reduce` do."""
    assert verdict.before.module is not None and verdict.after.module is not None and verdict.difference is not None
    one, other = (hlotool.parse(print_module(m)) for m in (verdict.before.module, verdict.after.module))
    return reduce_candidate(Candidate(one, verdict.difference.arguments, other), pair_test(60.0), ReduceOptions(jobs=1))


def planted_in(folder: Path, into: Path, seed: int) -> planted_passes.PlantedPass | None:
    """Write the folder with the first fault that shows, of some seeds."""
    return next((p for n in range(_SEEDS) if (p := planted_passes.plant(folder, into, seed + n))), None)


def judged(name: str, folder: Path, into: Path, seed: int = 0, budget: float = 4.0, *, is_reduced: bool = False
           ) -> Counter[str]:
    """Print and count what is found of a folder, and of it with a fault."""
    met: Counter[str] = Counter()
    begun = time.process_time()
    blamed = [*map(named, judged_chain(folder, budget).wrong)]
    met["honest"], met["honest, a pass blamed"] = 1, bool(blamed)
    print(f"{name:34} honest   {'LIE ' + str(blamed) if blamed else 'right'}  {time.process_time() - begun:.0f} s",
          flush=True)
    fault = planted_in(folder, into, seed)
    if fault is None:
        return met
    begun = time.process_time()
    verdicts = judged_chain(into, budget).wrong
    wrong = [*map(named, verdicts)]
    met["planted"], (file, instruction) = 1, wrong[0] if wrong else ("", None)
    met["planted, its pass first"] = file == fault.file
    met["planted, no pass"] = not wrong
    met["planted, an innocent pass"] = any(f != fault.file for f, _ in wrong)
    met["planted, its instruction"] = instruction in (fault.instruction, *fault.holds)
    met["planted, an innocent instruction"] = instruction is not None and not met["planted, its instruction"]
    said = "LIE" if met["planted, an innocent pass"] or met["planted, an innocent instruction"] else \
        "right" if met["planted, its instruction"] else "pass only" if wrong else "MISSED"
    print(f"{name:34} {said:8} {fault.kind} of {fault.instruction} after {fault.file}"
          f"{'' if said == 'right' else f': {wrong}'}  {time.process_time() - begun:.0f} s", flush=True)
    if verdicts and is_reduced:
        small = reduced(verdicts[0])
        met["reduced"], met["reduced to few"] = 1, small.candidate.size <= FEW
        print(f"{name:34} {'right' if met['reduced to few'] else 'LARGE':8} reduced to {small.candidate.size} "
              f"{'' if small.last.seen else ', shown no more'} {small.done} {small.seconds:.0f} s", flush=True)
    return met


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", default="", help="programs, between commas")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--python", default=sys.executable, help="interpreters with a jaxlib each, between commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=4.0)
    parser.add_argument("--reduce", action="store_true")
    parser.add_argument("--keep", type=Path, help="where the folders are left, and taken from")
    args = parser.parse_args()
    _pythons = args.python.split(",")
    wanted = args.names.split(",") if args.names else [str(n) for n in range(args.first, args.first + args.count)]
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as _home:
        home = args.keep or Path(_home)
        home.mkdir(parents=True, exist_ok=True)
        for _place, _name in enumerate(wanted):
            _python = _pythons[(_place + _place // 4) % len(_pythons)]
            _folder = home / _name.replace(" ", "_")
            total += judged(compiled(_folder, _name, _python), _folder, home / f"{_folder.name}-planted", args.seed,
                            args.budget, is_reduced=args.reduce)
    for _what in ROWS:
        print(f"{total[_what]:4} {_what}")
