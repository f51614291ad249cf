"""Runs fuzzers by hand, for as long as one likes.

    python tests/fuzz/run.py text --seconds 3600 --seed 7     inputs by seed, findings under findings/
    python tests/fuzz/run.py --all --rounds 0 --seconds 120   every target in turn, two minutes each, for ever
    python tests/fuzz/run.py text --number 1234 --seed 7      one input again
    python tests/fuzz/run.py text --coverage --seconds 3600   guided by coverage (needs the package atheris)

A finding is three files: the input, a smaller one (.small), and what happened (.txt). Moved to tests/fuzz/cases/TARGET,
the smaller one is tried by every run of the tests.
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import json
import resource
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fuzzing import CASES, WITH_REAL_MODULES, Report, Target, Violation, fuzz, rng_of, try_input, write_finding
from targets import NAMES, target


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(NAMES))
    parser.add_argument("--all", action="store_true", help="every target")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: the time")
    parser.add_argument("--seconds", type=float, default=60, help="of processor time for each target and round")
    parser.add_argument("--count", type=int, help="inputs for each target and round, instead of seconds")
    parser.add_argument("--rounds", type=int, default=1, help="each with another seed; 0: until interrupted")
    parser.add_argument("--number", type=int, help="only this input, with what happens in full")
    parser.add_argument("--coverage", action="store_true", help="let atheris choose the inputs")
    parser.add_argument("--findings", type=Path, default=Path("findings"), help="where findings are written")
    args = parser.parse_args()
    faulthandler.enable()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    WITH_REAL_MODULES[0] = True
    limit = 6 << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    chosen = [target(name) for name in (NAMES if args.all else args.targets)]
    if args.number is not None:
        return _one(chosen[0], args.seed, args.number)
    if args.coverage:
        return _guided(chosen[0], args.seconds, args.findings)
    found = 0
    for seed in itertools.count(args.seed) if not args.rounds else range(args.seed, args.seed + args.rounds):
        for one in chosen:
            report = Report(one.name)
            try:
                fuzz(one, seed, args.count, None if args.count else args.seconds, report=report,
                     on_violation=lambda v, one=one: _tell(one, v, args.findings))
            finally:  # a run that is interrupted has found something, too
                _log(report, seed, args.findings)
            found += len(report.violations)
    return 1 if found else 0


def _tell(one: Target, violation: Violation, folder: Path) -> None:
    path = write_finding(one, violation, folder)
    print(f"{one.name}: {violation.place}: {path}", flush=True)


def _log(report: Report, seed: int, folder: Path) -> None:
    print(f"seed {seed}, {report}", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.jsonl").open("a") as log:
        log.write(json.dumps({"target": report.target, "seed": seed, "inputs": report.inputs,
                              "seconds": round(report.seconds, 1), "outcomes": report.outcomes,
                              "violations": sorted(report.violations)}) + "\n")


def _one(one: Target, seed: int, number: int) -> int:
    data = one.mutate(rng_of(one, seed, number), one.corpus())
    outcome, violation = try_input(one, data)
    sys.stdout.buffer.write(data + b"\n")
    print(violation.detail if violation else outcome)
    return 1 if violation else 0


def _guided(one: Target, seconds: float, folder: Path) -> int:
    """Inputs that reach new code are kept and mutated on; the mutations are atheris' own and the target's."""
    import atheris

    with atheris.instrument_imports(include=["hlotool"]):
        one.check(one.corpus()[0])
    seen: set[str] = set()
    corpus = one.corpus()
    report = Report(one.name)
    start = time.process_time()

    def check(data: bytes) -> None:
        outcome, violation = try_input(one, data)
        report.inputs += 1
        report.outcomes[outcome] = report.outcomes.get(outcome, 0) + 1
        if violation is not None and violation.place not in seen:
            seen.add(violation.place)
            report.violations[violation.place] = violation
            _tell(one, violation, folder)
        report.seconds = time.process_time() - start
        if report.seconds > seconds:
            _log(report, -1, folder)
            sys.exit(1 if seen else 0)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = rng_of(one, seed, 0)
        if rng.random() < 0.3:
            return atheris.Mutate(data, most)
        return one.mutate(rng, [data, *rng.sample(corpus, 3)])[:most]

    start_folder = folder / f"corpus-{one.name}"
    start_folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(corpus):
        (start_folder / str(number)).write_bytes(data)
    cases = [str(CASES / one.name)] if (CASES / one.name).is_dir() else []
    atheris.Setup([sys.argv[0], "-max_len=40000", "-timeout=30", str(start_folder), *cases], check,
                  custom_mutator=mutate)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
