"""A folder that keeps a campaign: what it found, and what it needs to go on.

    fuzz.json            the plan: seed, executor, generators, dumps, size of a batch
    batches.jsonl        a line for each batch: counts, and where in it something was seen
    seconds.json         how long it has lasted
    classes/NAME/        class.json, program.hlo, arguments.npz, bundle.zip, issue.md: the smallest program of a class

Programs are not kept: they follow from the plan, the number of their batch and their own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution import Program
from hlotool.fuzzing.batch import BatchReport, Sighting
from hlotool.fuzzing.campaign import Tally
from hlotool.fuzzing.codes import OTHER_CAMPAIGN
from hlotool.fuzzing.finding_class import FindingClass, likeness
from hlotool.fuzzing.following_up import Followed
from hlotool.fuzzing.programs import programs_of
from hlotool.fuzzing.subject import Plan
from hlotool.passes.read import parse
from hlotool.reduction import read_rows, rows_as_bytes

#: writes a file whole or not at all
Writer = Callable[[Path, bytes], None]
_FORMAT, _VERSION = "hlotool-fuzz", 1


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
        try:
            found = json.loads(file.read_text("utf-8"))
        except (ValueError, OSError):
            found = None
        if found != about:
            raise self._other("it holds a campaign of other programs",
                              "give the same seed, executor, generators, dumps and size, or another folder")
        return self._resumed(Tally(plan))

    def _other(self, why: str, help_: str) -> HloError:
        return HloError([Diagnostic(OTHER_CAMPAIGN, f"{self.path} cannot be used: {why}", filename=str(self.path),
                                    help=help_)])

    def _resumed(self, tally: Tally) -> Tally:
        tally.seconds = self._seconds()
        for folder in sorted((self.path / "classes").glob("*/class.json")):
            found = self._class(folder.parent)
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
        for line in file.read_text("utf-8").splitlines() if file.exists() else ():
            try:  # the last line may have been cut short
                row = json.loads(line)
                is_good = row["batch"] not in done and {"programs", "drawn", "outcomes", "seen"} <= set(row)
            except (ValueError, TypeError, KeyError):
                continue
            if is_good:
                done.add(row["batch"])
                yield row

    def _class(self, folder: Path) -> FindingClass | None:
        """A class as it was kept; None where its files are not whole."""
        try:
            row = json.loads((folder / "class.json").read_text("utf-8"))
            text = (folder / "program.hlo").read_text("utf-8")
            rows = read_rows((folder / "arguments.npz").read_bytes(), Program(parse(text)))
            first = row["first"]
            plan = Plan(**{**row["plan"], "generators": tuple(row["plan"]["generators"]),
                           "dumps": tuple(row["plan"]["dumps"])})
            subject = programs_of(plan, first["batch"])[first["number"]]
            sighting = Sighting(subject, row["seen_kind"], row["said"], first["batch"], first["number"])
            found = Followed(sighting, row["kind"], row["said"], text, rows, row["rule"] or "", row["pass"] or "",
                             row.get("known") or "", tuple(row["opcodes"]), tuple(row["element_types"]),
                             row["instructions"], row["is_reduced"], problems=row["problems"])
            bundle = folder / "bundle.zip"
            found.bundle = bundle.read_bytes() if bundle.exists() else b""
            return FindingClass(found, row["followed"], row["sightings"] - row["followed"])
        except (OSError, ValueError, KeyError, TypeError, IndexError, HloError):
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
            return float(json.loads((self.path / "seconds.json").read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return 0.0

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
