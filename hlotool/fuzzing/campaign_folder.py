"""A folder that keeps a campaign: its findings, and the state to go on from.

    fuzz.json            the plan: seed, executor, generators, dumps, size of a batch
    batches.jsonl        a line for each batch: counts, and where in it something was seen
    seconds.json         seconds that it has lasted
    classes/NAME/        class.json, program.hlo, arguments.npz, bundle.zip, issue.md: the smallest program of a class

Programs are not kept: they follow from the plan, the number of their batch and their own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution import Program
from hlotool.fuzzing.batch import BatchReport, Sighting
from hlotool.fuzzing.campaign import Tally
from hlotool.fuzzing.codes import OTHER_CAMPAIGN
from hlotool.fuzzing.finding_class import FindingClass, likeness
from hlotool.fuzzing.process_finding import Followed
from hlotool.fuzzing.programs import programs_of
from hlotool.fuzzing.test_program import Plan
from hlotool.passes.read import parse
from hlotool.process import OwnFiles
from hlotool.reduction import read_rows, rows_as_bytes

_FORMAT, _VERSION = "hlotool-fuzz", 1
#: names of the files of a folder, and of each folder of a class
_FILES = ("fuzz.json", "batches.jsonl", "seconds.json")
_CLASS_FILES = ("class.json", "program.hlo", "arguments.npz", "bundle.zip", "issue.md")
#: largest number of a batch and count of programs that a file may hold: more would be drawn than anybody can
_MOST_COUNTED = 1 << 40


class CampaignFolder:
    """The folder of a campaign."""

    def __init__(self, path: Path) -> None:
        self.files = OwnFiles(path, OTHER_CAMPAIGN, "give another folder")

    def begin(self, plan: Plan, *, resumes: bool) -> Tally:
        """Return a tally to go on from. Raises HloError (R140) where the folder holds another campaign."""
        about = json.loads(json.dumps({"format": _FORMAT, "version": _VERSION, **asdict(plan)}))
        if self.files.read("fuzz.json") is None:
            self.files.write("fuzz.json", (json.dumps(about, indent=2) + "\n").encode())
            return Tally(plan)
        if not resumes:
            raise self._other("it holds a campaign already", "give --resume to go on with it, or another folder")
        self.files.require(*_FILES, *(f"classes/{name}/{file}" for name in self.files.names("classes")
                                      for file in _CLASS_FILES))
        if self.files.record("fuzz.json") != about:
            raise self._other("it holds a campaign of other programs",
                              "give the same seed, executor, generators, dumps and size, or another folder")
        return self._resumed(Tally(plan))

    def _other(self, why: str, help_: str) -> HloError:
        path = self.files.path
        return OwnFiles(path, OTHER_CAMPAIGN, help_).refused(f"{path} cannot be used: {why}")

    def _resumed(self, tally: Tally) -> Tally:
        tally.seconds = self._seconds()
        for name in self.files.names("classes"):
            found = self._class(f"classes/{name}", tally.plan)
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
        """Return the sightings of a batch that are of no class yet; its programs are drawn again."""
        open_ = [r for r in rows if (r["kind"], r["about"]) not in tally.known]
        if not open_:
            return
        programs = programs_of(tally.plan, batch)
        for row in open_:
            if row["number"] < len(programs):
                yield Sighting(programs[row["number"]], row["kind"], row["said"], batch, row["number"])

    def _batches(self) -> Iterator[dict[str, Any]]:
        done = set()
        for row in self.files.records("batches.jsonl"):
            if _is_batch(row) and row["batch"] not in done:
                done.add(row["batch"])
                yield row

    def _class(self, folder: str, plan: Plan) -> FindingClass | None:
        """Return a class as it was kept; None where its files are not whole."""
        row = self.files.record(f"{folder}/class.json")
        if not _is_class(row, plan):
            return None
        try:
            text = (self.files.read(f"{folder}/program.hlo") or b"").decode("utf-8")
            rows = read_rows(self.files.read(f"{folder}/arguments.npz") or b"", Program(parse(text)))
            first = row["first"]
            subject = programs_of(plan, first["batch"])[first["number"]]
            sighting = Sighting(subject, row["seen_kind"], row["said"], first["batch"], first["number"])
            found = Followed(sighting, row["kind"], row["said"], text, rows, row["rule"] or "", row["pass"] or "",
                             row.get("known") or "", tuple(row["opcodes"]), tuple(row["element_types"]),
                             row["instructions"], row["is_reduced"], problems=row["problems"])
            found.bundle = self.files.read(f"{folder}/bundle.zip") or b""
            return FindingClass(found, row["followed"], row["sightings"] - row["followed"])
        except (OSError, ValueError, KeyError, IndexError, RecursionError, HloError):
            return None

    # While the campaign goes on.

    def keep_batch(self, report: BatchReport) -> None:
        """Add a line."""
        seen = [{"number": s.number, "kind": s.kind, "about": likeness(s)[1], "said": s.said} for s in report.sightings]
        self.files.append("batches.jsonl", {"batch": report.batch, "programs": report.programs, "drawn": report.drawn,
                                            "outcomes": report.outcomes, "seen": seen})

    def keep_seconds(self, seconds: float) -> None:
        """Keep the seconds that the campaign has lasted, all of its runs together."""
        self.files.write("seconds.json", json.dumps(round(seconds, 1)).encode())

    def _seconds(self) -> float:
        found = self.files.record("seconds.json")
        return float(found) if isinstance(found, (int, float)) and 0 <= found < _MOST_COUNTED else 0.0

    def keep_class(self, found: FindingClass, plan: Plan) -> None:
        """Write the files of a class."""
        best = found.best
        row = {**found.as_json(plan, "bundle.zip" if best.bundle else None), "plan": asdict(plan),
               "seen_kind": best.sighting.kind}
        files = {"program.hlo": best.text.encode("utf-8", "surrogateescape"), "arguments.npz": rows_as_bytes(best.rows),
                 "bundle.zip": best.bundle, "issue.md": (best.issue or "").encode("utf-8", "replace"),
                 "class.json": (json.dumps(row, indent=2) + "\n").encode()}
        for name, data in files.items():
            if data:
                self.files.write(f"classes/{found.name}/{name}", data)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST_COUNTED


def _are_counts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_count, value.values()))


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(v, str) for v in values)


def _is_batch(row: Any) -> bool:
    """Return True for a value of the form that `keep_batch` writes."""
    return (isinstance(row, dict) and all(_is_count(row.get(k)) for k in ("batch", "programs"))
            and all(_are_counts(row.get(k)) for k in ("drawn", "outcomes")) and isinstance(row.get("seen"), list)
            and all(isinstance(s, dict) and _is_count(s.get("number"))
                    and _are_texts(s.get(k) for k in ("kind", "about", "said")) for s in row["seen"]))


def _is_class(row: Any, plan: Plan) -> bool:
    """Return True for a value of the form that `keep_class` writes in a campaign of this plan."""
    if not isinstance(row, dict) or row.get("plan") != json.loads(json.dumps(asdict(plan))):
        return False
    first, lists = row.get("first"), [row.get(k) for k in ("opcodes", "element_types", "problems")]
    return (isinstance(first, dict) and _is_count(first.get("batch")) and _is_count(first.get("number"))
            and _are_texts(row.get(k) for k in ("seen_kind", "kind", "said"))
            and _are_texts(row.get(k) or "" for k in ("rule", "pass", "known"))
            and all(isinstance(v, list) and _are_texts(v) for v in lists)
            and all(_is_count(row.get(k)) for k in ("instructions", "followed", "sightings"))
            and row["followed"] <= row["sightings"] and isinstance(row.get("is_reduced"), bool))
