"""Findings of a campaign as text of 80 columns and as a record."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypedDict

from hlotool.diagnostics import agreed, visible
from hlotool.diagnostics.records import plain
from hlotool.fuzzing.campaign import Tally
from hlotool.fuzzing.finding_class import ClassRecord, FindingClass
from hlotool.fuzzing.test_program import Plan

_WIDTH = 78


class CampaignReport(TypedDict):
    """The report of `hlotool fuzz`."""

    format: Literal["hlotool-fuzz"]
    version: Literal[1]
    plan: Annotated[Plan, "all that the programs follow from"]
    programs: Annotated[int, "programs that were run"]
    seconds: float
    programs_per_second: float
    drawn: Annotated[dict[str, int], "programs by generator"]
    outcomes: Annotated[dict[str, int], "programs by outcome: agrees, undecided, unsupported, no value, left out, "
                                        "known, seen"]
    batches: int
    lost: Annotated[list[str], "batches that ended their process, and how"]
    pending: Annotated[int, "sightings that are not made small yet; a campaign that goes on begins with them"]
    is_interrupted: bool
    folder: str | None
    classes: list[ClassRecord]


def campaign_record(tally: Tally, folder: str | None = None) -> dict[str, Any]:
    """Return the report of a campaign as plain data."""
    report: CampaignReport = {
        "format": "hlotool-fuzz", "version": 1, "plan": tally.plan, "programs": tally.programs,
        "seconds": round(tally.seconds, 1), "programs_per_second": round(tally.programs / max(tally.seconds, 1e-9), 1),
        "drawn": dict(sorted(tally.drawn.items())), "outcomes": dict(sorted(tally.outcomes.items())),
        "batches": len(tally.done), "lost": tally.lost, "pending": len(tally.pending) + tally.busy,
        "is_interrupted": tally.is_interrupted, "folder": folder,
        "classes": [c.as_json(tally.plan, _bundle(c, folder)) for c in in_order(tally)]}
    found: dict[str, Any] = plain(report)
    return found


def in_order(tally: Tally) -> list[FindingClass]:
    """The classes: hlotool's own mistakes first, then by how often they were seen."""
    return sorted(tally.classes.values(), key=lambda c: (not c.is_ours, -c.followed - c.likely, c.name))


def _bundle(found: FindingClass, folder: str | None) -> str | None:
    return f"{folder}/classes/{found.name}/bundle.zip" if folder and found.best.bundle else None


def campaign_text(tally: Tally) -> str:
    """A few lines about a campaign, and some about each class."""
    classes = agreed(f"{len(tally.classes)} classes of findings")
    lines = [f"{tally.programs} programs in {tally.seconds:.0f} s "
             f"({tally.programs / max(tally.seconds, 1e-9):.1f} a second), {classes}"]
    lines += _listed("drawn", tally.drawn)
    lines += _listed("of them", tally.outcomes)
    for found in in_order(tally):
        lines += _class_lines(found)
    left = len(tally.pending) + tally.busy
    if left:
        lines.append(f"{left} more of another kind were seen and not yet made small")
    if tally.lost:
        lines.append(f"{len(tally.lost)} batches ended their process: {tally.lost[0]}")
    if tally.is_interrupted:
        lines.append("interrupted: what was found until then")
    return "\n".join(visible(line) for line in lines)


def _listed(what: str, counts: Any) -> list[str]:
    said = ", ".join(f"{n} {k}" for k, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    text = visible(f"{what}: {said}")
    return textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ") if said else []


def _class_lines(found: FindingClass) -> Iterator[str]:
    best = found.best
    whose = "hlotool's own: " if found.is_ours else ""
    seen = agreed(f"seen {found.followed + found.likely} times, {best.instructions} instructions")
    yield f"{found.name}: {whose}{seen}"
    facts = {"rule": best.rule, "pass": best.guilty_pass, "operations": ", ".join(best.opcodes), "known": best.known,
             "said": best.said, "not small": next((p for p in best.problems if p.startswith("not reduced: ")), "")}
    for name, value in facts.items():
        if value:
            yield from textwrap.wrap(visible(value), _WIDTH - 2, initial_indent=f"  {name:<12}",
                                     subsequent_indent=" " * 14, break_long_words=False, break_on_hyphens=False)


def progress_text(tally: Tally) -> str:
    """One line for a terminal."""
    return (f"{tally.programs} programs, {tally.programs / max(tally.seconds, 1e-9):.1f} a second, "
            f"{len(tally.classes)} classes, {len(tally.pending) + tally.busy} to be made small")
