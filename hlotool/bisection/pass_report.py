"""Reports on folders, as text of 80 columns and as records; bisect.schema.json describes the records."""

from __future__ import annotations

import functools
import importlib.resources
import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hlotool.bisection.pass_verdicts import ChainVerdict, Difference, PassVerdict
from hlotool.diagnostics import visible

_WIDTH = 80
#: a mark for each verdict
MARKS = {"equal": "=", "agrees": "~", "wrong": "X", "none": "?"}


def folder_verdict(found: Sequence[ChainVerdict]) -> str:
    """Return the worst verdict of all chains."""
    said = {c.verdict for c in found}
    return next((v for v in ("wrong", "none", "agrees", "equal") if v in said), "none")


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
        yield from textwrap.wrap(value, _WIDTH - 6, initial_indent=f"{name:<12}", subsequent_indent=" " * 12,
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
        return "equal, proved"
    if verdict.difference is not None:
        return f"WRONG, {verdict.kind}"
    if verdict.verdict == "none":
        return f"no verdict, {verdict.reason}"
    if verdict.up_to:
        where = f" {verdict.blame}" if verdict.fold is not None and verdict.blame is not None else ""
        rule = f" by the rule {verdict.rule.split(': ')[0]}" if verdict.fold is not None and verdict.rule else ""
        return f"agrees up to {_listed(verdict.up_to)}{where}{rule}, on {sets}"
    return f"agrees bit for bit, on {sets}"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else words[0]


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
    return textwrap.wrap(text.strip(), _WIDTH - 2, initial_indent=" " * start, subsequent_indent=" " * (
        indent if indent > start else start + 2), break_long_words=False, break_on_hyphens=False)


def folder_record(path: str, found: Sequence[ChainVerdict], beside: int = 0) -> dict[str, Any]:
    """Return the record of a folder."""
    wrong = next(((c, p) for c in found for p in c.wrong), None)
    return {
        "folder": path, "verdict": folder_verdict(found),
        "module": wrong[0].chain.name if wrong else None, "pass": wrong[1].changed_by if wrong else None,
        "instruction": _instruction(wrong[1]) if wrong else None,
        "modules": [chain_record(c) for c in found], "other_files": beside}


def chain_record(found: ChainVerdict) -> dict[str, Any]:
    """Return the record of one module's chain."""
    return {
        "module": found.chain.name, "number": found.chain.number, "verdict": found.verdict,
        "dumps": len(found.chain.dumps), "passes": [pass_record(p) for p in found.passes],
        "whole": pass_record(found.whole) if found.whole is not None else None,
        "diagnostics": [{"code": d.code, "message": d.message, "file": d.filename} for d in found.diagnostics],
        "seconds": round(found.seconds, 3)}


def pass_record(verdict: PassVerdict) -> dict[str, Any]:
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
        "diagnostics": [{"code": d.code, "message": d.message, "file": d.filename} for d in verdict.diagnostics],
        "seconds": round(verdict.seconds, 3)}


def _instruction(verdict: PassVerdict) -> str | None:
    place = verdict.blame.place if verdict.blame is not None else None
    return place.instruction.name if place is not None else None


def _difference(found: Difference) -> dict[str, Any]:
    from hlotool.blame import number_text

    judged = found.judgement
    record: dict[str, Any] = {"result": found.result, "device": found.device, "inputs": found.inputs,
                              "kind": str(judged.kind), "why": found.why, "said": str(judged)}
    if judged.problem or not judged.kinds.size:
        return record | {"index": None, "after": None, "before": None, "exact": None}
    at = judged.worst
    shadow = judged.shadow[at] if judged.shadow is not None else None
    return record | {"index": list(at), "after": number_text(judged.given[at]),
                     "before": number_text(judged.reference[at]),
                     "exact": number_text(shadow) if shadow is not None else None}


@functools.cache
def bisect_schema() -> dict[str, Any]:
    """Return the JSON schema of a folder's record."""
    text = importlib.resources.files("hlotool.bisection").joinpath("bisect.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
