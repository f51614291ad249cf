"""Writes the time line of a folder's passes as one HTML page, without scripts and without other files."""

from __future__ import annotations

import importlib.resources
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hlotool.bisection.pass_report import MARKS, counted, folder_verdict, guilty_facts, sentence
from hlotool.bisection.pass_verdicts import ChainVerdict, PassVerdict
from hlotool.diagnostics import visible_html
from hlotool.diagnostics.pages import filled

_MEANING = {"equal": "equal, proved by structure", "agrees": "agrees on all arguments that were tried",
            "wrong": "computes something else", "none": "no verdict"}
_HEADINGS = {"wrong": "A pass changes what a module computes", "none": "Some passes have no verdict",
             "agrees": "No pass changes what a module computes, as far as was tried",
             "equal": "No pass changes what a module computes"}


def folder_page(path: str, found: Sequence[ChainVerdict]) -> str:
    """Return the page of a folder; modules with a wrong pass come first."""
    template = importlib.resources.files("hlotool.bisection").joinpath("timeline.html").read_text("utf-8")
    order = [c for v in _HEADINGS for c in found if c.verdict == v]
    parts = {
        "TITLE": visible_html(Path(path).name or path), "HEADING": _HEADINGS[folder_verdict(found)],
        "SUMMARY": _summary(path, found),
        "LEGEND": "".join(f'<li><i class="{v}" aria-hidden="true">{m}</i>{_MEANING[v]}</li>' for v, m in MARKS.items()),
        "MODULES": "\n".join(_module(c, n) for n, c in enumerate(order))}
    return filled(template, parts)


def _summary(path: str, found: Sequence[ChainVerdict]) -> str:
    counts: Counter[str] = Counter(p.verdict for c in found for p in c.passes)
    modules = "1 module" if len(found) == 1 else f"{len(found)} modules"
    return f"<code>{visible_html(path)}</code>: {modules}, {sum(counts.values())} passes: {counted(counts)}."


def _module(chain: ChainVerdict, number: int) -> str:
    counts: Counter[str] = Counter(p.verdict for p in chain.passes)
    cells = "".join(_cell(p, f"m{number}p{n}") for n, p in enumerate(chain.passes))
    faults = "".join(_fault(p) for p in chain.wrong)
    rows = "".join(_row(p, f"m{number}p{n}") for n, p in enumerate(chain.passes))
    whole = f"<p>The first dump against the last: {visible_html(sentence(chain.whole))}.</p>" if chain.whole else ""
    unread = "".join(f'<p class="quiet">{visible_html(d.message)}</p>' for d in chain.diagnostics)
    return (f"<section><h2>{visible_html(chain.chain.name)}</h2><p class=\"quiet\">{len(chain.chain.dumps)} dumps, "
            f"{len(chain.passes)} passes: {counted(counts)}</p>{faults}"
            f'<ol class="line" aria-label="passes in order">{cells}</ol>{whole}{unread}'
            f"<details{' open' if number == 0 else ''}><summary>All passes</summary><table><thead><tr><th>dump</th>"
            f"<td></td><th>pass</th><th>verdict</th></tr></thead><tbody>{rows}</tbody></table></details></section>")


def _cell(verdict: PassVerdict, place: str) -> str:
    said = visible_html(f"{verdict.changed_by} ({verdict.after.name.pipeline}): {sentence(verdict)}")
    return (f'<li><a class="{verdict.verdict}" href="#{place}" title="{said}" aria-label="{said}">'
            f"{MARKS[verdict.verdict]}</a></li>")


def _row(verdict: PassVerdict, place: str) -> str:
    rank, pipeline = verdict.after.name.rank, verdict.after.name.pipeline
    number = f"{rank[1]:04d}" if rank[0] == 1 else ""
    where = f' <span class="quiet">{visible_html(pipeline)}</span>' if pipeline else ""
    return (f'<tr id="{place}"><td>{number}</td><td><span class="mark {verdict.verdict}" aria-hidden="true">'
            f"{MARKS[verdict.verdict]}</span></td><td>{visible_html(verdict.changed_by)}{where}</td>"
            f"<td>{visible_html(sentence(verdict))}</td></tr>")


def _fault(verdict: PassVerdict) -> str:
    facts = "".join(f"<dt>{visible_html(k)}</dt><dd>{visible_html(v)}</dd>" for k, v in guilty_facts(verdict))
    return (f'<div class="fault"><strong>{visible_html(verdict.changed_by)}</strong>: {visible_html(sentence(verdict))}'
            f"<dl>{facts}</dl></div>")
