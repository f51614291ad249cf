"""A folder that keeps a campaign: what it found, and what it needs to go on.

    fuzz.json            the plan: seed, executor, generators, dumps, size of a batch
    batches.jsonl        a line for each batch: counts, and where in it something was seen
    seconds.json         how long it has lasted
    classes/NAME/        class.json, program.hlo, arguments.npz, bundle.zip, issue.md: the smallest program of a class

Programs are not kept: they follow from the plan, the number of their batch and their own.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution import Program
from hlotool.fuzzing.batch import BatchReport, Sighting
from hlotool.fuzzing.campaign import Tally
from hlotool.fuzzing.codes import OTHER_CAMPAIGN
from hlotool.fuzzing.finding_class import FindingClass, likeness
from hlotool.fuzzing.process_finding import Followed
from hlotool.fuzzing.programs import programs_of
from hlotool.fuzzing.test_program import Plan
from hlotool.passes.read import parse
from hlotool.reduction import read_rows, rows_as_bytes

#: writes a file whole or not at all
Writer = Callable[[Path, bytes], None]
_FORMAT, _VERSION = "hlotool-fuzz", 1
#: what a folder holds, and what each folder of a class
_FILES = ("fuzz.json", "batches.jsonl", "seconds.json")
_CLASS_FILES = ("class.json", "program.hlo", "arguments.npz", "bundle.zip", "issue.md")
#: bytes that each of them may have
_MOST = 1 << 30
#: numbers of batches and counts of programs from a file: more would be drawn than anybody can
_MOST_COUNTED = 1 << 40


@dataclass
class Folder:
    """The folder of a campaign; `write` puts files there."""

    path: Path
    write: Writer

    def begin(self, plan: Plan, *, resumes: bool) -> Tally:
        """A tally to go on from. Raises HloError (R140) where the folder holds another campaign."""
        about = json.loads(json.dumps({"format": _FORMAT, "version": _VERSION, **asdict(plan)}))
        file = self.path / "fuzz.json"
        if not file.exists():
            self.path.mkdir(parents=True, exist_ok=True)
            self.write(file, (json.dumps(about, indent=2) + "\n").encode())
            return Tally(plan)
        if not resumes:
            raise self._other("it holds a campaign already", "give --resume to go on with it, or another folder")
        self._require_own_files()
        try:
            found = json.loads(file.read_text("utf-8"))
        except (ValueError, OSError, RecursionError):
            found = None
        if found != about:
            raise self._other("it holds a campaign of other programs",
                              "give the same seed, executor, generators, dumps and size, or another folder")
        return self._resumed(Tally(plan))

    def _require_own_files(self) -> None:
        """What is read and written over is a plain file of its own: no link to elsewhere, no pipe. Raises HloError."""
        classes = self.path / "classes"
        folders = [f for f in (classes, *(classes.glob("*") if classes.is_dir() else ())) if os.path.lexists(f)]
        for path in (*(self.path / n for n in _FILES), *(f / n for f in folders[1:] for n in _CLASS_FILES)):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                found = os.lstat(path)
                if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or found.st_size > _MOST:
                    raise self._other(f"{path.name} in it is no plain file of its own, or too large",
                                      "give another folder")
        if link := next((f for f in folders if f.is_symlink() or not f.is_dir()), None):
            raise self._other(f"{link.name} in it is no folder of its own", "give another folder")

    def _other(self, why: str, help_: str) -> HloError:
        return HloError([Diagnostic(OTHER_CAMPAIGN, f"{self.path} cannot be used: {why}", filename=str(self.path),
                                    help=help_)])

    def _resumed(self, tally: Tally) -> Tally:
        tally.seconds = self._seconds()
        for folder in sorted((self.path / "classes").glob("*/class.json")):
            found = self._class(folder.parent, tally.plan)
            if found is not None:
                tally.classes[found.best.key] = found
                tally.known[likeness(found.best.sighting)] = found.best.key
        seen: list[tuple[int, list[Any]]] = []
        for row in self._batches():
            report = BatchReport(row["batch"], row["programs"], Counter(row["drawn"]), Counter(row["outcomes"]))
            tally.note(report)
            seen.append((row["batch"], row["seen"]))
        for batch, sightings in seen:
            for sighting in self._sightings(tally, batch, sightings):
                tally.take_up(sighting)
        return tally

    def _sightings(self, tally: Tally, batch: int, rows: list[Any]) -> Iterator[Sighting]:
        """What was seen in a batch and is of no class yet; its programs are drawn again."""
        open_ = [r for r in rows if (r["kind"], r["about"]) not in tally.known]
        if not open_:
            return
        programs = programs_of(tally.plan, batch)
        for row in open_:
            if row["number"] < len(programs):
                yield Sighting(programs[row["number"]], row["kind"], row["said"], batch, row["number"])

    def _batches(self) -> Iterator[dict[str, Any]]:
        file = self.path / "batches.jsonl"
        done = set()
        for line in file.read_text("utf-8", "replace").splitlines() if file.exists() else ():
            try:  # the last line may have been cut short
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if _is_batch(row) and row["batch"] not in done:
                done.add(row["batch"])
                yield row

    def _class(self, folder: Path, plan: Plan) -> FindingClass | None:
        """A class as it was kept; None where its files are not whole."""
        try:
            row = json.loads((folder / "class.json").read_text("utf-8"))
            if not _is_class(row, plan):
                return None
            text = (folder / "program.hlo").read_text("utf-8")
            rows = read_rows((folder / "arguments.npz").read_bytes(), Program(parse(text)))
            first = row["first"]
            subject = programs_of(plan, first["batch"])[first["number"]]
            sighting = Sighting(subject, row["seen_kind"], row["said"], first["batch"], first["number"])
            found = Followed(sighting, row["kind"], row["said"], text, rows, row["rule"] or "", row["pass"] or "",
                             row.get("known") or "", tuple(row["opcodes"]), tuple(row["element_types"]),
                             row["instructions"], row["is_reduced"], problems=row["problems"])
            bundle = folder / "bundle.zip"
            found.bundle = bundle.read_bytes() if bundle.exists() else b""
            return FindingClass(found, row["followed"], row["sightings"] - row["followed"])
        except (OSError, ValueError, KeyError, IndexError, RecursionError, HloError):
            return None

    # While the campaign goes on.

    def keep_batch(self, report: BatchReport) -> None:
        """Add a line."""
        seen = [{"number": s.number, "kind": s.kind, "about": likeness(s)[1], "said": s.said} for s in report.sightings]
        row = {"batch": report.batch, "programs": report.programs, "drawn": report.drawn, "outcomes": report.outcomes,
               "seen": seen}
        with (self.path / "batches.jsonl").open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")

    def keep_seconds(self, seconds: float) -> None:
        """How long the campaign has lasted, all of its runs together."""
        self.write(self.path / "seconds.json", json.dumps(round(seconds, 1)).encode())

    def _seconds(self) -> float:
        try:
            found = json.loads((self.path / "seconds.json").read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return 0.0
        return float(found) if isinstance(found, (int, float)) and 0 <= found < _MOST_COUNTED else 0.0

    def keep_class(self, found: FindingClass, plan: Plan) -> None:
        """Write the files of a class."""
        best = found.best
        folder = self.path / "classes" / found.name
        folder.mkdir(parents=True, exist_ok=True)
        self.write(folder / "program.hlo", best.text.encode("utf-8", "surrogateescape"))
        self.write(folder / "arguments.npz", rows_as_bytes(best.rows))
        if best.bundle:
            self.write(folder / "bundle.zip", best.bundle)
        if best.issue:
            self.write(folder / "issue.md", best.issue.encode("utf-8", "replace"))
        row = {**found.as_json(plan, "bundle.zip" if best.bundle else None), "plan": asdict(plan),
               "seen_kind": best.sighting.kind}
        self.write(folder / "class.json", (json.dumps(row, indent=2) + "\n").encode())


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST_COUNTED


def _are_counts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_count, value.values()))


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(v, str) for v in values)


def _is_batch(row: Any) -> bool:
    """Whether a line of batches.jsonl says what `keep_batch` writes."""
    return (isinstance(row, dict) and all(_is_count(row.get(k)) for k in ("batch", "programs"))
            and all(_are_counts(row.get(k)) for k in ("drawn", "outcomes")) and isinstance(row.get("seen"), list)
            and all(isinstance(s, dict) and _is_count(s.get("number"))
                    and _are_texts(s.get(k) for k in ("kind", "about", "said")) for s in row["seen"]))


def _is_class(row: Any, plan: Plan) -> bool:
    """Whether a class.json says what `keep_class` writes in a campaign of this plan."""
    if not isinstance(row, dict) or row.get("plan") != json.loads(json.dumps(asdict(plan))):
        return False
    first, lists = row.get("first"), [row.get(k) for k in ("opcodes", "element_types", "problems")]
    return (isinstance(first, dict) and _is_count(first.get("batch")) and _is_count(first.get("number"))
            and _are_texts(row.get(k) for k in ("seen_kind", "kind", "said"))
            and _are_texts(row.get(k) or "" for k in ("rule", "pass", "known"))
            and all(isinstance(v, list) and _are_texts(v) for v in lists)
            and all(_is_count(row.get(k)) for k in ("instructions", "followed", "sightings"))
            and row["followed"] <= row["sightings"] and isinstance(row.get("is_reduced"), bool))
