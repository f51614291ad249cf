"""The frame of the fuzzers: inputs by seed, limits of time, findings as files.

A target says where its inputs start (`corpus`), how one is made from others (`mutate`) and what must hold of it
(`check`). Input number n of a seed is always the same bytes, whatever ran before it, so that a finding is told by
target, seed and number; its bytes are written to a file as well, made smaller, to become a case under tests/fuzz/cases.

A violation is an AssertionError of `check`, an exception that is none of the product's own errors, or a check that
takes more processor time than any input of its size may (a hang).
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import random
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Protocol

ROOT = Path(__file__).resolve().parents[2]
#: where real modules lie, on machines that have any
SHARED = ROOT.parent / "shared" / "corpus"
#: whether those are starting points too: by hand they are, in the tests inputs are the same on every machine
WITH_REAL_MODULES = [False]
CASES = Path(__file__).resolve().parent / "cases"
#: seconds of processor time for one input; honest ones take some hundredths
MOST_SECONDS = 10.0
#: files larger than this are no starting points: mutants of small ones say as much and cost less
_LARGEST = 12_000


class Target(Protocol):
    """What is fuzzed."""

    name: str

    def corpus(self) -> list[bytes]:
        """The inputs from which others are made."""
        ...

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        """One input, which depends on nothing but the arguments."""
        ...

    def check(self, data: bytes) -> str:
        """Raise AssertionError where the product misbehaves; return what it did, one word (`read`, `refused`)."""
        ...


class Hang(BaseException):
    """A check has used up its processor time. No Exception, so that nothing on the way catches it."""


@dataclass
class Violation:
    """What an input brought to light. Two with one `place` are one mistake."""

    place: str
    detail: str
    data: bytes


@dataclass
class Report:
    """What a run did."""

    target: str
    inputs: int = 0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)
    violations: dict[str, Violation] = field(default_factory=dict)

    def __str__(self) -> str:
        outcomes = ", ".join(f"{n} {word}" for word, n in sorted(self.outcomes.items()))
        return (f"{self.target}: {self.inputs} inputs in {self.seconds:.1f} s of processor time ({outcomes}); "
                f"{len(self.violations)} violations")


@contextlib.contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """Raise Hang where the body takes longer; no limit off the main thread, or without such a timer."""
    def stop(signum: int, frame: FrameType | None) -> None:
        raise Hang

    if not hasattr(signal, "SIGVTALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, stop)
    # Again and again, should the first be lost in a place that swallows whatever is raised.
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def try_input(target: Target, data: bytes, seconds: float = MOST_SECONDS) -> tuple[str, Violation | None]:
    """What the target did with an input, or what is wrong with that."""
    try:
        with processor_time(seconds):
            return target.check(data), None
    except (Exception, Hang) as error:
        place = _place(error)
        return "violation", Violation(place, "".join(traceback.format_exception(error, limit=-12)), data)


def _place(error: BaseException) -> str:
    """The kind of an error and the innermost lines of the product that it passed."""
    rows = traceback.extract_tb(error.__traceback__)
    ours = [f"{Path(row.filename).name}:{row.name}" for row in rows
            if "site-packages" not in row.filename and "/lib/python" not in row.filename and row.name != "stop"]
    # A hang is stopped anywhere in what hangs, a recursion anywhere in its circle.
    depth = ours[1:5] if isinstance(error, (Hang, RecursionError)) else ours[-2:]
    return " ".join([type(error).__name__, *depth])


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def rng_of(target: Target, seed: int, number: int) -> random.Random:
    """The random numbers of one input."""
    return random.Random(f"{target.name}:{seed}:{number}")


def fuzz(target: Target, seed: int = 0, count: int | None = None, seconds: float | None = None, first: int = 0,
         on_violation: Callable[[Violation], None] | None = None, report: Report | None = None) -> Report:
    """Try inputs number `first` and on, until `count` were tried or `seconds` of processor time are used up.

    A `report` of the caller's is filled in as it goes.
    """
    report, corpus = Report(target.name) if report is None else report, target.corpus()
    assert corpus, f"{target.name} has no inputs to start from"
    start = processor_seconds()
    number = first
    while (count is None or number < first + count) and (seconds is None or report.seconds < seconds):
        outcome, violation = try_input(target, target.mutate(rng_of(target, seed, number), corpus))
        report.outcomes[outcome] = report.outcomes.get(outcome, 0) + 1
        if violation is not None and violation.place not in report.violations:
            violation.detail = f"target {target.name}, seed {seed}, number {number}\n{violation.detail}"
            report.violations[violation.place] = violation
            if on_violation is not None:
                on_violation(violation)
        number += 1
        report.inputs, report.seconds = number - first, processor_seconds() - start
    return report


def smaller(target: Target, found: Violation, tries: int = 400) -> bytes:
    """A smaller input with the same mistake: lines, then characters, left out as long as that helps."""
    data = found.data
    if found.place.startswith("Hang"):
        tries = 30
    for cut in (lambda d: d.splitlines(keepends=True), lambda d: [d[i:i + 1] for i in range(len(d))]):
        pieces = cut(data)
        size = max(1, len(pieces) // 2)
        while size and tries > 0:
            at = 0
            while at < len(pieces) and tries > 0:
                tries -= 1
                without = pieces[:at] + pieces[at + size:]
                _, violation = try_input(target, b"".join(without), 2.0)
                if violation is not None and violation.place == found.place:
                    pieces = without
                else:
                    at += size
            size //= 2
        data = b"".join(pieces)
    return data


def write_finding(target: Target, found: Violation, folder: Path) -> Path:
    """Write the input, as small as it gets, and what it did; returns the input's path."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{target.name}-{hashlib.sha256(found.place.encode()).hexdigest()[:10]}"
    path = folder / name
    path.write_bytes(found.data)
    path.with_suffix(".txt").write_text(f"{found.place}\n{found.detail}", errors="backslashreplace")
    path.with_suffix(".small").write_bytes(smaller(target, found))
    return path


def files(*folders: Path, suffixes: tuple[str, ...], largest: int = _LARGEST, most: int = 3000) -> list[bytes]:
    """The contents of the small files of folders, packed ones unpacked, in the order of their names."""
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if not path.is_file() or not path.name.removesuffix(".gz").endswith(suffixes):
                continue
            data = path.read_bytes()
            data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
            if len(data) <= largest:
                found.append(data)
            if len(found) >= most:
                return found
    return found


def hlo_texts() -> list[bytes]:
    """HLO texts of the samples, one case each, and of real modules where those are wanted."""
    samples = [part.encode() for data in files(ROOT / "samples", suffixes=(".hlo",), largest=200_000)
               for part in data.decode(errors="surrogateescape").split("// -----") if len(part) <= _LARGEST]
    real = files(SHARED / "modules", SHARED / "attacks", suffixes=(".hlo", ".txt")) if WITH_REAL_MODULES[0] else []
    return [*samples, *real]
