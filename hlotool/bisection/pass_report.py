"""Reports on folders, as text of 80 columns and as records."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, TypedDict

from hlotool.bisection.pass_verdicts import ChainVerdict, Difference, PassVerdict, Verdict
from hlotool.blame import PlaceRecord
from hlotool.diagnostics import visible
from hlotool.diagnostics.records import DiagnosticRecord, diagnostic_records

_WIDTH = 80
#: a mark for each verdict
MARKS = {"equal": "=", "agrees": "~", "wrong": "X", "none": "?"}


def folder_verdict(found: Sequence[ChainVerdict]) -> Verdict:
    """Return the worst verdict of all chains."""
    said = {c.verdict for c in found}
    worst: tuple[Verdict, ...] = ("wrong", "none", "agrees", "equal")
    return next((v for v in worst if v in said), "none")


def text_report(found: Sequence[ChainVerdict], *, shows_all: bool = False) -> str:
    """Return a paragraph for each chain: the passes that are not proved equal, or all of them if `shows_all`."""
    lines = [line for chain in found for line in _chain_lines(chain, shows_all)]
    counts: Counter[str] = Counter(p.verdict for c in found for p in c.passes)
    if len(found) > 1:
        lines += wrapped(f"{len(found)} modules, {sum(counts.values())} passes: {counted(counts)}")
    return "\n".join(visible(line) for line in lines)


def _chain_lines(found: ChainVerdict, shows_all: bool) -> Iterator[str]:
    counts: Counter[str] = Counter(p.verdict for p in found.passes)
    yield from wrapped(f"{found.chain.name}: {len(found.chain.dumps)} dumps; passes: {counted(counts)}")
    last = ""
    for verdict in found.passes:
        if verdict.verdict == "equal" and not shows_all:
            continue
        pipeline = verdict.after.name.pipeline
        if pipeline != last and pipeline:
            yield f"  {pipeline}"
        last = pipeline
        mark = f"{MARKS[verdict.verdict]} {_number(verdict)}"
        yield from wrapped(f"    {mark}{verdict.changed_by}: {sentence(verdict)}", 11)
    for wrong in found.wrong[:1]:
        where = f" ({wrong.after.name.pipeline})" if wrong.after.name.pipeline else ""
        yield from wrapped(f"  The first pass that is wrong: {wrong.changed_by}{where}")
        yield from (f"    {line}" for line in guilt(wrong))
    if found.whole is not None and not found.wrong and found.whole.verdict != "equal":
        yield from wrapped(f"  The first dump against the last: {sentence(found.whole)}")


def guilt(verdict: PassVerdict) -> Iterator[str]:
    """Return lines that name the guilty instruction, its source, and the arguments."""
    for name, value in guilty_facts(verdict):
        yield from textwrap.wrap(visible(value), _WIDTH - 6, initial_indent=f"{name:<12}", subsequent_indent=" " * 12,
                                 break_long_words=False, break_on_hyphens=False)


def guilty_facts(verdict: PassVerdict) -> Iterator[tuple[str, str]]:
    """Return the known facts about a fault, by name."""
    yield "file", Path(verdict.after.path).name
    if verdict.blame is not None and verdict.blame.place is None:
        yield "instruction", str(verdict.blame)
    if verdict.blame is not None and verdict.blame.place is not None:
        place = verdict.blame.place
        line = f", line {place.line[0]}" if place.line[0] else ""
        partner = f", which stands for {verdict.blame.partner.name}" if verdict.blame.partner is not None else ""
        yield "instruction", f"{place}{line}{partner}"
        if place.origin is not None and str(place.origin):
            yield "source", str(place.origin)
        yield "its value", str(verdict.blame.judgement)
    if verdict.rule:
        yield "rule", verdict.rule
    if verdict.shown is not None:
        yield "shown by", str(verdict.shown)
        yield "right", verdict.shown.why


def sentence(verdict: PassVerdict) -> str:
    """Return a verdict in a few words."""
    sets = f"{len(verdict.inputs)} sets of arguments" if len(verdict.inputs) != 1 else f"{verdict.inputs[0]} arguments"
    if verdict.proof is not None:
        return f"equal, {verdict.kind}"
    if verdict.difference is not None:
        return f"WRONG, {verdict.kind}"
    if verdict.verdict == "none":
        return f"no verdict, {verdict.reason}"
    if verdict.up_to:
        where = f" {verdict.blame}" if verdict.fold is not None and verdict.blame is not None else ""
        rule = f" by the rule {verdict.rule.split(': ')[0]}" if verdict.fold is not None and verdict.rule else ""
        return f"agrees ({', '.join(verdict.up_to)}{where}{rule}), on {sets}"
    return f"agrees bit for bit, on {sets}"


def counted(counts: Counter[str]) -> str:
    """Return `3 equal, 1 wrong`."""
    words = {"equal": "equal", "agrees": "agree", "wrong": "wrong", "none": "without a verdict"}
    return ", ".join(f"{counts[v]} {w}" for v, w in words.items() if counts[v]) or "none"


def _number(verdict: PassVerdict) -> str:
    rank = verdict.after.name.rank
    return f"{rank[1]:04d} " if rank[0] == 1 and len(rank) == 2 else ""


def wrapped(text: str, indent: int = 6) -> list[str]:
    """Return lines of the report's width, as far as words allow; the second on have that indent, or a deeper one."""
    start = len(text) - len(text.lstrip())
    return textwrap.wrap(visible(text.strip()), _WIDTH - 2, initial_indent=" " * start, subsequent_indent=" " * (
        indent if indent > start else start + 2), break_long_words=False, break_on_hyphens=False)


class TriedRecord(TypedDict):
    """The arguments that were tried."""

    sets: int
    kinds: list[str]


class ValueRecord(TypedDict):
    """A difference of a pass, with the worst element."""

    result: int
    device: int
    inputs: str
    kind: str
    why: str
    said: str
    index: list[int] | None
    after: str | None
    before: str | None
    exact: Annotated[str | None, "the value at higher precision"]


#: a pass, for programs
PassRecord = TypedDict("PassRecord", {
    "pass": str, "pipeline": str | None, "before": Annotated[str, "the file before the pass"], "after": str,
    "unread": Annotated[list[str], "files between that could not be read"],
    "verdict": Annotated[Verdict, "equal: proved; agrees: on all arguments tried; wrong: on some it does not; none: "
                                  "not decided"],
    "kind": Annotated[str, "what the verdict rests on: proved, proved but for elided constants, same "
                           "bits, within rounding, ..."],
    "up_to": list[str], "said": Annotated[str, "the verdict in a sentence"],
    "rule": Annotated[str | None, "the rewrite rule that the guilty change is, and what it does not keep"],
    "reason": Annotated[str | None, "why there is no verdict"],
    "arguments": TriedRecord, "elements": dict[str, int],
    "instructions": Annotated[list[int], "how many, before and after"],
    "instruction": str | None, "place": Annotated[PlaceRecord | None, "where the instruction is, as isolate says it"],
    "partner": Annotated[str | None, "the instruction that it stands for"],
    "confirmed": Annotated[bool | None, "the results are right once the instruction has its partner's value"],
    "worst": ValueRecord | None, "noted": list[ValueRecord], "diagnostics": list[DiagnosticRecord], "seconds": float})


class ChainRecord(TypedDict):
    """The passes of a module."""

    module: str
    number: int
    verdict: Verdict
    dumps: int
    passes: list[PassRecord]
    whole: Annotated[PassRecord | None, "the first dump against the last; null where programs are large"]
    diagnostics: list[DiagnosticRecord]
    seconds: float


#: the report of `hlotool bisect` on a folder
FolderRecord = TypedDict("FolderRecord", {
    "folder": str, "verdict": Annotated[Verdict, "the worst of all passes"],
    "module": Annotated[str | None, "the first module with a pass that is wrong"],
    "pass": Annotated[str | None, "that pass"],
    "instruction": Annotated[str | None, "the guilty instruction of the module after it"],
    "modules": list[ChainRecord], "other_files": Annotated[int, "files of the folder that are no dumps of modules"]})


def folder_record(path: str, found: Sequence[ChainVerdict], beside: int = 0) -> FolderRecord:
    """Return the record of a folder."""
    wrong = next(((c, p) for c in found for p in c.wrong), None)
    return {
        "folder": path, "verdict": folder_verdict(found),
        "module": wrong[0].chain.name if wrong else None, "pass": wrong[1].changed_by if wrong else None,
        "instruction": _instruction(wrong[1]) if wrong else None,
        "modules": [chain_record(c) for c in found], "other_files": beside}


def chain_record(found: ChainVerdict) -> ChainRecord:
    """Return the record of one module's chain."""
    return {
        "module": found.chain.name, "number": found.chain.number, "verdict": found.verdict,
        "dumps": len(found.chain.dumps), "passes": [pass_record(p) for p in found.passes],
        "whole": pass_record(found.whole) if found.whole is not None else None,
        "diagnostics": diagnostic_records(found.diagnostics),
        "seconds": round(found.seconds, 3)}


def pass_record(verdict: PassVerdict) -> PassRecord:
    """Return the record of one pass."""
    place = verdict.blame.place if verdict.blame is not None else None
    return {
        "pass": verdict.changed_by, "pipeline": verdict.after.name.pipeline or None,
        "before": verdict.before.path, "after": verdict.after.path, "unread": [d.path for d in verdict.gap],
        "verdict": verdict.verdict, "kind": verdict.kind, "up_to": list(verdict.proof or verdict.up_to),
        "said": sentence(verdict), "rule": verdict.rule or None, "reason": verdict.reason or None,
        "arguments": {"sets": len(verdict.inputs), "kinds": list(dict.fromkeys(verdict.inputs))},
        "elements": dict(verdict.counts), "instructions": list(verdict.sizes[:2]),
        "instruction": _instruction(verdict), "place": place.as_json() if place else None,
        "partner": verdict.blame.partner.name if verdict.blame and verdict.blame.partner else None,
        "confirmed": verdict.blame.place is not None if verdict.blame else None,
        "worst": _difference(verdict.shown) if verdict.shown else None,
        "noted": [_difference(d) for d in verdict.noted[:4]],
        "diagnostics": diagnostic_records(verdict.diagnostics),
        "seconds": round(verdict.seconds, 3)}


def _instruction(verdict: PassVerdict) -> str | None:
    place = verdict.blame.place if verdict.blame is not None else None
    return place.instruction.name if place is not None else None


def _difference(found: Difference) -> ValueRecord:
    from hlotool.blame import number_text

    judged = found.judgement
    has_worst = not judged.problem and bool(judged.kinds.size)
    at = judged.worst if has_worst else ()
    return {"result": found.result, "device": found.device, "inputs": found.inputs, "kind": str(judged.kind),
            "why": found.why, "said": str(judged), "index": list(at) if has_worst else None,
            "after": number_text(judged.given[at]) if has_worst else None,
            "before": number_text(judged.reference[at]) if has_worst else None,
            "exact": number_text(judged.shadow[at]) if has_worst and judged.shadow is not None else None}
